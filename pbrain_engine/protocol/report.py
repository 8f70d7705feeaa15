"""What a client sees of a running search: which lines, in which form, how often."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING

from ..position.rules import Rule, Side
from . import replies
from .verify import Stones, line_wins

if TYPE_CHECKING:
    from ..engine.engine import Thought

INTERVAL = 0.1  # seconds between two reports; and a search that took less is not reported


class Report:
    """Passes on the iterations of one search, in the form that show_detail asks for."""

    def __init__(
        self,
        emit: Callable[[str], None],
        stones: Stones,
        to_move: Side,
        rule: Rule,
        show_detail: int = replies.PLAIN,
        row_first: bool = False,
        count: int = 1,
    ) -> None:
        """Begin the report of a search from this position for ``count`` best moves."""
        self._emit = emit
        self._stones = dict(stones)
        self._to_move = to_move
        self._rule = rule
        self._mode = show_detail
        self._row_first = row_first
        self._count = count
        self._began = perf_counter()
        self._last = self._began
        self._open = False  # the depth under way is being reported
        self._held: list[Thought] = []  # of the last depth, if it was not reported
        if self._mode in (replies.REALTIME, replies.BOTH):
            emit(replies.realtime("REFRESH"))

    def iteration(self, thought: Thought) -> None:
        """Take one finished depth (of one of the best moves)."""
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
        """Report the last depth if it was held back and the client can use it."""
        asked = self._mode != replies.PLAIN
        if asked or perf_counter() - self._began >= INTERVAL:
            for thought in self._held:
                self._write(thought)
        self._held = []

    def is_proven(self, thought: Thought) -> bool:
        """Say whether the line of a forced win or loss stands up to replay."""
        mate = thought.mate
        if mate is None:
            return False
        return line_wins(self._stones, self._to_move, thought.pv, abs(mate), self._rule)

    def _marks(self, thought: Thought, proven: bool) -> list[str]:
        """Return what a GUI draws on the first cell of a line: searched, best, lost."""
        marks = ["BEST"] if thought.multipv == 1 else []
        marks += ["POS", "DONE"]
        if proven and (thought.mate or 0) < 0:
            marks.append("LOST")
        return marks

    def _write(self, thought: Thought) -> None:
        proven = self.is_proven(thought)
        if self._mode in (replies.REALTIME, replies.BOTH) and thought.pv:
            for kind in self._marks(thought, proven):
                self._emit(replies.realtime(kind, thought.pv[0], self._row_first))
        if self._mode in (replies.DETAIL, replies.BOTH):
            for line in replies.detail(thought, self._count, proven, self._row_first):
                self._emit(line)
        else:
            many = self._count > 1
            self._emit(replies.depth_line(thought, thought.multipv, many, proven))
