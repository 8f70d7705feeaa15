"""The database: what goes in comes out, however the position is turned, on both kinds of store."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pbrain_engine.commands import book
from pbrain_engine.commands import db as command
from pbrain_engine.database import exports, integrity, lines
from pbrain_engine.database.connection import DatabaseError
from pbrain_engine.database.finding import (
    Asked,
    Author,
    Bound,
    Entry,
    Finding,
    Known,
    entry_document,
    read_analysis,
)
from pbrain_engine.database.lines import add_tree, replace_comment
from pbrain_engine.database.sources import Wish, add_items, merge, read_source
from pbrain_engine.database.store import Database, StoredGame
from pbrain_engine.notation.canonical import Position, image_of
from pbrain_engine.notation.cells import parse_moves
from pbrain_engine.notation.game_tree import GameRecord, GameTree, RecordedMove
from pbrain_engine.notation.opening_names import find_opening
from pbrain_engine.notation.renlib import format_renlib, parse_renlib
from pbrain_engine.notation.sgf import format_sgf
from pbrain_engine.position.geometry import symmetries, transform
from pbrain_engine.position.rules import Rule, Side
from pbrain_engine.values import WIN_BAND
from tests.database.postgres import Server, server
from tests.notation.test_renlib import grow

__all__ = ["server"]  # a fixture

MATE = 30000 - 9


@pytest.fixture(params=["file", "server"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The place of a new database."""
    if request.param == "file":
        return str(tmp_path / "a.db")
    made: Server = request.getfixturevalue("server")
    return made.new_database()


@pytest.fixture
def database(target: str) -> Iterator[Database]:
    with Database(target, create=True) as made:
        yield made


def asked(moves: str, rule: Rule = Rule.FREESTYLE, size: tuple[int, int] = (15, 15)) -> Asked:
    cells = parse_moves(moves, *size)
    return asked_cells(cells, rule, size)


def asked_cells(
    cells: list[tuple[int, int]], rule: Rule = Rule.FREESTYLE, size: tuple[int, int] = (15, 15)
) -> Asked:
    black, white = tuple(sorted(cells[0::2])), tuple(sorted(cells[1::2]))
    return Asked(Position(rule, *size, Side(len(cells) % 2), black, white), tuple(cells))


def put(database: Database, moves: str, finding: Finding, rule: Rule = Rule.FREESTYLE) -> None:
    with database.transaction():
        database.add_findings([Known(image_of(asked(moves, rule).position), finding)])


def record(moves: str, result: str = "1-0", **more: object) -> GameRecord:
    cells = tuple(RecordedMove(x, y) for x, y in parse_moves(moves))
    return GameRecord(rule=Rule.FREESTYLE, moves=cells, result=result, **more)  # type: ignore[arg-type]


def entry(database: Database, where: str | Asked) -> Entry:
    """Return what is known of a position, which has to be known."""
    found = lines.look_up(database, asked(where) if isinstance(where, str) else where)
    assert found is not None
    return found


def finding(database: Database, where: str | Asked) -> Finding:
    found = entry(database, where).finding
    assert found is not None
    return found


def faults(database: Database) -> list[str]:
    return list(integrity.find_faults(database))


# Positions ---------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(15, 15), (20, 20), (15, 20)])
def test_a_position_is_found_under_every_symmetry(
    database: Database, size: tuple[int, int]
) -> None:
    chance = random.Random(5)
    cells = chance.sample([(x, y) for x in range(size[0]) for y in range(size[1])], 9)
    position = asked_cells(cells[:7], size=size).position
    known = Finding(35, depth=12, nodes=99, moves=tuple(cells[7:8]), line=tuple(cells[7:]))
    with database.transaction():
        database.add_findings([Known(image_of(position), known)])
    for number in range(symmetries(*size)):
        turned = transform(cells, number, *size)
        moves = [*reversed(turned[0:7:2]), *turned[1:7:2]]  # black's stones, then white's
        other = Asked(
            Position(Rule.FREESTYLE, *size, Side.WHITE, tuple(moves[:4]), tuple(moves[4:]))
        )
        found = finding(database, other)
        assert (found.moves, found.line) == ((turned[7],), tuple(turned[7:]))
        assert entry_document(other, entry(database, other))["best"] == list(turned[7])
    assert database.count("position") == 1
    assert not faults(database)


