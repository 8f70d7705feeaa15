"""Running the checks and telling what they found: a table for people, JSON for programs."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable
from time import perf_counter
from typing import NamedTuple

from . import analysis, faults, judge, managers, tournament  # noqa: F401  (they enter checks)
from .exam import FAIL, PASS, SKIP, WARN, Blemish, Check, Exam, NotSupported, Options, Violation
from .peer import Peer
from .registry import CHECKS, CLIENTS

COLOURS = {FAIL: "\x1b[31m", WARN: "\x1b[33m", SKIP: "\x1b[2m", PASS: "\x1b[32m"}
PLAIN = "\x1b[0m"


class Verdict(NamedTuple):
    """What one check found."""

    check: Check
    grade: str
    finding: str
    seconds: float


def run_check(check: Check, options: Options) -> Verdict:
    """Start the program, examine it, and kill what is left of it.

    Raises:
        OSError: the program cannot be started.
    """
    began = perf_counter()
    grade, finding = PASS, ""
    with Peer(options.command, patience=options.patience) as peer:
        try:
            check.examine(Exam(peer, options))
        except Violation as violation:
            grade, finding = FAIL, str(violation)
        except Blemish as blemish:
            grade, finding = WARN, str(blemish)
        except NotSupported as refusal:
            grade, finding = SKIP, str(refusal)
    return Verdict(check, grade, finding, perf_counter() - began)


def select(clients: Iterable[str]) -> list[Check]:
    """Return the checks of clients whose names contain one of these words; none: all."""
    words = [client.lower() for client in clients]
    found = [c for c in CHECKS if not words or any(word in c.client.lower() for word in words)]
    return sorted(found, key=lambda check: CLIENTS.index(check.client))


def run(
    checks: Iterable[Check], options: Options, on_verdict: Callable[[Verdict], None]
) -> list[Verdict]:
    """Run checks one after the other, telling of each as it is done."""
    verdicts = []
    for check in checks:
        verdicts.append(run_check(check, options))
        on_verdict(verdicts[-1])
    return verdicts


def wants_colour() -> bool:
    """Say whether stdout is a terminal that is allowed colours."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def line(verdict: Verdict, colour: bool) -> str:
    """Return one row of the table, with the reason below it if there is one."""
    grade = f"{verdict.grade:4}"
    if colour:
        grade = COLOURS[verdict.grade] + grade + PLAIN
    row = f"{verdict.check.client:14} {grade}  {verdict.check.title}"
    if verdict.grade == PASS:
        return row
    indent = "\n" + " " * 21
    row += f"{indent}{verdict.finding}"
    if verdict.grade in (FAIL, WARN):
        row += f"{indent}consequence: {verdict.check.harm} (see {verdict.check.source})"
    return row


def summary(verdicts: list[Verdict]) -> str:
    """Return how the program fares with each client."""
    rows = [f"\n{'client':14} {'pass':>5} {'fail':>5} {'warn':>5} {'skip':>5}"]
    for client in dict.fromkeys(v.check.client for v in verdicts):
        grades = [v.grade for v in verdicts if v.check.client == client]
        counts = [grades.count(grade) for grade in (PASS, FAIL, WARN, SKIP)]
        rows.append(f"{client:14} " + " ".join(f"{count:5}" for count in counts))
    grades = [v.grade for v in verdicts]
    total = " ".join(f"{grades.count(grade):5}" for grade in (PASS, FAIL, WARN, SKIP))
    return "\n".join([*rows, f"{'all':14} {total}"])


def as_json(verdicts: list[Verdict], options: Options) -> str:
    """Return everything as one JSON document."""
    grades = [v.grade for v in verdicts]
    return json.dumps(
        {
            "command": options.command,
            "counts": {grade: grades.count(grade) for grade in (PASS, FAIL, WARN, SKIP)},
            "checks": [
                {
                    "client": v.check.client,
                    "title": v.check.title,
                    "grade": v.grade,
                    "finding": v.finding,
                    "harm": v.check.harm,
                    "source": v.check.source,
                    "seconds": round(v.seconds, 3),
                }
                for v in verdicts
            ],
        },
        indent=2,
    )
