"""The oracle itself: rule texts turned into boards, and agreement with two other programs."""

from __future__ import annotations

import pytest

from tests.oracle import rules
from tests.oracle.replay import complaint_about_line, proof_of_line
from tests.oracle.rules import BLACK, WHITE, Board, read_board


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


def test_a_false_line_is_found_out():
    board = row_board("..XXX.....", "freestyle")
    assert complaint_about_line(board, BLACK, [(1, 2), (0, 2), (5, 2)]) == ""
    assert "answers" in complaint_about_line(board, BLACK, [(9, 5), (0, 0), (1, 2)])
    assert "twice" in complaint_about_line(board, BLACK, [(2, 2)])
    for x in range(4):
        board.put((x, 0), WHITE)
    assert "makes five" in complaint_about_line(board, BLACK, [(1, 2), (0, 2), (5, 2)])
    assert proof_of_line([(1, 2), (0, 2), (5, 2)]).replies.keys() == {(0, 2)}
