"""What we say: every reply is one line of ASCII, built here and nowhere else.

One grammar satisfies all clients: exactly ``OK``, digits-only ``x,y``, and the prefixes
``MESSAGE``, ``DEBUG``, ``ERROR``, ``UNKNOWN``. Bare ``INFO`` lines and ``FORBID`` appear
only where a client has asked for them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .. import __version__
from ..notation.cells import format_moves
from ..position.geometry import MAX_BOARD, MIN_BOARD, Coordinates
from ..values import EVAL_LIMIT, format_mate

if TYPE_CHECKING:
    from ..engine.engine import Thought

OK = "OK"
SWAP = "SWAP"
ABOUT = f'name="Numoku", version="{__version__}", author="Numoku authors", country="International"'
BAD_SIZE = f"ERROR size must be {MIN_BOARD} to {MAX_BOARD}; tournaments play on 15 and 20"
INTERNAL_ERROR = "DEBUG internal error"
MAX_ECHO = 60  # characters of a client's own text that are repeated to it
PLAIN, REALTIME, DETAIL, BOTH = 0, 1, 2, 3  # values of show_detail


def printable(text: str, limit: int = MAX_ECHO) -> str:
    """Return text that is safe on a line: printable ASCII of bounded length."""
    clean = "".join(c if " " <= c <= "~" else "?" for c in text[: limit + 1])
    return clean if len(clean) <= limit else clean[:limit] + "..."


def error(reason: str) -> str:
    """Return an ERROR line."""
    return "ERROR " + printable(reason, 400)


def unknown(text: str) -> str:
    """Return an UNKNOWN line for what a client said."""
    return "UNKNOWN " + printable(text)


def message(text: str) -> str:
    """Return a MESSAGE line."""
    return "MESSAGE " + printable(text, 2000)


def debug(text: str) -> str:
    """Return a DEBUG line."""
    return "DEBUG " + printable(text, 400)


def internal_error(error: BaseException) -> str:
    """Return the DEBUG line that tells of an error of our own."""
    return f"{INTERNAL_ERROR}: " + printable(f"{type(error).__name__}: {error}", 400)


def cell(at: Coordinates, row_first: bool = False) -> str:
    """Return a cell as the protocol writes it."""
    x, y = reversed(at) if row_first else at
    return f"{x},{y}"


def cells(moves: Iterable[Coordinates], row_first: bool = False) -> str:
    """Return several cells on one line."""
    return " ".join(cell(at, row_first) for at in moves)


def forbidden(moves: Iterable[Coordinates], row_first: bool = False) -> str:
    """Return the answer to YXSHOWFORBID: two digits a coordinate and a final dot."""
    pairs = [tuple(reversed(at)) if row_first else at for at in moves]
    return "FORBID " + "".join(f"{x:02d}{y:02d}" for x, y in pairs) + "."


def about_limits(threads: int, hash_bytes: int) -> list[str]:
    """Return the answer to YXSHOWINFO: how far the sliders of a GUI may go."""
    exponent = max((hash_bytes // 1024).bit_length() - 1, 0)
    return [f"MESSAGE INFO MAX_THREAD_NUM {threads}", f"MESSAGE INFO MAX_HASH_SIZE {exponent}"]


def value(thought: Thought, verified: bool) -> str:
    """Return the value for people: +M9 where the line proves it, else a number."""
    mate = thought.mate
    if mate is not None and verified:
        return format_mate(mate)
    return str(min(max(thought.value, -EVAL_LIMIT), EVAL_LIMIT))


def count(n: int) -> str:
    """Return a number of nodes in at most a few digits."""
    if n < 10_000:
        return str(n)
    return f"{n // 1000}K" if n < 10_000_000 else f"{n // 1_000_000}M"


def depth_line(thought: Thought, index: int, many: bool, verified: bool) -> str:
    """Return the line for one finished depth."""
    multi = f" multipv {index}" if many else ""
    milliseconds = round(thought.time * 1000)
    speed = thought.nodes // max(milliseconds, 1)
    line = format_moves(thought.pv, " ").upper()
    return message(
        f"depth {thought.depth}-{thought.seldepth}{multi} ev {value(thought, verified)} "
        f"n {count(thought.nodes)} n/ms {speed} tm {milliseconds} pv {line}"
    )


def realtime(kind: str, at: Coordinates | None = None, row_first: bool = False) -> str:
    """Return a line that lets a GUI draw the search while it runs."""
    return f"MESSAGE REALTIME {kind}" + (f" {cell(at, row_first)}" if at else "")


def detail(thought: Thought, number: int, proven: bool, row_first: bool = False) -> list[str]:
    """Return the block of bare INFO lines about one of ``number`` best moves."""
    milliseconds = round(thought.time * 1000)
    return [
        f"INFO PV {thought.multipv - 1}",
        f"INFO NUMPV {number}",
        f"INFO DEPTH {thought.depth}",
        f"INFO SELDEPTH {thought.seldepth}",
        f"INFO NODES {thought.nodes}",
        f"INFO TOTALNODES {thought.nodes}",
        f"INFO TOTALTIME {milliseconds}",
        f"INFO SPEED {thought.nodes * 1000 // max(milliseconds, 1)}",
        f"INFO EVAL {value(thought, proven)}",
        f"INFO WINRATE {thought.chance:.4f}",
        f"INFO BESTLINE {cells(thought.pv, row_first)}",
        "INFO PV DONE",
    ]
