"""The package for tournaments, unpacked and run as a judge, a manager and a user would.

``NUMOKU_PACKAGE`` names the ZIP to test; otherwise one is built for it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from pbrain_engine.arena.process import EngineProcess, descendants
from pbrain_engine.game.cells import parse_moves
from pbrain_engine.game.game import Game
from pbrain_engine.native.load.library import load, processor_level
from tests.build.building import package, report, shipping
from tests.build.programs import MEMORY, TOLERANCE, Judged, Managed
from tests.transcript import all_transcripts, replay

pytestmark = pytest.mark.slow

ANSWER_TIME = 30.0
ALL = "INFO hash_size 1000000"  # kB: more than the limit leaves
# Milliseconds of a search that touches most of the table, which takes wine long.
FILLING = 12_000 if sys.platform == "win32" else 3000
OPENING = [(7, 7), (8, 8), (9, 7)]
LEAGUES = {  # board and rule of each, and the turn and match limits, shortened alike
    "freestyle-20": (20, 0, 300, 9_000),
    "freestyle-15": (15, 0, 300, 9_000),
    "standard-15": (15, 1, 300, 9_000),
    "fastgame-20": (20, 0, 100, 2_400),
    "renju-15": (15, 4, 300, 9_000),
    "caro-15": (15, 8, 300, 9_000),
    "caro-exact-15": (15, 9, 300, 9_000),
}
# Games last as long as their clocks: in short runs two leagues stand for all of them.
PLAYED = [
    league
    if league in ("fastgame-20", "renju-15")
    else pytest.param(league, marks=pytest.mark.long)
    for league in LEAGUES
]


@pytest.fixture(scope="module")
def program(tournament_zip: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the program, unpacked into an empty folder with an awkward name."""
    folder = tmp_path_factory.mktemp("my games, d\u00e9j\u00e0 vu")
    report.unpack(tournament_zip, folder)
    report.start(folder / package.PROGRAM)  # from now on the system has its files at hand
    return folder / package.PROGRAM


@pytest.fixture(autouse=True)
def untouched(program: Path) -> Iterator[None]:
    """Check that nothing in the folder of the program changes while it is used."""

    def state() -> dict[Path, tuple[int, int]]:
        facts = {path: path.stat() for path in program.parent.rglob("*")}
        return {path: (fact.st_size, fact.st_mtime_ns) for path, fact in facts.items()}

    before = state()
    yield
    assert state() == before


# As a judge does -----------------------------------------------------------------------


@pytest.mark.parametrize("league", PLAYED)
def test_a_judge_gets_moves_in_each_league(program, tmp_path, league):
    moves = list(OPENING)
    with (
        Judged(program, *LEAGUES[league], tmp_path / "first") as first,
        Judged(program, *LEAGUES[league], tmp_path / "second") as second,
    ):
        for player in (first, second, first, second):
            move = player.move(moves)
            assert move not in moves
            assert all(0 <= at < LEAGUES[league][0] for at in move)
            moves.append(move)
        for player in (first, second):
            assert descendants(player.peer.pid) == []
            assert player.end() == 0  # by itself
            assert player.peak <= MEMORY
    assert [path for path in tmp_path.rglob("*") if not path.is_dir()] == []


FIVE = ("d10e10f10g10", "e4f4g4h4")  # black's four is open: either end wins
SIX = ("d10e10f10h10i10d4", "e4f4g4h4a1o15")  # g10 makes six in a row; i4 stops white's five
CLOSED = ("e10f10g10h10d4a15", "d10j10e4f4g4h4")
# In CLOSED i10 makes a five that is closed at both ends: in Caro it wins nothing, and white's five
# is stopped by i4 or closed by j4.


@pytest.mark.parametrize(
    ("stones", "answers"),
    [
        (FIVE, dict.fromkeys(LEAGUES, "c10h10")),
        (SIX, {"freestyle-20": "g10", "standard-15": "i4", "renju-15": "i4"}),
        (CLOSED, {"standard-15": "i10", "caro-15": "i4j4", "caro-exact-15": "i4j4"}),
    ],
    ids=["five", "six", "closed"],
)
def test_a_judge_sees_that_it_knows_the_rule_of_each_league(program, tmp_path, stones, answers):
    black, white = (parse_moves(text) for text in stones)
    moves = [move for pair in zip(black, white, strict=True) for move in pair]
    for league, expected in answers.items():
        with Judged(program, *LEAGUES[league], tmp_path / league) as player:
            assert player.move(moves) in parse_moves(expected), league
            assert player.end() == 0


