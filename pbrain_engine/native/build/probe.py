"""Ask this processor for its instruction set level before any kernel exists."""

from __future__ import annotations

import ctypes
import os

import llvmlite.binding as llvm

from ..load.cpu import x86_level


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
