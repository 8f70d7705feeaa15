"""An engine with the interface of ``Engine`` that searches without a kernel, and tells all of it.

It moves to a free cell near the last stone. Its searches use all of their time, by the clock and
the threads of this module, and report an iteration every few milliseconds. Faults make it
misbehave: ``illegal`` returns an occupied cell, ``slow`` takes a fifth of a second to start a game
and to play a move, ``fail`` raises in the search, ``hang`` never returns, ``deaf`` goes on for a
while after a stop and ``deafer`` for a second more; ``lost`` misses its kernel at the second game,
``book`` has a book, ``broken`` fails as soon as it is asked for a move, ``stuck`` takes half a
minute for that, and ``value=30`` is its value of everything.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from time import perf_counter

from pbrain_engine import Game, Limit, Move, Rule, Side, Thought
from pbrain_engine.engine.engine import EngineError
from pbrain_engine.engine.pacing import Pace
from pbrain_engine.game.cells import cell_name
from pbrain_engine.native.load.library import KernelError
from pbrain_engine.position.geometry import Coordinates

STEP = 0.004  # seconds of the first iteration; each takes as many more than the one before
SLOW, DEAF = 0.2, 0.2
SIGNS = {Side.BLACK: "x", Side.WHITE: "o", Side.WALL: "#"}


class SlowGame(Game):
    """A game that takes a while for a move."""

    def play(self, x: int | str | Coordinates, y: int | None = None) -> None:
        time.sleep(SLOW)
        super().play(x, y)


class FakeEngine:
    """See the module; ``tell`` gets all that is asked."""

    def __init__(
        self,
        memory: int = 350_000_000,
        faults: Iterable[str] = (),
        tell: Callable[[str], object] = str,
    ) -> None:
        self.faults, self.tell = set(faults), tell
        values = [fault[6:] for fault in self.faults if fault.startswith("value=")]
        self.value = int(values[0]) if values else None  # of every position; None: different ones
        self.game, self.games = Game(), 0
        self.board, self.stones = "", list[str]()  # as they were told last
        self._stop = threading.Event()
        self.tell(f"memory {memory}")

    def new_game(
        self, width: int = 15, height: int | None = None, rule: Rule = Rule.FREESTYLE
    ) -> None:
        before, self.board = self.board, f"{width}x{height} {Rule(rule).name}"
        self.tell("new game" if before == self.board else f"new game {self.board}")
        self.stones = []
        if "lost" in self.faults and self.games:
            raise KernelError("lost")
        self.games += 1
        is_slow = "slow" in self.faults
        time.sleep(SLOW if is_slow else 0)
        self.game = (SlowGame if is_slow else Game)(width, height, rule)

    def play(self, x: int, y: int) -> None:
        self.game.play(x, y)

    def undo(self) -> None:
        self.game.undo()

    def set_rule(self, rule: Rule) -> None:
        game = self.game
        self.new_game(game.width, game.height, rule)
        self.game.set_up(game.history, game.to_move)

    def set_memory(self, memory: int) -> None:
        self.tell(f"memory {memory}")

    def set_hash_size(self, length: int | None) -> None:
        self.tell(f"hash size {length}")

    def set_threads(self, threads: int) -> None:
        self.tell(f"threads {threads}")

    def clear_hash(self) -> None:
        self.tell("clear")

    def stop(self) -> None:
        self._stop.set()

    def balanced(self, stones: int) -> list[list[tuple[int, int]]]:
        self.tell(f"balanced {stones}")
        return [[(k, 1), (7, k), (9, 2)] for k in range(9)] if "book" in self.faults else []

    def quick_move(self, exclude: Iterable[Move] = ()) -> Move:
        self.tell(f"quick move{without(exclude)}")
        if "broken" in self.faults:
            raise EngineError("broken")
        if "stuck" in self.faults:
            time.sleep(30)
        return self._moves(exclude)[0]

    def think(
        self,
        limit: Limit,
        *,
        pace: Pace | None = None,
        on_iteration: Callable[[Thought], object] = id,
        multipv: int = 1,
        exclude: Iterable[Move] = (),
    ) -> Thought:
        began = perf_counter()
        self._stop.clear()
        pace = pace or Pace.of(limit, began)
        self.tell(self._asked(limit, pace, began, multipv) + without(exclude))
        if "fail" in self.faults:
            raise EngineError("the search has failed")
        if "hang" in self.faults:
            threading.Event().wait()
        moves, depth = self._moves(exclude), 0
        pace.set_stop(self.stop)
        try:
            while pace.plan.hard > 0:
                depth += 1
                if self._stop.wait(STEP * depth):
                    time.sleep(DEAF if "deaf" in self.faults else 0)
                    time.sleep(1.0 if "deafer" in self.faults else 0)
                    break
                for index, move in enumerate(moves[:multipv], 1):
                    thought = self._thought(move, depth, began, index)
                    on_iteration(thought)
                if pace.should_stop(thought, perf_counter() - pace.start) or depth == limit.depth:
                    break
                if limit.nodes is not None and thought.nodes >= limit.nodes:
                    break
        finally:
            pace.set_stop(None)
        return self._thought(moves[0], depth, began, 1)

    def _asked(self, limit: Limit, pace: Pace, began: float, multipv: int) -> str:
        """Return what a search is asked, and of the stones only those that are new."""
        game, (hard, optimum) = self.game, pace.plan
        assert self.board in ("", f"{game.width}x{game.height} {game.rule.name}")
        stones = [f"{SIGNS[stone.side]}{cell_name(*stone.move)}" for stone in game.history]
        last, self.stones = self.stones, stones
        if last and stones[: len(last)] == last:
            stones = ["...", *stones[len(last) :]]
        most = f"from {pace.start:.3f} in " if f"{pace.start:.3f}" != f"{began:.3f}" else ""
        most += f"{hard:.3f}" + (f", {optimum:.3f}" if optimum != hard else "")
        most += f", {limit.depth} plies" if limit.depth is not None else ""
        most += f", {limit.nodes} nodes" if limit.nodes is not None else ""
        most += f"; {multipv} best" if multipv != 1 else ""
        return f"think {SIGNS[game.to_move]} to move: {' '.join(stones)}; {most}"

    def _thought(self, move: Move, depth: int, began: float, index: int) -> Thought:
        if "illegal" in self.faults and self.game.history:
            move = self.game.moves[0]
        value = (move.x * 7 + move.y * 3 + self.game.ply) % 41 - 20 - index
        value = value if self.value is None else self.value
        taken = perf_counter() - began
        return Thought(value, (move,), depth, depth, 1000 * depth, taken, multipv=index)

    def _moves(self, exclude: Iterable[Move]) -> list[Move]:
        """Return the free cells, nearest to the last stone first."""
        game, left_out = self.game, {*exclude, *self.game.moves}
        last = game.moves[-1] if game.history else Move(game.width // 2, game.height // 2)
        cells = (Move(x, y) for x in range(game.width) for y in range(game.height))
        free = [move for move in cells if move not in left_out]
        return sorted(free, key=lambda m: (abs(m.x - last.x) + abs(m.y - last.y), m.x, m.y))


def without(exclude: Iterable[Move]) -> str:
    cells = " ".join(cell_name(*move) for move in exclude)
    return f" without {cells}" if cells else ""
