"""The memory of the threat searches: a copy of the game, their move lists and their tables.

The searches of ``vcf`` and ``vct`` run on a copy of the game (``copy_game`` takes about a
microsecond). The host owns the memory and sets the number of buckets of the two tables after the
head.
"""

import numpy as np

from ...kernel import kernel, record
from ...kernel.bits import U64, lowest_bit, packed, poll_host
from ...patterns.shapes import LISTED_CLASSES
from ...patterns.state import STATE, sets_of
from ...position.board import LINES, SETS, bucket_of
from ...position.geometry import MAX_STONES, PADDED_CELLS
from ...position.rules import EMPTY, WHITE

MAX_WORDS = 3 << 26  # of both tables together: the most that a record type can describe
LISTED_MOVES = 1 << 16  # capacity of all move lists of one path
CELL_BITS = 16  # low bits of a list entry, for its cell; the rest is its number
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
    stop=np.int64,  # set by the host: searches return as soon as they see it
    stopped=np.int64,  # 1 once a search has seen the stop flag or its node limit
    attacker=np.int64,  # of the running search
    length=np.int64,  # own stones to the win at the node last proven
    start=np.int64,  # stones on the board at the root of the running search by threats
    level=np.int64,  # of the running search by threats
    lowest=np.int64,  # levels below this one are disproven
    width=np.int64,  # range of moves tried besides fours and threes
    four_nodes=np.int64,  # stones to spend on fours at a new node
    test_nodes=np.int64,  # and to test whether a move threatens a win by fours
    truncated=np.int64,  # set of levels on which some search by fours was left undecided
    root=np.int64,  # stones on the board at the root of the running search by fours
    line_end=np.int64,  # line[:line_end]: the line of the last win by fours from there
    found_end=np.int64,  # found[:found_end]: the line of the win to report
    vcf_buckets=np.int64,  # buckets of the table of fours, from word 0
    vct_buckets=np.int64,  # buckets of the table of threes, after them
    line=(np.int16, LINE_ROOM),
    found=(np.int16, LINE_ROOM),
    words=(np.uint64, MAX_WORDS),
)
HEAD_BYTES = THREATS.itemsize - 8 * MAX_WORDS

UNLIMITED = np.int64(1) << 40  # node limit of an unlimited search

# Results of a search: a positive number is a win, in own stones up to and including the five.
NONE = 0  # proven: no such win
BOUNDED = -1  # none within the given bound
STOPPED = -2  # unknown: the search was stopped


@kernel
def copy_game(threats, other):
    """Copy a game to the block's own; moves before this cannot be undone in the copy."""
    own = threats.state
    position = own.position
    source = other.position
    for direction in range(4):
        for line in range(LINES):
            position.lines[direction, line] = source.lines[direction, line]
    position.key = source.key
    position.ply = source.ply
    position.width = source.width
    position.height = source.height
    position.side = source.side
    position.first_set = source.first_set
    position.end_set = source.end_set
    ply = position.ply
    for i in range(ply):
        position.moves[i] = source.moves[i]
    for word in range(SETS):
        position.empties[word] = source.empties[word]
        own.near[ply, word] = other.near[ply, word]
    own.log_end[ply] = 0
    own.moved_end[ply] = 0
    for before in range(max(ply - 1, 0), ply + 1):  # an evaluation looks at the last two
        own.sums[before] = other.sums[before]
    for side in range(2):
        for kind in range(LISTED_CLASSES + 1):
            for word in range(SETS):
                own.listed[side, kind, word] = other.listed[side, kind, word]
        for kind in range(16):
            own.counts[side, kind] = other.counts[side, kind]
    for cell in range(PADDED_CELLS):
        position.holds[cell] = source.holds[cell]
        own.shapes[cell] = other.shapes[cell]
        own.entries[cell] = other.entries[cell]


@kernel
def begin(threats, node_limit):
    """Reset the counters; searches after this put at most ``node_limit`` stones on the board."""
    threats.nodes = 0
    threats.node_limit = node_limit
    threats.stopped = 0


@kernel
def is_stopped(threats):
    """Return whether a search must return now; called in every node.

    The node limit is the same on every machine; the stop flag is set by another thread.
    """
    if threats.nodes >= threats.node_limit:
        threats.stopped = 1
    elif threats.stop != 0 or poll_host(1) != 0:
        threats.stopped = 1
    return threats.stopped != 0


@kernel
def pack_entry(cell, number):
    """Return an entry of a move list: a cell and its number."""
    assert 0 <= cell < PADDED_CELLS
    return (number << CELL_BITS) + cell


@kernel
def cell_in(entry):
    """Return the cell of an entry of a move list."""
    return entry & ((1 << CELL_BITS) - 1)


