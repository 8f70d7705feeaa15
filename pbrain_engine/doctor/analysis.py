"""Yixin-Board and gomocalc: programs in which people analyse."""

from __future__ import annotations

from .exam import (
    GOMOCALC,
    YIXIN,
    Exam,
    NotSupported,
    Violation,
    check,
    read_move,
    script,
    shown,
)

# -- Yixin-Board ---------------------------------------------------------------------------

BOARD = "Yixin-Board main.c"


script(YIXIN, "understands lower case and START with two numbers", "no game at all", BOARD,
       "> info show_detail 1|START {size} {size}", "OK", "> info timeout_turn {turn}",
       "> start {size} {size}|board|7,7,2|done", "OK", "stones 7,7", "move")  # fmt: skip


@check(YIXIN, "tells its greatest number of threads", "the sliders stay at 1", BOARD)
def _yixin_info(exam: Exam) -> None:
    exam.say("yxshowinfo", f"START {exam.size}")
    if exam.answer() != "OK":  # the question was refused
        exam.expect_ok()
    if not any(line.startswith("MESSAGE INFO MAX_THREAD_NUM") for line in exam.heard):
        raise NotSupported("no MESSAGE INFO MAX_THREAD_NUM")


@check(YIXIN, "sets a position up in silence", "an unwanted move is played", BOARD)
def _yixin_board(exam: Exam) -> None:
    exam.start()
    exam.board("7,7,1", "8,8,2", verb="yxboard")
    line = exam.peer.line(exam.options.turn + 0.3)
    if line is not None and line.text.upper().startswith("UNKNOWN"):
        raise NotSupported(shown(line.text))
    if line is not None and read_move(line.text.strip()) is not None:
        raise Violation(f"the move {line.text.strip()} after yxboard")
    exam.expect_game()


@check(YIXIN, "lists forbidden points with a final dot", "the client reads past its buffer", BOARD)
def _yixin_forbid(exam: Exam) -> None:
    exam.start("rule 4", size=15)
    exam.board("7,7,1", "0,0,2", "8,7,1", "0,2,2", "9,9,1", "0,4,2", "9,10,1", "0,6,2",
               verb="yxboard")  # fmt: skip
    exam.peer.lines(0.2)
    exam.say("yxshowforbid")
    answer = exam.decline("YXSHOWFORBID")
    digits = answer.removeprefix("FORBID ").removesuffix(".")
    well_formed = answer.startswith("FORBID ") and answer.endswith(".")
    if not well_formed or not (digits.isdigit() or not digits) or len(digits) % 4:
        raise Violation(shown(answer))


@check(YIXIN, "marks every line that is no move", "read as a move: the game is over", BOARD)
def _yixin_marks(exam: Exam) -> None:
    exam.start("show_detail 1")
    exam.say("yxquerydatabaseall", "7,7", "done", "yxhashclear", "yxblockreset", "yxblock", "3,3",
             "done", "yxsetdatabase", "my file.db")  # fmt: skip
    for line in exam.peer.lines(0.4):
        word = line.text.split(" ")[0].upper().rstrip("\r")
        if word not in ("MESSAGE", "DEBUG", "ERROR", "UNKNOWN", "DETAIL", "OK", "FORBID"):
            raise Violation(f"a line {shown(line.text)}")
    exam.expect_game()


script(YIXIN, "stops on yxstop", "the stop button does nothing", BOARD, "stops yxstop")


# -- gomocalc ------------------------------------------------------------------------------

CALC = "gomocalc src/store/modules/ai.js"


script(GOMOCALC, "reads a whole position on one line", "no move", CALC,
       "> INFO RULE 0|INFO TIMEOUT_TURN {turn}|INFO CAUTION_FACTOR 1|INFO STRENGTH 100",
       "> START {size}", "OK", "> INFO TIME_LEFT 100000|BOARD 7,7,2 8,8,1 6,7,2 DONE",
       "stones 7,7 8,8 6,7", "move")  # fmt: skip


@check(GOMOCALC, "answers YXNBEST with a move", "no analysis", CALC)
def _gomocalc_nbest(exam: Exam) -> None:
    exam.start()
    exam.say("YXBOARD 7,7,1 8,8,2 DONE")
    line = exam.peer.line(0.2)
    if line is not None and line.text.upper().startswith(("UNKNOWN", "ERROR")):
        raise NotSupported(shown(line.text))
    exam.stones = {(7, 7), (8, 8)}
    exam.say("YXNBEST 2")
    answer = exam.decline("YXNBEST")
    if read_move(answer) is None:
        raise Violation(f"{shown(answer)} instead of a move")


@check(GOMOCALC, "writes INFO lines only when asked", "Piskvork reads them as answers", CALC)
def _gomocalc_details(exam: Exam) -> None:
    exam.start()
    exam.exchange()
    if any(line.startswith("INFO") for line in exam.heard):
        raise Violation("INFO lines without show_detail")