def test_rule_board_and_side_to_move_tell_positions_apart(database: Database) -> None:
    put(database, "h8i9", Finding(1, depth=1), Rule.RENJU)
    assert lines.look_up(database, asked("h8i9")) is None
    assert lines.look_up(database, asked("h8i9", Rule.RENJU, (20, 20))) is None
    other = asked("h8i9", Rule.RENJU).position._replace(to_move=Side.WHITE)
    assert lines.look_up(database, Asked(other)) is None
    found, entry = lines.look_up_any_rule(database, asked("h8i9"))
    assert entry is not None and found.position.rule is Rule.RENJU


BETTER = (  # each finding, and value and depth of what stands after it
    (Finding(10, depth=8, nodes=100), (10, 8)),
    (Finding(20, depth=6, nodes=900), (10, 8)),
    (Finding(30, Bound.LOWER, depth=8, nodes=900), (10, 8)),
    (Finding(40, depth=8, nodes=101), (40, 8)),
    (Finding(MATE, depth=3, proof="vcf"), (MATE, 3)),
    (Finding(50, depth=30), (MATE, 3)),
    (Finding(MATE + 2, depth=2, proof="vct"), (MATE + 2, 2)),
)


def test_the_deeper_finding_stands_and_a_proof_stands_for_good(database: Database) -> None:
    for found, stands in BETTER:
        put(database, "h8", found)
        assert (finding(database, "h8").value, finding(database, "h8").depth) == stands
    assert not faults(database)


def test_a_win_is_certain_if_it_is_at_least_that() -> None:
    bounds = (Bound.EXACT, Bound.LOWER, Bound.UPPER)
    win, loss = WIN_BAND + 10, -WIN_BAND - 10
    assert [Finding(win, bound).is_certain for bound in bounds] == [True, True, False]
    assert [Finding(loss, bound).is_certain for bound in bounds] == [True, False, True]
    assert not any(Finding(500, bound).is_certain for bound in bounds)


def test_after_a_connection_broke_the_next_question_has_a_new_one(server: Server) -> None:
    with Database(server.new_database(), create=True) as database:
        put(database, "h8", Finding(10, depth=8))
        for ask in (lambda: finding(database, "h8"), lambda: put(database, "h8", Finding(9))):
            server.break_connections()
            with pytest.raises(DatabaseError):
                ask()
            assert finding(database, "h8").depth == 8
        put(database, "h8", Finding(10, depth=9))
        assert finding(database, "h8").depth == 9


PROOF = {"move": [0, 0], "answers": [{"reply": [1, 0], "move": [14, 3], "answers": []}]}


def test_everything_about_a_finding_comes_back(database: Database) -> None:
    known = Finding(
        MATE, Bound.LOWER, 7, 1 << 40, ((0, 0), (14, 14)), ((0, 0), (3, 4)), "vct",
        json.dumps(PROOF), Author("Numoku 9", "net-1"),
    )  # fmt: skip
    put(database, "h8i9", known)
    assert finding(database, "h8i9") == known
    document = entry_document(asked("h8i9"), entry(database, "h8i9"))
    assert read_analysis(json.loads(json.dumps(document))).finding == known
    assert json.loads(finding(database, "h8g7").tree) == {  # turned by half
        "move": [14, 14], "answers": [{"reply": [13, 14], "move": [0, 11], "answers": []}],
    }  # fmt: skip


# Games -------------------------------------------------------------------------------


def test_games_count_once_in_all_their_positions(database: Database) -> None:
    games = [
        StoredGame(record("h8i9h9", "1-0", comment="game 1")),
        StoredGame(record("h8i9h9", "0-1", comment="game 2")),
        StoredGame(record("h8g9h9", "1/2-1/2")),  # the same when mirrored
        StoredGame(record("h8i9j10", ""), {2: Finding(7, depth=2, moves=((9, 9),))}),
        StoredGame(record("h8i9a1", "1-0"), counts=False),
        StoredGame(record("h8i9b2", "1-0")),
    ]
    first = add_items(database, games)
    again = add_items(database, games)
    assert (first.games, again.games, again.known_games) == (6, 0, 6)
    found = entry(database, "h8i9")
    assert (found.black_wins, found.draws, found.white_wins) == (2, 1, 1)
    assert finding(database, "h8i9").value == 7 and entry(database, "h8i9h9").games == 3
    moves = {move: after.games for move, after in lines.list_next_moves(database, asked("h8i9"))}
    assert moves == {(7, 8): 3, (8, 7): 3, (9, 9): 0, (0, 0): 0, (1, 1): 1}
    assert not faults(database)


