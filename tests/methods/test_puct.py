"""PUCT: what it proves is true, and it plays by the network's value and priors."""

from __future__ import annotations

import random

import pytest

from pbrain_engine import Rule
from pbrain_engine.methods import Budget, PlainGame, method
from pbrain_engine.methods.puct import PUCT, PolicyNode
from tests.boards import last_cells, set_up
from tests.game.test_game import exact_value
from tests.oracle import rules

MOST_EMPTY = 6


@pytest.mark.parametrize("rule", rules.RULES)
def test_small_ends_are_proven_and_every_proof_is_true(engine, solver, rule):
    chance, proven, results = random.Random(f"puct {rule}"), 0, set()
    for _ in range(20):
        board = last_cells(chance, rule, MOST_EMPTY)
        engine.new_game(board.width, board.height, Rule[rule.upper()])
        set_up(engine, board, chance.randrange(2))
        if engine.game.winner is not None:  # by a five that grew longer
            continue
        tree = PUCT(engine, solver, Budget(nodes=400))
        tree.run()
        assert engine.game.check() == 0
        if tree.root.result is not None:
            value = exact_value(engine.game)
            assert 1 - tree.root.result == (1 + value) / 2, board.drawing()
            proven += 1
            results.add(tree.root.result)
    assert proven >= 4 and len(results) >= 2, (proven, results)


@pytest.mark.parametrize(
    ("replies", "result"),
    [([1.0, None], 0.0), ([0.0, None], None), ([0.0, 0.0], 1.0), ([0.0, 0.5], 0.5), ([], 1.0)],
)
def test_what_is_proven_of_the_replies_is_proven(replies, result):
    node = PolicyNode((0, 0), 1.0)
    for each in replies:
        node.children.append(PolicyNode((0, 0), 0.5))
        node.children[-1].result = each
    node.settle()
    assert node.result == result


@pytest.mark.parametrize("lost", [0.9, 0.1])  # by whoever is to move
def test_a_move_without_a_visit_counts_as_much_as_its_position(lost):
    node, known, new = (PolicyNode((0, 0), 0.0) for _ in range(3))
    node.children, node.visits, node.total = [known, new], 10, 10 * lost
    known.visits, known.total = 10, 4.0
    assert PUCT.select(None, node) is (known if lost > 0.5 else new)


def test_the_first_visit_is_to_the_move_that_looks_best(engine):
    game = PlainGame(15)
    for cell in (112, 97, 113, 98):
        game.play(cell)
        engine.play(cell % 15, cell // 15)
    best = engine.evaluate().moves[0][0]
    choice = method("puct")(game, Budget(nodes=1), random.Random(1))
    assert choice.move == best[1] * 15 + best[0] and choice.nodes == 1


def test_visits_go_to_every_move_in_time_and_sum_up(engine, solver):
    engine.new_game(7)
    engine.play(3, 3)
    tree = PUCT(engine, solver, Budget(nodes=300))
    line = tree.run()
    children = tree.root.children
    assert sum(child.visits for child in children) == 300
    assert line[0].visits == max(child.visits for child in children)
    assert all(0 <= child.total <= child.visits for child in children)
    assert engine.game.moves == [(3, 3)]
