"""A home of its own for each test, and lines that a person types."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Typed = Callable[[str], list[str]]


@pytest.fixture(autouse=True)
def _at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Typed:
    """Type lines; return the prompts shown, in a growing list."""

    def type_lines(lines: str) -> list[str]:
        prompts: list[str] = []
        left = iter(lines.split("; "))

        def read(prompt: str) -> str:
            prompts.append(prompt)
            return next(left)

        monkeypatch.setattr("builtins.input", read)
        return prompts

    return type_lines
