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
from collections.abc import Iterator
from typing import Any

import llvmlite.binding as llvm
from numba.core import types
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.np import arrayobj

from ... import kernel
from ..load.targets import Target

# Numba counts references to memory it owns; a kernel's memory is the caller's, so there is
# nothing to count. Anything that would allocate stays an undefined symbol and is refused.
NO_REFERENCE_COUNTS = """
define void @NRT_incref(ptr %memory) alwaysinline { ret void }
define void @NRT_decref(ptr %memory) alwaysinline { ret void }
"""
# Where there are threads, another one stops a search (``bits.breathe``).
NO_BREATH = "define i64 @numoku_breathe(i64 %steps) alwaysinline { ret i64 0 }"
RUNTIME_SYMBOLS = ("memset", "memcpy", "memmove")  # what any C library provides
# LLVM's own default is 250; this makes half as many pairs again and 4 % more nodes a second.
INLINING_THRESHOLD = 2000

# ``numoku_pair_sums`` multiplies two rows of 32 int16 and adds the products in pairs: the one
# instruction that LLVM does not find by itself, on which the layers of the network live. x86-64 has
# ``pmaddwd`` for it and WebAssembly ``i32x4.dot_i16x8_s``; elsewhere it is plain LLVM code.
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


class KernelDefect(Exception):
    """The kernels compile, but to something that must not be shipped."""


def keep_llvm_code_only() -> None:
    """Make numba stop at the LLVM code of a function: no optimising, no machine code."""

    def finalize(library: Any) -> None:
        library._raise_if_finalized()
        library._finalized = True

    def leave(*_: Any) -> None:
        pass

    replace_method(JITCodeLibrary, "finalize", finalize)
    replace_method(JITCodeLibrary, "_optimize_functions", leave)
    replace_method(JITCodeLibrary, "get_pointer_to_function", lambda library, name: 0)
    replace_method(JITCPUCodegen, "set_env", leave)


def take_indices_as_they_are() -> None:
    """Make numba drop the rule that a negative index counts from the end.

    Kernels have no such index (a checked build would refuse it), and the test before every
    access cost 10 % of the nodes and 20 % of the pairs a second.
    """

    def index(context: Any, builder: Any, kind: Any, value: Any, length: Any) -> Any:
        return context.cast(builder, value, kind, types.intp if kind.signed else types.uintp)

    replace_method(arrayobj, "fix_integer_index", index)


def replace_method(owner: Any, name: str, method: Any) -> None:
    """Put our own in the place of a part of numba.

    Raises:
        KernelDefect: numba has no such part.
    """
    if not hasattr(owner, name):
        raise KernelDefect(f"numba's {owner.__name__} has no {name}: another version?")
    setattr(owner, name, method)


def compile_exports(module: str) -> list[tuple[str, Any]]:
    """Import a module of exports and return each one's name and numba's compile result."""
    importlib.import_module(module)
    keep_llvm_code_only()
    take_indices_as_they_are()
    dispatcher: Any
    function: Any
    for dispatcher, signature in kernel.SIGNED:
        dispatcher.compile(signature)
        dispatcher.disable_compile()  # a literal argument would make another specialisation
    results = []
    for name, function, arguments in kernel.EXPORTS.values():
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
    whole = llvm.parse_assembly(NO_REFERENCE_COUNTS)
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


def add_description(module: Any, text: str, target: Target) -> None:
    """Add ``numoku_about``, which returns a text, and on x86-64 the CPUID helper."""
    data = text.encode() + b"\0"
    escaped = "".join(f"\\{byte:02x}" for byte in data)
    module.link_in(
        llvm.parse_assembly(
            f'@numoku_text = internal constant [{len(data)} x i8] c"{escaped}"\n'
            "define ptr @numoku_about() { ret ptr @numoku_text }\n"
        )
    )
    if target.triple.startswith("x86_64"):
        module.link_in(parse_file("cpuid.ll"))


def add_own_ways(module: Any, target: Target, level: str) -> None:
    """Define what each platform does in its own way, as far as it is used."""
    used = {function.name for function in module.functions}
    breath = parse_file("breath.ll") if target.is_wasm else llvm.parse_assembly(NO_BREATH)
    ways = {"numoku_pair_sums": llvm.parse_assembly(pair_sums(level)), "numoku_breathe": breath}
    for name in used.intersection(ways):
        module.link_in(ways[name])
        module.get_function(name).linkage = "internal"


def _mask(places: range) -> str:
    return f"<{len(places)} x i32> <{', '.join(f'i32 {place}' for place in places)}>"


def pair_sums(level: str) -> str:
    """Return the LLVM code of the function for a level.

    The rows are cut in parts of one register, and the results put together again.
    """
    if level not in INSTRUCTIONS:
        return _plain_sums()
    lanes, name = INSTRUCTIONS[level]
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


def _plain_sums() -> str:
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


def optimise(module: Any, machine: Any) -> None:
    """Run LLVM's full pipeline for a machine over the linked module and drop dead code."""
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


def check_module(module: Any) -> None:
    """Refuse a module that needs a runtime or computes with floating point.

    Raises:
        KernelDefect: with the symbols or the lines at fault.
    """
    missing = {function.name for function in module.functions if function.is_declaration}
    foreign = sorted(
        name for name in missing.difference(RUNTIME_SYMBOLS) if not name.startswith("llvm.")
    )
    if foreign:
        raise KernelDefect(f"the kernel calls what no library here provides: {', '.join(foreign)}")
    floating = floating_point_lines(str(module))
    if floating:
        raise KernelDefect("the kernel computes with floating point:\n" + "\n".join(floating[:10]))


def floating_point_lines(text: str) -> list[str]:
    """Return the lines of LLVM code that mention a floating point type."""
    words = ("double", "float", "half", "x86_fp80", "fp128")
    lines = []
    for line in text.splitlines():
        tokens = line.split(";")[0].replace(",", " ").replace(">", " ").replace("<", " ").split()
        if any(word in tokens for word in words):
            lines.append(line.strip())
    return lines


def target_machine(target: Target, level: str) -> Any:
    """Return LLVM's code generator for a platform and level."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    llvm.initialize_native_asmparser()  # for the inline assembly of cpuid.ll
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu(level),
        features=target.features(level),
        opt=3,
        reloc="pic",
        codemodel="default",
    )


def emit(module: Any, target: Target, level: str, about: str) -> tuple[bytes, Any]:
    """Return the object file of a linked module for a platform, and its optimised module."""
    machine = target_machine(target, level)
    module = module.clone()
    module.triple = target.triple
    module.data_layout = str(machine.target_data)
    add_description(module, about, target)
    add_own_ways(module, target, level)
    if target.suffix == ".dll":
        for function in module.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.external:
                function.storage_class = "dllexport"
        module.link_in(parse_file("windows.ll"))
    optimise(module, machine)
    check_module(module)
    return machine.emit_object(module), module
