"""Locations of compiled kernels, and the digest of their sources.

A shipped folder, ``native/lib``, contains the libraries and a file ``SHIPPED``, and is trusted
without a check. The cache has a folder for each digest, so that a kernel of other sources is never
used and several revisions can coexist.

The digest hashes the contents of everything that determines the machine code: the kernel's modules,
the part of ``native`` that compiles them, and the version of the compiler. It is computed at every
start of a source checkout, so ``pathlib`` and ``hashlib`` (10 ms) are avoided.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COMPILER = "numba 0.68"  # pinned in pyproject.toml; part of the digest

KERNEL_FOLDERS = ("kernel", "position", "patterns", "eval", "search", "native/build")
LOADING_FILES = ("native/load/store.py", "native/load/targets.py")
SHIPPED_FOLDER = os.path.join(PACKAGE, "native", "lib")
SHIPPED_MARK = "SHIPPED"


def _modules(package: str, folder: str) -> Iterator[str]:
    """Yield the sources in a folder and its subfolders: Python and LLVM code."""
    for name in sorted(os.listdir(os.path.join(package, folder))):
        place = f"{folder}/{name}"
        if name.endswith((".py", ".ll")):
            yield place
        elif name != "__pycache__" and os.path.isdir(os.path.join(package, place)):
            yield from _modules(package, place)


def sources(package: str = PACKAGE) -> Iterator[str]:
    """Yield the source files of the kernel, relative to the package, in a fixed order."""
    yield "values.py"
    for folder in KERNEL_FOLDERS:
        yield from _modules(package, folder)
    for place in _modules(package, "native"):
        if place.startswith("native/exports"):
            yield place
    yield from LOADING_FILES


def digest(package: str = PACKAGE) -> str:
    """Return the digest of the kernel's sources, in about 2 ms; OSError if they are missing."""
    from _blake2 import blake2b

    state = blake2b(COMPILER.encode(), digest_size=10)
    for name in sources(package):
        with open(os.path.join(package, name), "rb") as file:
            text = file.read().replace(b"\r\n", b"\n")
        state.update(f"\n{name} {len(text)}\n".encode())
        state.update(text)
    return str(state.hexdigest())


def is_shipped() -> bool:
    """Return whether the package was shipped with kernels, which are used regardless of sources."""
    return os.path.exists(os.path.join(SHIPPED_FOLDER, SHIPPED_MARK))


def is_checkout() -> bool:
    """Return whether the package is in a source checkout, with the targets of ``make``."""
    return os.path.exists(os.path.join(os.path.dirname(PACKAGE), "Makefile"))


def cache_root() -> str:
    """Return the folder of all cached kernels.

    ``NUMOKU_CACHE`` overrides it; else a source checkout has its own (like test and type checkers),
    and an installed package uses the user's cache.
    """
    chosen = os.environ.get("NUMOKU_CACHE")
    if chosen:
        return chosen
    checkout = os.path.dirname(PACKAGE)
    if os.path.exists(os.path.join(checkout, "pyproject.toml")):
        own = os.path.join(checkout, ".kernels")
        # Others use what the owner has compiled, as they cannot write there.
        if os.access(checkout, os.W_OK) or os.path.exists(os.path.join(own, digest())):
            return own
    home = os.path.expanduser("~")
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    elif sys.platform == "darwin":
        base = os.path.join(home, "Library", "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache")
    return os.path.join(base, "numoku")


def kernel_folder() -> str:
    """Return the folder of the kernel for the current sources, existing or not."""
    return SHIPPED_FOLDER if is_shipped() else os.path.join(cache_root(), digest())
