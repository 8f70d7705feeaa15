"""PSQ files, the format of the Piskvork manager.

A header ``Piskvorky 15x15, 11:11, 0``, one line ``x,y,ms`` a move with coordinates from 1,
then the names of both players and a number for how the game ended.
"""

from __future__ import annotations

import re
from itertools import zip_longest

from ..game.cells import NotationError
from ..game.record import GameRecord
from ..game.tree import tree_of
from ..position.geometry import Coordinates
from ..position.rules import Side

# Two computer players at the highest level of the manager's table; the first of them begins.
_HEAD = "Piskvorky {}x{}, 11:11, 0"
_NUMBER = "(-?[0-9]{1,18})"
_START = re.compile(rf"Piskvorky\s+{_NUMBER}x{_NUMBER}\s*,[^,]*,\s*{_NUMBER}\s*(?:,.*)?")
_MOVE = re.compile(rf"{_NUMBER}\s*,\s*{_NUMBER}(?:\s*,\s*{_NUMBER})?")


def format_psq(record: GameRecord) -> str:
    """Return the game as a PSQ file.

    Raises:
        NotationError: stones stood on the board before the first move, white began, or a
            side passed.
    """
    if record.placed:
        raise NotationError("a PSQ file cannot keep stones set up before the first move")
    if record.first != Side.BLACK:
        raise NotationError("in a PSQ file black always begins")
    if record.passes:
        raise NotationError("a PSQ file cannot keep passes")
    lines = [_HEAD.format(record.width, record.height)]
    moves = zip_longest(record.moves, (0,) * record.given + record.times)
    lines += [f"{x + 1},{y + 1},{spent or 0}" for (x, y), spent in moves]
    for number, name in enumerate((record.black, record.white), 1):
        words = name.replace(",", " ").split()  # with a comma it could be read as a move
        lines.append(" ".join(words) or f"player-{number}")
    return "\n".join([*lines, "0", ""])  # how it ended, which no program reads


def parse_psq(text: str) -> GameRecord:
    """Return the game that a PSQ file holds.

    Raises:
        NotationError: this is no PSQ file, or its moves are not possible.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    start = _START.fullmatch(lines[0]) if lines else None
    if start is None:
        raise NotationError(f"a PSQ file begins like {_HEAD.format(15, 15)!r}")
    width, height, first_player = map(int, start.groups())
    moves: list[Coordinates] = []
    times: list[int] = []
    for line in lines[1:]:
        found = _MOVE.fullmatch(line)
        if found is None:
            break
        x, y = int(found[1]), int(found[2])
        if not (0 < x <= width and 0 < y <= height):
            raise NotationError(f"{line} is off the {width}x{height} board; PSQ counts from 1")
        moves.append((x - 1, y - 1))
        times.append(int(found[3] or 0))
    names = [*lines[1 + len(moves) : 3 + len(moves)], "", ""][:2]
    if first_player:
        names.reverse()
    record = GameRecord(
        width, height, moves=tuple(moves), times=tuple(times), black=names[0], white=names[1]
    )
    tree_of(record).check()
    return record
