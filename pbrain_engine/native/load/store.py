"""The kernels that there can be: their platforms, levels and folders, and the sources' digest.

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
from collections.abc import Callable, Iterator
from typing import NamedTuple

PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COMPILER = "numba 0.68"  # pinned in pyproject.toml; part of the digest

KERNEL_FOLDERS = ("kernel", "position", "patterns", "eval", "search", "native/build")
LOADING_FILE = "native/load/store.py"
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
    yield LOADING_FILE


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


# Platforms and levels -------------------------------------------------------------------

# For each architecture its instruction set levels, each including the one before, with LLVM's name
# of a representative processor.
LEVELS = {
    "x86_64": {"v2": "x86-64-v2", "v3": "x86-64-v3", "v4": "x86-64-v4"},
    "aarch64": {"v8": "generic"},
    "arm64": {"v8": "apple-m1"},
    "wasm32": {"simd128": "generic"},
}


class Target(NamedTuple):
    """A platform: its names here, for LLVM and for the linker, and its library files."""

    name: str
    triple: str
    zig: str  # with the oldest glibc supported; empty: LLVM's linker
    suffix: str

    @property
    def is_wasm(self) -> bool:
        """Whether this is Pyodide's in a browser: one thread, 32 bits."""
        return self.name == "wasm32"

    @property
    def cpus(self) -> dict[str, str]:
        """LLVM's representative processors by level."""
        return LEVELS[self.triple.partition("-")[0]]

    @property
    def levels(self) -> tuple[str, ...]:
        """Its levels, lowest first."""
        return tuple(self.cpus)

    def file_name(self, level: str, variant: str = "") -> str:
        """Return the name of the library file; a variant is a build with extra checks."""
        parts = ["numoku", self.name, level, variant]
        return "-".join(part for part in parts if part) + self.suffix


TARGETS = {
    target.name: target
    for target in (
        Target("linux-x86_64", "x86_64-unknown-linux-gnu", "x86_64-linux-gnu.2.17", ".so"),
        Target("linux-aarch64", "aarch64-unknown-linux-gnu", "aarch64-linux-gnu.2.17", ".so"),
        Target("windows-x86_64", "x86_64-pc-windows-gnu", "x86_64-windows-gnu", ".dll"),
        Target("macos-x86_64", "x86_64-apple-macosx11.0.0", "x86_64-macos.11.0", ".dylib"),
        Target("macos-arm64", "arm64-apple-macosx11.0.0", "aarch64-macos.11.0", ".dylib"),
        Target("wasm32", "wasm32-unknown-emscripten", "", ".wasm"),
    )
}


def machine() -> str:
    """Return the architecture that this process is built for.

    On Windows it is taken from the interpreter's version, which ends like ``64 bit (AMD64)]``, as a
    manager may start programs without environment variables.
    """
    if sys.platform == "win32":
        name = sys.version.rpartition("(")[2].rstrip(")]").lower()
    else:
        name = os.uname().machine.lower()
    return "x86_64" if name == "amd64" else name


def host_target() -> Target | None:
    """Return the platform of this process, or None if no kernel can be built for it."""
    if sys.platform == "emscripten":
        return TARGETS["wasm32"]
    if sys.maxsize < 2**32:
        return None
    systems = {"linux": "linux", "darwin": "macos", "win32": "windows"}
    system = systems.get(sys.platform, sys.platform)
    return TARGETS.get(f"{system}-{machine()}")


Cpuid = Callable[[int, int], tuple[int, int, int, int]]  # (leaf, subleaf) -> eax, ebx, ecx, edx
Bit = tuple[int, int, int]  # leaf, register (eax = 0 ...), bit number

EBX, ECX = 1, 2
EXTENDED = 0x8000_0000  # the first extended leaf
OSXSAVE = (1, ECX, 27)

# The features required by the x86-64 psABI's microarchitecture levels, by LLVM's names.
FEATURES: dict[str, dict[str, Bit]] = {
    "v2": {
        "sse3": (1, ECX, 0), "ssse3": (1, ECX, 9), "cx16": (1, ECX, 13), "sse4.1": (1, ECX, 19),
        "sse4.2": (1, ECX, 20), "popcnt": (1, ECX, 23), "sahf": (EXTENDED + 1, ECX, 0),
    },
    "v3": {
        "xsave": OSXSAVE, "fma": (1, ECX, 12), "movbe": (1, ECX, 22), "avx": (1, ECX, 28),
        "f16c": (1, ECX, 29), "bmi": (7, EBX, 3), "avx2": (7, EBX, 5), "bmi2": (7, EBX, 8),
        "lzcnt": (EXTENDED + 1, ECX, 5),
    },
    "v4": {
        "avx512f": (7, EBX, 16), "avx512dq": (7, EBX, 17), "avx512cd": (7, EBX, 28),
        "avx512bw": (7, EBX, 30), "avx512vl": (7, EBX, 31),
    },
}  # fmt: skip
# State that the operating system must save on a task switch: XMM and YMM, then also ZMM and masks.
SAVED_STATE = {"v2": 0x00, "v3": 0x06, "v4": 0xE6}


def x86_level(cpuid: Cpuid, xgetbv: Callable[[], int]) -> str | None:
    """Return the highest level that the processor and its operating system support."""

    def has(feature: Bit) -> bool:
        leaf, register, bit = feature
        return leaf <= cpuid(leaf & EXTENDED, 0)[0] and bool(cpuid(leaf, 0)[register] >> bit & 1)

    saved = xgetbv() if has(OSXSAVE) else 0
    reached = None
    for level, features in FEATURES.items():
        wanted = SAVED_STATE[level]
        if saved & wanted != wanted or not all(map(has, features.values())):
            break
        reached = level
    return reached
