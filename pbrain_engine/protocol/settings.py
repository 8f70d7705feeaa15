"""The settings made by ``INFO``: stored at once, read when a move is due.

INFO is never answered. It may come before START, after it and during a search, in any order; so
nothing here touches the engine, and an invalid value leaves its setting unchanged.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

from ..engine.pacing import UNLIMITED_MS, Limits
from ..native.load.memory import DEFAULT_MEMORY
from ..position.rules import Rule

MAX_THREADS = os.cpu_count() or 1
FULL_STRENGTH = 100
STRENGTH_NODES = 60  # at strength 0; every seven more double it
STRENGTH_DOUBLING = 7

HUGE = 2.0**62  # larger numbers are clamped to this

EXACT, CONTINUOUS, RENJU, CARO = 1, 2, 4, 8  # the bits of INFO rule
YIXIN_SWAP1, YIXIN_SWAP2 = 5, 6  # freestyle, with a swap after one stone or after three
YIXIN_RULES = {2: Rule.RENJU, YIXIN_SWAP1: Rule.FREESTYLE, YIXIN_SWAP2: Rule.FREESTYLE}


def fewest_nodes(nodes: int, strength: int) -> int | None:
    """Return the smaller node limit of ``max_node`` (0: none) and strength, or None."""
    limits = [nodes] if nodes else []
    if strength < FULL_STRENGTH:
        limits.append(int(STRENGTH_NODES * 2 ** (max(strength, 0) / STRENGTH_DOUBLING)))
    return min(limits, default=None)


class Settings:
    """The values of all INFO keys."""

    def __init__(self) -> None:
        self.turn: int | None = None  # milliseconds
        self.match: int | None = None
        self.left: int | None = None
        self.spent = 0  # milliseconds since the manager last sent time_left
        self.increment = 0
        self.memory = DEFAULT_MEMORY
        self.hash_size = 0  # bytes of the table, within the memory; 0: as many as are useful
        self.threads = 1
        self.max_depth = 0  # 0: no limit
        self.max_nodes = 0
        self.show_detail = 0
        self.strength = FULL_STRENGTH
        self.row_first = False  # cells are written row,column
        self.rule_code = 0
        self.swapable = False  # the client accepts SWAP as an answer to the first stone
        self.yixin = False  # the client has behaved like Yixin-Board or gomocalc

    @property
    def limits(self) -> Limits:
        """The time limits."""
        left = self.left if self.left is not None else self.match or None
        if left is not None and left < UNLIMITED_MS:
            left -= self.spent
        return Limits(self.turn, left, self.increment)

    @property
    def rule(self) -> Rule:
        """The rule for the code, as this kind of client means it."""
        code = self.rule_code
        if self.yixin and code in YIXIN_RULES:
            return YIXIN_RULES[code]
        if code & RENJU:
            return Rule.RENJU
        if code & CARO:
            return Rule.CARO_EXACT if code & EXACT else Rule.CARO
        return Rule.STANDARD if code & EXACT else Rule.FREESTYLE

    def update(self, text: str, elapsed: float = 0.0) -> None:
        """Process an INFO line, ``elapsed`` seconds into the search that is running, if any.

        A number may be an integer, 300.0, 5e5, or too large for 64 bits.
        """
        key, number, *_ = (*text.lower().split(), "", "")
        self.yixin = self.yixin or key in YIXIN_KEYS
        try:
            value = round(min(max(float(number), -HUGE), HUGE))
        except ValueError:  # not a number, or NaN
            return
        name, setting_of = KEYS.get(key, ("", int))
        setting = setting_of(value)
        if name and setting is not None:
            setattr(self, name, setting)
        if key == "time_left":
            self.spent = -round(elapsed * 1000)  # the end of the move will add it

    def spend(self, elapsed: float) -> None:
        """Subtract the time of a move from the match, for managers that do not send time_left."""
        self.spent += round(elapsed * 1000) - self.increment


YIXIN_KEYS = frozenset(
    ("show_detail", "caution_factor", "pondering", "start_depth", "vcthread", "usedatabase",
     "thread_split_depth", "nbestsym", "swapable", "strength", "checkmate")
)  # fmt: skip

_natural = partial(max, 0)
# For each key its attribute and the conversion of its value; None leaves the attribute unchanged.
KEYS: dict[str, tuple[str, Callable[[int], int | None]]] = {
    "timeout_turn": ("turn", int),
    "timeout_match": ("match", _natural),
    "time_left": ("left", int),
    "time_increment": ("increment", _natural),
    "max_memory": ("memory", lambda value: value if value > 0 else DEFAULT_MEMORY),
    "hash_size": ("hash_size", lambda kilobytes: max(kilobytes, 0) * 1024),
    "thread_num": ("threads", lambda value: min(max(value, 1), MAX_THREADS)),
    "max_depth": ("max_depth", _natural),
    "max_node": ("max_nodes", _natural),
    "show_detail": ("show_detail", lambda value: value if 0 <= value <= 3 else 0),
    "strength": ("strength", lambda value: min(max(value, 0), FULL_STRENGTH)),
    "row_first": ("row_first", lambda value: value == 1),
    "rule": ("rule_code", lambda code: code if 0 <= code < RENJU + CARO else None),
    "swapable": ("swapable", lambda value: value == 1),
}
