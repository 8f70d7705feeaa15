"""Chances in fixed point: values to chances to win and back, scores to shares of a softmax.

A chance is a whole number from 0 (lost) to ``UNIT`` (won). The exponentials stand in tables
that are made by decimal arithmetic, so every machine has the same.
"""

from decimal import Decimal
from math import isqrt

import numpy as np

from ...kernel import kernel
from ...values import EVAL_LIMIT

UNIT = 1 << 16  # the chance of a sure win
EVEN = UNIT // 2

VALUE_UNIT = 200  # points of value that are one logistic unit, in the table
_VALUE_STEP = 8  # points between two entries of the table
_SHARE_STEPS = 32  # entries of the table of shares for each logistic unit
_SHARES = 12 * _SHARE_STEPS  # beyond twelve units a share is nothing


# Decimal numbers are the same on every machine. The chance of every eighth value from 0 up:
CHANCES = np.array(
    [
        min(int(UNIT / (1 + (Decimal(-value) / VALUE_UNIT).exp())), UNIT - 1)
        for value in range(0, EVAL_LIMIT + 2 * _VALUE_STEP, _VALUE_STEP)
    ],
    np.int32,
)
SHARES = np.array(
    [int(UNIT * (Decimal(-step) / _SHARE_STEPS).exp()) for step in range(_SHARES)], np.int32
)
_ROOTS = 1 << 12
ROOTS = np.array([isqrt(number << 16) for number in range(_ROOTS)], np.int32)


@kernel
def chance_of(value, scale):
    """Return the chance to win of an evaluation; ``scale`` points are one logistic unit."""
    size = min(abs(value) * VALUE_UNIT // scale, EVAL_LIMIT)
    place = size // _VALUE_STEP
    low = np.int64(CHANCES[place])
    step = np.int64(CHANCES[place + 1]) - low
    chance = low + step * (size % _VALUE_STEP) // _VALUE_STEP
    return chance if value >= 0 else UNIT - chance


@kernel
def value_of_chance(chance, scale):
    """Return the value that a chance to win stands for; ``scale`` as in ``chance_of``."""
    size = min(max(chance, UNIT - chance), UNIT - 1)
    low = 0
    high = EVAL_LIMIT // _VALUE_STEP
    while low < high:  # the first entry that is not below the chance
        middle = (low + high) // 2
        if np.int64(CHANCES[middle]) < size:
            low = middle + 1
        else:
            high = middle
    value = low * _VALUE_STEP
    if low > 0:
        step = np.int64(CHANCES[low]) - np.int64(CHANCES[low - 1])
        value -= (np.int64(CHANCES[low]) - size) * _VALUE_STEP // step
    value = min(value * scale // VALUE_UNIT, EVAL_LIMIT)
    return value if chance >= EVEN else -value


@kernel
def slope_of(temperature):
    """Return how fast shares fall with the score: entries of the table for each point."""
    return np.int64(_SHARE_STEPS << 16) // temperature


@kernel
def share_of(behind, slope):
    """Return the share, of ``UNIT``, of a move whose score is so far behind the best one's.

    ``slope`` is that of the temperature.
    """
    place = behind * slope >> 16
    return np.int64(SHARES[place]) if place < _SHARES else np.int64(0)


@kernel
def rough_root(number):
    """Return 256 times the square root of a number, less exactly from ``_ROOTS`` on."""
    doublings = 0
    while number >= _ROOTS:
        number >>= 2
        doublings += 1
    return np.int64(ROOTS[number]) << doublings
