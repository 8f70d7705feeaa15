"""The server of the site without a browser: threads are calls, and a host carries the messages."""

from __future__ import annotations

import io
import json
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest

from pbrain_engine.native.load.library import Library
from pbrain_engine.site import worker
from tests.board.board_server import position


class Page:
    """The host of a page that hears nothing while Python runs."""

    hears = pauses = False

    def __init__(self, *messages: dict[str, Any]) -> None:
        self.messages = [json.dumps(message) for message in messages]
        self.heard: list[dict[str, Any]] = []

    def post(self, text: str) -> None:
        self.heard.append(json.loads(text))

    def take(self) -> str | None:
        return self.messages.pop(0) if self.messages else None

    def pause(self) -> object:
        raise AssertionError("it cannot wait")


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let what the worker sets in its process be as before in the end."""
    for name in ("Thread", "Timer", "stack_size"):
        monkeypatch.setattr(threading, name, getattr(threading, name))
    monkeypatch.setattr(Library, "listen", lambda self, listener: None)
    monkeypatch.setattr(worker, "STORE", tmp_path)
    monkeypatch.setattr(worker.Alarm, "waiting", [])


@pytest.mark.parametrize("gap", [0.0, 1e9])
def test_messages_are_answered_in_turn_and_events_keep_a_gap(
    gap: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "EVENT_GAP", gap)
    limits = {"position": position("h8i9"), "depth": 2, "memory": 20}
    host = Page(
        {"do": "look", "id": 1, "position": position("h8")},
        {"do": "analyse", "id": 2, **limits},
        {"do": "fly", "id": 3},
        {"do": "known", "id": 4, "position": position("h8i9")},
    )
    page = worker.start(host)
    page.serve()
    events = [(2, "event")] * (2 if gap == 0 else 0)
    told = [(message["id"], next(iter({*message} - {"id"}))) for message in host.heard]
    assert told == [(1, "result"), *events, (2, "result"), (3, "error"), (4, "result")]
    assert host.heard[-1]["result"]["depth"] == host.heard[-3]["result"]["depth"] == 2
    assert [alarm.due > 0 for alarm in worker.Alarm.waiting] == [True]  # for a rest of the desk
    monkeypatch.setattr(worker, "EVENT_GAP", 0.0)
    assert page._breathe() == 0 and len(host.heard) == len(told)  # no event of what has ended
    page.desk.close()
    page.desk.archive.close()
    assert worker.Alarm.waiting == []


def test_a_search_without_end_ends_where_nothing_can_interrupt_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = worker.start(Page())
    taken: list[Any] = []
    monkeypatch.setattr(worker.Questions, "begin", lambda self, *words: taken.append(words))
    page.begin(1, {"do": "analyse"})
    page.begin(2, {"do": "analyse", "time": 9})
    page.begin(3, {"do": "look"})
    assert taken == [
        (1, {"do": "analyse", "time": worker.DEAF_SLICE}),
        (2, {"do": "analyse", "time": 9}),
        (3, {"do": "look"}),
    ]
    page.desk.archive.close()


def test_alarms_ring_once_when_their_time_has_come() -> None:
    rung: list[Any] = []
    now, later, never = (
        worker.Alarm(seconds, lambda *a, **k: rung.append((a, k)), (seconds,), {"key": 1})
        for seconds in (0.0, 1e9, 0.0)
    )
    for alarm in (now, later, never):
        alarm.start()
    never.cancel()
    worker.Alarm.ring_due()
    worker.Alarm.ring_due()
    assert rung == [((0.0,), {"key": 1})] and worker.Alarm.waiting == [later]


def test_what_is_kept_can_be_packed_and_put_back(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(b"one")
    (tmp_path / "a.db-wal").write_bytes(b"two")
    (tmp_path / "other").write_bytes(b"stays")
    packed = worker.pack('{"theme": "dark"}')
    (tmp_path / "a.db").write_bytes(b"changed")
    (tmp_path / "b.db").write_bytes(b"new")
    assert worker.unpack(packed) == '{"theme": "dark"}'
    names = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert names == {"a.db": b"one", "a.db-wal": b"two", "other": b"stays"}
    outside = io.BytesIO()
    with zipfile.ZipFile(outside, "w") as archive:
        archive.writestr(worker.SETTINGS, "{}")
        archive.writestr("../a.db", "")
    for wrong in (b"", b"no archive", worker.pack("no JSON"), outside.getvalue()):
        with pytest.raises(ValueError, match="was not saved by this page"):
            worker.unpack(wrong)