@kernel
def number_in(entry):
    """Return the number of an entry of a move list: a score, or the stones of a win."""
    return entry >> CELL_BITS


@kernel
def pick(moves, first, end):
    """Move the best entry of ``moves[first:end]`` to ``first`` and return its cell."""
    assert 0 <= first < end
    entry = moves[first]
    for i in range(first + 1, end):  # many at once: the place is looked for later
        entry = max(entry, moves[i])
    place = first
    while moves[place] != entry:
        place += 1
    moves[place] = moves[first]
    moves[first] = entry
    return cell_in(entry)


@kernel
def list_marks(worker, moves, first):
    """Write the marked cells to a move list from ``first`` on; return the end."""
    end = first
    for word in sets_of(worker.state):
        cells = worker.marks[word]
        while cells != U64(0):
            moves[end] = word * 64 + lowest_bit(cells)
            assert worker.state.position.holds[moves[end]] == EMPTY
            cells &= cells - U64(1)
            end += 1
    return end


@kernel
def find_entry(threats, bucket, key):
    """Return the word of a key in its bucket, or 0."""
    start = bucket * BUCKET_WORDS
    for slot in range(start, start + BUCKET_WORDS, 2):
        if threats.words[slot] == key:
            return threats.words[slot + 1]
    return U64(0)


@kernel
def slot_for(threats, bucket, key, effort_bit):
    """Return the slot to write a key to: its own, or the one with the least effort.

    The effort is the top part of an entry's word, from ``effort_bit`` on.
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
    """Return whether the move lists have room for another node from ``first`` on."""
    return first + 2 * MAX_STONES < LISTED_MOVES


# The table of threats ----------------------------------------------------------------
# An entry is the key and a word: proof number (0: the attacker wins), disproof number (0: there is
# no win by threats), the winning move or the answer that resists longest, the attacker's stones to
# a proven win, the level of its search, and its effort as a power of four. A win is valid on every
# level, the absence of one on this level and those below.
proof_of, disproof_of, cell_of_proof, length_of, level_of, effort_of, pack_proof = packed(
    proof=20, disproof=20, cell=10, length=7, level=3, effort=4
)
UNPROVABLE = (1 << 20) - 1  # proof number of disproven nodes
LONGEST = 127  # most stones to a win in an entry
MOST_EFFORT = 15
_ATTACKED_BY_WHITE = U64(0x9E3779B97F4A7C15)
_PROOF_EFFORT = 60  # lowest bit of the effort


@kernel
def pack(proof, disproof):
    """Return both numbers of a node as one; ``proof_of`` and ``disproof_of`` read them."""
    assert 0 <= proof <= UNPROVABLE and 0 <= disproof <= UNPROVABLE
    return disproof << 20 | proof


PROVEN = np.int64(UNPROVABLE << 20)  # packed numbers of a won node
DISPROVEN = np.int64(UNPROVABLE)


@kernel
def proof_key(threats, key):
    """Return the table key of a position, which depends on the attacker."""
    return key ^ _ATTACKED_BY_WHITE if threats.attacker == WHITE else key


@kernel
def proof_bucket_of(threats, key):
    """Return the bucket of a ``proof_key``; this table comes after the table of fours."""
    return threats.vcf_buckets + bucket_of(key, threats.vct_buckets)


@kernel
def probe_proof(threats, key):
    """Return the data stored for a ``proof_key``, or 0."""
    data = find_entry(threats, proof_bucket_of(threats, key), key)
    if disproof_of(data) == 0 and level_of(data) < threats.level:
        return U64(0)
    return data


@kernel
def store_proof(threats, key, proof, disproof, cell, length, nodes):
    """Store the numbers of a position on which another ``nodes`` nodes were spent."""
    assert 0 <= proof <= UNPROVABLE and 0 <= disproof <= UNPROVABLE and proof + disproof > 0
    assert 0 <= cell < PADDED_CELLS and length >= 0
    slot = slot_for(threats, proof_bucket_of(threats, key), key, _PROOF_EFFORT)
    effort = np.int64(0)
    if threats.words[slot] == key:
        effort = effort_of(threats.words[slot + 1])
    while effort < MOST_EFFORT and nodes >> (2 * effort) > 0:
        effort += 1
    threats.words[slot] = key
    threats.words[slot + 1] = pack_proof(
        np.int64(proof), np.int64(disproof), np.int64(cell), np.int64(min(length, LONGEST)),
        np.int64(threats.level), effort,
    )  # fmt: skip


@kernel
def settle(threats, key, wins, cell, length, nodes):
    """Store a solved node and its length."""
    threats.length = length
    if wins:
        store_proof(threats, key, 0, UNPROVABLE, cell, length, nodes)
    else:
        store_proof(threats, key, UNPROVABLE, 0, cell, 0, nodes)
