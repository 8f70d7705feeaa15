"""Networks learn what tree searches made of the policy, where a file of games has it beside it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from pbrain_engine.eval.weights import load_weights  # noqa: E402
from pbrain_engine.learn import datagen  # noqa: E402
from pbrain_engine.learn.network.lessons import ALL, NO_SCORE, Lessons, prepare  # noqa: E402
from pbrain_engine.learn.network.model import Inputs, Widths, losses  # noqa: E402
from pbrain_engine.learn.network.teacher import taught_losses  # noqa: E402
from pbrain_engine.learn.network.training import Run, Settings  # noqa: E402
from pbrain_engine.learn.policy_records import policies_path, read_taught_games  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")

SETTINGS = Settings("freestyle", steps=30, batch=32, widths=Widths(8, 4, 4, 8, 4, 8))


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("taught") / "games.numoku"
    words = [str(path), "--games", "6", "--boards", "9", "--processes", "1"]
    assert datagen.main([*words, "--search", "mcts", "--visits", "32", "--seed", "5"]) == 0
    return path


def prepared(games: Path, folder: Path) -> Lessons:
    (found,) = prepare([games], [], "freestyle", load_weights("learned"), folder)
    return found


@pytest.fixture(scope="module")
def lessons(games: Path, tmp_path_factory: pytest.TempPathFactory) -> Lessons:
    return prepared(games, tmp_path_factory.mktemp("lessons") / "freestyle")


def inputs_of(run: Run) -> Inputs:
    (source,) = run.sources
    return run.inputs(0, np.arange(len(source.lessons)))


def test_positions_have_the_shares_that_the_search_gave(games: Path, lessons: Lessons) -> None:
    known = {
        tuple(sorted(record.moves[:ply])): (record.moves[ply], policy)
        for record, taught in read_taught_games(games)
        for ply, policy in enumerate(taught.policies, record.opening)
    }
    several = 0
    for board, move, shares in zip(lessons.board, lessons.move, lessons.share, strict=True):
        played, policy = known[tuple(np.flatnonzero(board != 3))]
        assert played == move and shares.max() == ALL
        most = policy[0][1]
        wanted = np.zeros(81)
        for cell, share in policy:
            wanted[cell] = ALL * share / most
        assert np.abs(shares - wanted).max() <= 0.5
        several += len(policy) > 1
    assert several > len(lessons) // 2


def test_without_policies_all_is_given_to_the_move(
    games: Path, lessons: Lessons, tmp_path: Path
) -> None:
    alone = tmp_path / games.name
    alone.write_bytes(games.read_bytes())
    plain = prepared(alone, tmp_path / "plain")
    rows = np.arange(len(plain))
    assert (plain.share[rows, plain.move] == ALL).all()
    assert (np.count_nonzero(plain.share, axis=1) == 1).all()
    assert (plain.board == lessons.board).all(), "the games are the same"


def test_policies_that_come_later_are_prepared_anew(games: Path, tmp_path: Path) -> None:
    alone = tmp_path / games.name
    alone.write_bytes(games.read_bytes())
    assert (np.count_nonzero(prepared(alone, tmp_path / "them").share, axis=1) == 1).all()
    policies_path(alone).write_bytes(policies_path(games).read_bytes())
    assert (np.count_nonzero(prepared(alone, tmp_path / "them").share, axis=1) > 1).any()


def test_the_loss_is_the_cross_entropy_of_the_shares(lessons: Lessons) -> None:
    run = Run(SETTINGS, [lessons], load_weights("learned"))
    inputs = inputs_of(run)
    with torch.no_grad():
        odds, logits = run.network(inputs)
        told = odds, torch.zeros_like(logits)
        found = losses(odds, logits, inputs).entropy
        only_games = taught_losses((odds, logits), told, inputs, 0.0).move
    wanted = []
    rows, all_logits = inputs.rows.numpy(), logits.double().numpy()
    for row in np.flatnonzero(inputs.chooses.numpy()):
        chances = all_logits[rows == row] - np.logaddexp.reduce(all_logits[rows == row])
        given = lessons.share[row][lessons.score[row] != NO_SCORE].astype(float)
        wanted.append(-(given / given.sum() * chances).sum())
    assert np.allclose(found, wanted, atol=1e-5)
    assert float(only_games) == pytest.approx(np.mean(wanted), abs=1e-5)


def test_training_draws_the_policy_towards_the_shares(lessons: Lessons) -> None:
    run = Run(SETTINGS._replace(steps=80, rate=0.02), [lessons], load_weights("learned"))
    inputs = inputs_of(run)
    with torch.no_grad():
        before = losses(*run.network(inputs), inputs).entropy.mean()
    while run.step < run.settings.steps:
        run.learn(inputs)
    with torch.no_grad():
        after = losses(*run.network(inputs), inputs).entropy.mean()
    assert after < before - 0.1
