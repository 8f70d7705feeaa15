"""How an engine can lose a game other than on the board: one word a cause."""

from __future__ import annotations

CRASH = "crash"  # it died of a signal or with an error code
EXIT = "exit"  # it left, or closed its output, without being told to
TIME = "time"  # its answer came late, or not at all though it had spoken before
MUTE = "mute"  # it never said anything at all
GARBAGE = "garbage"  # it said things, none of them a move
FLOOD = "flood"  # it said far too much
MEMORY = "memory"  # it held more memory than allowed
ILLEGAL = "illegal"  # its move was off the board or on a stone
FORBIDDEN = "forbidden"  # its move was a foul of black's in renju
REFUSED = "refused"  # it declined the board or the rule with ERROR or UNKNOWN
START = "start"  # it could not be started

FAULTS = frozenset(
    {CRASH, EXIT, TIME, MUTE, GARBAGE, FLOOD, MEMORY, ILLEGAL, FORBIDDEN, REFUSED, START}
)


class EngineFault(Exception):
    """An engine did something that costs it the game."""

    def __init__(self, cause: str, detail: str = "") -> None:
        """Keep the cause, one of ``FAULTS``, and what was seen."""
        super().__init__(f"{cause}: {detail}" if detail else cause)
        self.cause = cause
        self.detail = detail


class Abandoned(Exception):
    """The game was broken off from outside; it counts for nobody."""
