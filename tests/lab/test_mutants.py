"""Mutants are small changes that compile, and what no test notices is shown."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from unittest.mock import Mock

from lab.mutants import __main__ as runs
from lab.mutants import schemata
from lab.mutants.__main__ import COMPILED, EQUIVALENT, MOST, affordable, drawn, key_of
from lab.mutants.operators import PACKAGE, ROOT, mutants_of, sources
from lab.mutants.runner import Tree, copy_tree

KINDS = {"arguments", "statement", "bound", "sign", "branch", "comparison", "constant", "and/or",
         "not", "min/max"}  # fmt: skip


def test_mutants_of_every_kind_change_their_line_alone_and_compile() -> None:
    found = [m for file in sources() for m in mutants_of(file)]
    samples = {(mutant.kernel, mutant.kind): mutant for mutant in found}
    assert {*samples} == {(kernel, kind) for kernel in (False, True) for kind in KINDS}
    for mutant in samples.values():
        before = (ROOT / mutant.source).read_bytes()
        after = mutant.changed(before)
        assert shape(after) != shape(before), mutant
        assert before.splitlines()[: mutant.first - 1] == after.splitlines()[: mutant.first - 1]
    assert {*EQUIVALENT} <= {*map(key_of, found)}, "no longer equivalent"
    assert all((ROOT / "tests" / f"{name}.py").exists() for name in COMPILED)


@cache
def shape(text: bytes) -> str:
    """Return what Python reads in a text; it fails where that is no code."""
    return ast.dump(ast.parse(text))


def test_mutants_are_drawn_from_a_part_once_each_and_by_their_seed() -> None:
    for package in ("", "python", "kernels", "database", "search/threats", "cli"):
        assert len({*drawn(1, 12, package)}) == 12
    assert drawn(1, 9, "protocol") == drawn(1, 9, "protocol") != drawn(2, 9, "protocol")


def test_kernels_with_mutants_have_a_copy_of_the_function_for_each(tmp_path: Path) -> None:
    copy_tree(tmp_path)
    mutants = list(enumerate(drawn(3, 10, "kernels"), 1))
    schemata.plant(tmp_path, mutants)
    for number, mutant in mutants:
        copy = function((tmp_path / mutant.source).read_bytes(), f"{mutant.function}_{number}")
        text = (ROOT / mutant.source).read_bytes()
        changed = function(mutant.changed(text), mutant.function)
        name = rf"(?<!\.)\b{mutant.function}\b"  # a parameter may have the name of its function
        assert re.sub(name, f"{mutant.function}_{number}", changed) == copy
        assert copy != function(text, mutant.function)


def function(text: bytes, name: str) -> str:
    """Return the body of a function without its docstring, in one form."""
    (found,) = [
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef) and node.name == name
    ]
    return "\n".join(map(ast.unparse, found.body[ast.get_docstring(found) is not None :]))


TWO_KERNELS = """
from pbrain_engine.kernel import export, kernel
from pbrain_engine.kernel.switch import is_mutant

@kernel
def inner(number):
    return number + 1 if is_mutant(2) else number

@export
def outer(number):
    return inner(number) - 1 if is_mutant(1) else inner(number)
"""
COMPILE = """
from pbrain_engine.native.build import front
front.BATCH = 1  # forked processes write the code
print(front.compile_exports("pbrain_engine.two_kernels")[1])
"""


def test_what_has_a_part_in_the_kernels_gets_a_build_of_its_own(tmp_path, monkeypatch) -> None:
    mutants = {m.function: m for m in (*mutants_of("kernel/bits.py"), *mutants_of("values.py"))}
    assert runs.is_compiled_in(mutants["call"]) and "_prefetch" not in mutants
    assert not any(map(runs.is_compiled_in, mutants_of("native/load/store.py")))
    for builds in (False, True):
        tree, built = Tree(tmp_path / str(builds), builds), []
        monkeypatch.setattr(tree, "build", lambda built=built: built.append(1))
        tree.put(mutants["call"])
        assert len([*tree.kernels.iterdir()]) + len(built) == 2 and len(built) == builds


def test_a_mutant_that_the_compiler_refuses_without_its_name_is_found(monkeypatch) -> None:
    for count, wrong in ((1, 0), (5, 0), (5, 2), (6, 5)):
        build = lambda _, mutants: Mock(returncode=int((wrong, None) in mutants))  # noqa: B023, E731
        monkeypatch.setattr(runs, "build_with", build)
        assert runs.refused_one(None, [(number, None) for number in range(count)]) == wrong


def test_all_kernels_of_a_library_ask_the_same_variable(tmp_path: Path) -> None:
    copy_tree(tmp_path)
    schemata.plant(tmp_path, [])
    (tmp_path / PACKAGE / "two_kernels.py").write_text(TWO_KERNELS)
    code = subprocess.run(
        [sys.executable, "-c", COMPILE], cwd=tmp_path, env={**os.environ, "PYTHONPATH": "."},
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    for name in (schemata.VARIABLE, schemata.MARKS):
        (definition,) = re.findall(rf"^@{name}\S* = (.*)", code, re.MULTILINE)
        assert "internal" not in definition and "external" not in definition


def test_as_many_tests_are_run_as_there_is_time_for_and_slow_ones_last() -> None:
    seconds = {"b::1": 5.0, "c::2": 0.1, "b::3": 0.2, "a::4": 0.3, "d::5": MOST, "a::6": 1.0}
    chosen, total = affordable([*seconds], seconds)
    assert chosen == ["a::4", "b::3", "c::2", "b::1"] and total == MOST
    assert affordable(["d::5"], {"d::5": 2 * MOST}) == (["d::5"], MOST)


def test_a_fault_is_noticed_by_a_test_that_reaches_it_and_by_no_other(tmp_path: Path) -> None:
    (mutant,) = [m for m in mutants_of("values.py") if m.function == "chance" and m.new == " <= "]
    other = "tests/test_values.py::test_one_unit_of_the_scale_is_one_logistic_unit"
    sharp = "tests/test_values.py::test_chances_are_between_none_and_certain"
    tree = Tree(tmp_path)
    try:
        for test, state in ((other, "passed"), (sharp, "noticed")):
            tree.put(mutant)
            assert tree.run([test], 1.0).state == state
            tree.take_out(mutant)
            assert tree.run([test], 1.0).state == "passed"
    finally:
        tree.close()
