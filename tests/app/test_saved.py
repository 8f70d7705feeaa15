"""Games that page and terminal go on with."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from pbrain_engine.app import saved
from pbrain_engine.app.saved import SavedGames
from tests.board.board_server import position


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
    path = tmp_path / "state" / "games.db"
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