def test_an_empty_board_comes_first(program, tmp_path):
    with Judged(program, *LEAGUES["freestyle-15"], tmp_path / "game") as player:
        time.sleep(0.3)  # frozen: it cannot even say OK
        x, y = player.move([])
        assert 0 <= x < 15 and 0 <= y < 15
        assert player.end() == 0


@pytest.mark.parametrize("league", PLAYED)
def test_a_whole_game_of_each_league(program, league):
    size, rule, turn, match = LEAGUES[league]
    command = f'"{program}"'
    options = ["--games", "2", "--judge", "--json", "--no-journal", "--view", "quiet"]
    options += ["--board", str(size), "--rule", str(rule), "--openings", "balanced:6"]
    options += ["--turn", str(turn / 3000), "--match", str(match / 3000)]
    options += ["--tolerance", str(TOLERANCE)]
    words = [sys.executable, "-c", shipping.RUN_TOOL, "match", command, command, *options]
    document = json.loads(shipping.run(words, PYTHONPATH=str(shipping.ROOT)))
    assert (document["games"], document["faults"]) == (2, [])


@pytest.mark.long
def test_a_whole_game_within_the_memory(program, tmp_path):
    game = Game(20)
    for move in OPENING:
        game.play(*move)
    with (
        Judged(program, 20, 0, 3000, 60_000, tmp_path / "first") as first,
        Judged(program, 20, 0, 3000, 60_000, tmp_path / "second") as second,
    ):
        players = first, second
        for player in players:
            player.write(ALL)
        while game.winner is None and not game.is_full:
            game.play(*players[game.ply % 2].move(game.moves))
        for player in players:
            assert player.end() == 0
    peaks = [player.peak for player in players]
    print(f"{game.ply} stones, peaks of {peaks[0]:,} and {peaks[1]:,} bytes")
    assert all(200_000_000 <= peak <= MEMORY for peak in peaks)


def test_most_of_the_memory_is_table(program, tmp_path):
    with Judged(program, 20, 0, FILLING, 180_000, tmp_path / "game") as player:
        player.write(ALL)
        player.move(OPENING)
        assert 200_000_000 <= player.peak <= MEMORY


# As the manager Piskvork does ----------------------------------------------------------

LIMITS = (83_886_080, 104_857_600, 367_001_600, 524_288_000)  # bytes; 350 MiB in tournaments
ROOM = 5_000_000  # bytes that are left below the limit
FILLED = 0.6  # of the limit: what a whole game of long turns uses at least


@pytest.mark.skipif(sys.platform != "win32", reason="managers measure it on Windows only")
@pytest.mark.parametrize("memory", LIMITS)
@pytest.mark.parametrize(
    "turn, most",
    [(100, 12), pytest.param(2000, 400, marks=pytest.mark.long)],
    ids=["short", "long"],
)
def test_the_peak_working_set_stays_below_the_limit(program, memory, turn, most):
    game = Game(20)
    with ExitStack() as stack:
        players = [stack.enter_context(Managed(program, 20, turn, memory)) for _ in range(2)]
        for player in players:
            player.write(ALL)
        while game.winner is None and not game.is_full and game.ply < most:
            game.play(*players[game.ply % 2].move(game))
        for player in players:
            assert player.end() == 0
    peaks = [player.peak for player in players]
    print(f"\nlimit {memory:,}: {game.ply} stones, peaks of {peaks[0]:,} and {peaks[1]:,} bytes")
    least = FILLED * memory if turn >= 2000 and game.winner is not None else 0
    assert all(least < peak <= memory - ROOM for peak in peaks)


def test_a_game_goes_on_after_a_pause(program):
    game = Game(15)
    game.play(7, 7)
    for anew in (False, True):
        with Managed(program, 15, 100, LIMITS[2]) as player:
            game.play(*player.move(game, anew=anew))
            game.play(*next((x, 0) for x in range(15) if (x, 0) not in game.moves))
            game.play(*player.move(game))
            game.play(*next((x, 14) for x in range(15) if (x, 14) not in game.moves))
            assert player.end() == 0
    assert game.ply == 9


