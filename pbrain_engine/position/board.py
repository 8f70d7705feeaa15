"""Stones on bitboard lines: set-up, putting and lifting stones, hash keys and symmetries."""

import numpy as np

from ..kernel import kernel, record
from ..kernel.bits import U64, rotate_right
from .geometry import MARGIN, MAX_STONES, NO_CELL, PADDED_CELLS, STRIDE
from .rules import BLACK, EMPTY, WALL, WHITE

_SEED = U64(0x4E756D6F6B752026)
_GAMMA = U64(0x9E3779B97F4A7C15)
_MIX_A = U64(0xBF58476D1CE4E5B9)
_MIX_B = U64(0x94D049BB133111EB)

KINDS = 4  # as in ``holds``; the keys of empty cells are not used
WHITE_TO_MOVE = U64(0xA0761D6478BD642F)


@kernel
def fill_keys(keys):
    """Fill ``keys[kind, cell]`` with random words (splitmix64)."""
    state = _SEED
    for kind in range(KINDS):
        for cell in range(PADDED_CELLS):
            state = state + _GAMMA
            word = (state ^ (state >> U64(30))) * _MIX_A
            word = (word ^ (word >> U64(27))) * _MIX_B
            keys[kind, cell] = word ^ (word >> U64(31))


LINES = 64  # words for each direction; the diagonals need more than 32
SETS = PADDED_CELLS // 64  # words of a set of cells, bit = cell % 64

POSITION = record(
    lines=(np.uint64, (4, LINES)),  # direction, line -> 32 cells of two bits each
    empties=(np.uint64, SETS),  # set of the empty cells
    key=np.uint64,  # hash of stones, walls and the side to move
    moves=(np.int16, MAX_STONES + 1),  # moves[:ply], all stones in order
    ply=np.int32,  # stones (and walls) put on the board
    width=np.int32,
    height=np.int32,
    side=np.int32,  # to move
    first_set=np.int32,  # words of a set that the board can touch: [first_set, end_set)
    end_set=np.int32,
    holds=(np.uint8, PADDED_CELLS),  # BLACK, WHITE, EMPTY or WALL
)

# Two bits a cell: 11 empty, 10 black, 01 white, 00 wall. The bits cleared by a stone or wall:
CLEARS = np.array([1, 2, 0, 3], np.uint64)


@kernel
def line_of(cell, direction):
    """Return the number of the line through a cell in a direction."""
    x = cell & (STRIDE - 1)
    y = cell >> 5
    if direction == 0:
        return y
    if direction == 1:
        return x
    if direction == 2:
        return STRIDE - 1 - x + y
    return x + y


@kernel
def place_on_line(cell, direction):
    """Return the place of a cell on its line, 0 to 31: its row on columns, else its column."""
    return cell >> 5 if direction == 1 else cell & (STRIDE - 1)


@kernel
def step_of(direction):
    """Return the cell index step from one place on a line to the next."""
    if direction == 0:
        return 1
    if direction == 1:
        return STRIDE
    return STRIDE + 1 if direction == 2 else 1 - STRIDE


@kernel
def bit_of(cell):
    """Return a cell's bit in its word of a set."""
    return U64(1) << U64(cell & 63)


@kernel
def contains(cells, cell):
    """Return whether a cell is in a set."""
    return cells[cell >> 6] & bit_of(cell) != U64(0)


@kernel
def key_in(window, half):
    """Return the line key of the middle one of the lowest ``2 * half + 1`` cells of a line."""
    low_half = (U64(1) << U64(2 * half)) - U64(1)
    return (window & low_half) | ((window >> U64(2)) & (low_half << U64(2 * half)))


@kernel
def line_key(lines, cell, direction, half):
    """Return the line key of a cell: its ``2 * half`` neighbours in a direction (``tables``)."""
    word = lines[direction, line_of(cell, direction)]
    return np.int64(key_in(rotate_right(word, 2 * (place_on_line(cell, direction) - half)), half))


@kernel
def distances(cell, other):
    """Return how many columns and rows two cells are apart."""
    columns = abs((cell & (STRIDE - 1)) - (other & (STRIDE - 1)))
    return columns, abs((cell >> 5) - (other >> 5))


@kernel
def is_full(position):
    """Return whether the board has no empty cell."""
    return position.ply >= position.width * position.height


