"""Boards, winning rows and renju's forbidden moves, as the rule texts say it.

Black moves first; sides are 0 (black) and 1 (white). A board is a dictionary from cells
``(x, y)`` to what they hold; what is not in it lies outside the board.
"""

from __future__ import annotations

from collections.abc import Iterable

Cell = tuple[int, int]

BLACK, WHITE, EMPTY, BLOCKED, OUTSIDE = 0, 1, 2, 3, 4

FREESTYLE = "freestyle"  # five or more
STANDARD = "standard"  # exactly five
RENJU = "renju"  # black: exactly five and forbidden moves; white: five or more
CARO = "caro"  # six or more, or five that opposing stones do not close at both ends
CARO_EXACT = "caro_exact"  # exactly five that opposing stones do not close at both ends
RULES = (FREESTYLE, STANDARD, RENJU, CARO, CARO_EXACT)

DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))


class Board:
    """Cells and their contents, under one rule."""

    def __init__(self, width: int, height: int, rule: str) -> None:
        """Make an empty board."""
        assert rule in RULES
        self.width, self.height, self.rule = width, height, rule
        self.cells = {(x, y): EMPTY for y in range(height) for x in range(width)}

    def at(self, cell: Cell) -> int:
        """Return the content of a cell; OUTSIDE off the board."""
        return self.cells.get(cell, OUTSIDE)

    def put(self, cell: Cell, held: int) -> None:
        """Put a stone (or BLOCKED) on an empty cell."""
        assert self.cells[cell] == EMPTY, cell
        self.cells[cell] = held

    def lift(self, cell: Cell) -> None:
        """Make a cell empty."""
        self.cells[cell] = EMPTY

    def stone(self, cell: Cell, side: int) -> _Stone:
        """Put a stone on a cell during a ``with`` block."""
        return _Stone(self, cell, side)

    def empties(self) -> list[Cell]:
        """Return the empty cells, row by row."""
        return [cell for cell, held in self.cells.items() if held == EMPTY]

    def state(self) -> tuple[int, ...]:
        """Return the contents as a hashable value."""
        return tuple(self.cells.values())

    def drawing(self) -> str:
        """Return the board for messages: . empty, X black, O white, # blocked."""
        rows = (
            "".join(".XO#"[[2, 0, 1, 3].index(self.cells[x, y])] for x in range(self.width))
            for y in range(self.height)
        )
        return "\n".join(rows)


class _Stone:
    """A stone that is lifted at the end of a ``with`` block; faster than a generator."""

    def __init__(self, board: Board, cell: Cell, side: int) -> None:
        self.board, self.cell, self.side = board, cell, side

    def __enter__(self) -> None:
        self.board.put(self.cell, self.side)

    def __exit__(self, *_: object) -> None:
        self.board.lift(self.cell)


def board_of(
    size: int, rule: str, black: Iterable[Iterable[int]], white: Iterable[Iterable[int]]
) -> Board:
    """Return a square board with these stones."""
    board = Board(size, size, rule)
    for side, stones in ((BLACK, black), (WHITE, white)):
        for x, y in stones:
            board.put((x, y), side)
    return board


def read_board(drawing: str, rule: str) -> Board:
    """Return the board of a drawing made of . X O and #, one line a row."""
    rows = [
        line.split() if " " in line.strip() else list(line.strip())
        for line in drawing.strip().splitlines()
    ]
    board = Board(len(rows[0]), len(rows), rule)
    for y, row in enumerate(rows):
        assert len(row) == board.width
        for x, sign in enumerate(row):
            board.cells[x, y] = {".": EMPTY, "X": BLACK, "O": WHITE, "#": BLOCKED}[sign]
    return board


# Rows and wins -----------------------------------------------------------------------


def row_through(board: Board, cell: Cell, direction: Cell) -> list[Cell]:
    """Return the unbroken row of equal stones through a stone, in order."""
    held, (x, y), (dx, dy) = board.cells.get, cell, direction
    side = held(cell, OUTSIDE)
    row = [cell]
    while held((x := x + dx, y := y + dy), OUTSIDE) == side:
        row.append((x, y))
    x, y = cell
    while held((x := x - dx, y := y - dy), OUTSIDE) == side:
        row.insert(0, (x, y))
    return row


def ends_of(row: list[Cell], direction: Cell) -> tuple[Cell, Cell]:
    """Return the two cells next to a row."""
    dx, dy = direction
    return (row[0][0] - dx, row[0][1] - dy), (row[-1][0] + dx, row[-1][1] + dy)


