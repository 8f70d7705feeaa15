"""SGF files: games, and games with variations."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pbrain_engine.notation.cells import NotationError, format_moves
from pbrain_engine.notation.game_tree import GameRecord, GameTree, RecordedMove
from pbrain_engine.notation.sgf import format_sgf, format_sgf_trees, parse_sgf, parse_sgf_trees
from pbrain_engine.position.rules import Rule, Side
from tests.notation.test_notation import boards_with_moves
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


@st.composite
def records(draw: st.DrawFn) -> GameRecord:
    width, height, cells = draw(boards_with_moves())
    cut = draw(st.integers(0, len(cells)))
    split = draw(st.integers(0, cut))
    comment = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=20)
    return GameRecord(
        width,
        height,
        draw(st.sampled_from([None, *Rule])),
        tuple(RecordedMove(x, y, None, draw(comment)) for x, y in cells[cut:]),
        draw(st.sampled_from([Side.BLACK, Side.WHITE])),
        tuple(cells[:split]),
        tuple(cells[split:cut]),
        draw(comment),
        draw(comment),
        draw(st.sampled_from(["", "1-0", "0-1", "1/2-1/2"])),
        draw(st.sampled_from(["", "2026-01-31"])),
        draw(comment),
    )


@given(records())
def test_sgf_round_trips(record: GameRecord) -> None:
    assert parse_sgf(format_sgf(record)) == record


def test_an_sgf_file_looks_as_expected() -> None:
    record = GameRecord(
        15,
        20,
        Rule.RENJU,
        (RecordedMove(7, 7, comment="35/12/1480"), RecordedMove(8, 19)),
        black="a]b",
        result="1-0",
    )
    assert format_sgf(record) == (
        "(;GM[4]FF[4]CA[UTF-8]AP[Numoku]SZ[15:20]RU[renju]PB[a\\]b]RE[B+]\n"
        ";B[hh]C[35/12/1480]\n;W[it])\n"
    )


@pytest.mark.parametrize(
    "nodes",
    [
        "C[puzzle];AB[hh][hi]AW[ii]PL[W]",
        "AB[hh];C[puzzle];AB[hi]AW[ii];PL[W]",
        "AB[hh]AB[hi];AW[ii][aa]AB[bb];AE[aa][bb];W[jj]",
        "AB[hh];AB[hi]W[jj]AW[ii]",
    ],
)
def test_sgf_stones_before_the_first_move_are_a_setup(nodes: str) -> None:
    record = parse_sgf(f"(;GM[4]SZ[15]{nodes})")
    assert record.black_setup == ((7, 7), (7, 8)) and record.white_setup == ((8, 8),)
    assert record.first == Side.WHITE
    assert record.cells == ([(9, 9)] if "W[jj]" in nodes else [])


def test_what_later_nodes_say_of_the_side_to_move_may_only_be_true() -> None:
    assert len(parse_sgf("(;GM[4]SZ[15];B[hh];PL[W]C[x];W[ii])").moves) == 2
    with pytest.raises(NotationError, match="move 2: it is white's turn, not black's"):
        parse_sgf("(;GM[4]SZ[15];B[hh];PL[B];W[ii])")


def test_variations_are_passed_over() -> None:
    record = parse_sgf("(;GM[4]SZ[15];B[hh](;W[ii];B[jj])(;W[gg]))")
    assert (record.cells, record.rule) == ([(7, 7), (8, 8), (9, 9)], None)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "begins with"), ("()", "begins with"), ("hello", "begins with"),
        ("(;GM[1]SZ[19])", "another game"), ("(;SZ[40])", "5 to 22"),
        ("(;SZ[big])", "no board size"), ("(;SZ[15];B[hh];B[ii])", "moves twice"),
        ("(;SZ[15];B[hh];W[hh])", "h8 is taken after h8"), ("(;SZ[15];B[zz])", "off the 15x15"),
        ("(;SZ[15]AB[hh];AW[hh])", "two stones"), ("(;SZ[15];B[h])", "no SGF cell"),
        ("(;SZ[15];B[hh", "not closed"), ("(;SZ[15];B)", "no value"), ("(;SZ[15]!)", "no place"),
    ],
)  # fmt: skip
def test_what_is_no_game_is_told(text: str, reason: str) -> None:
    for parse in (parse_sgf, parse_sgf_trees):
        with pytest.raises(NotationError, match=reason):
            parse(text)


@pytest.mark.parametrize(
    ("late", "place"), [("B[hh];W[];AB[ii]", "move 2"), ("B[hh];W[ii]AE[hh]", "move 1")]
)
def test_a_game_has_no_stones_set_up_in_the_middle(late: str, place: str) -> None:
    with pytest.raises(NotationError, match=f"after {place}.*before the first move"):
        parse_sgf(f"(;SZ[15];{late})")
