"""What the server answers is what was recorded, whole: ``python -m tests.golden.board``."""

from __future__ import annotations

from typing import Any

import pytest

from pbrain_engine.board import desk
from pbrain_engine.board.desk import Archive
from tests.golden import board


def test_every_operation_answers_as_recorded() -> None:
    board.conversations.check()


def test_every_request_is_answered_as_recorded() -> None:
    board.requests.check()


def test_a_question_whose_thread_does_not_start_is_out_of_the_way_of_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(works: Any) -> Any:
        raise MemoryError("can't start new thread")

    answers: list[Any] = []
    one, start = desk.Desk(desk.Desks(1, Archive()), answers.append), desk.start_deep
    for threads in (fail, start):
        monkeypatch.setattr(desk, "start_deep", threads)
        one.take('{"do":"review","position":{"width":15,"height":15,"rule":"renju","moves":[]}}')
    one.close()
    assert [answer["code"] for answer in answers] == ["memory", "no-moves"]
