"""Results about positions: a value with its line, its certainty and its author."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp
from typing import NamedTuple

from ..eval.weights import DEFAULT_SCALE
from ..position.geometry import Coordinates
from ..position.rules import Side
from ..values import WIN_BAND, chance, mate_distance, win_in
from .diagram import picture
from .game import Move
from .position import Image
from .record import GameRecord

BY_FOURS = "vcf"  # a win by continuous fours
BY_THREATS = "vct"  # a win by fours and threes
BY_SEARCH = "win"  # a win found by the main search
OPEN = "open"  # stopped before it was decided
LOWER, UPPER = "lower", "upper"  # of ``Result.bound``
# Least losses of winning chance for these names; a missed win is at least a mistake.
LEAST_INACCURACY, LEAST_MISTAKE, LEAST_BLUNDER = 0.05, 0.10, 0.20
BEST, GOOD, INACCURACY, MISTAKE, BLUNDER = "best", "good", "inaccuracy", "mistake", "blunder"
WRONG = (INACCURACY, MISTAKE, BLUNDER)


class Tree(NamedTuple):
    """A proof: the winner's move, and a proof for every answer that stops its threat."""

    move: Move
    replies: dict[Move, Tree]

    def size(self) -> int:
        """Return the number of the winner's moves in the proof."""
        return 1 + sum(tree.size() for tree in self.replies.values())

    def longest(self) -> tuple[Move, ...]:
        """Return the longest line."""
        lines = ((reply, *tree.longest()) for reply, tree in self.replies.items())
        return (self.move, *max(lines, key=len, default=()))


class Author(NamedTuple):
    """The author of a result: a program's name and version, and its weights."""

    version: str = ""
    weights: str = ""


class Result(NamedTuple):
    """The result of a search, the solver, a review or a database lookup for a position.

    ``value`` is for the side to move, in the units of ``values.py``; ``line`` is the principal
    variation, up to the five if a win is proven. ``depth`` is in completed plies, ``seldepth`` the
    deepest ply reached, ``nodes`` the nodes of all threads (for the solver: stones put on the
    board), ``time`` in seconds, ``multipv`` the rank of the line, 1 for the best, ``changes`` how
    often the best move changed in this iteration.

    ``claim`` says what is proven, and how: ``vcf`` a win by fours, ``vct`` by threats, ``win`` by
    the main search; ``no-vcf`` and ``no-vct`` that there is none, ``open`` that the solver was
    stopped before a decision; empty if nothing is claimed. ``level``: the level of the solver's
    search by threats, below which there is no win; 0: fours and threes only. ``tree``: the whole
    proof.

    ``bound`` is empty if the value is exact; ``lower`` (``upper``) if the position is worth at
    least (at most) the value. ``scale``: units of value per logistic unit of ``chance``. ``moves``
    are all answers known, best first: equally good moves, or all that stop a threat; ``unknown``
    the undecided ones. ``board`` is the position searched, None without a search.
    """

    value: int = 0
    line: tuple[Move, ...] = ()
    depth: int = 0
    seldepth: int = 0
    nodes: int = 0
    time: float = 0.0
    multipv: int = 1
    changes: int = 0
    claim: str = ""
    bound: str = ""
    scale: float = DEFAULT_SCALE
    board: GameRecord | None = None
    level: int = 0
    moves: tuple[Move, ...] = ()
    unknown: tuple[Move, ...] = ()
    tree: Tree | None = None
    author: Author = Author()

    def __repr__(self) -> str:
        """Return the fields that differ from their defaults, except the board."""
        plain = self._field_defaults
        said = (f"{name}={found!r}" for name, found in self._asdict().items()
                if name != "board" and found != plain[name])  # fmt: skip
        return f"Result({', '.join(said)})"

    def _repr_svg_(self) -> str | None:
        """Return the line on its board as SVG, for notebooks."""
        return self.board and picture(self.board, self.line)

    @property
    def move(self) -> Move:
        """The best move; IndexError if the game is over."""
        return (self.line or self.moves)[0]

    @property
    def pv(self) -> tuple[Move, ...]:
        """The line, or the best move alone."""
        return self.line or self.moves[:1]

    @property
    def proof(self) -> str:
        """``vcf`` or ``vct`` if the solver has proven a win, else empty."""
        return self.claim if self.claim in (BY_FOURS, BY_THREATS) else ""

    @property
    def mate(self) -> int | None:
        """Plies to a forced win, negative for a forced loss, None for an ordinary value."""
        return mate_distance(self.value)

    @property
    def chance(self) -> float:
        """The winning chance of the side to move, 0 to 1; a draw counts as half a win."""
        return chance(self.value, self.scale)

    @property
    def wins(self) -> bool:
        """Whether the side to move has a forced win."""
        return self.value >= WIN_BAND

    @property
    def plies(self) -> int:
        """The moves of both sides up to and including the five, 0 if none is forced."""
        return abs(self.mate or 0)

    @property
    def length(self) -> int:
        """The winner's stones up to and including the five, 0 if no win is forced."""
        return (self.plies + 1) // 2

    @property
    def is_open(self) -> bool:
        """Whether the solver was stopped before a decision."""
        return self.claim == OPEN

    @property
    def is_certain(self) -> bool:
        """Whether this is a forced win or loss."""
        if self.value >= WIN_BAND:
            return self.bound != UPPER
        return self.value <= -WIN_BAND and self.bound != LOWER


