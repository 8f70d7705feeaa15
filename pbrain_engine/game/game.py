"""A game on the compiled kernel: stones, turns, wins and forbidden cells; no search."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import pairwise
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple

from ..errors import WeightsError
from ..eval.weights import DEFAULT_SCALE, Weights
from ..native.load.library import Library, load
from ..native.load.memory import Block
from ..position.geometry import (
    MARGIN,
    MAX_BOARD,
    MIN_BOARD,
    NO_CELL,
    STRIDE,
    Coordinates,
    cell_of,
    is_board,
)
from ..position.rules import Rule, Side
from ..values import scale_at
from .cells import IllegalMove, NotationError, cell_name, check_on_board, parse_cell
from .diagram import format_diagram, picture, winning_row
from .position import Position
from .record import GameRecord

if TYPE_CHECKING:
    from .opening_rules import Opening


class Move(NamedTuple):
    """A cell by column and row, from 0 at the top left."""

    x: int
    y: int


class Stone(NamedTuple):
    """One entry of a game's history: the cell, the side, and whether the turn passed."""

    move: Move
    side: Side
    passed: bool


_tables: dict[tuple[str, Rule, str], Block] = {}
_walled: set[int] = set()


def tables_of(library: Library, rule: Rule, weights: Weights | None) -> Block:
    """Return the evaluator of a rule with these weights, tables first; built once per process.

    Raises:
        WeightsError: the kernel cannot use the network for this rule.
    """
    key = (library.path, rule, weights.key if weights else "")
    if key not in _tables:
        block = Block(library.sizes["evaluator"])
        half, exact, closing, fouls, _ = rule.traits
        library.build_tables(block.address, half, *exact, closing, fouls)
        if weights is not None:
            numbers = Block(library.sizes["weights"])
            numbers.write(weights.block(rule))
            library.set_weights(block.address, numbers.address)
            numbers.close()
            weights.check_networks()
            network = weights.network(rule)
            if network is not None:
                numbers = Block(len(network))
                numbers.write(network)
                is_loaded = library.network_load(block.address, numbers.address, len(network) // 2)
                numbers.close()
                if not is_loaded:
                    block.close()
                    where = f"{weights.id}: its network for {rule.traits.family}"
                    raise WeightsError(f"{where} has numbers out of range")
        return _tables.setdefault(key, block)  # another thread may have built it meanwhile
    return _tables[key]


class Game:
    """A game under one rule: stones, side to move, winner.

    In renju, black may play a forbidden move, and loses by it (``foul``); stones set up by
    ``place`` are not judged. Ask ``is_forbidden`` first.

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
    ) -> None:
        """Start with an empty board, ``width`` by ``height`` (default: square), black to move.

        The rule may be its name.

        Raises:
            ValueError: a side of the board is not 5 to 22, or there is no such rule.
            TypeError: a side is not an integer.
            KernelError: there is no compiled kernel.
            WeightsError: the kernel cannot use the network for this rule.
        """
        self.width = whole(width, "the width")
        self.height = self.width if height is None else whole(height, "the height")
        self.rule = Rule.parse(rule)
        if not is_board(self.width, self.height):
            sides = f"sides are {MIN_BOARD} to {MAX_BOARD}"
            raise ValueError(f"board {self.width}x{self.height}: {sides}")
        self._scale = weights.scale(self.rule) if weights else DEFAULT_SCALE
        self.library = library or load()
        # The kernel's tables for this rule and these weights:
        self.tables = tables_of(self.library, self.rule, weights).address
        self._memory = Block(self.library.sizes["game"])
        self.address = self._memory.address  # of the game, in the kernel
        self.to_move = Side.BLACK
        self.history: list[Stone] = []
        self._sides: dict[Coordinates, Side] = {}  # of the cells that are not empty
        self._decided = 0  # stones on the board when a side won, 0 before that
        self.foul: Move | None = None  # the forbidden move that ended the game, if any
        self.library.game_new(self.address, self.tables, self.width, self.height)

    @classmethod
    def of(cls, record: GameRecord) -> Game:
        """Return the game of a record; NotationError if its position cannot arise in a game."""
        game = cls(*record.board)
        game.become_checked(record)
        return game

    def move(self, memory: Block) -> None:
        """Move the game to other memory, such as a worker's, where a search sees it."""
        self.library.game_copy(memory.address, self.address)
        self._memory, self.address = memory, memory.address

    def copy(self) -> Game:
        """Return a copy of the game in its own memory."""
        game = object.__new__(Game)
        vars(game).update(vars(self), history=[*self.history], _sides={**self._sides})
        game.move(Block(self.library.sizes["game"]))
        return game

    __copy__ = copy

    def __deepcopy__(self, memo: object) -> Game:
        return self.copy()

    def __reduce__(self) -> tuple[Callable[..., Game], tuple[object, ...]]:
        """Pickle board, rule and stones; the unpickled game has no weights."""
        board = self.width, self.height, self.rule
        return _game_of, (*board, self.history, self.to_move)

    @property
    def position(self) -> Position:
        """The stones on the board and the side to move, whatever the order of moves."""
        held = ((stone.move, stone.side) for stone in self.history)
        return Position.of(self.rule, self.width, self.height, self.to_move, held)

    def record(self) -> GameRecord:
        """Return the game so far; all stones up to the last placed one count as placed."""
        cells, sides, start = self.moves, list[Side](), 0
        for number, stone in enumerate(self.history, 1):
            sides.append(stone.side)
            if not stone.passed:
                start = number
        turns = [*sides[start:], self.to_move]
        passes = [n for n, (last, side) in enumerate(pairwise(turns), 1) if side is last]
        return GameRecord(
            self.width, self.height, self.rule, tuple(cells[start:]), turns[0],
            tuple(zip(cells[:start], sides, strict=False)), tuple(passes),
            marked=self.last,
        )  # fmt: skip

    def __str__(self) -> str:
        return format_diagram(self.record())

    def _repr_svg_(self) -> str:
        """Return the board as SVG, for notebooks."""
        return picture(self.record(), row=self.winning_row())

    # Files -------------------------------------------------------------------------

    @classmethod
    def from_file(cls, path: str | PathLike[str], rule: Rule | str | None = None) -> Game:
        """Return the main line of a file's first game: SGF, PSQ, RenLib, RIF and others.

        ``rule``: overrides the file's rule (if it names none: renju for RenLib, else freestyle).

        Raises:
            OSError: the file cannot be read.
            NotationError: it contains no game, or an impossible one.
        """
        files = import_module("..notation.files", __package__)  # which playing does not need
        return cls.of(files.read_game(path, None if rule is None else Rule.parse(rule)))

    def save(self, path: str | PathLike[str], black: str = "", white: str = "") -> None:
        """Write the game to a file: ``.sgf``, ``.psq``, ``.lib`` (RenLib) or an animated ``.svg``.

        ``black``, ``white``: names of the players. An existing file is replaced.

        Raises:
            ValueError: the suffix is none of these.
            NotationError: the format cannot represent this game.
            OSError: the file cannot be written.
        """
        for name, player in {"black": black, "white": white}.items():
            if not isinstance(player, str):
                raise TypeError(f"{name} is a name, not {player!r}")
        record = self.record()._replace(black=black, white=white, result=self.result)
        import_module("..notation.files", __package__).write_game(path, record)

    # State -------------------------------------------------------------------------

    @property
    def ply(self) -> int:
        """The number of stones (and blocked cells) on the board."""
        return len(self.history)

    @property
    def scale(self) -> float:
        """The units of a value that are one logistic unit of chance in this position."""
        return self.scale_at(self.ply)

    def scale_at(self, stones: int) -> float:
        """Return the same with another number of stones on the board."""
        return scale_at(self._scale, stones, self.width * self.height)

    @property
    def moves(self) -> list[Move]:
        """The cells taken, in order."""
        return [stone.move for stone in self.history]

    @property
    def last(self) -> Move | None:
        """The last stone, None if the last entry is a blocked cell or there is none."""
        last = self.history[-1] if self.history else None
        return last.move if last is not None and last.side is not Side.WALL else None

    @property
    def opening(self) -> Opening | None:
        """The renju opening of a renju game, or None."""
        from .opening_rules import opening_of

        return opening_of(self.record()) if self.rule is Rule.RENJU else None

    @property
    def winner(self) -> Side | None:
        """The side that won, by a row or by the other's foul, if any."""
        if not self._decided:
            return None
        side = self.history[self._decided - 1].side
        return side if self.foul is None else side.opponent

    def winning_row(self) -> list[Coordinates]:
        """Return the winning row, empty if there is none."""
        if self.winner is None or self.foul is not None:
            return []
        return winning_row(self.record(), self.history[self._decided - 1].move)

    @property
    def ending(self) -> str:
        """How the game was won, in words; empty without a winner."""
        if self.foul is not None:
            return f"black has lost by {cell_name(*self.foul)}, which renju forbids,"
        return f"{self.winner.name.lower()} has won" if self.winner is not None else ""

    @property
    def is_full(self) -> bool:
        """Whether the board has no empty cell."""
        return len(self.history) == self.width * self.height

    @property
    def is_over(self) -> bool:
        """Whether a side has won or the board is full."""
        return self.winner is not None or self.is_full

    @property
    def result(self) -> str:
        """The result: ``1-0`` if black has won, ``0-1``, ``1/2-1/2``; empty before the end."""
        if self.winner is not None:
            return ("1-0", "0-1")[self.winner]
        return "1/2-1/2" if self.is_full else ""

    def on_board(self, x: int, y: int) -> bool:
        """Return whether the coordinates name a cell of this board."""
        return 0 <= x < self.width and 0 <= y < self.height

    def at(self, x: int, y: int) -> Side:
        """Return the content of a cell; WALL off the board. TypeError if it is no cell."""
        if type(x) is not int or type(y) is not int:
            x, y = whole(x, "x"), whole(y, "y")
        return self._sides.get((x, y), Side.EMPTY) if self.on_board(x, y) else Side.WALL

    # Moves -------------------------------------------------------------------------

    def play(self, x: int | str | Coordinates, y: int | None = None) -> None:
        """Play a stone of the side to move, at ``7, 7``, ``"h8"`` or a ``Move``.

        Raises:
            IllegalMove: the cell is off the board or not empty.
            NotationError: the text is not a cell of the board; a ``ValueError``.
            TypeError: the argument is not a cell.
        """
        self._put(x, y, self.to_move, passed=True)
        self._pass()

    def place(self, x: int, y: int, side: Side) -> None:
        """Put a stone of a side, or a blocked cell (WALL); the turn does not pass.

        Raises:
            IllegalMove: the cell is off the board or not empty.
            ValueError: the side is EMPTY, or no side.
        """
        side = Side(side)
        if side is Side.EMPTY:
            raise ValueError("EMPTY is neither a stone nor a blocked cell; undo takes stones away")
        if side is Side.WALL and self.tables not in _walled:
            self.library.allow_walls(self.tables)
            _walled.add(self.tables)
        self._put(x, y, side, passed=False)

    def undo(self) -> None:
        """Take back the last stone or blocked cell; after a ``play``, its side is to move again.

        Raises:
            IllegalMove: the board is empty.
        """
        if not self.history:
            raise IllegalMove("there is no stone to take back")
        stone = self.history.pop()
        del self._sides[stone.move]
        if self._decided > len(self.history):
            self._decided, self.foul = 0, None
        if stone.passed:
            self.set_to_move(stone.side)
        self.library.game_take_back(self.address, self.tables)

    def set_to_move(self, side: Side) -> None:
        """Set the side to move; ValueError if it is neither black nor white."""
        if side not in (Side.BLACK, Side.WHITE):
            raise ValueError(f"{side!r} does not move; black and white do")
        if side != self.to_move:
            self._pass()

    def _pass(self) -> None:
        self.library.game_pass(self.address)
        self.to_move = self.to_move.opponent

    def _put(self, x: int | str | Coordinates, y: int | None, side: Side, *, passed: bool) -> None:
        if type(x) is not int or type(y) is not int:
            x, y = self.cell(x, y)
        check_on_board(x, y, self.width, self.height)
        if (x, y) in self._sides:
            raise IllegalMove(f"{x},{y} is not empty")
        is_foul = passed and not self._decided and self.is_forbidden(x, y)
        self.library.game_place(self.address, self.tables, cell_of(x, y), int(side))
        self._sides[x, y] = side
        self.history.append(Stone(Move(x, y), side, passed))
        if not self._decided and (is_foul or self.library.game_wins(self.address)):
            self._decided = len(self.history)
            self.foul = Move(x, y) if is_foul else None

    @contextmanager
    def after(self, *moves: str | Coordinates) -> Iterator[Game]:
        """Play moves in a ``with`` block; at its end, all stones put since are taken back.

        Raises:
            IllegalMove: a cell is off the board or not empty.
        """
        ply = self.ply
        try:
            for move in moves:
                self.play(move)
            yield self
        finally:
            while self.ply > ply:
                self.undo()

    def set_up(self, stones: list[Stone], to_move: Side) -> None:
        """Set up stones in order, keeping the common prefix, and the side to move."""
        while self.history != stones[: self.ply]:
            self.undo()
        for stone in stones[self.ply :]:
            if stone.passed:
                self.set_to_move(stone.side)
                self.play(*stone.move)
            else:
                self.place(*stone.move, stone.side)
        self.set_to_move(to_move)

    def become(self, record: GameRecord) -> None:
        """Set up the position of a record, keeping the stones that agree with it.

        Raises:
            IllegalMove: a stone is off the board or on a taken cell.
        """
        wanted = [Stone(Move(*cell), side, False) for cell, side in record.placed]
        to_move = record.first
        for cell in record.turns:
            if cell is not None:
                wanted.append(Stone(Move(*cell), to_move, True))
            to_move = to_move.opponent
        self.set_up(wanted, to_move)

    def become_checked(self, record: GameRecord) -> None:
        """Set up the position of a record, like ``become``, if it can arise in a game.

        Raises:
            NotationError: it cannot: two stones on a cell, two winners, moves after the end.
        """
        self.become(record)
        if self.winner is None:
            return
        walk = Game(self.width, self.height, self.rule)
        turned = sorted(record.placed, key=lambda held: -held[1])
        walk.set_up([Stone(Move(*cell), side, False) for cell, side in turned], record.first)
        if walk.winner not in (None, self.winner):  # each is the side whose row came first
            raise NotationError("both sides have a winning row").coded("two-rows")
        number = 0
        for move in record.turns:
            number += move is not None
            if walk.winner is not None:
                after = NotationError(f"{walk.ending} before move {number}")
                raise after.coded("wrong-end", n=number)
            if move is None:
                walk.set_to_move(walk.to_move.opponent)
            else:
                walk.play(*move)

    def cell(self, x: object, y: object = None) -> Coordinates:
        """Return the cell given by the arguments of ``play``, on the board or not."""
        if y is not None:
            return whole(x, "x"), whole(y, "y")
        if isinstance(x, str):
            return parse_cell(x, self.width, self.height)
        if isinstance(x, tuple) and len(x) == 2:
            return whole(x[0], "x"), whole(x[1], "y")
        raise TypeError(f"{x!r} is not a cell; cells are x and y, a text such as 'h8', or a Move")

    # Rules -------------------------------------------------------------------------

    def is_forbidden(self, x: int, y: int) -> bool:
        """Return whether this empty cell is forbidden to the side to move (renju, black)."""
        if not self.rule.traits.fouls or self.at(x, y) is not Side.EMPTY:
            return False
        return bool(self.library.game_forbids(self.address, self.tables, cell_of(x, y)))

    def forbidden(self) -> list[Move]:
        """Return the cells forbidden to the side to move."""
        if not self.rule.traits.fouls or self.to_move is not Side.BLACK:
            return []
        return [move for move in self.empty_cells() if self.is_forbidden(*move)]

    def legal_moves(self) -> list[Move]:
        """Return the empty cells that are not forbidden."""
        return [move for move in self.empty_cells() if not self.is_forbidden(*move)]

    def empty_cells(self) -> list[Move]:
        """Return the empty cells, row by row."""
        cells = (Move(x, y) for y in range(self.height) for x in range(self.width))
        return [cell for cell in cells if cell not in self._sides]

    # Without search ----------------------------------------------------------------

    def value(self) -> int:
        """Return the static evaluation for the side to move (``values.py``)."""
        return self.library.game_value(self.address, self.tables)

    def quick_move(self) -> Move | None:
        """Return the legal move that looks best without a search, or None if there is none."""
        cell = self.library.game_quick_move(self.address, self.tables)
        return None if cell == NO_CELL else move_of(cell)

    def check(self) -> int:
        """Return 0 if the kernel's incremental state equals one computed from scratch."""
        return self.library.game_check(self.address, self.tables)


def _game_of(width: int, height: int, rule: Rule, history: list[Stone], to_move: Side) -> Game:
    game = Game(width, height, rule)
    game.set_up(history, to_move)
    return game


def whole(number: object, name: str) -> int:
    """Return an argument as an integer; TypeError if it is none."""
    try:
        return operator.index(number)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} is a whole number, not {number!r}") from None


def at_least_one(number: int, name: str) -> None:
    """Check that an argument is an integer of at least 1.

    Raises:
        ValueError: it is below 1.
        TypeError: it is not an integer.
    """
    if whole(number, name) < 1:
        raise ValueError(f"{name} is at least 1, not {number}")


def move_of(cell: int) -> Move:
    """Return the move of a kernel cell index."""
    return Move(cell % STRIDE - MARGIN, cell // STRIDE - MARGIN)
