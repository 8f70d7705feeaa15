"""Rows of sixteen real numbers as values, for the loops that train a network.

A row is one vector of LLVM's, of the kind of number (float32, or float64 in tests) of the array
that it was loaded from: one register of AVX-512, two of AVX2. So sums stay in registers whatever
a compiler finds out about loops. Arrays are flat, and an index is that of the first number.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils, extending
from numba.core.datamodel import models, register_default

LANES = 16
NONE = 1e30  # above every number
intrinsic: Any = extending.intrinsic
loop = numba.njit(fastmath={"nsz", "arcp", "contract", "afn", "reassoc"}, nogil=True,
                  boundscheck=False, cache=True)  # fmt: skip


class FloatRow(types.Type):  # type: ignore[misc]
    """Sixteen numbers of a kind, as numba sees them."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        super().__init__(name=f"row of {LANES} {kind}")


def vector(kind: Any) -> Any:
    """Return LLVM's type of a row."""
    return ir.VectorType(ir.DoubleType() if kind.bitwidth == 64 else ir.FloatType(), LANES)


@register_default(FloatRow)
class FloatRowModel(models.PrimitiveModel):  # type: ignore[misc]
    """A row is one LLVM vector."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, vector(kind.kind))


def _place(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    """Return the address of sixteen numbers of a flat array."""
    start = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(start, [index]), vector(kind.dtype).as_pointer())


def _spread(builder: Any, number: Any) -> Any:
    """Return a row of one number."""
    kind = ir.VectorType(number.type, LANES)
    one = builder.insert_element(ir.Constant(kind, ir.Undefined), number, ir.IntType(32)(0))
    mask = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(one, ir.Constant(kind, ir.Undefined), mask)


@intrinsic
def load(context: Any, numbers: Any, index: Any) -> Any:
    """Return sixteen numbers of an array."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        found = builder.load(_place(context, builder, signature.args[0], *arguments))
        found.align = numbers.dtype.bitwidth // 8
        return found

    return FloatRow(numbers.dtype)(numbers, types.int64), emit


@intrinsic
def save(context: Any, numbers: Any, index: Any, row: Any) -> Any:
    """Write sixteen numbers to an array."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, index, row = arguments
        place = _place(context, builder, signature.args[0], array, index)
        builder.store(row, place).align = numbers.dtype.bitwidth // 8
        return context.get_dummy_value()

    return types.void(numbers, types.int64, row), emit


@intrinsic
def splat(context: Any, numbers: Any, index: Any) -> Any:
    """Return a row of one number of an array."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        start = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return _spread(builder, builder.load(builder.gep(start, [arguments[1]])))

    return FloatRow(numbers.dtype)(numbers, types.int64), emit


@intrinsic
def row_of(context: Any, number: Any) -> Any:
    """Return a row of a number."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _spread(builder, arguments[0])

    return FloatRow(number)(number), emit


def _of_two(name: str) -> Any:
    """Return the intrinsic that does something with each pair of numbers of two rows."""

    @intrinsic
    def both(context: Any, one: Any, other: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return getattr(builder, name)(*arguments, flags=("fast",))

        return one(one, other), emit

    return both


add, subtract, multiply = _of_two("fadd"), _of_two("fsub"), _of_two("fmul")


@intrinsic
def add_product(context: Any, total: Any, one: Any, other: Any) -> Any:
    """Return a row plus the product of two others, fused where the processor can."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        total, one, other = arguments
        return builder.fadd(total, builder.fmul(one, other, flags=("fast",)), flags=("fast",))

    return total(total, one, other), emit


@intrinsic
def clamp(context: Any, row: Any, top: Any) -> Any:
    """Return a row with each number raised to nought or lowered to those of ``top``."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        row, top = arguments
        none = ir.Constant(row.type, None)
        row = builder.select(builder.fcmp_ordered(">", row, none), row, none)
        return builder.select(builder.fcmp_ordered("<", row, top), row, top)

    return row(row, top), emit


@intrinsic
def gate(context: Any, row: Any, seen: Any, top: Any) -> Any:
    """Return a row with noughts wherever ``seen`` is not between nought and ``top``."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        row, seen, top = arguments
        none = ir.Constant(row.type, None)
        above, below = builder.fcmp_ordered(">", seen, none), builder.fcmp_ordered("<", seen, top)
        return builder.select(builder.and_(above, below), row, none)

    return row(row, seen, top), emit


@intrinsic
def total_of(context: Any, row: Any) -> Any:
    """Return the sum of a row."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = arguments[0].type
        letter = 64 if signature.args[0].kind.bitwidth == 64 else 32
        function = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(kind.element, [kind.element, kind]),
            f"llvm.vector.reduce.fadd.v{LANES}f{letter}",
        )
        start = ir.Constant(kind.element, 0.0)
        return builder.call(function, [start, arguments[0]], fastmath=("fast",))

    return row.kind(row), emit


@loop
def layer(inputs: Any, start: Any, count: Any, weights: Any, outputs: Any, out: Any) -> None:
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
def outer(inputs: Any, count: Any, change: Any, outputs: Any, of_weights: Any) -> None:
    """Add the inputs times the gradient of the outputs to the gradient of the weights."""
    for i in range(count):
        factor = splat(inputs, i)
        for o in range(0, outputs, LANES):
            at = i * outputs + o
            save(of_weights, at, add_product(load(of_weights, at), factor, load(change, o)))


@loop
def accumulate(total: Any, start: Any, numbers: Any, count: Any) -> None:
    """Add a row of numbers to others from a place on."""
    for i in range(0, count, LANES):
        save(total, start + i, add(load(total, start + i), load(numbers, i)))


@loop
def adam(
    numbers: Any, gradient: Any, anchor: Any, slope: Any, square: Any, mean: Any, first: Any,
    last: Any, rate: Any, decay: Any, step: Any, kept: Any,
) -> None:  # fmt: skip
    """Do a step of Adam with decay towards ``anchor`` (Loshchilov and Hutter 2019) on some numbers.

    ``mean``, the running mean of the numbers, keeps ``kept`` of itself.
    """
    one = numbers.dtype.type
    early, late = one(1 / (1 - 0.9**step)), one(1 / (1 - 0.99**step))
    pull, rate, kept, rest = one(rate * decay), one(rate), one(kept), one(1 - kept)
    for i in range(first, last):
        change = gradient[i]
        slope[i] = one(0.9) * slope[i] + one(0.1) * change
        square[i] = one(0.99) * square[i] + one(0.01) * change * change
        towards = slope[i] * early / (np.sqrt(square[i] * late) + one(1e-8))
        numbers[i] -= rate * towards + pull * (numbers[i] - anchor[i])
        mean[i] = kept * mean[i] + rest * numbers[i]
