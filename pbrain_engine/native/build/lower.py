"""From the kernels' LLVM module to object files: platform-specific parts and LLVM's optimiser.

It is the child process of a build, called by ``compile`` as ``lower EXPORTS DIGEST KEPT FOLDER
[TARGET LEVEL]...``. Nothing in the module depends on the platform until ``emit``, so one run of
numba (``front``), which takes most of the time, serves all targets and levels: its output is kept
in the file KEPT. Levels are built in parallel.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import llvmlite.binding as llvm
import numba
from numba import types

from ... import kernel
from ...errors import BuildError
from ..load.store import TARGETS, Target
from .compile import Output, report
from .front import compile_exports, parse_file

RUNTIME_SYMBOLS = {"memset", "memcpy", "memmove"}  # provided by any C library
FLOATING = re.compile(r"(^|[\s,<(])(double|float|half|x86_fp80|fp128)([\s,>)]|$)")
# For each level: the int16 lanes of a register, and LLVM's name of the instruction that multiplies
# two registers and adds the products in pairs, which LLVM does not always find by itself.
SSE2, AVX2 = (8, "llvm.x86.sse2.pmadd.wd"), (16, "llvm.x86.avx2.pmadd.wd")
INSTRUCTIONS = {"v2": SSE2, "v3": AVX2, "v4": AVX2, "simd128": (8, "llvm.wasm.dot")}
# LLVM's default is 250; this gives 50 % more pairs and 4 % more nodes per second.
INLINING_THRESHOLD = 2000


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


def emit(module: Any, target: Target, level: str, about: str) -> tuple[bytes, Any]:
    """Return the object file of a linked module for a platform, and its optimised module.

    ``about``: the text returned by its function ``numoku_about``. BuildError if the module needs a
    runtime or uses floating point.
    """
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    llvm.initialize_native_asmparser()  # for the inline assembly of cpuid.ll
    features = f"+{level},+bulk-memory" if target.is_wasm else ""
    machine = llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpus[level], features=features, opt=3, reloc="pic", codemodel="default"
    )
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


def compile_front(exports: str, kept: str) -> None:
    """Write a library's description of its exports, and their linked module, to a file.

    Each export has its parameters: p for an address, i for an integer.
    """
    began = time.perf_counter()
    results, module = compile_exports(exports)
    kinds = {
        name: "".join("i" if kind == types.int64 else "p" for kind in result.signature.args)
        for name, result in results
    }
    facts = {
        "numba": numba.__version__,
        "asserts": int(__debug__),
        "bounds": int(kernel.BOUNDS_CHECK),
        "sizes": " ".join(f"{name}:{size}" for name, size in kernel.SIZES.items()),
        "exports": " ".join(f"{name}:{kind}" for name, kind in kinds.items()),
    }
    text = "".join(f"{name}={value}\n" for name, value in facts.items())
    with open(kept, "wb") as file:
        file.write(text.encode("ascii") + b"\0" + module.as_bitcode())
    report(f"compiled {len(results)} exported functions", began)


def write_object(kept: str, digest: str, folder: str, output: Output) -> None:
    """Write the object file of a library; BuildError if the module is not allowed."""
    began = time.perf_counter()
    with open(kept, "rb") as file:
        facts, _, bitcode = file.read().partition(b"\0")
    target, level = output
    about = f"target={target.name}\nlevel={level}\ndigest={digest}\n{facts.decode('ascii')}"
    code, _ = emit(llvm.parse_bitcode(bitcode), target, level, about)
    with open(output.object_file(folder), "wb") as file:
        file.write(code)
    size = f"{len(code):,} bytes of object code"
    report(f"optimised for {target.name} {level}, {size}", began)


def main(arguments: Sequence[str]) -> int:
    """Write one object file for each target and level; return the exit status."""
    exports, digest, kept, folder, *words = arguments
    outputs = [Output(TARGETS[n], level) for n, level in zip(words[::2], words[1::2], strict=True)]
    write = partial(write_object, kept, digest, folder)
    try:
        if not os.path.exists(kept):
            compile_front(exports, kept)
        if len(outputs) == 1:
            write(outputs[0])
        else:
            with ProcessPoolExecutor(min(os.cpu_count() or 1, len(outputs))) as pool:
                list(pool.map(write, outputs))
    except BuildError as defect:
        report(f"error: {defect}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
