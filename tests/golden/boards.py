"""What games say of themselves, step by step: ``python -m tests.golden.boards`` records it anew.

A session (see ``records``) with what is seen of the game after each line.
"""

from __future__ import annotations

import json

from pbrain_engine.game.documents import game_document
from pbrain_engine.game.game import Game
from tests.golden.commands import BOARD, stones
from tests.golden.records import Record, session, stage


def play(game: Game, cells: str) -> None:
    for cell in cells.split():
        game.play(cell)


def seen(game: Game) -> list[str]:
    """Return what is to be seen of a game."""
    number = [len(game.legal_moves()), len(game.empty_cells()), game.ply]
    is_so = [name for name in ("is_full", "is_over", "foul") if getattr(game, name)]
    width, height = game.width, game.height
    corners = ((-1, 0), (0, -1), (width - 1, height - 1), (width, 0), (0, height))
    at = [game.at(*cell).name for cell in corners]
    assert game.check() == 0
    form = [*game_document(game).items()]
    forms = [json.dumps(dict(form[:6])), json.dumps(dict(form[6:]))]
    board = f"<{width}x{height}, {len(game.record().stones)} stones>"
    drawn = BOARD.sub(stones, f"{game}\n").splitlines()
    return [*forms, f"{number} {is_so} {at} {board}", *drawn]


@Record("boards")
def boards(record: str) -> str:
    names = dict(globals())
    with stage():
        return session(record, names, after=lambda: seen(names["game"]) if "game" in names else [])
