"""Swap openings and even stones, decided by search values for the side to move.

Swap2: one player puts three stones (black, white, black). The other takes a colour, or puts two
more (white, black) and leaves the choice to the first. After one stone, the other takes a colour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ..game.cells import format_moves
from ..game.result import Listener
from ..position.geometry import Coordinates
from .engine import Engine, Thought
from .pacing import Limit

if TYPE_CHECKING:
    from random import Random

OPENINGS = 8  # openings of three stones to compare
CANDIDATES = 6  # first stones of a pair to follow up
SWING_DEPTHS = 6  # last depths of a search, whose spread is the uncertainty of its value
FINALISTS = 3  # pairs to search again
LEAST_NODES = 500  # of one search out of several
PAIR_SHARE = 0.5  # of the time, to look for a pair of stones: ...
LIST_SHARE = 0.2  # ... of this, to list its first stones, ...
FIRST_SHARE = 0.65  # ... and of the rest, to find a second stone for each


Item = TypeVar("Item")


class OpeningChoice(NamedTuple):
    """A decision: take the other colour, or put these stones."""

    swap: bool = False
    stones: tuple[Coordinates, ...] = ()


class OpeningSearch(NamedTuple):
    """The engine, and a search of its position with a share of the time left."""

    engine: Engine
    think: Callable[[float, int, Listener], Thought]  # (share, count, listener)
    tell: Callable[[str], None] = lambda text: None  # gets the reasons, for people
    keep: Callable[[OpeningChoice], None] = lambda choice: None  # gets the best choice so far

    def on(self, stones: Sequence[Coordinates]) -> OpeningSearch:
        """Put stones on the engine's board, as ``set_up`` does."""
        set_up(self.engine, stones)
        return self

    def best(self, share: float, count: int) -> list[Thought]:
        """Return the best moves, best first."""
        found: dict[int, Thought] = {}
        last = self.think(share, count, lambda thought: found.update({thought.multipv: thought}))
        return list({**found, 1: last}.values())

    def deepen(
        self, share: float, note: Callable[[Thought], None] = lambda thought: None
    ) -> list[Thought]:
        """Return the best move of every depth; ``note`` gets each at once."""
        found: list[Thought] = []

        def listen(thought: Thought) -> None:
            found.append(thought)
            note(thought)

        last = self.think(share, 1, listen)
        return found or [last]


def share_time(
    engine: Engine, until: float, check: Callable[[], None] = lambda: None
) -> OpeningSearch:
    """Return an opening search that divides the time up to ``until``, by ``perf_counter``.

    ``check`` is called before each search and may raise to abort.
    """

    def think(share: float, count: int, listener: Listener) -> Thought:
        check()
        limit = Limit(time=max((until - perf_counter()) * share, 0.01))
        return engine.think(limit, on_iteration=listener, multipv=count)

    return OpeningSearch(engine, think)


def share_nodes(engine: Engine, nodes: int, check: Callable[[], None]) -> OpeningSearch:
    """Return an opening search that divides ``nodes``, the same on any machine.

    ``check`` is called before each search and may raise to abort.
    """
    left = nodes

    def think(share: float, count: int, listener: Listener) -> Thought:
        nonlocal left
        check()
        limit = Limit(nodes=max(int(left * share), LEAST_NODES))
        thought = engine.think(limit, on_iteration=listener, multipv=count)
        left -= thought.nodes
        return thought

    return OpeningSearch(engine, think)


def divided(items: Sequence[Item], whole: float = 1.0) -> Iterator[tuple[Item, float]]:
    """Yield items, each with its share of the time left: equal parts, together ``whole``."""
    for index, item in enumerate(items):
        yield item, whole / (len(items) - index * whole)


def set_up(engine: Engine, stones: Sequence[Coordinates]) -> None:
    """Clear the engine's board and play stones in turn, black first."""
    engine.new_game(engine.game.width, engine.game.height, engine.game.rule)
    for x, y in stones:
        engine.play(x, y)


