"""Hash keys of stones, the same on every machine: a splitmix64 stream from a fixed seed."""

from __future__ import annotations

from ..bits import U64
from ..kernel import kernel
from .geometry import PADDED_CELLS

_SEED = U64(0x4E756D6F6B752026)
_GAMMA = U64(0x9E3779B97F4A7C15)
_MIX_A = U64(0xBF58476D1CE4E5B9)
_MIX_B = U64(0x94D049BB133111EB)

KINDS = 3  # black stone, white stone, wall
WHITE_TO_MOVE = U64(0xA0761D6478BD642F)


@kernel
def mix(word):
    """Scramble a word so that every input bit reaches every output bit (splitmix64)."""
    word = (word ^ (word >> U64(30))) * _MIX_A
    word = (word ^ (word >> U64(27))) * _MIX_B
    return word ^ (word >> U64(31))


@kernel
def fill_keys(keys):
    """Fill ``keys[kind, cell]``."""
    state = _SEED
    for kind in range(KINDS):
        for cell in range(PADDED_CELLS):
            state = state + _GAMMA
            keys[kind, cell] = mix(state)
