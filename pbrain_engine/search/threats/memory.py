"""The memory of the threat searches: a copy of the game, their move lists and their tables.

The searches of ``vcf`` and ``vct`` run on a copy (``adopt`` takes about a microsecond), so a
worker can ask in the middle of its own search. The host owns the memory and says how many
buckets follow the head, for each of the two tables.
"""

from __future__ import annotations

import numpy as np

from ...kernel import kernel, record
from ...kernel.bits import U64, breathe, lowest_bit, popcount
from ...patterns.shapes import LISTED_CLASSES
from ...patterns.state import STATE, sets_of
from ...position.board import LINES, SETS
from ...position.geometry import MAX_STONES, PADDED_CELLS
from ...position.rules import EMPTY

MAX_WORDS = 3 << 26  # of both tables together: the most that a record type can describe
LISTED_MOVES = 1 << 16  # moves on all lists of one path
LINE_ROOM = 512
BUCKET_WORDS = 8  # a cache line: four entries of a key and a word

THREATS = record(
    state=STATE,
    marks=(np.uint64, SETS),  # scratch set of a move generator
    moves=(np.int64, LISTED_MOVES),  # lists of the nodes on the path, one after the other
    proofs=(np.int64, LISTED_MOVES),  # proof number of each listed move of a search by threes
    disproofs=(np.int64, LISTED_MOVES),  # and disproof number
    nodes=np.int64,  # stones put on the board by searches
    node_limit=np.int64,
    stop=np.int64,  # set by the host: every search returns as soon as it sees it
    stopped=np.int64,  # 1 once a search has seen the stop flag or its node limit
    attacker=np.int64,  # of the running search
    length=np.int64,  # own stones that the node last proven takes to win
    start=np.int64,  # stones on the board where the running search by threats began
    level=np.int64,  # of the running search by threats
    lowest=np.int64,  # below this level it has found that there is no win
    width=np.int64,  # which moves beside fours and threes it tries
    four_nodes=np.int64,  # stones that it may spend on fours at a new node
    test_nodes=np.int64,  # and to see whether a move threatens a win by fours
    truncated=np.int64,  # set of the levels on which some such question was left open
    root=np.int64,  # stones on the board where the running search by fours began
    line_end=np.int64,  # line[:line_end]: how the last win by fours goes on from there
    found_end=np.int64,  # found[:found_end]: the line of the win to report
    vcf_buckets=np.int64,  # buckets of the table of fours, from word 0
    vct_buckets=np.int64,  # buckets of the table of threes, after them
    line=(np.int16, LINE_ROOM),
    found=(np.int16, LINE_ROOM),
    words=(np.uint64, MAX_WORDS),
)
HEAD_BYTES = THREATS.itemsize - 8 * MAX_WORDS

# Results of a search: a positive number is a win, in own stones up to and with the five.
NONE = 0  # proven: no such win
BOUNDED = -1  # none within the bound asked for
STOPPED = -2  # not known: the search was ended


@kernel
def adopt_position(own, other):
    """Make a position equal to another; the order of the stones put is copied too."""
    for direction in range(4):
        for line in range(LINES):
            own.lines[direction, line] = other.lines[direction, line]
    for word in range(SETS):
        own.empties[word] = other.empties[word]
    for i in range(other.ply):
        own.moves[i] = other.moves[i]
    for cell in range(PADDED_CELLS):
        own.holds[cell] = other.holds[cell]
    own.key = other.key
    own.ply = other.ply
    own.width = other.width
    own.height = other.height
    own.side = other.side
    own.first_set = other.first_set
    own.end_set = other.end_set


@kernel
def adopt(threats, other):
    """Make the block's own game equal to another, which then cannot be undone any further."""
    own = threats.state
    adopt_position(own.position, other.position)
    ply = own.position.ply
    for word in range(SETS):
        own.near[ply, word] = other.near[ply, word]
    own.log_end[ply] = 0
    for before in range(max(ply - 1, 0), ply + 1):  # an evaluation looks at the last two
        own.sums[before] = other.sums[before]
    for side in range(2):
        for kind in range(LISTED_CLASSES):
            for word in range(SETS):
                own.listed[side, kind, word] = other.listed[side, kind, word]
        for kind in range(16):
            own.counts[side, kind] = other.counts[side, kind]
        for cell in range(PADDED_CELLS):
            own.entries[side, cell] = other.entries[side, cell]
    for cell in range(PADDED_CELLS):
        own.shapes[cell] = other.shapes[cell]


@kernel
def begin(threats, node_limit):
    """Start counting: searches after this put at most this many stones on the board."""
    threats.nodes = 0
    threats.node_limit = node_limit
    threats.stopped = 0


@kernel
def is_stopped(threats):
    """Return whether a search has to return now; looked at in every node.

    The node limit does not depend on the machine; the stop flag is another thread's.
    """
    if threats.nodes >= threats.node_limit:
        threats.stopped = 1
    elif threats.stop != 0 or breathe(1) != 0:
        threats.stopped = 1
    return threats.stopped != 0


@kernel
def listed(cell, number):
    """Return an entry of a move list: a cell, with what its list tells of it."""
    assert 0 <= cell < PADDED_CELLS and number >= 0
    return number * 1024 + cell


@kernel
def cell_in(entry):
    """Return the cell of an entry of a move list."""
    return entry & 1023


@kernel
def number_in(entry):
    """Return what the list tells of it: a score, or the stones of a win."""
    return entry >> 10


@kernel
def list_marks(threats, first):
    """Write the marked cells to the move list from ``first`` on; return the end."""
    end = first
    for word in sets_of(threats.state):
        cells = threats.marks[word]
        while cells != U64(0):
            threats.moves[end] = word * 64 + lowest_bit(cells)
            assert threats.state.position.holds[threats.moves[end]] == EMPTY
            cells &= cells - U64(1)
            end += 1
    return end


@kernel
def count_marks(threats):
    """Return how many cells are marked."""
    count = 0
    for word in sets_of(threats.state):
        count += popcount(threats.marks[word])
    return count


@kernel
def bucket_from(key, buckets):
    """Return the number of the bucket that a key belongs to."""
    return np.int64(((key >> U64(32)) * U64(buckets)) >> U64(32))


@kernel
def find_entry(threats, bucket, key):
    """Return the word beside a key in its bucket, or 0."""
    start = bucket * BUCKET_WORDS
    for slot in range(start, start + BUCKET_WORDS, 2):
        if threats.words[slot] == key:
            return threats.words[slot + 1]
    return U64(0)


@kernel
def slot_for(threats, bucket, key, effort_bit):
    """Return where a key is to be written: over itself, or over what took least work.

    The effort is the uppermost part of an entry's word, from ``effort_bit`` on.
    """
    start = bucket * BUCKET_WORDS
    target = start
    least = U64(0xFFFFFFFFFFFFFFFF)
    for slot in range(start, start + BUCKET_WORDS, 2):
        if threats.words[slot] == key:
            return slot
        effort = threats.words[slot + 1] >> U64(effort_bit)
        if effort < least:
            least = effort
            target = slot
    return target


@kernel
def may_list(first):
    """Return whether the move lists have room for one more node's, from ``first`` on."""
    return first + 2 * MAX_STONES < LISTED_MOVES
