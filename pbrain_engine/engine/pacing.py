"""Time: from the limits of a manager to the seconds of one move, and to the end of its search.

A manager gives a limit for the turn, what is left of the match and sometimes an increment.
``plan`` turns them into a hard limit, at which the answer must be ready, and an optimum, around
which a search should end. ``Pace`` keeps them for one search: a timer stops it at the hard limit,
and after each iteration it decides whether going on is worth it. Everything is in seconds of
``time.perf_counter``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from ..values import WIN_BAND, mate_distance

if TYPE_CHECKING:
    from .thought import Limit, Thought

UNLIMITED = float("inf")
UNLIMITED_MS = 100_000_000  # some clients mean "no limit" by this, others by 2**31 - 1

# The constants of the plan, all in one place.
OVERHEAD = 0.024  # kept back on every move for pipes and threads
SLIP_MEMORY = 0.97  # an answer that was late counts this much less after each further one
MOST_SLIP = 0.1  # no more is kept back for a busy machine
NEAR = 0.1  # only answers so close to their deadline, or later, tell how busy it is
LEAST_SHARE = 0.25  # of a limit shorter than the overhead, so much is still used
MAX_SHARE = 0.2  # of what is left of the match, at most so much goes into one move
FIRST_COMING = 8.0  # hard moves that a game brings, seen from its start (docs/lab/strength.md) ...
COMING_PER_STONE = 0.125  # ... and this much more with each stone: what has lasted will last
LEAST_MOVE = 0.02  # a move has at least this much, ...
LEAST_OPTIMUM = 0.006  # ... but ends its search around here where nothing is in doubt
TRANSIT = 0.01  # what such a move takes in addition on an idle machine, ...
SLIP_SHARE = 1 / 3  # ... and this of the slip, which is nearly the most that it has been late
KEPT_MOVES = 20  # for this many moves to come all that is kept back from those before, ...
KEPT_PER_STONE = 3  # ... and for this many more with each stone, as far as the board has room
LAST_MOVES = 10  # that the board has room for: they are kept the least and the whole reserve
LAST_SHARE = 0.8  # of what is left may go into the least of those moves, the reserve too
STALL = 0.4  # of a match is never planned for: once a game a machine may be as slow as that
EARLY_STONES = 4  # with fewer on the board, a move deserves less time ...
EARLY_WEIGHT = 0.5  # ... by this factor

# The constants of the lag.
IDLE_LAG = 0.004  # so late a thread may wake on an idle machine, which the overhead has room for
LAG_MEMORY = 0.9  # how late one woke counts this much less after each further time
LAG_SHARE = 0.5  # of a limit, at most, is kept back for it

# The constants of the pace.
STABLE_FACTOR = 0.65  # of the optimum, where the best move never changed
CHANGE_FACTOR = 0.55  # added for each recent change of the best move
CHANGE_MEMORY = 0.6  # a change counts this much less after each further iteration
DROP_SCALE = 120.0  # a fall of the value by this much ...
DROP_FACTOR = 0.6  # ... adds this share of the optimum
MAX_FACTOR = 2.5  # the optimum is never stretched beyond this


class Limits(NamedTuple):
    """What the manager said, in milliseconds; ``None`` where it said nothing."""

    turn: int | None = None
    left: int | None = None  # of the match
    increment: int = 0


class TimePlan(NamedTuple):
    """Seconds for one move; ``hard`` 0 means: answer at once, without a search."""

    hard: float
    optimum: float


DEFAULT_TURN_MS = 5000


def seconds(milliseconds: int | None) -> float:
    """Return a limit in seconds; unlimited if missing or huge."""
    if milliseconds is None or milliseconds >= UNLIMITED_MS:
        return UNLIMITED
    return milliseconds / 1000


def slip_after(slip: float, late: float) -> float:
    """Return the slip after an answer that came ``late`` seconds after its planned moment."""
    return max(min(late, MOST_SLIP), slip * SLIP_MEMORY) if late > -NEAR else slip


def plan(limits: Limits, ply: int, cells: int, charged: float = 0.0, slip: float = 0.0) -> TimePlan:
    """Return the seconds for the next move.

    ``ply`` is the number of stones on the board of ``cells`` cells, ``charged`` what has
    gone from the clock already (the start of the program, on its first move), ``slip`` what is
    kept back in addition to the overhead. Without any limit a turn has five seconds.
    """
    left = seconds(limits.left)
    turn = seconds(DEFAULT_TURN_MS if limits.turn is None and left == UNLIMITED else limits.turn)
    turn, left = turn - charged, left - charged
    if min(turn, left) <= 0:
        return TimePlan(0.0, 0.0)
    if turn == UNLIMITED and left == UNLIMITED:
        return TimePlan(UNLIMITED, UNLIMITED)
    # Hard own moves to provide for, this one included: a move is hard until one side sees how the
    # game ends; those after it take no time. If a doubling of time is worth the same on each of
    # them, the best share of what is left is one divided by how many are still to be expected.
    coming = min(FIRST_COMING + COMING_PER_STONE * ply, max(1.0, (cells - ply) / 2))
    increment = max(limits.increment, 0) / 1000
    ample = turn * max(coming, (cells - ply) / 4) <= left + increment * coming
    least = LEAST_MOVE + OVERHEAD + slip
    last = min((cells - ply + 1) // 2, LAST_MOVES)
    safe = max(left - STALL, left / 2)
    spare = max(safe - kept_back(ply, cells, increment, slip), 0.0)
    share = min(safe, max(spare * MAX_SHARE, spare / coming) + increment)
    share = max(share, min(least, left * LAST_SHARE / last))
    most = min(turn, left if ample else share)  # the increment comes only after the move
    hard = max(most - OVERHEAD - slip, min(most * LEAST_SHARE, LEAST_MOVE))
    if ample:
        return TimePlan(hard, hard)
    weight = EARLY_WEIGHT if ply < EARLY_STONES else 1.0
    optimum = (spare + increment * coming) / coming * weight
    return TimePlan(hard, min(hard, max(optimum, LEAST_OPTIMUM)))


def kept_back(ply: int, cells: int, increment: float, slip: float) -> float:
    """Return the seconds of a match that belong to moves after the next.

    A game may go on until the board is full. The longer it has lasted, the more of those moves
    are provided for; how long each takes is known from how late answers are, by ``slip``.
    """
    later = max((cells - ply + 1) // 2 - 1, 0)
    last = min(later, LAST_MOVES)
    others = max(min(KEPT_MOVES + KEPT_PER_STONE * ply, later) - last, 0)
    usual = LEAST_OPTIMUM + TRANSIT + slip * SLIP_SHARE
    return max(usual - increment, 0.0) * others + (
        max(LEAST_MOVE + OVERHEAD + slip - increment, 0.0) * last
    )


class Lag:
    """How late threads of this process wake: on a busy machine they wait for a processor.

    Slip is about whole answers, of one game; this is about the moment at which a search is told
    to end, which comes as much earlier. On an idle machine it stays zero.
    """

    def __init__(self) -> None:
        self.seconds = 0.0

    def note(self, late: float) -> None:
        """Take in how many seconds after its moment a thread woke."""
        self.seconds = max(min(late - IDLE_LAG, MOST_SLIP), self.seconds * LAG_MEMORY)

    def lead(self, hard: float) -> float:
        """Return the seconds before a limit at which a thread is to wake, to be there by then."""
        return min(self.seconds, hard * LAG_SHARE)


LAG = Lag()


class Pace:
    """The time of one search, which may change while it runs, from any thread."""

    def __init__(self, plan: TimePlan, start: float) -> None:
        """Begin at a moment of ``perf_counter`` from which the seconds of the plan count."""
        self.plan = plan
        self.start = start
        self._stop: Callable[[], None] | None = None  # of the search that runs
        self._timer: threading.Timer | None = None
        self._due = start  # when it is to ring
        self._guard = threading.Lock()
        self._best: Thought | None = None
        self._changes = 0.0

    @classmethod
    def of(cls, limit: Limit, start: float) -> Pace:
        """Return the time that a limit gives a search."""
        hard = UNLIMITED if limit.time is None else limit.time
        return cls(TimePlan(hard, hard if limit.optimum is None else limit.optimum), start)

    @property
    def deadline(self) -> float:
        """The moment at which the move must be there."""
        return self.start + self.plan.hard

    # The timer ---------------------------------------------------------------------

    def change(self, plan: TimePlan) -> None:
        """Set other limits, which count from the same start."""
        with self._guard:
            self.plan = plan
            self._wind()

    def set_stop(self, stop: Callable[[], None] | None) -> None:
        """Let a search run, which ``stop`` ends when the time is over; None: it has ended."""
        with self._guard:
            self._stop = stop
            self._wind()

    def _wind(self) -> None:
        """Have the timer ring at the limit, or not at all; earlier where it is known to be late."""
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
            else:  # it was changed meanwhile, or the timer's clock is ahead
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
            distance = mate_distance(thought.value)  # which a deeper search cannot change
            return distance is not None and thought.depth >= abs(distance)
        if optimum >= hard:
            return False  # a turn's time cannot be saved for later
        drop = min(max((before.value - thought.value) / DROP_SCALE, 0.0), 1.0)
        factor = STABLE_FACTOR + CHANGE_FACTOR * self._changes + DROP_FACTOR * drop
        return elapsed >= optimum * min(factor, MAX_FACTOR)
