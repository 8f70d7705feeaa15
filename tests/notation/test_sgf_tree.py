"""SGF files with variations."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pbrain_engine.notation.cells import NotationError, format_moves
from pbrain_engine.notation.game_tree import GameRecord, GameTree, tree_of
from pbrain_engine.notation.sgf import format_sgf_trees, parse_sgf, parse_sgf_trees
from pbrain_engine.position.rules import Rule, Side
from tests.notation.test_renlib import grow

FILE = """(;GM[4]FF[4]SZ[15]RU[renju]PB[A]PW[B]RE[B+R]C[a game]
;B[hh]LB[ii:1][gi:two\\]]
(;W[ii]N[usual]C[best];B[jj](;W[aa])(;W[ab]HO[1]))
(;W[hi];B[]))
(;GM[4]SZ[20:15]AB[aa][bb]AW[cc]PL[W];W[dd])
"""


def ways(tree: GameTree) -> list[str]:
    found, way = [], []
    for node, depth in tree.walk():
        del way[max(depth - 1, 0) :]
        if depth:
            way.append("pass" if node.cell is None else format_moves([node.cell]))
        if not node.children:
            found.append(" ".join(way))
    return found


def test_variations_labels_and_several_games() -> None:
    first, second = parse_sgf_trees(FILE)
    assert ways(first) == ["h8 i9 j10 a1", "h8 i9 j10 a2", "h8 h9 pass", "h8 g9"]
    assert first.record.rule is Rule.RENJU and first.record.result == "1-0"
    assert first.root.comment == "a game"
    move = first.root.children[0]
    assert [(child.text, child.is_move) for child in move.children] == [
        ("1", True), ("", True), ("two]", False),
    ]  # fmt: skip
    assert (move.children[0].title, move.children[0].comment) == ("usual", "best")
    assert move.children[0].children[0].children[1].is_marked
    assert second.record.black_setup == ((0, 0), (1, 1)) and second.record.first is Side.WHITE
    assert ways(second) == ["d4"]


def test_what_is_written_is_read_again() -> None:
    trees = parse_sgf_trees(FILE)
    text, losses = format_sgf_trees(trees)
    assert not losses
    assert parse_sgf_trees(text) == trees


def test_the_main_line_is_the_game_that_other_readers_see() -> None:
    assert parse_sgf(FILE).cells == [(7, 7), (8, 8), (9, 9), (0, 0)]


@pytest.mark.parametrize("word", ["", " ", "tt", "TT", " Tt "])
def test_passes_are_read_in_one_way(word: str) -> None:
    text = f"(;GM[4]SZ[15];B[hh];W[{word}];B[ii])"
    assert parse_sgf(text).turns == [(7, 7), None, (8, 8)]
    assert ways(parse_sgf_trees(text)[0]) == ["h8 pass i9"]
    large = f"(;GM[4]SZ[20];B[hh];W[{word}])"
    turn = None if not word.strip() else (19, 19)
    assert parse_sgf(large).turns[1] == turn
    assert parse_sgf_trees(large)[0].root.children[0].children[0].cell == turn


def test_stones_before_the_first_move_and_the_first_branch_are_a_setup() -> None:
    (tree,) = parse_sgf_trees("(;GM[4]SZ[15]AB[hh];C[x];AB[hi]AW[ii](;W[jj])(;W[jk];B[aa]))")
    assert tree.record.black_setup == ((7, 7), (7, 8)) and tree.record.white_setup == ((8, 8),)
    assert tree.record.first is Side.WHITE and not tree.remarks
    assert ways(tree) == ["j10", "j11 a1"]


def test_stones_of_one_branch_or_after_a_move_are_left_out_with_a_remark() -> None:
    (tree,) = parse_sgf_trees("(;GM[4]SZ[15](;AB[hh]AW[ii];B[jj])(;B[jk];AW[aa];W[bb]))")
    assert not tree.record.black_setup and not tree.record.white_setup
    assert tree.remarks == ["3 stones put in the middle of a game are left out"]


def test_a_game_becomes_a_tree() -> None:
    record = parse_sgf("(;GM[4]SZ[15]RE[B+];B[hh]C[x];W[ii])")
    tree = tree_of(record)
    assert parse_sgf_trees(format_sgf_trees([tree])[0]) == [tree]


def test_where_to_start_is_not_in_sgf() -> None:
    tree = GameTree(GameRecord())
    tree.root.child((7, 7)).is_start = True
    assert format_sgf_trees([tree])[1] == ["1 marks of where to start are not in SGF"]


@given(st.integers(0, 10**6), st.integers(0, 60))
@settings(max_examples=100)
def test_every_tree_comes_back(seed: int, nodes: int) -> None:
    tree = grow(seed, nodes)
    for node, _ in tree.walk():
        node.is_start = False  # which SGF has not, nor notes on a label
        if not node.is_move:
            node.title, node.comment, node.is_marked = "", "", False
        node.children.sort(key=lambda child: not child.is_move)  # SGF has labels apart
        texts = {child.cell for child in node.children if child.is_move}
        node.children = [c for c in node.children if c.is_move or c.cell not in texts]
    (read,) = parse_sgf_trees(format_sgf_trees([tree])[0])
    assert read.root == tree.root


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "begins with"),
        ("hello", "begins with"),
        ("(;GM[1];B[aa])", "another game"),
        ("(;GM[4];B[aa];B[bb])", "moves twice"),
        ("(;GM[4];B[aa];W[aa])", "taken"),
        ("(;GM[4]SZ[15];B[aa", "not closed"),
    ],
)
def test_what_is_no_game_is_told(text: str, reason: str) -> None:
    with pytest.raises(NotationError, match=reason):
        parse_sgf_trees(text)
