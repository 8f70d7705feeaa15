"""Compiler options, all in one place: ``@kernel`` and ``@export`` functions, ``record()``.

A kernel is an ordinary numba function on records. Importing a module compiles nothing:
``native.build.compile`` compiles ``EXPORTS`` and everything they reach ahead of time. Under
``NUMBA_DISABLE_JIT=1`` the same functions run as plain Python, for debugging.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, cast

import numba
import numpy as np
from numba import types

CACHE_LINE = 64
BOUNDS_CHECK = os.environ.get("NUMOKU_BOUNDS_CHECK") == "1"

# Field names that are attributes of an ndarray: compiled code reads the field, but plain Python
# silently reads the attribute.
_NDARRAY_NAMES = frozenset(dir(np.ndarray)) | frozenset(dir(np.record))

_OPTIONS: dict[str, Any] = {
    "error_model": "numpy",  # no ZeroDivisionError, so no exception paths
    "boundscheck": BOUNDS_CHECK,  # on only in the build for fuzzing
    "no_cpython_wrapper": True,  # called only from kernels or through C
    "no_cfunc_wrapper": True,
    "nogil": True,
}


# The entry points of the library, and numba's types of their arguments; no types in plain Python.
EXPORTS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {}
SIZES: dict[str, int] = {}  # bytes of the memory blocks that the caller allocates
SIGNED: list[tuple[Any, Any]] = []  # (dispatcher, signature): self-recursive kernels, in order


def record(**fields: Any) -> np.dtype[np.record]:
    """Return a packed record type; put the widest fields first.

    Raises:
        ValueError: a field has the name of an array attribute.
    """
    wrong = sorted(_NDARRAY_NAMES.intersection(fields))
    if wrong:
        raise ValueError(f"field names that arrays already use: {', '.join(wrong)}")
    layout = [(n, *t) if isinstance(t, tuple) else (n, t) for n, t in fields.items()]
    return cast("np.dtype[np.record]", np.dtype((np.record, layout)))


def fill_line(*lengths: int) -> tuple[type, int]:
    """Return a field of padding after fields of these lengths, up to the next cache line."""
    return (np.uint8, -sum(lengths) % CACHE_LINE or CACHE_LINE)


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function as kernel code, with types inferred from its callers."""
    return numba.njit(**_OPTIONS)(function)  # type: ignore[no-any-return]


def recursive_kernel(*arguments: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Mark a self-recursive kernel, which returns int64 and takes records (dtypes) or int64s.

    Numba cannot infer its type from its callers, so ``arguments`` gives it: for each a record
    dtype or ``int``.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        dispatcher = kernel(function)
        if not numba.config.DISABLE_JIT:
            kinds = [types.int64 if a is int else numba.from_dtype(a) for a in arguments]
            SIGNED.append((dispatcher, types.int64(*kinds)))
        return dispatcher

    return decorate


def export(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a C entry point, which takes only addresses and int64s and returns an int64.

    A parameter annotated with a record dtype is the address of such a record; a name ending in
    ``_p`` is any other address; all others are int64. Uncompiled, the function takes addresses,
    too.
    """
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    notes = [function.__annotations__.get(name, name.endswith("_p")) for name in names]
    kinds = [function.__globals__.get(note, bytes if note else int) for note in notes]
    return _add(function.__name__, kernel(function), kinds)


def export_kernel(name: str, function: Callable[..., Any], *arguments: Any) -> None:
    """Export a kernel to C under a name; each argument is a record dtype or ``int``.

    The result is the kernel's, an int64 or a boolean, or 0 if it returns None.
    """
    _add(name, function, arguments)


def _add(name: str, function: Callable[..., Any], kinds: Sequence[Any]) -> Callable[..., Any]:
    """Register an entry point; ``kinds``: dtypes, ``bytes`` for an address, or ``int``."""
    if numba.config.DISABLE_JIT:

        def call_export(*arguments: Any) -> int:
            pairs = zip(arguments, kinds, strict=True)
            found = [a if k in (int, bytes) else numba.carray(a, (1,), k)[0] for a, k in pairs]
            return int(function(*found) or 0)

        EXPORTS[name] = call_export, ()
        return call_export
    simple = {int: types.int64, bytes: types.voidptr}
    signature = tuple(simple[k] if k in simple else numba.from_dtype(k) for k in kinds)
    EXPORTS[name] = function, signature
    return function
