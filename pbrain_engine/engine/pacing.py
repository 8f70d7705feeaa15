"""Limits of searches, and time management: from a manager's limits to the end of one search.

A manager sends a limit for the turn, the time left of the match and sometimes an increment.
``plan`` turns them into a hard limit, at which the answer must be ready, and an optimum, around
which the search should end. ``Pace`` enforces them for one search: a timer stops it at the hard
limit, and after each iteration it decides whether to continue. All times are seconds of
``time.perf_counter``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import perf_counter
from typing import NamedTuple, Self, SupportsFloat

from ..game.game import at_least_one
from ..game.result import Thought
from ..values import WIN_BAND, mate_distance

UNLIMITED = float("inf")
UNLIMITED_MS = 100_000_000  # some clients mean "no limit" by this, others by 2**31 - 1

# Constants of the plan.
OVERHEAD = 0.024  # reserved on every move for pipes and threads
WORST_MEMORY = 0.97  # decay of the worst lateness with each further answer, ...
MEAN_MEMORY = 0.8  # ... and of the mean one
MOST_LATE = 0.1  # cap of the reserve for a busy machine
NEAR = 0.1  # only answers this close to their deadline, or later, measure the lateness
LEAST_SHARE = 0.25  # share still used of a limit shorter than the overhead
MAX_SHARE = 0.2  # largest share of the match time left for one move
FIRST_COMING = 8.0  # hard moves expected at the start of a game (docs/lab/strength.md) ...
COMING_PER_STONE = 0.125  # ... and more with each stone: long games tend to last
LEAST_MOVE = 0.02  # least hard limit of a move, ...
LEAST_OPTIMUM = 0.006  # ... and least optimum
TRANSIT = 0.01  # what such a move takes in addition on an idle machine
KEPT_MOVES = 20  # later moves to reserve time for, ...
KEPT_PER_STONE = 3  # ... and more with each stone, as far as the board has room
LAST_MOVES = 10  # last moves before a full board: each has the least move and all reserves kept
LAST_SHARE = 0.8  # of the time left, reserve included, for the least moves at the end
STALL = 0.4  # seconds of a match never planned: a machine may stall once a game
EARLY_STONES = 4  # with fewer on the board, a move deserves less time ...
EARLY_WEIGHT = 0.5  # ... by this factor

# Constants of the lag.
IDLE_LAG = 0.004  # usual delay of a thread's wake-up on an idle machine, part of the overhead
LAG_MEMORY = 0.9  # decay of the lag with each further wake-up
LAG_SHARE = 0.5  # largest share of a limit reserved for the lag

# Constants of the pace.
STABLE_FACTOR = 0.65  # of the optimum, if the best move never changed
CHANGE_FACTOR = 0.55  # added for each recent change of the best move
CHANGE_MEMORY = 0.6  # decay of a change with each further iteration
DROP_SCALE = 120.0  # a drop of the value by this much ...
DROP_FACTOR = 0.6  # ... adds this share of the optimum
MAX_FACTOR = 2.5  # the optimum is never stretched beyond this


class _Limit(NamedTuple):
    time: float | None = None
    optimum: float | None = None
    nodes: int | None = None
    depth: int | None = None


class Limit(_Limit):
    """When to stop thinking: at whichever limit comes first; None means no limit.

    ``time``: seconds after which the move must be ready. ``optimum``: seconds around which the
    search ends, sooner if its move is stable and later if not. ``nodes``: positions searched by
    the first thread. ``depth``: plies of the last iteration.

    Raises:
        ValueError: ``depth`` or ``nodes`` is below 1, or a time is NaN.
        TypeError: ``depth`` or ``nodes`` is not an integer, or a time is not a number.
    """

    __slots__ = ()

    def __new__(
        cls,
        time: SupportsFloat | None = None,
        optimum: SupportsFloat | None = None,
        nodes: int | None = None,
        depth: int | None = None,
    ) -> Self:
        """Check and convert the arguments."""
        for name, number in (("depth", depth), ("nodes", nodes)):
            if number is not None:
                at_least_one(number, name)
        spans = _seconds(time, "time"), _seconds(optimum, "optimum")
        return super().__new__(cls, *spans, nodes, depth)


def _seconds(given: SupportsFloat | None, name: str) -> float | None:
    if not isinstance(given, SupportsFloat | None):
        raise TypeError(f"{name} is a number of seconds, not {given!r}")
    if given != given:  # NaN
        raise ValueError(f"{name} is a number of seconds or None, not {given}")
    return None if given is None else float(given)


class Limits(NamedTuple):
    """The manager's limits in milliseconds; ``None`` if it sent none."""

    turn: int | None = None
    left: int | None = None  # of the match
    increment: int = 0


