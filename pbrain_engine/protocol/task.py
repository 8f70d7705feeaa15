"""One search on its way: its time, how it is stopped, and what it would answer now.

A task is made by the session, run by a worker thread and watched by the loop. Its work may
consist of several searches of the engine (for swap2), which share the time of the plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from ..engine.clock import UNLIMITED, Pace, TimePlan
from ..engine.engine import Limit
from ..position.geometry import Coordinates

if TYPE_CHECKING:
    from ..engine.engine import Engine, Thought
    from ..game.game import Move


MANY_SHARE = 0.85  # of the time for tasks of many searches, each of which ends a little late


class Outcome(NamedTuple):
    """How a search ends: the lines to write and the stones that they put on our board."""

    lines: tuple[str, ...]
    moves: tuple[Coordinates, ...] = ()


class Task:
    """A search: run it once, in any thread; all other methods are safe beside that."""

    def __init__(
        self,
        engine: Engine,
        work: Callable[[Task], Outcome],
        answer_with: Callable[[Coordinates], Outcome],
        fallback: Outcome,
        plan: TimePlan,
        read_at: float,
        nodes: int | None = None,
        depth: int | None = None,
    ) -> None:
        """Prepare a search whose clock runs since ``read_at``."""
        self.engine = engine
        self.fallback = fallback  # the answer if everything else fails
        self.read_at = read_at
        self.emit: Callable[[str], None] = lambda line: None  # takes lines while it runs
        self._work = work
        self._answer_with = answer_with
        self._nodes = nodes
        self._depth = depth
        self._began = UNLIMITED  # when the engine was last called
        self._stopped = plan.is_instant
        self._pace = Pace(plan)
        self._told = plan  # the plan that the engine knows

    @property
    def deadline(self) -> float:
        """The moment at which the answer must be ready."""
        return self.read_at + self._pace.plan.hard

    def run(self) -> Outcome:
        """Do the work and return the answer."""
        return self._work(self)

    def stop(self) -> None:
        """Let the search end now; to be repeated until it has."""
        self._stopped = True
        self.engine.stop()

    def relimit(self, plan: TimePlan) -> None:
        """Give the search other limits, which count from when it was read."""
        self._pace.plan = plan
        if plan.is_instant:
            self.stop()
        else:
            self._tell_engine()

    def _tell_engine(self) -> None:
        """Give a running search of the engine the deadline of the plan."""
        if self._began != UNLIMITED:
            plan = self._pace.plan
            hard = None if plan.hard == UNLIMITED else self.deadline - self._began
            self.engine.set_deadline(hard, None)
            self._told = plan

    def think(
        self,
        report: Callable[[Thought], None] | None = None,
        *,
        share: float = 1.0,
        count: int = 1,
        exclude: Iterable[Move] = (),
        leads: bool = True,
    ) -> Thought:
        """Search the engine's position with a share of the time that is left.

        A search that ``leads`` gives the answer: its best move becomes the fallback, and
        its pace ends it. The others only supply values, together in most of the
        plan's optimum.
        """
        began = perf_counter()
        plan = self._pace.plan
        left = self.read_at + (plan.hard if leads else plan.optimum * MANY_SHARE) - began

        def on_iteration(thought: Thought) -> None:
            if self._pace.plan is not self._told:  # it came before the engine could take it
                self._tell_engine()
            if leads and thought.multipv == 1:
                self.fallback = self._answer_with(thought.move)
                elapsed = perf_counter() - self.read_at
                if self._pace.should_stop(elapsed, thought.move, thought.value, thought.depth):
                    self.engine.stop()
            if report is not None:
                report(thought)

        if self._stopped:
            time: float | None = 0.0
        else:
            time = None if left == UNLIMITED else max(left * share, 0.0)
        limit = Limit(time=time, nodes=self._nodes, depth=self._depth)
        self._began, self._told = began, self._pace.plan
        try:
            return self.engine.think(
                limit, on_iteration=on_iteration, multipv=count, exclude=exclude
            )
        finally:
            self._began = UNLIMITED
