"""The parts of the tree search by themselves: proofs, what is chosen, what stays in the tree."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pbrain_engine.position.board import bucket_of
from pbrain_engine.search.mcts.chances import EVEN, UNIT
from pbrain_engine.search.mcts.moves import WIDEN, choose, edge_to_stay
from pbrain_engine.search.mcts.tree import (
    BUCKET,
    LISTS,
    NEAR,
    NO_BLOCK,
    NO_EDGE,
    NO_NODE,
    NO_PROOF,
    PART,
    PROVEN_DRAW,
    TREE,
    WHOLE,
    add_edge,
    claim_node,
    edge_at,
    edge_of,
    find_node,
    settle,
)
from pbrain_engine.search.mcts.walk import child_of
from pbrain_engine.search.parameters import MCTS
from pbrain_engine.values import loss_in, win_in
from tests.kernels.memory import check_tree, plain

pytestmark = pytest.mark.uncompiled

ROOT = 1
CELLS = (100, 101, 102, 103)
EVEN_SHARES = (UNIT // 4,) * 4


def make_tree(blocks: int = 8) -> Any:
    """Return an empty tree of one bucket, with its lists beside it."""
    tree = plain(TREE, nodes=1 + 2 * BUCKET)
    for name, parameter in MCTS.items():
        setattr(tree.params, name, parameter.default)
    tree.buckets, tree.blocks, tree.unused, tree.lines = 1, blocks, 1, 1
    tree.root = ROOT
    return SimpleNamespace(tree=tree, lists=plain(LISTS, blocks=blocks))


def hang(
    made: Any, number: int, priors: tuple[int, ...] = EVEN_SHARES, listing: int = WHOLE
) -> Any:
    """Give a node moves on ``CELLS``; return their edges."""
    made.tree.nodes[number].visits = max(1, made.tree.nodes[number].visits)
    ats = [
        add_edge(made.tree, made.lists, number, cell, prior)
        for cell, prior in zip(CELLS, priors, strict=False)
    ]
    made.tree.nodes[number].listing = listing
    return [edge_at(made.lists, at) for at in ats]


def chosen(made: Any, at_root: bool = False) -> int:
    """Return the cell that is chosen at the root node, or what else is said."""
    at = choose(made.tree, made.lists, ROOT, at_root)
    return at if at in (WIDEN, NO_EDGE) else int(edge_at(made.lists, at).cell)


# Proofs --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("proofs", "least", "listing", "expected"),
    [
        ((win_in(5), loss_in(2), win_in(3), win_in(7)), 0, WHOLE, win_in(3)),  # the shortest win
        ((win_in(5), 0), 0, PART, win_in(5)),  # one is enough
        ((loss_in(4), loss_in(8), loss_in(6)), 0, WHOLE, loss_in(8)),  # the longest loss
        ((loss_in(2),), 6, WHOLE, loss_in(6)),  # as long as moves that are not listed
        ((loss_in(4), loss_in(8)), 0, PART, NO_PROOF),  # moves that are not listed may hold
        ((loss_in(4), 0, loss_in(6)), 0, WHOLE, NO_PROOF),  # nor is an open one lost
        ((loss_in(4), PROVEN_DRAW), 0, WHOLE, PROVEN_DRAW),
        ((PROVEN_DRAW, 0), 0, WHOLE, NO_PROOF),
    ],
)
def test_a_node_is_proven_by_its_moves(
    proofs: tuple[int, ...], least: int, listing: int, expected: int
) -> None:
    made = make_tree()
    made.tree.nodes[ROOT].least = least
    for edge, proof in zip(
        hang(made, ROOT, EVEN_SHARES[: len(proofs)], listing), proofs, strict=True
    ):
        edge.proof = proof
    settle(made.tree, made.lists, ROOT)
    assert made.tree.nodes[ROOT].proof == expected


# What is chosen ------------------------------------------------------------------------


def visited(made: Any, averages: tuple[int, ...], visits: int = 20) -> list[Any]:
    """Return the root's edges after that many visits each, with these chances."""
    edges = hang(made, ROOT)
    for edge, average in zip(edges, averages, strict=True):
        edge.visits, edge.average = visits, average
    made.tree.nodes[ROOT].visits = 1 + 4 * visits
    made.tree.nodes[ROOT].total = EVEN * (1 + 4 * visits)
    return edges


def test_where_all_listed_moves_lose_more_are_listed_if_there_are_any() -> None:
    made = make_tree()
    for edge in visited(made, (0, 0, 0, 0)):
        edge.proof = loss_in(2)
    assert chosen(made) == NO_EDGE
    made.tree.nodes[ROOT].listing = PART
    assert chosen(made) == WIDEN


@pytest.mark.parametrize(("depth", "barred", "stays"), [(0, False, True), (0, True, False),
                                                        (1, True, True)])  # fmt: skip
