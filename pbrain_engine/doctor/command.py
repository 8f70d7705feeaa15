"""``numoku check``: tests of any pbrain against the dialogues of its clients and common faults.

Each check starts the program, holds one dialogue as a client would (or provokes a fault seen in
practice), and reports the consequence in that client and where it is documented. A program that
hangs is killed with all processes it has started.
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
from ..arena.standings import table
from ..errors import SettingsError, problem_of
from ..options import SHARED, CommandLine, Option, above_zero, split_command
from .checks import CHECKS, Check
from .exam import FAIL, GRADES, PASS, SKIP, WARN, Exam, Options

COLOURS = {FAIL: "\x1b[31m", WARN: "\x1b[33m", SKIP: "\x1b[2m", PASS: "\x1b[32m"}
PLAIN = "\x1b[0m"


class CheckResult(NamedTuple):
    """The result of one check."""

    check: Check
    grade: str
    finding: str
    seconds: float

    def row(self, colour: bool) -> str:
        """Return a row of the table, with the finding below if the check did not pass."""
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
        """Return the check and its result as an object for JSON."""
        check = self.check
        return {
            "client": check.client, "title": check.title, "grade": self.grade,
            "finding": self.finding, "harm": check.harm, "source": check.source,
            "seconds": round(self.seconds, 3),
        }  # fmt: skip


def run_check(check: Check, options: Options) -> CheckResult:
    """Start the program, run the check, kill the program; OSError if it cannot be started."""
    began = perf_counter()
    with closing(Exam(options)) as exam:
        try:
            exam.hold(check.dialogue)
            grade, finding = WARN if exam.blemish else PASS, exam.blemish
        except EngineFault as fault:
            grade, finding = fault.cause, fault.detail
    return CheckResult(check, grade, finding, perf_counter() - began)


def select(clients: Iterable[str]) -> list[Check]:
    """Return the checks of clients whose names contain one of the words; all without words."""
    words = [client.lower() for client in clients]
    return [c for c in CHECKS if not words or any(word in c.client.lower() for word in words)]


def counts(verdicts: Iterable[CheckResult]) -> dict[str, int]:
    """Return the number of results of each grade."""
    grades = [v.grade for v in verdicts]
    return {grade: grades.count(grade) for grade in GRADES}


def summary(verdicts: list[CheckResult]) -> str:
    """Return a table of grades per client."""
    rows = [["client", *GRADES]]
    for client in [*dict.fromkeys(v.check.client for v in verdicts), "all"]:
        found = counts(v for v in verdicts if client in (v.check.client, "all"))
        rows.append([client, *map(str, found.values())])
    return "\n".join(["", *table(rows)])


COMMAND = CommandLine(
    "numoku check",
    "Test a pbrain with the dialogues of its clients and with faults.",
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
    "Quote a command that has options of its own, or put it last, after --. "
    "Exit status: 0 no violation, 1 violations, 2 the program cannot be started.",
)  # fmt: skip


def main(argv: list[str] | None = None) -> int:
    """Test a program; return 0 without violations, else 1; exit with 2 if it cannot be tested."""
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
        except BrokenPipeError:  # stdout was closed
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