def is_winning_row(board: Board, row: list[Cell], direction: Cell) -> bool:
    """Return whether this unbroken row wins for its owner."""
    if len(row) < 5:
        return False
    side = board.at(row[0])
    closed = all(board.at(end) == 1 - side for end in ends_of(row, direction))
    if board.rule == FREESTYLE:
        return len(row) >= 5
    if board.rule == STANDARD:
        return len(row) == 5
    if board.rule == RENJU:
        return len(row) == 5 if side == BLACK else len(row) >= 5
    if board.rule == CARO:
        return len(row) >= 6 or (len(row) == 5 and not closed)
    return len(row) == 5 and not closed


def is_win(board: Board, cell: Cell) -> bool:
    """Return whether the stone on a cell is part of a winning row."""
    for direction in DIRECTIONS:
        row = row_through(board, cell, direction)
        if len(row) >= 5 and is_winning_row(board, row, direction):
            return True
    return False


def winners(board: Board) -> set[int]:
    """Return the sides that have a winning row anywhere."""
    stones = [cell for cell, held in board.cells.items() if held in (BLACK, WHITE)]
    return {board.at(cell) for cell in stones if is_win(board, cell)}


def wins_at(board: Board, cell: Cell, side: int) -> bool:
    """Return whether a stone of the side on this empty cell makes a winning row."""
    board.put(cell, side)
    won = is_win(board, cell)
    board.lift(cell)
    return won


# Renju's forbidden moves ---------------------------------------------------------------


def is_forbidden(board: Board, cell: Cell) -> bool:
    """Return whether renju forbids black this empty cell.

    A row of exactly five makes any move right. Otherwise black may not make a row of six
    or more, two fours, or two threes.
    """
    with board.stone(cell, BLACK):
        lengths = [len(row_through(board, cell, direction)) for direction in DIRECTIONS]
        if 5 in lengths:
            return False
        if max(lengths) > 5:
            return True
        if sum(len(fours_in(board, cell, direction)) for direction in DIRECTIONS) >= 2:
            return True
        # A direction never has two threes: each needs room around it for its straight four.
        return sum(has_three(board, cell, direction) for direction in DIRECTIONS) >= 2


def cells_near(board: Board, cell: Cell, direction: Cell, reach: int) -> list[Cell]:
    """Return the empty cells of the line through a cell, within a distance."""
    (x, y), (dx, dy) = cell, direction
    line = [(x + i * dx, y + i * dy) for i in range(-reach, reach + 1)]
    return [c for c in line if board.at(c) == EMPTY]


def fours_in(board: Board, cell: Cell, direction: Cell) -> set[frozenset[Cell]]:
    """Return the fours on one line that black's stone on the cell is part of.

    A four is a set of four stones that one more stone makes a row of exactly five. A straight
    four has two such cells but is one four; other sets of stones are other fours.
    """
    fours = set()
    for last in cells_near(board, cell, direction, 4):
        with board.stone(last, BLACK):
            row = row_through(board, last, direction)
            if len(row) == 5 and cell in row:
                fours.add(frozenset(row) - {last})
    return fours


def has_three(board: Board, cell: Cell, direction: Cell) -> bool:
    """Return whether black's stone on the cell is part of a three on this line.

    A three becomes a straight four by one more stone, which must not make a five at the
    same time and must not itself be forbidden.
    """
    for added in cells_near(board, cell, direction, 3):
        with board.stone(added, BLACK):
            row = row_through(board, added, direction)
            straight = cell in row and is_straight_four(board, row, direction)
            five = is_win(board, added)
        if straight and not five and not is_forbidden(board, added):
            return True
    return False


def is_straight_four(board: Board, row: list[Cell], direction: Cell) -> bool:
    """Return whether a row is four black stones that a stone at either end makes exactly five."""
    if len(row) != 4:
        return False
    for end in ends_of(row, direction):
        if board.at(end) != EMPTY:
            return False
        with board.stone(end, BLACK):
            if len(row_through(board, end, direction)) != 5:
                return False
    return True


def forbidden_cells(board: Board) -> set[Cell]:
    """Return every cell that renju forbids black."""
    return {cell for cell in board.empties() if is_forbidden(board, cell)}


def is_legal(board: Board, cell: Cell, side: int) -> bool:
    """Return whether a side may put a stone on a cell."""
    if board.at(cell) != EMPTY:
        return False
    return not (board.rule == RENJU and side == BLACK and is_forbidden(board, cell))


def may_play(board: Board, cell: Cell, side: int) -> bool:
    """Return whether a move is legal, or a foul where all moves are fouls."""
    if is_legal(board, cell, side):
        return True
    return board.at(cell) == EMPTY and set(board.empties()) == forbidden_cells(board)