Thought = Result  # the result of a search
Listener = Callable[[Thought], bool | None]


def win_by(claim: str, line: Sequence[Move], tree: Tree | None = None) -> Result:
    """Return a win with a complete line.

    It ends with the five, or with a threat of five that the rules do not allow to be stopped.
    """
    return Result(win_in(2 * (len(line) // 2) + 1), tuple(line), claim=claim, tree=tree)


class Reviewed(NamedTuple):
    """The review of a move.

    ``found`` is the result for the position before it; ``loss`` is the winning chance that the
    move gave away, 0 to 1. ``missed`` is a forced win that its side had before the move and lost,
    ``allowed`` one that the other side has since. ``is_foul``: the move was forbidden, and lost.
    """

    ply: int
    move: Move
    found: Result
    loss: float
    missed: Result | None = None
    allowed: Result | None = None
    is_foul: bool = False

    @property
    def is_mistake(self) -> bool:
        """Whether the move is a mistake or a blunder."""
        return self.kind in (MISTAKE, BLUNDER)

    @property
    def kind(self) -> str:
        """``best``, ``good``, ``inaccuracy``, ``mistake`` or ``blunder``, by the loss."""
        if self.loss >= LEAST_BLUNDER:
            return BLUNDER
        if self.loss >= LEAST_MISTAKE or self.missed is not None:
            return MISTAKE
        if self.loss >= LEAST_INACCURACY:
            return INACCURACY
        return BEST if self.move == self.found.move else GOOD


class Note(NamedTuple):
    """A person's note about a position."""

    title: str = ""
    comment: str = ""
    is_marked: bool = False
    labels: tuple[tuple[Coordinates, str], ...] = ()


class Entry(NamedTuple):
    """All that a database knows about a position, in the orientation of the query."""

    number: int  # of the row
    finding: Result | None
    black_wins: int = 0
    draws: int = 0
    white_wins: int = 0
    notes: tuple[Note, ...] = ()
    book: tuple[tuple[Coordinates, int], ...] = ()  # moves with values, best first

    @property
    def games(self) -> int:
        """The number of games through this position."""
        return self.black_wins + self.draws + self.white_wins


class Known(NamedTuple):
    """A result to be stored, with the image of its position."""

    image: Image
    finding: Result
    way: GameRecord | None = None  # the moves to the position, if known


# Reviews of whole games -----------------------------------------------------------------

# A move's accuracy is 100 * e ** (-STEEPNESS * loss) per cent, where the loss is the winning chance
# given away: 100 for no loss, 80 for a loss of 0.05, 64 for 0.1.
STEEPNESS = 4.5
DECIDED = 0.8  # winning chance that the winner keeps from the decisive move on


class Performance(NamedTuple):
    """How one side played: accuracy in per cent, None without moves; bad moves by kind."""

    accuracy: float | None
    counts: dict[str, int]


def accuracy(loss: float) -> float:
    """Return the accuracy of a move in per cent, given its loss of winning chance."""
    return 100 * exp(-STEEPNESS * loss)


def mover_of(game: GameRecord, reviewed: Reviewed) -> Side:
    """Return the side that made the move."""
    return Side((game.first + reviewed.ply - 1 - len(game.placed)) % 2)


def verdict(game: GameRecord, found: Sequence[Reviewed], side: Side) -> Performance:
    """Return how a side played."""
    own = [reviewed for reviewed in found if mover_of(game, reviewed) is side]
    mean = sum(accuracy(reviewed.loss) for reviewed in own) / len(own) if own else None
    return Performance(mean, {kind: sum(item.kind == kind for item in own) for kind in WRONG})


def chances(game: GameRecord, found: Sequence[Reviewed]) -> list[float]:
    """Return black's winning chance before each move, and after the last."""
    own = [(mover_of(game, item), item.found.chance) for item in found]
    own += [(mover_of(game, item), item.found.chance - item.loss) for item in found[-1:]]
    return [chance if side is Side.BLACK else 1 - chance for side, chance in own]


def decisive(game: GameRecord, found: Sequence[Reviewed]) -> int | None:
    """Return the ply of the move from which the winner kept the upper hand, or None."""
    black = chances(game, found)
    if not black:
        return None
    winner = Side.BLACK if black[-1] >= 0.5 else Side.WHITE
    own = [chance if winner is Side.BLACK else 1 - chance for chance in black]
    place = len(own)
    while place and own[place - 1] >= DECIDED:
        place -= 1
    return found[place - 1].ply if 0 < place < len(own) else None
