"""What commands say and take is what was recorded: ``python -m tests.golden.commands``."""

from __future__ import annotations

import pytest

from tests.golden import commands


def test_what_commands_say_is_as_recorded():
    commands.transcript.check()


def test_what_commands_take_is_as_recorded():
    for needed in ("numpy", "starlette", "llvmlite"):
        pytest.importorskip(needed)
    commands.options.check()
