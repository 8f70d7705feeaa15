"""Numbers of few bits in one word, as entries of tables have them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any

import numpy as np

from . import kernel

U64 = np.uint64


def packed(**widths: int) -> list[Callable[..., Any]]:
    """Return a kernel for each field that reads it from a word, and last one that makes a word.

    ``widths``: bits of each field, lowest first, at most 64 together; below zero for a number with
    a sign. ``value_of, cell_of, pack = packed(value=-16, cell=10)``: ``pack(-5, 7)`` is a uint64,
    of which ``value_of`` gives -5.
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
