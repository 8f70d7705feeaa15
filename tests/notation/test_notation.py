"""What people and files write comes back as it was meant, and nonsense is refused clearly."""

from __future__ import annotations

from functools import reduce

from hypothesis import given
from hypothesis import strategies as st

from pbrain_engine import NotationError, Rule, Side
from pbrain_engine.game import cells as notation
from pbrain_engine.game.diagram import format_diagram, parse_diagram
from pbrain_engine.game.opening_rules import opening_of, openings
from pbrain_engine.game.position import Position, image_of, read_key
from pbrain_engine.game.record import GameRecord
from pbrain_engine.notation.files import format_psq, parse_psq
from pbrain_engine.position.geometry import MAX_BOARD, MIN_BOARD, symmetries, transform
from tests.golden import readings

sizes = st.integers(MIN_BOARD, MAX_BOARD)
line_text = st.text(
    st.characters(
        codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp", "Zs"), exclude_characters=","
    ),
    max_size=20,
)


@st.composite
def boards_with_moves(draw: st.DrawFn) -> tuple[int, int, list[tuple[int, int]]]:
    width, height = draw(sizes), draw(sizes)
    cells = st.tuples(st.integers(0, width - 1), st.integers(0, height - 1))
    return width, height, draw(st.lists(cells, unique=True, max_size=30))


def test_all_that_is_read_and_written_is_as_recorded():
    readings.readings.check()


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text):
    try:
        moves = notation.parse_moves(text, 15)
    except NotationError as error:
        assert "character" in str(error)
    else:
        assert len(set(moves)) == len(moves)


@given(boards_with_moves(), st.sampled_from(["", " ", "\n"]))
def test_move_strings_round_trip(board, separator):
    width, height, moves = board
    text = notation.format_moves(moves, separator)
    assert notation.parse_moves(text, width, height) == moves


@given(boards_with_moves())
def test_offsets_round_trip(board):
    width, height, moves = board
    text = notation.format_offsets(moves, width, height)
    assert notation.parse_offsets(text, width, height) == moves


@given(st.data(), sizes, sizes, st.sampled_from([Side.BLACK, Side.WHITE]))
def test_drawings_round_trip(data, width, height, turn):
    cells = st.tuples(st.integers(0, width - 1), st.integers(0, height - 1))
    sides = st.sampled_from([Side.BLACK, Side.WHITE, Side.WALL])
    stones = data.draw(st.dictionaries(cells, sides))
    moves = [cell for cell, side in stones.items() if side is not Side.WALL]
    placed = tuple(sorted(stones.items(), key=lambda held: (held[1], held[0][::-1])))
    last = data.draw(st.sampled_from([None, *moves]))
    board = GameRecord(width, height, first=turn, placed=placed, marked=last)
    assert parse_diagram(format_diagram(board)) == board


@given(boards_with_moves(), st.lists(st.integers(0, 10**6), min_size=30, max_size=30), line_text)
def test_psq_round_trips(board, times, name):
    width, height, cells = board
    spent = tuple(times[: len(cells)])
    record = GameRecord(width, height, moves=tuple(cells[:30]), times=spent,
                        black=name or "a", white="b c")  # fmt: skip
    assert parse_psq(format_psq(record)) == record


SIZES = st.sampled_from([(5, 5), (15, 15), (15, 17), (16, 16), (22, 22), (5, 22), (22, 7)])


@given(SIZES, st.sampled_from(list(Rule)), st.sampled_from(["few", "all"]), st.randoms())
def test_a_key_holds_an_image_of_the_position_that_it_was_made_of(size, rule, amount, chance):
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


def test_there_are_26_that_differ_and_every_turn_of_one_has_its_name():
    assert len({opening.name for opening in openings().values()}) == 26
    keys, empty = set(), Position(Rule.RENJU, 15, 15, Side.BLACK, (), ())
    for opening in openings().values():
        for number in range(8):
            image = transform(opening.stones, number, 15, 15)
            position = reduce(Position.after, image, empty)
            assert opening_of(GameRecord.of(position)) is opening
            keys.add(image_of(position).key)
    assert len(keys) == 26