def test_a_visit_follows_the_one_before_unless_its_move_is_barred_at_the_root(
    depth: int, barred: bool, stays: bool
) -> None:
    made = make_tree()
    visited(made, (EVEN,) * 4)
    made.tree.params.mcts_stay = 1
    at = edge_of(made.lists, made.tree.nodes[ROOT], CELLS[2])
    if barred:
        made.tree.barred[CELLS[2] >> 6] |= np.uint64(1 << (CELLS[2] & 63))
    walker = SimpleNamespace(edges=[at, at])
    found = [edge_to_stay(walker, made.tree, made.lists, ROOT, depth), 0]
    assert found[0] == (at if stays else NO_EDGE)
    made.tree.nodes[ROOT].visits = 80  # every eighth visit chooses anew
    assert edge_to_stay(walker, made.tree, made.lists, ROOT, depth) == NO_EDGE


def test_where_the_best_is_a_draw_more_moves_are_listed_if_there_are_any() -> None:
    made = make_tree()
    edges = visited(made, (9, 9, 9, 9))
    for edge in edges:
        edge.proof, edge.average = PROVEN_DRAW, EVEN
    assert chosen(made) in CELLS
    made.tree.nodes[ROOT].listing = NEAR
    assert chosen(made) == WIDEN
    edges[1].proof, edges[1].average = NO_PROOF, UNIT
    assert chosen(made) == CELLS[1]


# What stays in the tree ----------------------------------------------------------------


def filled(made: Any) -> list[int]:
    """Fill the one bucket with positions of 10, 20, 30 and 40 visits; return their nodes."""
    numbers = []
    for place in range(BUCKET):
        number = int(claim_node(made.tree, made.lists, np.uint64(place + 5)))
        made.tree.nodes[number].visits = 10 * (place + 1)
        numbers.append(number)
    made.tree.root = numbers[3]
    return numbers


def test_the_least_visited_makes_room_but_neither_the_root_nor_what_is_under_way() -> None:
    made = make_tree()
    numbers = filled(made)
    made.tree.nodes[numbers[0]].flying = 1
    assert claim_node(made.tree, made.lists, np.uint64(99)) == numbers[1]
    made.tree.nodes[numbers[1]].visits = 50
    made.tree.nodes[numbers[3]].visits = 1
    assert claim_node(made.tree, made.lists, np.uint64(98)) == numbers[2]


def test_what_earlier_searches_left_makes_room_first() -> None:
    made = make_tree()
    numbers = filled(made)
    made.tree.generation = 3
    for number in numbers:
        made.tree.nodes[number].generation = 3
    made.tree.nodes[numbers[2]].generation = 1
    assert claim_node(made.tree, made.lists, np.uint64(99)) == numbers[2]


def test_a_recycled_node_is_not_taken_for_the_one_before_and_gives_its_lists_back() -> None:
    made = make_tree()
    numbers = filled(made)
    edge = hang(made, numbers[3])[0]
    edge.child = numbers[0]
    assert child_of(made.tree, edge, np.uint64(5)) == numbers[0]
    hang(made, numbers[0])
    block = int(made.tree.nodes[numbers[0]].block)
    assert claim_node(made.tree, made.lists, np.uint64(99)) == numbers[0]
    made.tree.nodes[numbers[0]].visits = 1
    assert child_of(made.tree, edge, np.uint64(5)) == NO_NODE == edge.child
    assert find_node(made.tree, np.uint64(5)) == NO_NODE
    assert made.tree.nodes[numbers[0]].block == NO_BLOCK
    assert (made.tree.free, made.tree.recycled) == (block, 1)
    assert bucket_of(np.uint64(99), made.tree.buckets) == 0


def test_without_a_free_block_the_node_that_deserves_its_lists_least_gives_them() -> None:
    made = make_tree(blocks=5)  # block 0 is never used
    tree = made.tree
    tree.generation = 3
    for number, visits, age, flying in ((ROOT, 1, 0, 0), (2, 90, 3, 0),
                                        (3, 20, 0, 0), (4, 1, 0, 1)):  # fmt: skip
        hang(made, number)
        node = tree.nodes[number]
        node.visits, node.generation, node.flying = visits, 3 - age, flying
    for asks, recycled, kept in ((5, 1, {ROOT, 3, 4, 5}), (6, 2, {ROOT, 4, 5, 6}),
                                 (7, 2, {ROOT, 4, 5, 6})):  # fmt: skip
        tree.nodes[asks].flying = 1
        at = add_edge(tree, made.lists, asks, CELLS[0], UNIT // 2)
        assert (at != NO_EDGE) == (asks in kept) and tree.recycled == recycled
        assert {n for n in range(ROOT, 8) if tree.nodes[n].block != NO_BLOCK} == kept
    for node in tree.nodes:
        node.flying = 0
    tree.buckets = 2
    check_tree(tree, made.lists)
