"""From patterns to codes: where there are more patterns than codes, the rare ones share.

The patterns that occur most in games keep vectors of their own; each other one takes those of
the nearest. Where colours are tied, codes come in pairs, so that a position with colours
exchanged stays worth the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .windows import Patterns

Ints = NDArray[np.int64]
Real = NDArray[np.float64]
MOST_CODES = 16384  # their vectors stay in the cache of a core
BLOCK = 512  # patterns at a time


class Codebook(NamedTuple):
    """The code of each pattern, and of each code its vector and the code of exchanged colours."""

    codes: Ints
    swap: Ints
    vectors: Real


def make_codebook(
    maps: list[Real], known: Patterns, counts: Ints, most: int = MOST_CODES
) -> Codebook:
    """Return the codes of a network; ``counts`` says how often each pattern occurs in games.

    ``maps``: the vector of every pattern, of the one map or of black's and white's.
    """
    tied = len(maps) == 1
    vectors = maps[0] if tied else np.concatenate([maps[0], maps[1][known.swapped]], 1)
    if len(known) <= most:
        every = np.arange(len(known))
        return Codebook(every, known.swapped, vectors)
    kept = frequent(known, counts, most, tied)
    own = known.swapped == np.arange(len(known))
    both = np.concatenate([vectors, vectors[known.swapped]], 1) if tied else vectors
    codes = np.empty(len(known), np.int64)
    if tied:  # a pattern that is its own exchange needs a code that is
        for kind in (False, True):
            these, among = np.flatnonzero(own == kind), kept[own[kept] == kind]
            codes[these] = np.searchsorted(kept, among[nearest(both[these], both[among])])
        first = np.flatnonzero(np.arange(len(known)) < known.swapped)
        swap = np.searchsorted(kept, known.swapped[kept])
        codes[known.swapped[first]] = swap[codes[first]]
    else:
        codes = nearest(both, both[kept])
        swap = np.arange(len(kept))
    codes[kept] = np.arange(len(kept))
    return Codebook(codes, swap, vectors[kept])


def frequent(known: Patterns, counts: Ints, most: int, tied: bool) -> Ints:
    """Return the patterns that occur most, in ascending order; with their exchange, if tied."""
    weight = counts + counts[known.swapped] if tied else counts.copy()
    weight[known.blank] = weight.max() + 1
    group = np.minimum(np.arange(len(known)), known.swapped) if tied else np.arange(len(known))
    order = np.lexsort((group, -weight))  # those of a pair follow each other
    kept = order[:most]
    if tied and not np.isin(known.swapped[kept[-1]], kept):
        kept = kept[:-1]
    return np.sort(kept)


def nearest(points: Real, among: Real) -> Ints:
    """Return which of some vectors is nearest to each point."""
    lengths = (among**2).sum(1) / 2
    found = [
        np.argmax(points[i : i + BLOCK] @ among.T - lengths, 1)
        for i in range(0, len(points), BLOCK)
    ]
    return np.concatenate(found) if found else np.zeros(0, np.int64)
