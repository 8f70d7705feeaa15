"""Piskvork, c-gomoku-cli and qpiskvork: programs that play games between engines."""

from __future__ import annotations

from time import perf_counter, sleep

from .exam import TOLERANCE, Blemish, Exam, Violation, read_move, shown
from .registry import CLI, PISKVORK, QPISKVORK, check, decline, expect_quick_move, think_long

UNLIMITED = 2**31 - 1

# -- Piskvork ------------------------------------------------------------------------------

PIPE = "Piskvork source/protocol.cpp"


@check(PISKVORK, "answers START with exactly OK", "the game does not begin", PIPE)
def piskvork_ok(exam: Exam) -> None:
    """Start with CR LF."""
    exam.start(end="\r\n")


@check(PISKVORK, "writes nothing to stderr", "read as an answer: the game is void", PIPE)
def piskvork_stderr(exam: Exam) -> None:
    """Play a little; stderr is the same pipe there."""
    exam.start()
    exam.exchange()
    exam.say("HELLO", "INFO evaluate 3,3")
    exam.peer.lines(0.2)
    exam.say("END")
    exam.peer.wait(1.0)
    sleep(0.05)
    if exam.peer.stderr:
        raise Violation(f"{shown(exam.peer.stderr.decode('latin-1'))} on stderr")


@check(PISKVORK, "never answers INFO", "the reply is read as the next answer", PIPE)
def piskvork_info(exam: Exam) -> None:
    """Send every key, and some that nobody knows."""
    exam.start()
    keys = ("max_memory 83886080", "timeout_match 300000", "timeout_turn 1000", "game_type 0",
            "rule 0", "time_left 300000", "folder C:\\Temp\\psq001", "evaluate 3,4", "evaluate",
            "nobody_knows 1", "rule x", "rule 77", "max_memory 1")  # fmt: skip
    for key in keys:
        exam.say(f"INFO {key}")
    exam.expect_silence("INFO lines", 0.4)
    exam.say("INFO max_memory 83886080")
    exam.exchange()


@check(PISKVORK, "plays at once when the Space key is pressed", "no way to stop it", PIPE)
def piskvork_space(exam: Exam) -> None:
    """Send what the key sends while the program thinks."""
    expect_quick_move(exam, "INFO timeout_turn 0")


@check(PISKVORK, "obeys a new limit while it thinks", "the keys + and - do nothing", PIPE)
def piskvork_new_limit(exam: Exam) -> None:
    """Shorten the turn limit during a search."""
    think_long(exam)
    exam.say("INFO timeout_turn 500")
    exam.expect_move(timeout=0.5 + TOLERANCE)


@check(PISKVORK, "takes moves back", "slower: RESTART and BOARD instead", PIPE)
def piskvork_takeback(exam: Exam) -> None:
    """Take two stones back, and play on."""
    exam.start()
    x, y = exam.free()
    exam.turn((x, y))
    own = exam.expect_move()
    exam.say(f"TAKEBACK {own[0]},{own[1]}")
    if decline(exam, "TAKEBACK") != "OK":
        raise Violation("TAKEBACK is not answered with OK")
    exam.say(f"TAKEBACK {x},{y}")
    exam.expect_ok()
    exam.stones = set()
    exam.turn((x, y))
    exam.expect_move()


@check(PISKVORK, "restarts", "killed and started again for every game", PIPE)
def piskvork_restart(exam: Exam) -> None:
    """Two games in one process."""
    exam.start()
    exam.exchange()
    exam.say("RESTART")
    if decline(exam, "RESTART") != "OK":
        raise Violation("RESTART is not answered with OK")
    exam.stones = set()
    exam.say("BEGIN")
    exam.expect_move()


@check(PISKVORK, "answers RECTSTART", "the dialog hangs", PIPE)
def piskvork_rectangle(exam: Exam) -> None:
    """Ask for a board that is not square, to be played or refused."""
    exam.say("RECTSTART 15,12")
    if decline(exam, "RECTSTART") != "OK":
        raise Violation("neither OK nor a refusal")


@check(PISKVORK, "plays with winning lines blocked", "error in continuous play", PIPE)
def piskvork_blocked(exam: Exam) -> None:
    """Field 3 of BOARD is a cell that nobody can use."""
    exam.start("rule 2")
    exam.board("7,7,2", "8,8,1", "6,7,2", "7,8,3", "8,7,3")
    exam.expect_move()


