"""Fits find what is there to be found, and weight files say where they come from."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from lab import learn_smoke
from pbrain_engine import cli
from pbrain_engine.engine.engine import Engine, Limit
from pbrain_engine.eval.weights import FAMILIES, WeightsError, load_weights
from pbrain_engine.learn.features import Choices, by_family, read_features
from pbrain_engine.learn.fit import Samples, damp, split
from pbrain_engine.learn.records import GROUPS, HELD_OUT, group_of, read_games
from pbrain_engine.learn.score_model import LITTLE, ScoreData, keep_zero, learn_scores
from pbrain_engine.learn.value_model import (
    FamilyTables,
    Prior,
    ValueData,
    Vector,
    blend,
    combination_shares,
    learn_values,
    mask_shares,
    minimise,
    minimise_scale,
)
from pbrain_engine.position.rules import Rule
from tests.learn.test_features import random_record


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which the whole way of learning was gone on a tiny budget."""
    folder = tmp_path_factory.mktemp("learn")
    assert learn_smoke.run(folder, games=64, nodes=150, match_games=2) == 0
    return folder


# The parts ----------------------------------------------------------------------------------


def test_minimise_solves_a_badly_scaled_system() -> None:
    chance = np.random.default_rng(1)
    scales = np.geomspace(1, 1e4, 30)
    target = chance.normal(size=30)

    def bowl(x: Vector) -> tuple[float, Vector]:
        return float((scales * (x - target) ** 2).sum()) / 2, scales * (x - target)

    found = minimise(bowl, np.zeros(30), steps=400, tolerance=1e-14)
    assert np.abs(found - target).max() < 1e-3


def test_the_best_scale_is_found() -> None:
    assert minimise_scale(lambda s: (s - 137) ** 2, 10, 1000) == pytest.approx(137, rel=1e-2)


@pytest.mark.parametrize("shares", [combination_shares(), mask_shares()])
def test_gather_is_the_transpose_of_spread(shares: Vector) -> None:
    prior = Prior(shares, 3.0, 2.0)
    chance = np.random.default_rng(4)
    numbers, gradient = chance.normal(size=prior.length), chance.normal(size=len(shares))
    assert gradient @ prior.spread(numbers) == pytest.approx(prior.gather(gradient) @ numbers)


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


def test_scores_learn_which_combination_is_chosen() -> None:
    wanted = 57
    data = some_choices(400, wanted)
    start = np.zeros((1, 2, 2380))
    learned = learn_scores(data, start, 20.0, 1.0, 60)
    assert learned[0, 0].argmax() == wanted
    assert data.losses(start, 20.0).first < 0.2  # all are equal
    assert data.losses(learned, 20.0).first == 1
    assert abs(learned[0, 0, 1000:]).max() < learned[0, 0, wanted]


def test_thinned_choices_are_some_of_all() -> None:
    data = some_choices(100, 57)._choices
    assert data.thin(100) is data
    some = data.thin(30)
    assert len(some) == 25
    assert (some.own[some.chosen] == 57).all()


def lengths(part: Samples) -> tuple[int, int]:
    return len(part.positions), len(part.choices)


def test_games_that_are_held_out_are_not_learned_from() -> None:
    records = [
        random_record(seed, Rule.FREESTYLE)._replace(number=seed) for seed in range(3 * GROUPS)
    ]
    learning, held_out = split(records, [])
    apart = [
        [r for r in records if (group_of(r.number) < HELD_OUT) == out] for out in (False, True)
    ]
    assert all(apart)
    for part, games in zip((learning, held_out), apart, strict=True):
        alone = Samples(len(games), *read_features(games))
        assert part.games == len(games) and lengths(part) == lengths(alone)
        assert (part.positions.columns == alone.positions.columns).all()
        assert (part.choices.own == alone.choices.own).all()
    groups = [set(part.positions.group.tolist()) for part in (learning, held_out)]
    assert not groups[0] & groups[1]
    assert groups[1] == set(range(HELD_OUT)) and groups[0] | groups[1] == set(range(GROUPS))


def test_with_games_to_test_on_all_others_are_learned_from() -> None:
    records = [random_record(seed, Rule.FREESTYLE) for seed in range(6)]
    learning, held_out = split(records[:4], records[4:])
    assert (learning.games, held_out.games) == (4, 2)
    for part, games in ((learning, records[:4]), (held_out, records[4:])):
        assert lengths(part) == lengths(Samples(len(games), *read_features(games)))


