"""What a block of weights holds: the numbers of one rule family, as the kernel reads them."""

from __future__ import annotations

import numpy as np

from ..kernel import kernel, record
from ..patterns.shapes import COMBINATIONS
from ..patterns.tables import CELL_CODES, THREAT_MASKS, class_in, combination_in, pack_entry

WEIGHTS = record(
    values=(np.int16, (2, COMBINATIONS)),  # side, combination -> what an empty cell adds
    threats=(np.int16, (2, THREAT_MASKS)),  # side to move, mask -> value for that side
    scores=(np.int16, (2, 2, COMBINATIONS)),  # side to move, own or enemy combination -> order
)


@kernel
def apply_weights(tables, weights):
    """Write the weights of a rule family into the tables of a rule."""
    for side in range(2):
        for code in range(CELL_CODES):
            entry = tables.cells[side, code]
            combination = combination_in(entry)
            value = np.int64(weights.values[side, combination])
            tables.cells[side, code] = pack_entry(value, combination, class_in(entry))
        for mask in range(THREAT_MASKS):
            tables.threats[side, mask] = weights.threats[side, mask]
        for whose in range(2):
            for combination in range(COMBINATIONS):
                score = weights.scores[side, whose, combination]
                tables.scores[side, whose, combination] = score
