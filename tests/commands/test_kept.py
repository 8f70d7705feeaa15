"""Commands that read and feed a database."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pbrain_engine.app import kept
from pbrain_engine.app.setup import DATABASE, parse_setup
from pbrain_engine.commands import analyse, db, review
from pbrain_engine.commands.dialogue import Dialogue
from pbrain_engine.database.store import Database
from pbrain_engine.engine.engine import Engine, EngineError

THREE = "h8a1i8c1j8e1"  # an open three for black


def show(file: Path, position: str, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    capsys.readouterr()
    assert db.main([str(file), "show", position, "--json"]) == 0
    shown: dict[str, object] = json.loads(capsys.readouterr().out)
    return shown


def test_an_analysis_is_kept_and_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.db"
    assert analyse.main(["h8i9", "--depth", "4", "--db", str(file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    shown = show(file, "h8i9", capsys)
    assert shown["known"] and shown["depth"] == 4 and shown["value"] == found["value"]
    assert shown["best"] == found["move"] and shown["weights"] == found["weights"]
    assert analyse.main(["h8g9", "--depth", "2", "--db", str(file)]) == 0
    assert "known already" in capsys.readouterr().out
    assert show(file, "h8i9", capsys)["depth"] == 4  # the deeper one stays


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


def test_an_analysis_after_a_pass_is_kept_without_a_line(tmp_path: Path) -> None:
    (tmp_path / "a.sgf").write_text("(;GM[4]SZ[15];B[hh];W[];B[ii])")
    words = [str(tmp_path / "a.sgf"), "--depth", "2", "--db", str(tmp_path / "a.db")]
    assert analyse.main(words) == 0
    with Database(tmp_path / "a.db") as database:
        assert (database.count("position"), database.count("node")) == (1, 0)


def test_a_proof_is_taken_from_the_database(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / "a.db")
    words = [THREE, "--depth", "4", "--db", file, "--json"]
    assert analyse.main([*words, "--tree"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert first["win"] and first["tree"]
    assert analyse.main(words) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["time"] == 0 and again["move"] == first["move"] and again["win"]
    assert show(Path(file), THREE, capsys)["tree"] == first["tree"]


def test_a_review_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.db"
    game = "h8a1i8c1j8e1k8g1l8"
    assert review.main([game, "--time", "0.1", "--db", str(file)]) == 0
    shown = show(file, game[:12], capsys)
    assert shown["games"] == {"black_wins": 1, "draws": 0, "white_wins": 0}
    assert shown["mate"] == 3 and shown["proof"]
    assert show(file, "", capsys)["known"]


@pytest.mark.parametrize("note", ["", "C[so far so good]"])
def test_a_game_that_was_reviewed_is_not_added_again(tmp_path: Path, note: str) -> None:
    file, game = tmp_path / "a.db", tmp_path / "a.sgf"
    game.write_text(f"(;GM[4]SZ[15]PB[Black]PW[White]DT[2026-11-01];B[hh]{note};W[aa];B[ih])")
    assert review.main([str(game), "--time", "0.1", "--db", str(file)]) == 0
    assert db.main([str(file), "add", str(game)]) == 0
    with Database(file) as database:
        assert database.count("game") == 1


def test_the_opening_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert analyse.main(["h8h9i9", "--rule", "renju", "--depth", "2"]) == 0
    assert "opening D4 Kagetsu" in capsys.readouterr().out
    assert analyse.main(["h8h9i9", "--rule", "renju", "--depth", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["opening"] == "D4 Kagetsu"
    assert analyse.main(["h8h9i9", "--depth", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["opening"] is None, "only renju names openings"
    (tmp_path / "a.sgf").write_text("(;GM[4]SZ[15]AB[hh][hi][ii]AW[aa][bb])")
    assert analyse.main([str(tmp_path / "a.sgf"), "--depth", "2"]) == 0
    assert "opening" not in capsys.readouterr().out


def test_the_variable_names_a_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DATABASE, str(tmp_path / "a.db"))
    assert analyse.main(["h8", "--depth", "2", "--json"]) == 0
    with Database(tmp_path / "a.db") as database:
        assert database.count("position") == 2  # and the empty board before it


def test_a_database_that_cannot_be_opened_is_told(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="unable to open"):
        kept.Kept(str(tmp_path))


def test_a_game_that_was_played_is_kept(tmp_path: Path) -> None:
    file = str(tmp_path / "a.db")
    with kept.Kept(file) as database, Engine(memory=80_000_000) as engine:
        dialogue = Dialogue(engine, parse_setup("h8a1i8c1j8e1k8g1"), kept=database, seconds=0.1)
        assert dialogue.answer("l8") == ""
        assert dialogue.result()
        dialogue.keep()
    with Database(file) as made:
        assert made.count("game") == 1
        ((wins,),) = made.connection.rows("SELECT SUM(black_wins) FROM position")
        assert wins == 10
