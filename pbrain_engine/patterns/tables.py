"""The tables of one rule: line key -> line shapes, four shapes -> class and value of a cell.

A line key is the window of ``2 * half`` neighbours of a cell, two bits each, lowest bits for the
cells at negative offsets: ``00`` wall, ``01`` white, ``10`` black, ``11`` empty. A stone only
clears bits, so adding one makes a key smaller, and one pass over the keys in ascending order can
define each shape by the shapes with one more stone:

- five: the stone on the cell completes a winning row;
- four: some cell then completes a five; *open* if no single reply prevents all fives (in caro,
  closing an end also counts as a reply);
- open three, blocked three: one stone before an open four, a four; and so on down.
"""

import numpy as np

from ..kernel import kernel, record
from ..position.board import KINDS, fill_keys
from ..position.geometry import PADDED_CELLS
from ..position.rules import BLACK, WHITE
from . import shapes as s

MAX_HALF = 5
LINE_KEYS = 1 << (4 * MAX_HALF)
CELL_CODES = 1 << 16  # four line shapes of four bits each
THREAT_MASKS = 2048

TABLES = record(
    zobrist=(np.uint64, (KINDS, PADDED_CELLS)),
    cells=(np.int32, (2, CELL_CODES)),  # side, code -> packed class, combination, value
    threats=(np.int16, (2, THREAT_MASKS)),  # side to move, mask -> value for that side
    scores=(np.int16, (2, 2, s.COMBINATIONS)),  # side to move, own or enemy combination
    lines=(np.uint8, LINE_KEYS),  # key -> black's shape in the low half, white's in the high
    half=np.int64,  # the traits of the rule (position.rules): cells of a window on each side
    exact=(np.int64, 2),
    closing=np.int64,
    fouls=np.int64,
)

# A packed cell entry: value * 2**16 + combination * 2**4 + class, the value signed.


@kernel
def class_in(entry):
    """Return the class in a packed cell entry."""
    return np.int64(entry) & 15


@kernel
def combination_in(entry):
    """Return the combination number in a packed cell entry."""
    return (np.int64(entry) >> 4) & 4095


@kernel
def value_in(entry):
    """Return the signed value in a packed cell entry."""
    return np.int64(entry) >> 16


@kernel
def pack_entry(value, combination, kind):
    """Return a packed cell entry."""
    return np.int32(value * 65536 + combination * 16 + kind)


@kernel
def shape_in(code, direction):
    """Return the line shape in one direction of a cell code."""
    return (code >> (4 * direction)) & 15


# Line shapes -------------------------------------------------------------------------


@kernel
def neighbour(key, half, offset):
    """Return the two bits of the cell at ``offset`` from the centre, within the window."""
    place = offset + half if offset < 0 else offset + half - 1
    return (key >> (2 * place)) & 3


@kernel
def shape_with_row(tables, key, side):
    """Return FIVE or OVERLINE if the centre stone completes one, DEAD if none is possible, else -1.

    A row that reaches the end of the window is long enough to decide under all rules.
    """
    half = tables.half
    own = 2 - side  # black 2 (10), white 1 (01)
    low = 0
    while low > -half and neighbour(key, half, low - 1) == own:
        low -= 1
    high = 0
    while high < half and neighbour(key, half, high + 1) == own:
        high += 1
    length = high - low + 1
    if length >= 5:
        enemy = 3 - own
        closed = (
            low > -half
            and high < half
            and neighbour(key, half, low - 1) == enemy
            and neighbour(key, half, high + 1) == enemy
        )
        if length > 5:
            return s.FIVE if tables.exact[side] == 0 else s.OVERLINE
        return s.FIVE if tables.closing == 0 or not closed else s.DEAD
    while low > -half and (neighbour(key, half, low - 1) & own) == own:
        low -= 1
    while high < half and (neighbour(key, half, high + 1) & own) == own:
        high += 1
    return s.DEAD if high - low + 1 < 5 else -1


@kernel
def with_stone(key, place, side):
    """Return the key with a stone of ``side`` on the empty neighbour number ``place``."""
    return key ^ ((1 + side) << (2 * place))


@kernel
def line_shape_of(tables, key, side):
    """Return the shape of a line key for one side."""
    return (np.int64(tables.lines[key]) >> (4 * side)) & 15


@kernel
def four_shape(tables, key, side):
    """Return FOUR, OPEN_FOUR or OVERLINE (two fours in one line) of a key, or -1 if no four."""
    half = tables.half
    first = -1
    last = -1
    for place in range(2 * half):
        if (key >> (2 * place)) & 3 == 3:
            if line_shape_of(tables, with_stone(key, place, side), side) == s.FIVE:
                if first < 0:
                    first = place
                last = place
    if first < 0:
        return -1
    if tables.fouls != 0 and side == BLACK:
        if first == last:
            return s.FOUR
        # The ends of one row of four are five apart; closer ones belong to two fours.
        apart = last - first + (1 if first < half <= last else 0)
        return s.OPEN_FOUR if apart == 5 else s.OVERLINE
    for place in range(2 * half):
        if (key >> (2 * place)) & 3 == 3:
            after = line_shape_of(tables, with_stone(key, place, 1 - side), side)
            if after != s.FOUR and after != s.OPEN_FOUR:
                return s.FOUR
    return s.OPEN_FOUR


@kernel
def count_shapes(tally, first, last):
    """Return the count of line shapes ``first`` to ``last`` in a tally with four bits for each."""
    count = 0
    for shape in range(first, last + 1):
        count += (tally >> (4 * shape)) & 15
    return count


