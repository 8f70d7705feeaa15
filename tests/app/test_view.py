"""What a terminal shows: one way to draw boards, lists that fit, an interrupt that is heard."""

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

from pbrain_engine import Engine, Limit, Side, threads
from pbrain_engine.app import thinking, view
from pbrain_engine.app.thinking import LEVELS, choose
from pbrain_engine.arena import openings
from pbrain_engine.arena.settings import EngineSpec, MatchSettings
from pbrain_engine.arena.standings import Standings
from pbrain_engine.commands import play
from pbrain_engine.game.diagram import format_diagram, parse_diagram
from pbrain_engine.game.record import GameRecord
from pbrain_engine.notation import colours
from tests.conftest import Run
from tests.played import game_after, moves_of

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
    assert "+" not in format_diagram(view.diagram_of(game))  # files stay as they are


def styles_of(text: Any, sign: str) -> list[str]:
    return [str(s.style) for s in text.spans if text.plain[s.start : s.end] == sign]


def test_stones_have_the_colours_of_stones_on_every_terminal() -> None:
    pytest.importorskip("rich")
    for encoding, black, white in (("utf-8", "●", "●"), ("cp1252", "X", "O")):
        text = colours.colour_rows(view.diagram_of(game_after("h8i9j10")), encoding=encoding)
        inks = {colours.INKS[Side.BLACK]: black, colours.INKS[Side.WHITE]: white}
        for ink, sign in inks.items():
            assert any(ink in style and " on #" in style for style in styles_of(text, sign))
        assert text.plain.count("+") == 4


def test_the_winning_row_and_forbidden_cells_stand_out() -> None:
    pytest.importorskip("rich")
    game = game_after(WON)
    text = view.rich_board(game, game.last, [(7, 7)])
    stones = styles_of(text, "●") or styles_of(text, "X")
    assert sum(colours.ROW in style for style in stones) == 4  # and the last one
    assert sum(colours.LAST in style for style in stones) == 1
    (cross,) = [style for style in styles_of(text, "x") if colours.CROSS_INK in style]
    assert colours.GROUND in cross
    game = game_after(WON[:-2])
    assert colours.ROW not in str(view.rich_board(game, game.last).spans)


# The live match -------------------------------------------------------------------------


@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 50), (60, 12), (80, 30)])
@pytest.mark.parametrize("engines", [2, 6])
def test_the_live_match_fits_its_screen(width: int, height: int, engines: int) -> None:
    console = pytest.importorskip("rich.console")
    from pbrain_engine.arena.live import RichView

    names = [f"engine {number}" for number in range(engines)]
    settings = MatchSettings(engines=tuple(EngineSpec(n, (n,)) for n in names), games=10)
    game = GameRecord(
        moves=tuple(moves_of(WON)), black=names[0], white=names[1], result="1-0", reason="five",
        times=(10,) * 9, depths=(3,) * 9, values=(None,) * 9, nodes=(5,) * 9,
    )  # fmt: skip
    stream = io.StringIO()
    standings = Standings(settings)
    shown = RichView(standings, stream)
    shown.close()
    shown.console = console.Console(file=stream, width=width, height=height, force_terminal=True)
    shown.on_move(0, game)
    for number in range(6):
        standings.add(game._replace(number=number, round=number // 2))
        shown.on_result(game)
    lines = shown.console.render_lines(shown.render(), pad=False)
    assert len(lines) < height
    text = "\n".join("".join(segment.text for segment in line) for line in lines)
    assert " 6 of " in text  # the bar is always there
    if height > 20:
        assert "1-0 (five)" in text and "engine 0" in text
    if engines == 2 and height > 20:
        assert " a b c d" in text


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
    time.sleep(1)
    program.send_signal(signal.SIGINT)
    out, _ = program.communicate(timeout=30)
    assert program.returncode == 130
    assert re.search(r"stopped after \d+ stones?", out)


def test_a_demo_without_time_comes_to_its_end(run: Run) -> None:
    status, out, _ = run("demo", "--size", "6", "--total", "0.05", "--opening", "c3d4")
    moves = re.findall(r"(?m)^ +(\d+) (black|white) .* depth +\d+$", out)
    assert status == 0 and out.splitlines()[-1].startswith("Result: ")
    assert [int(ply) for ply, _ in moves] == [*range(3, 3 + len(moves))]


def test_interrupted_openings_leave_those_that_were_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def some(options: Any) -> Any:
        chance = random.Random(1)
        for _ in range(3):
            yield [(chance.randrange(15), 7)]
        raise KeyboardInterrupt

    monkeypatch.setattr(openings, "generate", some)
    path = tmp_path / "openings.txt"
    assert openings.main([str(path), "--count", "9"]) == 130
    assert len(path.read_text(encoding="utf-8").splitlines()) == 4  # with the head
    assert "3 of 9 openings" in capsys.readouterr().err


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
