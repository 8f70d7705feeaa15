"""What can be added to a database: each kind of file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pbrain_engine.arena.journal import Journal, Played
from pbrain_engine.arena.settings import MatchSettings, parse_engine
from pbrain_engine.commands import analyse
from pbrain_engine.commands import db as command
from pbrain_engine.database import contents, lines
from pbrain_engine.database.finding import Asked, Entry
from pbrain_engine.database.sources import Wish, add_items, read_source
from pbrain_engine.database.store import Added, Database, StoredGame
from pbrain_engine.learn.records import NO_VALUE, Ending, GameFile, Record
from pbrain_engine.notation.canonical import Position
from pbrain_engine.notation.cells import NotationError, parse_moves
from pbrain_engine.notation.game_tree import (
    GameRecord,
    GameTree,
    RecordedMove,
    format_psq,
    tree_of,
)
from pbrain_engine.notation.renlib import format_renlib
from pbrain_engine.position.rules import Rule, Side
from tests.database.test_database import asked

FIVE = "h8a1i8c1j8e1k8g1l8"
AFTER_A_PASS = Position(Rule.FREESTYLE, 15, 15, Side.WHITE, ((7, 7), (8, 8)), ())
Add = Callable[..., Added]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with Database(tmp_path / "a.db", create=True) as made:
        yield made
        assert list(contents.find_faults(made)) == []


@pytest.fixture
def add(database: Database, tmp_path: Path) -> Add:
    """Return what adds a file, with a content if one is given."""

    def do(content: str | bytes = b"", name: str = "a.sgf", wish: Wish = Wish()) -> Added:  # noqa: B008
        file = tmp_path / name
        if content:
            file.write_bytes(content.encode() if isinstance(content, str) else content)
        return add_items(database, read_source(str(file), wish))

    return do


def entry(database: Database, moves: str, rule: Rule = Rule.FREESTYLE) -> Entry:
    found = lines.look_up(database, asked(moves, rule))
    assert found is not None
    return found


def value_of(database: Database, moves: str, rule: Rule) -> tuple[Any, ...]:
    """Return value, depth, move, weights and proof that are known of a position."""
    found = entry(database, moves, rule).finding
    assert found is not None
    return found.value, found.depth, found.moves, found.author.weights, found.proof


def test_a_journal_brings_games_and_the_values_of_our_engine(
    database: Database, add: Add, tmp_path: Path
) -> None:
    settings = MatchSettings(
        (parse_engine("numoku:nodes=100"), parse_engine("other=python3 x.py")), rule=Rule.RENJU
    )
    played = Played(
        0, 0, "numoku:nodes=100", "other", "black", "five", opening=parse_moves("h8i9"),
        moves=parse_moves("h9i10"), ms=[5, 6], depth=[7, 9], value=[35, 99], nodes=[100, 900],
    )  # fmt: skip
    fault = Played(
        1, 0, "other", "numoku:nodes=100", "white", "time", opening=parse_moves("h8i9"),
        moves=parse_moves("h7"), ms=[5], depth=[None], value=[None], nodes=[None],
    )  # fmt: skip
    journal = Journal.create(tmp_path / "m.jsonl", settings)
    journal.append(played)
    journal.append(fault)
    journal.close()
    done = add(name="m.jsonl")
    assert (done.games, done.positions) == (2, 6)
    assert value_of(database, "h8i9", Rule.RENJU) == (35, 7, ((7, 8),), "", "")
    before = entry(database, "h8i9", Rule.RENJU)
    assert (before.black_wins, before.white_wins) == (1, 0)  # the fault does not count
    assert entry(database, "h8i9h9", Rule.RENJU).finding is None  # another program's value


def test_recorded_self_play_brings_games_and_values_of_games_and_branches(
    database: Database, add: Add, tmp_path: Path
) -> None:
    def cells(moves: str) -> tuple[int, ...]:
        return tuple(y * 15 + x for x, y in parse_moves(moves))

    file = GameFile(tmp_path / "a.games", {"seed": "1", "nodes": "500", "weights": "w"})
    values = (NO_VALUE, NO_VALUE, 20, -20, 30, -30, 29997, -29998, 29999)
    game = Record(0, Rule.STANDARD, 15, 15, 2, 1, Ending.FIVE, cells(FIVE), values)
    ends = Ending.BRANCH, cells("h8i9g7"), (NO_VALUE, NO_VALUE, 20)
    file.append(game, [Record(0, Rule.RENJU, 15, 15, 2, 0, *ends)])
    file.close()
    done = add(name="a.games")
    assert (done.games, done.positions, database.count("game")) == (1, 11, 1)
    assert value_of(database, "h8a1", Rule.STANDARD) == (20, 0, ((8, 7),), "w", "")
    assert value_of(database, FIVE[:-2], Rule.STANDARD)[0::4] == (29999, "search")
    assert value_of(database, "h8i9", Rule.RENJU) == (20, 0, ((6, 6),), "w", "")
    assert entry(database, "h8i9", Rule.RENJU).games == 0
    assert lines.look_up(database, asked("h8", Rule.RENJU)) is None


@pytest.mark.parametrize("kind", ["sgf", "psq"])
def test_the_last_stone_tells_the_result_that_a_file_lacks(
    database: Database, add: Add, kind: str
) -> None:
    moves = parse_moves(FIVE)
    nodes = (f";{'BW'[n % 2]}[{chr(97 + x)}{chr(97 + y)}]" for n, (x, y) in enumerate(moves))
    psq = format_psq(GameRecord(moves=tuple(RecordedMove(x, y) for x, y in moves)))
    add(psq if kind == "psq" else f"(;GM[4]SZ[15]{''.join(nodes)})", f"a.{kind}")
    assert entry(database, "h8").black_wins == 1


def test_a_pass_in_a_game_passes_the_turn(database: Database, add: Add) -> None:
    done = add("(;GM[4]SZ[15]RE[W+];B[hh];W[];B[ii];W[jj])")
    assert (done.games, done.positions) == (1, 5)
    found = lines.look_up(database, Asked(AFTER_A_PASS))
    assert found is not None and found.white_wins == 1
    (tree,) = contents.gather(database, contents.ExportFilter())
    assert [node.cell for node, _ in tree.walk()] == [None, (7, 7), None, (8, 8), (9, 9)]


@pytest.mark.parametrize("wanted", [None, Rule.CARO])
def test_the_rule_can_be_said(tmp_path: Path, wanted: Rule | None) -> None:
    record = GameRecord(15, 15, Rule.RENJU, moves=(RecordedMove(7, 7),))
    library = tmp_path / "a.lib"
    library.write_bytes(format_renlib(tree_of(record))[0])
    psq = tmp_path / "a.psq"
    psq.write_text(format_psq(record), encoding="utf-8")
    for name, usual in ((library, Rule.RENJU), (psq, Rule.FREESTYLE), ("h8", Rule.FREESTYLE)):
        (item,) = read_source(str(name), Wish(rule=wanted))
        assert isinstance(item, GameTree | StoredGame) and item.record.rule is (wanted or usual)


def test_comments_and_variations_of_a_game_become_lines(database: Database, add: Add) -> None:
    done = add("(;GM[4]SZ[15]RE[B+];B[hh](;W[ii]C[usual];B[jj])(;W[hi]LB[aa:x]))")
    assert (done.games, done.nodes) == (1, 5)
    assert entry(database, "h8i9").notes[0].comment == "usual"
    assert entry(database, "h8h9").notes[0].labels == (((0, 0), "x"),)
    assert (entry(database, "h8i9").games, entry(database, "h8h9").games) == (1, 0)


def test_a_game_that_was_commented_is_the_same_game(database: Database, add: Add) -> None:
    add("(;GM[4]SZ[15]PB[a]RE[B+];B[hh];W[ii];B[jj])")
    done = add("(;GM[4]SZ[15]PB[a]RE[B+];B[hh]C[good];W[ii](;B[jj])(;B[hi]))")
    assert (done.games, done.known_games, done.nodes) == (0, 1, 4)
    assert entry(database, "h8").games == 1


def test_a_game_is_the_same_with_the_line_ends_of_any_system(database: Database, add: Add) -> None:
    text = b"(;GM[4]SZ[15]RE[B+];B[hh]C[one\ntwo\\\nthree];W[ii])\n"
    add(text)
    for end in (b"\r\n", b"\r"):
        assert add(text.replace(b"\n", end)) == Added(known_games=1)
    assert entry(database, "h8").notes[0].comment == "one\ntwothree"


@pytest.mark.parametrize(
    "text",
    [
        "nothing of that kind", '{"type": "position"}', "{broken",
        '{"rule": "freestyle", "size": [15, 15], "to_move": "black", "black": [[0, 0]], '
        '"white": [[0, 0]], "value": 1}',
    ],
)  # fmt: skip
def test_what_is_nothing_of_that_is_told(add: Add, text: str) -> None:
    with pytest.raises((NotationError, ValueError)):
        add(text)


ANALYSIS: dict[str, Any] = {
    "rule": "freestyle", "size": [15, 15], "to_move": "black", "black": [[7, 7]],
    "white": [[8, 8]], "played": [[7, 7], [8, 8]], "value": 30, "depth": 9, "nodes": 100,
    "move": [6, 6], "pv": [[6, 6], [9, 9]],
}  # fmt: skip


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"played": [[7, 7], [7, 7]]}, "does not lead to"),
        ({"played": [[7, 7], [9, 9]]}, "does not lead to"),
        ({"played": [[7, 7], [8, 8], [9, 9]]}, "does not lead to"),
        ({"to_move": "white"}, "does not lead to"),
        ({"played": [[30, 30]]}, "30,30 is off the 15x15 board"),
        ({"played": "h8i9"}, "played is no list of cells"),
        ({"pv": [[6, 6], [30, 30]]}, "30,30 is off the 15x15 board"),
        ({"pv": [[7, 7]]}, "on a stone"),
        ({"move": [7, 7]}, "on a stone"),
        ({"move": 7}, "move is no list of cells"),
        ({"win": {"line": [[-1, 0]]}}, "-1,0 is off"),
        ({"win": [1]}, "win is no object"),
        ({"black": [[7, 7], [7, 7]]}, "two stones on a cell"),
        ({"white": 5}, "white is no list of cells"),
        ({"size": [3, 3]}, "the board is 3x3"),
        ({"size": [1000, 1000]}, "the board is 1000x1000"),
        ({"size": 15}, "size is no pair"),
        ({"value": 99_999_999}, "value is no whole number from -30000 to 30000"),
        ({"value": 10**20}, "value is no whole number"),
        ({"value": 1.5}, "value is no whole number"),
        ({"nodes": 10**20}, "nodes is no whole number"),
        ({"depth": -5}, "depth is no whole number from 0 to 500"),
        ({"to_move": "empty"}, "to_move is none of black, white"),
        ({"to_move": [1]}, "to_move is none of black, white"),
        ({"rule": "chess"}, "unknown rule"),
        ({"rule": None}, "unknown rule"),
        ({"bound": "high"}, "bound is none of"),
        ({"proof": 12}, "proof is none of"),
        ({"version": {"a": 1}}, "version is no text"),
        ({"weights": "\ud800"}, "weights is no text"),
        ({"type": "game", "sgf": 12}, "sgf is no text"),
        ({"type": "tree"}, "sgf is no text"),
        ({"type": "tree", "sgf": "(;GM[4]SZ[15];B[hh]C[\ud800])"}, "sgf is no text"),
        ("[1]", "no object"), ("7", "no object"), ("null", "no object"), ('"x"', "no object"),
        ('{"a": ' + "[" * 100_000, "too many brackets"),
    ],
)  # fmt: skip
def test_an_analysis_that_makes_no_sense_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], wrong: dict[str, Any] | str,
    reason: str,
) -> None:  # fmt: skip
    lines = [
        json.dumps(ANALYSIS),
        wrong if isinstance(wrong, str) else json.dumps(ANALYSIS | wrong),
    ]
    cases = {"a.jsonl": ("\n".join(lines), "line 2: ")}
    if not isinstance(wrong, str):
        cases["b.json"] = json.dumps(ANALYSIS | wrong, indent=1), ""
    for name, (text, place) in cases.items():
        file = tmp_path / name
        file.write_text(text)
        assert command.main([str(tmp_path / "a.db"), "add", str(file)]) == 1
        error = capsys.readouterr().err
        assert place in error and reason in error and error.count("\n") == 1
        assert not (tmp_path / "a.db").exists()


def test_an_analysis_after_a_pass_goes_in(
    database: Database, add: Add, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.sgf").write_text("(;GM[4]SZ[15];B[hh];W[];B[ii])")
    assert analyse.main([str(tmp_path / "a.sgf"), "--depth", "2", "--json"]) == 0
    assert add(capsys.readouterr().out, "a.json").positions == 1
    found = lines.look_up(database, Asked(AFTER_A_PASS))
    assert found is not None and found.finding is not None
    assert database.count("node") == 0
