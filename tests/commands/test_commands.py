"""The tools of the command line: what they print, what they answer, how they fail."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pbrain_engine import cli
from pbrain_engine.app import view
from pbrain_engine.app.setup import Setup, parse_setup, read_setup
from pbrain_engine.app.thinking import LEVELS
from pbrain_engine.commands import bench, demo
from pbrain_engine.commands.dialogue import Dialogue
from pbrain_engine.engine.engine import Engine, Limit
from pbrain_engine.game.game import Game
from pbrain_engine.native.load.targets import host_target
from pbrain_engine.notation.cells import parse_moves
from pbrain_engine.notation.diagram import winning_row
from pbrain_engine.notation.sgf import parse_sgf
from pbrain_engine.position.rules import Rule, Side
from pbrain_engine.protocol import serve
from pbrain_engine.values import format_value, loss_in, win_in
from tests.commands.conftest import Run

ROOT = Path(__file__).parents[2]

WHITE_WINS_NEXT = """
 .......
 .XXX...
 .OOOO..
 .......
 ....X..
 .......
 .......
white to move
"""


# The command line itself ----------------------------------------------------------------


def test_usage_lists_every_command(run: Run) -> None:
    for words in ([], ["--help"], ["help"]):
        status, out, _ = run(*words)
        assert status == 0
        assert all(f"\n  {name} " in out for name in cli.COMMANDS)


def test_version_names_the_kernel(run: Run) -> None:
    status, out, _ = run("--version")
    assert status == 0
    target = host_target()
    assert target is not None
    assert out.startswith("numoku ") and f"kernel  {target.name} v" in out and "Python  3." in out


def test_version_tells_why_there_is_no_kernel(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("pbrain_engine.native.load.library._loaded", {})
    monkeypatch.setenv("NUMOKU_CACHE", str(tmp_path))
    status, out, _ = run("--version")
    assert status == 0
    (reported,) = [line for line in out.splitlines() if line.startswith("kernel ")]
    assert "never built" in reported and "make setup" in reported


def test_version_does_without_modules_that_packages_leave_out() -> None:
    script = "import sys; sys.modules.update(dict.fromkeys(['platform', 'subprocess'])); "
    script += "from pbrain_engine import cli; sys.exit(cli.main(['--version']))"
    subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes end otherwise there")
@pytest.mark.parametrize(("words", "expected"), [("--version", 0), ("solve README.md", 1)])
def test_a_failure_stays_one_when_the_reader_has_gone(words: str, expected: int) -> None:
    command = [sys.executable, "-m", "pbrain_engine.cli", *words.split()]
    reader, writer = os.pipe()
    os.close(reader)
    buffered = {**os.environ, "PYTHONUNBUFFERED": ""}  # written at the end, as to any pipe
    result = subprocess.run(
        command, cwd=ROOT, env=buffered, stdout=writer, stderr=subprocess.DEVNULL
    )
    os.close(writer)
    assert result.returncode == expected


def test_the_program_for_managers_explains_itself() -> None:
    for word in ("--help", "-h"):
        result = subprocess.run(
            [sys.executable, "-m", "pbrain_engine", word], cwd=ROOT, capture_output=True, text=True
        )
        assert (result.returncode, result.stderr) == (0, "")
        assert result.stdout.startswith("usage: pbrain-numoku ")
        options = ("log", *serve.OPTIONS, *serve.NUMBERS, "row_first")
        assert all(f"--{option.replace('_', '-')}" in result.stdout for option in options)


def test_weights_are_known_by_the_name_that_the_version_tells(run: Run) -> None:
    _, out, _ = run("--version")
    (name,) = [line.split()[1] for line in out.splitlines() if line.startswith("weights ")]
    status, by_id, _ = run("weights", name)
    assert status == 0
    assert run("weights")[1] == by_id
    with Engine(weights=name) as engine:
        assert engine.weights.id == name
    status, _, err = run("weights", "net0")
    assert status == 1 and "net0" in err


@pytest.mark.parametrize(
    ("words", "status", "complaint"),
    [
        ("anlayse", 2, "no command 'anlayse'"),
        ("analyse --rule chess", 2, "unknown rule 'chess'"),
        ("analyse --size 4", 2, "boards are 5 to 22"),
        ("analyse --size big", 2, "no board size"),
        ("analyse --size " + "1" * 5000, 2, "no board size"),
        ("bench --level v9 --depht 3", 2, "unrecognized"),
        ("play --level 11", 2, "invalid choice"),
        ("book", 2, "required: ACTION"),
        ("db x", 2, "required: ACTION"),
        ("analyse h8h8", 1, "played twice"),
        ("analyse z99", 1, "off the 15x15 board"),
        ("analyse no-such-file.sgf", 1, "neither a file nor moves"),
        ("bench --level v9", 1, "no kernel of level v9"),
    ],
)
def test_what_cannot_be_done_fails_in_one_line(
    words: str, status: int, complaint: str, run: Run
) -> None:
    found, out, err = run(*words.split())
    assert (found, out) == (status, "")
    assert err.startswith("numoku") and err.count("\n") == 1 and complaint in err


# Positions ------------------------------------------------------------------------------


def test_a_position_may_be_a_file(tmp_path: Path) -> None:
    sgf = tmp_path / "game.sgf"
    sgf.write_text("\ufeff(;GM[4]SZ[10:12]RU[renju]AB[aa]PL[W];W[bb];B[cc])", encoding="utf-8")
    position = read_setup(str(sgf))
    assert (position.width, position.height, position.rule) == (10, 12, Rule.RENJU)
    assert position.placed == ((0, 0, Side.BLACK),)
    assert position.moves == ((1, 1), (2, 2)) and position.last == (2, 2)
    assert read_setup(str(sgf), Rule.FREESTYLE).rule is Rule.FREESTYLE


# Analysis -------------------------------------------------------------------------------


@pytest.fixture
def analyse(run: Run, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """A function that returns the JSON document about a position on stdin."""

    def analyse(text: str, *options: str) -> Any:
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))
        status, out, _ = run("analyse", "-", "--json", *options)
        assert status == 0
        return json.loads(out)

    return analyse


def test_a_five_is_found(analyse: Callable[..., Any]) -> None:
    found = analyse(WHITE_WINS_NEXT, "--depth", "4")
    assert found["move"] in ([0, 2], [5, 2])
    assert found["value"] == win_in(1) and found["mate"] == 1
    assert found["win"] == {"plies": 1, "line": [found["move"]], "proof": "vcf"}
    assert found["to_move"] == "white" and found["size"] == [7, 7]


def test_the_policy_is_shown(run: Run) -> None:
    status, out, _ = run("analyse", "h8", "--depth", "2", "--policy")
    assert status == 0 and "at a glance" in out
    assert len(re.findall(r"[a-o]\d+ \d+\.\d%", out)) == 10


@pytest.mark.parametrize("seconds", ["1e10", "1e300"])
def test_no_time_is_too_long(seconds: str, run: Run) -> None:
    status, out, err = run("analyse", "h8", "--time", seconds, "--depth", "2")
    assert (status, err) == (0, "") and "best move" in out


def test_a_forced_win_is_shown_up_to_the_five(analyse: Callable[..., Any]) -> None:
    found = analyse("h8a1i8a3j8a5", "--depth", "6")
    game = Game(15)
    for x, y in parse_moves("h8a1i8a3j8a5"):
        game.play(x, y)
    for x, y in found["win"]["line"]:
        assert game.winner is None
        game.play(x, y)
    assert game.winner is Side.BLACK
    assert len(found["win"]["line"]) == found["win"]["plies"] == 3


def test_a_lost_position_says_so(analyse: Callable[..., Any]) -> None:
    found = analyse("h8a1i8a3j8a5k8", "--depth", "6")
    assert found["value"] == loss_in(2) and found["mate"] == -2
    assert len(found["win"]["line"]) == 2


def test_lines_are_ranked(analyse: Callable[..., Any]) -> None:
    found = analyse("h8i9", "--depth", "4", "--multipv", "3")
    assert len({tuple(line["move"]) for line in found["lines"]}) == 3
    values = [line["value"] for line in found["lines"]]
    assert values == sorted(values, reverse=True)
    assert found["pv"] == found["lines"][0]["pv"]


def test_forbidden_cells_are_shown(analyse: Callable[..., Any], run: Run) -> None:
    position = "h7a1h9a3g8a5i8a7"
    found = analyse(position, "--depth", "2", "--rule", "renju")
    assert found["forbidden"] == [[7, 7]]
    status, out, _ = run("analyse", position, "--depth", "2", "--rule", "4")
    assert status == 0
    assert "forbidden: h8" in out and "renju, black to move" in out


def test_a_finished_game_has_no_move(analyse: Callable[..., Any], run: Run) -> None:
    found = analyse("a1a3b1b3c1c3d1d3e1")
    assert found["winner"] == "black" and found["lines"] == []
    status, out, _ = run("analyse", "a1a3b1b3c1c3d1d3e1")
    assert status == 0 and "black has won" in out


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent differently there")
def test_an_interrupt_shows_what_was_found() -> None:
    command = [sys.executable, "-m", "pbrain_engine.cli", "analyse", "h8i9", "--time", "60"]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored in a job
    ) as process:
        assert process.stdout is not None
        while "depth 4" not in process.stdout.readline():
            pass
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=10)
    assert (process.returncode, err) == (0, "")
    assert "best move" in out


# Bench ----------------------------------------------------------------------------------


def test_the_bench_covers_rules_and_boards() -> None:
    covered = {(position.rule, position.size) for position in bench.POSITIONS}
    assert covered == {(rule, size) for rule in Rule for size in (15, 20)}
    assert [position.rule for position in bench.SHORT] == list(Rule)
    assert len(bench.PAIR_POSITIONS) >= 2


@pytest.mark.parametrize("position", bench.POSITIONS)
def test_bench_positions_are_games_that_go_on(position: bench.BenchPosition) -> None:
    game = Game(position.size, rule=position.rule)
    for x, y in parse_moves(position.moves, position.size):
        assert not game.is_forbidden(x, y)
        game.play(x, y)
    assert not game.is_over


def test_the_signature_repeats_itself(run: Run) -> None:
    documents = []
    for _ in range(2):
        status, out, _ = run("bench", "--short", "--json")
        assert status == 0
        documents.append(json.loads(out))
    assert documents[0]["nodes"] == documents[1]["nodes"] > 0
    assert documents[0]["nodes"] == sum(run["nodes"] for run in documents[0]["positions"])
    assert {"nps", "level", "weights"} <= documents[0].keys()


def test_pairs_are_counted() -> None:
    with Engine(hash_size=1 << 20) as engine:
        assert bench.pairs_per_second(engine) > 10_000


# A game in the terminal -----------------------------------------------------------------


@pytest.fixture
def dialogue() -> Any:
    with Engine(memory=60_000_000) as engine:
        yield Dialogue(engine, Setup(15, 15, Rule.RENJU), level=3, seconds=0.05, seed=1)


def test_a_person_and_the_engine_take_turns(dialogue: Dialogue) -> None:
    assert dialogue.engine_turn() == ""
    assert dialogue.answer("h8") == ""
    assert dialogue.engine_turn().startswith("Numoku: ")
    assert dialogue.engine.game.ply == 2
    assert dialogue.answer("7,7") == "h8 is taken"
    assert "off the 15x15 board" in dialogue.answer("z1")
    assert "no cell" in dialogue.answer("banana")
    assert dialogue.answer("") == ""
    assert dialogue.engine.game.ply == 2


def test_undo_takes_both_moves_back(dialogue: Dialogue) -> None:
    assert "no move" in dialogue.answer("undo")
    dialogue.answer("h8")
    dialogue.engine_turn()
    assert dialogue.answer("undo") == ""
    assert dialogue.engine.game.ply == 0
    assert dialogue.engine.game.to_move is Side.BLACK


def test_forbidden_cells_are_refused(dialogue: Dialogue) -> None:
    for moves, cell, reason in (
        ("h7a1h9a3g8a5i8a7", "h8", "two open threes at once"),
        ("h7a1h9a3g8a5i8a7h6a9k8a11", "h8", "two fours at once"),
        ("d8a1e8a3f8a5h8a7i8a9", "g8", "a row of six or more"),
    ):
        dialogue._begin(parse_setup(moves, Rule.RENJU))
        assert dialogue.answer(cell) == f"renju forbids black {cell}: {reason}"
        assert f"{cell}: {reason}" in dialogue.answer("forbidden")


def test_the_end_is_told_once_and_can_be_undone(dialogue: Dialogue) -> None:
    dialogue._begin(parse_setup("h8a1i8a3j8a5k8a7"))
    assert dialogue.result() == ""
    dialogue.answer("l8")
    assert dialogue.result() == "Result: black (you) wins with h8 to l8, 9 stones"
    assert "over" in dialogue.answer("m8")
    assert dialogue.engine_turn() == ""
    dialogue.answer("undo")
    assert dialogue.result() == ""


def test_resigning_ends_the_game(dialogue: Dialogue) -> None:
    dialogue.answer("resign")
    assert dialogue.result() == "Result: white (Numoku) wins, you resigned"
    dialogue.answer("new")
    assert dialogue.result() == ""


def test_levels_and_sides_change(dialogue: Dialogue) -> None:
    assert dialogue.answer("level 9") == "the level is 9"
    assert "choose 1 to 10" in dialogue.answer("level 12")
    assert dialogue.level == 9
    assert dialogue.answer("swap") == "you play white now"
    assert dialogue.engine_turn().startswith("Numoku: ")
    assert "save FILE" in dialogue.answer("help")
    dialogue.answer("quit")
    assert dialogue.over


@pytest.mark.parametrize("name", ["game.sgf", "game.psq"])
def test_a_saved_game_can_be_loaded(dialogue: Dialogue, tmp_path: Path, name: str) -> None:
    dialogue.answer("h8")
    dialogue.engine_turn()
    moves = dialogue.engine.game.moves
    assert dialogue.answer(f"save {tmp_path / name}").startswith("saved")
    dialogue.answer("new")
    assert dialogue.engine.game.ply == 0
    assert dialogue.answer(f"load {tmp_path / name}").startswith("loaded")
    assert dialogue.engine.game.moves == moves


def test_the_engines_thoughts_are_saved(dialogue: Dialogue, tmp_path: Path) -> None:
    dialogue.answer("h8")
    dialogue.engine_turn()
    dialogue.answer(f"save {tmp_path / 'game.sgf'}")
    record = parse_sgf((tmp_path / "game.sgf").read_text(encoding="utf-8"))
    assert record.rule is Rule.RENJU
    assert record.moves[0].comment == ""
    assert record.moves[1].comment.count("/") == 2


def test_files_that_are_not_there_or_not_games(dialogue: Dialogue, tmp_path: Path) -> None:
    assert "name a file" in dialogue.answer("save")
    assert ".sgf or .psq" in dialogue.answer("save game.txt")
    assert "No such file" in dialogue.answer(f"load {tmp_path / 'none.sgf'}")
    (tmp_path / "bad.sgf").write_text("(;GM[1])", encoding="utf-8")
    dialogue.answer("h8")
    assert "another game" in dialogue.answer(f"load {tmp_path / 'bad.sgf'}")
    assert dialogue.engine.game.ply == 1


@pytest.mark.parametrize("level", LEVELS)
def test_every_level_takes_a_win_and_stops_a_five(level: int) -> None:
    with Engine(memory=60_000_000) as engine:
        dialogue = Dialogue(engine, Setup(15, 15, Rule.FREESTYLE), Side.BLACK, level, 0.05, 2)
        dialogue._begin(parse_setup("g8h8a1i8a3j8a5k8a7"))
        assert "l8" in dialogue.engine_turn()
        dialogue._begin(parse_setup("h8g8i8a1j8a3k8"))
        assert "l8" in dialogue.engine_turn()


def test_play_ends_quietly_with_its_input() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "pbrain_engine.cli", "play", "--level", "1", "--time", "0.1"],
        cwd=ROOT,
        input="h8\n",
        capture_output=True,
        text=True,
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert "Numoku: " in result.stdout


# Showing --------------------------------------------------------------------------------


def test_the_demo_ends_with_the_result(run: Run) -> None:
    status, out, _ = run(
        "demo", "--size", "9x8", "--time", "0.02", "--total", "2", "--rule", "standard"
    )
    lines = out.splitlines()
    assert status == 0
    assert lines[0] == "standard, 9x8, Numoku against itself"
    assert lines[-1].startswith("Result: ")
    assert "(" in "".join(lines[-9:-1])  # the last stone is marked


def test_the_live_board_shows_stones_and_thoughts() -> None:
    from rich.console import Console

    console = Console(width=120, file=io.StringIO(), force_terminal=True, color_system=None)
    with Engine(memory=60_000_000) as engine:
        shown = demo.Show(engine, console)
        with shown.screen:
            engine.play(7, 7)
            thought = engine.think(Limit(depth=2), on_iteration=shown.iteration)
            thinking = console.file.getvalue() + str(shown._side_lines())
            engine.play(*thought.move)
            shown.move(Side.WHITE, thought)
    assert "white thinks" in thinking and f"depth {thought.depth}" in thinking
    assert "Numoku against itself" in console.file.getvalue()
    assert any(line.startswith("  2 O") for line in shown.moves)


def test_values_are_shown_for_people() -> None:
    assert format_value(35) == "+35"
    assert format_value(0) == "+0"
    assert format_value(win_in(9)) == "+M9"
    assert format_value(loss_in(8)) == "-M8"
    assert [view.format_count(n) for n in (950, 12_345, 4_500_000)] == ["950", "12.3k", "4.5M"]
    assert view.format_line([(7, 7), (8, 8), (9, 9)], 2) == "h8 i9 ..."


def test_the_winning_row_is_found() -> None:
    game = Game(15)
    assert winning_row(view.diagram_of(game)) == []
    for x, y in parse_moves("c3a1d4a2f6a3g7b8e5"):
        game.play(x, y)
    row = winning_row(view.diagram_of(game, view.last_of(game)))
    assert row == [(2, 2), (3, 3), (4, 4), (5, 5), (6, 6)]
    assert view.result_line(game, "black") == "Result: black wins with c3 to g7, 9 stones"
    assert view.result_line(game, None) == "Result: draw, 9 stones"
