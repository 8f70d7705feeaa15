"""Piskvork, the tournament's judge, c-gomoku-cli and qpiskvork; Yixin-Board and gomocalc.

Piskvork in a tournament does more than the dialogue of one game: it reads the peak working set of
the process after each move, pauses a game by END and goes on with a new process, takes the name
from the file, and offers 20x20 where a refusal names it.
"""

from __future__ import annotations

from pathlib import PurePath

from ..native.load.memory import peak_working_set
from .exam import (
    ANY,
    CHECKS,
    CLI,
    GOMOCALC,
    GOMOCUP,
    PISKVORK,
    QPISKVORK,
    THINK_LONG,
    TOLERANCE,
    WINDOWS,
    YIXIN,
    Blemish,
    Check,
    Exam,
    Examine,
    NotSupported,
    Peer,
    Violation,
    check,
    read_move,
    script,
    shown,
)

UNLIMITED = 2**31 - 1

# -- Piskvork ------------------------------------------------------------------------------

PIPE = "Piskvork source/protocol.cpp"


script(PISKVORK, "answers START with exactly OK", "the game does not begin", PIPE,
       ">> START {size}", "OK")  # fmt: skip


script(PISKVORK, "writes nothing to stderr", "read as an answer: the game is void", PIPE,
       "start", "exchange", "> HELLO|INFO evaluate 3,3", "hear 0.2", "> END",
       "stderr fails")  # fmt: skip


INFOS = """max_memory 83886080|timeout_match 300000|timeout_turn 1000|game_type 0|rule 0|\
time_left 300000|folder C:\\Temp\\psq001|evaluate 3,4|evaluate|nobody_knows 1|rule x|rule 77|\
max_memory 1"""
script(PISKVORK, "never answers INFO", "the reply is read as the next answer", PIPE,
       "start", "> INFO " + INFOS.replace("|", "|INFO "), "silence 0.4 INFO lines",
       "> INFO max_memory 83886080", "exchange")  # fmt: skip
script(PISKVORK, "plays at once when the Space key is pressed", "no way to stop it", PIPE,
       *THINK_LONG, "stop INFO timeout_turn 0")  # fmt: skip
script(PISKVORK, "obeys a new limit while it thinks", "the keys + and - do nothing", PIPE,
       *THINK_LONG, "> INFO timeout_turn 500", f"move {0.5 + TOLERANCE}")  # fmt: skip
script(PISKVORK, "takes moves back", "slower: RESTART and BOARD instead", PIPE,
       "start", "turn", "move", "> TAKEBACK {own}", "accepts TAKEBACK", "> TAKEBACK {other}", "OK",
       "turn", "move")  # fmt: skip
script(PISKVORK, "restarts", "killed and started again for every game", PIPE,
       "start", "exchange", "> RESTART", "accepts RESTART", "> BEGIN", "move")  # fmt: skip
script(PISKVORK, "answers RECTSTART", "the dialog hangs", PIPE,
       "> RECTSTART 15,12", "accepts RECTSTART")  # fmt: skip
script(PISKVORK, "plays with winning lines blocked", "error in continuous play", PIPE,
       "start rule 2", "board 7,7,2 8,8,1 6,7,2 7,8,3 8,7,3", "move")  # fmt: skip
script(PISKVORK, "refuses a size it cannot play", "the game hangs", PIPE,
       "> START 1000", "refuses START 1000")  # fmt: skip
script(PISKVORK, "ends when stdin is closed", "left behind when the manager dies", PIPE,
       "start", "close_stdin", "exit 0.7")  # fmt: skip


# -- Piskvork in a tournament ----------------------------------------------------------------

GAME = "Piskvork source/game.cpp"
MEMORY = 100 * 1024 * 1024  # the limit that is tried; tournaments allow 350 MB
MOVES = 5  # played before the memory is read for the last time: the last of them may win
LAST_WORD = 0.7  # seconds between END and the kill


@check(PISKVORK, "keeps its peak working set in the limit", "every tournament game lost", GAME)
def _piskvork_memory(exam: Exam) -> None:
    exam.start(f"max_memory {MEMORY}")
    for _ in range(MOVES):
        exam.exchange()
        used = peak_working_set(exam.peer.pid)
        if used > MEMORY:
            raise Violation(f"allocated {used // 1024} kB of {MEMORY // 1024}")


if not WINDOWS:  # no other system counts a working set, nor does the manager run there
    CHECKS.pop()


@check(PISKVORK, "goes on after a pause", "the game cannot be continued", PIPE)
def _piskvork_pause(exam: Exam) -> None:
    exam.start()
    stones = []
    for _ in range(2):
        x, y = exam.free()
        exam.turn((x, y))
        own = exam.expect_move()
        stones += [f"{x},{y},2", f"{own[0]},{own[1]},1"]
    exam.say("END")
    exam.peer.close_stdin()
    exam.expect_exit(LAST_WORD)
    with Peer(exam.options.command, patience=exam.options.patience) as peer:
        again = Exam(peer, exam.options)
        again.start()
        x, y = exam.free()
        again.board(*stones, f"{x},{y},2")
        again.expect_move()


