"""SGF files: games, and games with variations."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pbrain_engine.game.cells import NotationError, cell_name
from pbrain_engine.game.record import GameRecord
from pbrain_engine.notation.sgf import format_sgf, format_sgf_trees, parse_sgf, parse_sgf_trees
from pbrain_engine.position.rules import Rule, Side
from tests.notation.test_notation import boards_with_moves
from tests.notation.test_renlib import grow


@given(st.integers(0, 10**6), st.integers(0, 60))
@settings(max_examples=100)
def test_every_tree_comes_back(seed, nodes):
    tree = grow(seed, nodes)
    for node, _ in tree.walk():
        node.drawn = node.is_move * f"h8 a{1 + len(node.children)} b2c3"  # circles, an arrow
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
    comments = [draw(comment) for _ in cells[cut:]]
    return GameRecord(
        width,
        height,
        draw(st.sampled_from([None, *Rule])),
        tuple(cells[cut:]),
        draw(st.sampled_from([Side.BLACK, Side.WHITE])),
        tuple((cell, Side(place >= split)) for place, cell in enumerate(cells[:cut])),
        comments=tuple(comments) * any(comments),
        black=draw(comment),
        white=draw(comment),
        result=draw(st.sampled_from(["", "1-0", "0-1", "1/2-1/2"])),
        date=draw(st.sampled_from(["", "2026-01-31"])),
        comment=draw(comment),
    )


@given(records())
def test_sgf_round_trips(record):
    assert parse_sgf(format_sgf(record)) == record


@pytest.mark.parametrize(
    "said, result",
    [
        ("B+", "1-0"), ("W+Resign", "0-1"), ("b+5", "1-0"), ("W + Time", "0-1"),
        ("W+Draw", "1/2-1/2"), ("B+Draw", "1/2-1/2"), ("b+ draw", "1/2-1/2"), ("0", "1/2-1/2"),
        ("Draw", "1/2-1/2"), ("Draw by agreement", "1/2-1/2"), ("1/2-1/2", "1/2-1/2"),
        ("Void", ""), ("?", ""), ("", ""),
    ],
)  # fmt: skip
def test_results_are_read_as_programs_write_them(said, result):
    assert parse_sgf(f"(;GM[4]SZ[15]RE[{said}];B[hh];W[hg];B[jf])").result == result


def test_the_moves_of_a_proposed_opening_are_moves():
    game = parse_sgf("(;GM[4]SZ[15];QPR[hh,hg,jf];QSLW[ig];B[gg];W[ii])")
    assert [cell_name(*cell) for cell in game.moves] == ["h8", "h7", "j6", "i7", "g7", "i9"]
    assert game.first is Side.BLACK and game.remarks == ()
    assert parse_sgf("(;GM[4]SZ[15];QPR[hh][hg][jf])").moves == game.moves[:3]
    assert parse_sgf("(;GM[4]SZ[15]QPR[hh];W[hg];QSLB[jf])").moves == game.moves[:3]
    with pytest.raises(NotationError, match="move 4: black moves twice"):
        parse_sgf("(;GM[4]SZ[15];QPR[hh,hg,jf];QSLB[ig])")


def test_what_is_not_read_is_named_once():
    game = parse_sgf("(;GM[4]SZ[15]EV[Cup]5A[gg][gh];B[hh]BL[10];W[ii]BL[9]QX[aa])")
    assert game.moves == ((7, 7), (8, 8))
    assert game.remarks == ("SGF properties left out: 5A, BL, EV, QX",)


@pytest.mark.parametrize(
    "said, rule",
    [
        ("RU[RIF]", Rule.RENJU), ("RU[Renju (RIF)]", Rule.RENJU), ("GN[RIF rule]", Rule.RENJU),
        ("GN[Final, Taraguchi rules, table 3]", Rule.RENJU), ("RU[standard]", Rule.STANDARD),
        ("RU[4]", Rule.RENJU), ("RU[Free style]", Rule.FREESTYLE), ("GN[A renju evening]", None),
        ("RU[]GN[RIF rule]", Rule.RENJU), ("RU[what]GN[RIF rule]", Rule.RENJU), ("", None),
    ],
)  # fmt: skip
def test_rules_are_read_as_programs_name_them(said, rule):
    game = parse_sgf(f"(;GM[4]SZ[15]{said};B[hh])")
    assert game.rule is rule and game.remarks == ()


def test_an_unknown_rule_is_named():
    game = parse_sgf("(;GM[4]SZ[15]RU[Gomoku Pro];B[hh])")
    assert game.rule is None
    assert game.remarks == ("RU[Gomoku Pro] is not a known rule",)


def test_names_may_be_in_small_letters_or_padded_with_them():
    game = parse_sgf("(;gm[4]sz[15]pb[Ada];b[hh];w[ii])")
    assert game.moves == ((7, 7), (8, 8)) and game.black == "Ada" and game.remarks == ()
    older = parse_sgf("(;GaMe[4]SiZe[19];Black[hh];White[ii])")
    assert older.moves == game.moves and older.width == 19


def test_gm_5_is_five_in_a_row_where_a_board_is_given():
    assert parse_sgf("(;GM[5]SZ[15];B[hh])").moves == ((7, 7),)
    for other in ("(;GM[5];B[hh])", "(;GM[2]SZ[15];B[hh])"):
        with pytest.raises(NotationError, match="is another game"):
            parse_sgf(other)


def test_rectangles_of_points():
    game = parse_sgf("(;GM[4]SZ[15]AB[hh:jh]AW[ba:aa][cc]AE[ih:ji];B[kk])")
    held = {cell_name(*cell): side for cell, side in game.placed}
    assert held == {"h8": 0, "a1": 1, "b1": 1, "c3": 1}
    square = parse_sgf("(;GM[4]SZ[15]AB[aa:bc];W[kk])")
    assert [cell for cell, _ in square.placed] == [(x, y) for y in range(3) for x in range(2)]
    with pytest.raises(NotationError, match="not an SGF cell"):
        parse_sgf("(;GM[4]SZ[15]AB[hh:j];B[kk])")


def test_what_sgf_cannot_hold_is_counted():
    tree = parse_sgf_trees("(;GM[4]SZ[15];B[hh];W[ii])")[0]
    tree.root.is_start = tree.root.children[0].is_start = True
    for cell in ((0, 0), (1, 1), (2, 2)):
        tree.root.child(cell, is_move=False).comment = "on a cell"
    assert format_sgf_trees([tree])[1] == [
        "SGF cannot store 2 marks of where to start",
        "SGF cannot store 3 comments on a cell without a move",
    ]
