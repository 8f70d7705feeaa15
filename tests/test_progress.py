"""Progress: what it says of the time left, and when it writes."""

from __future__ import annotations

import io
import sys
from math import inf

import pytest

from pbrain_engine import progress
from pbrain_engine.progress import Progress


class Stream(io.StringIO):
    def __init__(self, live: bool) -> None:
        super().__init__()
        self.isatty = lambda: live


def shown(monkeypatch: pytest.MonkeyPatch, live: bool, every: float = 30.0) -> str:
    """Play 20 games of which 10 are there, 4 s each; return all that is written."""
    now = 100.0
    monkeypatch.setattr(sys, "stderr", Stream(live))
    monkeypatch.setattr(progress, "perf_counter", lambda: now)
    shower = Progress(20, "games", 10, every)
    assert str(shower) == "10 of 20 games"
    for _ in range(10):
        now += 4.0
        shower.done += 1
        shower.show("good", last=shower.done == 20)
        shower.show("just shown")
    return sys.stderr.getvalue()


def test_lines_come_now_and_then_and_at_the_end(monkeypatch):
    lines = shown(monkeypatch, live=False).splitlines()
    assert lines == ["18 of 20 games, 0:00:08 left, good", "20 of 20 games, 0:00:00 left, good"]
    assert shown(monkeypatch, live=False, every=inf) == ""


def test_on_a_terminal_one_line_is_rewritten(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    *lines, end = shown(monkeypatch, live=True, every=inf).split("\r")
    assert lines[0].rstrip() == "11 of 20 games, 0:00:36 left, good" and len(lines) == 9
    assert {len(line) for line in lines} == {progress.WIDTH}
    assert end.rstrip() == "20 of 20 games, 0:00:00 left, good" and end.endswith("\n")
    monkeypatch.setenv("COLUMNS", "22")
    *lines, end = shown(monkeypatch, live=True).split("\r")
    assert {*map(len, lines)} == {21} and end == "20 of 20 games, 0:00:00 left, good\n"
