"""The package in a tournament of the manager Piskvork, as that starts, asks and measures it."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from pbrain_engine.game.game import Game
from tests.build.building import package, report
from tests.build.programs import Managed

pytestmark = pytest.mark.slow

LIMITS = (83_886_080, 104_857_600, 367_001_600, 524_288_000)  # bytes; 350 MiB in tournaments
ROOM = 5_000_000  # bytes that are left below the limit
ALL = "hash_size 1000000"  # kB: a table as large as the limit lets it be, in short turns too
FILLED = 0.6  # of the limit: what a whole game of long turns uses at least


@pytest.fixture(scope="module")
def program(tournament_zip: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("manager")
    report.unpack(tournament_zip, folder)
    return folder / package.PROGRAM


@pytest.mark.parametrize("memory", LIMITS)
@pytest.mark.parametrize(
    "turn, most",
    [(100, 24), pytest.param(2000, 400, marks=pytest.mark.long)],
    ids=["short", "long"],
)
def test_the_peak_working_set_stays_below_the_limit(
    program: Path, memory: int, turn: int, most: int
) -> None:
    game = Game(20)
    with ExitStack() as stack:
        players = [
            stack.enter_context(Managed(program, 20, turn, memory, more=ALL)) for _ in range(2)
        ]
        while game.winner is None and not game.is_full and game.ply < most:
            game.play(*players[game.ply % 2].move(game))
        for player in players:
            assert player.end() == 0
    peaks = [player.peak for player in players]
    print(f"\nlimit {memory:,}: {game.ply} stones, peaks of {peaks[0]:,} and {peaks[1]:,} bytes")
    if sys.platform == "win32":
        is_long = turn >= 2000 and game.winner is not None
        least = FILLED * memory if is_long else 0
        assert all(least < peak <= memory - ROOM for peak in peaks)


def test_a_game_goes_on_after_a_pause(program: Path) -> None:
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
