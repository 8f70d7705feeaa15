"""Tuning: both methods climb, a run goes on where it stopped, and says what it has found."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pbrain_engine import tuning as module
from pbrain_engine.search.parameters import PARAMETERS
from pbrain_engine.tuning import SOURCE, SOURCE_NAME, STEP_SHARE, Spsa
from tests.golden import tuning

FAST = ["--nodes", "400", "--board", "9", "--openings", "random:4", "--engine", "numoku:hash=1024"]


@pytest.mark.parametrize(("step", "rate"), [(0.5, None), (1e308, None), (STEP_SHARE, 1e308)])
def test_whatever_is_tried_stays_in_range(step, rate):
    method = Spsa((), {"count_base": 1, "aspiration": 100}, 64, 3, step, rate)
    while duels := method.ask():
        for tried in (method.best, *(each for duel in duels for each in (duel.first, duel.second))):
            for name, value in tried.items():
                assert PARAMETERS[name].low <= value <= PARAMETERS[name].high
                assert isinstance(value, int)
        method.tell(duels, [duel.opening % 5 for duel in duels])


def test_a_stopped_run_goes_on_to_the_same_end(tmp_path):
    words = ["--batch", "2", *FAST, "--games", "8", "--parameters", "futility_slope,aspiration"]
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    assert module.main([str(whole), *words]) == 0
    lines = whole.read_bytes().splitlines(keepends=True)
    cut.write_bytes(b"".join(lines[:2]) + lines[2][:20])
    assert module.main([str(cut), *words, "--concurrency", "2"]) == 0
    assert cut.read_bytes().splitlines()[1:] == whole.read_bytes().splitlines()[1:]


def test_a_patch_is_one_for_git_and_sets_the_defaults(tmp_path):
    best = {"futility_slope": 99, "reduction_scale": 33, "delta": PARAMETERS["delta"].default}
    target = tmp_path / SOURCE_NAME
    target.parent.mkdir(parents=True)
    target.write_text(SOURCE.read_text(encoding="utf-8"), encoding="utf-8")
    change = module.patch(best)
    subprocess.run(["git", "apply"], cwd=tmp_path, input=change, text=True, check=True)
    scope: dict[str, object] = {"__name__": "patched"}
    exec(compile(target.read_text(encoding="utf-8"), str(target), "exec"), scope)
    table = scope["PARAMETERS"]
    assert {name: table[name].default for name in best} == best


@pytest.mark.skipif(sys.platform == "win32", reason="paths are others there")
def test_runs_ask_for_games_and_say_what_is_recorded():
    tuning.runs.check()
