"""Commands that read and feed a database."""

from __future__ import annotations

import json
import sys
from io import StringIO
from pathlib import Path

import pytest

from pbrain_engine.app import saved
from pbrain_engine.commands import analyse
from pbrain_engine.database.store import Database
from pbrain_engine.engine.engine import EngineError
from pbrain_engine.options import DATABASE
from tests.conftest import Run

THREE = "h8a1i8c1j8e1"  # an open three for black


def test_what_analyse_prints_can_be_added(tmp_path: Path, run: Run) -> None:
    text = run("analyse", THREE, "--depth", "4", "--json")[1]
    (tmp_path / "a.json").write_text(text)
    found, file = json.loads(text), str(tmp_path / "a.db")
    assert run("db", file, "add", str(tmp_path / "a.json"))[0] == 0
    shown = json.loads(run("db", file, "show", THREE, "--json")[1])
    assert (shown["value"], shown["mate"]) == (found["value"], found["mate"])
    assert shown["mate"] == 3 and shown["pv"] == found["win"]["line"]


def test_the_variable_names_a_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DATABASE, str(tmp_path / "a.db"))
    assert analyse.main(["h8", "--depth", "2", "--json"]) == 0
    with Database(tmp_path / "a.db") as database:
        assert database.count("position") == 2  # and the empty board before it


def test_a_database_that_cannot_be_opened_is_told(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="unable to open"):
        saved.OptionalDatabase(str(tmp_path))


@pytest.mark.parametrize(
    ("words", "typed", "shown"),
    [("analyse h8 --depth 2 --json", "", '"depth": 2'), ("review h8 --time 0.01", "", "1. h8"),
     (f"play {THREE}h7a14g6b15 --level 10 --time 0.1", "f5\nquit\n", "Numoku: ")],
)  # fmt: skip
def test_where_nothing_can_be_stored_results_are_shown_all_the_same(
    words: str, typed: str, shown: str, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise EngineError("a.db: attempt to write a readonly database")

    monkeypatch.setattr(saved, "add_items", refuse)
    monkeypatch.setattr(sys, "stdin", StringIO(typed))
    status, out, err = run(*words.split(), "--db", str(tmp_path / "a.db"))
    assert status == 1
    assert err.splitlines()[-1] == "numoku: a.db: attempt to write a readonly database"
    assert shown in out and ("quit" not in typed or "the game is saved" in out)
