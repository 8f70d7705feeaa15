"""From the kernels' LLVM module to object files: platform-specific parts and LLVM's optimiser.

Nothing in the module depends on the platform until ``emit``, so one run of numba (``front``)
serves all targets and levels.
"""

from __future__ import annotations

import os
import re
from typing import Any

import llvmlite.binding as llvm

from ...errors import BuildError
from ..load.targets import Target

RUNTIME_SYMBOLS = {"memset", "memcpy", "memmove"}  # provided by any C library
FLOATING = re.compile(r"(^|[\s,<(])(double|float|half|x86_fp80|fp128)([\s,>)]|$)")
# For each level: the int16 lanes of a register, and LLVM's name of the instruction that multiplies
# two registers and adds the products in pairs, which LLVM does not always find by itself.
SSE2, AVX2 = (8, "llvm.x86.sse2.pmadd.wd"), (16, "llvm.x86.avx2.pmadd.wd")
INSTRUCTIONS = {"v2": SSE2, "v3": AVX2, "v4": AVX2, "simd128": (8, "llvm.wasm.dot")}
# LLVM's default is 250; this gives 50 % more pairs and 4 % more nodes per second.
INLINING_THRESHOLD = 2000


def parse_file(name: str) -> Any:
    """Parse a file of LLVM code in this folder."""
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
        return llvm.parse_assembly(file.read())


def _pair_sums(level: str) -> Any:
    """Return the module of ``numoku_pair_sums``, the inner loop of the network's layers.

    Its rows of 32 int16 are split into parts of one register, and the results joined again.
    """
    if level not in INSTRUCTIONS:
        return parse_file("pair_sums.ll")
    lanes, name = INSTRUCTIONS[level]
    row, part, half = "<32 x i16>", f"<{lanes} x i16>", f"<{lanes // 2} x i32>"
    lines = [f"define <16 x i32> @numoku_pair_sums({row} %a, {row} %b) alwaysinline {{"]
    whole = "poison"
    for at in range(0, 32, lanes):
        lines += [f"%{r}{at} = call {part} @llvm.vector.extract.v{lanes}i16.v32i16({row} %{r}, "
                  f"i64 {at})" for r in "ab"]  # fmt: skip
        lines += [f"%p{at} = call {half} @{name}({part} %a{at}, {part} %b{at})",
                  f"%s{at} = call <16 x i32> @llvm.vector.insert.v16i32.v{lanes // 2}i32("
                  f"<16 x i32> {whole}, {half} %p{at}, i64 {at // 2})"]  # fmt: skip
        whole = f"%s{at}"
    return llvm.parse_assembly("\n".join([*lines, f"ret <16 x i32> {whole}", "}"]))


def _optimise(module: Any, machine: Any) -> None:
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = True
    options.slp_vectorization = True
    options.loop_unrolling = True
    options.inlining_threshold = INLINING_THRESHOLD
    builder = llvm.create_pass_builder(machine, options)
    passes = builder.getModulePassManager()
    passes.add_global_dead_code_eliminate_pass()
    passes.add_strip_dead_prototype_pass()
    passes.run(module, builder)
    module.verify()


def _check_module(module: Any) -> None:
    """Raise BuildError if a module needs a runtime or uses floating point."""
    missing = {function.name for function in module.functions if function.is_declaration}
    foreign = [n for n in sorted(missing - RUNTIME_SYMBOLS) if not n.startswith("llvm.")]
    if foreign:
        raise BuildError(f"the kernel calls what no library here provides: {', '.join(foreign)}")
    lines = (line.partition(";")[0].strip() for line in str(module).splitlines())
    floating = [line for line in lines if FLOATING.search(line)]
    if floating:
        raise BuildError("the kernel computes with floating point:\n" + "\n".join(floating[:10]))


def target_machine(target: Target, level: str) -> Any:
    """Return LLVM's code generator for a platform and level."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    llvm.initialize_native_asmparser()  # for the inline assembly of cpuid.ll
    features = f"+{level},+bulk-memory" if target.is_wasm else ""
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpus[level], features=features, opt=3, reloc="pic", codemodel="default"
    )


def emit(module: Any, target: Target, level: str, about: str) -> tuple[bytes, Any]:
    """Return the object file of a linked module for a platform, and its optimised module.

    ``about``: the text returned by its function ``numoku_about``.

    Raises:
        BuildError: the module needs a runtime or uses floating point.
    """
    machine = target_machine(target, level)
    module = module.clone()
    module.triple = target.triple
    module.data_layout = str(machine.target_data)
    data = about.encode() + b"\0"
    escaped = "".join(f"\\{byte:02x}" for byte in data)
    module.link_in(
        llvm.parse_assembly(
            f'@numoku_text = internal constant [{len(data)} x i8] c"{escaped}"\n'
            "define ptr @numoku_about() { ret ptr @numoku_text }\n"
        )
    )
    if target.triple.startswith("x86_64"):
        module.link_in(parse_file("cpuid.ll"))
    poll = parse_file("poll.ll" if target.is_wasm else "no_poll.ll")
    own = {"numoku_pair_sums": _pair_sums(level), "numoku_poll": poll}
    for name in own.keys() & {function.name for function in module.functions}:
        module.link_in(own[name])
        module.get_function(name).linkage = "internal"
    if target.suffix == ".dll":
        for function in module.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.external:
                function.storage_class = "dllexport"
        module.link_in(parse_file("windows.ll"))
    _optimise(module, machine)
    _check_module(module)
    return machine.emit_object(module), module
