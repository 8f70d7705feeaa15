"""Rows of sixteen real numbers as values (``kernel.lanes``), for the training loops.

A row has the type (float32, or float64 in tests) of the array it was loaded from: one register of
AVX-512, two of AVX2. So sums stay in registers, without relying on the compiler's vectoriser.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils

from ...kernel import lanes
from ...kernel.bits import instruction
from ...kernel.lanes import LANES, Row, load, save, spread

HERE = Path(__file__).parent
NONE = 1e30  # above every number
OPTIONS: dict[str, object] = {
    "fastmath": {"nsz", "arcp", "contract", "afn", "reassoc"}, "nogil": True, "boundscheck": False,
}  # fmt: skip


# Compiled code is cached in files and recompiled if any of these modules changes: numba would check
# only the module of the function, not those inlined into it.
SOURCES = tuple(
    (path.name, path.stat().st_mtime_ns)
    for path in (Path(lanes.__file__), *sorted(HERE.glob("*.py")))
)


def loop(function: Callable[..., Any]) -> Any:
    """Compile a function called by Python or by another loop."""
    dispatcher = numba.njit(**OPTIONS)(function)
    if not numba.config.DISABLE_JIT:
        with suppress(RuntimeError):  # no folder can be written: every process compiles anew
            dispatcher.enable_caching()
            dispatcher._cache._cache_file._source_stamp = SOURCES
    return dispatcher


def step(function: Callable[..., Any]) -> Any:
    """Mark a part of a loop, to be inlined into its callers.

    A call would pass some hundred words of array descriptors for each position.
    """
    return numba.njit(inline="always", **OPTIONS)(function)


def emitted(kind: Callable[..., Any]) -> Callable[..., Any]:
    """Let loops call the decorated emitter of LLVM code, without its builder.

    ``kind``: numba's signature for the types of the arguments.
    """

    def declare(emit: Callable[..., Any]) -> Any:
        return instruction(kind, emit)(partial(emit, None))

    return declare


row_of = emitted(lambda number: Row(number)(number))(spread)
on_rows = emitted(lambda row, *others: row(row, *others))


@emitted(lambda numbers, _: Row(numbers.dtype)(numbers, types.int64))
def splat(builder, numbers, index):
    """Return a row filled with one number of an array."""
    return spread(builder, builder.load(builder.gep(numbers, [index])))


@on_rows
def add(builder, one, other):
    """Return the sums of two rows."""
    return builder.fadd(one, other, flags=("fast",))


@on_rows
def multiply(builder, one, other):
    """Return the products of two rows."""
    return builder.fmul(one, other, flags=("fast",))


@on_rows
def add_product(builder, total, one, other):
    """Return a row plus the product of two others, fused if the processor can."""
    return builder.fadd(total, builder.fmul(one, other, flags=("fast",)), flags=("fast",))


@emitted(lambda row, _: row(row, row.kind))
def scale(builder, row, factor):
    """Return a row times a number."""
    return builder.fmul(row, spread(builder, factor), flags=("fast",))


@emitted(lambda row, _: row(row, row.kind))
def clamp(builder, row, top):
    """Return a row with each number clamped between 0 and ``top``."""
    zero, most = ir.Constant(row.type, None), spread(builder, top)
    row = builder.select(builder.fcmp_ordered(">", row, zero), row, zero)
    return builder.select(builder.fcmp_ordered("<", row, most), row, most)


@emitted(lambda row, *_: row(row, row, row.kind))
def gate(builder, row, seen, top):
    """Return a row with zeros wherever ``seen`` is not between 0 and ``top``."""
    zero, most = ir.Constant(row.type, None), spread(builder, top)
    above, below = builder.fcmp_ordered(">", seen, zero), builder.fcmp_ordered("<", seen, most)
    return builder.select(builder.and_(above, below), row, zero)


@emitted(lambda row: row.kind(row))
def total_of(builder, row):
    """Return the sum of a row."""
    kind = row.type.element
    name = f"llvm.vector.reduce.fadd.v{LANES}{'f64' if isinstance(kind, ir.DoubleType) else 'f32'}"
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(kind, [kind, row.type]), name
    )
    return builder.call(function, [ir.Constant(kind, 0.0), row], fastmath=("fast",))


@loop
def layer(inputs, weights, biases, out):
    """Write the biases, or ``out`` itself, plus the weights times an even number of inputs."""
    outputs = len(out)
    for o in range(0, outputs, LANES):
        one = load(biases, o)
        two = multiply(splat(inputs, 0), load(weights, o))
        one = add_product(one, splat(inputs, 1), load(weights, outputs + o))
        for i in range(2, len(inputs), 2):
            two = add_product(two, splat(inputs, i), load(weights, i * outputs + o))
            one = add_product(one, splat(inputs, i + 1), load(weights, (i + 1) * outputs + o))
        save(out, o, add(one, two))


@loop
def outer(inputs, change, of_weights):
    """Add the inputs times the gradient of the outputs to the gradient of the weights."""
    outputs = len(change)
    for i in range(len(inputs)):
        factor = splat(inputs, i)
        for o in range(0, outputs, LANES):
            at = i * outputs + o
            save(of_weights, at, add_product(load(of_weights, at), factor, load(change, o)))


@loop
def accumulate(total, numbers):
    """Add numbers to the first ones of ``total``."""
    for i in range(0, len(numbers), LANES):
        save(total, i, add(load(total, i), load(numbers, i)))


@loop
def backward_layer(inputs, change, transposed, back, of_weights, of_biases):
    """Add the gradients of a layer; ``change``: of its outputs, ``back``: of its inputs."""
    layer(change, transposed, back, back)
    outer(inputs, change, of_weights)
    accumulate(of_biases, change)
