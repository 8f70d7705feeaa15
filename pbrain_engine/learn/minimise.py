"""Minimising a smooth convex function of many numbers: L-BFGS with a backtracking search."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Function = Callable[[Vector], tuple[float, Vector]]  # value and gradient

MEMORY = 12  # steps that the curvature is guessed from
ENOUGH = 1e-4  # share of the promised decrease that a step has to bring
SHRINK = 0.5
SMALLEST_STEP = 1e-10


def minimise(
    function: Function,
    start: Vector,
    steps: int = 150,
    tolerance: float = 1e-6,
    watch: Callable[[int, float], None] = lambda step, value: None,
) -> Vector:
    """Return where a function is smallest, as far as so many steps from the start lead.

    It ends earlier when ten steps together gain less than ``tolerance`` of the value.
    ``watch`` is told the number of each step and the value there.
    """
    x = start.copy()
    value, gradient = function(x)
    memory: deque[tuple[Vector, Vector, float]] = deque(maxlen=MEMORY)
    recent: deque[float] = deque([value], maxlen=10)
    for step in range(1, steps + 1):
        direction = -_divide_by_curvature(gradient, memory)
        slope = float(direction @ gradient)
        if slope >= 0:
            break
        length = 1.0 if memory else 1.0 / max(1.0, float(np.abs(gradient).sum()))
        while True:
            next_x = x + length * direction
            next_value, next_gradient = function(next_x)
            if next_value <= value + ENOUGH * length * slope:
                break
            length *= SHRINK
            if length < SMALLEST_STEP:
                return x
        moved, turned = next_x - x, next_gradient - gradient
        curvature = float(moved @ turned)
        if curvature > 0:
            memory.append((moved, turned, curvature))
        x, value, gradient = next_x, next_value, next_gradient
        watch(step, value)
        if len(recent) == recent.maxlen and recent[0] - value < tolerance * abs(value):
            break
        recent.append(value)
    return x


def _divide_by_curvature(gradient: Vector, memory: deque[tuple[Vector, Vector, float]]) -> Vector:
    """Return the gradient times the inverse curvature that the last steps suggest."""
    q = gradient.copy()
    shares = []
    for moved, turned, curvature in reversed(memory):
        share = float(moved @ q) / curvature
        shares.append(share)
        q -= share * turned
    if memory:
        _, turned, curvature = memory[-1]
        q *= curvature / float(turned @ turned)
    for (moved, turned, curvature), share in zip(memory, reversed(shares), strict=True):
        q += (share - float(turned @ q) / curvature) * moved
    return q


def minimise_scale(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function of a scale with one valley is smallest, to a thousandth."""
    golden = (np.sqrt(5.0) - 1) / 2
    a, b = np.log(low), np.log(high)
    c, d = b - golden * (b - a), a + golden * (b - a)
    at_c, at_d = function(float(np.exp(c))), function(float(np.exp(d)))
    while b - a > 1e-3:
        if at_c < at_d:
            b, d, at_d = d, c, at_c
            c = b - golden * (b - a)
            at_c = function(float(np.exp(c)))
        else:
            a, c, at_c = c, d, at_d
            d = a + golden * (b - a)
            at_d = function(float(np.exp(d)))
    return float(np.exp((a + b) / 2))
