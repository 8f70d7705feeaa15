"""What can be added to a database: each kind of file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pbrain_engine.commands import analyse
from pbrain_engine.commands import db as command
from pbrain_engine.database import integrity, lines
from pbrain_engine.database.finding import Asked, Entry
from pbrain_engine.database.sources import Wish, add_items, read_source
from pbrain_engine.database.store import Added, Database
from pbrain_engine.notation.canonical import Position
from pbrain_engine.position.rules import Rule, Side
from tests.database.test_database import asked
from tests.golden import readings

AFTER_A_PASS = Position(Rule.FREESTYLE, 15, 15, Side.WHITE, ((7, 7), (8, 8)), ())
Add = Callable[..., Added]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with Database(tmp_path / "a.db", create=True) as made:
        yield made
        assert list(integrity.find_faults(made)) == []


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


def test_all_that_can_be_added_and_what_comes_out_is_as_recorded() -> None:
    recorded = readings.SOURCES.read_text(encoding="utf-8")
    assert readings.readings(recorded) == recorded


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


def test_an_analysis_that_makes_no_sense_is_one_line_and_leaves_no_database(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong, file = json.dumps(readings.ANALYSIS | {"depth": -5}), tmp_path / "a.jsonl"
    for text, place in ((f"{json.dumps(readings.ANALYSIS)}\n{wrong}", "line 2: "),
                        (wrong.replace("{", "{\n"), "")):  # fmt: skip
        file.write_text(text)
        assert command.main([str(tmp_path / "a.db"), "add", str(file)]) == 1
        said = f"numoku db: {file}: {place}depth is no whole number from 0 to 500\n"
        assert capsys.readouterr().err == said
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
