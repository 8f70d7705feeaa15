"""The session: settings, boards, colours, and what it asks of the engine."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from time import perf_counter

import pytest

from pbrain_engine import Engine, Rule
from pbrain_engine.engine.pacing import Pace, TimePlan
from pbrain_engine.errors import WeightsError
from pbrain_engine.protocol import session
from pbrain_engine.protocol.commands import Command, CommandReader
from pbrain_engine.protocol.searches import Task
from pbrain_engine.protocol.session import Session
from tests.fake_engine import FakeEngine


class Talk:
    """A session with a fake engine, spoken to in text."""

    def __init__(self) -> None:
        self.engines: list[FakeEngine] = []
        self.session = Session(self._make)
        self.reader = CommandReader()

    def _make(self, memory: int) -> FakeEngine:
        self.engines.append(FakeEngine(memory))
        return self.engines[-1]

    @property
    def engine(self) -> FakeEngine:
        return self.engines[-1]

    def say(self, *lines: str) -> list[str]:
        """Send lines, run the searches at once, and return the replies."""
        return self.send("".join(f"{line}\n" for line in lines).encode("latin-1"))

    def send(self, data: bytes, before: Callable[[Task], None] = lambda task: None) -> list[str]:
        """Send bytes; ``before`` gets each search before it is run at once."""
        heard: list[str] = []
        for command in chain.from_iterable(map(self.reader.read, self.reader.lines(data))):
            heard += self.session.handle(command, perf_counter())
            if (task := self.session.task) is not None and not task.answered:
                task.emit = heard.append
                before(task)
                task.run()
                heard += self.session.conclude(task)
        return heard

    def start(self, size: int = 15) -> Talk:
        assert self.say(f"START {size}", "INFO timeout_turn 35") == ["OK"]
        return self


def test_what_is_played_in_need_is_neither_blocked_nor_a_foul():
    with Engine(memory=60_000_000) as engine:
        talk = Talk()
        talk.session = Session(lambda memory: engine)
        fork = ["5,7,1", "0,0,2", "6,7,1", "0,14,2", "7,5,1", "14,0,2", "7,6,1", "14,14,2"]
        talk.say("START 15", "INFO rule 4", "INFO timeout_turn 35", "YXBOARD", *fork, "DONE")
        assert talk.say("YXSHOWFORBID") == ["FORBID 0707."]
        blocked = set()
        for _ in range(4):
            talk.session.handle(Command("YXNBEST", (1,)), perf_counter())
            task = talk.session.task
            assert task is not None and blocked.isdisjoint(task.answer.moves)
            assert task.answer.moves != ((7, 7),)
            blocked.update(task.answer.moves)
            talk.session.task = None
            talk.say(f"YXBLOCK {task.answer.lines[0]} DONE")


def test_a_rule_is_set_up_before_the_clock_of_a_move_runs(monkeypatch):
    talk = Talk().start()
    assert talk.say("INFO rule 4") == [] and talk.engine.game.rule is Rule.RENJU

    def fail(rule: Rule) -> None:
        raise WeightsError("no weights for this rule")

    monkeypatch.setattr(talk.engine, "set_rule", fail)
    assert talk.say("INFO rule 1") == [] and talk.engine.game.rule is Rule.RENJU
    with pytest.raises(WeightsError):
        talk.say("TURN 7,7")


def test_only_news_about_time_winds_the_timer_of_a_search(monkeypatch):
    changed: list[TimePlan] = []
    monkeypatch.setattr(Pace, "change", lambda self, plan: changed.append(plan))

    def tell(task: Task) -> None:
        for line in ("folder /tmp", "timeout_turn 5000", "rule 1", "timeout_turn 900"):
            talk.session.handle(Command("INFO", text=line), perf_counter())
        task.stop()

    talk = Talk().start()
    talk.send(b"INFO timeout_turn 5000\nBEGIN\n", tell)
    assert [round(plan.hard, 1) for plan in changed] == [0.9]


def test_what_is_left_of_a_match_is_so_at_the_moment_at_which_it_is_said(monkeypatch):
    """A clock that is sent each second of a search changes nothing about its time, nor the next."""
    changed: list[TimePlan] = []
    monkeypatch.setattr(Pace, "change", lambda self, plan: changed.append(plan))
    talk = Talk().start()
    talk.say("INFO timeout_turn 10000", "INFO time_left 10000")
    talk.session.handle(Command("BEGIN"), 100.0)
    for seconds in (1.0, 2.0):
        text = f"time_left {10_000 - 1000 * seconds:.0f}"
        talk.session.handle(Command("INFO", text=text), 100.0 + seconds)
    task = talk.session.task
    assert task is not None and changed == []
    monkeypatch.setattr(session.time, "perf_counter", lambda: 103.0)
    talk.session.conclude(task)
    assert talk.session.settings.limits.left == 7000
