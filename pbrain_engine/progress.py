"""Progress of long work on stderr: a line that is rewritten on a terminal, else separate lines."""

from __future__ import annotations

import sys
from datetime import timedelta
from math import inf
from shutil import get_terminal_size
from time import perf_counter

LINE_SECONDS = 30.0  # between two lines if stderr is not a terminal
SCREEN_SECONDS = 0.2  # between two updates on a terminal
WIDTH = 78  # of the line on a terminal


class Progress:
    """How many of ``total`` units are done, and how long the others will take.

    If stderr is not a terminal, ``every`` is the minimum number of seconds between two lines;
    ``inf`` prints none.
    """

    def __init__(self, total: int, unit: str, done: int = 0, every: float = LINE_SECONDS) -> None:
        self.total = total
        self.done = done
        self._unit = unit
        self._before = done
        self._began = self._shown = perf_counter()
        self._is_live = sys.stderr.isatty()
        self._gap = SCREEN_SECONDS if self._is_live else every

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return max(perf_counter() - self._began, 1e-9)

    def __str__(self) -> str:
        """``12 of 40 games, 0:03:20 left``."""
        fresh, rest = self.done - self._before, ""
        if fresh > 0:
            left = max(self.seconds / fresh * (self.total - self.done), 0.0)
            rest = f", {timedelta(seconds=round(left))} left"
        unit = self._unit.removesuffix("s") if self.total == 1 else self._unit
        return f"{self.done:,} of {self.total:,} {unit}{rest}"

    def show(self, remark: str = "", last: bool = False) -> None:
        """Print the state and a remark, unless the last was just printed; always if ``last``."""
        now = perf_counter()
        if self._gap == inf or (now - self._shown < self._gap and not last):
            return
        self._shown = now
        text = f"{self}, {remark}" if remark else str(self)
        end = "\n"
        if self._is_live:
            room = min(WIDTH, get_terminal_size().columns - 1)
            text = text.ljust(room)
            if not last:  # a line that wraps could not be rewritten
                text, end = text[:room], "\r"
        print(text, end=end, file=sys.stderr, flush=True)
