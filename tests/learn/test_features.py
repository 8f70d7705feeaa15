"""What learning sees of a position is what the evaluation adds up, to the last unit."""

from __future__ import annotations

import ctypes
import random
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from pbrain_engine.eval.weights import COMBINATIONS, FamilyWeights, load_weights, write_weights
from pbrain_engine.game.game import Game
from pbrain_engine.learn import features
from pbrain_engine.learn.records import NO_VALUE, Ending, Record
from pbrain_engine.learn.score_model import ScoreData
from pbrain_engine.learn.value_model import FamilyTables, ValueData
from pbrain_engine.position.geometry import cell_of
from pbrain_engine.position.rules import Rule, Side
from pbrain_engine.values import EVAL_LIMIT

OPENING = 2


def random_record(seed: int, rule: Rule, board: int = 15) -> Record:
    """Return a game of random moves near the centre until a side wins."""
    chance = random.Random(seed)
    game = Game(board, rule=rule)
    middle = range(board // 2 - 3, board // 2 + 4)
    cells = [(x, y) for x in middle for y in middle]
    chance.shuffle(cells)
    moves = []
    for x, y in cells:
        game.play(x, y)
        moves.append(y * board + x)
        if game.winner is not None:
            break
    values = [NO_VALUE] * OPENING + [chance.randint(-500, 500) for _ in moves[OPENING:]]
    result = 0 if game.winner is None else 1 if game.winner is Side.BLACK else -1
    moves_and_values = tuple(moves), tuple(values)
    return Record(seed, rule, board, board, OPENING, result, Ending.FIVE, *moves_and_values)


def one_sided_weights(path: Path) -> str:
    """Write weights in which every number differs from the others, and return their name."""
    chance = np.random.default_rng(3)

    def block() -> FamilyWeights:
        raw = chance.integers(-40, 40, 2 * COMBINATIONS + 2 * 2048 + 4 * COMBINATIONS)
        tables = FamilyTables.of(raw.astype(np.int16).tobytes(), symmetric=False)
        return tables.block()

    write_weights(
        str(path), {"id": "odd"}, {f: block() for f in ("freestyle", "standard", "renju", "caro")}
    )
    return str(path)


@pytest.mark.parametrize("rule", list(Rule))
@pytest.mark.parametrize("name", ["hand", "odd"])
def test_the_sum_over_features_is_the_static_evaluation(
    rule: Rule, name: str, tmp_path: Path
) -> None:
    weights = load_weights(one_sided_weights(tmp_path / "odd.numoku") if name == "odd" else name)
    tables = FamilyTables.of(weights.block(rule), symmetric=False)
    values = tables.values.astype(np.int64).ravel()
    values[COMBINATIONS:] *= -1  # white's
    checked = 0
    for seed in range(6):
        record = random_record(seed, rule, board=(15, 11, 20)[seed % 3])
        for sight in features.replay([record], weights):
            total = int(sight.counts @ values) >> 1
            side = sight.game.to_move
            total = total if side is Side.BLACK else -total
            total += int(tables.threats[side, sight.glance.mask])
            total = max(-EVAL_LIMIT, min(EVAL_LIMIT, total))
            assert total == sight.game.value()
            checked += 1
    assert checked > 60


@pytest.mark.parametrize("symmetric", [True, False])
def test_the_matrix_of_the_fit_gives_the_same_values(symmetric: bool) -> None:
    rule = Rule.FREESTYLE if symmetric else Rule.RENJU
    records = [random_record(seed, rule) for seed in range(4)]
    weights = load_weights("hand")
    start = FamilyTables.of(weights.block(rule), symmetric)
    positions, _ = features.read_features(records)
    data = ValueData(positions, symmetric, 0.5, 200.0)
    computed = data.values(start)
    expected = [
        sight.game.value()
        for sight in features.replay(records, weights)
        if features.needs_value(sight.glance.mask, sight.value)
    ]
    assert len(expected) == len(positions) > 40
    unclamped = np.abs(computed) < EVAL_LIMIT
    assert np.abs(computed - expected)[unclamped].max() <= 0.5  # what the halving cuts off


def test_the_mask_of_an_empty_board_is_zero_and_all_cells_are_there() -> None:
    game = Game(15)
    glance = features.Reader().glance(game)
    assert glance.mask == 0
    assert len(glance.cells) == 225
    assert not glance.near.any()
    assert glance.counts.sum() == 450


def test_candidates_lie_near_and_the_choice_is_among_them() -> None:
    records = [random_record(seed, Rule.FREESTYLE) for seed in range(4)]
    _, choices = features.read_features(records)
    data = ScoreData(choices, symmetric=True)
    assert (choices.chosen >= choices.starts[:-1]).all()
    assert (choices.chosen < choices.starts[1:]).all()
    number = 0
    for sight in features.replay(records):
        glance = sight.glance
        at = glance.cells == cell_of(*sight.move)
        near, _, _ = features.candidates_of(glance, sight.game.to_move)
        if not features.needs_order(glance.mask) or not near[at].any():
            continue
        mine, others = glance.black[at], glance.white[at]
        if sight.game.to_move is Side.WHITE:
            mine, others = others, mine
        assert choices.own[choices.chosen[number]] == mine
        assert choices.enemy[choices.chosen[number]] == others
        number += 1
    assert len(data) == number > 30


def test_results_are_seen_by_the_side_to_move() -> None:
    record = random_record(1, Rule.FREESTYLE)._replace(result=1)
    assert features.result_for(record, Side.BLACK) == 1
    assert features.result_for(record, Side.WHITE) == 0
    assert features.result_for(record._replace(result=0), Side.WHITE) == 0.5


def test_taking_some_positions_keeps_their_rows() -> None:
    positions, choices = features.read_features([random_record(s, Rule.FREESTYLE) for s in (1, 2)])
    wanted: NDArray[np.bool_] = np.arange(len(positions)) % 3 == 1
    some = positions.take(wanted)
    assert len(some) == wanted.sum()
    for new, old in enumerate(np.flatnonzero(wanted)):
        new_rows = slice(some.starts[new], some.starts[new + 1])
        old_rows = slice(positions.starts[old], positions.starts[old + 1])
        assert (some.columns[new_rows] == positions.columns[old_rows]).all()
        assert (some.counts[new_rows] == positions.counts[old_rows]).all()
    few = choices.take(np.arange(len(choices)) % 3 == 1)
    assert (few.own[few.chosen] == choices.own[choices.chosen[1::3]]).all()


def test_the_kernel_writes_as_much_as_it_says() -> None:
    game = Game(22)
    out = (ctypes.c_int32 * (1 + 4 * 22 * 22 + 1))()
    out[len(out) - 1] = 77
    end = features.load().game_features(game.address, ctypes.addressof(out))
    assert end == len(out) - 1
    assert out[end] == 77
