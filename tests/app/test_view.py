"""What a terminal shows and types: boards, thoughts, an interrupt that is heard."""

from __future__ import annotations

import io
import os
import random
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from pbrain_engine import Engine, Limit, threads
from pbrain_engine.app import thinking, view
from pbrain_engine.app.thinking import LEVELS, choose
from pbrain_engine.app.view import foul_of, line_shape, shape_of
from pbrain_engine.commands import play
from pbrain_engine.game.cells import parse_moves
from pbrain_engine.game.diagram import format_diagram, parse_diagram
from pbrain_engine.game.game import Game
from pbrain_engine.position.rules import Rule, Side
from tests.oracle.rules import Board, wins_at
from tests.oracle.threats import five_cells
from tests.played import game_after

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
WON = "a1a3b1b3c1c3d1d3e1"


# Boards ---------------------------------------------------------------------------------


def test_a_plain_board_has_star_points_and_can_be_read_back() -> None:
    game = game_after("h8i9")
    shown = view.plain_board(game, game.last)
    assert shown.count("+") == 4  # one is under a stone
    board, drawn = view.diagram_of(game, (8, 8)), parse_diagram(shown)
    assert (drawn.stones, drawn.last) == (board.stones, board.last)
    assert "+" not in format_diagram(view.diagram_of(game, None))  # files stay as they are


# Interrupts and time --------------------------------------------------------------------


def test_an_interrupt_that_ends_is_raised_when_the_search_has_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[object] = []
    wait = threads.wait_for

    def interrupted(*about: Any) -> None:
        calls.append(about)
        if len(calls) in (1, 3):
            raise KeyboardInterrupt
        wait(*about)

    monkeypatch.setattr(threads, "wait_for", interrupted)
    with Engine(hash_size=1 << 20) as engine:
        engine.play(7, 7)
        assert thinking.think(engine, Limit(time=100))[0].time < 50
        with pytest.raises(KeyboardInterrupt):
            thinking.in_thread(lambda: engine.think(Limit(time=30)), engine.stop)
        assert engine.think(Limit(depth=1)).depth == 1  # it is idle again


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent differently there")
def test_an_interrupt_ends_the_demo() -> None:
    command = [sys.executable, "-m", "pbrain_engine.cli", "demo", "--time", "20", "--total", "900"]
    heard = signal.signal(signal.SIGINT, signal.default_int_handler)  # the background ignores it
    program = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    signal.signal(signal.SIGINT, heard)
    assert program.stdout is not None
    assert "Numoku against itself" in program.stdout.readline()
    time.sleep(0.3)
    program.send_signal(signal.SIGINT)
    out, _ = program.communicate(timeout=30)
    assert program.returncode == 130
    assert re.search(r"stopped after \d+ stones?", out)


# Playing --------------------------------------------------------------------------------


def test_the_engine_tells_what_it_thinks_while_it_thinks(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdout", stream)
    with Engine(hash_size=1 << 20) as engine:
        engine.play(7, 7)
        line = play.ThinkingLine()
        for level in (3, 7):
            choose(engine, LEVELS[level], 0.2, random.Random(1), line.show)
    shown = stream.getvalue()
    assert "thinking: depth" in shown and "\n" not in shown
    line.clear()
    assert stream.getvalue().endswith("\r")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_arrow_keys_edit_the_line_on_a_terminal() -> None:
    pytest.importorskip("readline")
    import pty

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "pbrain_engine.cli", "play", "--level", "1", "--time", "0.1"]
    environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "1"}
    program = subprocess.Popen(
        command, cwd=ROOT, stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    seen = b""
    for keys in (b"8\x1b[Dh\r", b"quit\r"):  # 8, left, h: the cell h8
        while not seen.endswith(b"your move, black> "):
            seen += os.read(ours, 4096)
        os.write(ours, keys)
        seen += b"|"
    with suppress(OSError):  # in the end the other end is closed
        while data := os.read(ours, 4096):
            seen += data
    os.close(ours)
    assert program.wait(30) == 0
    assert b"Numoku: " in seen and b"not a cell" not in seen


# What cells make, as board and terminal show it, held against the oracle ---------------


FOURS = {"four", "open four", "double four", "four and three"}


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
    for _ in range(3):
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
