"""The main search on small trees: it is minimax, claims nothing false, and believes its table."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from itertools import product

import pytest

from pbrain_engine.search.alphabeta.table import (
    EXACT,
    LOWER,
    UPPER,
    bound_of,
    cell_of_entry,
    depth_of,
    eval_of,
    value_of,
)
from pbrain_engine.search.parameters import ONE
from pbrain_engine.values import INFINITE, WIN_BAND, loss_in, win_in
from tests.kernels.tree import EXACT_SEARCH, Node, World, chain, random_tree, windows

pytestmark = pytest.mark.uncompiled

Make = Callable[..., World]


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch) -> Make:
    """Return what puts a tree under the exact search, but for the numbers that are named."""
    return lambda tree, **numbers: World(monkeypatch, tree, **{**EXACT_SEARCH, **numbers})


def true_value(node: Node, depth: int) -> int:
    """Return the value of a node by the definition of minimax."""
    if depth == 0 or not node.children:
        return node.static
    return max(-true_value(child, depth - 1) for child in node.children)


def keeps_contract(result: int, value: int, alpha: int, beta: int) -> bool:
    """Return whether a fail-soft result is a true bound of a value."""
    if result <= alpha:
        return value <= result
    return value >= result if result >= beta else value == result


REDUCING = {"reduction_base": 64, "reduction_scale": 0, "reduction_worse": 0,
            "reduction_cut": 0, "reduction_pv": 0, "fail_high_margin": -(10**5)}  # fmt: skip


def test_a_reduced_move_that_raises_alpha_is_searched_again_in_full(make):
    tree = Node(0, [chain(-10, 10, -10), chain(-30, 30, 5)])  # the second looks better before
    assert true_value(tree, 3) == 10 and true_value(tree, 2) == 30
    for beta in (11, 1000):  # an empty window, and one of the principal variation
        world = make(tree, **REDUCING)
        alpha = 10 if beta == 11 else -1000
        result = world.run(alpha, beta, 3)
        assert keeps_contract(result, 10, alpha, beta)
        depths = [call.depth // ONE for call in world.calls_of(1)]
        assert depths[0] == 1 and 2 in depths[1:], "reduced first, then in full"


def forced(node: Node) -> int:
    """Return 1 if the side to move wins by force, -1 if it loses, else 0."""
    if node.result:
        return 1 if node.result > 0 else -1
    return max((-forced(child) for child in node.children), default=0)


def test_whatever_is_pruned_no_claim_is_false(monkeypatch):
    chance, claims = random.Random(11), Counter[int]()
    for _ in range(40):
        tree = random_tree(chance, 5, spread=900)
        nodes = [tree]
        for node in nodes:
            nodes += node.children
            if chance.random() < 0.35 and node is not tree:
                node.result = chance.choice((1, 3, -2))
        world = World(monkeypatch, tree, count_base=1, count_slope=0, count_curve=0)
        value = world.run(-INFINITE, INFINITE, 6)
        if abs(value) >= WIN_BAND:
            claims[1 if value > 0 else -1] += 1
            assert forced(tree) == (1 if value > 0 else -1)
    assert min(claims[1], claims[-1]) > 3


def test_a_node_without_moves_is_lost_to_its_threat_or_to_a_foul(make):
    for node, value in ((Node(blocked=True), loss_in(3 + 2)), (Node(7), 7),
                        (Node(7, stuck=True), loss_in(3 + 2)),
                        (Node(threatened=True), loss_in(3 + 4))):  # fmt: skip
        world = make(node)
        assert world.run(-INFINITE, INFINITE, 3, ply=3) == value
    forbidden = Node(0, [Node(5, forbidden=True)], blocked=True)
    world = make(forbidden)
    assert world.run(-INFINITE, INFINITE, 3, ply=1) == loss_in(1 + 2)


def test_no_win_is_looked_for_that_would_be_later_than_a_known_one(make):
    world = make(Node(0, [Node(0)]))
    assert world.run(win_in(3), win_in(3) + 1, 3, ply=3) == win_in(3)  # a win at ply 6 at best
    assert not world.calls_of(0)
    assert world.run(loss_in(3) - 2, loss_in(3) - 1, 3, ply=3) == loss_in(3 + 2)
    assert not world.calls_of(0)
    world.run(win_in(6) - 1, win_in(6), 2, ply=3)
    assert world.calls_of(0)


def test_a_line_ends_where_it_is_decided_and_a_full_board_is_a_draw(make):
    world = make(Node(0, [chain(-3, 3, -3, 3), Node(0, result=-2)]))
    assert world.run(-INFINITE, INFINITE, 4) == win_in(2 + 2)
    assert world.line() == [1]
    world.position.ply = 225
    assert world.run(-INFINITE, INFINITE, 2) == 0


def test_a_search_that_is_stopped_returns_and_stores_nothing(make):
    tree = random_tree(random.Random(3), 5)
    for limit in range(1, 12):
        world = make(tree)
        world.worker.node_limit = limit
        world.run(-INFINITE, INFINITE, 5)
        assert world.worker.stopped == 1 and world.worker.nodes <= limit
        assert world.known() == 0


def asked(make: Make, alpha: int, beta: int, value: int, bound: int,
          stored: float = 3, depth: float = 3) -> bool:  # fmt: skip
    """Return whether a node is left at once for what the table knows of it."""
    world = make(Node(0, [chain(0, 0, 0, 0)]))
    world.know(value, bound, depth=int(stored * ONE))
    result = world.run(alpha, beta, depth)
    assert world.calls_of(0) or result == value
    return not world.calls_of(0)


@pytest.mark.parametrize("value, fits", [(20, {LOWER, EXACT}), (11, {LOWER, EXACT}),
                                         (10, {UPPER, EXACT}), (-5, {UPPER, EXACT})])  # fmt: skip
def test_a_bound_is_believed_on_its_own_side_of_the_window(make, value, fits):
    for bound in (UPPER, LOWER, EXACT):
        assert asked(make, 10, 11, value, bound) == (bound in fits)


def test_shallower_knowledge_and_the_principal_variation_are_searched(make):
    assert asked(make, 10, 11, 20, EXACT, stored=4)
    assert not asked(make, 10, 11, 20, EXACT, stored=2.75)
    assert not asked(make, 10, 50, 20, EXACT)


def test_a_bound_is_stored_for_what_the_window_tells(make):
    tree = Node(7, [Node(-20), Node(3)])
    for alpha, beta, bound in ((0, 100, EXACT), (0, 15, LOWER), (0, 20, LOWER), (20, 90, UPPER),
                               (30, 31, UPPER), (19, 21, EXACT)):  # fmt: skip
        world = make(tree)
        assert world.run(alpha, beta, 1) == 20
        data = world.known()
        assert (value_of(data), eval_of(data), bound_of(data)) == (20, 7, bound)
        assert depth_of(data) == ONE
        assert cell_of_entry(data) == (0 if bound == UPPER else 1)


def test_the_table_s_move_is_tried_first_where_its_cell_is_free(make):
    tree = Node(0, [Node(5), Node(4), Node(-9)])
    for is_free, first in ((True, 2), (False, 0)):  # the move may be another position's
        world = make(tree)
        world.know(0, UPPER, move=3)
        if not is_free:
            world.position.holds[3] = 0
        assert world.run(0, 1, 1) == 9
        assert world.leaves[0] == (first,)


def test_the_table_s_move_is_searched_once_and_all_others_too(make):
    tree = Node(0, [Node(5), Node(4), Node(9), Node(7)])
    for move in range(1, 5):
        world = make(tree)
        world.know(0, UPPER, move=move)
        assert world.run(0, 100, 1) == -4
        first, *others = world.leaves
        assert first == (move - 1,)
        assert sorted([first, *others]) == [(0,), (1,), (2,), (3,)]


@pytest.mark.parametrize("seed", range(4))
def test_the_search_is_minimax_within_any_window_whatever_the_table_knows(make, seed):
    chance = random.Random(seed)
    tree = random_tree(chance, 4)
    for depth, is_fresh in product((4, 3, 2), (True, False)):  # or with the table of other windows
        value, world = true_value(tree, depth), make(tree)
        for alpha, beta in windows(chance, value, 6):
            world = make(tree) if is_fresh else world
            result = world.run(alpha, beta, depth)
            assert keeps_contract(result, value, alpha, beta), (result, value, alpha, beta)


@pytest.mark.parametrize("seed", range(3))
def test_the_line_leads_to_the_value(make, seed):
    tree = random_tree(random.Random(200 + seed), 4, spread=400)
    world = make(tree)
    value = world.run(-INFINITE, INFINITE, 4)
    line = world.line()
    assert value == true_value(tree, 4) and len(line) == 4
    for number in line:
        tree = tree.children[number]
    assert tree.static == value
