"""What may go wrong around any program: nonsense, dead managers, no time, no room."""

from __future__ import annotations

import os

from .exam import (
    ANY,
    REFUSALS,
    THINK_LONG,
    TOLERANCE,
    WINDOWS,
    Blemish,
    Exam,
    Violation,
    check,
    read_move,
    script,
    shown,
)

RULES = "plastovicka.github.io/protocl2en.htm"
PRACTICE = "observed in matches"


def nonsense(title: str, data: bytes) -> None:
    """Enter a check that a line of nonsense is refused once and survived."""

    @check(ANY, title, "one bad line ends the match", RULES)
    def examine(exam: Exam) -> None:
        exam.start()
        exam.peer.send_bytes(data)
        lines = [x for x in exam.peer.lines(0.3) if not x.text.startswith(("MESSAGE", "DEBUG"))]
        if any(read_move(line.text.strip()) for line in lines):
            raise Violation(f"a move after {shown(data[:20].decode('latin-1'))}")
        exam.expect_game()
        if len(lines) != 1:
            raise Blemish(f"{len(lines)} answers instead of one")


nonsense("survives an unknown command", b"HELLO\n")
nonsense("survives bytes of no encoding", b"\xff\xfe\x80\x81\n")
nonsense("survives a line of a million characters", b"X" * 1_000_000 + b"\n")
nonsense("survives NUL characters", b"A\0B\n")
nonsense("survives TURN with words", b"TURN seven,eight\n")
nonsense("survives TURN with a number of 30 digits", b"TURN " + b"9" * 30 + b",1\n")
nonsense("survives TURN alone", b"TURN\n")


script(ANY, "skips blank lines", "the next answers are out of step", RULES,
       "start", "> \r||   ", "silence 0.2 blank lines", "expect_game")  # fmt: skip


script(ANY, "refuses a move off the board", "board and program disagree", RULES,
       "start", "> TURN {size},0", "rejects a move off the board", "exchange")  # fmt: skip


script(ANY, "refuses a move on a stone", "board and program disagree", RULES,
       "start", "turn", "move", *(step for cell in ("{other}", "{own}") for step in (
           f"> TURN {cell}", "rejects a move on a stone")), "exchange")  # fmt: skip


@check(ANY, "refuses impossible sizes and keeps its board", "the manager shows no reason", RULES)
def _sizes(exam: Exam) -> None:
    exam.start()
    for size in ("0", "-1", "4", "abc", "99999999999"):
        exam.say(f"START {size}")
        answer = exam.answer()
        if answer == "OK" and size == "4":
            exam.start()
        elif answer.split(" ")[0].upper() not in REFUSALS:
            raise Violation(f"{shown(answer)} after START {size}")
    exam.expect_game()


@check(ANY, "plays without START", "no game", RULES)
def _without_start(exam: Exam) -> None:
    exam.say("BEGIN")
    answer = exam.answer(exam.options.patience + 5)
    if read_move(answer) is None and answer.split(" ")[0].upper() not in REFUSALS:
        raise Violation(f"{shown(answer)} after BEGIN without START")
    exam.expect_game()


def odd_board(title: str, *stones: str) -> None:
    """Enter a check that a faulty BOARD is answered with a legal move."""

    @check(ANY, title, "loss on time", PRACTICE)
    def examine(exam: Exam) -> None:
        exam.start()
        exam.say("BOARD", *stones, "DONE")
        cells = [stone.split(",")[:2] for stone in stones]
        exam.stones = {(int(x), int(y)) for x, y in cells}
        answer = exam.answer(exam.options.patience + exam.options.turn)
        while answer.split(" ")[0].upper() in REFUSALS:
            answer = exam.answer(exam.options.patience + exam.options.turn)
        move = read_move(answer)
        if move is None or move in exam.stones or max(move) >= exam.size:
            raise Violation(f"{shown(answer)} is no legal move")