@kernel
def flip_on_lines(lines, cell, kind):
    """Flip a cell between empty and a stone or wall of this kind on all four lines."""
    for direction in range(4):
        shift = U64(2 * place_on_line(cell, direction))
        lines[direction, line_of(cell, direction)] ^= CLEARS[kind] << shift


@kernel
def flip_cell(position, cell, kind):
    """Flip a cell between empty and a stone or wall of this kind."""
    flip_on_lines(position.lines, cell, kind)
    position.empties[cell >> 6] ^= bit_of(cell)


@kernel
def clear_board(position, width, height):
    """Make the position an empty board with black to move."""
    position.lines[:] = U64(0)
    position.empties[:] = U64(0)
    position.key = U64(0)
    position.ply = 0
    position.side = BLACK
    position.width = width
    position.height = height
    position.holds[:] = WALL
    for y in range(MARGIN, MARGIN + height):
        for x in range(MARGIN, MARGIN + width):
            cell = y * STRIDE + x
            position.holds[cell] = EMPTY
            flip_cell(position, cell, WALL)
    position.first_set = MARGIN * STRIDE >> 6
    position.end_set = ((MARGIN + height) * STRIDE + 63) >> 6


@kernel
def put(position, zobrist, cell, kind):
    """Put a stone or wall on an empty cell; the turn does not pass."""
    assert position.holds[cell] == EMPTY and (kind == BLACK or kind == WHITE or kind == WALL)
    flip_cell(position, cell, kind)
    position.holds[cell] = kind
    position.key ^= zobrist[kind, cell]
    position.moves[position.ply] = cell
    position.ply += 1


@kernel
def key_after(key, zobrist, side, cell):
    """Return the key of the position after the side to move has played a cell."""
    return key ^ zobrist[np.int64(side), cell] ^ WHITE_TO_MOVE


@kernel
def bucket_of(key, buckets):
    """Return the bucket of a key in a table of positions."""
    return np.int64(((key >> U64(32)) * U64(buckets)) >> U64(32))


@kernel
def lift(position, zobrist):
    """Take off the last stone or wall; return its cell."""
    assert position.ply > 0
    position.ply -= 1
    cell = np.int64(position.moves[position.ply])
    kind = np.int64(position.holds[cell])
    position.key ^= zobrist[kind, cell]
    position.holds[cell] = EMPTY
    flip_cell(position, cell, kind)
    return cell


@kernel
def last_move(position, back):
    """Return the cell of the stone put ``back`` plies ago (1 = the last), or NO_CELL."""
    if position.ply < back:
        return NO_CELL
    return np.int64(position.moves[position.ply - back])


# Symmetries ------------------------------------------------------------------------------

# Symmetries are numbered by bits: bit 0 mirrors left and right, bit 1 top and bottom, bit 2
# transposes (square boards only). 0 is the identity.
SYMMETRIES = 8


@kernel
def image_of(position, cell, symmetry):
    """Return the image of a cell under a symmetry of the board."""
    x = (cell & (STRIDE - 1)) - MARGIN
    y = (cell >> 5) - MARGIN
    if symmetry & 1:
        x = np.int64(position.width) - 1 - x
    if symmetry & 2:
        y = np.int64(position.height) - 1 - y
    assert 0 <= x < position.width and 0 <= y < position.height
    if symmetry & 4:
        return (x + MARGIN) * STRIDE + y + MARGIN
    return (y + MARGIN) * STRIDE + x + MARGIN


@kernel
def symmetries_of(position):
    """Return the symmetries of the position except the identity, as a bit set."""
    found = 0
    for symmetry in range(1, SYMMETRIES):
        keeps = not symmetry & 4 or position.width == position.height
        at = 0
        while keeps and at < position.ply:  # every stone and wall maps to one of its kind
            cell = np.int64(position.moves[at])
            keeps = position.holds[image_of(position, cell, symmetry)] == position.holds[cell]
            at += 1
        if keeps:
            found |= 1 << symmetry
    return found


@kernel
def has_twin(position, symmetries, moves, count, cell):
    """Return whether one of these symmetries maps a cell to one of the first ``count`` moves."""
    for symmetry in range(1, SYMMETRIES):
        if symmetries >> symmetry & 1:
            image = image_of(position, cell, symmetry)
            for i in range(count):
                if moves[i] == image:
                    return True
    return False
