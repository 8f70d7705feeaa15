"""What the evaluation sees of a position, written down for learning.

The value of a position is linear in its weights: it adds one number for the combination of
each empty cell and side, and one for the threat mask. These are the features.
"""

from __future__ import annotations

from ..bits import U64, lowest_bit
from ..kernel import kernel
from ..patterns.state import sets_of
from ..patterns.tables import combination_in
from ..position.board import bit_of
from ..position.rules import BLACK, WHITE
from .evaluate import threat_mask


@kernel
def write_features(state, out):
    """Write the threat mask, then cell, black's and white's combination and nearness of each cell.

    Only empty cells count. Returns how many numbers were written.
    """
    position = state.position
    out[0] = threat_mask(state, position.side)
    end = 1
    for word in sets_of(state):
        cells = position.empties[word]
        while cells != U64(0):
            cell = word * 64 + lowest_bit(cells)
            cells &= cells - U64(1)
            out[end] = cell
            out[end + 1] = combination_in(state.entries[BLACK, cell])
            out[end + 2] = combination_in(state.entries[WHITE, cell])
            out[end + 3] = 1 if state.near[position.ply, word] & bit_of(cell) != U64(0) else 0
            end += 4
    return end
