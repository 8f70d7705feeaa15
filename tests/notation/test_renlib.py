"""RenLib libraries: the bytes of the format's public descriptions, and round trips."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pbrain_engine.notation.cells import NotationError, cell_name, parse_moves
from pbrain_engine.notation.game_tree import GameRecord, GameTree, TreeNode
from pbrain_engine.notation.renlib import format_renlib, parse_renlib

HEADER = bytes.fromhex("ff 52 65 6e 4c 69 62 ff 03 00" + "ff" * 10)


def lines(tree: GameTree) -> list[str]:
    """Return the way to every leaf, rows counted from below as in renju."""
    found: list[str] = []
    way: list[str] = []
    for node, depth in tree.walk():
        del way[max(depth - 1, 0) :]
        if depth:
            assert node.cell is not None
            way.append(cell_name(node.cell[0], 14 - node.cell[1]))
        if not node.children:
            found.append(" ".join(way))
    return found


def tree(text: str) -> GameTree:
    return parse_renlib(HEADER + bytes.fromhex(text))


def test_a_library_of_one_move() -> None:
    assert tree("44 40").root.children[0].cell == (3, 4)
    assert lines(tree("78 00")) == ["h8"]
    assert lines(tree("78 00 79 40")) == ["h8 i8"]


def test_a_line_that_may_be_cut_off_is_read_with_a_remark() -> None:
    read = tree("78 00 68 00 79")
    assert lines(read) == ["h8 h9"]
    assert "may be cut off" in read.remarks[0]
    assert not tree("78 00 68 40").remarks


def test_what_comes_after_the_end_of_the_tree_is_not_read() -> None:
    assert lines(tree("78 00 79 40 68 00 66 40")) == ["h8 i8"]


def test_branches() -> None:
    read = tree(
        "78 00 68 80 66 00 49 00 58 00 79 00 69 00 7a 00 59 00 4a 80 5a 40 5a 40 69 c0 8a 00"
        "69 00 8b 00 68 00 7b 00 7a 00 6b 00 58 40"
    )
    assert lines(read) == [
        "h8 h9 f9 i11 h10 i8 i9 j8 i10 j11 j10",
        "h8 h9 f9 i11 h10 i8 i9 j8 i10 j10",
        "h8 i9",
        "h8 j7 i9 k7 h9 k8 j8 k9 h10",
    ]


def test_comments() -> None:
    read = tree(
        "78 08 08 54 68 69 73 20 63 6f 6d 6d 65 6e 74 20 6f 6e 20 37 38 00"
        "87 48 08 49 6d 20 66 72 6f 6d 20 38 37 00 0a"
    )
    first = read.root.children[0]
    assert (first.title, first.comment) == ("", "This comment on 78")
    assert first.children[0].comment == "Im from 87"


def test_texts_on_the_board() -> None:
    read = tree("78 00 68 c3 00 01 44 00 77 c3 00 01 42 00 79 c3 00 01 41 00 88 43 00 01 43 00")
    labels = read.root.children[0].children
    assert [(node.is_move, node.text) for node in labels] == [
        (False, "D"), (False, "B"), (False, "A"), (False, "C"),
    ]  # fmt: skip
    assert lines(read) == ["h8 h9", "h8 g8", "h8 i8", "h8 h7"]


def test_titles_further_lines_and_old_letters() -> None:
    assert tree("78 48 61 08 62 00").root.children[0].title == "a"
    assert tree("78 48 61 08 62 00").root.children[0].comment == "b"
    assert tree("78 60 7b 7d 5c 00").root.children[0].title == "äåÖ"


def test_a_root_without_a_move() -> None:
    read = tree("00 08 61 00 78 80 68 40 68 40")
    assert read.root.title == "a"
    assert lines(read) == ["h8 h9", "h9"]


def test_both_readable_versions_and_no_other() -> None:
    assert lines(parse_renlib(HEADER[:9] + b"\x04" + HEADER[10:] + b"\x78\x40")) == ["h8"]
    with pytest.raises(NotationError, match=r"version 4\.0"):
        parse_renlib(HEADER[:8] + b"\x04" + HEADER[9:])


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "no RenLib library"),
        (b"PK\x03\x04" + bytes(40), "no RenLib library"),
        (HEADER + bytes.fromhex("78 80 68 40"), "cut off"),
        (HEADER + bytes.fromhex("78 48 61 61"), "middle of a text"),
        (HEADER + bytes.fromhex("70 40"), "no cell"),
        (HEADER + bytes.fromhex("f8 40"), "no cell"),
        (HEADER + bytes.fromhex("78 00 68 00 78 40"), "taken after"),
    ],
)
def test_what_is_no_library_is_told(data: bytes, reason: str) -> None:
    with pytest.raises(NotationError, match=reason):
        parse_renlib(data)


def test_letters_of_other_systems() -> None:
    made = GameTree()
    made.root.child((7, 7)).comment = "Ä 五"
    data, losses = format_renlib(made)
    assert parse_renlib(data) == made and not losses
    data, losses = format_renlib(made, "gbk")
    assert losses == ["1 texts have letters that gbk or the format has not"]
    made.root.child((7, 7)).comment = "五子棋"
    data, losses = format_renlib(made, "gbk")
    assert parse_renlib(data, "gbk") == made and not losses
    made.root.child((7, 7)).comment = "Ä"
    assert parse_renlib(format_renlib(made, "cp1252")[0]) == made  # the fallback


def test_what_a_library_cannot_hold_is_told() -> None:
    with pytest.raises(NotationError, match="15x15"):
        format_renlib(GameTree(GameRecord(20, 20)))
    with pytest.raises(NotationError, match="empty board"):
        format_renlib(GameTree(GameRecord(black_setup=((0, 0),))))


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
@settings(max_examples=150)
def test_every_tree_comes_back(seed: int, nodes: int) -> None:
    made = grow(seed, nodes)
    data, losses = format_renlib(made)
    assert not losses
    assert parse_renlib(data) == made
    assert format_renlib(parse_renlib(data))[0] == data


def test_a_large_library_comes_back_quickly() -> None:
    made = grow(1, 12_000)
    assert made.count() > 5_000
    began = time.process_time()  # of this process, whatever else runs
    data, _ = format_renlib(made)
    assert parse_renlib(data) == made
    assert time.process_time() - began < 2.5


def test_moves_are_written_where_people_read_them() -> None:
    made = GameTree()
    made.add(parse_moves("h8i9j10"))
    data, _ = format_renlib(made)
    assert data == HEADER + bytes.fromhex("78 00 89 00 9a 40")
