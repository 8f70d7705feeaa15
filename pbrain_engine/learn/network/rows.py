"""Rows of sixteen real numbers as values (``kernel.lanes``), for the training loops.

A row has the type (float32, or float64 in tests) of the array it was loaded from: one register of
AVX-512, two of AVX2. So sums stay in registers, without relying on the compiler's vectoriser.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
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


def _splat(builder: ir.IRBuilder, numbers: ir.Value, index: ir.Value) -> ir.Value:
    return spread(builder, builder.load(builder.gep(numbers, [index])))


def _of_two(name: str) -> Callable[..., ir.Value]:
    """Return an emitter of an operation on two rows, lane by lane."""
    return lambda builder, *rows: getattr(builder, name)(*rows, flags=("fast",))


def _add_product(
    builder: ir.IRBuilder, total: ir.Value, one: ir.Value, other: ir.Value
) -> ir.Value:
    return builder.fadd(total, builder.fmul(one, other, flags=("fast",)), flags=("fast",))


def _clamp(builder: ir.IRBuilder, row: ir.Value, top: ir.Value) -> ir.Value:
    zero = ir.Constant(row.type, None)
    row = builder.select(builder.fcmp_ordered(">", row, zero), row, zero)
    return builder.select(builder.fcmp_ordered("<", row, top), row, top)


def _gate(builder: ir.IRBuilder, row: ir.Value, seen: ir.Value, top: ir.Value) -> ir.Value:
    zero = ir.Constant(row.type, None)
    above, below = builder.fcmp_ordered(">", seen, zero), builder.fcmp_ordered("<", seen, top)
    return builder.select(builder.and_(above, below), row, zero)


def _total_of(builder: ir.IRBuilder, row: ir.Value) -> ir.Value:
    kind = row.type.element
    letters = "f64" if isinstance(kind, ir.DoubleType) else "f32"
    function = cgutils.get_or_insert_function(
        builder.module,
        ir.FunctionType(kind, [kind, row.type]),
        f"llvm.vector.reduce.fadd.v{LANES}{letters}",
    )
    return builder.call(function, [ir.Constant(kind, 0.0), row], fastmath=("fast",))


@instruction(lambda numbers, _: Row(numbers.dtype)(numbers, types.int64), _splat)
def splat(numbers, index):
    """Return a row filled with one number of an array."""


@instruction(lambda number: Row(number)(number), spread)
def row_of(number):
    """Return a row filled with a number."""


@instruction(lambda row, _: row(row, row), _of_two("fadd"))
def add(one, other):
    """Return the sums of two rows."""


@instruction(lambda row, _: row(row, row), _of_two("fmul"))
def multiply(one, other):
    """Return the products of two rows."""


@instruction(lambda row, *_: row(row, row, row), _add_product)
def add_product(total, one, other):
    """Return a row plus the product of two others, fused if the processor can."""


@instruction(lambda row, _: row(row, row), _clamp)
def clamp(row, top):
    """Return a row with each number clamped between 0 and ``top``."""


@instruction(lambda row, *_: row(row, row, row), _gate)
def gate(row, seen, top):
    """Return a row with zeros wherever ``seen`` is not between 0 and ``top``."""


@instruction(lambda row: row.kind(row), _total_of)
def total_of(row):
    """Return the sum of a row."""


@loop
def layer(inputs, start, count, weights, outputs, out):
    """Add the weights times the inputs to ``out``; ``count`` is even."""
    for o in range(0, outputs, LANES):
        one = load(out, o)
        two = multiply(splat(inputs, start), load(weights, o))
        one = add_product(one, splat(inputs, start + 1), load(weights, outputs + o))
        for i in range(2, count, 2):
            two = add_product(two, splat(inputs, start + i), load(weights, i * outputs + o))
            one = add_product(
                one, splat(inputs, start + i + 1), load(weights, (i + 1) * outputs + o)
            )
        save(out, o, add(one, two))


@loop
def outer(inputs, count, change, outputs, of_weights):
    """Add the inputs times the gradient of the outputs to the gradient of the weights."""
    for i in range(count):
        factor = splat(inputs, i)
        for o in range(0, outputs, LANES):
            at = i * outputs + o
            save(of_weights, at, add_product(load(of_weights, at), factor, load(change, o)))


@loop
def clear(out, start, count):
    """Write zeros from ``start`` on."""
    none = row_of(out.dtype.type(0))
    for i in range(0, count, LANES):
        save(out, start + i, none)


@loop
def copy(numbers, out):
    """Write numbers to ``out``."""
    for i in range(0, len(numbers), LANES):
        save(out, i, load(numbers, i))


@loop
def accumulate(total, start, numbers, count):
    """Add numbers to those of ``total`` from ``start`` on."""
    for i in range(0, count, LANES):
        save(total, start + i, add(load(total, start + i), load(numbers, i)))
