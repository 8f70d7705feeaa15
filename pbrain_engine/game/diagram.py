"""Drawings of boards: as text that people type and read, and as SVG pictures.

::

       a b c d e
     1 . . . . .
     2 . X . # .
     3 . .(O). .
     4 . . . . .
     5 . . . . .
    black to move

``.`` (or ``+``) is an empty cell, ``X`` a black stone, ``O`` a white one and ``#`` a blocked cell;
``(O)`` marks the last stone. Row 1 is at the top. The parser is lenient: column letters, row
numbers and the side to move are optional, lower-case ``x`` and ``o`` are stones, blanks between
cells do not matter, and rows may be numbered from below.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from datetime import date
from html import escape
from typing import NamedTuple

from ..position.geometry import Coordinates
from ..position.rules import Side
from .cells import NotationError, check_size, column_letter
from .record import GameRecord

SYMBOLS = {Side.EMPTY: ".", Side.BLACK: "X", Side.WHITE: "O", Side.WALL: "#"}
STAR = "+"  # an empty cell at a star point
_SIDES = {symbol: side for side, symbol in SYMBOLS.items()} | {STAR: Side.EMPTY}
STARS_FROM, WIDE_FROM = 9, 13  # least sides of boards with star points, and with wider insets
_LETTERS = "".join(map(column_letter, range(26)))
_TURNS = {"black to move": Side.BLACK, "white to move": Side.WHITE}

DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))


def star_points(width: int, height: int) -> set[Coordinates]:
    """Return the star points of a board: near the corners, and the centre if there is one."""

    def lines(length: int) -> list[int]:
        if length < STARS_FROM:
            return []
        inset = 3 if length >= WIDE_FROM else 2
        return [inset, length - 1 - inset]

    stars = {(x, y) for x in lines(width) for y in lines(height)}
    if width % 2 and height % 2:
        stars.add((width // 2, height // 2))
    return stars


def picture(
    board: GameRecord, line: Iterable[Coordinates] = (), row: Collection[Coordinates] = ()
) -> str:
    """Return a position as SVG, with stones numbered, or only the moves of a ``line``.

    The stones of ``row`` are ringed.
    """
    expected, drawn = list(line), []
    for number, (cell, side) in enumerate(board.stones.items(), 1):
        drawn.append(Drawn(cell, side, "" if expected else str(number)))
    for number, cell in enumerate(expected):
        side = Side((board.to_move + number) % 2)
        drawn.append(Drawn(cell, side, str(number + 1), False))
    return board_svg(board.width, board.height, drawn, set(row))


def format_diagram(diagram: GameRecord, stars: bool = False, mover: bool = True) -> str:
    """Return a position as text that ``parse_diagram`` reads, with letters and numbers.

    ``stars``: mark star points; ``mover``: add a line with the side to move.
    """
    marked = star_points(diagram.width, diagram.height) if stars else set()
    lines = ["   " + " ".join(column_letter(x) for x in range(diagram.width))]
    signs = dict.fromkeys(marked, STAR) | {c: SYMBOLS[side] for c, side in diagram.stones.items()}
    for y in range(diagram.height):
        row = (signs.get((x, y), SYMBOLS[Side.EMPTY]) for x in range(diagram.width))
        drawn = f" {' '.join(row)} "
        if diagram.last is not None and diagram.last[1] == y:
            at = 2 * diagram.last[0]
            drawn = f"{drawn[:at]}({drawn[at + 1]}){drawn[at + 3 :]}"
        lines.append(f"{y + 1:2}{drawn.rstrip()}")
    if mover:
        lines.append(f"{diagram.to_move.name.lower()} to move")
    return "\n".join(lines)


def parse_diagram(text: str) -> GameRecord:
    """Parse a drawn position.

    Without a line for the side to move, black moves unless black has one stone more. NotationError
    if a sign is unknown, rows differ in length, no board has the size, or neither a line nor the
    stones tell the side to move.
    """
    lengths: list[int] = []  # of the rows
    labels: list[tuple[int, str]] = []  # of the rows, numbered from above or from below
    stones: dict[Coordinates, Side] = {}
    marked: list[Coordinates] = []
    to_move: Side | None = None
    for line in text.splitlines():
        words = " ".join(line.lower().split())
        if words in _TURNS:
            to_move = _TURNS[words]
        elif words and not _LETTERS.startswith(words.replace(" ", "")):
            number, signs = len(lengths) + 1, words.replace(" ", "").upper()
            drawn = signs.strip("0123456789")
            cells = re.findall(r"\([XO]\)|.", drawn)
            labels += [(number, label) for label in signs.split(drawn or None) if label]
            for x, cell in enumerate(cells):
                if cell.strip("()") not in _SIDES:
                    raise NotationError(f"row {number}: {cell!r} is not one of . X O # (X) (O)")
                if (side := _SIDES[cell.strip("()")]) is not Side.EMPTY:
                    stones[x, number - 1] = side
                if len(cell) > 1:
                    marked.append((x, number - 1))
            lengths.append(len(cells))
    if any(label != str(len(lengths) + 1 - number) for number, label in labels):
        for number, label in labels:
            if label != str(number):
                raise NotationError(f"the row numbered {label} is row {number} of the drawing")
    if len(marked) > 1:
        raise NotationError("two stones are marked as the last")
    if len(set(lengths)) != 1:
        found = sorted(set(lengths))
        error = NotationError(f"the rows have different lengths, or there are none: {found}")
        raise error.coded("rows")
    check_size("the drawing", lengths[0], len(lengths))
    placed = sorted(stones.items(), key=lambda held: held[1])
    if to_move is None:
        surplus = sum((side is Side.BLACK) - (side is Side.WHITE) for _, side in placed)
        if surplus not in (0, 1):
            reason = "say who moves: add a line 'black to move' or 'white to move'"
            raise NotationError(reason).coded("no-mover")
        to_move = Side(surplus)
    return GameRecord(
        lengths[0], len(lengths), first=to_move, placed=tuple(placed),
        marked=marked[0] if marked else None,
    )  # fmt: skip


def winning_row(board: GameRecord, stone: Coordinates | None = None) -> list[Coordinates]:
    """Return the row of five or more completed by a stone (default: the last), or nothing."""
    stone = stone or board.last
    if stone is None:
        return []
    stones = board.stones
    side, at = stones[stone], stones.get
    rows = []
    for dx, dy in DIRECTIONS:
        row = [stone]
        while at((row[-1][0] + dx, row[-1][1] + dy)) is side:
            row.append((row[-1][0] + dx, row[-1][1] + dy))
        while at((row[0][0] - dx, row[0][1] - dy)) is side:
            row.insert(0, (row[0][0] - dx, row[0][1] - dy))
        if len(row) >= 5:
            rows.append(row)
    return min(rows, key=len, default=[])  # under an exact-five rule a longer row does not count


CELL, EDGE = 30, 30  # pixels between two lines, and from the border to the first
STONE = 13.2  # radius
WOOD, LINE, MARK = "#e9c88d", "#8a6a35", "#d23b2f"
STONES = (("#16181b", "#16181b", "#f2f0ea"), ("#fdfdfb", "#6d6a62", "#24262a"))  # fill, edge, text
EXPECTED = 0.7  # opacity of expected moves


class Drawn(NamedTuple):
    """A stone or blocked cell of a picture, with its label."""

    cell: Coordinates
    side: Side
    text: str = ""
    is_there: bool = True  # False: a move of an expected line


def board_svg(
    width: int,
    height: int,
    stones: Iterable[Drawn],
    row: Collection[Coordinates] = (),
    title: str = "",
    wrap: Callable[[int, str], str] = lambda number, part: part,
) -> str:
    """Return a board as SVG; the stones of ``row`` are ringed.

    ``wrap`` gets the number of each stone, from 0, and its markup, and returns the final markup.
    """
    wide, tall = 2 * EDGE + (width - 1) * CELL, 2 * EDGE + (height - 1) * CELL
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {tall}" '
        f'width="{wide}" height="{tall}" font-family="sans-serif" text-anchor="middle">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{wide}" height="{tall}" rx="8" fill="{WOOD}"/>',
        *_lines(width, height),
    ]
    parts += [wrap(number, _stone(drawn, row)) for number, drawn in enumerate(stones)]
    return "\n".join([*parts, "</svg>", ""])


def _stone(drawn: Drawn, row: Collection[Coordinates]) -> str:
    """Return the markup of a stone or blocked cell."""
    (x, y), side, text, is_there = drawn
    if side is Side.WALL:
        place = f'x="{_at(x) - STONE}" y="{_at(y) - STONE}"'
        return f'<rect {place} width="{2 * STONE}" height="{2 * STONE}" fill="{LINE}"/>'
    fill, edge, ink = STONES[side]
    ringed = (x, y) in row
    if not is_there:
        fill += f'" opacity="{EXPECTED}'
    stroke = f'stroke="{MARK if ringed else edge}" stroke-width="{3 if ringed else 1}"'
    circle = f'<circle cx="{_at(x)}" cy="{_at(y)}" r="{STONE}" fill="{fill}" {stroke}/>'
    return "\n".join([circle, _text(_at(x), _at(y) + 4, text, 11, ink)] if text else [circle])


def _at(line: int) -> int:
    return EDGE + line * CELL


def _text(x: float, y: float, text: str, points: int, ink: str) -> str:
    return f'<text x="{x}" y="{y}" font-size="{points}" fill="{ink}">{text}</text>'


def _lines(width: int, height: int) -> list[str]:
    """Return the markup of lines, labels and star points."""
    right, bottom = _at(width - 1), _at(height - 1)
    drawn = [f"M{_at(x)} {EDGE}V{bottom}" for x in range(width)]
    drawn += [f"M{EDGE} {_at(y)}H{right}" for y in range(height)]
    parts = [f'<path d="{"".join(drawn)}" stroke="{LINE}" fill="none"/>']
    parts += [_text(_at(x), 13, column_letter(x), 11, LINE) for x in range(width)]
    parts += [_text(10, _at(y) + 4, str(y + 1), 11, LINE) for y in range(height)]
    stars = sorted(star_points(width, height))
    parts += [f'<circle cx="{_at(x)}" cy="{_at(y)}" r="3.5" fill="{LINE}"/>' for x, y in stars]
    return parts


# Films ----------------------------------------------------------------------------------

STEP, PAUSE = 0.8, 3.0  # seconds per move, and of the pause at the end
LONGEST = 60  # characters of a player's name in a file name


def animated_svg(game: GameRecord, step: float = STEP) -> str:
    """Return a game as an animated SVG that loops forever, ``step`` seconds per move.

    Viewers without animation show the final position.
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
    """Return a file name for a game, without suffix: its date and players.

    ``today``: the date if the game has none.
    """
    day = game.date or (today or date.today()).isoformat()
    players = " - ".join(name[:LONGEST] for name in (game.black, game.white) if name)
    name = " ".join(filter(None, (day[:10], players or "numoku")))
    return " ".join(re.sub(r'[\x00-\x1f/\\:*?"<>|]', " ", name).split()).strip(". ") or "game"
