"""Rows of sixteen numbers as values: one machine instruction for all of them, in kernels.

A row is *shorts*, sixteen int16, or *ints*, sixteen int32; the trainer has rows of floats
(``learn.network.rows``). The compiler maps a row to the processor's registers: two of AVX2 for
ints, four of SSE or NEON. For a loop over arrays, this would depend on its alias analysis. Arrays
are flat, and an index is that of the first of sixteen numbers. In plain Python rows are small
arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.datamodel import models, register_default

from .bits import call, instruction

LANES = 16


class Row(types.Type):  # type: ignore[misc]
    """Sixteen numbers of one type, as numba sees them."""

    def __init__(self, kind: types.Number) -> None:
        self.kind = kind
        super().__init__(name=f"row of {LANES} {kind}")


@register_default(Row)
class _RowModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        number = manager.lookup(kind.kind).get_data_type()
        super().__init__(manager, kind, ir.VectorType(number, LANES))


def _vector(bits: int, lanes: int = LANES) -> Any:
    """Return LLVM's type of a row of integers."""
    return ir.VectorType(ir.IntType(bits), lanes)


SHORTS, INTS = Row(types.int16), Row(types.int32)


def spread(builder: Any, value: Any) -> Any:
    """Return a row filled with one value."""
    kind = ir.VectorType(value.type, LANES)
    nowhere = ir.Constant(kind, ir.Undefined)
    one = builder.insert_element(nowhere, value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, nowhere, ir.Constant(_vector(32), None))


def _row_at(builder: Any, numbers: Any, index: Any, kind: Any) -> Any:
    """Return the address of an array element as the address of a row."""
    return builder.bitcast(builder.gep(numbers, [index]), kind.as_pointer())


def _load(builder: Any, numbers: Any, index: Any, kind: Any = None) -> Any:
    """Load an unaligned row, by default of the array's own type."""
    kind = kind or ir.VectorType(numbers.type.pointee, LANES)
    row = builder.load(_row_at(builder, numbers, index, kind))
    row.align = 2
    return row


@instruction(lambda numbers, _: Row(numbers.dtype)(numbers, types.int64), _load)
def load(numbers: Any, index: Any) -> Any:
    """Return sixteen numbers of an array."""
    return np.array(numbers[index : index + LANES])


def _save(builder: Any, numbers: Any, index: Any, row: Any) -> None:
    builder.store(row, _row_at(builder, numbers, index, row.type)).align = 2


@instruction(lambda numbers, _, row: types.void(numbers, types.int64, row), _save)
def save(numbers: Any, index: Any, row: Any) -> None:
    """Write sixteen numbers to an array of their type."""
    numbers[index : index + LANES] = row


@instruction(INTS(), lambda _: ir.Constant(_vector(32), None))
def zero_ints() -> Any:
    """Return sixteen zeros of int32."""
    return np.zeros(LANES, np.int32)


@instruction(lambda row, _: row(row, row), lambda builder, *rows: builder.add(*rows))
def add(one: Any, other: Any) -> Any:
    """Return the sums of two rows of the same type."""
    return one + other


@instruction(lambda row, _: row(row, row), lambda builder, *rows: builder.sub(*rows))
def subtract(one: Any, other: Any) -> Any:
    """Return the differences of two rows of the same type."""
    return one - other


def _clamp(builder: Any, row: Any, *ends: Any) -> Any:
    low, high = (spread(builder, builder.trunc(end, row.type.element)) for end in ends)
    row = builder.select(builder.icmp_signed(">", row, low), row, low)
    return builder.select(builder.icmp_signed("<", row, high), row, high)


@instruction(lambda row, *_: row(row, types.int64, types.int64), _clamp)
def clamp(row: Any, low: Any, high: Any) -> Any:
    """Return a row with each number clamped between ``low`` and ``high``."""
    return np.minimum(np.maximum(row, row.dtype.type(low)), row.dtype.type(high))


def _shift(name: str) -> Callable[..., Any]:
    """Return LLVM's shift instruction ``name`` for a row."""

    def emit(builder: Any, row: Any, bits: Any) -> Any:
        count = spread(builder, builder.trunc(bits, row.type.element))
        return getattr(builder, name)(row, count)

    return instruction(lambda row, _: row(row, types.int64), emit)


@_shift("shl")
def shift_left(row: Any, bits: Any) -> Any:
    """Return a row times a power of two; the results must fit."""
    return row << row.dtype.type(bits)


@_shift("ashr")
def shift_right(row: Any, bits: Any) -> Any:
    """Return a row divided by a power of two, rounded down."""
    return row >> row.dtype.type(bits)


@instruction(INTS(SHORTS), lambda builder, row: builder.sext(row, _vector(32)))
def widen(row: Any) -> Any:
    """Return shorts as ints."""
    return row.astype(np.int32)


@instruction(SHORTS(INTS), lambda builder, row: builder.trunc(row, _vector(16)))
def narrow(row: Any) -> Any:
    """Return ints as shorts; each must fit."""
    return row.astype(np.int16)


def _multiply(builder: Any, *rows: Any) -> Any:
    """Return the products of two rows of shorts as ints."""
    return builder.mul(*(builder.sext(row, _vector(32)) for row in rows))


def _multiply_high(builder: Any, *rows: Any) -> Any:
    sixteen = ir.Constant(_vector(32), [ir.Constant(ir.IntType(32), 16)] * LANES)
    return builder.trunc(builder.ashr(_multiply(builder, *rows), sixteen), _vector(16))


@instruction(SHORTS(SHORTS, SHORTS), _multiply_high)
def multiply_high(one: Any, other: Any) -> Any:
    """Return the products of shorts, each divided by 65536 and rounded down."""
    return ((one.astype(np.int32) * other.astype(np.int32)) >> np.int32(16)).astype(np.int16)


def _add_products(builder: Any, total: Any, weights: Any, at: Any, inputs: Any, index: Any) -> Any:
    """Multiply rows of 32 shorts and add the products in pairs (``native.build.lower``)."""
    kind = _vector(16, 2 * LANES)
    two = _load(builder, inputs, index, ir.IntType(32))
    pairs = builder.bitcast(spread(builder, two), kind)
    row = _load(builder, weights, at, kind)
    return builder.add(total, call(builder, "numoku_pair_sums", _vector(32), row, pairs))


@instruction(
    lambda _total, weights, _at, inputs, _index: INTS(
        INTS, weights, types.int64, inputs, types.int64
    ),
    _add_products,
)
def add_products(total: Any, weights: Any, at: Any, inputs: Any, index: Any) -> Any:
    """Add to each of sixteen ints the products of its two weights and two inputs.

    ``weights[at:at + 32]``: two for each of the ints; ``inputs[index:index + 2]``.
    """
    pairs = weights[at : at + 2 * LANES].astype(np.int32) * np.tile(
        inputs[index : index + 2].astype(np.int32), LANES
    )
    return total + pairs[0::2] + pairs[1::2]


def _dot(builder: Any, *rows: Any) -> Any:
    products = _multiply(builder, *rows)
    name = f"llvm.vector.reduce.add.v{LANES}i32"
    return builder.sext(call(builder, name, ir.IntType(32), products), ir.IntType(64))


@instruction(types.int64(SHORTS, SHORTS), _dot)
def dot(one: Any, other: Any) -> Any:
    """Return the sum of the products of two rows of shorts."""
    return int((one.astype(np.int32) * other.astype(np.int32)).sum(dtype=np.int32))
