"""Many mutants of kernels in one build, each chosen by a number (mutant schemata).

A function that has mutants gets a copy for each of them, and begins by asking which of them is
wanted: ``if is_mutant(17): return f_17(...)``. The number is a global variable of the library,
which the process that loads it sets as its environment tells. So types, literals and loops of a
mutant are those of its source, and a function that calls itself stays within its copy. Whoever
asks leaves a mark, so it can be seen which tests come to a mutant.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from lab.mutants.operators import PACKAGE, ROOT, Mutant, is_kernel

NUMBER = "NUMOKU_MUTANT"  # in the environment
VARIABLE, MARKS = "numoku_mutant", "numoku_reached"
SWITCH = "kernel/switch.py"  # a module that the copy of the package gets
SWITCH_SOURCE = f'''\
"""Whether the library is to be a mutant; what does not compile is named."""

import sys

from llvmlite import ir
from numba import types
from numba.core.dispatcher import _FunctionCompiler
from numba.extending import intrinsic

_compile = _FunctionCompiler._compile_core


def _compile_and_name(self, *arguments):
    try:
        return _compile(self, *arguments)
    except BaseException:
        print("in", self.py_func.__name__, file=sys.stderr)
        raise


_FunctionCompiler._compile_core = _compile_and_name
WORD, BYTE = ir.IntType(64), ir.IntType(8)


def find(builder, kind, name):
    """Return a variable that another module defines: a second one would stay as it begins."""
    known = builder.module.globals.get(name)
    return known or ir.GlobalVariable(builder.module, kind, name)


@intrinsic
def is_mutant(typing_context, number):
    def code(context, builder, signature, arguments):
        marks = find(builder, ir.ArrayType(BYTE, 1 << 16), "{MARKS}")
        wanted = builder.load(find(builder, WORD, "{VARIABLE}"))
        builder.store(BYTE(1), builder.gep(marks, [WORD(0), arguments[0]]))
        return builder.icmp_signed("==", wanted, arguments[0])

    return types.boolean(types.int64), code
'''
DEFINITIONS = f"""
@{VARIABLE} = global i64 0
@{MARKS} = global [65536 x i8] zeroinitializer
"""
HOOK = f"""
            ctypes.c_int64.in_dll(self._dll, "{VARIABLE}").value = int(
                os.environ.get("{NUMBER}", "0")
            )
            marks = (ctypes.c_char * 65536).in_dll(self._dll, "{MARKS}")
            type(self).reached = [*getattr(type(self), "reached", ()), marks]
"""


def plant(root: Path, mutants: Sequence[tuple[int, Mutant]]) -> None:
    """Write the mutants of these numbers, from 1 on, into the tree at ``root``."""
    package = root / PACKAGE
    (package / SWITCH).write_text(SWITCH_SOURCE)
    change(package / "native/load/library.py", "self._dll = ctypes.CDLL(path)\n", HOOK)
    own = f'    own |= {{"{VARIABLE}", "{MARKS}"}}\n'
    change(package / "native/build/front.py", "    own = set()\n", own)
    definitions = package / "native/build/runtime.ll"
    definitions.write_text(definitions.read_text(encoding="utf-8") + DEFINITIONS)
    files = defaultdict(list)
    for number, mutant in mutants:
        files[mutant.file].append((number, mutant))
    for file, found in files.items():
        (package / file).write_text(schema((ROOT / PACKAGE / file).read_bytes(), found))


def change(path: Path, text: str, new: str) -> None:
    """Put a text after another.

    Raises:
        ValueError: it is not there exactly once.
    """
    whole = path.read_text(encoding="utf-8")
    if whole.count(text) != 1:
        raise ValueError(f"{path.name} does not have this once: {text!r}")
    path.write_text(whole.replace(text, text + new.lstrip("\n")), encoding="utf-8")


def schema(text: bytes, mutants: Sequence[tuple[int, Mutant]]) -> str:
    """Return a source that has all these mutants of it."""
    functions = [
        node for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef) and is_kernel(node)
    ]  # fmt: skip
    lines = text.decode().splitlines(keepends=True)
    for node in sorted(functions, key=lambda node: -node.lineno):
        own = [(number, m) for number, m in mutants if m.function == node.name]
        if not own:
            continue
        names = ", ".join(argument.arg for argument in node.args.args)
        first = min(mark.lineno for mark in node.decorator_list) - 1
        copies, choices = [], []
        for number, mutant in own:
            changed = ast.parse(mutant.changed(text))
            (copy,) = [
                n for n in changed.body if isinstance(n, ast.FunctionDef) and n.name == node.name
            ]
            name = f"{node.name}_{number}"
            copy.name = name
            for part in ast.walk(copy):
                if isinstance(part, ast.Name) and part.id == node.name:
                    part.id = name
            copies.append(ast.unparse(copy).replace("@export\n", "@_kernel\n") + "\n\n\n")
            choices.append(f"    if _is_mutant({number}):\n        return {name}({names})\n")
        begin = node.body[0]
        is_text = isinstance(begin, ast.Expr) and isinstance(begin.value, ast.Constant)
        at = (begin.end_lineno or begin.lineno) if is_text else begin.lineno - 1
        lines[at:at] = choices
        lines[first:first] = copies
    tree = ast.parse("".join(lines))
    imports = [n for n in tree.body if isinstance(n, ast.ImportFrom) and n.module == "__future__"]
    at = imports[0].lineno if imports else 0
    lines[at:at] = [
        f"from {PACKAGE}.kernel import kernel as _kernel\n",
        f"from {PACKAGE}.kernel.switch import is_mutant as _is_mutant\n",
    ]
    return "".join(lines)
