"""Commands that read and feed a database."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pbrain_engine.app import kept
from pbrain_engine.commands import analyse, db
from pbrain_engine.database.store import Database
from pbrain_engine.engine.engine import EngineError
from pbrain_engine.options import DATABASE

THREE = "h8a1i8c1j8e1"  # an open three for black


def show(file: Path, position: str, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    capsys.readouterr()
    assert db.main([str(file), "show", position, "--json"]) == 0
    shown: dict[str, object] = json.loads(capsys.readouterr().out)
    return shown


def test_what_analyse_prints_can_be_added(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert analyse.main([THREE, "--depth", "4", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (tmp_path / "a.json").write_text(json.dumps(found))
    assert db.main([str(tmp_path / "a.db"), "add", str(tmp_path / "a.json")]) == 0
    shown = show(tmp_path / "a.db", THREE, capsys)
    assert (shown["value"], shown["mate"]) == (found["value"], found["mate"])
    assert shown["mate"] == 3
    assert shown["pv"] == found["win"]["line"]


def test_the_variable_names_a_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DATABASE, str(tmp_path / "a.db"))
    assert analyse.main(["h8", "--depth", "2", "--json"]) == 0
    with Database(tmp_path / "a.db") as database:
        assert database.count("position") == 2  # and the empty board before it


def test_a_database_that_cannot_be_opened_is_told(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="unable to open"):
        kept.OptionalDatabase(str(tmp_path))
