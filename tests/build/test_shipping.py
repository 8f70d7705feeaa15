"""Programs run by the build."""

from __future__ import annotations

import sys

import pytest

from pbrain_engine.errors import BuildError
from tests.build.building import shipping


def test_a_failure_names_the_command_and_what_it_said():
    command = [sys.executable, "-c", "raise SystemExit('no disk')"]
    with pytest.raises(BuildError, match=r"-c 'raise .* failed\nno disk$"):
        shipping.run(command)
