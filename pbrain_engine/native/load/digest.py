"""Which sources a compiled kernel comes from, and the digest that tells when they changed.

Everything that shapes the machine code is hashed by content: the kernel's modules, the
part of ``native`` that compiles them, and the version of the compiler. This runs at every
start of a source checkout, so it does without ``pathlib`` and ``hashlib`` (10 ms).
"""

from __future__ import annotations

import os
from collections.abc import Iterator

PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COMPILER = "numba 0.68"  # pinned in pyproject.toml; a new one is a new digest

KERNEL_FOLDERS = ("kernel", "position", "patterns", "eval", "search", "native/build")
LOADING_FILES = ("native/load/digest.py", "native/load/targets.py")


def _modules(package: str, folder: str) -> Iterator[str]:
    """Yield the sources in a folder and those below it: Python, and LLVM's language."""
    for name in sorted(os.listdir(os.path.join(package, folder))):
        place = f"{folder}/{name}"
        if name.endswith((".py", ".ll")):
            yield place
        elif name != "__pycache__" and os.path.isdir(os.path.join(package, place)):
            yield from _modules(package, place)


def sources(package: str = PACKAGE) -> Iterator[str]:
    """Yield the files that a kernel is made from, relative to the package, in a fixed order."""
    yield "values.py"
    for folder in KERNEL_FOLDERS:
        yield from _modules(package, folder)
    for place in _modules(package, "native"):
        if place.startswith("native/exports"):
            yield place
    yield from LOADING_FILES


def digest(package: str = PACKAGE) -> str:
    """Return the digest of the kernel's sources, about 2 ms of work without numba.

    Raises:
        OSError: the sources are not there.
    """
    from _blake2 import blake2b

    state = blake2b(COMPILER.encode(), digest_size=10)
    for name in sources(package):
        with open(os.path.join(package, name), "rb") as file:
            text = file.read().replace(b"\r\n", b"\n")
        state.update(f"\n{name} {len(text)}\n".encode())
        state.update(text)
    return str(state.hexdigest())
