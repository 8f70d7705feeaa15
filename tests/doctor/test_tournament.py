"""What the doctor knows of tournaments in Piskvork."""

from __future__ import annotations

import sys

import pytest

from pbrain_engine.doctor import command as doctor
from pbrain_engine.doctor import managers
from pbrain_engine.doctor.exam import CHECKS, FAIL, PASS, SKIP, Check, Options

OWN = [sys.executable, "-m", "pbrain_engine"]
PAUSE, OFFER, LAST_ANSWER = "goes on after a pause", "names 20 where", "was asked before END"


def grade(title: str, command: list[str]) -> str:
    (check,) = [check for check in CHECKS if title in check.title]
    return doctor.run_check(check, Options(command, turn=0.05, patience=30.0)).grade


@pytest.mark.parametrize("title", [PAUSE, OFFER, LAST_ANSWER])
def test_our_own_program_does_what_a_tournament_needs(title: str) -> None:
    assert grade(title, OWN) == PASS


def test_the_name_of_the_file_counts_on_windows() -> None:
    def graded(name: str) -> str:
        check = Check("", "", "", "", managers._piskvork_name)
        try:
            check.examine(_Named(name))  # type: ignore[arg-type]
        except managers.Violation:
            return FAIL
        except managers.NotSupported:
            return SKIP
        return PASS

    assert graded("C:/games/pbrain-numoku64.exe") == PASS
    assert graded("C:/games/numoku.exe") == FAIL
    assert graded("/usr/bin/python3") == SKIP


class _Named:
    def __init__(self, name: str) -> None:
        self.options = Options([name])


@pytest.mark.skipif(sys.platform != "win32", reason="no other system counts a working set")
def test_the_working_set_of_our_own_program_stays_within_the_limit() -> None:
    assert grade("peak working set", OWN) == PASS
