"""What people and files write comes back as it was meant, and nonsense is refused clearly."""

from __future__ import annotations

from functools import reduce
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pbrain_engine.app.setup import parse_setup, read_setup
from pbrain_engine.notation import cells as notation
from pbrain_engine.notation import diagram
from pbrain_engine.notation.canonical import (
    Position,
    find_opening,
    image_of,
    name_opening,
    openings,
    read_key,
)
from pbrain_engine.notation.cells import NotationError
from pbrain_engine.notation.diagram import Diagram, format_diagram, parse_diagram
from pbrain_engine.notation.game_tree import (
    GameRecord,
    GameTree,
    RecordedMove,
    format_psq,
    parse_psq,
)
from pbrain_engine.position.geometry import MAX_BOARD, MIN_BOARD, symmetries, transform
from pbrain_engine.position.rules import Rule, Side

sizes = st.integers(MIN_BOARD, MAX_BOARD)
line_text = st.text(
    st.characters(
        codec="utf-8",
        exclude_categories=("Cs", "Cc", "Zl", "Zp", "Zs"),
        exclude_characters=",",
    ),
    max_size=20,
)


@st.composite
def boards_with_moves(draw: st.DrawFn) -> tuple[int, int, list[tuple[int, int]]]:
    width, height = draw(sizes), draw(sizes)
    cells = st.tuples(st.integers(0, width - 1), st.integers(0, height - 1))
    return width, height, draw(st.lists(cells, unique=True, max_size=30))


def test_names_of_cells() -> None:
    assert notation.cell_name(7, 7) == "h8"
    assert notation.parse_cell(" V22 ") == (21, 21)


WAYS = (
    "h8i9h9", "H8 I9 H9", "h8,i9,h9", "h8-i9-h9", "h8 – i9 – h9", "h8->i9->h9", "h8→i9→h9",
    "1. h8 i9 2. h9", "1.h8 i9 2.h9", "1... h8; i9 | h9", "(h8)(i9)(h9)", "[h8][i9][h9]",
    "[7,7] [8,8] [7,8]", "(7,7)(8,8)(7,8)", "7,7 8,8 7,8", "7,7\r\n8,8\r\n7,8", "7, 7; 8, 8; 7, 8",
)  # fmt: skip


@pytest.mark.parametrize("text", WAYS)
def test_moves_are_read_in_every_way_of_writing_them(text: str) -> None:
    moves = [(7, 7), (8, 8), (7, 8)]
    assert notation.parse_moves(text, 15) == moves
    assert parse_setup(text).moves == tuple(moves)
    assert read_setup(text).moves == tuple(moves)  # not the name of a file


def test_rows_may_count_from_below() -> None:
    assert notation.parse_moves("h13h11j13", 15, from_below=True) == [(7, 2), (7, 4), (9, 2)]
    assert notation.parse_moves("a1 [3,2]", 5, 9, from_below=True) == [(0, 8), (3, 2)]
    assert parse_setup("a1", size=(15, 20), from_below=True).moves == ((0, 19),)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("h8 i9 z9", r"^move 3 \(character 7\): z9 is off the 15x15 board"),
        ("1. h8 i9\n2. h8", r"^move 3 \(character 13\): h8 is played twice"),
        ("h8 and i9", r"^move 2 \(character 4\): 'and' is no cell"),
        ("h8.i9", r"^move 2 \(character 3\): '.i9' is no cell"),
        ("7,7-8,8", r"^move 2 \(character 4\): -8,8 is off"),
        ("[7,7 8,8", r"^move 1 \(character 1\): a bracket is not closed"),
        ("h8 - ", r"^move 2 \(character 4\): '-' is no cell"),
        ("8h", "no cell"), ("h", "no cell"), ("hh", "no cell"), ("h²", "no cell"),
        ("h0", "off the 15x15 board"), ("p1", "off the 15x15 board"),
        ("h16", "off the 15x15 board"), ("7,15", "off the 15x15 board"), ("h8h8", "twice"),
        ("h" + "1" * 5000, "off the 15x15 board"), ("7,7,7", "pair of numbers"),
        ("7," + "1" * 5000, "pair of numbers"),
    ],
)  # fmt: skip
def test_wrong_moves_are_named_with_their_place(text: str, complaint: str) -> None:
    with pytest.raises(NotationError, match=complaint):
        notation.parse_moves(text, 15)


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        moves = notation.parse_moves(text, 15)
    except NotationError as error:
        assert "character" in str(error)
    else:
        assert len(set(moves)) == len(moves)


@given(boards_with_moves(), st.sampled_from(["", " ", "\n"]))
def test_move_strings_round_trip(
    board: tuple[int, int, list[tuple[int, int]]], separator: str
) -> None:
    width, height, moves = board
    text = notation.format_moves(moves, separator)
    assert notation.parse_moves(text, width, height) == moves


@given(boards_with_moves())
def test_offsets_round_trip(board: tuple[int, int, list[tuple[int, int]]]) -> None:
    width, height, moves = board
    text = notation.format_offsets(moves, width, height)
    assert notation.parse_offsets(text, width, height) == moves


