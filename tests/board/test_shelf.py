"""The games of the page on their shelf: in the order of play, none twice, the oldest makes room."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from pbrain_engine.board import archive
from pbrain_engine.board.archive import Shelf
from pbrain_engine.board.messages import Refused
from tests.board.board_server import position


def document(name: str, began: float, moves: str, match: Any = None) -> dict[str, Any]:
    rows = [
        {"parent": at - 1, "x": x, "y": y} for at, (x, y) in enumerate(position(moves)["moves"])
    ]
    return {
        "game": name, "began": began, "position": position(), "tree": rows, "names": None,
        "comment": "", "root": None, "match": match, "at": len(rows),
    }  # fmt: skip


def test_games_are_kept_as_a_model_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "MOST_GAMES", 6)
    path = tmp_path / "state" / "games.db"
    kept, other = Shelf(path), Shelf(path)  # two servers
    chance = random.Random(1)
    model: dict[str, dict[str, Any]] = {}
    for step in range(120):
        name = f"g{chance.randrange(9)}"
        began = model[name]["began"] if name in model else float(step)
        game = document(name, began, "h8i9j10k11l12"[: 2 * chance.randrange(3)], chance.random())
        chance.choice([kept, other]).keep(game)
        model = {
            key: held for key, held in model.items()
            if key != name and held["tree"] != game["tree"]
        } | {name: game}  # fmt: skip
        order = sorted(model, key=lambda key: -model[key]["began"])[:6]
        model = {key: model[key] for key in order}
        assert [game["game"] for game in kept.summaries()] == order
    kept.close()
    again = Shelf(path)
    for name, game in model.items():
        assert again.game(name) == game
    assert again.summaries()[0]["moves"] == len(next(iter(model.values()))["tree"])
    with pytest.raises(Refused, match="not kept"):
        again.game("another")
    if sys.platform != "win32":
        assert os.stat(path).st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", [None, b"no database at all, but a text that is long enough"])
def test_where_there_can_be_no_file_games_are_kept_in_memory(
    tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "games.db"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content * 100)
    kept = Shelf(path)
    kept.keep(document("a", 1.0, "h8"))
    assert len(kept.summaries()) == 1
    assert path.is_dir() or path.read_bytes() == content * 100  # type: ignore[operator]
