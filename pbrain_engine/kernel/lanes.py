"""Rows of sixteen integers as values: one machine instruction for all of them, in kernels.

``SHORTS`` are sixteen int16, ``INTS`` sixteen int32. The compiler turns them into whatever the
processor has: two registers of AVX2 for the ints, four of SSE or NEON. A loop over an array
would leave that to its analysis of what may overlap; here it is certain. Arrays are flat, and
an index is that of the first of sixteen numbers. In plain Python the rows are small arrays.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

LANES = 16

if numba.config.DISABLE_JIT:

    def load_shorts(numbers: Any, index: Any) -> Any:
        """Return sixteen numbers of an array of int16."""
        return np.array(numbers[index : index + LANES])

    def load_ints(numbers: Any, index: Any) -> Any:
        """Return sixteen numbers of an array of int32."""
        return np.array(numbers[index : index + LANES])

    def save_shorts(numbers: Any, index: Any, row: Any) -> None:
        """Write sixteen numbers to an array of int16."""
        numbers[index : index + LANES] = row

    def save_ints(numbers: Any, index: Any, row: Any) -> None:
        """Write sixteen numbers to an array of int32."""
        numbers[index : index + LANES] = row

    def zero_ints() -> Any:
        """Return sixteen zeros of int32."""
        return np.zeros(LANES, np.int32)

    def add(one: Any, other: Any) -> Any:
        """Return the sums of two rows of a kind."""
        return one + other

    def subtract(one: Any, other: Any) -> Any:
        """Return the differences of two rows of a kind."""
        return one - other

    def clamp(row: Any, low: Any, high: Any) -> Any:
        """Return a row with each number raised to ``low`` or lowered to ``high``."""
        return np.minimum(np.maximum(row, row.dtype.type(low)), row.dtype.type(high))

    def shift_left(row: Any, bits: Any) -> Any:
        """Return a row times a power of two; nothing may be lost."""
        return row << row.dtype.type(bits)

    def shift_right(row: Any, bits: Any) -> Any:
        """Return a row divided by a power of two, rounded down."""
        return row >> row.dtype.type(bits)

    def widen(row: Any) -> Any:
        """Return shorts as ints."""
        return row.astype(np.int32)

    def narrow(row: Any) -> Any:
        """Return ints as shorts; each must fit."""
        return row.astype(np.int16)

    def multiply_high(one: Any, other: Any) -> Any:
        """Return the products of shorts, each divided by 65536 and rounded down."""
        return ((one.astype(np.int32) * other.astype(np.int32)) >> np.int32(16)).astype(np.int16)

    def add_products(total: Any, weights: Any, at: Any, inputs: Any, index: Any) -> Any:
        """Add to each of sixteen ints the products of its two weights and two inputs.

        ``weights[at:at + 32]``: two for each of the ints; ``inputs[index:index + 2]``.
        """
        pairs = weights[at : at + 2 * LANES].astype(np.int32) * np.tile(
            inputs[index : index + 2].astype(np.int32), LANES
        )
        return total + pairs[0::2] + pairs[1::2]

    def dot(one: Any, other: Any) -> Any:
        """Return the sum of the products of two rows of shorts."""
        return int((one.astype(np.int32) * other.astype(np.int32)).sum(dtype=np.int32))

else:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.core.datamodel import models, register_default
    from numba.core.extending import intrinsic

    class Row(types.Type):  # type: ignore[misc]
        """Sixteen integers of some bits each, as numba sees them."""

        def __init__(self, bits: int) -> None:
            self.bits = bits
            super().__init__(name=f"row of {LANES} int{bits}")

    @register_default(Row)
    class RowModel(models.PrimitiveModel):  # type: ignore[misc]
        """A row is one LLVM vector."""

        def __init__(self, manager: Any, kind: Any) -> None:
            super().__init__(manager, kind, vector(kind.bits))

    def vector(bits: int, lanes: int = LANES) -> Any:
        """Return LLVM's type of a row."""
        return ir.VectorType(ir.IntType(bits), lanes)

    SHORTS = Row(16)
    INTS = Row(32)

    def splat(number: int, bits: int, lanes: int = LANES) -> Any:
        """Return a row of the same constant."""
        return ir.Constant(vector(bits, lanes), [ir.Constant(ir.IntType(bits), number)] * lanes)

    def spread(builder: Any, value: Any, lanes: int = LANES) -> Any:
        """Return a row of the same value, known only when it runs."""
        kind = ir.VectorType(value.type, lanes)
        one = builder.insert_element(
            ir.Constant(kind, ir.Undefined), value, ir.Constant(ir.IntType(32), 0)
        )
        mask = ir.Constant(vector(32, lanes), [ir.Constant(ir.IntType(32), 0)] * lanes)
        return builder.shuffle_vector(one, ir.Constant(kind, ir.Undefined), mask)

    def place_of(context: Any, builder: Any, kind: Any, array: Any, index: Any, what: Any) -> Any:
        """Return the address of an element of a flat array, as that of something else."""
        start = context.make_array(kind)(context, builder, array).data
        return builder.bitcast(builder.gep(start, [index]), what.as_pointer())

    def read(builder: Any, place: Any) -> Any:
        """Load a row that may lie anywhere."""
        load = builder.load(place)
        load.align = 2
        return load

    def loader(row: Any) -> Any:
        """Return the intrinsic that reads a row of this kind."""

        @intrinsic
        def load(context: Any, numbers: Any, index: Any) -> Any:
            def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
                numbers, index = arguments
                kind = vector(row.bits)
                return read(
                    builder, place_of(context, builder, signature.args[0], numbers, index, kind)
                )

            return row(numbers, types.int64), emit

        return load

    def saver(row: Any) -> Any:
        """Return the intrinsic that writes a row of this kind."""

        @intrinsic
        def save(context: Any, numbers: Any, index: Any, values: Any) -> Any:
            def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
                numbers, index, values = arguments
                kind = vector(row.bits)
                place = place_of(context, builder, signature.args[0], numbers, index, kind)
                builder.store(values, place).align = 2
                return context.get_dummy_value()

            return types.void(numbers, types.int64, row), emit

        return save

    load_shorts, load_ints = loader(SHORTS), loader(INTS)
    save_shorts, save_ints = saver(SHORTS), saver(INTS)

    @intrinsic
    def zero_ints(context: Any) -> Any:
        """Return sixteen zeros of int32."""

        def emit(_context: Any, _builder: Any, _signature: Any, _arguments: Any) -> Any:
            return splat(0, 32)

        return INTS(), emit

    def arithmetic(name: str) -> Any:
        """Return the intrinsic of an instruction for two rows of a kind."""

        @intrinsic
        def compute(context: Any, one: Any, other: Any) -> Any:
            def emit(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
                return getattr(builder, name)(*arguments)

            return one(one, one), emit

        return compute

    add, subtract = arithmetic("add"), arithmetic("sub")

    @intrinsic
    def clamp(context: Any, row: Any, low: Any, high: Any) -> Any:
        """Return a row with each number raised to ``low`` or lowered to ``high``."""

        def emit(_context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            bits = signature.args[0].bits
            row, *ends = arguments
            least, most = (spread(builder, builder.trunc(end, ir.IntType(bits))) for end in ends)
            row = builder.select(builder.icmp_signed(">", row, least), row, least)
            return builder.select(builder.icmp_signed("<", row, most), row, most)

        return row(row, types.int64, types.int64), emit

    def shifter(name: str) -> Any:
        """Return the intrinsic that shifts a row by this many bits."""

        @intrinsic
        def shift(context: Any, row: Any, bits: Any) -> Any:
            def emit(_context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
                count = builder.trunc(arguments[1], ir.IntType(signature.args[0].bits))
                return getattr(builder, name)(arguments[0], spread(builder, count))

            return row(row, types.int64), emit

        return shift

    shift_left, shift_right = shifter("shl"), shifter("ashr")

    def converter(name: str, found: Any, given: Any) -> Any:
        """Return the intrinsic of an instruction that makes one kind of row of the other."""

        @intrinsic
        def convert(context: Any, row: Any) -> Any:
            def emit(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
                return getattr(builder, name)(arguments[0], vector(found.bits))

            return found(given), emit

        return convert

    widen, narrow = converter("sext", INTS, SHORTS), converter("trunc", SHORTS, INTS)

    def product(builder: Any, one: Any, other: Any) -> Any:
        """Return the products of two rows of shorts as ints."""
        wide = vector(32, one.type.count)
        return builder.mul(builder.sext(one, wide), builder.sext(other, wide))

    @intrinsic
    def multiply_high(context: Any, one: Any, other: Any) -> Any:
        """Return the products of shorts, each divided by 65536 and rounded down."""

        def emit(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            high = builder.ashr(product(builder, *arguments), splat(16, 32))
            return builder.trunc(high, vector(16))

        return SHORTS(SHORTS, SHORTS), emit

    def pair_sums(builder: Any, one: Any, other: Any) -> Any:
        """Return the products of two rows of 32 shorts, added in pairs (``lower``)."""
        kind = vector(16, 2 * LANES)
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(vector(32), [kind, kind]), "numoku_pair_sums"
        )
        return builder.call(function, [one, other])

    @intrinsic
    def add_products(
        context: Any, total: Any, weights: Any, at: Any, inputs: Any, index: Any
    ) -> Any:
        """Add to each of sixteen ints the products of its two weights and two inputs.

        ``weights[at:at + 32]``: two for each of the ints; ``inputs[index:index + 2]``.
        """

        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            total, weights, at, inputs, index = arguments
            two = place_of(context, builder, signature.args[3], inputs, index, ir.IntType(32))
            pairs = builder.bitcast(spread(builder, read(builder, two)), vector(16, 2 * LANES))
            kind = vector(16, 2 * LANES)
            row = read(builder, place_of(context, builder, signature.args[1], weights, at, kind))
            return builder.add(total, pair_sums(builder, row, pairs))

        return INTS(INTS, weights, types.int64, inputs, types.int64), emit

    @intrinsic
    def dot(context: Any, one: Any, other: Any) -> Any:
        """Return the sum of the products of two rows of shorts."""

        def emit(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            sums = product(builder, *arguments)
            add_up = cgutils.get_or_insert_function(
                builder.module,
                ir.FunctionType(ir.IntType(32), [sums.type]),
                f"llvm.vector.reduce.add.v{sums.type.count}i32",
            )
            return builder.sext(builder.call(add_up, [sums]), ir.IntType(64))

        return types.int64(SHORTS, SHORTS), emit
