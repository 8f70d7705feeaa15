"""Which level of the x86-64 instruction set a processor reaches, from its CPUID bits."""

from __future__ import annotations

from collections.abc import Callable

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
