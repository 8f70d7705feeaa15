"""Tuning: both methods climb, a run goes on where it stopped, and says what it has found."""

from __future__ import annotations

import math
import random
import subprocess
import sys
from pathlib import Path

import pytest

from pbrain_engine.search.parameters import PARAMETERS
from pbrain_engine.tuning import command
from pbrain_engine.tuning.command import SOURCE, SOURCE_NAME
from pbrain_engine.tuning.spsa import STEP_SHARE, Duel, Space, Spsa
from tests.golden import tuning

NAMES = ("futility_slope", "reduction_scale", "aspiration")
START = {"futility_slope": 62, "reduction_scale": 31, "aspiration": 16}
TOP = {"futility_slope": 100, "reduction_scale": 60, "aspiration": 60}
FAST = ["--nodes", "400", "--board", "9", "--openings", "random:4", "--engine", "numoku:hash=1024"]


def strength(space: Space, point: dict[str, int]) -> float:
    """Elo of a parameter set in a made-up world: 4 less for each step from the top, squared."""
    return -4 * sum(((point[name] - TOP[name]) / space.steps[name]) ** 2 for name in NAMES)


def throw(space: Space, duel: Duel, chance: random.Random) -> int:
    """Half points of a duel in that world."""
    difference = strength(space, dict(duel.first)) - strength(space, dict(duel.second))
    expected = 1 / (1 + math.pow(10, -difference / 400))
    return 2 * sum(chance.random() < expected for _ in range(2))


def climb(method: Spsa) -> float:
    """Run a method in that world and return what it gained."""
    chance = random.Random(5)
    while duels := method.ask():
        method.tell(duels, [throw(method.space, duel, chance) for duel in duels])
    space = method.space
    return strength(space, method.best) - strength(space, space.start)


def test_the_best_set_is_stronger_than_the_start() -> None:
    method = Spsa(Space(NAMES, START), 2000, 1)
    start = strength(method.space, method.space.start)
    assert climb(method) > -start / 2


def test_whatever_is_tried_stays_in_range() -> None:
    method = Spsa(Space(start={"count_base": 1, "aspiration": 100}, step_share=0.5), 64, 3)
    while duels := method.ask():
        for duel in duels:
            for name, value in [*duel.first.items(), *duel.second.items()]:
                assert PARAMETERS[name].low <= value <= PARAMETERS[name].high
                assert isinstance(value, int)
        method.tell(duels, [4] * len(duels))


def test_a_step_of_less_than_one_is_tried_in_some_games() -> None:
    space, chance = Space(("count_base",)), random.Random(1)
    tried = [space.round_by_chance({"count_base": 3.25}, chance)["count_base"] for _ in range(400)]
    assert set(tried) == {3, 4}
    assert 60 < tried.count(4) < 140


def test_a_stopped_run_goes_on_to_the_same_end(tmp_path: Path) -> None:
    words = ["--batch", "2", *FAST, "--games", "12", "--parameters", "futility_slope,aspiration"]
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    assert command.main([str(whole), *words]) == 0
    lines = whole.read_bytes().splitlines(keepends=True)
    cut.write_bytes(b"".join(lines[:2]) + lines[2][:20])
    assert command.main([str(cut), *words, "--concurrency", "2"]) == 0
    assert cut.read_bytes().splitlines()[1:] == whole.read_bytes().splitlines()[1:]


@pytest.mark.parametrize(("step", "rate"), [(1e308, None), (STEP_SHARE, 1e308)])
def test_steps_without_measure_end_within_the_ranges(step: float, rate: float | None) -> None:
    space = Space(step_share=step)
    method = Spsa(space, 30, 7, rate)
    while duels := method.ask():
        method.tell(duels, [duel.opening % 5 for duel in duels])
    for name, value in method.best.items():
        low, high = space.bounds(name)
        assert low <= value <= high


def test_a_patch_is_one_for_git_and_sets_the_defaults(tmp_path: Path) -> None:
    best = {"futility_slope": 99, "reduction_scale": 33, "delta": PARAMETERS["delta"].default}
    target = tmp_path / SOURCE_NAME
    target.parent.mkdir(parents=True)
    target.write_text(SOURCE.read_text(encoding="utf-8"), encoding="utf-8")
    change = command.patch(best)
    subprocess.run(["git", "apply"], cwd=tmp_path, input=change, text=True, check=True)
    scope: dict[str, object] = {"__name__": "patched"}
    exec(compile(target.read_text(encoding="utf-8"), str(target), "exec"), scope)
    table = scope["PARAMETERS"]
    assert {name: table[name].default for name in best} == best  # type: ignore[index]


@pytest.mark.skipif(sys.platform == "win32", reason="paths are others there")
def test_runs_ask_for_games_and_say_what_is_recorded() -> None:
    known = tuning.FILE.read_text(encoding="utf-8")
    assert tuning.runs(known) == known
