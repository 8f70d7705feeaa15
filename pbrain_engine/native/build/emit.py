"""The child process of a build: compile a module of exports and write the object files.

Called as ``python -m pbrain_engine.native.build.emit EXPORTS DIGEST [TARGET LEVEL FILE]...``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

import numba
from numba import types

from ... import kernel
from ..load.targets import TARGETS
from . import lower


def parameters(signature: Any) -> str:
    """Return a letter for each parameter: p for an address, i for an integer."""
    return "".join("p" if kind == types.voidptr else "i" for kind in signature.args)


def about_text(results: list[tuple[str, Any]], **facts: str) -> str:
    """Return the description that the library carries, read back by ``native.library``."""
    facts["numba"] = numba.__version__
    facts["asserts"] = str(int(__debug__))
    facts["bounds"] = str(int(kernel.BOUNDS_CHECK))
    facts["exports"] = " ".join(f"{name}:{parameters(r.signature)}" for name, r in results)
    return "".join(f"{name}={value}\n" for name, value in facts.items())


def main(arguments: Sequence[str]) -> int:
    """Write one object file for each target and level; return the exit status."""
    exports, digest, *outputs = arguments
    clock = time.perf_counter()

    def stage(text: str) -> None:
        nonlocal clock
        now = time.perf_counter()
        print(f"  {now - clock:5.1f} s  {text}", file=sys.stderr, flush=True)
        clock = now

    results = lower.compile_exports(exports)
    stage(f"compiled {len(results)} exported functions")
    module = lower.link_exports(results)
    for name, level, path in zip(outputs[::3], outputs[1::3], outputs[2::3], strict=True):
        target = TARGETS[name]
        about = about_text(results, target=target.name, level=level, digest=digest)
        try:
            code, _ = lower.emit(module, target, level, about)
        except lower.KernelDefect as defect:
            print(f"error: {defect}", file=sys.stderr)
            return 1
        with open(path, "wb") as file:
            file.write(code)
        stage(f"optimised for {target.name} {level}, {len(code):,} bytes of object code")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
