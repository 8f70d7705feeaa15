"""Files and texts of others."""

from __future__ import annotations

from pbrain_engine.files import shown


def test_what_others_say_is_shown_safely() -> None:
    assert shown("\x1b[31mred") == "?[31mred"
    assert shown("x" * 60) == "x" * 60 and shown("x" * 61) == "x" * 57 + "..."
