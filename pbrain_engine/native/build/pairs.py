"""The one instruction that LLVM does not find by itself, as LLVM code for a platform.

``numoku_pair_sums`` multiplies two rows of 32 int16 and adds the products in pairs. x86-64 has
``pmaddwd`` for it and WebAssembly ``i32x4.dot_i16x8_s``, on which the layers of the network live;
elsewhere it is plain LLVM code.
"""

from __future__ import annotations

import ctypes
import os

import llvmlite.binding as llvm

from ..load.targets import x86_level

LANES = 32
HEAD = "define <16 x i32> @numoku_pair_sums(<32 x i16> %a, <32 x i16> %b) alwaysinline {"
# Of each level: the int16 of a register, and LLVM's name of the instruction.
AVX2 = 16, "llvm.x86.avx2.pmadd.wd"
INSTRUCTIONS = {
    "v2": (8, "llvm.x86.sse2.pmadd.wd"),
    "v3": AVX2,
    "v4": AVX2,
    "simd128": (8, "llvm.wasm.dot"),
}


def pair_sums(level: str) -> str:
    """Return the LLVM code of the function for a level."""
    return _by_instruction(*INSTRUCTIONS[level]) if level in INSTRUCTIONS else _plain()


def _mask(places: range) -> str:
    return f"<{len(places)} x i32> <{', '.join(f'i32 {place}' for place in places)}>"


def _by_instruction(lanes: int, name: str) -> str:
    """Cut the rows in parts of one register, and put the results together again."""
    row, half = f"<{lanes} x i16>", f"<{lanes // 2} x i32>"
    lines = [f"declare {half} @{name}({row}, {row})", HEAD]
    parts = []
    for start in range(0, LANES, lanes):
        for which in "ab":
            cut = _mask(range(start, start + lanes))
            lines.append(
                f"%{which}{start} = shufflevector <32 x i16> %{which}, <32 x i16> poison, {cut}"
            )
        parts.append(f"%p{start}")
        lines.append(f"{parts[-1]} = call {half} @{name}({row} %a{start}, {row} %b{start})")
    length = lanes // 2
    while len(parts) > 1:
        kind, joined = f"<{length} x i32>", []
        for first, second in zip(parts[::2], parts[1::2], strict=True):
            joined.append(f"{first}j")
            both = _mask(range(2 * length))
            lines.append(f"{joined[-1]} = shufflevector {kind} {first}, {kind} {second}, {both}")
        parts, length = joined, 2 * length
    return "\n".join([*lines, f"ret <16 x i32> {parts[0]}", "}", ""])


def _plain() -> str:
    lines = [HEAD]
    for name, first in (("even", 0), ("odd", 1)):
        places = _mask(range(first, LANES, 2))
        for which in "ab":
            part = f"%{name}_{which}"
            lines += [
                f"{part} = shufflevector <32 x i16> %{which}, <32 x i16> poison, {places}",
                f"{part}_wide = sext <16 x i16> {part} to <16 x i32>",
            ]
        lines.append(f"%{name} = mul <16 x i32> %{name}_a_wide, %{name}_b_wide")
    return "\n".join([*lines, "%sum = add <16 x i32> %even, %odd", "ret <16 x i32> %sum", "}", ""])


def probe_level() -> str | None:
    """Return the x86-64 level of this processor, with ``cpuid.ll`` compiled in memory."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()
    with open(os.path.join(os.path.dirname(__file__), "cpuid.ll"), encoding="utf-8") as file:
        module = llvm.parse_assembly(file.read())
    machine = llvm.Target.from_default_triple().create_target_machine()
    with llvm.create_mcjit_compiler(module, machine) as engine:
        engine.finalize_object()
        cpuid_type = ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p)
        ask = cpuid_type(engine.get_function_address("numoku_cpuid"))
        xgetbv = ctypes.CFUNCTYPE(ctypes.c_uint32)(engine.get_function_address("numoku_xgetbv"))
        registers = (ctypes.c_uint32 * 4)()

        def cpuid(leaf: int, subleaf: int) -> tuple[int, int, int, int]:
            ask(leaf, subleaf, ctypes.addressof(registers))
            return registers[0], registers[1], registers[2], registers[3]

        return x86_level(cpuid, xgetbv)
