"""The trainer's gradients are the slopes of its losses, found by differences in doubles."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pbrain_engine.eval.weights import load_weights
from pbrain_engine.learn.network.learner import (
    DECAY,
    OWN_DECAY,
    Adam,
    Batch,
    Form,
    Learner,
    Source,
    Threads,
    Widths,
)
from pbrain_engine.learn.network.patterns import half_of, patterns
from pbrain_engine.learn.network.pool import PositionPool, read_pools
from pbrain_engine.learn.network.position_loops import LEVEL_BEND

SAMPLE = Path(__file__).parents[1] / "games" / "sample.games"
SMALL = Widths(32, 48, 16, 64, 32, 48)  # all that can differ do
SHARES = 2.0, 1.0, 0.7  # of the losses of value, move and level
STEP = 1e-6


def loss_of(learner: Learner, pool: PositionPool, batch: Batch) -> float:
    """Return the loss whose gradient ``learn`` adds up."""
    said = learner.measure(learner.numbers, batch)
    total = SHARES[0] * np.nansum(said.target) + SHARES[1] * np.nansum(said.entropy)
    counts = np.diff(np.append(pool.chunk.score_at, len(pool.chunk.scores)))[batch.chosen]
    logits = said.logits.reshape(len(batch), -1)
    for row, count in zip(logits, counts, strict=True):
        mean = abs(row[:count].mean()) if count else 0.0
        bent = mean * mean / 2 / LEVEL_BEND if mean < LEVEL_BEND else mean - LEVEL_BEND / 2
        total += SHARES[2] * bent
    return float(total)


def excited(form: Form, seed: int) -> np.ndarray:  # type: ignore[type-arg]
    """Return numbers in double precision of which all matter."""
    chance = np.random.default_rng(seed)
    numbers = form.start(seed, np.float64)
    for name, part in form.views(numbers).items():
        if not name.endswith("share"):
            part += chance.normal(0, 0.15, part.shape)
    return numbers


@pytest.mark.parametrize("family", ["freestyle", "renju"])
def test_gradients_are_slopes(family: str) -> None:
    pool = read_pools([SAMPLE], [], family, load_weights("learned"))[0]
    chance = np.random.default_rng(3)
    form = Form(patterns(half_of(family)), family != "renju", SMALL)
    source = Source(pool, pool.targets(0.7), "fair", 200.0)
    learner = Learner(form, excited(form, 5), Threads(1))
    batch = Batch(form, source, chance.choice(len(pool), 24, replace=False), learner.threads)
    learner.learn(batch, SHARES)
    gradient = learner.gradients[0].copy()
    assert all(np.abs(gradient[part.start : part.end]).max() > 0 for part in form.parts)
    for part in form.parts:
        numbers, own = (of[part.start : part.end] for of in (learner.numbers, gradient))
        count = len(numbers)
        directions = [np.eye(1, count, int(i))[0] for i in chance.choice(np.flatnonzero(own), 2)]
        mixed = chance.normal(0, 1, count) / np.sqrt(count)
        for direction in (*directions, mixed):
            ends = []
            before = numbers.copy()
            for sign in (1, -1):
                numbers[:] = before + sign * STEP * direction
                ends.append(loss_of(learner, pool, batch))
            numbers[:] = before
            slope = (ends[0] - ends[1]) / (2 * STEP)
            wanted = float(own @ direction)
            assert slope == pytest.approx(wanted, rel=2e-5, abs=2e-5), part.name


def test_adam_takes_the_steps_of_its_formula() -> None:
    form = Form(patterns(4), True, SMALL)
    chance = np.random.default_rng(9)
    learner = Learner(form, form.start(2, np.float64), Threads(2))
    anchor = chance.normal(0, 1, form.count)
    adam = Adam(learner.numbers, anchor)
    numbers, mean = learner.numbers.copy(), learner.numbers.copy()
    slope = square = np.zeros(form.count)
    decay = np.concatenate([
        np.full(part.end - part.start, OWN_DECAY if part.name[-4:] in (".own", "sets") else DECAY)
        for part in form.parts
    ])  # fmt: skip
    for step in (1, 2, 3):
        gradient = chance.normal(0, 1, form.count) / 20
        learner.gradients[0][:] = gradient
        adam.update(learner, 0.01, 1.0, 0.5)
        gradient /= max(1.0, np.linalg.norm(gradient))
        slope, square = 0.9 * slope + 0.1 * gradient, 0.99 * square + 0.01 * gradient**2
        towards = slope / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
        numbers = numbers - 0.01 * (towards + decay * (numbers - anchor))
        mean = (mean + numbers) / 2
        np.testing.assert_allclose(learner.numbers, numbers, rtol=0, atol=1e-12)
        np.testing.assert_allclose(adam.mean, mean, rtol=0, atol=1e-12)
