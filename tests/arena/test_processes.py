"""The memory of processes as referees, judges and managers count it, on each system."""

from __future__ import annotations

import os
import sys

import pytest

from pbrain_engine.arena import process as processes
from pbrain_engine.native.load import memory

MEGABYTE = 1 << 20


def sizes(working_set: int, page_file: int, private: int) -> tuple[int, ...]:
    """What Windows tells: the peak first, then what is there, in bytes."""
    counted = [0] * 9
    counted[:2], counted[6], counted[8] = [working_set + MEGABYTE, working_set], page_file, private
    return tuple(counted)


@pytest.mark.parametrize(
    "reported, expected",
    [
        (sizes(30 * MEGABYTE, 20 * MEGABYTE, 0), 30 * MEGABYTE),  # wine: no private bytes
        (sizes(30 * MEGABYTE, 20 * MEGABYTE, 20 * MEGABYTE), 30 * MEGABYTE),  # shared pages
        (sizes(5 * MEGABYTE, 0, 20 * MEGABYTE), 20 * MEGABYTE),  # written out while it slept
    ],
)
def test_windows_pages_count_where_any_limit_may_count_them(monkeypatch, reported, expected):
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(memory, "windows_sizes", lambda pid: reported)
    assert memory.footprint() == expected


def test_a_process_is_seen_as_it_sees_itself(monkeypatch):
    monkeypatch.setattr(processes, "descendants", lambda pid: [])  # servers of other tests
    data = bytearray(os.urandom(1)) * (50 * MEGABYTE)
    seen, own = processes.tree_memory(os.getpid()), memory.footprint()
    assert len(data) < own
    assert abs(seen - own) < 60 * MEGABYTE
    if sys.platform == "win32":
        peak = memory.peak_working_set(os.getpid())  # first: to ask may take memory
        assert processes.tree_memory(os.getpid()) >= peak > len(data)
