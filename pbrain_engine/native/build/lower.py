"""Kernels to object files: numba's front end, one linked LLVM module, LLVM's optimiser.

Numba is used up to its LLVM code only. Its own optimiser and code generator would work on
every function again for each of its callers; here every function is optimised once, in one
module where all but the exports are internal. Nothing in the code depends on the platform
until ``emit``, so one front-end run serves all targets and levels.

All of this is private API of numba, hence the pinned version and the canary test.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Iterator
from typing import Any

import llvmlite.binding as llvm
from numba.core import types
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.np import arrayobj

from ... import kernel
from ..load.targets import Target

RUNTIME_SYMBOLS = {"memset", "memcpy", "memmove"}  # what any C library provides
FLOATING = re.compile(r"(^|[\s,<(])(double|float|half|x86_fp80|fp128)([\s,>)]|$)")
# Of each level: the int16 of a register, and LLVM's name of the instruction that multiplies two of
# them and adds the products in pairs, of which LLVM does not always think by itself.
AVX2 = 16, "llvm.x86.avx2.pmadd.wd"
INSTRUCTIONS = {
    "v2": (8, "llvm.x86.sse2.pmadd.wd"),
    "v3": AVX2,
    "v4": AVX2,
    "simd128": (8, "llvm.wasm.dot"),
}
# LLVM's own default is 250; this makes half as many pairs again and 4 % more nodes a second.
INLINING_THRESHOLD = 2000


class KernelDefect(Exception):
    """The kernels compile, but to something that must not be shipped."""


def _finalize(library: Any) -> None:
    library._raise_if_finalized()
    library._finalized = True


def _take_index(context: Any, builder: Any, kind: Any, value: Any, length: Any) -> Any:
    """Take an index as it is, where numba would count a negative one from the end.

    Kernels have no such index (a checked build would refuse it), and the test before every
    access cost 10 % of the nodes and 20 % of the pairs a second.
    """
    return context.cast(builder, value, kind, types.intp if kind.signed else types.uintp)


# Parts of numba that ours take the place of: it stops at the LLVM code of a function.
_REPLACED = (
    (JITCodeLibrary, "finalize", _finalize),
    (JITCodeLibrary, "_optimize_functions", lambda *_: None),
    (JITCodeLibrary, "get_pointer_to_function", lambda library, name: 0),
    (JITCPUCodegen, "set_env", lambda *_: None),
    (arrayobj, "fix_integer_index", _take_index),
)


def compile_exports(module: str) -> list[tuple[str, Any]]:
    """Import a module of exports and return each one's name and numba's compile result."""
    importlib.import_module(module)
    for owner, name, method in _REPLACED:
        if not hasattr(owner, name):
            raise KernelDefect(f"numba's {owner} has no {name}: another version?")
        setattr(owner, name, method)
    dispatcher: Any
    function: Any
    for dispatcher, signature in kernel.SIGNED:
        dispatcher.compile(signature)
        dispatcher.disable_compile()  # a literal argument would make another specialisation
    results = []
    for name, (function, arguments) in kernel.EXPORTS.items():
        is_kernel = function.__name__ != name  # one that other kernels call, too
        function.compile(arguments if is_kernel else types.int64(*arguments))
        result = function.overloads[arguments]
        kind = result.signature.return_type
        if is_kernel and kind not in (types.int64, types.boolean, types.none):
            raise KernelDefect(f"{name} returns {kind}")
        results.append((name, result))
    return results


def _libraries(results: list[tuple[str, Any]]) -> Iterator[Any]:
    """Yield the code library of each export and of everything it reaches, once."""
    waiting = [result.library for _, result in results]
    seen = set()
    while waiting:
        library = waiting.pop()
        if library in seen or library.name == "nrt":
            continue
        seen.add(library)
        yield library
        waiting.extend(library._linking_libraries)


def link_exports(results: list[tuple[str, Any]]) -> Any:
    """Return one module of all that the exports reach, with the exports under their names.

    An export that is a kernel is entered by a jump, so that its own code can be changed as that of
    any other kernel.
    """
    whole = parse_file("runtime.ll")
    for library in _libraries(results):
        whole.link_in(library._final_module, preserve=True)
    own = set()
    for name, result in results:
        function = whole.get_function(result.fndesc.llvm_func_name)
        own.add(name)
        if result.fndesc.qualname == name:
            function.name = name
            continue
        kinds = [str(argument.type) for argument in function.arguments]
        values = ", ".join(f"{kind} %{i}" for i, kind in enumerate(kinds))
        whole.link_in(
            llvm.parse_assembly(
                f'declare i32 @"{function.name}"({", ".join(kinds)})\n'
                f"define i32 @{name}({values}) {{\n"
                f'%status = call i32 @"{function.name}"({values})\nret i32 %status\n}}\n'
            )
        )
    for value in [*whole.functions, *whole.global_variables]:
        if not value.is_declaration:
            value.linkage = "external" if value.name in own else "internal"
    whole.verify()
    return whole


def parse_file(name: str) -> Any:
    """Return the module of a file of LLVM code in this folder."""
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
        return llvm.parse_assembly(file.read())


def _pair_sums(level: str) -> Any:
    """Return the module of ``numoku_pair_sums``, on which the layers of the network live.

    Its rows of 32 int16 are cut in parts of one register, and the results put together again.
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
    """Refuse a module that needs a runtime or computes with floating point."""
    missing = {function.name for function in module.functions if function.is_declaration}
    foreign = [n for n in sorted(missing - RUNTIME_SYMBOLS) if not n.startswith("llvm.")]
    if foreign:
        raise KernelDefect(f"the kernel calls what no library here provides: {', '.join(foreign)}")
    lines = (line.partition(";")[0].strip() for line in str(module).splitlines())
    floating = [line for line in lines if FLOATING.search(line)]
    if floating:
        raise KernelDefect("the kernel computes with floating point:\n" + "\n".join(floating[:10]))


def target_machine(target: Target, level: str) -> Any:
    """Return LLVM's code generator for a platform and level."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    llvm.initialize_native_asmparser()  # for the inline assembly of cpuid.ll
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpus[level],
        features=f"+{level},+bulk-memory" if target.is_wasm else "",
        opt=3,
        reloc="pic",
        codemodel="default",
    )


def emit(module: Any, target: Target, level: str, about: str) -> tuple[bytes, Any]:
    """Return the object file of a linked module for a platform, and its optimised module.

    ``about``: the text that its function ``numoku_about`` returns.

    Raises:
        KernelDefect: the module is not to be shipped.
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
    breath = parse_file("breath.ll" if target.is_wasm else "no_breath.ll")
    own = {"numoku_pair_sums": _pair_sums(level), "numoku_breathe": breath}
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
