"""What the server answers is what was recorded, whole: ``python -m tests.golden.board``."""

from __future__ import annotations

from tests.golden import board, texts


def test_every_operation_answers_as_recorded() -> None:
    recorded = texts.read(board.FILE)
    assert board.conversations(recorded) == recorded


def test_every_request_is_answered_as_recorded() -> None:
    recorded = texts.read(board.REQUESTED)
    assert board.requests(recorded) == recorded
