"""The network in the kernel: as it is described, however the position came about, and in use."""

from __future__ import annotations

import random
from array import array

import pytest

from pbrain_engine import Engine, Game, Rule, Side, WeightsError
from pbrain_engine.eval.weights import COMBINATIONS, Weights, load_weights, write_weights
from tests.boards import random_board, set_up
from tests.checked import walk
from tests.networks import (
    HAND_BLOCKS,
    SHIFTS,
    block_of,
    features,
    random_network,
    sizes_for,
    write_random,
)
from tests.oracle.network import Network
from tests.oracle.rules import Board

SHARE = SHIFTS[10]
MOVES = [(7, 7), (8, 8), (8, 6), (6, 8)]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the name of a weight file with random networks for all rules."""
    return write_random(tmp_path_factory.mktemp("networks") / "random.numoku")


@pytest.fixture(scope="module")
def weights(file: str) -> Weights:
    return load_weights(file)


def move_score(game: Game, cell: tuple[int, int]) -> int:
    """Return the linear score of a move of the side to move."""
    scores = array("h", HAND_BLOCKS[game.rule.traits.family])[-4 * COMBINATIONS :]
    side = int(game.to_move)
    pair = features(game)[1][cell]
    start = 2 * side * COMBINATIONS
    return scores[start + pair[side]] + scores[start + COMBINATIONS + pair[1 - side]]


@pytest.mark.parametrize("rule", [Rule.FREESTYLE, Rule.STANDARD, Rule.RENJU, Rule.CARO_EXACT])
def test_value_and_policy_are_as_described(rule, file):
    chance = random.Random(f"described {rule.name}")
    network = Network(random_network(rule.traits.family))
    name = "caro" if rule is Rule.CARO_EXACT else rule.name.lower()
    engine = Engine(weights=file)
    boards = [random_board(chance, name, blocked=blocked) for blocked in (False, True, False, True)]
    for board in (*boards, Board(9, 8, name)):  # one without a last stone
        engine.new_game(board.width, board.height, rule)
        game = engine.game
        set_up(game, board, Side(chance.randrange(2)))
        side, (mask, _) = int(game.to_move), features(game)
        seen = network.features(board, side)
        trunk = network.trunk(board, seen, side, mask)
        assert engine.value() == network.value(trunk, side, game.value())
        logits = engine.logits()
        last = [tuple(move) for move in [*reversed(game.moves), None, None][:2] if move]
        last += [None] * (2 - len(last))
        for move in chance.sample(sorted(logits), min(8, len(logits))):
            score = move_score(game, move)
            assert logits[move] == network.logit(seen, trunk, side, move, score, last), move


@pytest.mark.parametrize("rule", Rule)
def test_stones_put_and_taken_back_leave_no_trace(rule, weights):
    for every in (1, 7):
        assert walk(every, 1500, every, rule, weights) == ""


@pytest.mark.long
def test_a_million_steps_leave_no_trace(weights):
    assert walk(2, 1_000_000, 41, weights=weights) == ""


def test_colours_that_play_alike_are_seen_alike(file):
    with Engine(weights=file) as engine:
        for rule in (Rule.FREESTYLE, Rule.STANDARD, Rule.CARO):
            seen = []
            for first in (Side.BLACK, Side.WHITE):
                engine.new_game(15, rule=rule)
                engine.set_to_move(first)
                for move in MOVES:
                    engine.play(*move)
                added = engine.value() - (engine.game.value() * SHARE >> 8)
                seen.append((added, engine.logits()))
            assert seen[0] == seen[1] and seen[0][0]


def test_a_rule_without_a_network_is_played_without_one(tmp_path):
    file = write_random(tmp_path / "one.numoku", ("standard",))
    with Engine(hash_size=1 << 20, weights=file) as engine:
        for rule, name in ((Rule.FREESTYLE, None), (Rule.STANDARD, "random"), (Rule.RENJU, None)):
            engine.new_game(15, rule=rule)
            engine.play(7, 7)
            assert engine.network == name
            assert (engine.value() == engine.game.value()) == (name is None)


def test_chances_add_up_to_one_and_the_best_is_first(file):
    for weights in ("hand", file):
        with Engine(hash_size=1 << 20, weights=weights) as engine:
            for move in MOVES:
                engine.play(*move)
            policy = engine.policy()
            chances = [chance for _, chance in policy]
            assert len(policy) > 60 and chances == sorted(chances, reverse=True)
            assert sum(chances) == pytest.approx(1)
            for x in range(9, 13):  # a five for black: the only moves worth listing
                engine.place(x, 0, Side.BLACK)
            assert {move for move, _ in engine.policy()} == {(8, 0), (13, 0)}


SIZES = sizes_for("freestyle")
SHIFT_AT = 64 + 2 * SIZES.patterns + 2 * SIZES.codes + SIZES.codes * SIZES.channels


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (lambda raw: random_network("standard"), "is one of another rule"),
        (lambda raw: raw[:64] + b"\xff\xff" + raw[66:], "has numbers out of range"),
        (lambda raw: raw[:SHIFT_AT] + b"\x40" + raw[SHIFT_AT + 1 :], "numbers out of range"),
        (lambda raw: block_of(SIZES._replace(channels=16), "other"), "sizes that this version"),
    ],
)
def test_a_network_that_cannot_be_used_is_one_line(tmp_path, harm, words):
    path = tmp_path / "bad.numoku"
    networks = {"freestyle": harm(random_network("freestyle"))}
    write_weights(str(path), {"id": "bad"}, HAND_BLOCKS, networks)
    with pytest.raises(WeightsError, match=words):
        Game(15, weights=load_weights(str(path)))  # the kernel's own look at it
    with pytest.raises(WeightsError, match=words) as error:
        Engine(hash_size=1 << 20, weights=str(path))
    assert "\n" not in str(error.value) and "bad" in str(error.value)
