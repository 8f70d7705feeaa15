"""Defence against a win by fours: every move after which the enemy has none."""

from __future__ import annotations

import numpy as np

from ...bits import U64, lowest_bit
from ...kernel import kernel
from ...patterns import shapes as s
from ...patterns.forbidden import is_forbidden
from ...patterns.state import class_at, play, sets_of, skip, undo
from .memory import STOPPED
from .vcf import line_still_wins, search_fours

_START = np.int64(0)


@kernel
def find_rescues(threats, tables, out):
    """Write 1 for each legal move after which the enemy has no win by fours, 2 where not known.

    Returns the enemy's win if the side to move passes: stones, NONE or STOPPED. The line last
    found is tried first against each move, as most moves have nothing to do with it.
    """
    state = threats.state
    side = np.int64(state.position.side)
    skip(state)
    threat = search_fours(threats, tables, _START)
    skip(state)
    for word in sets_of(state):
        cells = state.position.empties[word]
        while cells != U64(0):
            cell = word * 64 + lowest_bit(cells)
            cells &= cells - U64(1)
            out[cell] = 0
            if is_forbidden(state, tables, cell):
                continue
            if class_at(state, side, cell) == s.MAKES_FIVE:
                out[cell] = 1
                continue
            play(state, tables, cell)
            threats.nodes += 1
            if not line_still_wins(threats, tables):
                value = search_fours(threats, tables, _START)
                if value <= 0:
                    out[cell] = 2 if value == STOPPED else 1
            undo(state, tables)
    return threat