script(PISKVORK, "names 20 where it refuses a size", "the user has to guess a size", PIPE,
       "> START 1000", "refuses START 1000", "names 20")  # fmt: skip


@check(PISKVORK, "has a file name of the new protocol", "the old file protocol is used", PIPE)
def _piskvork_name(exam: Exam) -> None:
    name = PurePath(exam.options.command[0]).name.lower()
    if not name.endswith(".exe") or name.startswith("python"):
        raise NotSupported("only programs for Windows are looked up by their name")
    if not name.startswith("pbrain-"):
        raise Violation(f"{name} does not begin with pbrain-")


@check(ANY, "answers what was asked before END", "the last move of a script is lost", PIPE)
def _end_waits(exam: Exam) -> None:
    exam.say("INFO timeout_turn 0", f"START {exam.size}", "BEGIN", "END")
    exam.expect_ok()
    exam.peer.wait(exam.options.patience)
    lines = [line.text.strip() for line in exam.peer.lines(0.1)]
    if not any(read_move(line) for line in lines):
        raise Blemish("BEGIN is not answered when END is already there")


# -- the judge -----------------------------------------------------------------------------

JUDGE = "GomocupJudge client/new_protocol.py"


script(GOMOCUP, "plays when START, INFO and BOARD come at once", "time-out in every game", JUDGE,
       ">> START {size}|INFO timeout_turn {turn}|INFO timeout_match 180000"
       "|INFO max_memory 367001600|INFO game_type 1|INFO rule 0|INFO folder /tmp"
       "|INFO time_left 180000|BOARD|DONE",
       "OK", "move")  # fmt: skip
script(GOMOCUP, "is not confused by being suspended", "time-out", JUDGE,
       ">> START {size}|INFO timeout_turn 2000", "wait 0.02", "suspend", "wait 0.5",
       ">> INFO time_left 100000|BOARD|DONE", "resume", "OK", f"move {2 + TOLERANCE}",
       "suspend", "turn", "wait 0.5", "resume", f"move {2 + TOLERANCE}")  # fmt: skip


@check(GOMOCUP, "keeps the turn limit", "loss on time", JUDGE)
def _judge_turn_limit(exam: Exam) -> None:
    exam.start("time_left 100000")
    worst = 0.0
    for _ in range(4):
        exam.exchange()
        worst = max(worst, exam.taken)
        said = f"a move took {worst:.2f} s of {exam.options.turn:g} s"
        if worst > exam.options.turn + TOLERANCE:
            raise Violation(said)
    if worst > exam.options.turn:
        raise Blemish(said)


script(GOMOCUP, "answers with a negative time_left", "loss on time", JUDGE,
       "start time_left -691", "board 7,7,2", f"move {TOLERANCE}", "late 0.1")  # fmt: skip
script(GOMOCUP, "keeps a short match limit", "loss on time", JUDGE,
       "start timeout_turn 30000, timeout_match 60000, time_left 700",
       "board 7,7,2 8,8,1 4,10,2", f"move {0.7 + TOLERANCE}")  # fmt: skip


def acceptance(rule: int, moves: str, allowed: str = "", refused: str = "") -> Examine:
    """Return a check that a position is answered as the rule demands (letters from a1)."""

    def examine(exam: Exam) -> None:
        exam.start(f"rule {rule}", "time_left 100000", size=15)
        cells = [(ord(c[0]) - ord("a"), int(c[1:]) - 1) for c in moves.split()]
        own = len(cells) % 2
        exam.board(*(f"{x},{y},{1 if i % 2 == own else 2}" for i, (x, y) in enumerate(cells)))
        x, y = exam.expect_move()
        name = f"{chr(x + ord('a'))}{y + 1}"
        if (allowed and name not in allowed.split()) or name in refused.split():
            wish = f"one of {allowed}" if allowed else f"anything but {refused}"
            raise Violation(f"{name} instead of {wish}")

    return examine


ACCEPT = "GomocupJudge test_zip_rules.py"
for _rule, _name in ((0, "freestyle"), (1, "standard"), (4, "renju"), (8, "caro")):
    CHECKS.append(
        Check(GOMOCUP, f"wins when it can ({_name})", "entry refused", ACCEPT,
              acceptance(_rule, "h8 h9 i8 i9 j8 j9 k8 k9", allowed="g8 l8"))
    )  # fmt: skip
CHECKS += [
    Check(GOMOCUP, "knows that six do not win (standard)", "entry refused", ACCEPT,
          acceptance(1, "h8 h9 i8 h10 g8 h11 j13 h12 g14 h14 i15", allowed="f8 j8")),
    Check(GOMOCUP, "plays no forbidden move (renju)", "entry refused", ACCEPT,
          acceptance(4, "h8 h9 i7 i9 h10 i6 i11 i12", refused="g9")),
    Check(GOMOCUP, "knows closed fives (caro, sent as 8)", "entry refused", ACCEPT,
          acceptance(8, "h8 f8 g8 f9 i8 f7 j8 l8", allowed="f5 f6 f10 f11")),
    Check(GOMOCUP, "knows closed fives (caro, sent as 9)", "caro league lost", "gomocup.org rules",
          acceptance(9, "h8 f8 g8 f9 i8 f7 j8 l8", allowed="f5 f6 f10 f11")),
]  # fmt: skip


