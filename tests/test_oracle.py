"""The oracle itself: rule texts turned into boards, and agreement with two other programs."""

from __future__ import annotations

import pytest

from tests.oracle import rules
from tests.oracle.replay import complaint_about_line, proof_of_line
from tests.oracle.rules import BLACK, WHITE, Board, read_board
from tests.oracle.threats import (
    five_cells,
    five_stoppers,
    four_stoppers,
    makes_unstoppable_four,
    unstoppable_four_cells,
)
from tests.oracle.vcf import find_vcf, has_vcf, vcf_stoppers


def row_board(row: str, rule: str) -> Board:
    """Return a board whose third row is this one."""
    blank = "." * len(row)
    return read_board("\n".join([blank, blank, row, blank, blank, blank]), rule)


WINS = {
    ".XXXXX.": "freestyle standard renju caro caro_exact",
    "XXXXX..": "freestyle standard renju caro caro_exact",
    "OXXXXX.": "freestyle standard renju caro caro_exact",
    "XXXXXO.": "freestyle standard renju caro caro_exact",
    "OXXXXXO": "freestyle standard renju",
    "#XXXXXO": "freestyle standard renju caro caro_exact",
    ".XXXXXX": "freestyle caro",
    "OXXXXXXO": "freestyle caro",
    "XXXXXXX": "freestyle caro",
    ".OOOOOO.": "freestyle renju caro",
    "XXXX.X.": "",
    "XXOXXX.": "",
}


@pytest.mark.parametrize("row", WINS)
@pytest.mark.parametrize("rule", rules.RULES)
def test_rows_that_win(row, rule):
    board = row_board(row, rule)
    side = WHITE if "OOO" in row else BLACK
    assert (rules.winners(board) == {side}) == (rule in WINS[row].split())


@pytest.mark.parametrize("direction", rules.DIRECTIONS)
def test_rows_run_in_four_directions(direction):
    board = Board(9, 9, "freestyle")
    for i in range(5):
        board.put((2 + i * direction[0], (6 if direction[1] < 0 else 2) + i * direction[1]), BLACK)
    assert rules.winners(board) == {BLACK}


def square(rows: str, rule: str) -> Board:
    """Return the square board that begins with these rows."""
    lines = rows.split("/")
    return read_board("\n".join(lines + ["." * len(lines[0])] * (len(lines[0]) - len(lines))), rule)


FORBIDDEN = {
    "six in a row": "........./.XXX?XX..",
    "two fours": "........./.OXXX?.../.....X.../.....X.../.....X.../.....O...",
    "two fours in one line": "........./.X.X?X.X.",
    "two fours in one line, wide": "........./.XX.?X.XX",
    "two threes": "........./........./..XX?..../....X..../....X....",
    "broken threes count": "........./........./.X.X?..../........./....X..../....X....",
}
ALLOWED = {
    "five in one line beats six in another":
        "?XXXX..../X......../X......../X......../X......../X........",
    "a straight four is one four": "........./..XXX?...",
    "a three and a four": "........./....X..../OXXX?..../....X....",
    "a three closed at one end is none": "........./........./.OXX?..../....X..../....X....",
    "a three without room for a five is none":
        "........./........./O.XX?.O../....X..../....X....",
    "a four that would be six is none": "........../OXX?X.XX../...X....../...X......",
}  # fmt: skip


@pytest.mark.parametrize("name", [*FORBIDDEN, *ALLOWED])
def test_renju_forbids(name):
    rows = (FORBIDDEN | ALLOWED)[name]
    y, row = next((y, row) for y, row in enumerate(rows.split("/")) if "?" in row)
    board = square(rows.replace("?", "."), "renju")
    assert rules.is_forbidden(board, (row.index("?"), y)) == (name in FORBIDDEN)


@pytest.mark.parametrize(("rule", "stoppers"), [("freestyle", {(7, 2)}),
                                                ("caro_exact", {(7, 2), (8, 2)})])  # fmt: skip
def test_a_four_has_one_answer_and_in_caro_one_from_behind(rule, stoppers):
    board = row_board("..OXXXX...", rule)
    assert five_cells(board, BLACK) == {(7, 2)}
    assert five_stoppers(board, BLACK) == stoppers


def test_a_straight_four_has_no_answer_but_a_five():
    board = row_board("..XXXX....", "freestyle")
    assert five_stoppers(board, BLACK) == set()
    for x in range(4):
        board.put((x, 0), WHITE)
    assert five_stoppers(board, BLACK) == {(4, 0)}


def test_an_open_three_has_three_answers_or_two():
    assert four_stoppers(row_board("O.XXX..O", "freestyle"), BLACK) == {(1, 2), (5, 2), (6, 2)}
    assert four_stoppers(row_board("...XXX....", "freestyle"), BLACK) == {(2, 2), (6, 2)}
    assert four_stoppers(row_board("..XX.X....", "freestyle"), BLACK) == {(1, 2), (4, 2), (6, 2)}


def test_a_four_of_ones_own_answers_a_three():
    board = row_board("...XXX....", "freestyle")
    for x in range(1, 4):
        board.put((x, 5), WHITE)
    # Only as long as black's answer to it does not make his four.
    assert four_stoppers(board, BLACK) == {(2, 2), (6, 2), (0, 5), (4, 5), (5, 5)}


def test_a_double_four_cannot_be_stopped():
    drawing = "........../OXXX....../....X...../....X...../....X...../....O....."
    board = square(drawing, "freestyle")
    assert (4, 1) in unstoppable_four_cells(board, BLACK)
    assert not makes_unstoppable_four(square(drawing, "renju"), (4, 1), BLACK)


def test_a_four_whose_answer_is_forbidden_cannot_be_stopped():
    rows = ".....X.../.....X.../XOOO...../.....X.../.....X.../.....X..."
    board = square(rows, "renju")
    assert rules.is_forbidden(board, (5, 2))
    assert unstoppable_four_cells(board, WHITE) == {(4, 2)}
    board.lift((5, 5))  # now black's answer makes five
    assert unstoppable_four_cells(board, WHITE) == set()


def test_a_false_line_is_found_out():
    board = row_board("..XXX.....", "freestyle")
    assert complaint_about_line(board, BLACK, [(1, 2), (0, 2), (5, 2)]) == ""
    assert "answers" in complaint_about_line(board, BLACK, [(9, 5), (0, 0), (1, 2)])
    assert "twice" in complaint_about_line(board, BLACK, [(2, 2)])
    for x in range(4):
        board.put((x, 0), WHITE)
    assert "makes five" in complaint_about_line(board, BLACK, [(1, 2), (0, 2), (5, 2)])
    assert proof_of_line([(1, 2), (0, 2), (5, 2)]).replies.keys() == {(0, 2)}


def test_vcf_and_its_stoppers_on_a_small_board():
    board = square("......./......./.XXX...", "freestyle")
    assert find_vcf(board, BLACK) == (2, (4, 2))
    assert vcf_stoppers(board, BLACK) == {(0, 2), (4, 2), (5, 2)}
    assert not has_vcf(board, WHITE)
