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
from .pairs import pair_sums

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


class KernelDefect(Exception):
    """The kernels compile, but to something that must not be shipped."""


def keep_llvm_code_only() -> None:
    """Make numba stop at the LLVM code of a function: no optimising, no machine code."""

    def finalize(library: Any) -> None:
        library._raise_if_finalized()
        library._finalized = True

    def leave(*_: Any) -> None:
        pass

    def no_address(library: Any, name: str) -> int:
        return 0

    replace_method(JITCodeLibrary, "finalize", finalize)
    replace_method(JITCodeLibrary, "_optimize_functions", leave)
    replace_method(JITCodeLibrary, "get_pointer_to_function", no_address)
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
    for name, function, signature in kernel.EXPORTS.values():
        function.compile(signature)
        results.append((name, function.overloads[signature.args]))
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
    """Return one module of all that the exports reach, with the exports under their names."""
    whole = llvm.parse_assembly(NO_REFERENCE_COUNTS)
    for library in _libraries(results):
        whole.link_in(library._final_module, preserve=True)
    exported = {result.fndesc.llvm_func_name: name for name, result in results}
    for value in [*whole.functions, *whole.global_variables]:
        if value.is_declaration:
            continue
        if value.name in exported:
            value.linkage = "external"
            value.name = exported[value.name]
        else:
            value.linkage = "internal"
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