@check(GOMOCUP, "answers SWAP2BOARD at each stage", "loss in the swap2 league", JUDGE)
def _judge_swap2(exam: Exam) -> None:
    exam.start("rule 1", "time_left 100000", size=15)
    exam.say("SWAP2BOARD", "DONE")
    first = exam.decline("SWAP2BOARD").split(" ")
    if len(first) != 3 or len({read_move(word) for word in first}) != 3 or None in first:
        raise Violation(f"{shown(' '.join(first))} instead of three cells")
    for stones in (["7,7", "8,8", "10,6"], ["7,7", "8,8", "10,6", "9,9", "4,4"]):
        exam.say("SWAP2BOARD", *stones, "DONE")
        answer = exam.answer(exam.options.patience + exam.options.turn)
        most = 2 if len(stones) == 3 else 1
        words = answer.split(" ")
        cells = [read_move(word) for word in words]
        if answer != "SWAP" and (None in cells or len(words) > most or set(words) & set(stones)):
            raise Violation(f"{shown(answer)} with {len(stones)} stones")
    exam.board("7,7,2")
    exam.expect_move()


script(GOMOCUP, "ends within 0.5 s of END", "killed; helpers are left behind", JUDGE,
       "start", "exchange", "> END", "exit 0.5")  # fmt: skip


# -- c-gomoku-cli --------------------------------------------------------------------------

CLI_ENGINE = "c-gomoku-cli src/engine.cpp"


script(CLI, "answers ABOUT before START", "the whole run is aborted", CLI_ENGINE,
       "> ABOUT", "says name=", "start")  # fmt: skip
script(CLI, "writes moves as digits and a comma only", "loss on time", CLI_ENGINE,
       "start", "> BEGIN", "move")  # fmt: skip


@check(CLI, "knows that timeout_match 0 is no limit", "moves without thinking", CLI_ENGINE)
def _cli_no_match_limit(exam: Exam) -> None:
    exam.start("timeout_match 0", f"time_left {UNLIMITED}")
    exam.board("7,7,2", "8,8,1", "4,10,2")
    exam.expect_move(timeout=exam.options.turn + TOLERANCE)
    if exam.taken < exam.options.turn / 20:
        raise Blemish("the time of the turn is hardly used")


script(CLI, "stops on YXSTOP", "killed after an overrun", CLI_ENGINE, *THINK_LONG, "stop YXSTOP")
script(CLI, "starts a second game in one process", "loss on time", "c-gomoku-cli src/game.cpp",
       *("start", "> BEGIN", "move") * 2)  # fmt: skip


script(CLI, "never suggests a move", "loss on time", CLI_ENGINE,
       "start", *["exchange"] * 3, "silence 0.1 a move")  # fmt: skip


# -- qpiskvork -----------------------------------------------------------------------------

MANAGER = "qpiskvork src/manager.cpp"


script(QPISKVORK, "answers START, ABOUT, INFO and BEGIN in one burst", "no move", MANAGER,
       ">> START {size}|ABOUT|INFO timeout_turn {turn}|INFO rule 0|BEGIN",
       "OK", "says name", "move")  # fmt: skip


@check(QPISKVORK, "writes each line in one piece", "half a line is taken for a move", MANAGER)
def _qpiskvork_pieces(exam: Exam) -> None:
    exam.say(f"START {exam.size}", "ABOUT")
    lines = [exam.line(), exam.line()]
    exam.say(f"INFO timeout_turn {round(exam.options.turn * 1000)}", "BEGIN")
    lines.append(exam.line(exam.options.patience + exam.options.turn))
    if any(line.chunks > 1 for line in lines):
        raise Violation("a line came in several pieces")


script(QPISKVORK, "begins lines with known words only", "taken for an error or SWAP", MANAGER,
       "start", "exchange", "exchange", "words OK MESSAGE DEBUG x,y")  # fmt: skip


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


script(YIXIN, "marks every line that is no move", "read as a move: the game is over", BOARD,
       "start show_detail 1", "> yxquerydatabaseall|7,7|done|yxhashclear|yxblockreset"
       "|yxblock|3,3|done|yxsetdatabase|my file.db", "hear 0.4",
       "words MESSAGE DEBUG ERROR UNKNOWN DETAIL OK FORBID", "expect_game")  # fmt: skip
script(YIXIN, "stops on yxstop", "the stop button does nothing", BOARD, *THINK_LONG, "stop yxstop")


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


script(GOMOCALC, "writes INFO lines only when asked", "Piskvork reads them as answers", CALC,
       "start", "exchange", "silence 0.1 a move")  # fmt: skip
