"""The C interface of the threat searches: their memory, results and proof lines.

A *threats* block begins with a game of its own, so its address can be used as a game's. Results
count own stones up to and including the five; 0: proven that there is no such win; below 0:
unknown.
"""

from __future__ import annotations

import numpy as np
from numba import carray

from ..kernel import SIZES, export, export_kernel
from ..patterns.shapes import MAKES_WINNING_FOUR
from ..patterns.state import STATE
from ..patterns.tables import TABLES
from ..position.board import contains
from ..position.geometry import PADDED_CELLS
from ..search.threats.memory import (
    BUCKET_WORDS,
    HEAD_BYTES,
    THREATS,
    UNLIMITED,
    begin,
    copy_game,
    disproof_of,
    probe_proof,
    proof_key,
    proof_of,
)
from ..search.threats.proof import holds, winning_move, write_line
from ..search.threats.replies import drop_hopeless, find_rescues, mark_replies
from ..search.threats.vcf import solve_fours
from ..search.threats.vct import be_thorough, set_level, solve_threats

SIZES.update(threats_head=HEAD_BYTES, threats_bucket=8 * BUCKET_WORDS)

export_kernel("threats_copy_game", copy_game, THREATS, STATE)


@export
def threats_new(threats: THREATS, vcf_buckets, vct_buckets):
    """Set up a zeroed block, with this many buckets of each table after its head."""
    threats.vcf_buckets = vcf_buckets
    threats.vct_buckets = vct_buckets
    set_level(threats, 0)
    return 0


@export
def threats_nodes(threats: THREATS):
    """Return the number of stones the last search put on the board."""
    return threats.nodes


@export
def threats_level(threats: THREATS):
    """Return the lowest level that the last search by threats left undecided."""
    return threats.lowest


@export
def threats_fours(threats: THREATS, tables: TABLES, node_limit):
    """Search for a win by continuous fours of the side to move; return its stones."""
    begin(threats, node_limit)
    return solve_fours(threats, tables, np.int64(0))


@export
def threats_threes(threats: THREATS, tables: TABLES, node_limit):
    """Search for a win by fours and threes of the side to move; return its stones."""
    begin(threats, node_limit)
    return solve_threats(threats, tables, np.int64(0))


@export
def threats_progress(threats: THREATS, out_p):
    """Write the level of the last search by threats, and its root's proof and disproof number."""
    out = carray(out_p, (3,), np.int64)
    data = probe_proof(threats, proof_key(threats, threats.state.position.key))
    out[0] = threats.level
    out[1] = proof_of(data)
    out[2] = disproof_of(data)
    return 3


@export
def threats_replay(threats: THREATS, tables: TABLES, node_limit):
    """Replay the proof found by ``threats_threes``; return 1 if it holds everywhere."""
    begin(threats, node_limit)
    return holds(threats, tables, np.int64(0))


@export
def threats_line(threats: THREATS, tables: TABLES, fours, node_limit, out_p, room):
    """Write the main line of the win just found; return its length.

    ``fours``: the result of ``threats_fours``, or 0 for the win of ``threats_threes``.
    """
    out = carray(out_p, (room,), np.int64)
    begin(threats, node_limit)
    if fours == 0:
        be_thorough(threats)
    return write_line(threats, tables, fours, out, room)


@export
def threats_move(threats: THREATS, tables: TABLES, node_limit):
    """Return the winning move of the attacker, who is to move in the block's own game, or 0."""
    begin(threats, node_limit)
    be_thorough(threats)
    return winning_move(threats, tables, np.int64(0))


@export
def threats_replies(threats: THREATS, tables: TABLES, out_p):
    """Write 1 for each answer to the attacker's threat; return the threat's class, 0 if none.

    Against a longer threat than a winning four, answers that lose to few fours are left out.
    """
    begin(threats, UNLIMITED)
    be_thorough(threats)
    kind = mark_replies(threats, tables, np.int64(0))
    if kind < MAKES_WINNING_FOUR:
        drop_hopeless(threats, tables, np.int64(0))
    out = carray(out_p, (PADDED_CELLS,), np.uint8)
    for cell in range(PADDED_CELLS):
        out[cell] = 1 if contains(threats.marks, cell) else 0
    return kind


@export
def threats_rescues(threats: THREATS, tables: TABLES, node_limit, out_p):
    """Write 1 for each move that stops the enemy's fours, 2 if unknown; return the enemy's win."""
    begin(threats, node_limit)
    out = carray(out_p, (PADDED_CELLS,), np.uint8)
    return find_rescues(threats, tables, out)