def test_offsets_count_from_the_centre() -> None:
    assert notation.parse_offsets("0,0, -1,2", 15) == [(7, 7), (6, 9)]
    assert notation.parse_offsets("0,0", 20) == [(10, 10)]
    for text, reason in (
        ("8,0", "off the 15x15 board"), ("1,2,3", "in pairs"), ("one,two", "pair of numbers"),
        ("1,2, 1,2", "twice"),
    ):  # fmt: skip
        with pytest.raises(NotationError, match=reason):
            notation.parse_offsets(text, 15)


DRAWN = """\
   a b c d e
 1 . . . . .
 2 . X . # .
 3 . .(O). .
 4 . . . . X
 5 . . . . .
black to move"""


def test_a_drawing_says_what_it_shows() -> None:
    board = parse_diagram(DRAWN)
    assert board.cells(Side.BLACK) == [(1, 1), (4, 3)]
    assert board.cells(Side.WHITE) == [(2, 2)]
    assert board.cells(Side.WALL) == [(3, 1)]
    assert board.last == (2, 2)
    assert board.side_to_move() == Side.BLACK
    assert format_diagram(board) == DRAWN


def test_a_bare_drawing_is_enough() -> None:
    board = parse_diagram(".....\n.x.#.\n..o..\n....x\n.....")
    assert board.rows == parse_diagram(DRAWN).rows
    assert board.side_to_move() == Side.WHITE


@given(st.data(), sizes, sizes, st.sampled_from([None, Side.BLACK, Side.WHITE]))
def test_drawings_round_trip(data: st.DataObject, width: int, height: int, turn: Side) -> None:
    row = st.tuples(*[st.sampled_from(list(Side))] * width)
    rows = data.draw(st.tuples(*[row] * height))
    bare = Diagram(rows)
    last = data.draw(st.sampled_from([None, *bare.cells(Side.BLACK), *bare.cells(Side.WHITE)]))
    board = Diagram(rows, last, turn)
    assert parse_diagram(format_diagram(board)) == board


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "there are none"),
        ("....\n....\n....\n....", "5 to 22"),
        (".....\n" * 4 + "......", "different lengths"),
        (".....\n" * 4 + "..?..", "row 5: '\\?'"),
        ("2 .....\n" + ".....\n" * 4, "numbered 2 is row 1"),
        ("(X)(X)...\n" + ".....\n" * 4, "two stones"),
        ("(X)....\n(X)....\n" + ".....\n" * 3, "two stones"),
        ("(X....\n" + ".....\n" * 4, "row 1: '\\('"),
        ("(.)....\n" + ".....\n" * 4, "row 1: '\\('"),
        ("1\n" + ".....\n" * 5, "different lengths"),
    ],
)
def test_wrong_drawings_are_refused(text: str, complaint: str) -> None:
    with pytest.raises(NotationError, match=complaint):
        parse_diagram(text)


def test_a_drawing_with_odd_counts_must_say_who_moves() -> None:
    board = parse_diagram("XX...\n" + ".....\n" * 4)
    with pytest.raises(NotationError, match="who moves"):
        board.side_to_move()


@given(boards_with_moves(), st.lists(st.integers(0, 10**6), min_size=30, max_size=30), line_text)
def test_psq_round_trips(
    board: tuple[int, int, list[tuple[int, int]]], times: list[int], name: str
) -> None:
    width, height, cells = board
    moves = tuple(RecordedMove(x, y, spent) for (x, y), spent in zip(cells, times, strict=False))
    record = GameRecord(width, height, moves=moves, black=name or "a", white="b c")
    assert parse_psq(format_psq(record)) == record


def test_a_psq_file_looks_as_expected() -> None:
    record = GameRecord(15, 20, moves=(RecordedMove(7, 7, 35), RecordedMove(8, 19)), black="me")
    assert format_psq(record) == ("Piskvorky 15x20, 11:11, 0\n8,8,35\n9,20,0\nme\nplayer-2\n0\n")


def test_psq_names_follow_the_player_who_starts() -> None:
    record = parse_psq("Piskvorky 15x15, 11:11, 1\r\n8,8,0\r\nfirst\r\nsecond\r\n0\r\n")
    assert (record.black, record.white) == ("second", "first")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "begins like"),
        ("Piskvorky 15, 11:11, 0", "begins like"),
        ("Piskvorky 15x15", "begins like"),
        ("Piskvorky 4x4, 11:11, 0", "5 to 22"),
        ("Piskvorky 15x15, 11:11, 0\n16,1,0", "off the 15x15"),
        ("Piskvorky 15x15, 11:11, 0\n1,1,0\n1,1,0", "a1 is taken after a1"),
    ],
)
def test_wrong_psq_files_are_refused(text: str, complaint: str) -> None:
    with pytest.raises(NotationError, match=complaint):
        parse_psq(text)