def openings(width: int, height: int, chance: Random) -> list[tuple[Coordinates, ...]]:
    """Return random openings of three stones, the first near the centre or left of it.

    The other two are up to six cells from the first each way, fewer on a small board.
    """
    found: list[tuple[Coordinates, ...]] = []
    reach_x, reach_y = min(width // 2, 6), min(height // 2, 6)
    near = 0
    while len(found) < OPENINGS:
        near = width // 4 - near  # half of them start away from the centre
        x = width // 2 + chance.randint(-1, 1) - near
        y = height // 2 + chance.randint(-1, 1)
        cells = [(x, y)]
        for _ in range(2):
            cells.append((x + chance.randint(-reach_x, reach_x),
                          y + chance.randint(-reach_y, reach_y)))  # fmt: skip
        inside = all(0 <= a < width and 0 <= b < height for a, b in cells)
        if inside and len(set(cells)) == 3 and tuple(cells) not in found:
            found.append(tuple(cells))
    return found


def first_stones(
    searcher: OpeningSearch, candidates: Sequence[Sequence[Coordinates]]
) -> OpeningChoice:
    """Return the candidate stones after which the position is closest to even."""
    best, best_value = candidates[0], None
    for stones, share in divided(candidates):
        value = searcher.on(stones).best(share, 1)[0].value
        if best_value is None or abs(value) < abs(best_value):
            best, best_value = stones, value
            searcher.keep(OpeningChoice(stones=tuple(best)))
    searcher.tell(f"opening {format_moves(best, ' ')}: {best_value}, of {len(candidates)} compared")
    return OpeningChoice(stones=tuple(best))


def first_three(searcher: OpeningSearch, chance: Random | None = None) -> OpeningChoice:
    """Return the three stones for swap2, from the book if it has any."""
    from random import Random  # imported late: takes 2 ms and few games need it

    chance, game = chance or Random(), searcher.engine.game
    known = searcher.engine.balanced(stones=3)
    if known:
        return first_stones(searcher, chance.sample(known, min(OPENINGS, len(known))))
    return first_stones(searcher, openings(game.width, game.height, chance))


def first_one(searcher: OpeningSearch) -> OpeningChoice:
    """Return a first stone for an opening with one stone and a swap: somewhere near a corner."""
    near = min(searcher.engine.game.width, searcher.engine.game.height) // 2
    candidates = [[(x, y)] for y in range(min(3, near)) for x in range(y, near + 1, 2)]
    return first_stones(searcher, candidates)


Balanced = tuple[tuple[Coordinates, ...], int]  # stones, and the value for the side to move


def balanced_move(searcher: OpeningSearch, bias: int, share: float = 1.0) -> Balanced:
    """Return the move with the value closest to the bias, and that value."""
    thoughts = searcher.best(share, CANDIDATES * 2)
    best = min(thoughts, key=lambda thought: abs(thought.value - bias))
    return (best.move,), best.value


def balanced_pair(searcher: OpeningSearch, bias: int) -> Balanced:
    """Return two stones after which the value for the side to move is closest to the bias.

    The second stone balances a pair, so the first stones tried span the whole range of moves that
    the search values. Many pairs get a short search each; the best are searched again and ranked
    by their worst value of the last depths.
    """
    thoughts = searcher.best(LIST_SHARE, CANDIDATES * 2)
    firsts = [thought.move for thought in thoughts[::2]]
    found: list[tuple[int, tuple[Coordinates, Coordinates]]] = []
    for first, share in divided(firsts, FIRST_SHARE):
        with searcher.engine.game.after(first):
            (second,), value = balanced_move(searcher, -bias, share)
        found.append((abs(-value - bias), (first, second)))
    finals: list[tuple[int, Balanced]] = []
    for (_, pair), share in divided(sorted(found)[:FINALISTS]):
        with searcher.engine.game.after(*pair):
            thoughts = searcher.deepen(share)
        distance = max(abs(thought.value - bias) for thought in thoughts[-SWING_DEPTHS:])
        finals.append((distance, (pair, thoughts[-1].value)))
    return min(finals, key=lambda final: final[0])[1]


def colour(thought: Thought) -> OpeningChoice:
    """Return the choice of the better colour: a swap, or the best move."""
    if thought.value < 0:
        return OpeningChoice(swap=True)
    return OpeningChoice(stones=(thought.move,))


def choose(searcher: OpeningSearch) -> OpeningChoice:
    """Return the decision with no, one, three or five stones on the engine's board.

    The value for the side to move decides the colour. After three stones, if the value is too
    close to call, two more stones leave the choice to the opponent, unless they make it clearer.
    A value is too close to call if it is smaller than its spread over the last depths.
    """
    stones = searcher.engine.game.moves
    if not stones:
        return first_three(searcher)
    may_pair = len(stones) == 3
    share = 1 - PAIR_SHARE if may_pair else 1.0
    thoughts = searcher.on(stones).deepen(share, lambda thought: searcher.keep(colour(thought)))
    value, values = thoughts[-1].value, [thought.value for thought in thoughts[-SWING_DEPTHS:]]
    uncertain = max(values) - min(values)
    searcher.tell(f"{len(stones)} stones: {value} for the side to move, uncertain by {uncertain}")
    if may_pair and abs(value) <= uncertain:
        pair = balanced_pair(searcher, 0)
        searcher.tell(f"two more {format_moves(pair[0], ' ')}: {pair[1]}")
        if abs(pair[1]) <= uncertain:
            return OpeningChoice(stones=pair[0])
    return colour(thoughts[-1])
