"""Games that page and terminal go on with."""

from __future__ import annotations

import json
import os
import random
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from pbrain_engine.app import saved
from pbrain_engine.app.saved import SavedGames
from pbrain_engine.commands import analyse, play
from pbrain_engine.database.store import Database
from pbrain_engine.engine.engine import EngineError
from pbrain_engine.errors import FileError
from pbrain_engine.options import DATABASE
from tests.conftest import Run
from tests.played import position


def document(name: str, began: float, moves: str, match: Any = None) -> dict[str, Any]:
    rows = [
        {"parent": at - 1, "x": x, "y": y} for at, (x, y) in enumerate(position(moves)["moves"])
    ]
    return {
        "game": name, "began": began, "position": position(), "tree": rows, "names": None,
        "comment": "", "root": None, "match": match, "at": len(rows), "title": "",
    }  # fmt: skip


def test_games_are_kept_as_a_model_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saved, "MOST_GAMES", 6)
    path = tmp_path / "new" / "state" / "games.db"
    kept, other = SavedGames(path), SavedGames(path)  # two servers
    chance = random.Random(1)
    model: dict[str, dict[str, Any]] = {}
    for step in range(60):
        name, moves = f"g{chance.randrange(9)}", "h8i9j10k11l12"[: 2 * chance.randrange(3)]
        began = model[name]["began"] if name in model else float(step)
        game = document(name, began, moves, {"seed": chance.random()})
        chance.choice([kept, other]).keep(game)
        same = {name, *(key for key, held in model.items() if held["tree"] == game["tree"])}
        model = {key: held for key, held in model.items() if key not in same} | {name: game}
        order = sorted(model, key=lambda key: -model[key]["began"])[:6]
        model = {key: model[key] for key in order}
        assert [game["game"] for game in kept.summaries()] == order
    kept.close()
    again = SavedGames(path)
    assert {name: again.game(name) for name in model} == model
    assert again.summaries()[0]["moves"] == len(next(iter(model.values()))["tree"])
    assert again.game("another") is None
    if sys.platform != "win32":
        assert os.stat(path).st_mode & 0o777 == 0o600


def named(name: str, began: float, black: str, **more: Any) -> dict[str, Any]:
    names = {"black": black, "white": "you", "result": more.pop("result", "")}
    made = document(name, began, more.pop("moves", "h8"), more.pop("match", None))
    made["position"]["rule"] = more.pop("rule", "freestyle")
    return {**made, "names": names, **more}


def test_games_are_found_by_words_rule_and_result() -> None:
    kept = SavedGames()
    kept.keep(named("a", 1e9, "Numoku level 5", result="1-0"))
    kept.keep(named("b", 1e9 + 1, "uct", moves="h8i9", rule="caro_exact", result="0-1"))
    kept.keep(named("c", 1e9 + 2, "Ann", moves="a1", rule="renju", match={"level": "7"}))
    kept.keep(named("d", 1e9 + 3, "", moves="b1", looked=True))

    def found(*wish: Any) -> str:
        return "".join(game["game"] for game in kept.summaries(*wish))

    assert found() == "dcba" and found("", None, None, False) == "cba"
    assert found("LEVEL 7") == "c" and found("level") == "ca" and found("you ann") == "c"
    assert found("caro exact") == "b" and found("2001-09") == "dcba"
    assert found("", "renju") == "c" and found("", None, "0-1") == "b"
    assert found("", None, "open") == "dc" and found("ann", "caro") == ""


def test_games_are_renamed_and_deleted(tmp_path: Path) -> None:
    kept = SavedGames(tmp_path / "games.db")
    kept.keep(document("a", 1.0, "h8"))
    assert kept.rename("a", "my best") and not kept.rename("b", "x")
    assert kept.summaries("best")[0]["title"] == "my best"
    kept.keep(document("a", 1.0, "h8i9"))  # the page that plays it need not know
    game = kept.game("a")
    assert game is not None and game["title"] == "my best" and len(game["tree"]) == 2
    kept.close()
    kept = SavedGames(tmp_path / "games.db")
    assert kept.delete("a") and not kept.delete("a") and kept.summaries() == []


@pytest.mark.parametrize("content", [None, b"no database at all, but a text that is long enough"])
def test_where_there_can_be_no_file_games_are_kept_in_memory(
    tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "games.db"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content * 100)
    kept = SavedGames(path)
    kept.keep(document("a", 1.0, "h8"))
    assert len(kept.summaries()) == 1
    assert path.is_dir() or path.read_bytes() == content * 100  # type: ignore[operator]


@pytest.mark.parametrize("harm", ["page", "text", "json"])
def test_of_a_damaged_file_the_reason_is_told(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch, harm: str
) -> None:
    monkeypatch.setattr(play, "shelf_file", lambda: tmp_path / "games.db")
    kept = SavedGames(tmp_path / "games.db")
    kept.keep(document("a", 1.0, "h8i9", {"human": "black"}))
    kept.close()
    whole = (tmp_path / "games.db").read_bytes()
    page = whole[:4096] + b"\xff" * len(whole[4096:])
    text = whole.replace(b'"match"', b'"mat\xff\xff"')
    damaged = {"page": page, "text": text, "json": whole.replace(b'"match"', b"match!!")}[harm]
    (tmp_path / "games.db").write_bytes(damaged)
    with pytest.raises(FileError, match="games.db: "):
        SavedGames(tmp_path / "games.db").going_on()
    (closed := SavedGames()).close()
    with pytest.raises(FileError, match="^the saved games: "):
        closed.going_on()
    status, _, said = run("play", "--resume")
    assert status == 1 and "games.db: " in said and said.count("\n") == 1


# Commands that read and feed a database ------------------------------------------------


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
