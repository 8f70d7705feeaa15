"""What a kernel can be built for: platforms, levels, and the level that a processor reaches."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

X86_LEVELS = ("v2", "v3", "v4")  # x86-64-v2 .. v4, each contains the one before
ARM_LEVELS = ("v8",)
WASM_LEVELS = ("simd128",)


class Target:
    """A platform: its name here, for LLVM and for the linker, and its library files.

    A plain class: the engine imports this at its start, and ``typing`` takes 6 ms.
    """

    __slots__ = ("name", "triple", "zig", "suffix")

    def __init__(self, name: str, triple: str, zig: str, suffix: str) -> None:
        """Name a platform for people, for code generation and for linking."""
        self.name = name
        self.triple = triple
        self.zig = zig  # with the oldest glibc that the library may ask for; none: LLVM's linker
        self.suffix = suffix

    @property
    def levels(self) -> tuple[str, ...]:
        """The instruction set levels of this platform, lowest first."""
        if self.is_wasm:
            return WASM_LEVELS
        return X86_LEVELS if self.triple.startswith("x86_64") else ARM_LEVELS

    @property
    def is_wasm(self) -> bool:
        """Whether it is WebAssembly, as Pyodide runs it in a browser: one thread, 32 bits."""
        return self.triple.startswith("wasm32")

    def cpu(self, level: str) -> str:
        """Return LLVM's name of the processor that a level stands for."""
        if level not in self.levels:
            raise ValueError(f"{self.name} has no level {level}, only {', '.join(self.levels)}")
        if level in X86_LEVELS:
            return f"x86-64-{level}"
        return "apple-m1" if self.name.startswith("macos") else "generic"

    def features(self, level: str) -> str:
        """Return what a level has beyond the processor that it is named after, for LLVM."""
        return f"+{level},+bulk-memory" if self.is_wasm else ""

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
    """Return the kind of processor that this process is made for.

    Windows names it in a variable of the environment, but a manager may start programs without
    one. There the interpreter tells, whose version ends with, say, ``64 bit (AMD64)]``.
    """
    if sys.platform == "win32":
        name = sys.version.rpartition("(")[2].rstrip(")]").lower()
    else:
        name = os.uname().machine.lower()
    return "x86_64" if name == "amd64" else name


def host_target() -> Target | None:
    """Return the platform of this process, or None where no kernel can be built for it."""
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
EXTENDED = 0x8000_0001
OSXSAVE = (1, ECX, 27)

# The x86-64 psABI's microarchitecture levels.
FEATURES = {
    "v2": (
        (1, ECX, 0),  # SSE3
        (1, ECX, 9),  # SSSE3
        (1, ECX, 13),  # CMPXCHG16B
        (1, ECX, 19),  # SSE4.1
        (1, ECX, 20),  # SSE4.2
        (1, ECX, 23),  # POPCNT
        (EXTENDED, ECX, 0),  # LAHF
    ),
    "v3": (
        OSXSAVE,
        (1, ECX, 12),  # FMA
        (1, ECX, 22),  # MOVBE
        (1, ECX, 28),  # AVX
        (1, ECX, 29),  # F16C
        (7, EBX, 3),  # BMI1
        (7, EBX, 5),  # AVX2
        (7, EBX, 8),  # BMI2
        (EXTENDED, ECX, 5),  # LZCNT
    ),
    "v4": (
        (7, EBX, 16),  # AVX512F
        (7, EBX, 17),  # AVX512DQ
        (7, EBX, 28),  # AVX512CD
        (7, EBX, 30),  # AVX512BW
        (7, EBX, 31),  # AVX512VL
    ),
}
# What the operating system has to save on a task switch: XMM and YMM, then also ZMM and masks.
SAVED_STATE = {"v2": 0x00, "v3": 0x06, "v4": 0xE6}


def x86_level(cpuid: Cpuid, xgetbv: Callable[[], int]) -> str | None:
    """Return the highest level that the processor and its operating system support."""
    highest = {0: cpuid(0, 0)[0], EXTENDED: cpuid(0x8000_0000, 0)[0]}

    def has(feature: Bit) -> bool:
        leaf, register, bit = feature
        if leaf > highest[EXTENDED if leaf >= EXTENDED else 0]:
            return False
        return bool(cpuid(leaf, 0)[register] >> bit & 1)

    saved = xgetbv() if has(OSXSAVE) else 0
    reached = None
    for level, features in FEATURES.items():
        wanted = SAVED_STATE[level]
        if saved & wanted != wanted or not all(map(has, features)):
            break
        reached = level
    return reached
