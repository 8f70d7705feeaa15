"""What cells make, as the board shows it, held against the oracle; and turns at the processor."""

from __future__ import annotations

import random
import threading
import time

import pytest

from pbrain_engine.board.desk import Desks, Job
from pbrain_engine.board.shapes import foul_of, line_shape, shape_of, shapes
from pbrain_engine.board.turns import Turns
from pbrain_engine.game.game import Game
from pbrain_engine.notation.cells import parse_moves
from pbrain_engine.position.rules import Rule, Side
from tests.oracle.rules import Board, wins_at
from tests.oracle.threats import five_cells

FOURS = {"four", "open four", "double four", "four and three"}
PATIENCE = 30.0


@pytest.mark.parametrize(
    ("line", "shape"),
    [
        ("......O......", ""),
        ("....OOO......", "three"),
        ("..X.OOO.X....", ""),
        (".....OO.O....", "three"),
        ("...OOOO......", "open four"),
        ("..XOOOO......", "four"),
        ("..X.OOO.O....", "four"),
        ("..OOOOO......", "five"),
        ("..O.OOO.O....", "double four"),
    ],
)
def test_the_stone_in_the_middle_of_a_line(line: str, shape: str) -> None:
    assert line_shape(line, Rule.STANDARD, Side.BLACK)[0] == shape


def test_six_is_a_five_in_freestyle_only() -> None:
    for rule, shape in ((Rule.FREESTYLE, "five"), (Rule.STANDARD, "overline"), (Rule.CARO, "five")):
        assert line_shape(".OOOOOO......", rule, Side.BLACK)[0] == shape
    closed = ".XOOOOOX.....", ".#OOOOO#....."
    assert [line_shape(line, Rule.CARO, Side.BLACK)[0] for line in closed] == ["", "five"]


@pytest.mark.parametrize(
    ("black", "cell", "reason"),
    [
        ("g8i8h7h9", "h8", "double three"),
        ("e8f8g8h7h9h10", "h8", "double four"),
        ("e8f8g8i8j8", "h8", "overline"),
        ("e8g8i8k8", "h8", "double four"),  # both in one line
    ],
)
def test_why_renju_forbids_a_cell(black: str, cell: str, reason: str) -> None:
    game = Game(15, rule=Rule.RENJU)
    for x, y in parse_moves(black):
        game.place(x, y, Side.BLACK)
    ((x, y),) = parse_moves(cell)
    assert game.is_forbidden(x, y)
    assert foul_of(game, x, y) == reason


@pytest.mark.parametrize("rule", list(Rule), ids=lambda rule: rule.name.lower())
def test_fives_and_fours_are_those_of_the_oracle(rule: Rule) -> None:
    chance = random.Random(rule)
    for _ in range(6):
        game, board = Game(12, rule=rule), Board(12, 12, rule.name.lower())
        for number in range(44):
            x, y = chance.randrange(2, 10), chance.randrange(2, 10)
            if game.at(x, y) is Side.EMPTY and game.winner is None:
                game.place(x, y, Side(number % 2))
                board.put((x, y), number % 2)
        for side in (Side.BLACK, Side.WHITE):
            before = set(five_cells(board, side))
            for cell in board.empties():
                made = shape_of(game, *cell, side)
                assert (made == "five") == wins_at(board, cell, side), (board.drawing(), cell)
                if made in ("five", "overline"):
                    continue
                with board.stone(cell, side):
                    new = set(five_cells(board, side)) - before
                assert not new or made in FOURS, (board.drawing(), cell, made)
                if made in FOURS:
                    assert new or before, (board.drawing(), cell, made)


def test_shapes_are_given_for_both_sides() -> None:
    game = Game(15)
    for x, y in parse_moves("h8a1i8c1"):
        game.play(x, y)
    found = shapes(game)
    assert {"cell": [6, 7], "makes": "three"} in found["black"]
    assert {"cell": [1, 0], "makes": "three"} not in found["white"]  # at the border


# Turns and desks ------------------------------------------------------------------------


def never() -> bool:
    return False


def test_turns_are_given_in_order_and_endless_ones_give_way() -> None:
    turns = Turns(1)
    order: list[str] = []
    asked = threading.Event()

    def endless() -> None:
        with turns.turn(1, asked.set, never):
            order.append("endless")
            assert asked.wait(PATIENCE)

    def short(name: str) -> None:
        with turns.turn(1, None, never):
            order.append(name)

    first = threading.Thread(target=endless)
    first.start()
    while not turns.running:
        time.sleep(0.005)
    others = []
    for name in ("a", "b", "c"):
        others.append(threading.Thread(target=short, args=(name,)))
        others[-1].start()
        while turns.waiting < len(others) and name not in order:
            time.sleep(0.005)
    for thread in (first, *others):
        thread.join(PATIENCE)
    assert order == ["endless", "a", "b", "c"]
    assert turns.running == turns.waiting == 0


def test_who_is_cancelled_leaves_the_queue() -> None:
    turns = Turns(1)
    with turns.turn(1, None, never):
        with turns.turn(1, None, lambda: True) as granted:
            assert not granted
        assert turns.waiting == 0


def test_a_stopped_job_and_a_closed_desk_leave_nothing_behind() -> None:
    desks = Desks(1)
    desk = desks.open()
    begun, done = threading.Event(), threading.Event()

    def endless(job: Job) -> None:
        begun.set()
        end = time.monotonic() + PATIENCE
        while not job.is_stopped and time.monotonic() < end:
            time.sleep(0.005)
        if job.is_stopped:
            done.set()

    job = Job(endless, endless=True)
    desk.submit(job)
    assert begun.wait(PATIENCE)
    later = threading.Event()
    desk.submit(Job(lambda job: later.set()))  # ends the endless one
    assert done.wait(PATIENCE) and later.wait(PATIENCE)
    desk.close()
    assert len(desks) == desks.at_work == 0
    desk.submit(Job(lambda job: pytest.fail("the desk is closed")))
