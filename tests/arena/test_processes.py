"""The memory of processes as referees, judges and managers count it, on each system."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from pbrain_engine.arena import processes
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
def test_windows_pages_count_where_any_limit_may_count_them(
    monkeypatch: pytest.MonkeyPatch, reported: tuple[int, ...], expected: int
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(memory, "windows_sizes", lambda pid: reported)
    assert memory.footprint() == expected


def test_nothing_is_believed_where_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(memory, "windows_sizes", lambda pid: (0,) * 9)
    assert memory.footprint() > 30 * MEGABYTE


def test_a_process_is_seen_as_it_sees_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "descendants", lambda pid: [])  # servers of other tests
    data = bytearray(os.urandom(1)) * (50 * MEGABYTE)
    seen, own = processes.tree_memory(os.getpid()), memory.footprint()
    assert len(data) < own
    assert abs(seen - own) < 60 * MEGABYTE
    if sys.platform == "win32":
        peak = memory.peak_working_set(os.getpid())  # first: to ask may take memory
        assert processes.tree_memory(os.getpid()) >= peak > len(data)


class Psutil:
    """psutil of a system that tells, and of one that denies: then it raises no error of its own."""

    Error = ValueError

    def __init__(self, denies: bool) -> None:
        self.denies = denies
        self.asked: list[tuple[str, int]] = []

    def Process(self, pid: int) -> SimpleNamespace:
        def answer(name: str, said: object) -> Callable[..., object]:
            def ask(**words: bool) -> object:
                self.asked.append((name, pid))
                if self.denies and name != "memory_info":
                    raise OSError(5, "Access denied")
                return said

            return ask

        answers = {
            "memory_full_info": SimpleNamespace(uss=10 * pid),
            "memory_info": SimpleNamespace(rss=100 * pid),
            "children": [SimpleNamespace(pid=pid + 1), SimpleNamespace(pid=pid + 2)],
            "suspend": None, "resume": None,
        }  # fmt: skip
        return SimpleNamespace(**{name: answer(name, said) for name, said in answers.items()})


@pytest.mark.parametrize(
    ("denies", "peak", "memory"), [(False, 0, 60), (False, 61, 61), (True, 0, 100), (True, 99, 100)]
)
def test_other_systems_are_asked_by_psutil_and_what_they_do_not_tell_ends_no_match(
    denies: bool, peak: int, memory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Psutil(denies)
    monkeypatch.setattr(processes, "IS_LINUX", False)
    monkeypatch.setattr(processes, "IS_WINDOWS", bool(peak))
    monkeypatch.setattr(processes, "peak_working_set", lambda pid: peak * pid)
    monkeypatch.setattr(processes, "psutil", asked)
    assert processes.tree_memory(1) == memory
    for name in ("SIGSTOP", "SIGCONT"):
        monkeypatch.delattr(processes.signal, name, raising=False)
    asked.asked.clear()
    processes.suspend(4)
    processes.suspend(5, resumes=True)
    assert asked.asked == [("suspend", 4), ("resume", 5)]


def test_memory_is_nothing_where_no_one_tells_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "psutil", None)
    monkeypatch.setattr(processes, "IS_LINUX", False)
    monkeypatch.setattr(processes, "IS_WINDOWS", False)
    assert processes.tree_memory(os.getpid()) == 0
