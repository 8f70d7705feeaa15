"""``numoku check``: an examination of any pbrain, client by client and fault by fault.

Each check starts the program, holds one dialogue as a client does (or does what goes wrong in
practice), and says what the client would do and where that is written. A program that hangs is
killed with all it has started.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from contextlib import closing
from time import perf_counter
from typing import NamedTuple

from ..arena.referee import EngineFault
from ..errors import SettingsError, problem_of
from ..options import SHARED, CommandLine, Option, above_zero, split_command
from .checks import CHECKS, Check
from .exam import FAIL, GRADES, PASS, SKIP, WARN, Exam, Options

COLOURS = {FAIL: "\x1b[31m", WARN: "\x1b[33m", SKIP: "\x1b[2m", PASS: "\x1b[32m"}
PLAIN = "\x1b[0m"


class CheckResult(NamedTuple):
    """What one check found."""

    check: Check
    grade: str
    finding: str
    seconds: float

    def row(self, colour: bool) -> str:
        """Return one row of the table, with the reason below it if there is one."""
        check, grade = self.check, f"{self.grade:4}"
        if colour:
            grade = COLOURS[self.grade] + grade + PLAIN
        lines = [f"{check.client:14} {grade}  {check.title}"]
        if self.grade != PASS:
            lines.append(self.finding)
        if self.grade in (FAIL, WARN):
            lines.append(f"consequence: {check.harm} (see {check.source})")
        return ("\n" + " " * 21).join(lines)

    def entry(self) -> dict[str, object]:
        """Return the check and what it found as the JSON document has them."""
        check = self.check
        return {
            "client": check.client, "title": check.title, "grade": self.grade,
            "finding": self.finding, "harm": check.harm, "source": check.source,
            "seconds": round(self.seconds, 3),
        }  # fmt: skip


def run_check(check: Check, options: Options) -> CheckResult:
    """Start the program, examine it, kill what is left of it; OSError if it cannot be started."""
    began = perf_counter()
    with closing(Exam(options)) as exam:
        try:
            exam.hold(check.dialogue)
            grade, finding = WARN if exam.blemish else PASS, exam.blemish
        except EngineFault as fault:
            grade, finding = fault.cause, fault.detail
    return CheckResult(check, grade, finding, perf_counter() - began)


def select(clients: Iterable[str]) -> list[Check]:
    """Return the checks of clients whose names contain one of these words; none: all."""
    words = [client.lower() for client in clients]
    return [c for c in CHECKS if not words or any(word in c.client.lower() for word in words)]


def counts(verdicts: Iterable[CheckResult]) -> dict[str, int]:
    """Return how often each grade was given."""
    grades = [v.grade for v in verdicts]
    return {grade: grades.count(grade) for grade in GRADES}


def summary(verdicts: list[CheckResult]) -> str:
    """Return how the program fares with each client."""
    rows = [f"\n{'client':14} " + " ".join(f"{grade:>5}" for grade in GRADES)]
    for client in [*dict.fromkeys(v.check.client for v in verdicts), "all"]:
        found = counts(v for v in verdicts if client in (v.check.client, "all"))
        rows.append(f"{client:14} " + " ".join(f"{count:5}" for count in found.values()))
    return "\n".join(rows)


COMMAND = CommandLine(
    "numoku check",
    "Take a pbrain through the dialogues of its clients and through faults.",
    (
        Option("command", about="the program and its arguments", more={"nargs": "*"}),
        Option("--client", str, [], "WORD", "only checks of this client (piskvork, any, ...)",
               {"action": "append"}),
        SHARED["size"]._replace(default="15", about="board size, at least 11"),
        SHARED["turn"]._replace(kind=above_zero, default=0.3),
        Option("--patience", above_zero, 5.0, "S", "seconds until silence counts as a failure"),
        Option("--verbose", None, False, None, "list passed checks too"),
        "json",
    ),
    "A command with options of its own is quoted, or comes last after --. "
    "Exit status: 0 no violation, 1 violations, 2 the program cannot be started.",
)  # fmt: skip


def main(argv: list[str] | None = None) -> int:
    """Examine a program; 0: no violation, 1: some, 2: it cannot be examined."""
    parser = COMMAND.parser()
    arguments = parser.parse_args(argv)
    if min(arguments.size) < 11 or len(set(arguments.size)) > 1:
        parser.error("the dialogues need a square board of at least 11")
    command = arguments.command
    if len(command) == 1:
        try:
            command = split_command(command[0])
        except ValueError as error:
            parser.error(str(error))
    if not command:
        parser.error("which program?")
    options = Options(command, arguments.size[0], arguments.turn, arguments.patience)
    checks = select(arguments.client)
    if not checks:
        parser.error(f"no such client: {', '.join(arguments.client)}")
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    verdicts = []
    for each in checks:
        try:
            found = run_check(each, options)
        except BrokenPipeError:  # the reader has left
            raise
        except OSError as error:
            raise SettingsError(problem_of(error)) from None
        verdicts.append(found)
        if not arguments.json and (arguments.verbose or found.grade != PASS):
            print(found.row(colour), flush=True)
    if arguments.json:
        entries = [found.entry() for found in verdicts]
        document = {"command": command, "counts": counts(verdicts), "checks": entries}
        print(json.dumps(document, indent=2))
    else:
        print(summary(verdicts))
    return int(any(found.grade == FAIL for found in verdicts))
