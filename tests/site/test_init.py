"""The server of the site without a browser: threads are calls, and a host carries the messages."""

from __future__ import annotations

import io
import json
import sys
import threading
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pbrain_engine import site, threads
from pbrain_engine.native.load.library import Library
from tests.build.building import website
from tests.played import position
from tests.test_layers import dotted, imports, modules, own_imports


class Page:
    """The host of a page that hears nothing while Python runs."""

    hears = pauses = False

    def __init__(self, *messages: dict[str, Any]) -> None:
        self.messages = [json.dumps(message) for message in messages]
        self.heard: list[dict[str, Any]] = []
        self.paused: list[object] = []

    def post(self, text: str) -> None:
        self.heard.append(json.loads(text))

    def take(self) -> str | None:
        return self.messages.pop(0) if self.messages else None

    def pause(self) -> object:
        return "paused"


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let what the site sets in its process be as before in the end."""
    for name in ("Thread", "Timer", "stack_size"):
        monkeypatch.setattr(threading, name, getattr(threading, name))
    # what a thread notes of its stack is noted of the main one where threads are calls
    monkeypatch.setattr(threads, "_here", threading.local())
    monkeypatch.setattr(Library, "listen", lambda self, listener: None)
    monkeypatch.setattr(site, "STORE", tmp_path)
    monkeypatch.setattr(site.Alarm, "waiting", [])


@pytest.mark.parametrize("gap", [0.0, 1e9])
def test_messages_are_answered_in_turn_and_events_keep_a_gap(
    gap: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "EVENT_GAP", gap)
    bench = {"nps": 1, "pairs": 2, "time": 3, "level": 4, "kernel": 5, "weights": 6}
    said = json.dumps({**bench, "nodes": 7, "more": 8})
    monkeypatch.setattr("pbrain_engine.commands.bench.main", lambda words: print(said, *words[1:]))
    limits = {"position": position("h8i9"), "depth": 2, "memory": 20}
    host = Page(
        {"do": "look", "id": 1, "position": position("h8")},
        {"do": "analyse", "id": 2, **limits},
        {"do": "fly", "id": 3},
        {"do": "selftest", "id": 5},
        {"do": "known", "id": 4, "position": position("h8i9")},
    )
    page = site.start(host)
    page.serve()
    events = [(2, "event")] * (2 if gap == 0 else 0)
    replies = [(message["id"], next(iter({*message} - {"id"}))) for message in host.heard]
    assert replies == [
        (1, "result"), *events, (2, "result"), (3, "error"), (5, "result"), (4, "result")
    ]  # fmt: skip
    assert host.heard[-1]["result"]["depth"] == host.heard[-4]["result"]["depth"] == 2
    assert host.heard[-2]["result"] == {**bench, "signature": 7}
    assert {"database.db", "games.db"} <= {path.name for path in site.STORE.iterdir()}
    assert [alarm.due > 0 for alarm in site.Alarm.waiting] == [True]  # for a rest of the desk
    monkeypatch.setattr(site, "EVENT_GAP", 0.0)
    assert page._poll() == 0 and len(host.heard) == len(replies)  # no event of what has ended
    page.close()
    page.archive.close()
    assert site.Alarm.waiting == []


def test_a_search_without_end_ends_where_nothing_can_interrupt_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = site.start(Page())
    taken: list[Any] = []
    monkeypatch.setattr(site.Desk, "begin", lambda self, *words: taken.append(words))
    page.begin(1, {"do": "analyse"})
    page.begin(2, {"do": "analyse", "time": 9})
    page.begin(3, {"do": "look"})
    assert taken == [
        (1, {"do": "analyse", "time": site.DEAF_SLICE}),
        (2, {"do": "analyse", "time": 9}),
        (3, {"do": "look"}),
    ]
    page.archive.close()


class Kernels:
    """Searches that ask after every 0.02 seconds whether they are to return."""

    now = 0.0

    def listen(self, listener: Any) -> None:
        self.listener, self.begun = listener, list[int]()

    def is_cut(self) -> bool:
        self.now += 0.02
        return bool(self.listener())

    def __getattr__(self, name: str) -> Any:
        def search(steps: int) -> int:  # keeps nothing, and begins again
            self.begun.append(steps)
            return -1 if any(self.is_cut() for _ in range(steps)) else steps

        if name not in site.SLICED:
            raise AttributeError(name)
        return search


def test_searches_are_cut_into_slices_between_which_messages_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernels, host = Kernels(), Page()
    monkeypatch.setattr(site, "native", SimpleNamespace(load=lambda: kernels))
    monkeypatch.setattr(site, "perf_counter", lambda: kernels.now)
    monkeypatch.setitem(sys.modules, "pyodide.ffi", SimpleNamespace(run_sync=host.paused.append))
    host.pauses = True
    page = site.start(host)
    page.take('{"do": "fly"}')
    host.messages = ['{"do": "fly", "id": 1}']
    assert kernels.threats_rescues(5) == 5
    assert kernels.begun == [5, 5, 5] and len(host.paused) == 2  # each slice is longer
    kernels.now += 1  # in which something else was done
    assert kernels.worker_iterate(2) == 2
    assert kernels.begun == [5, 5, 5, 2] and len(host.paused) == 3
    page.archive.close()


def test_alarms_ring_once_when_their_time_has_come() -> None:
    rung: list[Any] = []
    now, later, never = (
        site.Alarm(seconds, lambda: rung.append(len(rung))) for seconds in (0.0, 1e9, 0.0)
    )
    for alarm in (now, later, never):
        alarm.start()
    never.cancel()
    site.Alarm.ring_due()
    site.Alarm.ring_due()
    assert rung == [0] and site.Alarm.waiting == [later]


def test_what_is_kept_can_be_packed_and_put_back(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(b"one")
    (tmp_path / "a.db-wal").write_bytes(b"two")
    (tmp_path / "other").write_bytes(b"stays")
    packed = site.pack('{"theme": "dark"}')
    (tmp_path / "a.db").write_bytes(b"changed")
    (tmp_path / "b.db").write_bytes(b"new")
    assert site.unpack(packed) == '{"theme": "dark"}'
    names = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert names == {"a.db": b"one", "a.db-wal": b"two", "other": b"stays"}
    outside = io.BytesIO()
    with zipfile.ZipFile(outside, "w") as archive:
        archive.writestr(site.SETTINGS, "{}")
        archive.writestr("../a.db", "")
    for wrong in (b"", b"no archive", site.pack("not JSON"), outside.getvalue()):
        with pytest.raises(ValueError, match="was not saved by this page"):
            site.unpack(wrong)


def test_what_runs_in_slices_is_what_the_kernel_has() -> None:
    assert set(site.SLICED) <= set(site.native.load().exports)


def test_what_the_engine_imports_is_left_out_of_no_archive() -> None:
    paths = {dotted(path): path for path in modules()}
    seen, new = set[str](), {"pbrain_engine.site"}
    while new:
        seen |= new
        new = {other for name in new for other in own_imports(paths[name])} - seen
    left_out = (*website.NOT_IN_PYTHON, *website.NOT_IN_ENGINE)
    needed = {other.replace(".", "/") for name in seen for other in imports(paths[name])}
    assert [name for name in sorted(needed) if name.startswith(left_out)] == []
