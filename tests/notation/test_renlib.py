"""RenLib libraries: the bytes of the format's public descriptions, and round trips."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from pbrain_engine import Game, Rule
from pbrain_engine.database.sources import SourceOptions, read_source
from pbrain_engine.game.tree import GameTree, TreeNode
from pbrain_engine.notation.renlib import format_renlib, parse_renlib


def grow(seed: int, nodes: int) -> GameTree:
    """Return a random tree with notes of every kind."""
    chance = random.Random(seed)
    made = GameTree()
    cells = [(x, y) for x in range(15) for y in range(15)]
    open_nodes: list[tuple[TreeNode, frozenset[tuple[int, int]]]] = [(made.root, frozenset())]
    for _ in range(nodes):
        parent, taken = chance.choice(open_nodes[-200:])
        cell = chance.choice(cells)
        if cell in taken or any(child.cell == cell for child in parent.children):
            continue
        is_move = chance.random() < 0.95
        node = TreeNode(cell, is_move)
        parent.children.append(node)
        if chance.random() < 0.1 or not is_move:
            node.text = chance.choice(["A", "12", "好", "one\ntwo"])
        if chance.random() < 0.2:
            node.title = chance.choice(["", "best", "Ünsicher"])
            node.comment = chance.choice(["", "one\ntwo", "五"])
        node.is_marked = chance.random() < 0.05
        node.is_start = chance.random() < 0.01
        if is_move and len(taken) < 200:
            open_nodes.append((node, taken | {cell}))
    return made


@given(st.integers(0, 10**6), st.integers(0, 60))
def test_every_tree_comes_back(seed, nodes):
    made = grow(seed, nodes)
    data, losses = format_renlib(made)
    assert not losses
    assert parse_renlib(data) == made
    assert format_renlib(parse_renlib(data))[0] == data


def test_the_oldest_libraries_have_no_header_and_are_known_by_their_name(tmp_path):
    path = tmp_path / "old.LIB"
    path.write_bytes(bytes.fromhex("78 20 4e ef 79 40"))  # h8 with the comment "No", i8
    game = Game.from_file(path)
    assert (game.moves, game.rule) == ([(7, 7), (8, 7)], Rule.RENJU)
    (tree,) = read_source(str(path), SourceOptions())
    assert tree.record.rule is Rule.RENJU and tree.root.children[0].title == "No"
