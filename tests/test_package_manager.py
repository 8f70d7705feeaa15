"""The package in a tournament of the manager Piskvork, as that starts, asks and measures it.

Where ``NUMOKU_PISKVORK`` names ``piskvork.exe``, the manager itself plays a game, too.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pbrain_engine.game.game import Game
from pbrain_engine.notation.psq import parse_psq
from pbrain_engine.position.rules import Side

from .building import package, report
from .managed import Managed

LIMITS = (83_886_080, 104_857_600, 367_001_600, 524_288_000)  # bytes; 350 MiB in tournaments
ROOM = 5_000_000  # bytes that are left below the limit
ALL = "hash_size 1000000"  # kB: a table as large as the limit lets it be, in short turns too
FILLED = 0.6  # of the limit: what a whole game uses at least

PISKVORK = os.environ.get("NUMOKU_PISKVORK", "")
STATUS = {Side.BLACK: 1, Side.WHITE: 2}  # of Piskvork after a game: who has more points
WHOLE_GAME = 600.0  # seconds; generous, for a loaded machine


@pytest.fixture(scope="module")
def program(tournament_zip: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("manager")
    report.unpack(tournament_zip, folder)
    return folder / package.PROGRAM


def play(players: list[Managed], game: Game, most: int) -> None:
    while game.winner is None and not game.is_full and game.ply < most:
        game.play(*players[game.ply % 2].move(game))


@pytest.mark.parametrize("memory", LIMITS)
@pytest.mark.parametrize(
    "turn, most",
    [(100, 24), pytest.param(2000, 400, marks=pytest.mark.long)],
    ids=["short", "long"],
)
def test_the_peak_working_set_stays_below_the_limit(
    program: Path, memory: int, turn: int, most: int
) -> None:
    players = [Managed(program, 20, turn, memory, more=ALL) for _ in range(2)]
    try:
        game = Game(20)
        play(players, game, most)
        for player in players:
            assert player.end() == 0
    finally:
        for player in players:
            player.close()
    peaks = [player.peak for player in players]
    print(f"\nlimit {memory:,}: {game.ply} stones, peaks of {peaks[0]:,} and {peaks[1]:,} bytes")
    if sys.platform == "win32":
        least = 0 if game.winner is None else FILLED * memory
        assert all(least < peak <= memory - ROOM for peak in peaks)


def test_a_game_goes_on_after_a_pause(program: Path) -> None:
    game = Game(15)
    game.play(7, 7)
    for anew in (False, True):
        player = Managed(program, 15, 100, LIMITS[2])
        try:
            game.play(*player.move(game, anew=anew))
            game.play(*next((x, 0) for x in range(15) if (x, 0) not in game.moves))
            game.play(*player.move(game))
            game.play(*next((x, 14) for x in range(15) if (x, 14) not in game.moves))
            assert player.end() == 0
        finally:
            player.close()
    assert game.ply == 9


@pytest.mark.skipif(sys.platform != "win32" or not PISKVORK, reason="there is no Piskvork here")
@pytest.mark.parametrize("memory", [80, 350])
def test_piskvork_itself_sees_a_game_to_its_end(program: Path, tmp_path: Path, memory: int) -> None:
    record = tmp_path / "game.psq"
    options = ["-rule", "0", "-timeturn", "500", "-timematch", "120", "-memory", str(memory)]
    command = [PISKVORK, "-p", str(program), str(program), *options, "-opening", "-1"]
    result = subprocess.run(
        [*command, "-outfile", str(record)], cwd=Path(PISKVORK).parent, timeout=WHOLE_GAME
    )
    game = Game(20)
    for move in parse_psq(record.read_text(encoding="ascii")).moves:
        game.play(move.x, move.y)
    assert game.winner is not None  # else somebody ran out of time or memory, or said nonsense
    assert result.returncode == STATUS[game.winner]
