"""An engine with the interface of ``Engine`` that searches without a kernel.

It moves to a free cell near the last stone. Its searches use all of their time and report an
iteration every few milliseconds. ``faults`` make it misbehave: ``illegal`` returns an occupied
cell, ``slow`` takes a fifth of a second to start a game and to play a move.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from time import perf_counter

from pbrain_engine import Game, Limit, Move, Rule, Thought
from pbrain_engine.engine.pacing import Pace
from pbrain_engine.position.geometry import Coordinates

TICK = 0.004
SLOW = 0.2


class SlowGame(Game):
    """A game that takes a while for a move."""

    def play(self, x: int | str | Coordinates, y: int | None = None) -> None:
        time.sleep(SLOW)
        super().play(x, y)


class FakeEngine:
    """See the module."""

    def __init__(self, memory: int = 350_000_000, faults: Iterable[str] = ()) -> None:
        self.faults = set(faults)
        self.memory = memory
        self.threads = 1
        self.clears = 0
        self.value: int | None = None  # of every position; None: different values
        self.game = Game()
        self.searches: list[tuple[Limit, int]] = []
        self._stop = threading.Event()

    def balanced(self, stones: int) -> list[list[tuple[int, int]]]:
        """Return nothing, for want of a book."""
        return []

    def new_game(
        self, width: int = 15, height: int | None = None, rule: Rule = Rule.FREESTYLE
    ) -> None:
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
        game.copy_to(self.game)

    def set_memory(self, memory: int) -> None:
        self.memory = memory

    def set_hash_size(self, length: int | None) -> None:
        self.hash_size = length

    def set_threads(self, threads: int) -> None:
        self.threads = threads

    def clear_hash(self) -> None:
        self.clears += 1

    def stop(self) -> None:
        self._stop.set()

    def quick_move(self, exclude: Iterable[Move] = ()) -> Move:
        return self._moves(exclude)[0]

    def think(
        self,
        limit: Limit,
        *,
        pace: Pace | None = None,
        on_iteration: Callable[[Thought], None] | None = None,
        multipv: int = 1,
        exclude: Iterable[Move] = (),
    ) -> Thought:
        began = perf_counter()
        self._stop.clear()
        pace = pace or Pace.of(limit, began)
        self.searches.append((limit, multipv))
        moves = self._moves(exclude)
        thought = self._thought(moves[0], 0, began, 1)
        depth = 0
        while began < pace.start + pace.plan.hard:
            depth += 1
            self._stop.wait(TICK)
            if self._stop.is_set():
                break
            for index, move in enumerate(moves[:multipv], 1):
                thought = self._thought(move, depth, began, index)
                if on_iteration is not None:
                    on_iteration(thought)
            if pace.should_stop(thought, perf_counter() - pace.start):
                break
            if limit.depth is not None and depth >= limit.depth:
                break
            if limit.nodes is not None and thought.nodes >= limit.nodes:
                break
        return self._thought(moves[0], depth, began, 1)

    def _thought(self, move: Move, depth: int, began: float, index: int) -> Thought:
        if "illegal" in self.faults and self.game.history:
            move = self.game.moves[0]
        value = (move.x * 7 + move.y * 3 + self.game.ply) % 41 - 20 - index
        if self.value is not None:
            value = self.value
        return Thought(
            value, (move,), depth, depth, 1000 * depth, perf_counter() - began, multipv=index
        )  # fmt: skip

    def _moves(self, exclude: Iterable[Move]) -> list[Move]:
        """Return the free cells, nearest to the last stone first."""
        game, left_out = self.game, {*exclude, *self.game.moves}
        last = game.moves[-1] if game.history else Move(game.width // 2, game.height // 2)
        free = [
            Move(x, y)
            for x in range(game.width)
            for y in range(game.height)
            if Move(x, y) not in left_out
        ]
        return sorted(free, key=lambda m: (abs(m.x - last.x) + abs(m.y - last.y), m.x, m.y))