def test_psq_cannot_keep_a_setup() -> None:
    with pytest.raises(NotationError, match="set up"):
        format_psq(GameRecord(black_setup=((7, 7),)))
    with pytest.raises(NotationError, match="black always begins"):
        format_psq(GameRecord(first=Side.WHITE))


@pytest.mark.parametrize("size, inset", [(8, None), (9, 2), (12, 2), (13, 3), (15, 3), (22, 3)])
def test_star_points_are_nearer_to_the_edge_of_small_boards(size: int, inset: int | None) -> None:
    corners = () if inset is None else (inset, size - 1 - inset)
    expected = {(x, y) for x in corners for y in corners}
    expected |= {(size // 2, size // 2)} if size % 2 else set()
    assert diagram.star_points(size, size) == expected


@pytest.mark.parametrize("width, height", [(9, 6), (6, 9)])
def test_a_tree_has_no_move_off_its_board_either_way(width: int, height: int) -> None:
    on_board = 0
    for x in range(-1, width + 1):
        for y in range(-1, height + 1):
            tree = GameTree(GameRecord(width, height))
            tree.root.child((x, y))
            try:
                on_board += tree.check() is tree
            except NotationError as error:
                assert "off the" in str(error)
                assert not (0 <= x < width and 0 <= y < height)
    assert on_board == width * height


SIZES = st.sampled_from([(5, 5), (15, 15), (15, 17), (16, 16), (22, 22), (5, 22), (22, 7)])


@given(SIZES, st.sampled_from(list(Rule)), st.sampled_from(["few", "all"]), st.randoms())
def test_a_key_holds_an_image_of_the_position_that_it_was_made_of(
    size: tuple[int, int], rule: Rule, amount: str, chance: Random
) -> None:
    cells = [(x, y) for y in range(size[1]) for x in range(size[0])]
    owners = [chance.randrange(3) if amount == "all" else chance.randrange(30) for _ in cells]
    lists = [tuple(c for c, o in zip(cells, owners, strict=True) if o == k) for k in range(3)]
    position = Position(rule, *size, Side(chance.randrange(2)), *lists)
    image = image_of(position)
    back = read_key(image.key)
    assert back[:4] == position[:4]
    turned = [tuple(sorted(transform(list(cells), image.number, *size))) for cells in position[4:]]
    assert [tuple(sorted(cells)) for cells in back[4:]] == turned
    for number in range(symmetries(*size)):
        other = [tuple(transform(list(cells), number, *size)) for cells in position[4:]]
        assert image_of(position._replace(black=other[0], white=other[1], walls=other[2])).key == (
            image.key
        )


# Renju's openings -----------------------------------------------------------------------


def renju(moves: str) -> list[tuple[int, int]]:
    """Return cells whose rows are counted from below, as renju players do."""
    return [(x, 14 - y) for x, y in notation.parse_moves(moves)]


# The usual list: the third stones in the order of their numbers.
LISTS = {
    "D": ("h8h9", "h10 i10 j10 i9 j9 i8 j8 h7 i7 j7 h6 i6 j6"),
    "I": ("h8i9", "j10 j9 j8 j7 j6 i8 i7 i6 h7 h6 g7 g6 f6"),
}


@pytest.mark.parametrize("kind", LISTS)
def test_the_usual_list(kind: str) -> None:
    begin, thirds = LISTS[kind]
    for number, third in enumerate(thirds.split(), 1):
        opening = name_opening(renju(begin + third), 15, 15)
        assert opening is not None and opening.code == f"{kind}{number}"


def test_there_are_26_that_differ_and_every_turn_of_one_has_its_name() -> None:
    assert len({opening.name for opening in openings().values()}) == 26
    keys, empty = set(), Position(Rule.RENJU, 15, 15, Side.BLACK, (), ())
    for opening in openings().values():
        for number in range(8):
            image = transform(opening.stones, number, 15, 15)
            assert name_opening(image, 15, 15) is opening
            keys.add(image_of(reduce(Position.after, image, empty)).key)
    assert len(keys) == 26


def test_every_third_stone_in_the_middle_square_has_a_name() -> None:
    middle = [(x, y) for x in range(5, 10) for y in range(5, 10)]
    for second in [(7, 6), (8, 6)]:
        for third in middle:
            if third not in ((7, 7), second):
                assert name_opening([(7, 7), second, third], 15, 15) is not None


@pytest.mark.parametrize("moves", ["h8h10h9", "h8h9k8", "h8h9", "g8g9g10"])
def test_other_beginnings_have_none(moves: str) -> None:
    assert name_opening(notation.parse_moves(moves), 15, 15) is None


def test_the_stones_may_come_in_either_order_and_more_may_follow() -> None:
    assert str(name_opening(notation.parse_moves("i9h9h8a1"), 15, 15)) == "D4 Kagetsu"
    assert name_opening(notation.parse_moves("h8h9i9"), 20, 20) is None


def test_names_and_codes_are_found() -> None:
    assert find_opening("i7") is find_opening(" Hogetsu ")
    assert find_opening("nothing") is None
