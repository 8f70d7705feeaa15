"""The child process of a build: compile a module of exports and write the object files.

Called as ``python -m pbrain_engine.native.build.emit EXPORTS DIGEST KEPT [TARGET LEVEL FILE]...``.
What numba makes of the exports is the same for every platform and takes most of the time, so it
is kept in the file KEPT for the builds of further levels. The cores share the levels.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numba
from numba import types

from ... import kernel
from ..load.targets import TARGETS
from . import lower

FAILED = 1


class ObjectFile(NamedTuple):
    """An object file that is to be written, for a platform and level."""

    target: str
    level: str
    path: str


def describe_exports(results: list[tuple[str, Any]]) -> str:
    """Return what every library tells of the exports, read back by ``native.load.library``.

    Of each its parameters: p for an address, i for an integer.
    """
    exports = {
        name: "".join("i" if kind == types.int64 else "p" for kind in result.signature.args)
        for name, result in results
    }
    facts = {
        "numba": numba.__version__,
        "asserts": str(int(__debug__)),
        "bounds": str(int(kernel.BOUNDS_CHECK)),
        "sizes": " ".join(f"{name}:{size}" for name, size in kernel.SIZES.items()),
        "exports": " ".join(f"{name}:{kinds}" for name, kinds in exports.items()),
    }
    return about_text(facts)


def about_text(facts: dict[str, str]) -> str:
    """Return facts as the text that a library carries."""
    return "".join(f"{name}={value}\n" for name, value in facts.items())


def report(began: float, text: str) -> None:
    """Show what was done, and the seconds that it took."""
    print(f"  {time.perf_counter() - began:5.1f} s  {text}", file=sys.stderr, flush=True)


def front_end(exports: str, kept: str) -> tuple[Any, str]:
    """Return the linked module of the exports and the facts about them, kept in a file.

    It is read back also when it was just written, so that the same bytes come of it each time.
    """
    began = time.perf_counter()
    if not os.path.exists(kept):
        results = lower.compile_exports(exports)
        module = lower.link_exports(results)
        with open(kept, "wb") as file:
            file.write(describe_exports(results).encode("ascii") + b"\0" + module.as_bitcode())
        report(began, f"compiled {len(results)} exported functions")
    with open(kept, "rb") as file:
        facts, _, code = file.read().partition(b"\0")
    return llvm.parse_bitcode(code), facts.decode("ascii")


def write_objects(module: Any, facts: str, digest: str, outputs: Sequence[ObjectFile]) -> int:
    """Write object files of a module; return an exit status."""
    for output in outputs:
        began = time.perf_counter()
        target = TARGETS[output.target]
        about = about_text({"target": target.name, "level": output.level, "digest": digest})
        try:
            code, _ = lower.emit(module, target, output.level, about + facts)
        except lower.KernelDefect as defect:
            print(f"error: {defect}", file=sys.stderr)
            return FAILED
        with open(output.path, "wb") as file:
            file.write(code)
        what = f"optimised for {target.name} {output.level}"
        report(began, f"{what}, {len(code):,} bytes of object code")
    return 0


def share_out(module: Any, facts: str, digest: str, outputs: Sequence[ObjectFile]) -> int:
    """Write object files in as many processes as there are cores; return an exit status."""
    cores = min(len(os.sched_getaffinity(0)), len(outputs))
    children = []
    for first in range(1, cores):
        child = os.fork()
        if child == 0:
            try:
                status = write_objects(module, facts, digest, outputs[first::cores])
            except BaseException:
                status = FAILED
                raise
            finally:
                os._exit(status)
        children.append(child)
    status = write_objects(module, facts, digest, outputs[::cores])
    for child in children:
        status |= os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status


def main(arguments: Sequence[str]) -> int:
    """Write one object file for each target and level; return the exit status."""
    exports, digest, kept, *words = arguments
    outputs = list(map(ObjectFile, words[::3], words[1::3], words[2::3]))
    module, facts = front_end(exports, kept)
    # Elsewhere a process that has threads, as LLVM may, must not be doubled.
    write = share_out if sys.platform == "linux" else write_objects
    return write(module, facts, digest, outputs)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
