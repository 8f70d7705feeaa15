"""The trainer's gradients are the slopes of its losses, found by differences.

Those of the program are rough, those of doubles exact; but for these the loops compile anew.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numba.core import dispatcher

from pbrain_engine.eval.weights import load_weights
from pbrain_engine.learn.network import rows
from pbrain_engine.learn.network.batch import Batch, Threads, make_batch, patterns
from pbrain_engine.learn.network.dataset import read_datasets
from pbrain_engine.learn.network.gradients import LEVEL_BEND, accumulate_gradients
from pbrain_engine.learn.network.layout import DECAY, OWN_DECAY, Layout, Widths
from pbrain_engine.learn.network.learner import Adam, AdamStep, Learner
from pbrain_engine.position.rules import Rule

SAMPLE = Path(__file__).parents[1] / "games" / "sample.games"
SMALL = Widths(32, 48, 16, 64, 32, 48)  # all that can differ do
SHARES = 2.0, 1.0, 0.7  # of the losses of value, move and level


def test_loops_are_compiled_where_no_folder_for_them_can_be_written(monkeypatch):
    def refuse(function: object) -> None:
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(dispatcher, "FunctionCache", refuse)
    assert rows.loop(lambda number: number + 1)(1) == 2


def loss_of(learner: Learner, batch: Batch) -> float:
    """Return the loss whose gradient ``learn`` adds up."""
    said = learner.measure(learner.numbers, batch)
    value, policy = (np.nansum(each, dtype=np.float64) for each in (said.target, said.entropy))
    total = SHARES[0] * value + SHARES[1] * policy
    counts = batch.positions.candidates(batch.chosen)
    logits = said.logits.reshape(len(counts), -1)
    for row, count in zip(logits, counts, strict=True):
        mean = abs(row[:count].mean(dtype=np.float64)) if count else 0.0
        bent = mean * mean / 2 / LEVEL_BEND if mean < LEVEL_BEND else mean - LEVEL_BEND / 2
        total += SHARES[2] * bent
    return float(total)


def excited(layout: Layout, seed: int) -> np.ndarray:
    """Return numbers in double precision of which all matter."""
    chance = np.random.default_rng(seed)
    numbers = layout.start(seed, np.float64)
    for name, part in layout.views(numbers).items():
        if not name.endswith("share"):
            part += chance.normal(0, 0.15, part.shape)
    return numbers


@pytest.mark.parametrize("family", ["freestyle", "renju"])
@pytest.mark.parametrize("kind", [np.float32, pytest.param(np.float64, marks=pytest.mark.long)])
def test_gradients_are_slopes(family, kind):
    dataset = read_datasets([SAMPLE], [], family, load_weights("learned"))[0].with_targets(0.7)
    chance = np.random.default_rng(3)
    known, tied = patterns(Rule.parse(family).traits.half), family != "renju"
    layout = Layout(known, tied, SMALL)
    learner = Learner(layout, excited(layout, 5).astype(kind), Threads(1))
    chosen = chance.choice(dataset.size, 24, replace=False)
    batch = make_batch(dataset, chosen, 200.0, known, tied, learner.threads)
    learner.learn(batch, SHARES)
    gradient = learner.gradients[0].copy()
    assert all(np.abs(gradient[part.start : part.end]).max() > 0 for part in layout.parts)
    for part in layout.parts:
        numbers, own = (of[part.start : part.end] for of in (learner.numbers, gradient))
        count = len(numbers)
        if kind is np.float32:
            steepest, largest = own / np.linalg.norm(own), np.eye(1, count, np.abs(own).argmax())[0]
            directions, step, near = [steepest, largest], min(1e-2, 1 / np.linalg.norm(own)), 0.02
        else:
            directions = [np.eye(1, count, i)[0] for i in chance.choice(np.flatnonzero(own), 2)]
            directions.append(chance.normal(0, 1, count) / np.sqrt(count))
            step, near = 1e-6, 2e-5
        for direction in directions:
            ends = []
            before = numbers.copy()
            for sign in (1, -1):
                numbers[:] = before + sign * step * direction
                ends.append(loss_of(learner, batch))
            numbers[:] = before
            slope = (ends[0] - ends[1]) / (2 * step)
            wanted = float(own @ direction)
            assert slope == pytest.approx(wanted, rel=near, abs=near), part.name


def test_adam_takes_the_steps_of_its_formula():
    layout, chance = Layout(patterns(4), True, SMALL), np.random.default_rng(9)
    adam = Adam.begin(layout.start(2, np.float64), chance.normal(0, 1, layout.count))
    numbers, mean = adam.numbers.copy(), adam.numbers.copy()
    slope = square = np.zeros(layout.count)
    decay = np.concatenate([
        np.full(part.end - part.start, OWN_DECAY if part.name[-4:] in (".own", "sets") else DECAY)
        for part in layout.parts
    ])  # fmt: skip
    for step in (1, 2, 3):
        gradient = chance.normal(0, 1, layout.count) / 20
        adam.update(gradient, layout.parts, AdamStep(0.01, 0.0, step, 0.5), Threads(2))
        slope, square = 0.9 * slope + 0.1 * gradient, 0.99 * square + 0.01 * gradient**2
        towards = slope / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
        numbers = numbers - 0.01 * (towards + decay * (numbers - adam.anchor))
        mean = (mean + numbers) / 2
        np.testing.assert_allclose(adam.numbers, numbers, rtol=0, atol=1e-12)
        np.testing.assert_allclose(adam.mean, mean, rtol=0, atol=1e-12)


def test_loops_are_compiled_anew_where_a_module_of_theirs_has_changed():
    stamp = accumulate_gradients._cache._cache_file._source_stamp
    assert {"forward.py", "gradients.py", "rows.py"} <= {name for name, _ in stamp}
