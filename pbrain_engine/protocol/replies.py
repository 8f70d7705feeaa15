"""Replies to the manager: each one line of ASCII, built here and nowhere else.

One grammar satisfies all clients: exactly ``OK``, digits-only ``x,y``, and the prefixes
``MESSAGE``, ``DEBUG``, ``ERROR``, ``UNKNOWN``. Bare ``INFO`` lines and ``FORBID`` appear only if a
client has asked for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from time import perf_counter

from .. import __version__
from ..engine.engine import Thought
from ..game.cells import format_moves
from ..game.game import Game
from ..position.geometry import MAX_BOARD, MIN_BOARD, Coordinates
from ..position.rules import Side
from ..values import EVAL_LIMIT, WIN_BAND, format_value
from .commands import Settings

ABOUT = f'name="Numoku", version="{__version__}", author="Numoku authors", country="International"'
BAD_SIZE = f"ERROR size must be {MIN_BOARD} to {MAX_BOARD}; tournaments play on 15 and 20"
INTERNAL_ERROR = "internal error"  # start of a DEBUG line about a fault of the engine
MAX_TEXT = {"UNKNOWN": 60, "ERROR": 400, "DEBUG": 400, "MESSAGE": 2000}  # characters
INTERVAL = 0.1  # seconds between two reports; shorter searches are not reported
REALTIME, DETAIL = 1, 2  # bits of show_detail


def problem_of(error: BaseException) -> str:
    """Return the kind of a problem: out of memory, or an internal error."""
    return "memory is short" if isinstance(error, MemoryError) else INTERNAL_ERROR


def remark(kind: str, text: str) -> str:
    """Return an ERROR, UNKNOWN, MESSAGE or DEBUG line: printable ASCII of bounded length."""
    limit = MAX_TEXT[kind]
    clean = text[:limit]
    if not (clean.isascii() and clean.isprintable()):
        clean = "".join(c if " " <= c <= "~" else "?" for c in clean)
    return f"{kind} {clean}{'...' if len(text) > limit else ''}"


def cells(moves: Iterable[Coordinates], row_first: bool = False) -> str:
    """Return several cells on one line."""
    return " ".join([f"{y},{x}" if row_first else f"{x},{y}" for x, y in moves])


def forbidden(moves: Iterable[Coordinates], row_first: bool = False) -> str:
    """Return the answer to YXSHOWFORBID: two digits per coordinate and a final dot."""
    pairs = [tuple(reversed(at)) if row_first else at for at in moves]
    return "FORBID " + "".join(f"{x:02d}{y:02d}" for x, y in pairs) + "."


def about_limits(threads: int, hash_bytes: int) -> tuple[str, ...]:
    """Return the answer to YXSHOWINFO: the limits of a GUI's sliders."""
    exponent = max((hash_bytes // 1024).bit_length() - 1, 0)
    return f"MESSAGE INFO MAX_THREAD_NUM {threads}", f"MESSAGE INFO MAX_HASH_SIZE {exponent}"


def depth_line(thought: Thought, number: int, value: str) -> str:
    """Return the line about one completed depth of one of ``number`` best moves."""
    multi = f" multipv {thought.multipv}" if number > 1 else ""
    milliseconds = round(thought.time * 1000)
    nodes, speed = thought.nodes, thought.nodes // max(milliseconds, 1)
    few = nodes < 10_000_000
    count = str(nodes) if nodes < 10_000 else f"{nodes // 1000}K" if few else f"{nodes // 10**6}M"
    line = format_moves(thought.pv, " ").upper()
    return remark(
        "MESSAGE",
        f"depth {thought.depth}-{thought.seldepth}{multi} ev {value} "
        f"n {count} n/ms {speed} tm {milliseconds} pv {line}",
    )


def detail(thought: Thought, number: int, value: str, row_first: bool = False) -> list[str]:
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
        f"INFO EVAL {value}",
        f"INFO WINRATE {thought.chance:.4f}",
        f"INFO BESTLINE {cells(thought.pv, row_first)}",
        "INFO PV DONE",
    ]


def line_wins(game: Game, line: Sequence[Coordinates], plies: int) -> bool:
    """Return whether a line of exactly ``plies`` moves ends in the first five on the board.

    Works on a copy: a search may be using the game.
    """
    game = game.copy()
    for x, y in line:
        if game.winner is not None or game.at(x, y) is not Side.EMPTY:
            return False
        game.play(x, y)
    return len(line) == plies and game.winner is not None


class Report:
    """Reports the iterations of one search in the form selected by show_detail."""

    def __init__(
        self, emit: Callable[[str], None], game: Game, settings: Settings, count: int
    ) -> None:
        self._emit = emit
        self._game = game
        self._count = count
        self._mode, self._row_first = settings.show_detail, settings.row_first
        self._began = self._last = perf_counter()
        self._open = False  # the current depth is being reported
        self._held: list[Thought] = []  # of the last depth, if not reported yet
        if self._mode & REALTIME:
            emit("MESSAGE REALTIME REFRESH")

    def iteration(self, thought: Thought) -> None:
        """Report or hold back a completed depth of one of the best moves."""
        if thought.multipv == 1:
            now = perf_counter()
            self._open = now - self._last >= INTERVAL
            self._held = []
            if self._open:
                self._last = now
        if self._open:
            self._write(thought)
        else:
            self._held.append(thought)

    def finish(self) -> None:
        """Report the last depth if it was held back, unless the search was short."""
        if self._mode or perf_counter() - self._began >= INTERVAL:
            for thought in self._held:
                self._write(thought)

    def _write(self, thought: Thought) -> None:
        is_forced = abs(thought.value) >= WIN_BAND
        proven = is_forced and line_wins(self._game, thought.pv, abs(thought.mate or 0))
        limited = str(min(max(thought.value, -EVAL_LIMIT), EVAL_LIMIT))
        value = format_value(thought.value) if proven else limited  # for people: +M9
        if self._mode & REALTIME and thought.pv:
            marks = ["BEST"] * (thought.multipv == 1) + ["POS", "DONE"]
            marks += ["LOST"] * (proven and thought.value < 0)
            at = cells(thought.pv[:1], self._row_first)
            for mark in marks:  # a GUI draws them on the first cell of the line
                self._emit(f"MESSAGE REALTIME {mark} {at}")
        if self._mode & DETAIL:
            for line in detail(thought, self._count, value, self._row_first):
                self._emit(line)
        else:
            self._emit(depth_line(thought, self._count, value))
