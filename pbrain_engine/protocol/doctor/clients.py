"""What each client says and needs: one check for each thing that can go wrong there."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter, sleep

from .exam import TOLERANCE, Blemish, Check, Exam, NotSupported, Violation, read_move, shown

GOMOCUP = "Gomocup judge"
PISKVORK = "Piskvork 9"
CLI = "c-gomoku-cli"
QPISKVORK = "qpiskvork"
YIXIN = "Yixin-Board"
GOMOCALC = "gomocalc"

CHECKS: list[Check] = []
UNLIMITED = 2**31 - 1
STOP_LIMIT = 0.5  # seconds for an answer to a stop

Examine = Callable[[Exam], None]


def check(client: str, title: str, harm: str, source: str) -> Callable[[Examine], Examine]:
    """Enter a function in the list of checks."""

    def enter(examine: Examine) -> Examine:
        CHECKS.append(Check(client, title, harm, source, examine))
        return examine

    return enter


def decline(exam: Exam, what: str) -> str:
    """Return the answer to an optional command; a polite refusal ends the check."""
    answer = exam.answer()
    if answer.split(" ")[0].upper() in ("UNKNOWN", "ERROR"):
        raise NotSupported(f"{what}: {shown(answer)}")
    return answer


def think_long(exam: Exam) -> None:
    """Let the program think about a move for which it has a minute."""
    exam.start("timeout_turn 60000", "time_left 1000000")
    exam.board("7,7,2", "8,8,1", "4,10,2")
    sleep(0.3)


def expect_quick_move(exam: Exam, command: str) -> None:
    """Stop a long search and expect its move at once."""
    think_long(exam)
    early = exam.peer.line(0.0)
    while early is not None and read_move(early.text.strip()) is None:
        early = exam.peer.line(0.0)
    if early is not None:
        return  # it had decided by itself
    exam.say(command)
    began = perf_counter()
    exam.expect_move(timeout=2.0)
    taken = perf_counter() - began
    if taken > STOP_LIMIT:
        raise Violation(f"the move came {taken:.2f} s after {command}")


# -- the judge of the tournament -----------------------------------------------------------

JUDGE = "GomocupJudge client/new_protocol.py"


@check(GOMOCUP, "plays when START, INFO and BOARD come at once", "time-out in every game", JUDGE)
def judge_burst(exam: Exam) -> None:
    """Send the start of a game as the judge does."""
    turn = round(exam.options.turn * 1000)
    infos = (f"timeout_turn {turn}", "timeout_match 180000", "max_memory 367001600",
             "game_type 1", "rule 0", "folder /tmp", "time_left 180000")  # fmt: skip
    exam.say(f"START {exam.size}", *(f"INFO {i}" for i in infos), "BOARD", "DONE", end="\r\n")
    exam.expect_ok()
    exam.expect_move()


@check(GOMOCUP, "is not confused by being suspended", "time-out", JUDGE)
def judge_suspends(exam: Exam) -> None:
    """Freeze the program after START, as the judge does between moves."""
    exam.say(f"START {exam.size}", "INFO timeout_turn 2000", end="\r\n")
    sleep(0.02)
    exam.peer.suspend()
    sleep(0.5)
    exam.say("INFO time_left 100000", "BOARD", "DONE", end="\r\n")
    exam.peer.resume()
    exam.expect_ok()
    exam.expect_move(timeout=2.0 + TOLERANCE)
    exam.peer.suspend()
    exam.turn()
    sleep(0.5)
    exam.peer.resume()
    exam.expect_move(timeout=2.0 + TOLERANCE)


@check(GOMOCUP, "keeps the turn limit", "loss on time", JUDGE)
def judge_turn_limit(exam: Exam) -> None:
    """Play some moves and take the time of each."""
    exam.start("time_left 100000")
    worst = 0.0
    for _ in range(4):
        exam.turn()
        began = perf_counter()
        exam.expect_move()
        worst = max(worst, perf_counter() - began)
        if worst > exam.options.turn + TOLERANCE:
            raise Violation(f"a move took {worst:.2f} s of {exam.options.turn:g} s")
    if worst > exam.options.turn:
        raise Blemish(f"a move took {worst:.2f} s of {exam.options.turn:g} s")


@check(GOMOCUP, "answers with a negative time_left", "loss on time", JUDGE)
def judge_negative_time(exam: Exam) -> None:
    """Overdraw the match clock by less than a second, as may happen."""
    exam.start("time_left -691")
    exam.board("7,7,2")
    began = perf_counter()
    exam.expect_move(timeout=TOLERANCE)
    taken = perf_counter() - began
    if taken > 0.1:
        raise Blemish(f"the move took {taken:.2f} s of no time")


@check(GOMOCUP, "keeps a short match limit", "loss on time", JUDGE)
def judge_match_limit(exam: Exam) -> None:
    """Leave little of the match, with a long turn limit."""
    exam.start("timeout_turn 30000", "timeout_match 60000", "time_left 700")
    exam.board("7,7,2", "8,8,1", "4,10,2")
    exam.expect_move(timeout=0.7 + TOLERANCE)


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
def judge_swap2(exam: Exam) -> None:
    """Ask for an opening, for a choice of three and for a colour."""
    exam.start("rule 1", "time_left 100000", size=15)
    exam.say("SWAP2BOARD", "DONE")
    first = decline(exam, "SWAP2BOARD").split(" ")
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


@check(GOMOCUP, "ends within 0.5 s of END", "killed; helpers are left behind", JUDGE)
def judge_end(exam: Exam) -> None:
    """Say END after a move."""
    exam.start()
    exam.turn()
    exam.expect_move()
    exam.say("END")
    exam.expect_exit(0.5)


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
    exam.turn()
    exam.expect_move()
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
    exam.turn()
    exam.expect_move()


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
    exam.turn()
    exam.expect_move()
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
        exam.turn()
        exam.expect_move()
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
        exam.turn()
        exam.expect_move()
    for line in exam.heard:
        word = line.split(" ")[0].rstrip("\r")
        if word not in ("OK", "MESSAGE", "DEBUG") and read_move(word) is None:
            raise Violation(f"a line {shown(line)}")


# -- Yixin-Board ---------------------------------------------------------------------------

BOARD = "Yixin-Board main.c"


@check(YIXIN, "understands lower case and START with two numbers", "no game at all", BOARD)
def yixin_spelling(exam: Exam) -> None:
    """Every position is sent anew."""
    exam.say("info show_detail 1", f"START {exam.size} {exam.size}")
    exam.expect_ok()
    exam.say(f"info timeout_turn {round(exam.options.turn * 1000)}")
    exam.say(f"start {exam.size} {exam.size}", "board", "7,7,2", "done")
    exam.expect_ok()
    exam.stones = {(7, 7)}
    exam.expect_move()


@check(YIXIN, "tells its greatest number of threads", "the sliders stay at 1", BOARD)
def yixin_info(exam: Exam) -> None:
    """Asked once at the start."""
    exam.say("yxshowinfo")
    lines = [line.text for line in exam.peer.lines(0.5)]
    if not any(line.startswith("MESSAGE INFO MAX_THREAD_NUM") for line in lines):
        raise NotSupported("no MESSAGE INFO MAX_THREAD_NUM")


@check(YIXIN, "sets a position up in silence", "an unwanted move is played", BOARD)
def yixin_board(exam: Exam) -> None:
    """Send the position as for the forbidden points."""
    exam.start()
    exam.board("7,7,1", "8,8,2", verb="yxboard")
    line = exam.peer.line(exam.options.turn + 0.3)
    if line is not None and line.text.upper().startswith("UNKNOWN"):
        raise NotSupported(shown(line.text))
    if line is not None and read_move(line.text.strip()) is not None:
        raise Violation(f"the move {line.text.strip()} after yxboard")
    exam.expect_game()


@check(YIXIN, "lists forbidden points with a final dot", "the client reads past its buffer", BOARD)
def yixin_forbid(exam: Exam) -> None:
    """Four digits for each point."""
    exam.start("rule 4", size=15)
    exam.board("7,7,1", "0,0,2", "8,7,1", "0,2,2", "9,9,1", "0,4,2", "9,10,1", "0,6,2",
               verb="yxboard")  # fmt: skip
    exam.peer.lines(0.2)
    exam.say("yxshowforbid")
    answer = decline(exam, "YXSHOWFORBID")
    digits = answer.removeprefix("FORBID ").removesuffix(".")
    well_formed = answer.startswith("FORBID ") and answer.endswith(".")
    if not well_formed or not (digits.isdigit() or not digits) or len(digits) % 4:
        raise Violation(shown(answer))


@check(YIXIN, "marks every line that is no move", "read as a move: the game is over", BOARD)
def yixin_marks(exam: Exam) -> None:
    """Commands of the database are sent to every engine."""
    exam.start("show_detail 1")
    exam.say("yxquerydatabaseall", "7,7", "done", "yxhashclear", "yxblockreset", "yxblock", "3,3",
             "done", "yxsetdatabase", "my file.db")  # fmt: skip
    for line in exam.peer.lines(0.4):
        word = line.text.split(" ")[0].upper().rstrip("\r")
        if word not in ("MESSAGE", "DEBUG", "ERROR", "UNKNOWN", "DETAIL", "OK", "FORBID"):
            raise Violation(f"a line {shown(line.text)}")
    exam.expect_game()


@check(YIXIN, "stops on yxstop", "the stop button does nothing", BOARD)
def yixin_stop(exam: Exam) -> None:
    """Press the stop button."""
    expect_quick_move(exam, "yxstop")


# -- gomocalc ------------------------------------------------------------------------------

CALC = "gomocalc src/store/modules/ai.js"


@check(GOMOCALC, "reads a whole position on one line", "no move", CALC)
def gomocalc_line(exam: Exam) -> None:
    """INFO comes before START, and everything in capitals."""
    turn = round(exam.options.turn * 1000)
    exam.say(
        "INFO RULE 0", f"INFO TIMEOUT_TURN {turn}", "INFO CAUTION_FACTOR 1", "INFO STRENGTH 100"
    )
    exam.say(f"START {exam.size}")
    exam.expect_ok()
    exam.say("INFO TIME_LEFT 100000", "BOARD 7,7,2 8,8,1 6,7,2 DONE")
    exam.stones = {(7, 7), (8, 8), (6, 7)}
    exam.expect_move()


@check(GOMOCALC, "answers YXNBEST with a move", "no analysis", CALC)
def gomocalc_nbest(exam: Exam) -> None:
    """Ask as this client asks for every move."""
    exam.start()
    exam.say("YXBOARD 7,7,1 8,8,2 DONE")
    line = exam.peer.line(0.2)
    if line is not None and line.text.upper().startswith(("UNKNOWN", "ERROR")):
        raise NotSupported(shown(line.text))
    exam.stones = {(7, 7), (8, 8)}
    exam.say("YXNBEST 2")
    answer = decline(exam, "YXNBEST")
    if read_move(answer) is None:
        raise Violation(f"{shown(answer)} instead of a move")


@check(GOMOCALC, "writes INFO lines only when asked", "Piskvork reads them as answers", CALC)
def gomocalc_details(exam: Exam) -> None:
    """Bare INFO lines are for show_detail 2 alone."""
    exam.start()
    exam.turn()
    exam.expect_move()
    if any(line.startswith("INFO") for line in exam.heard):
        raise Violation("INFO lines without show_detail")
