"""Weight files: what built-in ones have learned from and predict, names, damage, and the smoke."""

import json
from pathlib import Path

import pytest

from lab import learn_smoke
from pbrain_engine import Engine, Limit, Rule, WeightsError, cli
from pbrain_engine.eval.weights import load_weights
from pbrain_engine.learn.measure import measure
from pbrain_engine.notation.games import read_about, read_games

pytestmark = pytest.mark.slow

SAMPLE = Path(__file__).parents[1] / "games" / "sample.games"  # another seed than learned from


def test_the_sample_is_whole_and_of_another_seed():
    games = list(read_games(SAMPLE))
    assert [game.number for game in games] == list(range(100))
    learned_from = [v for k, v in load_weights("learned").about.items() if "games" in k]
    assert len(learned_from) > 1
    assert not any(f"seed {read_about(SAMPLE)['seed']}," in source for source in learned_from)


def test_learned_weights_predict_better_than_hand_set_ones_and_networks_best():
    found = measure([SAMPLE], [load_weights(name) for name in ("hand", "learned", "network")])
    for hand, learned, network in zip(found[::3], found[1::3], found[2::3], strict=True):
        assert hand.positions == learned.positions == network.positions > 300
        assert learned.value_loss < hand.value_loss
        assert learned.move_entropy < hand.move_entropy - 0.3
        assert network.move_entropy < learned.move_entropy - 0.3
        assert network.first > learned.first


def test_the_smoke_learns_a_network_that_plays_and_a_damaged_one_is_refused_everywhere(
    tmp_path, capsys
):
    assert learn_smoke.run(tmp_path, games=64, nodes=60, match_games=2) == 0
    path, games = tmp_path / "smoke.numoku", str(tmp_path / "smoke.games")
    learned, linear = load_weights(str(path)), load_weights("learned")
    assert learned.blocks == linear.blocks and set(learned.streams) == {"freestyle"}
    assert (
        learned.scale(Rule.RENJU)
        == linear.scale(Rule.RENJU)
        != load_weights("hand").scale(Rule.RENJU)
    )
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
        ["train", games, "--out", str(tmp_path / "x"), "--start", str(path)],
        ["datagen", str(tmp_path / "y"), "--games", "1", "--weights", str(path)],
    ):
        assert cli.main(words) == 1
        assert "damaged" in capsys.readouterr().err
    assert not (tmp_path / "x").exists() and not (tmp_path / "y").exists()
    assert cli.main(["train", games, "--out", str(tmp_path / "x"), "--id", "two\nlines"]) == 1


@pytest.mark.parametrize("name", ["hand", "learned", "network"])
def test_built_in_weights_are_known_by_all_that_the_version_shows(name, capsys):
    weights = load_weights(name)
    for known_as in (weights.key, *weights.key.split()):
        assert cli.main(["weights", known_as, "--json"]) == 0
        (found,) = json.loads(capsys.readouterr().out)
        assert found["about"] == weights.about
    assert cli.main(["weights", f"{weights.id} 00000000"]) == 1
    assert "cannot read weights" in capsys.readouterr().err