@kernel
def shape_one_stone_before(tables, key, side):
    """Return a key's shape, if below four, from the shapes with one more stone."""
    tally = np.int64(0)
    for place in range(2 * tables.half):
        if (key >> (2 * place)) & 3 == 3:
            tally += 1 << (4 * line_shape_of(tables, with_stone(key, place, side), side))
    open_fours = count_shapes(tally, s.OPEN_FOUR, s.OPEN_FOUR)
    if open_fours > 0:
        return s.OPEN_THREE_FREE if open_fours > 1 else s.OPEN_THREE
    if count_shapes(tally, s.FOUR, s.FOUR) > 0:
        return s.BLOCKED_THREE
    open_threes = count_shapes(tally, s.OPEN_THREE, s.OPEN_THREE_FREE)
    if open_threes > 0:
        if open_threes >= 4:
            return s.OPEN_TWO_FREE
        return s.OPEN_TWO_WIDE if open_threes == 3 else s.OPEN_TWO
    if count_shapes(tally, s.BLOCKED_THREE, s.BLOCKED_THREE) > 0:
        return s.BLOCKED_TWO
    if count_shapes(tally, s.OPEN_TWO, s.OPEN_TWO_FREE) > 0:
        return s.OPEN_ONE
    return s.BLOCKED_ONE if count_shapes(tally, s.BLOCKED_TWO, s.BLOCKED_TWO) > 0 else s.DEAD


@kernel
def shape_of_key(tables, key, side):
    """Return the line shape of a key; all keys with one more stone must be known."""
    shape = shape_with_row(tables, key, side)
    if shape < 0:
        shape = four_shape(tables, key, side)
    return shape if shape >= 0 else shape_one_stone_before(tables, key, side)


@kernel
def is_half_window(key, half, outermost):
    """Return whether half a window can occur: walls only at its outer end.

    ``outermost``: the place of the cell farthest from the centre, 0 or ``half - 1``.
    """
    inside = False
    for i in range(half):
        place = i if outermost == 0 else half - 1 - i
        if (key >> (2 * place)) & 3 == 0:
            if inside:
                return False
        else:
            inside = True
    return True


@kernel
def fill_lines(tables, walls_inside):
    """Fill the line table for every key that can occur.

    ``walls_inside``: also keys with walls between open cells, ten times as many, which need a board
    with blocked cells.
    """
    half = tables.half
    halves = 1 << (2 * half)
    for high in range(halves):
        if not walls_inside and not is_half_window(high, half, half - 1):
            continue
        for low in range(halves):
            if not walls_inside and not is_half_window(low, half, 0):
                continue
            key = high * halves + low
            white = shape_of_key(tables, key, WHITE)
            tables.lines[key] = shape_of_key(tables, key, BLACK) + 16 * white


# Cell classes ------------------------------------------------------------------------


@kernel
def combination_of(code):
    """Return the number of the unordered combination of the four line shapes in a code.

    Multisets are ranked by the combinatorial number system on the sorted shapes.
    """
    a = code & 15
    b = (code >> 4) & 15
    c = (code >> 8) & 15
    d = (code >> 12) & 15
    if a > b:
        a, b = b, a
    if c > d:
        c, d = d, c
    if a > c:
        a, c = c, a
    if b > d:
        b, d = d, b
    if b > c:
        b, c = c, b
    rank = a + b * (b + 1) // 2 + c * (c + 1) * (c + 2) // 6
    return rank + d * (d + 1) * (d + 2) * (d + 3) // 24


@kernel
def class_of(tables, code, side):
    """Return the class of a cell from its four line shapes."""
    tally = np.int64(0)
    for direction in range(4):
        tally += 1 << (4 * shape_in(code, direction))
    fours = count_shapes(tally, s.FOUR, s.OPEN_FOUR)
    threes = count_shapes(tally, s.OPEN_THREE, s.OPEN_THREE_FREE)
    lesser = count_shapes(tally, s.OPEN_TWO, s.BLOCKED_THREE)
    if count_shapes(tally, s.FIVE, s.FIVE) > 0:
        return s.MAKES_FIVE
    if tables.fouls != 0 and side == BLACK:
        if fours > 1 or threes > 1 or count_shapes(tally, s.OVERLINE, s.OVERLINE) > 0:
            return s.MAKES_FOUL
    if fours > 1 or count_shapes(tally, s.OPEN_FOUR, s.OPEN_FOUR) > 0:
        return s.MAKES_WINNING_FOUR
    if fours > 0:
        if threes > 0:
            return s.MAKES_FOUR_THREE
        return s.MAKES_FOUR_PLUS if lesser > 0 else s.MAKES_FOUR
    if threes > 0:
        if threes > 1:
            return s.MAKES_TWO_THREES
        return s.MAKES_THREE_PLUS if lesser > 0 else s.MAKES_THREE
    if count_shapes(tally, s.BLOCKED_THREE, s.BLOCKED_THREE) > 0:
        return s.MAKES_THREE_TWO if lesser > 1 else s.MAKES_BLOCKED_THREE
    if lesser > 0:
        return s.MAKES_TWO_TWOS if lesser > 1 else s.MAKES_TWO
    return s.QUIET


@kernel
def fill_tables(tables, half, exact_black, exact_white, closing, fouls):
    """Fill everything determined by a rule's traits; cell values come with the weights."""
    tables.half = half
    tables.exact[BLACK] = exact_black
    tables.exact[WHITE] = exact_white
    tables.closing = closing
    tables.fouls = fouls
    fill_keys(tables.zobrist)
    fill_lines(tables, False)
    for side in range(2):
        for code in range(CELL_CODES):
            known = True
            for direction in range(4):
                known = known and shape_in(code, direction) < s.LINE_SHAPES
            if known:
                kind = class_of(tables, code, side)
                tables.cells[side, code] = pack_entry(0, combination_of(code), kind)
