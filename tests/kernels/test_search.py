"""The main search on small trees: it is minimax, and each item of it does what it is for."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product

import pytest

from pbrain_engine.patterns.shapes import MAKES_FOUR, MAKES_THREE
from pbrain_engine.search.alphabeta.memory import (
    EXACT,
    LOWER,
    STACK_BASE,
    UPPER,
    bound_of,
    cell_of_entry,
    depth_of,
    eval_of,
    futility_margin,
    late_reduction,
    razor_margin,
    value_of,
)
from pbrain_engine.search.parameters import ONE
from pbrain_engine.values import INFINITE, loss_in, win_in
from tests.kernels.memory import shared_block
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


# Windows ----------------------------------------------------------------------------------


def test_a_move_that_cuts_ends_the_node(make: Make) -> None:
    world = make(Node(0, [Node(5), Node(-20), Node(-90)]))
    assert world.run(0, 10, 1) == 20
    assert {leaf.path for leaf in world.leaves} == {(0,), (1,)}


def test_later_moves_are_tried_with_an_empty_window_and_again_if_they_raise_it(make: Make) -> None:
    world = make(Node(0, [chain(-3, 3), chain(-9, 9), chain(-1, 1)]))
    assert world.run(-50, 50, 2) == 9
    seen = [(c.path, c.alpha, c.beta) for c in world.calls if len(c.path) == 1]
    assert seen == [((0,), -50, 50), ((1,), -4, -3), ((1,), -50, -3), ((2,), -10, -9)]


# Reductions -------------------------------------------------------------------------------

REDUCING = {"reduction_base": 64, "reduction_scale": 0, "reduction_worse": 0,
            "reduction_cut": 0, "reduction_pv": 0, "fail_high_margin": -(10**5)}  # fmt: skip


def late_promise() -> Node:
    """Return a tree whose second move looks good for a ply less than it is."""
    first = chain(-10, 10, -10)
    second = chain(-30, 30, 5)  # 30 at one ply less, -5 in truth
    return Node(0, [first, second])


def test_a_reduced_move_that_raises_alpha_is_searched_again_in_full(make: Make) -> None:
    tree = late_promise()
    assert true_value(tree, 3) == 10 and true_value(tree, 2) == 30
    for beta in (11, 1000):  # an empty window, and one of the principal variation
        world = make(tree, **REDUCING)
        alpha = 10 if beta == 11 else -1000
        result = world.run(alpha, beta, 3)
        assert keeps_contract(result, 10, alpha, beta)
        depths = [call.depth // ONE for call in world.calls_of(1)]
        assert depths[0] == 1 and 2 in depths[1:], "reduced first, then in full"


def test_a_reduced_move_that_stays_below_is_left_at_that(make: Make) -> None:
    world = make(Node(0, [chain(-10, 10, -10), chain(10, -10, -90)]), **REDUCING)
    assert world.run(-1000, 1000, 3) == 10
    assert [call.depth // ONE for call in world.calls_of(1)] == [1]


def reduction_of(make: Make, kind: int = 0, history: int = 0,
                 window: int = 1, cut: int = 0, **parameters: int) -> int:  # fmt: skip
    """Return by how many units of depth the second of two moves is reduced."""
    tree = Node(0, [chain(-10, 10, -10, 10), chain(10, -10, 10, -10)])
    tree.children[1].kind = kind
    numbers = {**REDUCING, "reduction_base": 40, **parameters}
    world = make(tree, **numbers)
    for attack in (0, 1):
        world.worker.history[0, attack, 2] = history
    world.run(10 if window == 1 else -100, 10 + window, 4, cut)
    first, second = world.calls_of(0)[0], world.calls_of(1)[0]
    return first.depth - second.depth


def test_a_reduction_depends_on_what_is_known_of_node_and_move(make: Make) -> None:
    def reduction(**changes: int) -> int:
        return reduction_of(make, **changes)

    base = reduction()
    assert base == 40
    assert reduction(window=200, reduction_pv=7) == base - 7
    assert reduction(reduction_worse=9) == base + 9
    assert reduction(cut=1, reduction_cut=11) == base + 11
    assert reduction(cut=1, fail_high_margin=10**4) == base + ONE // 2
    assert reduction(kind=MAKES_THREE, reduction_threat=13) == base - 13
    assert reduction(history=500, reduction_history=100) == base - 5
    assert reduction(history=-500, reduction_history=100) == base + 5
    assert reduction(reduction_base=-50) == 0
    assert reduction(reduction_base=10**4) == 3 * ONE - ONE // 2  # half a ply is always left
    scaled = late_reduction(shared_block(reduction_scale=29).params, 4 * ONE, 2)
    assert reduction(reduction_scale=29) - base == scaled - shared_block().params.reduction_base


def test_moves_after_one_that_raised_alpha_are_reduced_more(make: Make) -> None:
    tree = Node(0, [chain(-10, 10, -10, 10), chain(5, -5, 5, -5)])
    for alpha, more in ((-100, 50), (10, 0)):
        world = make(tree, **{**REDUCING, "reduction_base": 10, "alpha_raise": 50})
        world.run(alpha, 100, 4)
        first, second = world.calls_of(0)[0], world.calls_of(1)[0]
        assert first.depth - second.depth == 10 + more


def test_under_a_five_nothing_is_reduced_and_the_block_is_extended(make: Make) -> None:
    tree = Node(0, [chain(-10, 10, -10), chain(10, -10, 10)], blocked=True)
    world = make(tree, **{**REDUCING, "extend_block": 20})
    world.run(-100, 100, 3)
    assert {call.depth for call in (*world.calls_of(0), *world.calls_of(1))} == {2 * ONE + 20}


# Razoring and futility --------------------------------------------------------------------

RAZORING = {"razor_depth": 3 * ONE}
FUTILITY = {"futility_depth": 4 * ONE}


def hope(static: int, leaf: int, **more: bool) -> Node:
    """Return a node whose moves would give 500 more than it seems to be worth."""
    return Node(static, [chain(-static - 500, static + 500)], leaf=leaf, **more)


def test_a_hopeless_node_is_left_to_the_leaf_search(make: Make) -> None:
    alpha = 100
    margin = razor_margin(shared_block().params, 2 * ONE)
    for static, is_razored in ((alpha - margin, True), (alpha - margin + 1, False),
                               (alpha, False), (alpha + margin, False)):  # fmt: skip
        world = make(hope(static, leaf=static), **RAZORING)
        result = world.run(alpha, alpha + 1, 2)
        assert result == (static if is_razored else static + 500)
        if is_razored:
            assert [(leaf.alpha, leaf.beta) for leaf in world.leaves] == [(alpha, alpha + 1)]


def test_a_leaf_search_that_finds_a_win_saves_a_hopeless_node(make: Make) -> None:
    world = make(hope(-900, leaf=101), **RAZORING)
    assert world.run(100, 101, 2) == -900 + 500
    shallow = make(hope(-900, leaf=101), **RAZORING)
    assert shallow.run(100, 101, 0.5) == 101  # nothing is left to search


def test_razoring_ends_with_its_depth_and_spares_the_principal_variation(make: Make) -> None:
    for beta, depth in ((101, 3), (300, 2)):
        tree = hope(-900, leaf=-900)
        tree.children[0].children[0].children = [chain(0, 0)]
        world = make(tree, **RAZORING)
        world.run(100, beta, depth)
        assert world.calls_of(0), "it is searched"


def test_a_node_far_above_beta_is_left_alone(make: Make) -> None:
    beta, depth = 50, 3
    params = shared_block().params
    for before, improving in ((10**4, 0), (-(10**4), 1)):
        margin = futility_margin(params, depth * ONE, improving)
        for static, is_futile in ((beta + margin, True), (beta + margin - 1, False)):
            world = make(Node(static, [chain(-3, 3, -3)]), **FUTILITY)
            world.worker.stack[1 + STACK_BASE - 2].value = before
            result = world.run(beta - 1, beta, depth)
            assert (result == static and not world.calls_of(0)) == is_futile


@pytest.mark.parametrize("spared", ["threatened", "depth", "window"])
def test_futility_spares_what_is_threatened_deep_or_open(make: Make, spared: str) -> None:
    tree = Node(1000, [chain(-3, 3, -3, 3, -3)], threatened=spared == "threatened")
    world = make(tree, **FUTILITY)
    world.worker.stack[1 + STACK_BASE - 1].value = -1000  # what a threatened side goes by
    world.run(0, 400 if spared == "window" else 1, 4 if spared == "depth" else 3)
    assert world.calls_of(0)


# Pruning by number ------------------------------------------------------------------------

COUNTING = {"count_base": 2, "count_slope": 0, "count_curve": 0}


def test_quiet_moves_beyond_the_count_are_left_out_once_one_does_not_lose(make: Make) -> None:
    def tree(first: int) -> Node:
        children = [chain(9, -9) for _ in range(6)]
        for child in children[:first]:
            child.result = 2  # the enemy wins
        children[5].kind = MAKES_FOUR
        return Node(-1000, children)

    world = make(tree(0), **COUNTING)
    world.worker.stack[1 + STACK_BASE - 2].value = -2000  # things improve
    assert world.run(0, 1, 1) == -9
    assert {leaf.path for leaf in world.leaves} == {(0,), (1,)}
    world = make(tree(4), **COUNTING)
    world.run(0, 1, 2)
    assert world.calls_of(4), "all others lose"
    world = make(tree(6), **COUNTING)
    assert world.run(0, 1, 2) == loss_in(1 + 1 + 2)
    assert all(world.calls_of(number) for number in range(6))


@pytest.mark.parametrize("node", [Node(-1000, [Node(9, kind=MAKES_FOUR) for _ in range(6)]),
                                  Node(-1000, [Node(9) for _ in range(6)], threatened=True)],
                         ids=["fours", "answers"])  # fmt: skip
def test_neither_fours_nor_answers_to_a_threat_are_left_out(make: Make, node: Node) -> None:
    world = make(node, **COUNTING)
    world.run(0, 1, 1)
    assert len(world.leaves) == 6


# Ends -------------------------------------------------------------------------------------


def test_a_node_without_moves_is_lost_to_its_threat_or_to_a_foul(make: Make) -> None:
    for node, value in ((Node(blocked=True), loss_in(3 + 2)), (Node(7), 7),
                        (Node(7, stuck=True), loss_in(3 + 2)),
                        (Node(threatened=True), loss_in(3 + 4))):  # fmt: skip
        world = make(node)
        assert world.run(-INFINITE, INFINITE, 3, ply=3) == value
    forbidden = Node(0, [Node(5, forbidden=True)], blocked=True)
    world = make(forbidden)
    assert world.run(-INFINITE, INFINITE, 3, ply=1) == loss_in(1 + 2)


def test_a_forbidden_move_is_not_played(make: Make) -> None:
    world = make(Node(0, [Node(-90, forbidden=True), Node(-5)]))
    assert world.run(-INFINITE, INFINITE, 1) == 5
    assert world.line() == [1]


def test_no_win_is_looked_for_that_would_be_later_than_a_known_one(make: Make) -> None:
    world = make(Node(0, [Node(0)]))
    assert world.run(win_in(3), win_in(3) + 1, 3, ply=3) == win_in(3)  # a win at ply 6 at best
    assert not world.calls_of(0)
    assert world.run(loss_in(3) - 2, loss_in(3) - 1, 3, ply=3) == loss_in(3 + 2)
    assert not world.calls_of(0)
    world.run(win_in(6) - 1, win_in(6), 2, ply=3)
    assert world.calls_of(0)


def test_what_is_decided_at_a_glance_is_not_searched(make: Make) -> None:
    for plies, value in ((3, win_in(2 + 3)), (-2, loss_in(2 + 2))):
        world = make(Node(0, [Node(0)], result=plies))
        assert world.run(-INFINITE, INFINITE, 5, ply=2) == value
        assert not world.calls_of(0)


def test_a_line_ends_where_it_is_decided_and_a_full_board_is_a_draw(make: Make) -> None:
    world = make(Node(0, [chain(-3, 3, -3, 3), Node(0, result=-2)]))
    assert world.run(-INFINITE, INFINITE, 4) == win_in(2 + 2)
    assert world.line() == [1]
    world.position.ply = 225
    assert world.run(-INFINITE, INFINITE, 2) == 0


def test_a_search_that_is_stopped_returns_and_stores_nothing(make: Make) -> None:
    tree = random_tree(random.Random(3), 5)
    for limit in range(1, 12):
        world = make(tree)
        world.worker.node_limit = limit
        world.run(-INFINITE, INFINITE, 5)
        assert world.worker.stopped == 1 and world.worker.nodes <= limit
        assert world.known() == 0


# The table --------------------------------------------------------------------------------


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
def test_a_bound_is_believed_on_its_own_side_of_the_window(
    make: Make, value: int, fits: set[int]
) -> None:
    for bound in (UPPER, LOWER, EXACT):
        assert asked(make, 10, 11, value, bound) == (bound in fits)


def test_shallower_knowledge_and_the_principal_variation_are_searched(make: Make) -> None:
    assert asked(make, 10, 11, 20, EXACT, stored=4)
    assert not asked(make, 10, 11, 20, EXACT, stored=2.75)
    assert not asked(make, 10, 50, 20, EXACT)


def test_a_bound_is_stored_for_what_the_window_tells(make: Make) -> None:
    tree = Node(7, [Node(-20), Node(3)])
    for alpha, beta, bound in ((0, 100, EXACT), (0, 15, LOWER), (0, 20, LOWER), (20, 90, UPPER),
                               (30, 31, UPPER), (19, 21, EXACT)):  # fmt: skip
        world = make(tree)
        assert world.run(alpha, beta, 1) == 20
        data = world.known()
        assert (value_of(data), eval_of(data), bound_of(data)) == (20, 7, bound)
        assert depth_of(data) == ONE
        assert cell_of_entry(data) == (0 if bound == UPPER else 1)


def test_the_table_s_move_is_tried_first_where_its_cell_is_free(make: Make) -> None:
    tree = Node(0, [Node(5), Node(4), Node(-9)])
    for is_free, first in ((True, 2), (False, 0)):  # the move may be another position's
        world = make(tree)
        world.know(0, UPPER, move=3)
        if not is_free:
            world.position.holds[3] = 0
        assert world.run(0, 1, 1) == 9
        assert world.leaves[0].path == (first,)


def test_moves_are_not_listed_where_the_table_s_cuts(make: Make) -> None:
    tree = Node(0, [Node(5), Node(4), Node(-9)])
    for move, beta, listed in ((3, 1, 0), (3, 9, 0), (3, 10, 1), (1, 1, 1), (0, 1, 1)):
        world = make(tree)
        if move:
            world.know(0, UPPER, move=move)
        assert world.run(beta - 1, beta, 1) == 9
        assert world.listed == listed, (move, beta)
    assert sorted(leaf.path for leaf in world.leaves) == [(0,), (1,), (2,)]


def test_the_table_s_move_is_searched_once_and_all_others_too(make: Make) -> None:
    tree = Node(0, [Node(5), Node(4), Node(9), Node(7)])
    for move in range(1, 5):
        world = make(tree)
        world.know(0, UPPER, move=move)
        assert world.run(0, 100, 1) == -4
        first, *others = [leaf.path for leaf in world.leaves]
        assert first == (move - 1,)
        assert sorted([first, *others]) == [(0,), (1,), (2,), (3,)]


def test_under_a_threat_the_table_s_move_has_to_be_an_answer(make: Make) -> None:
    world = make(Node(0, [Node(5), Node(4)], threatened=True))
    world.know(0, UPPER, move=9)  # no answer
    assert world.run(-100, 100, 1) == -4
    assert {leaf.path for leaf in world.leaves} == {(0,), (1,)}


def test_a_value_of_the_table_is_a_better_estimate_on_its_side(make: Make) -> None:
    for value, bound, cuts in ((900, LOWER, True), (900, UPPER, False), (900, EXACT, True)):
        world = make(Node(0, [chain(-3, 3, -3)]), **FUTILITY)
        world.know(value, bound)
        world.run(49, 50, 3)
        assert (not world.calls_of(0)) == cuts
    world = make(Node(900, [chain(-3, 3, -3)]), **FUTILITY)
    world.know(0, UPPER, static=900)
    world.run(49, 50, 3)
    assert world.calls_of(0)


def test_doubt_costs_depth_in_the_principal_variation_alone(make: Make) -> None:
    numbers = {"no_move_pv": 30, "stale_pv": 14}
    for window, stored, rest in ((1, None, 4 * ONE), (900, None, 4 * ONE - 30),
                                 (900, 5, 4 * ONE), (900, 3, 4 * ONE - 28)):  # fmt: skip
        world = make(Node(0, [chain(0, 0, 0, 0, 0, 0)]), **numbers)
        if stored is not None:
            world.know(0, UPPER, move=1, depth=stored * ONE)
        world.run(0, window, 5)
        assert world.calls_of(0)[0].depth == rest


# Singular extension -----------------------------------------------------------------------

SINGULAR = {"singular_depth": 4 * ONE, "singular_margin": 100}


def singular(make: Make, other: int, window: tuple[int, int] = (0, 900),
             lacks: int = 0) -> World:  # fmt: skip
    """Search a node to four plies whose table move is worth 80 and its other one ``other``."""
    tree = Node(0, [chain(-other, other, -other, other), chain(-80, 80, -80, 80)])
    world = make(tree, **SINGULAR)
    world.know(80, LOWER, move=2, depth=4 * ONE - lacks)
    world.run(*window, 4)
    return world


def test_a_move_much_better_than_every_other_is_extended(make: Make) -> None:
    world = singular(make, other=60)
    apart = [call for call in world.calls if call.path == () and call.depth == 2 * ONE]
    assert [(call.alpha, call.beta, call.value) for call in apart] == [(75, 76, 60)]
    assert max(call.depth for call in world.calls_of(1)) == 4 * ONE
    assert max(call.depth for call in world.calls_of(0)) == 3 * ONE


@pytest.mark.parametrize(
    ("other", "window", "lacks", "deepest"),
    [
        (77, (0, 900), 0, 3 * ONE),  # the table's move is not alone
        (77, (78, 79), ONE, 2 * ONE),  # others may cut, too: it is reduced
        (60, (0, 900), 3 * ONE, 4 * ONE),
        (60, (0, 900), 3 * ONE + ONE // 4, 3 * ONE),  # the table lacks too much depth
    ],
)
def test_the_table_s_move_is_extended_or_reduced_by_what_others_are_worth(
    make: Make, other: int, window: tuple[int, int], lacks: int, deepest: int
) -> None:
    world = singular(make, other, window, lacks)
    assert max(call.depth for call in world.calls_of(1)) == deepest


def test_the_search_without_the_table_s_move_neither_plays_nor_stores_it(make: Make) -> None:
    world = make(Node(0, [chain(-60, 60), chain(-80, 80)]), **SINGULAR)
    frame = world.worker.stack[1 + STACK_BASE]
    frame.excluded = 2
    assert world.run(75, 76, 2) == 60
    assert not world.calls_of(1)
    assert world.known() == 0
    frame.excluded = 0
    only = make(Node(0, [Node(-80)]), **SINGULAR)
    only.worker.stack[1 + STACK_BASE].excluded = 1
    assert only.run(75, 76, 2) == 75


# Evaluations of the nodes on the way ------------------------------------------------------


def test_a_side_in_trouble_sees_what_the_other_saw_before(make: Make) -> None:
    world = make(Node(999, [Node(0)], threatened=True))
    world.worker.stack[1 + STACK_BASE - 1].value = 33
    world.run(-INFINITE, INFINITE, 1)
    assert world.worker.stack[1 + STACK_BASE].value == -33


def test_history_is_credited_for_a_cut_and_for_nothing_else(make: Make) -> None:
    tree = Node(0, [Node(5), Node(-20), Node(-90)])
    world = make(tree)
    world.run(0, 10, 1)
    first, second, third = world.worker.history[0, 0, 1:4]
    assert first < 0 < second and third == 0
    world = make(tree)
    world.run(0, 1000, 1)
    assert not world.worker.history.any()


# It is minimax ----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_the_search_is_minimax_within_any_window_whatever_the_table_knows(
    make: Make, seed: int
) -> None:
    chance = random.Random(seed)
    tree = random_tree(chance, 4)
    for depth, is_fresh in product((4, 3, 2), (True, False)):  # or with the table of other windows
        value, world = true_value(tree, depth), make(tree)
        for alpha, beta in windows(chance, value, 6):
            world = make(tree) if is_fresh else world
            result = world.run(alpha, beta, depth)
            assert keeps_contract(result, value, alpha, beta), (result, value, alpha, beta)


@pytest.mark.parametrize("seed", range(6))
def test_the_line_leads_to_the_value(make: Make, seed: int) -> None:
    tree = random_tree(random.Random(200 + seed), 4, spread=400)
    world = make(tree)
    value = world.run(-INFINITE, INFINITE, 4)
    line = world.line()
    assert value == true_value(tree, 4) and len(line) == 4
    for number in line:
        tree = tree.children[number]
    assert tree.static == value
