"""A game on the compiled kernel: stones, turns, wins and forbidden cells; no search."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from ..eval.network_block import FAULTS
from ..eval.weights import Weights, WeightsError, family_of
from ..native.load.library import Library, load
from ..native.load.memory import Block
from ..position.geometry import MAX_BOARD, MIN_BOARD, NO_CELL, cell_of, x_of, y_of
from ..position.rules import Rule, Side


class IllegalMove(ValueError):
    """A stone off the board or on a cell that is not empty."""


class Move(NamedTuple):
    """A cell of the board by column and row, from 0 at the top left."""

    x: int
    y: int


class Stone(NamedTuple):
    """One entry of a game's history: where, what, and whether it passed the turn."""

    move: Move
    side: Side
    passed: bool


class Layout(NamedTuple):
    """The sizes in bytes of the kernel's memory blocks."""

    evaluator: int
    game: int
    worker: int
    shared_head: int
    weights: int


_tables: dict[tuple[str, Rule, str], Block] = {}
_walled: set[int] = set()


def layout_of(library: Library) -> Layout:
    """Return the block sizes of a kernel."""
    out = (ctypes.c_int64 * len(Layout._fields))()
    library.layout(ctypes.addressof(out))
    return Layout(*out)


def tables_of(library: Library, rule: Rule, weights: Weights | None) -> Block:
    """Return the evaluator of a rule with these weights, tables first; built once in a process."""
    key = (library.path, rule, weights.key if weights else "")
    if key not in _tables:
        layout = layout_of(library)
        block = Block(layout.evaluator)
        library.build_tables(block.address, int(rule))
        if weights is not None:
            numbers = Block(layout.weights)
            numbers.write(weights.block(rule))
            library.set_weights(block.address, numbers.address)
            numbers.close()
            load_network(library, block, rule, weights)
        _tables[key] = block
    return _tables[key]


