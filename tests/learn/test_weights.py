"""The learned weights foretell games that they have not learned from better than the hand-set."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from pbrain_engine import cli
from pbrain_engine.eval.weights import FAMILIES, load_weights
from pbrain_engine.learn.measure import Measure, measure
from pbrain_engine.learn.records import Ending, encode, header, is_held_out, read_about, read_games
from pbrain_engine.position.rules import Rule

SAMPLE = Path(__file__).parents[1] / "games" / "sample.games"  # another seed than learned from


@pytest.fixture(scope="module")
def measures() -> dict[str, tuple[Measure, Measure]]:
    """Return by family what hand-set and learned weights say of the sample."""
    found = measure([SAMPLE], [load_weights("hand"), load_weights("learned")])
    return {a.family: (a, b) for a, b in zip(found[::2], found[1::2], strict=True)}


def test_the_sample_is_whole_and_of_another_seed() -> None:
    games = list(read_games(SAMPLE))
    assert [game.number for game in games] == list(range(100))
    learned_from = [v for k, v in load_weights("learned").about.items() if "games" in k]
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


def test_networks_are_measured_as_they_play() -> None:
    found = measure([SAMPLE], [load_weights("learned"), load_weights("network")])
    for linear, network in zip(found[::2], found[1::2], strict=True):
        assert linear.positions == network.positions
        if load_weights("network").network(Rule.parse(linear.family)) is None:
            assert linear.value == network.value and linear.score == network.score
        else:
            assert network.score.entropy < linear.score.entropy - 0.3
            assert network.score.first > linear.score.first


def test_branches_are_measured_by_their_searches(tmp_path: Path) -> None:
    mixed, path = tmp_path / "mixed", tmp_path / "branches"
    words = ["datagen", str(mixed), "--games", "6", "--nodes", "400", "--processes", "1"]
    assert cli.main([*words, "--weights", "learned", "--branch-share", "0.5"]) == 0
    branches = [encode(each) for each in read_games(mixed) if each.ending is Ending.BRANCH]
    path.write_bytes(header(read_about(mixed)) + b"".join(branches))
    hand, learned = measure([path], [load_weights("hand"), load_weights("learned")])[:2]
    assert learned.value.target < hand.value.target < math.log(2)
    assert learned.score.entropy < hand.score.entropy
    assert math.isnan(learned.value.result)


def test_games_that_a_fit_would_hold_out_are_measured(tmp_path: Path) -> None:
    path, games = tmp_path / "games", [r for r in read_games(SAMPLE) if is_held_out(r.number)]
    path.write_bytes(header(read_about(SAMPLE)) + b"".join(map(encode, games)))
    for found in measure([path], [load_weights("learned")]):
        assert found.positions > 2 and 0 < found.value.target < 1


def test_all_losses_together_show_what_was_gained(
    measures: dict[str, tuple[Measure, Measure]],
) -> None:
    total = sum(hand.positions for hand, _ in measures.values())
    gains = (
        hand.positions * (hand.value.result - new.value.result) for hand, new in measures.values()
    )
    assert sum(gains) / total > 0.005
