"""Threats, and the moves that stop them, by trying every reply.

"Attacker" and "defender" are the sides 0 (black) and 1 (white). A defender who makes a
winning row of his own has answered every threat.
"""

from __future__ import annotations

from collections.abc import Iterable

from tests.oracle.rules import DIRECTIONS, EMPTY, Board, Cell, is_legal, is_win, wins_at

BACKWARDS = tuple((-dx, -dy) for dx, dy in DIRECTIONS)


def five_cells(board: Board, side: int) -> set[Cell]:
    """Return the cells on which the side wins at once (no rule forbids a win)."""
    return {cell for cell in cells_in_long_rows(board, side) if wins_at(board, cell, side)}


def cells_in_long_rows(board: Board, side: int) -> set[Cell]:
    """Return the empty cells where a stone of the side would be in a row of five or more."""
    held = board.cells.get
    found = set()
    for (x, y), owner in board.cells.items():
        if owner != side:
            continue
        for dx, dy in (*DIRECTIONS, *BACKWARDS):
            if held((x - dx, y - dy)) == side:
                continue  # not the first stone of its row
            row = 1
            while held((x + row * dx, y + row * dy)) == side:
                row += 1
            end = (x + row * dx, y + row * dy)
            if held(end) == EMPTY:
                beyond = row + 1
                while held((x + beyond * dx, y + beyond * dy)) == side:
                    beyond += 1
                if beyond >= 5:
                    found.add(end)
    return found


def five_cells_with(board: Board, stone: Cell) -> set[Cell]:
    """Return the cells that complete a winning row on a line through this stone."""
    side = board.at(stone)
    return {cell for cell in around(board, [stone], 5) if wins_at(board, cell, side)}


def around(board: Board, cells: Iterable[Cell], reach: int = 5) -> set[Cell]:
    """Return the empty cells on a line with one of these cells and at most so far away.

    A stone further away changes nothing about a row through the cell, its ends included.
    """
    found = set()
    for x, y in cells:
        for dx, dy in DIRECTIONS:
            for i in range(-reach, reach + 1):
                near = (x + i * dx, y + i * dy)
                if board.at(near) == EMPTY:
                    found.add(near)
    return found


def near_all(board: Board, fives: set[Cell]) -> set[Cell]:
    """Return the empty cells where a stone may affect each of these rows."""
    return set.intersection(*(around(board, [five]) for five in fives)) if fives else set()


def five_stoppers(board: Board, attacker: int) -> set[Cell]:
    """Return every reply after which the attacker, who threatens five, no longer does.

    Empty if no reply helps; meant for positions in which a five is threatened.
    """
    fives = five_cells(board, attacker)
    stoppers = five_cells(board, 1 - attacker)
    for reply in near_all(board, fives):
        if reply not in stoppers and stops_fives(board, reply, fives, attacker):
            stoppers.add(reply)
    return stoppers


def stops_fives(board: Board, reply: Cell, fives: set[Cell], attacker: int) -> bool:
    """Return whether a legal reply leaves the attacker none of the cells that made five."""
    if not is_legal(board, reply, 1 - attacker):
        return False
    with board.stone(reply, 1 - attacker):
        return not any(f != reply and wins_at(board, f, attacker) for f in fives)


def wins_next_move(board: Board, attacker: int) -> bool:
    """Return whether the attacker, who has just moved, makes five whatever the reply."""
    fives = five_cells(board, attacker)
    if not fives or five_cells(board, 1 - attacker):
        return False
    return not any(stops_fives(board, reply, fives, attacker) for reply in near_all(board, fives))


def makes_unstoppable_four(board: Board, cell: Cell, side: int) -> bool:
    """Return whether this legal move makes no five but a five at the next move certain."""
    if not has_own_near(board, cell, side) or not is_legal(board, cell, side):
        return False
    with board.stone(cell, side):
        return not is_win(board, cell) and wins_next_move(board, side)


def has_own_near(board: Board, cell: Cell, side: int) -> bool:
    """Return whether a stone of the side is near enough to be part of a four through the cell."""
    (x, y) = cell
    return any(
        board.at((x + i * dx, y + i * dy)) == side
        for dx, dy in DIRECTIONS
        for i in range(-4, 5)
        if i
    )


def unstoppable_four_cells(board: Board, side: int) -> set[Cell]:
    """Return the cells where the side makes a five at its next move certain.

    Straight fours, double fours, and fours whose only answer the rule forbids. Where the
    opponent could make five himself there are none.
    """
    return {cell for cell in board.empties() if makes_unstoppable_four(board, cell, side)}


def four_stoppers(board: Board, attacker: int) -> set[Cell]:
    """Return every reply after which the attacker has no unstoppable four, nor a five.

    Meant for positions in which the attacker threatens an unstoppable four but no five.
    """
    defender = 1 - attacker
    threats = unstoppable_four_cells(board, attacker)
    stoppers = set()
    for reply in board.empties():
        if not is_legal(board, reply, defender):
            continue
        with board.stone(reply, defender):
            if is_win(board, reply) or not still_threatens(board, attacker, threats):
                stoppers.add(reply)
    return stoppers


def still_threatens(board: Board, attacker: int, threats: Iterable[Cell]) -> bool:
    """Return whether one of the cells that made an unstoppable four still makes one.

    A defender's stone takes threats away and never adds one, save in renju, where it can
    make a forbidden cell allowed; there every cell is tried.
    """
    cells = set(threats) if board.rule != "renju" else unstoppable_four_cells(board, attacker)
    return any(
        board.at(cell) == EMPTY and makes_unstoppable_four(board, cell, attacker) for cell in cells
    )
