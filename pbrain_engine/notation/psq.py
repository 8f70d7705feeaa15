"""PSQ files, the format of the Piskvork manager.

A header ``Piskvorky 15x15, 11:11, 0``, one line ``x,y,ms`` a move with coordinates from 1,
then the names of both players and a number for how the game ended.
"""

from __future__ import annotations

from ..position.rules import Side
from .cells import NotationError
from .game_tree import GameRecord, RecordedMove

_MAGIC = "Piskvorky"
_PLAYER_KINDS = "11:11"  # two computer players at the highest level of the manager's table
_FIRST_PLAYER = 0  # which of the two names has the first move
_END_CODE = 0


def format_psq(record: GameRecord) -> str:
    """Return the game as a PSQ file.

    Raises:
        NotationError: stones stood on the board before the first move, white began, or a
            side passed.
    """
    if record.black_setup or record.white_setup:
        raise NotationError("a PSQ file cannot keep stones set up before the first move")
    if record.first != Side.BLACK:
        raise NotationError("in a PSQ file black always begins")
    if record.passes:
        raise NotationError("a PSQ file cannot keep passes")
    lines = [f"{_MAGIC} {record.width}x{record.height}, {_PLAYER_KINDS}, {_FIRST_PLAYER}"]
    lines += [f"{move.x + 1},{move.y + 1},{move.milliseconds or 0}" for move in record.moves]
    for number, name in enumerate((record.black, record.white), 1):
        words = name.replace(",", " ").split()  # with a comma it could be read as a move
        lines.append(" ".join(words) or f"player-{number}")
    lines.append(str(_END_CODE))
    return "\n".join(lines) + "\n"


def parse_psq(text: str) -> GameRecord:
    """Return the game that a PSQ file holds.

    Raises:
        NotationError: this is no PSQ file, or its moves are not possible.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    width, height, first_player = _parse_header(lines[0] if lines else "")
    moves: list[RecordedMove] = []
    for line in lines[1:]:
        move = _parse_move(line)
        if move is None:
            break
        if not (0 <= move.x < width and 0 <= move.y < height):
            raise NotationError(f"{line} is off the {width}x{height} board; PSQ counts from 1")
        moves.append(move)
    names = [*lines[1 + len(moves) : 3 + len(moves)], "", ""][:2]
    if first_player:
        names.reverse()
    return GameRecord(width, height, moves=tuple(moves), black=names[0], white=names[1]).check()


def _parse_header(line: str) -> tuple[int, int, int]:
    """Return width, height and the number of the player who starts."""
    magic, _, rest = line.partition(" ")
    parts = [part.strip() for part in rest.split(",")]
    sizes = parts[0].split("x")
    try:
        if magic != _MAGIC or len(parts) < 3:
            raise ValueError
        width, height = (int(size) for size in sizes)
        return width, height, int(parts[2])
    except ValueError:
        raise NotationError("a PSQ file begins like 'Piskvorky 15x15, 11:11, 0'") from None


def _parse_move(line: str) -> RecordedMove | None:
    """Return the move on a line, or None if the line is something else."""
    words = line.split(",")
    if len(words) not in (2, 3):
        return None
    try:
        numbers = [int(word) for word in words]
    except ValueError:
        return None
    return RecordedMove(numbers[0] - 1, numbers[1] - 1, numbers[2] if len(numbers) == 3 else None)
