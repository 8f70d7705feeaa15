"""Mutants are small changes that compile, and what no test notices is shown."""

from __future__ import annotations

import ast
import re
from functools import cache

from lab.mutants import schemata
from lab.mutants.__main__ import COMPILED, EQUIVALENT, drawn, key_of
from lab.mutants.operators import ROOT, mutants_of, sources
from lab.mutants.runner import Tree, copy_tree

KINDS = {"arguments", "statement", "bound", "sign", "branch", "comparison", "constant", "and/or",
         "not", "min/max"}  # fmt: skip


def test_mutants_of_every_kind_change_their_line_alone_and_compile():
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


def test_mutants_are_drawn_from_a_part_once_each_and_by_their_seed():
    for package in ("", "python", "kernels", "database", "search/threats", "cli"):
        assert len({*drawn(1, 12, package)}) == 12
    assert drawn(1, 9, "protocol") == drawn(1, 9, "protocol") != drawn(2, 9, "protocol")


def test_kernels_with_mutants_have_a_copy_of_the_function_for_each(tmp_path):
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


def test_a_fault_is_noticed_by_a_test_that_reaches_it_and_by_no_other(tmp_path):
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
