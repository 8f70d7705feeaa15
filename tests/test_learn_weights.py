"""The learned weights foretell games that they have not learned from better than the hand-set."""

from __future__ import annotations

from pathlib import Path

import pytest

from pbrain_engine.engine.engine import DEFAULT_WEIGHTS
from pbrain_engine.eval.weights import FAMILIES, load_weights
from pbrain_engine.learn.measure import Measure, measure
from pbrain_engine.learn.records import read_about, read_games

SAMPLE = Path(__file__).parent / "games" / "sample.games"  # another seed than what was learned from


@pytest.fixture(scope="module")
def measures() -> dict[str, tuple[Measure, Measure]]:
    """Return by family what hand-set and learned weights say of the sample."""
    found = measure([SAMPLE], [load_weights("hand"), load_weights(DEFAULT_WEIGHTS)])
    return {a.family: (a, b) for a, b in zip(found[::2], found[1::2], strict=True)}


def test_the_sample_is_whole_and_of_another_seed() -> None:
    games = list(read_games(SAMPLE))
    assert [game.number for game in games] == list(range(100))
    learned_from = [v for k, v in load_weights(DEFAULT_WEIGHTS).about.items() if "games" in k]
    assert len(learned_from) > 1
    assert not any(f"seed {read_about(SAMPLE)['seed']}," in source for source in learned_from)


@pytest.mark.parametrize("family", FAMILIES)
def test_learned_weights_foretell_better(
    measures: dict[str, tuple[Measure, Measure]], family: str
) -> None:
    hand, learned = measures[family]
    assert hand.positions == learned.positions > 300
    assert learned.value.target < hand.value.target
    assert learned.score.entropy < hand.score.entropy - 0.3
    assert learned.score.rank < hand.score.rank


def test_all_losses_together_show_what_was_gained(
    measures: dict[str, tuple[Measure, Measure]],
) -> None:
    total = sum(hand.positions for hand, _ in measures.values())
    gains = (
        hand.positions * (hand.value.result - new.value.result) for hand, new in measures.values()
    )
    assert sum(gains) / total > 0.005
