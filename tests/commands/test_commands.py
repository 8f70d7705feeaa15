"""The tools of the command line: what they print, what they answer, how they fail."""

from __future__ import annotations

import os
import signal
import sys

import pytest

from pbrain_engine.app.setup import parse_setup
from pbrain_engine.app.thinking import LEVELS
from pbrain_engine.arena import openings, report
from pbrain_engine.commands import bench
from pbrain_engine.commands.dialogue import Dialogue, GameStart
from pbrain_engine.doctor import checks as doctor
from pbrain_engine.engine.engine import Engine
from pbrain_engine.game.game import Game
from pbrain_engine.game.record import GameRecord
from pbrain_engine.native.load.store import host_target
from pbrain_engine.position.rules import Rule
from pbrain_engine.protocol import serve
from tests.programs import NUMOKU, PROGRAM, ROOT, run_program, start_program

JOURNAL = ROOT / "tests" / "arena" / "journals" / "test-0.3.jsonl"


# The command line itself ----------------------------------------------------------------


def test_version_names_the_kernel(run):
    status, out, _ = run("--version")
    assert status == 0
    target = host_target()
    assert out.startswith("numoku ") and f"kernel  {target.name} v" in out and "Python  3." in out


def test_version_tells_why_there_is_no_kernel(run, monkeypatch, tmp_path):
    monkeypatch.setattr("pbrain_engine.native.load.library._loaded", {})
    monkeypatch.setenv("NUMOKU_CACHE", str(tmp_path))
    status, out, _ = run("--version")
    assert status == 0
    (reported,) = [line for line in out.splitlines() if line.startswith("kernel ")]
    assert "never built" in reported and "make setup" in reported


@pytest.mark.parametrize(
    ("module", "name", "words"),
    [(openings, "generate", "--count 2"), (report, "summary", f"{JOURNAL} --text"),
     (doctor, "run_check", "any")],
)  # fmt: skip
def test_a_reader_that_leaves_is_no_failure(module, name, words, monkeypatch):
    def left(*asked: object) -> None:
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr(module, name, left)
    with pytest.raises(BrokenPipeError):  # which ends `numoku` well
        module.main(words.split())


@pytest.mark.parametrize("words", ["--nope", "--log", "--row-first --weights", "-x"])
def test_the_program_for_managers_names_options_that_it_cannot_read(words):
    done = run_program(*PROGRAM, *words.split(), input="")
    said = f"pbrain-numoku: cannot read {words}; `pbrain-numoku --help` helps\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


def test_the_program_for_managers_explains_itself():
    for word in ("--help", "-h"):
        result = run_program(*PROGRAM, word)
        assert (result.returncode, result.stderr) == (0, "")
        assert result.stdout.startswith("usage: pbrain-numoku ")
        read = (name for name in serve.OPTIONS if name != "search")  # which older lines have
        options = ("log", *read, *serve.NUMBERS, "row_first")
        assert all(f"--{option.replace('_', '-')}" in result.stdout for option in options)


# Analysis -------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent differently there")
def test_an_interrupt_shows_what_was_found():
    with start_program(*NUMOKU, "analyse", "h8i9", "--time", "60") as process:
        while "depth 4" not in process.stdout.readline():
            pass
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=10)
    assert (process.returncode, err) == (0, "")
    assert "best move" in out


# Bench ----------------------------------------------------------------------------------


def test_the_bench_covers_rules_and_boards():
    covered = {(position.rule, position.width) for position in bench.POSITIONS}
    assert covered == {(rule, size) for rule in Rule for size in (15, 20)}
    assert [position.rule for position in bench.SHORT] == list(Rule)
    assert len(bench.PAIR_POSITIONS) >= 2


@pytest.mark.parametrize("position", bench.POSITIONS)
def test_bench_positions_are_games_that_go_on(position):
    game = Game(*position.board)
    for x, y in position.moves:
        assert not game.is_forbidden(x, y)
        game.play(x, y)
    assert not game.is_over


# A game in the terminal -----------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
def test_every_level_takes_a_win_and_stops_a_five(level):
    with Engine(memory=60_000_000) as engine:
        dialogue = Dialogue(engine, GameStart(GameRecord(), level=level, seconds=0.05), 2)
        dialogue._begin(GameStart(parse_setup("g8h8a1i8a3j8a5k8a7")))
        assert "l8" in dialogue.engine_turn()
        dialogue._begin(GameStart(parse_setup("h8g8i8a1j8a3k8")))
        assert "l8" in dialogue.engine_turn()


# Showing --------------------------------------------------------------------------------


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="Linux has such a file")
def test_what_cannot_be_read_is_named_once_without_numbers(run, tmp_path):
    status, _, problem = run("db", str(tmp_path / "a.db"), "add", "/proc/self/mem")
    assert status == 1 and problem == "numoku: /proc/self/mem: Input/output error\n"