odd_board("plays a BOARD with a stone twice", "7,7,1", "7,7,2", "8,8,2")
odd_board("plays a BOARD with a stone off the board", "7,7,2", "99,99,1")
odd_board("plays a BOARD with too many stones of a side", "7,7,1", "8,8,1", "9,8,1", "2,2,1")
odd_board("plays a BOARD with an unknown field", "7,7,1", "8,8,7", "9,9,2")
odd_board("plays a BOARD that is already won", *(f"{x},7,2" for x in range(5)))


@check(ANY, "survives a full board", "the program hangs", PRACTICE)
def _full_board(exam: Exam) -> None:
    exam.size = 5
    exam.say("START 5")
    size = 5 if exam.answer() == "OK" else exam.options.size
    exam.start(size=size)
    stones = [f"{x},{y},{1 + (x // 2 + y) % 2}" for x in range(size) for y in range(size)]
    exam.say("BOARD", *stones, "DONE")
    line = exam.peer.line(exam.options.turn + 0.5)
    if line is not None and read_move(line.text.strip()) is not None:
        raise Violation(f"the move {line.text.strip()} on a full board")
    exam.expect_game()


@check(ANY, "takes the last empty cell", "the program hangs", PRACTICE)
def _last_cell(exam: Exam) -> None:
    exam.start()
    size = exam.size
    stones = [f"{x},{y},{1 + (x // 2 + y) % 2}" for x in range(size) for y in range(size)]
    exam.board(*stones[:-1])
    if exam.expect_move() != (size - 1, size - 1):
        raise Violation("another cell than the only one")


@check(ANY, "answers in renju when all cells are forbidden", "the program hangs", PRACTICE)
def _only_forbidden(exam: Exam) -> None:
    exam.start("rule 4", size=15)
    row = {(x, 7) for x in (4, 5, 6, 8, 9)}
    stones = ["4,7,1"]
    for x in range(15):
        for y in range(15):
            if (x, y) not in ((7, 7), (4, 7)):
                black = (x, y) in row or (y != 7 and (x // 2 + y) % 2 == 0)
                stones.append(f"{x},{y},{1 if black else 2}")
    exam.board(*stones)
    exam.answer()
    exam.expect_game()


script(ANY, "answers at once with timeout_turn 0", "loss on time", RULES,
       "start timeout_turn 0", "board 7,7,2 8,8,1 4,10,2", f"move {TOLERANCE}",
       "late 0.1")  # fmt: skip
script(ANY, "knows limits of 64 bits", "moves without thinking, or none", RULES,
       f"start timeout_match {2**31 - 1}, time_left {2**62}, max_memory {2**40}",
       "board 7,7,2", "move")  # fmt: skip
script(ANY, "plays in very little memory", "loss by memory", RULES,
       "start max_memory 1000000", "board 7,7,2 8,8,1", "move")  # fmt: skip
script(ANY, "ends when stdin is closed while it thinks", "left behind for ever", PRACTICE,
       *THINK_LONG, "close_stdin", "exit 1.0")  # fmt: skip
script(ANY, "ends on END while it thinks", "has to be killed", RULES,
       *THINK_LONG, "> END", "exit 1.0")  # fmt: skip
if not WINDOWS:  # a console's Ctrl-C cannot be sent to one program alone
    script(ANY, "is not ended by Ctrl-C in the manager's console", "the game is lost", PRACTICE,
           "start", "interrupt", "wait 0.2", "expect_game")  # fmt: skip


script(ANY, "loses no command that comes right after its answer", "waits for ever", PRACTICE,
       *("start timeout_turn 20", *["exchange"] * 4) * 3)  # fmt: skip


@check(ANY, "does not write into the folder it is started in", "loss by disk use", RULES)
def _folder(exam: Exam) -> None:
    before = set(os.listdir("."))
    exam.start()
    exam.exchange()
    new = set(os.listdir(".")) - before
    if new:
        raise Blemish(f"new files: {', '.join(sorted(new)[:3])}")


script(ANY, "is silent on stderr whatever is sent", "a full pipe blocks it", PRACTICE,
       "start", "> HELLO|TURN x|START 0|BOARD|x|DONE|TAKEBACK 99,99|PLAY", "hear 0.3",
       "close_stdin", "stderr is a blemish")  # fmt: skip