# How it ends ---------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["END", "EOF", "kill"])
@pytest.mark.parametrize("thinking", [False, True], ids=["waiting", "thinking"])
def test_nothing_stays_behind(program, tmp_path, end, thinking):
    environment = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(tmp_path))
    with closing(EngineProcess([str(program)], str(tmp_path), environment)) as peer:
        peer.send("START 15", "INFO timeout_turn 60000")
        answer = peer.line(ANSWER_TIME)
        assert answer is not None and answer.text == "OK"
        if thinking:
            peer.send("TURN 7,7")
            time.sleep(0.2)
            assert peer.process.poll() is None
        if end == "kill":
            peer.process.kill()
        elif end == "END":
            peer.send("END")
        else:
            peer.write(None)
        status = peer.wait(ANSWER_TIME)
    assert peer.stderr == b""
    assert status == 0 or end == "kill"
    assert list(tmp_path.iterdir()) == []


# What surrounds it ---------------------------------------------------------------------


def answer_in(program: Path, folder: Path, environment: dict[str, str]) -> list[str]:
    """Return what the program says to a short dialogue in an environment that has only this."""
    if sys.platform == "win32":
        environment = {"SYSTEMROOT": os.environ["SYSTEMROOT"], **environment}
    result = subprocess.run(
        [str(program)], cwd=folder, env=environment, capture_output=True,
        input=b"START 15\nINFO timeout_turn 0\nTURN 7,7\nEND\n", timeout=2 * ANSWER_TIME,
    )  # fmt: skip
    assert (result.returncode, result.stderr) == (0, b"")
    return result.stdout.decode("ascii").split()


@pytest.mark.parametrize(
    "environment",
    ["", "LANG=C", "LC_ALL=POSIX", "LC_ALL=zh_CN.GBK", "LC_ALL=no_such.locale",
     "PYTHONIOENCODING=gbk", "PYTHONIOENCODING=cp1250:strict LANG=cs_CZ.CP1250",
     "PYTHONIOENCODING=nonsense", "PYTHONUTF8=0", "PYTHONHOME=/nowhere PYTHONPATH=/nowhere",
     "PYTHONWARNINGS=error PYTHONVERBOSE=2 PYTHONDEVMODE=1"],
)  # fmt: skip
def test_it_starts_in_every_environment(program, tmp_path, environment):
    words = dict(word.split("=") for word in environment.split())
    ok, move = answer_in(program, tmp_path, words)
    assert ok == "OK" and move.replace(",", "").isdigit()


def test_modules_in_the_current_folder_are_not_taken(program, tmp_path):
    for name in ("os", "encodings", "ctypes", "pbrain_engine"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('taken')\n", encoding="utf-8")
    assert answer_in(program, tmp_path, {})[0] == "OK"


@pytest.mark.parametrize("transcript", all_transcripts(), ids=lambda transcript: transcript.name)
def test_it_holds_the_dialogue_of_each_client(program, transcript):
    with closing(EngineProcess([str(program)])) as peer:
        replay(transcript, peer, lambda lines: peer.send(*lines, end=transcript.end), ANSWER_TIME)


# That it is the same engine ------------------------------------------------------------


def test_every_level_plays_as_the_sources_do(program):
    target = shipping.host()
    expected = shipping.bench("--depth", "7")
    for level in target.levels[: target.levels.index(str(processor_level(load()))) + 1]:
        found = shipping.run_bench([str(program)], "--depth", "7", "--level", level)
        assert found["level"] == level
        assert all(found[name] == expected[name] for name in ("nodes", "kernel", "weights"))


def test_the_version_tells_all(program):
    facts = dict(
        line.split(None, 1) for line in shipping.run([str(program), "--version"]).splitlines()
    )
    target = shipping.host()
    assert facts["kernel"].startswith(f"{target.name} {processor_level(load())} ")
    assert facts["bench"].isdigit()
    assert facts["numba"] == "not installed"


def test_other_tools_are_refused_in_one_line(program):
    result = subprocess.run([str(program), "match", "a", "b"], capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1 and "pbrain-numoku" in result.stderr
