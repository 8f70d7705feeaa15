"""The protocol doctor: it passes a sound program, finds faults, and never hangs."""

from __future__ import annotations

import json
import sys
from contextlib import closing, suppress
from pathlib import Path
from time import perf_counter

import psutil
import pytest

from pbrain_engine.arena.process import EngineProcess
from pbrain_engine.doctor import checks
from pbrain_engine.doctor.checks import FAIL, PASS, SKIP
from pbrain_engine.doctor.exam import Options
from tests.build.wine import needs_windows_itself
from tests.golden import dialogues
from tests.programs import PROGRAM

# A small program for each way to be wrong.
BRAINS = {
    "dead": "sys.exit(3)",
    "deaf": "time.sleep(60)",
    "numb": "print('OK', flush=True); time.sleep(60)",  # starts, and reads nothing more
    "noisy": "print('warning', file=sys.stderr, flush=True); print('OK')",
    "pieces": "sys.stdout.write('O'); sys.stdout.flush(); time.sleep(0.25); print('K')",
}


def program(tmp_path: Path, kind: str) -> list[str]:
    path = tmp_path / f"{kind}.py"
    path.write_text(
        f"import sys, time\nfor line in sys.stdin:\n    {BRAINS[kind]}\n    sys.stdout.flush()\n",
        encoding="utf-8",
    )
    return [sys.executable, str(path)]


def grade(program: list[str], title: str, patience: float = 0.4) -> str:
    (check,) = [check for check in checks.select([]) if title in check.title]
    return checks.run_check(check, Options(program, turn=0.05, patience=patience)).grade


@pytest.mark.skipif(sys.platform == "win32", reason="other checks are made there")
def test_all_dialogues_and_what_is_said_of_faults_are_as_recorded():
    dialogues.dialogues.check()


CLIENTS = ["Piskvork 9", "Yixin", "c-gomoku"]


@pytest.mark.parametrize(
    "clients", [CLIENTS, pytest.param(["any", "judge"], marks=pytest.mark.long)]
)
def test_our_own_program_has_no_violation(clients, capsys):
    chosen = [word for client in clients for word in ("--client", client)]
    status = checks.main(["--json", "--turn", "0.1", *chosen, "--", *PROGRAM])
    report = json.loads(capsys.readouterr().out)
    assert [c for c in report["checks"] if c["grade"] not in (PASS, SKIP)] == []
    assert status == 0


@pytest.mark.timed
def test_a_check_of_a_program_that_reads_nothing_more_fails_in_time(tmp_path):
    options = Options(program(tmp_path, "numb"), turn=0.05, patience=0.4)
    (million,) = [c for c in checks.select(["any"]) if "million" in c.title]
    found = checks.run_check(million, options)
    assert found.grade == FAIL and found.finding == "no answer within 0.4 s"
    assert found.seconds < 5


@pytest.mark.timed
@pytest.mark.parametrize(
    "kind, title",
    [("noisy", "writes nothing to stderr"), ("pieces", "writes each line in one piece"),
     ("dead", "writes each line in one piece"), ("deaf", "in one burst")],
)  # fmt: skip
def test_a_violation_is_found_in_time(tmp_path, kind, title):
    began = perf_counter()
    assert grade(program(tmp_path, kind), title) == FAIL
    assert perf_counter() - began < 10


@needs_windows_itself
def test_children_of_a_program_die_with_it(tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(
        "import subprocess, sys, time\n"
        "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "print(p.pid, flush=True)\ntime.sleep(60)\n",
        encoding="utf-8",
    )
    with closing(EngineProcess([sys.executable, str(script)])) as peer:
        line = peer.line(30.0)
        child = int(line.text)
    began = perf_counter()
    with suppress(psutil.NoSuchProcess):
        while psutil.Process(child).status() != psutil.STATUS_ZOMBIE:
            assert perf_counter() - began < 30
