"""Single machine instructions, for kernels and plain Python, and bit fields packed in a word."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from itertools import accumulate
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.extending import intrinsic

from . import kernel

U64 = np.uint64
WORD = ir.IntType(64)


def instruction(kind: Any, emit: Callable[..., Any]) -> Callable[..., Any]:
    """Replace the decorated function by LLVM code in kernels; plain Python runs the function.

    ``kind``: numba's signature, or a function that makes it from the argument types. ``emit`` gets
    a builder and the arguments, arrays as addresses, and returns the result.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        def define(_context: Any, *given: Any) -> Any:
            return kind(*given) if callable(kind) else kind, code

        def code(context: Any, builder: Any, found: Any, arguments: Any) -> Any:
            values = [
                context.make_array(a)(context, builder, v).data if isinstance(a, types.Array) else v
                for a, v in zip(found.args, arguments, strict=True)
            ]
            result = emit(builder, *values)
            return context.get_dummy_value() if found.return_type == types.void else result

        own = signature(function)
        context = Parameter("context", Parameter.POSITIONAL_ONLY)
        parameters = [context, *own.parameters.values()]
        define.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        return function if numba.config.DISABLE_JIT else intrinsic(define)

    return decorate


def call(builder: Any, name: str, result: Any, *arguments: Any) -> Any:
    """Call a function linked by ``native.build``, or one of LLVM's."""
    kind = ir.FunctionType(result, [value.type for value in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


@instruction(
    types.int64(types.uint64),
    lambda builder, word: builder.cttz(word, ir.Constant(ir.IntType(1), 1)),
)
def lowest_bit(word: Any) -> int:
    """Return the index of the lowest set bit of a non-zero word."""
    return (int(word) & -int(word)).bit_length() - 1


@instruction(types.int64(types.uint64), lambda builder, word: builder.ctpop(word))
def popcount(word: Any) -> int:
    """Return the number of set bits."""
    return int(word).bit_count()


@instruction(
    types.uint64(types.uint64, types.int64),
    lambda builder, word, n: call(builder, "llvm.fshr.i64", WORD, word, word, n),
)
def rotate_right(word: Any, n: Any) -> np.uint64:
    """Rotate a word right by ``n`` bits, ``n`` taken modulo 64."""
    n = int(n) & 63
    return U64(((int(word) >> n) | (int(word) << (64 - n))) & 0xFFFFFFFFFFFFFFFF)


def _prefetch(builder: Any, words: Any, index: Any) -> None:
    byte = ir.IntType(8).as_pointer()
    hints = [ir.IntType(32)(number) for number in (0, 3, 1)]  # to read, near, data
    address = builder.bitcast(builder.gep(words, [index]), byte)
    call(builder, "llvm.prefetch.p0", ir.VoidType(), address, *hints)


@instruction(types.void, _prefetch)
def prefetch(words: Any, index: Any) -> None:
    """Prefetch the cache line of an array element."""


@instruction(
    types.int64(types.int64), lambda builder, steps: call(builder, "numoku_poll", WORD, steps)
)
def poll_host(steps: Any) -> int:
    """Count the steps of a search; return 1 if it must stop, else 0.

    In a browser, where no other thread can stop a search, the host is asked every few thousand
    steps (``native/build/poll.ll``). Elsewhere this is the constant 0.
    """
    return 0


@instruction(
    lambda words, *_: types.int64(words, types.int64, types.int64),
    lambda builder, words, index, value: builder.atomic_rmw(
        "xchg", builder.gep(words, [index]), value, "seq_cst"
    ),
)
def exchange(words: Any, index: Any, value: Any) -> int:
    """Atomically write an int64 element of an array and return its old value."""
    before = int(words[index])
    words[index] = value
    return before


def packed(**widths: int) -> list[Callable[..., Any]]:
    """Return kernels that read each field from a word, and last a kernel that packs a word.

    ``widths``: bits of each field, lowest first, at most 64 in total; negative for signed fields.
    With ``value_of, cell_of, pack = packed(value=-16, cell=10)``, ``pack(-5, 7)`` is a uint64 for
    which ``value_of`` returns -5.
    """
    bits = tuple(abs(width) for width in widths.values())
    shifts = (0, *accumulate(bits))[:-1]
    zeros = tuple(1 << -width - 1 if width < 0 else 0 for width in widths.values())
    assert sum(bits) <= 64

    def reader(shift: int, mask: int, zero: int) -> Callable[..., Any]:
        @kernel
        def read(word: Any) -> Any:
            return np.int64((word >> U64(shift)) & U64(mask)) - zero

        return read

    @kernel
    def pack(*fields: Any) -> Any:
        word = U64(0)
        for i in range(len(bits)):
            assert 0 <= fields[i] + zeros[i] < 1 << bits[i]
            word |= U64(fields[i] + zeros[i]) << U64(shifts[i])
        return word

    places = zip(shifts, bits, zeros, strict=True)
    return [*(reader(shift, (1 << width) - 1, zero) for shift, width, zero in places), pack]