def load_network(library: Library, evaluator: Block, rule: Rule, weights: Weights) -> None:
    """Give an evaluator the network that the weights have for its rule, if they have one.

    Raises:
        WeightsError: it is not one that this kernel can use.
    """
    network = weights.network(rule)
    if network is None:
        return
    memory = Block(len(network))
    memory.write(network)
    status = library.network_load(evaluator.address, memory.address, len(network) // 2)
    memory.close()
    if status:
        evaluator.close()
        raise WeightsError(f"{weights.id}: its network for {family_of(rule)} {FAULTS[status]}")


class Game:
    """A game under one rule: who moves, what stands where, who has won.

    A game does not judge renju fouls when a stone is played; ``is_forbidden`` asks.

    >>> game = Game(15, rule=Rule.STANDARD)
    >>> for x in range(4):
    ...     game.play(x, 0)
    ...     game.play(x, 9)
    >>> game.play(4, 0)
    >>> game.winner
    <Side.BLACK: 0>
    """

    def __init__(
        self,
        width: int = 15,
        height: int | None = None,
        rule: Rule | str = Rule.FREESTYLE,
        *,
        library: Library | None = None,
        weights: Weights | None = None,
        memory: Block | None = None,
    ) -> None:
        """Begin with an empty board, ``width`` by ``height`` (default: square), black to move.

        The rule may be its name. ``memory`` of a game or a worker may be given, so that a search
        sees the same game.

        Raises:
            ValueError: the board is smaller than 5 or larger than 22 either way, or there is
                no such rule.
            KernelError: there is no compiled kernel.
            WeightsError: the network for this rule is not one that the kernel can use.
        """
        height = width if height is None else height
        rule = Rule.parse(rule)
        if not (MIN_BOARD <= width <= MAX_BOARD and MIN_BOARD <= height <= MAX_BOARD):
            raise ValueError(f"board {width}x{height}: sides are {MIN_BOARD} to {MAX_BOARD}")
        library = library or load()
        memory = memory or Block(layout_of(library).game)
        self._begin(width, height, rule, library, tables_of(library, rule, weights), memory)

    def _begin(
        self, width: int, height: int, rule: Rule, library: Library, tables: Block, memory: Block
    ) -> None:
        self._library = library
        self._tables = tables
        self._memory = memory
        self._at = memory.address
        self.width = width
        self.height = height
        self.rule = rule
        self.to_move = Side.BLACK
        self._cells = {cell_of(x, y): Side.EMPTY for y in range(height) for x in range(width)}
        self.history: list[Stone] = []
        self._winners: list[Side | None] = []
        self._library.game_new(self._at, self._tables.address, width, height)

    def like(self, memory: Block) -> Game:
        """Return an empty game of this board, rule and weights in other memory."""
        game = Game.__new__(Game)
        game._begin(self.width, self.height, self.rule, self._library, self._tables, memory)
        return game

    def exchange(self, other: Game) -> None:
        """Let another game go on in this one's memory, and this one in its."""
        pair = ((self, other._memory), (other, self._memory))
        stood = [(game.history, game.to_move) for game, _ in pair]
        for game, memory in pair:
            game._begin(game.width, game.height, game.rule, game._library, game._tables, memory)
        for (game, _), (stones, to_move) in zip(pair, stood, strict=True):
            game.set_up(stones, to_move)

    @property
    def address(self) -> int:
        """Where the kernel keeps this game."""
        return self._memory.address

    @property
    def library(self) -> Library:
        """The compiled kernel that this game is played on."""
        return self._library

    @property
    def tables(self) -> int:
        """Where the kernel keeps the tables of this game's rule and weights."""
        return self._tables.address

    # What stands -------------------------------------------------------------------

    @property
    def ply(self) -> int:
        """The number of stones (and blocked cells) on the board."""
        return len(self.history)

    @property
    def moves(self) -> list[Move]:
        """The cells in the order in which they were taken."""
        return [stone.move for stone in self.history]

    @property
    def is_in_turn(self) -> bool:
        """Whether every stone was played and the sides took turns, with no pass."""
        sides = [*(stone.side for stone in self.history), self.to_move]
        return all(stone.passed for stone in self.history) and all(
            side is not after for side, after in pairwise(sides)
        )

    @property
    def winner(self) -> Side | None:
        """The side whose row won, if any."""
        return self._winners[-1] if self._winners else None

    @property
    def is_full(self) -> bool:
        """Whether no empty cell is left."""
        return len(self.history) == self.width * self.height

    @property
    def is_over(self) -> bool:
        """Whether somebody has won or the board is full."""
        return self.winner is not None or self.is_full

    def on_board(self, x: int, y: int) -> bool:
        """Return whether the coordinates name a cell of this board."""
        return 0 <= x < self.width and 0 <= y < self.height

    def at(self, x: int, y: int) -> Side:
        """Return what stands on a cell; WALL off the board."""
        return self._cells[cell_of(x, y)] if self.on_board(x, y) else Side.WALL

    # Moves -------------------------------------------------------------------------

    def play(self, x: int, y: int) -> None:
        """Play a stone of the side to move.

        Raises:
            IllegalMove: the cell is off the board or not empty.
        """
        self._put(x, y, self.to_move, passed=True)
        self._pass()

    def place(self, x: int, y: int, side: Side) -> None:
        """Put a stone of a side, or a blocked cell (WALL); the turn does not pass.

        Raises:
            IllegalMove: the cell is off the board or not empty.
            ValueError: the side is EMPTY.
        """
        if side is Side.EMPTY:
            raise ValueError("EMPTY is neither a stone nor a blocked cell; undo takes stones away")
        if side is Side.WALL and self._tables.address not in _walled:
            self._library.allow_walls(self._tables.address)
            _walled.add(self._tables.address)
        self._put(x, y, side, passed=False)

    def undo(self) -> None:
        """Take back what was put last; after a ``play`` its side has the move again.

        Raises:
            IndexError: the board is empty.
        """
        stone = self.history.pop()
        self._winners.pop()
        if stone.passed:
            self.set_to_move(stone.side)
        self._library.game_take_back(self._at, self._tables.address)
        self._cells[cell_of(*stone.move)] = Side.EMPTY

    def set_to_move(self, side: Side) -> None:
        """Give a side the move.

        Raises:
            ValueError: it is neither black nor white.
        """
        if side not in (Side.BLACK, Side.WHITE):
            raise ValueError(f"{side!r} does not move; black and white do")
        if side is not self.to_move:
            self._pass()

    def _pass(self) -> None:
        self._library.game_pass(self._at)
        self.to_move = self.to_move.opponent

    def _put(self, x: int, y: int, side: Side, *, passed: bool) -> None:
        if not self.on_board(x, y):
            raise IllegalMove(f"{x},{y} is off the {self.width}x{self.height} board")
        cell = cell_of(x, y)
        if self._cells[cell] is not Side.EMPTY:
            raise IllegalMove(f"{x},{y} is not empty")
        self._library.game_place(self._at, self._tables.address, cell, int(side))
        self._cells[cell] = side
        self.history.append(Stone(Move(x, y), side, passed))
        wins = self.winner is None and self._library.game_wins(self._at)
        self._winners.append(side if wins else self.winner)

    def copy_to(self, other: Game) -> None:
        """Put this game's stones and turn on another, empty game."""
        other.set_up(self.history, self.to_move)

    def set_up(self, stones: Iterable[Stone], to_move: Side) -> None:
        """Put stones on this empty game in their order, then give a side the move."""
        for stone in stones:
            self.place(*stone.move, stone.side)
            self.history[-1] = stone
        self.set_to_move(to_move)

    # Rules -------------------------------------------------------------------------

    def is_forbidden(self, x: int, y: int) -> bool:
        """Return whether the rule forbids the side to move this empty cell (renju, black)."""
        if not self.rule.traits.fouls or self.at(x, y) is not Side.EMPTY:
            return False
        cell = cell_of(x, y)
        return bool(self._library.game_forbids(self._at, self._tables.address, cell))

    def forbidden(self) -> list[Move]:
        """Return the cells that the rule forbids the side to move."""
        if not self.rule.traits.fouls or self.to_move is not Side.BLACK:
            return []
        return [move for move in self._empty() if self.is_forbidden(*move)]

    def legal_moves(self) -> list[Move]:
        """Return the empty cells that are not forbidden."""
        return [move for move in self._empty() if not self.is_forbidden(*move)]

    def _empty(self) -> list[Move]:
        return [move_of(cell) for cell, side in self._cells.items() if side is Side.EMPTY]

    # Without search ----------------------------------------------------------------

    def value(self) -> int:
        """Return the static evaluation for the side to move (``values.py``)."""
        return self._library.game_value(self._at, self._tables.address)

    def quick_move(self) -> Move | None:
        """Return the legal move that looks best without any search, or None if there is none."""
        cell = self._library.game_quick_move(self._at, self._tables.address)
        return None if cell == NO_CELL else move_of(cell)

    def check(self) -> int:
        """Return 0 if the kernel's incremental state equals one computed from the stones."""
        return self._library.game_check(self._at, self._tables.address)


def move_of(cell: int) -> Move:
    """Return the move that a kernel cell is."""
    return Move(x_of(cell), y_of(cell))