# Lines -------------------------------------------------------------------------------


def test_a_game_with_signs_that_no_server_takes_is_stored(database: Database) -> None:
    add_items(database, [StoredGame(record("h8i9", black="a\0b", comment="c\0"))])
    assert [game.record.black for game in database.games()] == ["a b"]
    assert not faults(database)


def test_a_library_of_many_nodes_comes_out_as_it_went_in(
    database: Database, tmp_path: Path
) -> None:
    nodes = 3_000 if "://" not in database.name else 500
    data, losses = format_renlib(grow(3, nodes))
    assert not losses
    (tmp_path / "in.lib").write_bytes(data)
    for _ in range(2):
        add_items(database, read_source(str(tmp_path / "in.lib"), Wish()))
        assert 0.7 * nodes < database.count("node") <= nodes + 1
        assert exports.export(database, tmp_path / "out.lib", exports.ExportFilter()) == []
        assert (tmp_path / "out.lib").read_bytes() == data
    assert not faults(database)


def test_notes_are_shown_in_the_orientation_that_is_asked(database: Database) -> None:
    tree = GameTree(GameRecord(rule=Rule.RENJU))
    node = tree.add([(7, 7), (8, 8)])
    node.comment, node.title, node.is_marked = "long", "short", True
    node.child((8, 7)).text = "A"
    node.child((0, 14), is_move=False).text = "B"
    add_items(database, [tree])
    cells = [(7, 7), (8, 8), (8, 7), (0, 14)]
    turns = [tuple(transform(cells, number, 15, 15)) for number in range(8)]
    for turned in turns:
        (note,) = entry(database, asked_cells(list(turned[:2]), Rule.RENJU)).notes
        assert (note.title, note.comment, note.is_marked) == ("short", "long", True)
        labels = {text: cell for cell, text in note.labels}
        images = [other[2:] for other in turns if other[:2] == turned[:2]]
        assert len(images) == 2, "the position has a symmetry of its own"
        assert (labels.pop("A"), labels.pop("B")) in images and not labels


def test_notes_of_two_files_stand_together(database: Database) -> None:
    for comment in ("good", "bad", "good"):
        tree = GameTree()
        tree.root.child((7, 7)).comment = comment
        add_items(database, [tree])
    data, _ = exports.library(database, exports.ExportFilter())
    assert parse_renlib(data).root.children[0].comment == "good\nbad"
    assert not faults(database)


def comments(database: Database) -> list[str]:
    found = database.connection.rows("SELECT comment FROM node WHERE comment <> '' ORDER BY id")
    return [comment for (comment,) in found]


def test_a_comment_that_changes_leaves_those_of_others_alone(database: Database) -> None:
    others = [("h8i9j10", "Yamaguchi: no good, see page 12"), ("j8i9h10", "see\ngood\nor bad")]
    with database.transaction():
        for moves, comment in others:
            replace_comment(database, record(moves), "", comment)
        replace_comment(database, record("j10i9h8"), "", "good")
        replace_comment(database, record("j10i9h8"), "good", "bad")
    assert comments(database) == [*(comment for _, comment in others), "bad"]
    assert not faults(database)


def test_a_comment_beside_others_is_changed_by_whole_lines(database: Database) -> None:
    def change(before: str, after: str) -> list[str]:
        with database.transaction():
            replace_comment(database, record("h8"), before, after)
        return comments(database)

    change("", "a library's")
    change("", "my own\nin two lines")
    assert change("my own\nin two lines", "mine") == ["a library's\nmine"]
    assert change("library's", "new") == ["a library's\nmine\nnew"]
    assert change("mine", "") == ["a library's\nnew"]
    assert not faults(database)


def test_stones_that_are_set_up_keep_their_lines(database: Database, tmp_path: Path) -> None:
    path = tmp_path / "a.sgf"
    path.write_text("(;GM[4]SZ[15]AB[aa][cb]AW[dd];B[ee](;W[ff]C[x])(;W[gg]))")
    add_items(database, read_source(str(path), Wish()))
    position = Position(
        Rule.FREESTYLE, 15, 15, Side.BLACK, ((0, 0), (2, 1), (4, 4)), ((3, 3), (5, 5))
    )
    assert entry(database, Asked(position)).notes[0].comment == "x"
    assert not faults(database)
    with pytest.raises(exports.NothingToWrite):
        exports.export(database, tmp_path / "a.lib", exports.ExportFilter())
    exports.export(database, tmp_path / "b.sgf", exports.ExportFilter())
    with Database(tmp_path / "b.db", create=True) as other:
        add_items(other, read_source(str(tmp_path / "b.sgf"), Wish()))
        assert entry(other, Asked(position))


