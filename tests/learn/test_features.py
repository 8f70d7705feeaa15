"""What learning sees of a position is what the evaluation adds up, to the last unit."""

from __future__ import annotations

import ctypes
import random
from pathlib import Path

import numpy as np
import pytest

from pbrain_engine.eval.weights import (
    BLOCK_BYTES,
    COMBINATIONS,
    FAMILIES,
    load_weights,
    write_weights,
)
from pbrain_engine.game.game import Game
from pbrain_engine.learn import features
from pbrain_engine.learn.value_model import FamilyTables
from pbrain_engine.notation.games import NO_VALUE, Ending, Record
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

    numbers = chance.integers(-40, 40, (len(FAMILIES), BLOCK_BYTES // 2)).astype(np.int16)
    blocks = {family: row.tobytes() for family, row in zip(FAMILIES, numbers, strict=True)}
    write_weights(str(path), {"id": "odd"}, blocks)
    return str(path)


@pytest.mark.parametrize("rule", list(Rule))
def test_the_sum_over_features_is_the_static_evaluation(rule: Rule, tmp_path: Path) -> None:
    weights = load_weights(one_sided_weights(tmp_path / "odd.numoku"))
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


def test_the_kernel_writes_as_much_as_it_says() -> None:
    game = Game(22)
    out = (ctypes.c_int32 * (1 + 4 * 22 * 22 + 1))()
    out[len(out) - 1] = 77
    end = features.load().game_features(game.address, ctypes.addressof(out))
    assert end == len(out) - 1
    assert out[end] == 77
