"""An engine of the product's interface that plays without a kernel, slowly or wrongly at will.

It moves to a free cell near the last stone. Its searches take the time they are given and
report an iteration every few milliseconds. ``faults`` makes it misbehave: ``hang`` (never
returns), ``deaf`` (does not hear stop and runs past its limit for 0.2 s), ``fail`` (raises
in the search), ``illegal`` (returns an occupied cell), ``refuse`` (raises in play), ``slow``
(takes a fifth of a second to begin a game and to play a move).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from time import perf_counter

from pbrain_engine.engine.engine import EngineError, Limit, Move, Thought
from pbrain_engine.position.rules import Rule, Side

TICK = 0.004
HANG = 30.0
SLOW = 0.2


class FakeGame:
    """Stones and turn, as the engine shows them."""

    def __init__(self, width: int, height: int, rule: Rule) -> None:
        self.width, self.height, self.rule = width, height, rule
        self.stones: dict[Move, Side] = {}
        self.to_move = Side.BLACK

    @property
    def ply(self) -> int:
        return sum(side is not Side.WALL for side in self.stones.values())

    def forbidden(self) -> list[Move]:
        """Call the top left corner forbidden, so that there is something to see."""
        if self.rule is Rule.RENJU and self.to_move is Side.BLACK:
            return [cell for cell in (Move(0, 0), Move(1, 12)) if cell not in self.stones]
        return []


class FakeEngine:
    """See the module."""

    def __init__(self, memory: int = 350_000_000, faults: Iterable[str] = ()) -> None:
        self.faults = set(faults)
        self.memory = memory
        self.threads = 1
        self.clears = 0
        self.value: int | None = None  # of every position, if it is to be the same
        self.game = FakeGame(15, 15, Rule.FREESTYLE)
        self.searches: list[tuple[Limit, int]] = []
        self._stop = threading.Event()
        self._hard: float | None = None

    def balanced(self, stones: int) -> list[list[tuple[int, int]]]:
        """It has no book."""
        return []

    def new_game(
        self, width: int = 15, height: int | None = None, rule: Rule = Rule.FREESTYLE
    ) -> None:
        self._dawdle()
        self.game = FakeGame(width, height or width, rule)

    def play(self, x: int, y: int) -> None:
        if "refuse" in self.faults:
            raise EngineError("refused")
        self._dawdle()
        self.place(x, y, self.game.to_move)
        self.game.to_move = self.game.to_move.opponent

    def _dawdle(self) -> None:
        if "slow" in self.faults:
            time.sleep(SLOW)

    def place(self, x: int, y: int, side: Side) -> None:
        assert 0 <= x < self.game.width and 0 <= y < self.game.height
        assert Move(x, y) not in self.game.stones
        self.game.stones[Move(x, y)] = Side(side)

    def undo(self) -> None:
        _, side = self.game.stones.popitem()
        self.game.to_move = side

    def set_to_move(self, side: Side) -> None:
        self.game.to_move = Side(side)

    def set_rule(self, rule: Rule) -> None:
        self.game.rule = rule

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

    def set_deadline(self, hard: float | None, optimum: float | None) -> None:
        self._hard = hard

    def quick_move(self, exclude: Iterable[Move] = ()) -> Move:
        return self._moves(exclude)[0]

    def think(
        self,
        limit: Limit,
        *,
        on_iteration: Callable[[Thought], None] | None = None,
        multipv: int = 1,
        exclude: Iterable[Move] = (),
    ) -> Thought:
        began = perf_counter()
        self._stop.clear()
        self._hard = limit.time
        self.searches.append((limit, multipv))
        moves = self._moves(exclude)
        if "fail" in self.faults:
            raise EngineError("the search has failed")
        if "hang" in self.faults:
            threading.Event().wait(HANG)
        thought = self._thought(moves[0], 0, began, 1)
        depth = 0
        while limit.time is None or limit.time > 0:
            depth += 1
            self._stop.wait(TICK)
            if self._stop.is_set() and "deaf" not in self.faults:
                break
            for index, move in enumerate(moves[:multipv], 1):
                thought = self._thought(move, depth, began, index)
                if on_iteration is not None:
                    on_iteration(thought)
            elapsed = perf_counter() - began
            late = 0.2 if "deaf" in self.faults else 0.0
            if self._hard is not None and elapsed >= self._hard + late:
                break
            if limit.depth is not None and depth >= limit.depth:
                break
            if limit.nodes is not None and thought.nodes >= limit.nodes:
                break
        return self._thought(moves[0], depth, began, 1)

    def _thought(self, move: Move, depth: int, began: float, index: int) -> Thought:
        if "illegal" in self.faults and self.game.stones:
            move = next(iter(self.game.stones))
        value = (move.x * 7 + move.y * 3 + self.game.ply) % 41 - 20 - index
        if self.value is not None:
            value = self.value
        return Thought(
            move=move, value=value, depth=depth, seldepth=depth, nodes=1000 * depth,
            time=perf_counter() - began, pv=(move,), multipv=index,
        )  # fmt: skip

    def _moves(self, exclude: Iterable[Move]) -> list[Move]:
        """Return the free cells, those near the last stone first."""
        game, excluded = self.game, set(exclude)
        last = next(reversed(game.stones), Move(game.width // 2, game.height // 2))
        free = [
            Move(x, y)
            for x in range(game.width)
            for y in range(game.height)
            if Move(x, y) not in game.stones and Move(x, y) not in excluded
        ]
        return sorted(free, key=lambda m: (abs(m.x - last.x) + abs(m.y - last.y), m.x, m.y))
