"""What the doctor knows of tournaments in Piskvork."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pbrain_engine.doctor import command as doctor
from pbrain_engine.doctor import managers
from pbrain_engine.doctor.exam import CHECKS, FAIL, PASS, SKIP, WARN, Check, Options

OWN = [sys.executable, "-m", "pbrain_engine"]
# Answers are right but for one thing each; `answer` is called with every line.
BRAIN = """
import sys, time
taken = set()
def move():
    cell = next(c for c in ("%d,%d" % (x, 1) for x in range(15)) if c not in taken)
    taken.add(cell)
    return cell
for line in sys.stdin:
    word = line.split()[0] if line.split() else ""
    taken.add(",".join(word.split(",")[:2]))
    if word == "END":
        time.sleep(60 if "{kind}" == "stays" else 0)
        break
    elif word == "START" and "1000" in line:
        print("ERROR too large" if "{kind}" == "terse" else "ERROR up to 20")
    elif word == "START":
        print("OK")
    elif word == "BEGIN" and "{kind}" == "hasty":
        break
    elif word == "BOARD" and "{kind}" == "forgetful":
        print("ERROR no such command")
    elif word in ("TURN", "DONE", "BEGIN"):
        print(move())
    sys.stdout.flush()
"""


PAUSE, OFFER, LAST_ANSWER = "goes on after a pause", "names 20 where", "was asked before END"


def grade(title: str, command: list[str]) -> str:
    (check,) = [check for check in CHECKS if title in check.title]
    return doctor.run_check(check, Options(command, turn=0.05, patience=30.0)).grade


@pytest.fixture
def brain(tmp_path: Path, request: pytest.FixtureRequest) -> list[str]:
    path = tmp_path / "brain.py"
    path.write_text(BRAIN.format(kind=request.param), encoding="ascii")
    return [sys.executable, str(path)]


@pytest.mark.parametrize("title", [PAUSE, OFFER, LAST_ANSWER])
def test_our_own_program_does_what_a_tournament_needs(title: str) -> None:
    assert grade(title, OWN) == PASS


@pytest.mark.parametrize(
    "brain, title, expected",
    [
        ("sound", PAUSE, PASS),
        ("stays", PAUSE, FAIL),
        ("forgetful", PAUSE, FAIL),
        ("sound", OFFER, PASS),
        ("terse", OFFER, WARN),
        ("sound", LAST_ANSWER, PASS),
        ("hasty", LAST_ANSWER, WARN),
    ],
    indirect=["brain"],
)
def test_one_fault_is_seen_by_its_check(brain: list[str], title: str, expected: str) -> None:
    assert grade(title, brain) == expected


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
