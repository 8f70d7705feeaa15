"""Single machine instructions, usable in kernels and in plain Python."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

U64 = np.uint64

if numba.config.DISABLE_JIT:

    def lowest_bit(word: Any) -> int:
        """Return the index of the lowest set bit of a non-zero word."""
        return (int(word) & -int(word)).bit_length() - 1

    def popcount(word: Any) -> int:
        """Return the number of set bits."""
        return int(word).bit_count()

    def rotate_right(word: Any, n: Any) -> np.uint64:
        """Rotate a word right by ``n`` bits, ``n`` taken modulo 64."""
        n = int(n) & 63
        return U64(((int(word) >> n) | (int(word) << (64 - n))) & 0xFFFFFFFFFFFFFFFF)

    def prefetch(words: Any, index: Any) -> None:
        """Begin to load the cache line of an array's element."""

    def breathe(steps: Any) -> int:
        """Return 0, as there are other threads to stop a search."""
        return 0

    def exchange(words: Any, index: Any, value: Any) -> int:
        """Write an int64 element of an array and return what it was, in one step."""
        before = int(words[index])
        words[index] = value
        return before

else:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.core.extending import intrinsic

    @intrinsic
    def lowest_bit(context: Any, word: Any) -> Any:
        """Return the index of the lowest set bit of a non-zero word."""

        def emit(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

        return types.int64(types.uint64), emit

    @intrinsic
    def popcount(context: Any, word: Any) -> Any:
        """Return the number of set bits."""

        def emit(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return builder.ctpop(arguments[0])

        return types.int64(types.uint64), emit

    @intrinsic
    def rotate_right(context: Any, word: Any, n: Any) -> Any:
        """Rotate a word right by ``n`` bits, ``n`` taken modulo 64."""

        def emit(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            kind = ir.IntType(64)
            rotate = builder.module.declare_intrinsic(
                "llvm.fshr", [kind], ir.FunctionType(kind, [kind] * 3)
            )
            return builder.call(rotate, [arguments[0], arguments[0], arguments[1]])

        return types.uint64(types.uint64, types.int64), emit

    @intrinsic
    def prefetch(context: Any, words: Any, index: Any) -> Any:
        """Begin to load the cache line of an array's element."""

        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            start = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            number, byte = ir.IntType(32), ir.IntType(8).as_pointer()
            load = cgutils.get_or_insert_function(
                builder.module,
                ir.FunctionType(ir.VoidType(), [byte, number, number, number]),
                "llvm.prefetch.p0",
            )
            address = builder.bitcast(builder.gep(start, [arguments[1]]), byte)
            builder.call(load, [address, number(0), number(3), number(1)])
            return context.get_dummy_value()

        return types.void(words, index), emit

    @intrinsic
    def breathe(context: Any, steps: Any) -> Any:
        """Count the steps of a search; return 1 if it has to return, 0 if it may go on.

        In a browser, where no other thread can stop a search, the host is asked after some
        thousand steps (``native/build/breath.ll``). Elsewhere this is the constant 0.
        """

        def emit(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            word = ir.IntType(64)
            function = cgutils.get_or_insert_function(
                builder.module, ir.FunctionType(word, [word]), "numoku_breathe"
            )
            return builder.call(function, arguments)

        return types.int64(types.int64), emit

    @intrinsic
    def exchange(context: Any, words: Any, index: Any, value: Any) -> Any:
        """Write an int64 element of an array and return what it was, in one step."""

        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            start = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            place = builder.gep(start, [arguments[1]])
            return builder.atomic_rmw("xchg", place, arguments[2], "seq_cst")

        return types.int64(words, types.int64, types.int64), emit
