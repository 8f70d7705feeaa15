"""The child process of a build: compile a module of exports and write the object files.

Called as ``emit EXPORTS DIGEST KEPT FOLDER [TARGET LEVEL]...`` by ``compile``.
Numba's output is the same for every platform and takes most of the time, so it is kept in the file
KEPT to build further levels. Levels are built in parallel.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import llvmlite.binding as llvm
import numba
from numba import types

from ... import kernel
from ...errors import BuildError
from ..load.targets import TARGETS
from . import front, lower
from .compile import Output, report


def describe_exports(results: list[tuple[str, Any]]) -> str:
    """Return a library's description of its exports, for ``native.load.library``.

    Each export has its parameters: p for an address, i for an integer.
    """
    exports = {
        name: "".join("i" if kind == types.int64 else "p" for kind in result.signature.args)
        for name, result in results
    }
    facts = {
        "numba": numba.__version__,
        "asserts": int(__debug__),
        "bounds": int(kernel.BOUNDS_CHECK),
        "sizes": " ".join(f"{name}:{size}" for name, size in kernel.SIZES.items()),
        "exports": " ".join(f"{name}:{kinds}" for name, kinds in exports.items()),
    }
    return "".join(f"{name}={value}\n" for name, value in facts.items())


def compile_front(exports: str, kept: str) -> None:
    """Write the description of the exports and their linked module to a file."""
    began = time.perf_counter()
    results, module = front.compile_exports(exports)
    with open(kept, "wb") as file:
        file.write(describe_exports(results).encode("ascii") + b"\0" + module.as_bitcode())
    report(f"compiled {len(results)} exported functions", began)


def write_object(kept: str, digest: str, folder: str, output: Output) -> None:
    """Write the object file of a library; BuildError if the module is not allowed."""
    began = time.perf_counter()
    with open(kept, "rb") as file:
        facts, _, bitcode = file.read().partition(b"\0")
    target, level = output
    about = f"target={target.name}\nlevel={level}\ndigest={digest}\n{facts.decode('ascii')}"
    code, _ = lower.emit(llvm.parse_bitcode(bitcode), target, level, about)
    with open(output.object_file(folder), "wb") as file:
        file.write(code)
    size = f"{len(code):,} bytes of object code"
    report(f"optimised for {target.name} {level}, {size}", began)


def main(arguments: Sequence[str]) -> int:
    """Write one object file for each target and level; return the exit status."""
    exports, digest, kept, folder, *words = arguments
    outputs = [Output(TARGETS[n], level) for n, level in zip(words[::2], words[1::2], strict=True)]
    write = partial(write_object, kept, digest, folder)
    try:
        if not os.path.exists(kept):
            compile_front(exports, kept)
        if len(outputs) == 1:
            write(outputs[0])
        else:
            with ProcessPoolExecutor(min(os.cpu_count() or 1, len(outputs))) as pool:
                list(pool.map(write, outputs))
    except BuildError as defect:
        report(f"error: {defect}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
