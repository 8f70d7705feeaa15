"""What the server answers is what was recorded, whole: ``python -m tests.golden.board``."""

from __future__ import annotations

from typing import Any

import pytest

from pbrain_engine.board import desk
from pbrain_engine.errors import Refused
from tests.golden import board


def test_every_operation_answers_as_recorded() -> None:
    board.conversations.check()


def test_every_request_is_answered_as_recorded() -> None:
    board.requests.check()


@pytest.mark.parametrize("name", [float("inf"), float("-inf"), [1], {}])
def test_a_question_has_a_name_that_json_can_repeat(name: Any) -> None:
    with pytest.raises(Refused, match="the id is neither a number nor a text"):
        desk.scalar({"id": name}, "id")