# Files -------------------------------------------------------------------------------


def fill(database: Database) -> None:
    games = [
        StoredGame(record("h8i9h9", "1-0"), {1: Finding(-5, depth=4, moves=((8, 8),))}),
        StoredGame(record("h8h9i9", "0-1")),
    ]
    add_items(database, games)
    add_items(database, [grow(2, 40)])
    put(database, "h8i9", Finding(MATE, depth=5, moves=((6, 6),), proof="vcf"))


def documents(database: Database) -> list[str]:
    return sorted(
        json.dumps(entry) for entry in exports.documents(database, exports.ExportFilter())
    )


def test_everything_as_json_makes_an_equal_database(database: Database, tmp_path: Path) -> None:
    fill(database)
    exports.export(database, tmp_path / "all.jsonl", exports.ExportFilter())
    with Database(tmp_path / "b.db", create=True) as other:
        add_items(other, read_source(str(tmp_path / "all.jsonl"), Wish()))
        assert documents(other) == documents(database)
        assert not faults(other)


def test_merging_takes_everything_over_and_nothing_twice(
    database: Database, tmp_path: Path
) -> None:
    with Database(tmp_path / "b.db", create=True) as other:
        fill(other)
        add_items(database, [StoredGame(record("h8i9h9", "1-0"))])
        merge(database, other)
        merge(database, other)
        assert documents(database) == documents(other)
    assert not faults(database)


def test_queries(database: Database) -> None:
    fill(database)
    for count, wanted in (
        (1, {"certain": True}), (1, {"values": (-10, 10)}), (1, {"depth": 5}), (2, {"games": 2}),
        (2, {"games": 1, "stones": (3, 3)}), (1, {"games": 1, "opening": find_opening("D4")}),
        (0, {"size": (20, 20)}),
    ):  # fmt: skip
        found = list(lines.query(database, lines.Filter(**wanted)))  # type: ignore[arg-type]
        assert len(found) == count, wanted


def test_words_in_any_letters_are_found(database: Database) -> None:
    tree = GameTree(record(""))
    tree.root.child((7, 7)).comment = "Ход Чёрных, 100 Prozent Überlegenheit"
    with database.transaction():
        add_tree(database, tree)
    for text in ("Чёрных", "ход ч", "ÜBER", "über", "100 p"):
        assert len(list(lines.query(database, lines.Filter(text=text)))) == 1, text
    for text in ("белых", "100%", "Ход_Ч"):
        assert not list(lines.query(database, lines.Filter(text=text))), text


# The command -------------------------------------------------------------------------


def run(*words: str) -> int:
    return command.main(list(words))


