"""Which sources a compiled kernel comes from, and the digest that tells when they changed.

Everything that shapes the machine code is hashed by content: the kernel's modules, the
part of ``native`` that compiles them, and the version of the compiler. This runs at every
start of a source checkout, so it does without ``pathlib`` and ``hashlib`` (10 ms).
"""

from __future__ import annotations

import os
from collections.abc import Iterator

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COMPILER = "numba 0.68"  # pinned in pyproject.toml; a new one is a new digest

KERNEL_FILES = ("bits.py", "kernel.py", "values.py")
KERNEL_FOLDERS = ("position", "patterns", "eval", "search")
NATIVE_FILES = (
    "cpuid.ll",
    "digest.py",
    "emit.py",
    "link.py",
    "lower.py",
    "targets.py",
    "windows.ll",
)


def _modules(package: str, folder: str, prefix: str = "") -> Iterator[str]:
    for name in sorted(os.listdir(os.path.join(package, folder))):
        if name.startswith(prefix) and name.endswith(".py"):
            yield f"{folder}/{name}"


def sources(package: str = PACKAGE) -> Iterator[str]:
    """Yield the files that a kernel is made from, relative to the package, in a fixed order."""
    yield from KERNEL_FILES
    for folder in KERNEL_FOLDERS:
        yield from _modules(package, folder)
    yield from _modules(package, "native", prefix="exports")
    for name in NATIVE_FILES:
        yield f"native/{name}"


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
