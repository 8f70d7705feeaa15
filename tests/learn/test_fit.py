"""What a fit shows in no loss, and weight files: damage, notes, and names."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from lab import learn_smoke
from pbrain_engine import cli
from pbrain_engine.engine.engine import Engine, Limit
from pbrain_engine.eval.weights import WeightsError, load_weights
from pbrain_engine.learn.features import Choices
from pbrain_engine.learn.score_model import LITTLE, ScoreData, keep_zero
from pbrain_engine.position.rules import Rule


def some_choices(count: int, wanted: int) -> ScoreData:
    """Return choices of one combination among others near it."""
    chance = np.random.default_rng(5)
    own = chance.integers(50, 60, (count, 8)).astype(np.int16)
    own[own == wanted] = 58
    chosen = chance.integers(0, 8, count)
    own[np.arange(count), chosen] = wanted
    none = np.zeros(8 * count, np.int16)
    starts = np.arange(count + 1) * 8
    choices = Choices(
        starts, own.ravel(), none, starts[:-1] + chosen, *np.zeros((2, count), np.int8)
    )
    return ScoreData(choices, symmetric=True)


def test_thinned_choices_are_some_of_all() -> None:
    data = some_choices(100, 57)._choices
    assert data.thin(100) is data
    some = data.thin(30)
    assert len(some) == 25
    assert (some.own[some.chosen] == 57).all()


def test_as_many_moves_score_little_as_at_the_start() -> None:
    data = some_choices(100, 57)
    start = np.zeros((1, 2, 2380))
    start[0, 0, 50:55] = 4 * LITTLE  # near half of all candidates
    learned = np.arange(2380.0) * 3 + np.zeros((1, 2, 1)) - 500
    shifted = keep_zero(data, start, learned)
    assert (np.diff(shifted[0, 0]) == 3).all()
    assert (shifted[0, 1] == learned[0, 1]).all()
    block = next(data.blocks())
    little = [(block.logits(table.ravel()) < LITTLE).mean() for table in (start, shifted)]
    assert little[1] == pytest.approx(little[0], abs=0.15)
    assert 0.3 < little[0] < 0.7


def test_the_smoke_learns_weights_that_play_and_damaged_ones_are_refused_everywhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert learn_smoke.run(tmp_path, games=64, nodes=60, match_games=2) == 0
    path, games = tmp_path / "smoke.numoku", str(tmp_path / "smoke.games")
    learned, hand = load_weights(str(path)), load_weights("hand")
    for rule in Rule:
        is_learned = rule in (Rule.FREESTYLE, Rule.RENJU)
        assert (learned.block(rule) != hand.block(rule)) == is_learned
    with Engine(hash_size=1 << 20, weights=str(path)) as engine:
        engine.play(7, 7)
        assert engine.think(Limit(depth=4)).move in engine.game.legal_moves()
    assert cli.main(["weights", str(path), "--note", "two", "a\nb"]) == 1
    assert load_weights(str(path)) == learned
    raw = bytearray(path.read_bytes())
    raw[-1000] ^= 1
    path.write_bytes(bytes(raw))
    with pytest.raises(WeightsError, match="damaged"):
        Engine(weights=str(path))
    capsys.readouterr()
    for words in (
        ["weights", str(path)],
        ["fit", games, "--out", str(tmp_path / "x"), "--start", str(path)],
        ["datagen", str(tmp_path / "y"), "--games", "1", "--weights", str(path)],
    ):
        assert cli.main(words) == 1
        assert "damaged" in capsys.readouterr().err
    assert not (tmp_path / "x").exists() and not (tmp_path / "y").exists()
    assert cli.main(["fit", games, "--out", str(tmp_path / "x"), "--id", "two\nlines"]) == 1


@pytest.mark.parametrize("name", ["hand", "learned", "network"])
def test_built_in_weights_are_known_by_all_that_the_version_shows(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    weights = load_weights(name)
    for known_as in (weights.key, *weights.key.split()):
        assert cli.main(["weights", known_as, "--json"]) == 0
        (found,) = json.loads(capsys.readouterr().out)
        assert found["about"] == weights.about
    assert cli.main(["weights", f"{weights.id} 00000000"]) == 1
    assert "cannot read weights" in capsys.readouterr().err
