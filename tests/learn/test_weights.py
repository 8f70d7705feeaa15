"""What the learned weights have learned from, and what they foretell better for it."""

from __future__ import annotations

from pathlib import Path

from pbrain_engine.eval.weights import load_weights
from pbrain_engine.learn.measure import measure
from pbrain_engine.notation.games import read_about, read_games

SAMPLE = Path(__file__).parents[1] / "games" / "sample.games"  # another seed than learned from


def test_the_sample_is_whole_and_of_another_seed() -> None:
    games = list(read_games(SAMPLE))
    assert [game.number for game in games] == list(range(100))
    learned_from = [v for k, v in load_weights("learned").about.items() if "games" in k]
    assert len(learned_from) > 1
    assert not any(f"seed {read_about(SAMPLE)['seed']}," in source for source in learned_from)


def test_learned_weights_foretell_better_than_hand_set_ones_and_networks_best() -> None:
    found = measure([SAMPLE], [load_weights(name) for name in ("hand", "learned", "network")])
    for hand, learned, network in zip(found[::3], found[1::3], found[2::3], strict=True):
        assert hand.positions == learned.positions == network.positions > 300
        assert learned.value.target < hand.value.target
        assert learned.score.entropy < hand.score.entropy - 0.3
        assert learned.score.rank < hand.score.rank
        assert network.score.entropy < learned.score.entropy - 0.3
        assert network.score.first > learned.score.first