class TimePlan(NamedTuple):
    """Seconds for one move; ``hard`` 0: answer at once, without a search."""

    hard: float
    optimum: float


DEFAULT_TURN_MS = 5000


def seconds(milliseconds: int | None) -> float:
    """Return a limit in seconds; unlimited if missing or huge."""
    if milliseconds is None or milliseconds >= UNLIMITED_MS:
        return UNLIMITED
    return milliseconds / 1000


class Lateness(NamedTuple):
    """How many seconds answers of a game are late on a busy machine."""

    worst: float = 0.0  # what every move reserves in addition to the overhead
    mean: float = 0.0  # what later moves are expected to take more

    def after(self, late: float) -> Lateness:
        """Return the lateness updated by an answer ``late`` seconds after its planned moment."""
        if late <= -NEAR:
            return self
        late = min(late, MOST_LATE)
        mean = self.mean * MEAN_MEMORY + max(late, 0.0) * (1 - MEAN_MEMORY)
        return Lateness(max(late, self.worst * WORST_MEMORY), mean)


ON_TIME = Lateness()


def plan(
    limits: Limits, ply: int, cells: int, charged: float = 0.0, late: Lateness = ON_TIME
) -> TimePlan:
    """Return the seconds for the next move.

    ``ply`` is the number of stones on the board of ``cells`` cells, ``charged`` the seconds
    already off the clock (the program's start, on its first move). Without any limit a turn has
    five seconds.
    """
    left = seconds(limits.left)
    turn = seconds(DEFAULT_TURN_MS if limits.turn is None and left == UNLIMITED else limits.turn)
    turn, left = turn - charged, left - charged
    if min(turn, left) <= 0:
        return TimePlan(0.0, 0.0)
    if turn == UNLIMITED and left == UNLIMITED:
        return TimePlan(UNLIMITED, UNLIMITED)
    # Hard moves of its own still expected, this one included: a move is hard until one side sees
    # the game's end; later moves take no time. If a doubling of time is worth the same on each
    # hard move, the best share of the time left is one divided by their number.
    coming = min(FIRST_COMING + COMING_PER_STONE * ply, max(1.0, (cells - ply) / 2))
    increment = max(limits.increment, 0) / 1000
    ample = turn * max(coming, (cells - ply) / 4) <= left + increment * coming
    least = LEAST_MOVE + OVERHEAD + late.worst
    last = min((cells - ply + 1) // 2, LAST_MOVES)
    if left + increment < last * late.mean:
        return TimePlan(0.0, 0.0)  # searches would lose the game
    safe = max(left - STALL, left / 2)
    spare = max(safe - kept_back(ply, cells, increment, late), 0.0)
    share = min(safe, max(spare * MAX_SHARE, spare / coming) + increment)
    share = max(share, min(least, left * LAST_SHARE / last))
    most = min(turn, left if ample else share)  # the increment comes only after the move
    hard = max(most - OVERHEAD - late.worst, min(most * LEAST_SHARE, LEAST_MOVE))
    if ample:
        return TimePlan(hard, hard)
    weight = EARLY_WEIGHT if ply < EARLY_STONES else 1.0
    optimum = (spare + increment * coming) / coming * weight
    return TimePlan(hard, min(hard, max(optimum, LEAST_OPTIMUM)))


def kept_back(ply: int, cells: int, increment: float, late: Lateness) -> float:
    """Return the seconds of a match reserved for moves after the next.

    A game may last until the board is full. The longer it has lasted, the more later moves get a
    reserve.
    """
    later = max((cells - ply + 1) // 2 - 1, 0)
    last = min(later, LAST_MOVES)
    others = max(min(KEPT_MOVES + KEPT_PER_STONE * ply, later) - last, 0)
    usual = LEAST_OPTIMUM + TRANSIT + late.mean
    return max(usual - increment, 0.0) * others + (
        max(LEAST_MOVE + OVERHEAD + late.worst - increment, 0.0) * last
    )


class Lag:
    """How late the threads of this process wake when a busy machine keeps them waiting.

    ``Lateness`` measures whole answers of one game; lag measures the timer that ends a search,
    which is set earlier by the lag. On an idle machine it stays zero.
    """

    def __init__(self) -> None:
        self.seconds = 0.0

    def note(self, late: float) -> None:
        """Update the lag with a thread that woke ``late`` seconds after its moment."""
        self.seconds = max(min(late - IDLE_LAG, MOST_LATE), self.seconds * LAG_MEMORY)

    def lead(self, hard: float) -> float:
        """Return how many seconds before the hard limit the timer should ring."""
        return min(self.seconds, hard * LAG_SHARE)


LAG = Lag()


class Pace:
    """The clock of one search; its plan may change meanwhile, from any thread."""

    def __init__(self, plan: TimePlan, start: float) -> None:
        """Count the plan's seconds from ``start``, a moment of ``perf_counter``."""
        self.plan = plan
        self.start = start
        self._stop: Callable[[], None] | None = None  # of the running search
        self._timer: threading.Timer | None = None
        self._due = start  # when the timer should ring
        self._guard = threading.Lock()
        self._best: Thought | None = None
        self._changes = 0.0

    @classmethod
    def of(cls, limit: Limit, start: float) -> Pace:
        """Return the pace for a limit."""
        hard = UNLIMITED if limit.time is None else limit.time
        return cls(TimePlan(hard, hard if limit.optimum is None else limit.optimum), start)

    @property
    def deadline(self) -> float:
        """The moment at which the move must be ready."""
        return self.start + self.plan.hard

    # The timer ---------------------------------------------------------------------

    def change(self, plan: TimePlan) -> None:
        """Replace the plan; the start stays the same."""
        with self._guard:
            self.plan = plan
            self._wind()

    def set_stop(self, stop: Callable[[], None] | None) -> None:
        """Call ``stop`` when time is up; None: the search has ended."""
        with self._guard:
            self._stop = stop
            self._wind()

    def _wind(self) -> None:
        """Set the timer to ring at the hard limit, earlier by the lag; none without a limit."""
        if self._timer is not None:
            self._timer.cancel()
        if self._stop is not None and self.plan.hard != UNLIMITED:
            now = perf_counter()
            left = self.deadline - LAG.lead(self.plan.hard) - now
            left = max(0.0, min(left, threading.TIMEOUT_MAX))
            self._due = now + left
            self._timer = threading.Timer(left, self._ring)
            self._timer.daemon = True
            self._timer.start()

    def _ring(self) -> None:
        with self._guard:
            if self._stop is None:
                return
            now = perf_counter()
            if now >= self._due:
                LAG.note(now - self._due)
            if now - self.start >= self.plan.hard - LAG.lead(self.plan.hard):
                self._stop()
            else:  # the plan changed meanwhile, or the timer's clock is ahead
                self._wind()

    # The iterations ----------------------------------------------------------------

    def should_stop(self, thought: Thought, elapsed: float) -> bool:
        """Return whether the search should end after an iteration with this result."""
        before, self._best = self._best or thought, thought
        self._changes = self._changes * CHANGE_MEMORY + (thought.move != before.move)
        hard, optimum = self.plan
        if elapsed >= hard:
            return True
        if abs(thought.value) >= WIN_BAND:
            distance = mate_distance(thought.value)  # a deeper search cannot change it
            return distance is not None and thought.depth >= abs(distance)
        if optimum >= hard:
            return False  # a turn's time cannot be saved for later
        drop = min(max((before.value - thought.value) / DROP_SCALE, 0.0), 1.0)
        factor = STABLE_FACTOR + CHANGE_FACTOR * self._changes + DROP_FACTOR * drop
        return elapsed >= optimum * min(factor, MAX_FACTOR)