def test_the_command_from_end_to_end(
    target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def said(*words: str) -> str:
        assert run(target, *words) == 0
        return capsys.readouterr().out

    def shown(moves: str) -> dict[str, Any]:
        return dict(json.loads(said("show", moves, "--json")))

    game = tmp_path / "a.sgf"
    game.write_text(format_sgf(record("h8i9h9i10h10", "1-0")))
    assert "stored 1 game, 6 positions" in said("add", str(game), "h8h9i9")
    found = shown("h8g9")
    assert found["known"] and found["games"]["black_wins"] == 1
    assert [each["move"] for each in found["next"]] == [[6, 7], [7, 8]]
    assert shown("h8h9i9")["opening"] == "D4 Kagetsu"
    assert shown("a1b2")["known"] is False
    assert "games: 1 won by black" in said("show", "h8")
    said("export", str(tmp_path / "out.lib"))
    assert parse_renlib((tmp_path / "out.lib").read_bytes()).count() == 7
    assert len(said("query", "--games", "1", "--json").splitlines()) == 6
    assert "is whole: 8 positions, 1 games" in said("check")


def test_nothing_stored_leaves_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "none.db"
    assert run(str(path), "add", "nofile.sgf") == 1
    assert run(str(path), "merge", "nofile.db") == 1
    assert list(tmp_path.iterdir()) == []
    assert run(str(path), "add", "h8", "nofile.sgf") == 1 and path.exists()
    assert run(str(path), "add", "nofile.sgf") == 1 and path.exists()


def test_an_export_says_what_it_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = str(tmp_path / "a.db"), tmp_path / "a.sgf"
    assert run(path, "add", "--from-below", "h13h11") == 0
    assert run(path, "export", str(out)) == 0
    assert capsys.readouterr().out.endswith(f"{out}: {out.stat().st_size:,} bytes\n")
    assert "B[hc]" in out.read_text(encoding="utf-8")


def test_an_analysis_goes_in_with_a_way_to_it(
    target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = entry_document(asked("h8i9"), None) | {"value": 12, "depth": 9, "best": [6, 6]}
    (tmp_path / "a.json").write_text(json.dumps(document, indent=1))
    assert run(target, "add", str(tmp_path / "a.json")) == 0
    capsys.readouterr()
    assert run(target, "show", "h8g7", "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["value"], shown["depth"], shown["best"]) == (12, 9, [8, 8])
    assert run(target, "export", str(tmp_path / "a.lib"), "--values") == 0
    assert parse_renlib((tmp_path / "a.lib").read_bytes()).count() == 2


def test_what_was_there_already_is_called_nothing_new(
    target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def reported(*words: str) -> str:
        assert run(target, *words) == 0
        return capsys.readouterr().out.partition(": stored ")[2].strip()

    assert [reported("add", moves) for moves in ("h8i9", "h8i9", "h8i9j10")] == [
        "2 moves", "nothing new", "1 move",
    ]  # fmt: skip
    commented = tmp_path / "a.sgf"
    commented.write_text("(;GM[4]SZ[15]RE[B+];B[hh];W[ii]C[good])")
    assert reported("add", str(commented)) == "1 game, 3 positions, 1 move"
    assert reported("add", str(commented)) == "nothing new; 1 game was there"
    analysis = tmp_path / "a.json"
    document = entry_document(asked("h8i9"), None) | {"value": 12, "best": [6, 6]}
    for depth, words in ((9, "1 position"), (9, "nothing new"), (8, "nothing new")):
        analysis.write_text(json.dumps(document | {"depth": depth}))
        assert reported("add", str(analysis)) == words
    assert reported("merge", target) == "nothing new; 1 game was there"
    with Database(tmp_path / "b.db", create=True) as other:
        put(other, "h8i9", Finding(30, depth=5))
        put(other, "h8j9", Finding(30, depth=5))
    assert reported("merge", str(tmp_path / "b.db")) == "1 position"
    assert run(target, "check") == 0


@pytest.mark.parametrize(
    ("words", "status", "reason"),
    [
        (["show", "h8"], 1, "there is no database"),
        (["add", "no.sgf"], 1, "there is no file"),
        (["add", "h8h8"], 1, "played twice"),
        (["add", "h8", "--encoding", "nonsense"], 2, "no encoding"),
        (["add", "h8", "--encoding", "utf-16"], 2, "cannot be in utf-16"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], status: int, reason: str
) -> None:
    assert run(str(tmp_path / "a.db"), *words) == status
    error = capsys.readouterr().err
    assert reason in error and error.count("\n") == 1


def test_other_files_are_no_databases(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "a.txt"
    text.write_text("hello " * 1000)
    assert run(str(text), "check") == 1
    assert "no database" in capsys.readouterr().err
    strange = sqlite3.connect(tmp_path / "b.db")
    strange.execute("CREATE TABLE a (b)")
    strange.close()
    assert run(str(tmp_path / "b.db"), "add", "h8") == 1
    assert "another program" in capsys.readouterr().err
    with pytest.raises(DatabaseError, match="postgresql://"):
        Database("mysql://somewhere/a")
    assert run(str(tmp_path / "c.db"), "add", "h8") == 0
    assert run(str(tmp_path / "c.db"), "add", str(tmp_path / "c.db")) == 1
    assert "merge" in capsys.readouterr().err


def test_no_password_is_shown(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = server.new_database().replace("@", ":secret@")
    assert run(url, "add", "h8i9") == 0
    assert run(str(tmp_path / "a.db"), "merge", url) == 0
    assert book.main(["build", url, "--positions", "1", "--nodes", "500", "--processes", "1"]) == 0
    out, err = capsys.readouterr()
    assert "secret" not in out + err and out.count("@127.0.0.1") == 2
