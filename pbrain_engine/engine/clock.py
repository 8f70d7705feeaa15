"""How long to think: from the limits a manager sends to the seconds of one move.

A manager gives a limit for the turn, one for the match, what is left of the match and
sometimes an increment. ``plan`` turns them into a hard limit, at which the answer must be
ready, and an optimum, around which a search should end; ``Pace`` decides after each
iteration whether going on is worth it. Everything is in seconds of ``time.perf_counter``.
"""

from __future__ import annotations

from typing import NamedTuple

from ..values import WIN_BAND, mate_distance

UNLIMITED = float("inf")
UNLIMITED_MS = 100_000_000  # some clients mean "no limit" by this, others by 2**31 - 1

# The constants of the plan, all in one place.
OVERHEAD = 0.024  # kept back on every move for pipes and threads
SLIP_MEMORY = 0.9  # an answer that was late counts this much less after each further one
MOST_SLIP = 0.1  # no more is kept back for a busy machine
NEAR = 0.1  # only answers so close to their deadline, or later, tell how busy it is
LEAST_SHARE = 0.25  # of a limit shorter than the overhead, so much is still used
MAX_SHARE = 0.2  # of what is left of the match, at most so much goes into one move
FIRST_COMING = 8.0  # hard moves that a game brings, seen from its start (docs/strength.md) ...
COMING_PER_STONE = 0.125  # ... and this much more with each stone: what has lasted will last
EARLY_STONES = 4  # with fewer on the board, a move deserves less time ...
EARLY_WEIGHT = 0.5  # ... by this factor

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
    match: int | None = None
    left: int | None = None
    increment: int = 0


class TimePlan(NamedTuple):
    """Seconds for one move; ``hard`` 0 means: answer at once, without a search."""

    hard: float
    optimum: float

    @property
    def is_instant(self) -> bool:
        """Whether there is no time to search at all."""
        return self.hard <= 0


DEFAULT_TURN_MS = 5000


def seconds(milliseconds: int | None) -> float:
    """Return a limit in seconds; unlimited where there is none or it is a giant."""
    if milliseconds is None or milliseconds >= UNLIMITED_MS:
        return UNLIMITED
    return milliseconds / 1000


def match_left(limits: Limits) -> float:
    """Return the seconds left in the match, which may be negative."""
    if limits.left is not None:
        return seconds(limits.left)
    return seconds(limits.match) if limits.match else UNLIMITED


def turn_limit(limits: Limits) -> float:
    """Return the seconds allowed for a turn; the default only where no limit is known."""
    if limits.turn is not None:
        return seconds(limits.turn)
    return seconds(DEFAULT_TURN_MS) if match_left(limits) == UNLIMITED else UNLIMITED


def moves_to_come(ply: int, cells: int) -> float:
    """Return how many hard own moves to provide for, this one included.

    A move is hard until one side sees how the game ends; those after it take no time. If a
    doubling of time is worth the same on each of them, the best share of what is left is one
    divided by how many are still to be expected.
    """
    return min(FIRST_COMING + COMING_PER_STONE * ply, max(1.0, (cells - ply) / 2))


def weight(ply: int) -> float:
    """Return how much time a move deserves, compared with an average one."""
    return EARLY_WEIGHT if ply < EARLY_STONES else 1.0


class Reserve:
    """What is kept back on a move: the overhead, and by how much late answers were late."""

    def __init__(self) -> None:
        """Expect an idle machine."""
        self._slip = 0.0

    @property
    def seconds(self) -> float:
        """The seconds to keep back."""
        return OVERHEAD + self._slip

    def note(self, late: float) -> None:
        """Learn from an answer that came so many seconds after its planned moment."""
        if late > -NEAR:
            self._slip = max(min(late, MOST_SLIP), self._slip * SLIP_MEMORY)


def within(limit: float, reserve: float) -> float:
    """Return what can be used of a limit once the reserve is taken off."""
    return max(limit - reserve, limit * LEAST_SHARE)


def plan(
    limits: Limits, ply: int, cells: int, charged: float = 0.0, reserve: float = OVERHEAD
) -> TimePlan:
    """Return the seconds for the next move.

    ``ply`` is the number of stones on the board of ``cells`` cells, ``charged`` what has
    gone from the clock already (the start of the program, on its first move), ``reserve``
    what must not be planned with.
    """
    turn = turn_limit(limits) - charged
    left = match_left(limits) - charged
    if min(turn, left) <= 0:
        return TimePlan(0.0, 0.0)
    if turn == UNLIMITED and left == UNLIMITED:
        return TimePlan(UNLIMITED, UNLIMITED)
    coming = moves_to_come(ply, cells)
    increment = max(limits.increment, 0) / 1000
    supply = left + increment * coming
    ample = turn * max(coming, (cells - ply) / 4) <= supply
    if ample:
        whole = within(min(turn, left), reserve)  # the increment comes only after the move
        return TimePlan(whole, whole)
    share = min(left, max(left * MAX_SHARE, left / coming) + increment)
    hard = within(min(turn, share), reserve)
    return TimePlan(hard, min(hard, supply / coming * weight(ply)))


class Pace:
    """Decides after each iteration of one search whether to stop."""

    def __init__(self, plan: TimePlan) -> None:
        """Begin a search with this plan."""
        self.plan = plan
        self._best: object = None
        self._value = 0
        self._changes = 0.0

    def factor(self, drop: float) -> float:
        """Return by how much the optimum is stretched (above 1) or cut."""
        stretched = STABLE_FACTOR + CHANGE_FACTOR * self._changes
        stretched += DROP_FACTOR * min(max(drop / DROP_SCALE, 0.0), 1.0)
        return min(stretched, MAX_FACTOR)

    def should_stop(self, elapsed: float, best: object, value: int, depth: int) -> bool:
        """Say whether the search should end after an iteration with this result."""
        drop = self._value - value if self._best is not None else 0
        changed = self._best is not None and best != self._best
        self._changes = self._changes * CHANGE_MEMORY + changed
        self._best, self._value = best, value
        if abs(value) >= WIN_BAND:
            return is_settled(value, depth)
        if self.plan.optimum >= self.plan.hard:
            return False  # a turn's time cannot be saved for later
        return elapsed >= min(self.plan.optimum * self.factor(drop), self.plan.hard)


def is_settled(value: int, depth: int) -> bool:
    """Say whether a deeper search cannot shorten a forced win (or lengthen a loss) any more."""
    distance = mate_distance(value)
    return distance is not None and depth >= abs(distance)
