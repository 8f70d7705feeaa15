"""Unpacking of a network from the layout of a weight file to the kernel's.

``network_block.py`` describes the block of a rule family. A line key is *canonical* if all cells
behind a wall are wall and it is not larger than its mirror image; the file has a code for each
canonical key, in ascending order.
"""

import numpy as np

from ...kernel import kernel
from ...patterns.tables import is_half_window
from ..network_block import (
    BOOK_LIMIT,
    CELL_UNITS,
    CHANNELS,
    NEAR_CLASSES,
    REGION_UNITS,
    SHIFTS,
    THREAT_MASKS,
    TRUNK_UNITS,
    VALUE_UNITS,
)
from .accumulator import HEAT, SHARE

HEAD_WORDS = 32  # int16 of a block's head


@kernel
def wide(block, at):
    """Return the int32 at a place of the block."""
    return (np.int64(block[at]) & 0xFFFF) | (np.int64(block[at + 1]) << 16)


@kernel
def without_hidden(key, half):
    """Return a key with all neighbours behind a wall turned into wall."""
    for end in range(2):
        clear = False
        for i in range(half):
            place = half + i if end != 0 else half - 1 - i
            clear = clear or (key >> (2 * place)) & 3 == 0
            if clear:
                key &= ~(3 << (2 * place))
    return key


@kernel
def mirror_key(key, half):
    """Return a key with its neighbours in the opposite order."""
    image = 0
    for place in range(2 * half):
        image = image * 4 + ((key >> (2 * place)) & 3)
    return image


@kernel
def fill_codes(network, block, start, half):
    """Write the code of every line key that can occur.

    A canonical key is never larger than the keys it represents, so one ascending pass suffices.
    """
    number = 0
    halves = 1 << (2 * half)
    for high in range(halves):
        if not is_half_window(high, half, half - 1):
            continue
        image = mirror_key(high, half) >> (2 * half)
        for low in range(halves):
            if not is_half_window(low, half, 0):
                continue
            key = high * halves + low
            canonical = min(key, (mirror_key(low, half) & ~(halves - 1)) + image)
            if canonical == key:
                network.codes[key] = np.uint16(np.int64(block[start + number]) & 0xFFFF)
                number += 1
            else:
                network.codes[key] = network.codes[canonical]


@kernel
def fill_hidden_codes(network, half):
    """Write the codes of the line keys that need a board with blocked cells."""
    for key in range(1 << (4 * half)):
        canonical = without_hidden(key, half)
        if canonical != key:
            network.codes[key] = network.codes[min(canonical, mirror_key(canonical, half))]


@kernel
def channel_for(side, channel):
    """Return the absolute channel at this place of a side's view."""
    return channel ^ (CHANNELS // 2) if side != 0 else channel


@kernel
def unpack_weights(block, start, weights, outputs, inputs, side, viewed):
    """Read the weights of a layer, row by row.

    ``viewed``: 1 if its first inputs are channels, 2 if its outputs are, else 0.
    """
    for output in range(outputs):
        row = channel_for(side, output) if viewed == 2 else output
        for i in range(inputs):
            place = channel_for(side, i) if viewed == 1 and i < CHANNELS else i
            at = (row // 16) * 16 * inputs + (place // 2) * 32 + (row % 16) * 2 + place % 2
            weights[at] = block[start + output * inputs + i]
    return start + outputs * inputs


@kernel
def unpack_layer(block, start, weights, biases, outputs, inputs, side, viewed):
    """Read the weights and the biases of a layer."""
    at = unpack_weights(block, start, weights, outputs, inputs, side, viewed)
    for output in range(outputs):
        row = channel_for(side, output) if viewed == 2 else output
        biases[row] = wide(block, at + 2 * output)
    return at + 2 * outputs


@kernel
def unpack_row(block, start, numbers, count):
    """Read numbers stored the same way in the kernel and in the file."""
    for i in range(count):
        numbers[i] = block[start + i]
    return start + count


@kernel
def unpack_head(block, at, head, side):
    """Read the layers for a side to move; return their end in the block."""
    for i in range(SHIFTS):
        head.shifts[i] = wide(block, at + 2 * i)
    at += 2 * SHIFTS
    at = unpack_layer(block, at, head.region, head.region_bias, REGION_UNITS, CHANNELS, side, 1)
    at = unpack_layer(
        block, at, head.trunk, head.trunk_bias, TRUNK_UNITS, CHANNELS + REGION_UNITS, side, 1
    )
    at = unpack_row(block, at, head.threats, THREAT_MASKS * TRUNK_UNITS)
    at = unpack_layer(block, at, head.value, head.value_bias, VALUE_UNITS, TRUNK_UNITS, side, 0)
    at = unpack_row(block, at, head.result, VALUE_UNITS)
    head.result_bias = wide(block, at)
    at += 2
    at = unpack_layer(block, at, head.feature, head.feature_bias, CHANNELS, TRUNK_UNITS, side, 2)
    at = unpack_layer(block, at, head.cell, head.cell_bias, CELL_UNITS, TRUNK_UNITS, side, 0)
    at = unpack_layer(block, at, head.out, head.out_bias, CELL_UNITS, TRUNK_UNITS, side, 0)
    for kind in range(3):
        for i in range(CHANNELS):
            place = channel_for(side, i)
            head.around[kind * CHANNELS + place] = block[at + kind * CHANNELS + i]
    at += 3 * CHANNELS
    at = unpack_weights(block, at, head.hidden, CELL_UNITS, CHANNELS, side, 1)
    return unpack_row(block, at, head.near, 2 * NEAR_CLASSES)


@kernel
def unpack(network, block, words, half):
    """Unpack a network; return 1, or 0 with no network loaded if a number is out of range.

    The block must have the sizes of this version and the matching number of ``words``.
    """
    network.loaded = 0
    tied = wide(block, 4)
    heads = wide(block, 6)
    patterns = wide(block, 8)
    codes = wide(block, 10)
    stored = CHANNELS // 2 if tied != 0 else CHANNELS
    book = HEAD_WORDS + patterns + tied * codes
    first = book + codes * stored
    for i in range(patterns + tied * codes):
        if (np.int64(block[HEAD_WORDS + i]) & 0xFFFF) >= codes:
            return 0
    fill_codes(network, block, HEAD_WORDS, half)
    for code in range(codes):
        twin = code
        if tied != 0:
            twin = np.int64(block[HEAD_WORDS + patterns + code]) & 0xFFFF
        for i in range(CHANNELS):
            at = book + code * stored + i
            if i >= stored:
                at = book + twin * stored + i - stored
            if abs(np.int64(block[at])) > BOOK_LIMIT:
                return 0
            network.book[code * CHANNELS + i] = block[at]
    head_words = (words - first) // heads
    for side in range(2):
        head = network.heads[side]
        unpack_head(block, first + side * (heads - 1) * head_words, head, side)
        for i in range(SHIFTS):
            shift = np.int64(head.shifts[i])
            if i < SHARE and not 0 <= shift <= 31:  # beyond what a machine can shift
                return 0
            if (i == SHARE or i == HEAT) and abs(shift) >= 1 << 16:
                return 0
    network.loaded = 1
    return 1