def test_targets_follow_what_came_after_within_a_game() -> None:
    side, game = np.array([0, 1, 0, 1, 0]), np.array([7, 7, 7, 8, 8])
    result, seen = np.array([1, 0, 1, 0.5, 0.5]), np.array([0.5, 0.4, 0.8, 0.3, 0.6])
    facts = side, result, game, seen
    assert blend(*facts, 0.0) == pytest.approx(seen)
    assert blend(*facts, 1.0) == pytest.approx(result)
    third = 0.75 * 0.8 + 0.25 * 1
    second = 0.75 * 0.4 + 0.25 * (1 - third)
    first = 0.75 * 0.5 + 0.25 * (1 - second)
    fifth = 0.75 * 0.6 + 0.25 * 0.5
    fourth = 0.75 * 0.3 + 0.25 * (1 - fifth)
    assert blend(*facts, 0.25) == pytest.approx([first, second, third, fourth, fifth])


def test_learned_values_keep_the_spread_of_the_start(folder: Path) -> None:
    games = by_family(read_games(folder / "smoke.games"))["freestyle"]
    data = ValueData(read_features(games)[0], True, 0.7, 250.0)
    start = FamilyTables.of(load_weights("hand").block(Rule.FREESTYLE), True)
    learned = learn_values(data, start, 300.0, 0.5, 30)
    assert (learned.values != start.values).any()
    assert data.spread(learned) == pytest.approx(data.spread(start), rel=0.05)


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


def test_scores_go_part_of_the_way() -> None:
    start, learned = np.array([0.0, 10.0, -20.0]), np.array([40.0, 10.0, -27.0])
    assert damp(start, learned, 0.5).tolist() == [20, 10, -24]
    assert damp(start, learned, 0).tolist() == start.tolist()
    assert damp(start, learned, 1).tolist() == learned.tolist()


@pytest.mark.parametrize("family", FAMILIES)
def test_tables_are_written_as_they_were_read(family: str) -> None:
    raw = load_weights("hand").block(Rule.parse(family))
    for symmetric in (True, False):
        if symmetric and family == "renju":
            continue
        block = FamilyTables.of(raw, symmetric).block()
        assert (block.values + block.threats + block.scores).tobytes() == raw


# The whole ----------------------------------------------------------------------------------


def test_the_smoke_learns_weights_that_play(folder: Path) -> None:
    path = str(folder / "smoke.numoku")
    learned, hand = load_weights(path), load_weights("hand")
    assert learned.block(Rule.FREESTYLE) != hand.block(Rule.FREESTYLE)
    assert learned.block(Rule.RENJU) != hand.block(Rule.RENJU)
    assert learned.block(Rule.STANDARD) == hand.block(Rule.STANDARD)
    with Engine(hash_size=1 << 20, weights=path) as engine:
        engine.play(7, 7)
        assert engine.think(Limit(depth=4)).move in engine.game.legal_moves()


