"""Shared by all methods: the game in plain Python, the budget of a move, and the answer.

A cell is a number, ``row * width + column``. The board knows each *five*, a row of five cells in
which a side might win, and the number of stones each side has in it. A five with stones of only one
side is still open to that side: open fives with 1, 2, 3 and 4 stones are the shapes that the
methods count.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from typing import NamedTuple

from ..position.rules import BLACK, EMPTY, WALL, WHITE, Rule

DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))


class Budget(NamedTuple):
    """When to stop, by seconds or nodes; ``depth`` in moves of both sides."""

    seconds: float | None = None
    nodes: int | None = None
    depth: int | None = None

    def part(self, share: float) -> Budget:
        """Return the budget for a share of the search."""
        nodes = None if self.nodes is None else int(self.nodes * share)
        return Budget(self.seconds and self.seconds * share, nodes, self.depth)


class Choice(NamedTuple):
    """A move with its value, the nodes searched, and the expected line.

    The value is in the method's unit: points of the evaluation, or a chance from 0 to 1.
    """

    move: int
    value: float
    nodes: int
    line: tuple[int, ...]


class NodeCounter:
    """Counts nodes and ends a search at its limit."""

    def __init__(self, limit: Budget) -> None:
        self.nodes = 0
        self._most = inf if limit.nodes is None else limit.nodes
        self._end = inf if limit.seconds is None else time.monotonic() + limit.seconds

    @property
    def is_over(self) -> bool:
        """Whether the limit is reached."""
        return self.nodes >= self._most or time.monotonic() >= self._end

    def spend(self) -> None:
        """Count a node; TimeoutError if the limit is reached already."""
        if self.is_over:
            raise TimeoutError
        self.nodes += 1


class PlainGame:
    """A game under one rule; black (0) moves first, white is 1."""

    def __init__(self, width: int = 15, height: int | None = None, rule: Rule | str = "freestyle"):
        """Start with an empty board, ``width`` by ``height`` (default: square)."""
        self.width, self.height = width, height or width
        self.rule = Rule.parse(rule)
        self.cells = [EMPTY] * (self.width * self.height)
        self.to_move = BLACK
        self.winner: int | None = None
        self.history: list[int] = []
        self.fives = [
            five for cell in range(len(self.cells)) for d in DIRECTIONS
            if len(five := (cell, *self.ray(cell, d, 4))) == 5
        ]  # fmt: skip
        self.through: list[list[int]] = [[] for _ in self.cells]  # the fives through a cell
        for number, five in enumerate(self.fives):
            for cell in five:
                self.through[cell].append(number)
        # stones[side][five], and open_fives[side][n]: fives with n stones of only this side.
        self.stones = [[0] * len(self.fives), [0] * len(self.fives)]
        self.open_fives = [[len(self.fives), 0, 0, 0, 0, 0] for _ in (BLACK, WHITE)]
        self._around = [
            [row * self.width + column
             for row in range(max(0, y - 2), min(self.height, y + 3))
             for column in range(max(0, x - 2), min(self.width, x + 3))]
            for y in range(self.height) for x in range(self.width)
        ]  # fmt: skip
        self._near = [0] * len(self.cells)  # number of stones within two cells

    def play(self, cell: int) -> None:
        """Put a stone of the side to move."""
        side = self.to_move
        self.cells[cell] = side
        self.history.append(cell)
        self._count(cell, side, 1)
        if any(self.stones[side][five] == 5 for five in self.through[cell]) and self.is_win(cell):
            self.winner = side
        self.to_move = 1 - side

    def block(self, cell: int) -> None:
        """Block an empty cell: no row can go through it."""
        self.cells[cell] = WALL
        for five in self.through[cell]:
            for side in (BLACK, WHITE):
                if not self.stones[1 - side][five]:
                    self.open_fives[side][self.stones[side][five]] -= 1
            self.stones[BLACK][five] += 1
            self.stones[WHITE][five] += 1

    def undo(self) -> None:
        """Take back the last stone."""
        cell = self.history.pop()
        self.to_move = self.cells[cell]
        self._count(cell, self.to_move, -1)
        self.cells[cell] = EMPTY
        self.winner = None

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Take back, at the end of a ``with`` block, all stones played in it."""
        stones, to_move = len(self.history), self.to_move
        try:
            yield
        finally:
            while len(self.history) > stones:
                self.undo()
            self.to_move = to_move

    def _count(self, cell: int, side: int, change: int) -> None:
        """Update the counts of the cells around a cell and of the fives through it."""
        for near in self._around[cell]:
            self._near[near] += change
        own, other = self.stones[side], self.stones[1 - side]
        own_open, other_open = self.open_fives[side], self.open_fives[1 - side]
        for five in self.through[cell]:
            if not other[five]:
                own_open[own[five]] -= 1
                own_open[own[five] + change] += 1
            if own[five] == (change < 0):  # the first stone closes it to the other side
                other_open[other[five]] -= change
            own[five] += change

    def legal_moves(self) -> list[int]:
        """Return the empty cells that the rule allows."""
        return [c for c, held in enumerate(self.cells) if held == EMPTY and self.is_legal(c)]

    def actions(self) -> list[int]:
        """Return the moves worth considering: legal, and within two cells of a stone."""
        if not self.history:
            return [self.height // 2 * self.width + self.width // 2]
        near = [c for c, count in enumerate(self._near) if count and self.cells[c] == EMPTY]
        return [c for c in near if self.is_legal(c)] or self.legal_moves()

    def is_over(self) -> bool:
        """Return whether a side has won or the board is full."""
        return self.winner is not None or len(self.history) == len(self.cells)

    def ray(self, cell: int, step: tuple[int, int], reach: int) -> Iterator[int]:
        """Yield the cells of the board beyond a cell in one direction."""
        y, x = divmod(cell, self.width)
        for i in range(1, reach + 1):
            column, row = x + i * step[0], y + i * step[1]
            if not (0 <= column < self.width and 0 <= row < self.height):
                return
            yield row * self.width + column

    def next_cell(self, five: tuple[int, ...]) -> int | None:
        """Return the cell after the last one of a row of five, or None off the board."""
        cell = five[-1] + five[1] - five[0]
        is_same_board = abs(five[-1] % self.width - cell % self.width) <= 1
        return cell if is_same_board and 0 <= cell < len(self.cells) else None

    def row(self, cell: int, direction: tuple[int, int]) -> tuple[list[int], list[int]]:
        """Return the unbroken row through a stone, and the cells on the board at its two ends."""
        row, ends = [cell], []
        for sign in (1, -1):
            for other in self.ray(cell, (sign * direction[0], sign * direction[1]), self.width * 2):
                if self.cells[other] != self.cells[cell]:
                    ends.append(other)
                    break
                row.append(other)
        return row, ends

    def is_win(self, cell: int) -> bool:
        """Return whether the stone on a cell is part of a winning row."""
        side, traits = self.cells[cell], self.rule.traits
        for direction in DIRECTIONS:
            row, ends = self.row(cell, direction)
            closed = sum(self.cells[end] == 1 - side for end in ends) == 2
            if len(row) == 5 and not (traits.closing and closed):
                return True
            if len(row) > 5 and not traits.exact[side]:
                return True
        return False

    def wins_at(self, cell: int, side: int) -> bool:
        """Return whether a stone on an empty cell would win for a side."""
        if all(self.stones[side][five] < 4 for five in self.through[cell]):
            return False
        self.cells[cell] = side
        won = self.is_win(cell)
        self.cells[cell] = EMPTY
        return won

    def five_cells(self, side: int) -> list[int]:
        """Return the cells where a side wins at once."""
        if not self.open_fives[side][4]:
            return []
        own, other = self.stones[side], self.stones[1 - side]
        cells = {
            cell for five, count in enumerate(own) if count == 4 and not other[five]
            for cell in self.fives[five] if self.cells[cell] == EMPTY
        }  # fmt: skip
        return [cell for cell in sorted(cells) if self.wins_at(cell, side)]

    def is_legal(self, cell: int) -> bool:
        """Return whether the side to move may play an empty cell: renju has fouls for black."""
        if self.to_move != BLACK or not self.rule.traits.fouls:
            return True
        stones = self.stones[BLACK]  # two threes or fours need two rows with two stones each
        return sum(stones[five] > 1 for five in self.through[cell]) < 2 or not self._is_foul(cell)

    def _is_foul(self, cell: int) -> bool:
        """Return whether a black stone would make an overline, two fours or two open threes."""
        self.cells[cell] = BLACK
        lengths = [len(self.row(cell, direction)[0]) for direction in DIRECTIONS]
        foul = 5 not in lengths and (
            max(lengths) > 5
            or sum(len(self._fours(cell, d)) for d in DIRECTIONS) > 1
            or sum(self._makes_three(cell, d) for d in DIRECTIONS) > 1
        )
        self.cells[cell] = EMPTY
        return foul

    def _line(self, cell: int, d: tuple[int, int], reach: int) -> list[int]:
        """Return the empty cells on a line through a cell."""
        line = [*self.ray(cell, d, reach), *self.ray(cell, (-d[0], -d[1]), reach)]
        return [other for other in line if self.cells[other] == EMPTY]

    def _row_with(self, cell: int, d: tuple[int, int]) -> list[int]:
        """Return the row that a black stone on an empty cell would be part of."""
        self.cells[cell] = BLACK
        row = self.row(cell, d)[0]
        self.cells[cell] = EMPTY
        return row

    def _fours(self, cell: int, d: tuple[int, int]) -> set[frozenset[int]]:
        """Return the fours through a stone on one line: four stones that one more turns to five."""
        rows = {last: self._row_with(last, d) for last in self._line(cell, d, 4)}
        fives = {last: row for last, row in rows.items() if len(row) == 5 and cell in row}
        return {frozenset(row) - {last} for last, row in fives.items()}

    def _makes_three(self, cell: int, d: tuple[int, int]) -> bool:
        """Return whether one more stone, itself legal, makes an open four with this one."""
        for added in self._line(cell, d, 3):
            self.cells[added] = BLACK
            row, ends = self.row(added, d)
            is_open_four = len(row) == 4 and cell in row and len(ends) == 2 and all(
                self.cells[end] == EMPTY and len(self._row_with(end, d)) == 5 for end in ends
            )  # fmt: skip
            is_five = self.is_win(added)
            self.cells[added] = EMPTY
            if is_open_four and not is_five and not self._is_foul(added):
                return True
        return False
