"""A game as a picture that moves: its stones come one after the other, again and again."""

from __future__ import annotations

import re
from datetime import date

from .diagram import Drawn, board_svg
from .record import GameRecord

STEP, PAUSE = 0.8, 3.0  # seconds of a move, and of the end
LONGEST = 60  # characters of a player's name in the name of a file


def animated_svg(game: GameRecord, step: float = STEP) -> str:
    """Return a picture of a game in which its moves are made, ``step`` seconds each, for ever.

    Where pictures do not move, it shows the end of the game.
    """
    drawn = [Drawn(cell, side) for cell, side in game.placed]
    side = game.first
    for number, cell in enumerate(game.turns, 1):
        if cell is not None:
            drawn.append(Drawn(cell, side, str(number)))
        side = side.opponent
    total = step * len(game.turns) + PAUSE
    still = len(game.placed)
    title = " – ".join(filter(None, (game.black, game.white)))

    def appearing(number: int, part: str) -> str:
        if number < still:
            return part
        begins = step * (number + 1 - still) / total
        times = f'keyTimes="0;{begins:.4f}" dur="{total:g}s" repeatCount="indefinite"'
        change = f'<animate attributeName="opacity" calcMode="discrete" values="0;1" {times}/>'
        return f"<g>{change}\n{part}</g>"

    return board_svg(game.width, game.height, drawn, title=title, wrap=appearing)


def file_stem(game: GameRecord, today: date | None = None) -> str:
    """Return how a file of a game is named, without its kind: by its date and players.

    ``today``: the date of a game that has none.
    """
    day = game.date or (today or date.today()).isoformat()
    players = " - ".join(name[:LONGEST] for name in (game.black, game.white) if name)
    name = " ".join(filter(None, (day[:10], players or "numoku")))
    return " ".join(re.sub(r'[\x00-\x1f/\\:*?"<>|]', " ", name).split()).strip(". ") or "game"
