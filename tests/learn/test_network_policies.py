"""Networks learn what tree searches made of the policy, where a file of games has it beside it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pbrain_engine.eval.weights import load_weights
from pbrain_engine.learn import datagen
from pbrain_engine.learn.network.parameters import Widths
from pbrain_engine.learn.network.pool import ALL, PositionPool, cells_of, read_pools
from pbrain_engine.learn.network.training import Run, TrainingSettings
from pbrain_engine.learn.policy_records import policies_path, read_taught_games

SMALL = Widths(32, 16, 16, 16, 16, 16)
SETTINGS = TrainingSettings("freestyle", steps=80, batch=1 << 20, rate=0.02, widths=SMALL)


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("taught") / "games.numoku"
    words = [str(path), "--games", "6", "--boards", "9", "--processes", "1"]
    assert datagen.main([*words, "--search", "mcts", "--visits", "32", "--seed", "5"]) == 0
    return path


def pool_of(*games: Path) -> PositionPool:
    (found,) = read_pools(games, [], "freestyle", load_weights("learned"))
    return found


@pytest.fixture(scope="module")
def pool(games: Path) -> PositionPool:
    return pool_of(games)


def test_positions_have_the_shares_that_the_search_gave(games: Path, pool: PositionPool) -> None:
    known = {
        tuple(record.moves[:ply]): (record.moves[ply], policy)
        for record, taught in read_taught_games(games)
        for ply, policy in enumerate(taught.policies, record.opening)
    }
    chunk, several = pool.chunk, 0
    for i, (at, ply) in enumerate(zip(chunk.at.tolist(), chunk.ply.tolist(), strict=True)):
        played, policy = known[tuple(chunk.moves[at - ply : at].tolist())]
        assert played == chunk.moves[at]
        cells = cells_of(chunk.near[i], 81)
        wanted = np.zeros(81)
        for cell, share in policy:
            wanted[cell] = ALL * share / policy[0][1]
        given = chunk.shares[chunk.score_at[i] : chunk.score_at[i] + len(cells)]
        assert np.abs(given - wanted[cells]).max() <= 0.5
        assert pool.shares(i).sum() == pytest.approx(1)
        several += len(policy) > 1
    assert several > len(pool) // 2


def test_without_policies_all_is_given_to_the_move(
    games: Path, pool: PositionPool, tmp_path: Path
) -> None:
    alone = tmp_path / games.name
    alone.write_bytes(games.read_bytes())
    plain = pool_of(alone)
    assert not len(plain.chunk.shares)
    both = pool_of(alone, games)  # the policies of one file are beside the moves of the other
    assert len(both.chunk.shares) == len(both.chunk.scores)
    assert (both.chunk.moves[: len(plain.chunk.moves)] == plain.chunk.moves).all()
    for i in range(len(plain)):
        assert (plain.shares(i) == both.shares(i)).all() and plain.shares(i).max() == 1
        assert (both.shares(len(plain) + i) == pool.shares(i)).all()
    assert policies_path(games).exists()


def test_the_loss_is_the_cross_entropy_of_the_shares(pool: PositionPool) -> None:
    run = Run(SETTINGS, [pool], load_weights("learned"), None)
    every = np.arange(len(pool))
    said = run.learner.measure(run.learner.numbers, run.batch(0, every))
    logits = said.logits.reshape(len(pool), -1).astype(np.float64)
    for i in np.flatnonzero(pool.picks).tolist():
        shares = pool.shares(i)
        mine = logits[i, : len(shares)]
        wanted = np.logaddexp.reduce(mine) - shares @ mine
        assert said.entropy[i] == pytest.approx(wanted, abs=1e-4)
    assert np.isnan(said.entropy[~pool.picks]).all()


def test_training_draws_the_policy_towards_the_shares(pool: PositionPool) -> None:
    run = Run(SETTINGS, [pool], load_weights("learned"), None)
    batch = run.batch(0, np.arange(len(pool)))
    before = np.nanmean(run.learner.measure(run.learner.numbers, batch).entropy)
    while run.step < run.settings.steps:
        run.learn(batch)
    after = np.nanmean(run.learner.measure(run.learner.numbers, batch).entropy)
    assert after < before - 0.1
