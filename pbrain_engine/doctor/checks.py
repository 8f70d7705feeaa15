"""``numoku check``: dialogues that clients need from a program, and faults that it must survive.

Each check starts the program, holds one dialogue as a client would (or provokes a fault seen in
practice), and reports the consequence in that client and where it is documented. A program that
hangs is killed with all processes it has started.

In tournaments, Piskvork does more than play through one game: it reads the peak working set of the
process after each move, pauses a game by END and continues it in a new process, takes the name
from the file, and offers 20x20 if a refusal names it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from contextlib import closing
from time import perf_counter
from typing import NamedTuple

from ..arena.process import EngineFault
from ..arena.standings import table
from ..errors import SettingsError, problem_of
from ..options import SHARED, WINDOWS, CommandLine, Option, above_zero, split_command
from .exam import FAIL, GRADES, PASS, SKIP, WARN, Exam, Options

MEMORY = 100 * 1024 * 1024  # the limit to test; tournaments allow 350 MB

INFOS = """max_memory 83886080|timeout_match 300000|timeout_turn 1000|game_type 0|rule 0|\
time_left 300000|folder C:\\Temp\\psq001|evaluate 3,4|evaluate|nobody_knows 1|rule x|rule 77|\
max_memory 1""".replace("|", "|INFO ")

FORBIDDEN = " ".join(  # black to move; the only empty cell makes six in a row
    f"{x},{y},{1 if (4 <= x <= 9 if y == 7 else (x // 2 + y) % 2 == 0) else 2}"
    for x in range(15)
    for y in range(15)
    if (x, y) != (7, 7)
)


class Check(NamedTuple):
    """A test: which client needs what, the harm of a failure, and where that is documented."""

    client: str
    source: str
    title: str
    harm: str  # what happens in this client otherwise
    dialogue: str  # steps of an exam


# By client and source: title, harm and dialogue of each check.
_TABLE: dict[tuple[str, str], tuple[tuple[str, str, str], ...]] = {
    ("Gomocup judge", "GomocupJudge client/new_protocol.py"): (
        ("plays when START, INFO and BOARD come at once", "time-out in every game",
         ">> START {size}|INFO timeout_turn {turn}|INFO timeout_match 180000"
         "|INFO max_memory 367001600|INFO game_type 1|INFO rule 0|INFO folder /tmp"
         "|INFO time_left 180000|BOARD|DONE; OK; move"),
        ("copes with being suspended", "time-out",
         ">> START {size}|INFO timeout_turn 2000; wait 0.02; suspend; wait 0.5; "
         ">> INFO time_left 100000|BOARD|DONE; resume; OK; move 3; "
         "suspend; turn; wait 0.5; resume; move 3"),
        ("keeps the turn limit", "loss on time",
         "start time_left 100000" + "; turn; move {late}; ~ within {seconds}" * 4),
        ("answers with a negative time_left", "loss on time",
         "start time_left -691; board 7,7,2; move 1; ~ within 0.1"),
        ("keeps a short match limit", "loss on time",
         "start timeout_turn 30000, timeout_match 60000, time_left 700; "
         "board 7,7,2 8,8,1 4,10,2; move 1.7"),
        ("answers SWAP2BOARD at each stage", "loss in the swap2 league",
         "size 15; start rule 1, time_left 100000; ? swap2; swap2 7,7 8,8 10,6; "
         "swap2 7,7 8,8 10,6 9,9 4,4; board 7,7,2; move"),
        ("ends within 0.5 s of END", "killed; helpers are left behind",
         "start; exchange; > END; exit 0.5"),
    ),
    ("Gomocup judge", "GomocupJudge test_zip_rules.py"): (
        *((f"wins when it can ({name})", "entry refused", f"size 15; start rule {rule}, "
           "time_left 100000; game h8 h9 i8 i9 j8 j9 k8 k9; plays g8 l8")
          for rule, name in ((0, "freestyle"), (1, "standard"), (4, "renju"), (8, "caro"))),
        ("knows that six do not win (standard)", "entry refused",
         "size 15; start rule 1, time_left 100000; "
         "game h8 h9 i8 h10 g8 h11 j13 h12 g14 h14 i15; plays f8 j8"),
        ("plays no forbidden move (renju)", "entry refused",
         "size 15; start rule 4, time_left 100000; game h8 h9 i7 i9 h10 i6 i11 i12; avoids g9"),
        *((f"knows closed fives (caro, sent as {rule})", harm,
           f"size 15; start rule {rule}, time_left 100000; "
           "game h8 f8 g8 f9 i8 f7 j8 l8; plays f5 f6 f10 f11")
          for rule, harm in ((8, "entry refused"), (9, "caro league lost"))),
    ),
    ("Piskvork 9", "Piskvork source/protocol.cpp"): (
        ("answers START with exactly OK", "the game does not begin", ">> START {size}; OK"),
        ("writes nothing to stderr", "read as an answer: the game is void",
         "start; exchange; > HELLO|INFO evaluate 3,3; hear 0.2; > END; stderr"),
        ("never answers INFO", "the reply is read as the next answer",
         f"start; > INFO {INFOS}; silence 0.4; > INFO max_memory 83886080; exchange"),
        ("plays at once when the Space key is pressed", "no way to stop it",
         "think; stop INFO timeout_turn 0"),
        ("obeys a new limit while it thinks", "the keys + and - do nothing",
         "think; > INFO timeout_turn 500; move 1.5"),
        ("takes moves back", "slower: RESTART and BOARD instead",
         "start; turn; move; > TAKEBACK {own}; ? OK; > TAKEBACK {other}; OK; stones; exchange"),
        ("restarts", "killed and started again for every game",
         "start; exchange; > RESTART; ? OK; stones; > BEGIN; move"),
        ("answers RECTSTART", "the dialog hangs", "> RECTSTART 15,12; ? OK"),
        ("plays with winning lines blocked", "error in continuous play",
         "start rule 2; board 7,7,2 8,8,1 6,7,2 7,8,3 8,7,3; move"),
        ("refuses a size it cannot play", "the game hangs", "> START 1000; says ^ERROR"),
        ("names 20 where it refuses a size", "the user has to guess a size",
         "> START 1000; ~ says ^ERROR.*20"),
        ("ends when stdin is closed", "left behind when the manager dies",
         "start; close_input; exit 0.7"),
        ("goes on after a pause", "the game cannot be continued",
         "start; exchange; exchange; > END; close_input; exit 0.7; again; move"),
        ("has a file name of the new protocol", "the old file protocol is used", "name pbrain-"),
    ),
    ("Piskvork 9", "Piskvork source/game.cpp"): (  # the last of the moves may win
        ("keeps its peak working set within the limit", "every tournament game lost",
         f"start max_memory {MEMORY}" + f"; exchange; memory {MEMORY}" * 5),
    ) if WINDOWS else (),  # only Windows counts working sets, and the manager runs only there
    ("c-gomoku-cli", "c-gomoku-cli src/engine.cpp"): (
        ("answers ABOUT before START", "the whole run is aborted",
         "> ABOUT; says (?i)name *=; start"),
        ("writes moves as digits and a comma only", "loss on time", "start; > BEGIN; move"),
        ("knows that timeout_match 0 is no limit", "moves without thinking",
         f"start timeout_match 0, time_left {2**31 - 1}; board 7,7,2 8,8,1 4,10,2; "
         "move {late}; ~ uses {some}"),
        ("stops on YXSTOP", "killed after an overrun", "think; stop YXSTOP"),
        ("never suggests a move", "loss on time",
         "start; exchange; exchange; exchange; silence 0.1"),
    ),
    ("c-gomoku-cli", "c-gomoku-cli src/game.cpp"): (
        ("starts a second game in one process", "loss on time",
         "start; > BEGIN; move; start; > BEGIN; move"),
    ),
    ("qpiskvork", "qpiskvork src/manager.cpp"): (
        ("answers START, ABOUT, INFO and BEGIN in one burst", "no move",
         ">> START {size}|ABOUT|INFO timeout_turn {turn}|INFO rule 0|BEGIN; OK; says name; move"),
        ("writes each line in one piece", "half a line is taken for a move",
         "> START {size}|ABOUT; says .; whole; says .; > INFO timeout_turn {turn}|BEGIN; "
         "says .; whole"),
        ("begins lines with known words only", "taken for an error or SWAP",
         "start; exchange; exchange; words OK MESSAGE DEBUG x,y"),
    ),
    ("Yixin-Board", "Yixin-Board main.c"): (
        ("understands lower case and START with two numbers", "no game at all",
         "> info show_detail 1|START {size} {size}; OK; > info timeout_turn {turn}; "
         "> start {size} {size}|board|7,7,2|done; OK; stones h8; move"),
        ("reports its maximum number of threads", "the sliders stay at 1",
         "> yxshowinfo|START {size}; ignore ERROR UNKNOWN; OK; "
         "offers MESSAGE INFO MAX_THREAD_NUM"),
        ("sets a position up in silence", "an unwanted move is played",
         "start; > yxboard|7,7,1|8,8,2|done; ? silence {pause}; goes_on"),
        ("lists forbidden points with a final dot", "the client reads past its buffer",
         "size 15; start rule 4; "
         "> yxboard|7,7,1|0,0,2|8,7,1|0,2,2|9,9,1|0,4,2|9,10,1|0,6,2|done; hear 0.2; "
         "> yxshowforbid; ? says ^FORBID (\\d\\d\\d\\d)*\\.$"),
        ("marks every line that is not a move", "read as a move: the game is over",
         "start show_detail 1; > yxquerydatabaseall|7,7|done|yxhashclear|yxblockreset"
         "|yxblock|3,3|done|yxsetdatabase|my file.db; hear 0.4; "
         "words MESSAGE DEBUG ERROR UNKNOWN DETAIL OK FORBID; goes_on"),
        ("stops on yxstop", "the stop button does nothing", "think; stop yxstop"),
    ),
    ("gomocalc", "gomocalc src/store/modules/ai.js"): (
        ("reads a whole position on one line", "no move",
         "> INFO RULE 0|INFO TIMEOUT_TURN {turn}|INFO CAUTION_FACTOR 1|INFO STRENGTH 100; "
         "> START {size}; OK; > INFO TIME_LEFT 100000|BOARD 7,7,2 8,8,1 6,7,2 DONE; "
         "stones h8 i9 g8; move"),
        ("answers YXNBEST with a move", "no analysis",
         "start; > YXBOARD 7,7,1 8,8,2 DONE; ? silence 0.2; stones h8 i9; > YXNBEST 2; ? move"),
        ("writes INFO lines only when asked", "Piskvork reads them as answers",
         "start; exchange; silence 0.1"),
    ),
    ("any manager", "plastovicka.github.io/protocl2en.htm"): (
        *((f"survives {what}", "one bad line ends the match",
           f"start; > {line}; wait {wait}; rejects; goes_on")
          for what, line, wait in (
              ("an unknown command", "HELLO", 0),
              ("undecodable bytes", "\xff\xfe\x80\x81", 0),
              ("a line of a million characters", "X" * 1_000_000, 0.5),
              ("NUL characters", "A\0B", 0),
              ("TURN with words", "TURN seven,eight", 0),
              ("TURN with a number of 30 digits", f"TURN {'9' * 30},1", 0),
              ("TURN alone", "TURN", 0))),
        ("skips blank lines", "the next answers are out of step",
         "start; > \r||   ; silence 0.2; goes_on"),
        ("refuses a move off the board", "board and program disagree",
         "start; > TURN {size},0; rejects; exchange"),
        ("refuses a move on a stone", "board and program disagree",
         "start; exchange; > TURN {other}; rejects; > TURN {own}; rejects; exchange"),
        ("refuses impossible sizes and keeps its board", "the manager shows no reason",
         "start; > START 0; rejects; > START -1; rejects; > START abc; rejects; "
         "> START 99999999999; rejects; goes_on"),
        ("plays without START", "no game",
         "> BEGIN; says ^(ERROR|UNKNOWN|[0-9]+,[0-9]+$); goes_on"),
        ("answers at once with timeout_turn 0", "loss on time",
         "start timeout_turn 0; board 7,7,2 8,8,1 4,10,2; move 1; ~ within 0.1"),
        ("knows limits of 64 bits", "moves without thinking, or none",
         f"start timeout_match {2**31 - 1}, time_left {2**62}, max_memory {2**40}; "
         "board 7,7,2; move"),
        ("plays in very little memory", "loss by memory",
         "start max_memory 1000000; board 7,7,2 8,8,1; move"),
        ("ends on END while it thinks", "has to be killed", "think; > END; exit 1.0"),
        ("does not write into the folder it is started in", "loss by disk use",
         "start; exchange; ~ files"),
    ),
    ("any manager", "observed in matches"): (
        *((f"plays a BOARD {what}", "loss on time",
           f"start; ignore ERROR UNKNOWN; board {stones}; move")
          for what, stones in (
              ("with a stone twice", "7,7,1 7,7,2 8,8,2"),
              ("with a stone off the board", "7,7,2 99,99,1"),
              ("with too many stones of a side", "7,7,1 8,8,1 9,8,1 2,2,1"),
              ("with an unknown field", "7,7,1 8,8,7 9,9,2"),
              ("that is already won", "0,7,2 1,7,2 2,7,2 3,7,2 4,7,2"))),
        ("survives a full board", "the program hangs", "start; fill 0; rejects; goes_on"),
        ("takes the last empty cell", "the program hangs", "start; fill 1; move"),
        ("answers in renju when all cells are forbidden", "the program hangs",
         f"size 15; start rule 4; board {FORBIDDEN}; says .; goes_on"),
        ("ends when stdin is closed while it thinks", "left behind forever",
         "think; close_input; exit 1.0"),
        *((("is not ended by Ctrl-C in the manager's console", "the game is lost",
            "start; interrupt; wait 0.2; goes_on"),)
          if not WINDOWS else ()),  # which cannot send it to a single program
        ("loses no command that comes right after its answer", "waits forever",
         "; ".join(["start timeout_turn 20; exchange; exchange; exchange; exchange"] * 3)),
        ("is silent on stderr whatever is sent", "a full pipe blocks it",
         "start; > HELLO|TURN x|START 0|BOARD|x|DONE|TAKEBACK 99,99|PLAY; hear 0.3; "
         "close_input; ~ stderr"),
        ("answers what was asked before END", "the last move of a script is lost",
         "> INFO timeout_turn 0|START {size}|BEGIN|END; OK; ~ move"),
    ),
}  # fmt: skip
CHECKS = [Check(*who, *entry) for who, entries in _TABLE.items() for entry in entries]


# The command ----------------------------------------------------------------------------

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
