"""Games and trees come back from SGF as they went in; ``tests/golden/readings`` has the rest."""

from __future__ import annotations

from contextlib import suppress
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pbrain_engine.game.cells import NotationError
from pbrain_engine.game.diagram import parse_diagram
from pbrain_engine.game.record import GameRecord
from pbrain_engine.notation.sgf import format_sgf, format_sgf_trees, parse_sgf, parse_sgf_trees
from pbrain_engine.position.rules import Rule, Side
from tests.notation.test_notation import boards_with_moves
from tests.notation.test_renlib import grow


@given(st.integers(0, 10**6), st.integers(0, 60))
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


def test_what_sgf_cannot_hold_is_counted():
    tree = parse_sgf_trees("(;GM[4]SZ[15];B[hh];W[ii])")[0]
    tree.root.is_start = tree.root.children[0].is_start = True
    for cell in ((0, 0), (1, 1), (2, 2)):
        tree.root.child(cell, is_move=False).comment = "on a cell"
    assert format_sgf_trees([tree])[1] == [
        "SGF cannot store 2 marks of where to start",
        "SGF cannot store 3 comments on a cell without a move",
    ]


@pytest.mark.timed
@pytest.mark.parametrize(
    "many", ["LB[aa:1]", "CR[aa]", "CR[aa:zz]", "AB[aa]AE[bb]", "AB[aa]", "AW[aa:zz]"]
)
def test_a_property_that_comes_often_costs_little_time(many):
    began = process_time()
    with suppress(NotationError):
        parse_sgf_trees(f"(;GM[4]SZ[15]{many * (300 if 'zz' in many else 20_000)};B[hh])")
    assert process_time() - began < 1


@pytest.mark.timed
def test_many_variations_after_many_passes_are_read_in_little_time():
    began = process_time()
    (tree,) = parse_sgf_trees(f"(;GM[4]SZ[15]{';B[];W[]' * 10_000}{'(;B[aa])' * 15_000})")
    assert tree.count() == 35_000 and process_time() - began < 2


@pytest.mark.timed
def test_a_long_word_is_read_in_little_time():
    began = process_time()
    parse_sgf(f"(;GM[4]SZ[15]GN[{'a' * 100_000}];B[hh])")
    with pytest.raises(NotationError, match="row 1"):
        parse_diagram(f".{'1' * 100_000}.")
    assert process_time() - began < 1
