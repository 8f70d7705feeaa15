"""What the doctor knows of tournaments in Piskvork."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pbrain_engine.doctor import tournament, verdict
from pbrain_engine.doctor.exam import FAIL, PASS, SKIP, WARN, Check, Options
from pbrain_engine.doctor.registry import CHECKS

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


def grade(examine: object, command: list[str]) -> str:
    (check,) = [check for check in CHECKS if check.examine is examine]
    return verdict.run_check(check, Options(command, turn=0.05, patience=30.0)).grade


@pytest.fixture
def brain(tmp_path: Path, request: pytest.FixtureRequest) -> list[str]:
    path = tmp_path / "brain.py"
    path.write_text(BRAIN.format(kind=request.param), encoding="ascii")
    return [sys.executable, str(path)]


@pytest.mark.parametrize(
    "examine", [tournament.piskvork_pause, tournament.piskvork_offer, tournament.end_waits]
)
def test_our_own_program_does_what_a_tournament_needs(examine: object) -> None:
    assert grade(examine, OWN) == PASS


@pytest.mark.parametrize(
    "brain, examine, expected",
    [
        ("sound", tournament.piskvork_pause, PASS),
        ("stays", tournament.piskvork_pause, FAIL),
        ("forgetful", tournament.piskvork_pause, FAIL),
        ("sound", tournament.piskvork_offer, PASS),
        ("terse", tournament.piskvork_offer, WARN),
        ("sound", tournament.end_waits, PASS),
        ("hasty", tournament.end_waits, WARN),
    ],
    indirect=["brain"],
)
def test_one_fault_is_seen_by_its_check(brain: list[str], examine: object, expected: str) -> None:
    assert grade(examine, brain) == expected


def test_the_name_of_the_file_counts_on_windows() -> None:
    def graded(name: str) -> str:
        check = Check("", "", "", "", tournament.piskvork_name)
        try:
            check.examine(_Named(name))  # type: ignore[arg-type]
        except tournament.Violation:
            return FAIL
        except tournament.NotSupported:
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
    assert grade(tournament.piskvork_memory, OWN) == PASS