@check(PISKVORK, "refuses a size it cannot play", "the game hangs", PIPE)
def piskvork_size(exam: Exam) -> None:
    """ERROR with a text, which Piskvork shows."""
    exam.say("START 1000")
    exam.expect_refusal("START 1000", words=("ERROR",))


@check(PISKVORK, "ends when stdin is closed", "left behind when the manager dies", PIPE)
def piskvork_eof(exam: Exam) -> None:
    """END is followed by the end of input after 0.7 s."""
    exam.start()
    exam.peer.close_stdin()
    exam.expect_exit(0.7)


# -- c-gomoku-cli --------------------------------------------------------------------------

CLI_ENGINE = "c-gomoku-cli src/engine.cpp"


@check(CLI, "answers ABOUT before START", "the whole run is aborted", CLI_ENGINE)
def cli_about(exam: Exam) -> None:
    """One line with the name comes first of all."""
    exam.say("ABOUT")
    answer = exam.answer()
    if "name=" not in answer.replace(" ", "").lower():
        raise Violation(f"{shown(answer)} instead of name=...")
    exam.start()


@check(CLI, "writes moves as digits and a comma only", "loss on time", CLI_ENGINE)
def cli_digits(exam: Exam) -> None:
    """Not even a blank at the end is understood."""
    exam.start()
    exam.say("BEGIN")
    exam.expect_move()


@check(CLI, "knows that timeout_match 0 is no limit", "moves without thinking", CLI_ENGINE)
def cli_no_match_limit(exam: Exam) -> None:
    """Only the turn limit counts."""
    exam.start("timeout_match 0", f"time_left {UNLIMITED}")
    exam.board("7,7,2", "8,8,1", "4,10,2")
    began = perf_counter()
    exam.expect_move(timeout=exam.options.turn + TOLERANCE)
    if perf_counter() - began < exam.options.turn / 20:
        raise Blemish("the time of the turn is hardly used")


@check(CLI, "stops on YXSTOP", "killed after an overrun", CLI_ENGINE)
def cli_stop(exam: Exam) -> None:
    """Send it after an overrun; the move is still wanted."""
    expect_quick_move(exam, "YXSTOP")


@check(CLI, "starts a second game in one process", "loss on time", "c-gomoku-cli src/game.cpp")
def cli_second_game(exam: Exam) -> None:
    """START comes again without RESTART."""
    for _ in range(2):
        exam.start()
        exam.say("BEGIN")
        exam.expect_move()


@check(CLI, "never suggests a move", "loss on time", CLI_ENGINE)
def cli_suggest(exam: Exam) -> None:
    """SUGGEST is answered by Piskvork alone."""
    exam.start()
    for _ in range(3):
        exam.exchange()
    if any(line.upper().startswith("SUGGEST") for line in exam.heard):
        raise Violation("SUGGEST instead of a move")


# -- qpiskvork -----------------------------------------------------------------------------

MANAGER = "qpiskvork src/manager.cpp"


@check(QPISKVORK, "answers START, ABOUT, INFO and BEGIN in one burst", "no move", MANAGER)
def qpiskvork_burst(exam: Exam) -> None:
    """All in one packet."""
    turn = round(exam.options.turn * 1000)
    exam.say(f"START {exam.size}", "ABOUT", f"INFO timeout_turn {turn}", "INFO rule 0", "BEGIN",
             end="\r\n")  # fmt: skip
    exam.expect_ok()
    if "name" not in exam.answer():
        raise Violation("ABOUT is not answered in its turn")
    exam.expect_move()


@check(QPISKVORK, "writes each line in one piece", "half a line is taken for a move", MANAGER)
def qpiskvork_pieces(exam: Exam) -> None:
    """Watch how the bytes arrive; the client has no line buffer."""
    exam.say(f"START {exam.size}", "ABOUT")
    lines = [exam.line(), exam.line()]
    exam.say(f"INFO timeout_turn {round(exam.options.turn * 1000)}", "BEGIN")
    lines.append(exam.line(exam.options.patience + exam.options.turn))
    if any(line.chunks > 1 for line in lines):
        raise Violation("a line came in several pieces")


@check(QPISKVORK, "begins lines with known words only", "taken for an error or SWAP", MANAGER)
def qpiskvork_words(exam: Exam) -> None:
    """Only the first letter of a line is looked at."""
    exam.start()
    for _ in range(2):
        exam.exchange()
    for line in exam.heard:
        word = line.split(" ")[0].rstrip("\r")
        if word not in ("OK", "MESSAGE", "DEBUG") and read_move(word) is None:
            raise Violation(f"a line {shown(line)}")
