"""What the judge of the tournament does with a program, and what it asks of an entry."""

from __future__ import annotations

from time import perf_counter, sleep

from .exam import TOLERANCE, Blemish, Check, Exam, Violation, read_move, shown
from .registry import CHECKS, GOMOCUP, Examine, check, decline

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
    exam.exchange()
    exam.say("END")
    exam.expect_exit(0.5)
