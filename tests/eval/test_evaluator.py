"""The linear evaluation is the sum that its description says, to the last unit."""

import random

import numpy as np
import pytest

from pbrain_engine import Game, Rule, Side
from pbrain_engine.eval.weights import (
    BLOCK_BYTES,
    COMBINATIONS,
    FAMILIES,
    MASKS,
    load_weights,
    write_weights,
)
from pbrain_engine.values import EVAL_LIMIT
from tests.networks import features


@pytest.mark.parametrize(
    ("rule", "size", "rows", "fouls", "gain"),
    [
        ("renju", 7, 6, 1, 1000 * (2 * 48 - 49) // 49), ("renju", 7, 6, 0, 0),
        ("renju", 7, 3, 1, 1000 * (2 * 27 - 49) // 49), ("renju", 7, 2, 1, 0),
        ("renju", 8, 7, 1, 0), ("renju", 8, 7, 2, 1000 * (2 * 62 - 64) // 64),
        ("standard", 7, 6, 1, 0), ("freestyle", 7, 6, 1, 0),
    ],
)  # fmt: skip
@pytest.mark.parametrize("to_move", [Side.BLACK, Side.WHITE])
def test_what_is_left_to_black_alone_counts_for_white(
    rule, size, rows, fouls, gain, to_move, tmp_path
):
    path = str(tmp_path / "zero.numoku")
    write_weights(path, {"id": "zero"}, dict.fromkeys(FAMILIES, bytes(BLOCK_BYTES)), {})
    game = Game(size, rule=rule, weights=load_weights(path))
    for x in range(size):  # three, a gap, and two make six of black
        for y in range(rows + 1):
            is_gapped = y == 0 or y == 7 and fouls == 2
            is_black = fouls and x < 6 if is_gapped else (x + 2 * y) % 4 < 2
            if x != 3 or not is_gapped:
                game.place(x, y, Side.BLACK if is_black else Side.WHITE)
    game.set_to_move(to_move)
    assert game.value() == (gain if to_move is Side.WHITE else -gain)


@pytest.mark.parametrize("rule", list(Rule))
def test_the_value_is_the_sum_over_cells_and_the_threats(rule, tmp_path):
    chance = np.random.default_rng(3)  # every number differs from the others
    numbers = chance.integers(-40, 40, (len(FAMILIES), BLOCK_BYTES // 2)).astype(np.int16)
    blocks = {family: row.tobytes() for family, row in zip(FAMILIES, numbers, strict=True)}
    path = str(tmp_path / "odd.numoku")
    write_weights(path, {"id": "odd"}, blocks, {})
    weights = load_weights(path)
    table = np.frombuffer(weights.block(rule), np.int16).astype(int).tolist()
    values = table[:COMBINATIONS], table[COMBINATIONS : 2 * COMBINATIONS]
    checked = 0
    for seed in range(6):
        board = (15, 11, 20)[seed % 3]
        middle = range(board // 2 - 3, board // 2 + 4)
        cells = [(x, y) for x in middle for y in middle]
        random.Random(seed).shuffle(cells)
        game = Game(board, rule=rule, weights=weights)
        before = 0
        for x, y in cells:
            mask, found = features(game)
            now = sum(values[0][black] - values[1][white] for black, white in found.values())
            side = game.to_move
            total = (now + before) // 2
            total = total if side is Side.BLACK else -total
            total += table[2 * COMBINATIONS + side * MASKS + mask]
            if game.moves:
                assert game.value() == max(-EVAL_LIMIT, min(EVAL_LIMIT, total))
                checked += 1
            before = now
            game.play(x, y)
            if game.winner is not None:
                break
    assert checked > 60
