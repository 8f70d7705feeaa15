"""``numoku check``: an examination of any pbrain, client by client and fault by fault.

Each check starts the program afresh, holds one dialogue as one client holds it (or does to
it what goes wrong in practice), and says what would happen to it there and where the rule
is from. A dead or deaf program is killed with all it has started; the doctor never hangs.
"""

from __future__ import annotations

import sys

from ..protocol.commandline import split_command

USAGE_ERROR = 2


def main(argv: list[str] | None = None) -> int:
    """Examine a program; 0: no violation, 1: some, 2: it cannot be examined."""
    from ..options import Parser, above_zero, problem_of
    from . import verdict
    from .exam import FAIL, PASS, Options

    parser = Parser(
        prog="numoku check",
        description="Take a pbrain through the dialogues of its clients and through faults.",
        epilog="A command with options of its own is quoted, or comes last after --. "
        "Exit status: 0 no violation, 1 violations, 2 the program cannot be started.",
    )
    parser.add_argument("command", nargs="*", help="the program and its arguments")
    parser.add_argument("--client", action="append", default=[], metavar="WORD",
                        help="only checks of this client (piskvork, any, ...)")  # fmt: skip
    parser.add_argument("--size", type=int, default=15, help="board size (default 15)")
    parser.add_argument("--turn", type=above_zero, default=0.3, metavar="S", help="seconds a move")
    parser.add_argument("--patience", type=above_zero, default=5.0, metavar="S",
                        help="seconds until silence counts as a failure")  # fmt: skip
    parser.add_argument("--verbose", action="store_true", help="list passed checks too")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    words = list(sys.argv[1:] if argv is None else argv)
    split = words.index("--") if "--" in words else len(words)
    arguments, foreign = parser.parse_known_args(words[:split])
    if foreign:
        parser.error(f"{foreign[0]} is no option of the doctor; put the command after --")
    if arguments.size < 11:
        parser.error("the dialogues need a board of at least 11")
    command = [*arguments.command, *words[split + 1 :]]
    if len(command) == 1:
        try:
            command = split_command(command[0])
        except ValueError as error:
            parser.error(str(error))
    if not command:
        parser.error("which program?")
    options = Options(command, arguments.size, arguments.turn, arguments.patience)
    checks = verdict.select(arguments.client)
    if not checks:
        parser.error(f"no such client: {', '.join(arguments.client)}")
    colour = verdict.wants_colour()

    def show(found: verdict.Verdict) -> None:
        if not arguments.json and (arguments.verbose or found.grade != PASS):
            print(verdict.line(found, colour), flush=True)

    try:
        verdicts = verdict.run(checks, options, show)
    except OSError as error:
        print(f"numoku check: {problem_of(error)}", file=sys.stderr)
        return USAGE_ERROR
    print(verdict.as_json(verdicts, options) if arguments.json else verdict.summary(verdicts))
    return int(any(found.grade == FAIL for found in verdicts))