def test_the_same_games_give_the_same_weights(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    again = folder / "again.numoku"
    words = ["fit", str(folder / "smoke.games"), "--out", str(again), "--steps", "20"]
    assert cli.main([*words, "--id", "smoke"]) == 0
    assert again.read_bytes() == (folder / "smoke.numoku").read_bytes()
    losses: dict[str, list[float]] = {}
    for line in capsys.readouterr().err.splitlines():
        what, found, loss = line.partition(", loss ")
        if found:
            losses.setdefault(what.partition(":")[0], []).append(float(loss))
    assert losses and all(course[0] > course[-1] for course in losses.values())


def test_weights_say_where_they_come_from(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(folder / "smoke.numoku")
    assert cli.main(["weights", path]) == 0
    out = capsys.readouterr().out
    assert "numoku fit" in out
    assert f"start        {load_weights('hand').key}" in out
    assert "nodes 150" in out
    assert "value loss" in out
    assert cli.main(["weights", "hand", path, "--json"]) == 0
    hand, learned = json.loads(capsys.readouterr().out)
    assert hand["about"]["id"] == "hand-1"
    assert hand["networks"] == {}
    assert learned["about"]["standard"] == "as at the start"


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


def test_weights_are_measured_by_games(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(folder / "smoke.numoku")
    assert cli.main(["weights", "hand", path, "--games", str(folder / "smoke.games")]) == 0
    lines = capsys.readouterr().out.splitlines()[1:]
    assert [line.split()[:2] for line in lines] == [
        [family, weights] for family in ("freestyle", "renju") for weights in ("hand-1", "smoke")
    ]
    for before, after in (lines[:2], lines[2:]):  # they have learned from most of these games
        assert before.split()[2] == after.split()[2]
        assert float(after.split()[3]) < float(before.split()[3])
        assert float(after.split()[5]) < float(before.split()[5])


def test_notes_are_written_into_the_head_alone(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    noted = folder / "noted.numoku"
    noted.write_bytes((folder / "smoke.numoku").read_bytes())
    before = load_weights(str(noted))
    for text in ("+10 Elo", "+12 Elo, 400 games"):
        assert cli.main(["weights", str(noted), "--note", "match 1", text]) == 0
    assert "match 1      +12 Elo, 400 games" in capsys.readouterr().out
    after = load_weights(str(noted))
    assert after.blocks == before.blocks and after.key == before.key
    assert after.about == {**before.about, "match 1": "+12 Elo, 400 games"}
    assert cli.main(["weights", str(noted), "--note", "crc32", "0"]) == 1
    assert cli.main(["weights", str(noted), "--note", "two", "a\nb"]) == 1
    assert load_weights(str(noted)) == after


def test_damaged_weights_are_refused_everywhere(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raw = bytearray((folder / "smoke.numoku").read_bytes())
    raw[-1000] ^= 1
    damaged = folder / "damaged.numoku"
    damaged.write_bytes(bytes(raw))
    with pytest.raises(WeightsError, match="damaged"):
        Engine(weights=str(damaged))
    for words in (
        ["weights", str(damaged)],
        ["fit", str(folder / "smoke.games"), "--out", str(folder / "x"), "--start", str(damaged)],
        ["datagen", str(folder / "y"), "--games", "1", "--weights", str(damaged)],
    ):
        assert cli.main(words) == 1
        assert "damaged" in capsys.readouterr().err
    assert not (folder / "x").exists() and not (folder / "y").exists()


def test_a_family_can_be_kept(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = folder / "kept.numoku"
    arguments = ["fit", str(folder / "smoke.games"), "--out", str(kept), "--steps", "2"]
    nothing = ["--keep", "freestyle=learned", "--keep", "renju=learned"]
    assert cli.main([*arguments, *nothing]) == 1
    assert "not enough games" in capsys.readouterr().err
    assert not kept.exists()
    assert cli.main([*arguments, "--keep", "renju=learned"]) == 0
    made, learned = load_weights(str(kept)), load_weights("learned")
    assert made.block(Rule.RENJU) == learned.block(Rule.RENJU)
    assert made.about["renju"] == f"as in {learned.key}"
    assert cli.main([*arguments, "--keep", "chess=learned"]) != 0
    assert "chess" in capsys.readouterr().err


def test_weights_that_cannot_be_written_are_refused_before_the_work(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = tmp_path / "größe.numoku"
    old.write_bytes(b"what was there before")
    words = ["fit", str(folder / "smoke.games"), "--steps", "2", "--out"]
    for out, said in ((old, "in ASCII"), (tmp_path, "no file"), (Path("learned"), "built-in")):
        assert cli.main([*words, str(out)]) == 1
        reported = capsys.readouterr()
        assert said in reported.err and not reported.out
    assert cli.main([*words, str(old), "--id", "two\nlines"]) == 1
    assert old.read_bytes() == b"what was there before"
    new = tmp_path / "new folder" / "größe.numoku"
    assert cli.main([*words, str(new), "--id", "size"]) == 0
    assert load_weights(str(new)).id == "size"
    assert list(new.parent.iterdir()) == [new]


@pytest.mark.parametrize(
    "words", [["--strength", "0"], ["--mix", "1.5"], ["--score-share", "9"], ["--mix", "nan"]]
)
def test_a_fit_refuses_numbers_that_make_no_sense(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        cli.main(["fit", "x.games", "--out", str(tmp_path / "x.numoku"), *words])
    assert "is not a number" in capsys.readouterr().err
