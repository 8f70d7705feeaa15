"""What the server answers is what was recorded, whole: ``python -m tests.golden.board``."""

from __future__ import annotations

from tests.golden import board


def test_every_operation_answers_as_recorded() -> None:
    recorded = board.FILE.read_text(encoding="utf-8")
    assert board.conversations(recorded) == recorded


def test_every_request_is_answered_as_recorded() -> None:
    recorded = board.REQUESTED.read_text(encoding="utf-8")
    assert board.requests(recorded) == recorded
