"""What a kernel may contain, and what we rely on in the code that numba makes of one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pbrain_engine.native.load.library import load
from pbrain_engine.native.load.store import TARGETS, host_target
from tests.native.libraries import ALLOWED_IMPORTS, MEMORY, facts
from tests.programs import ROOT, run_program

HEADER = "import numpy as np\nfrom numba import carray\nfrom pbrain_engine.kernel import *\n"

# Compiles the module named on the command line and prints its LLVM code, linked and optimised.
EMIT = """
import sys
from pbrain_engine.native.build import front, lower
from pbrain_engine.native.load.store import TARGETS
front.BATCH = int(sys.argv[2])
_, module = front.compile_exports(sys.argv[1])
_, optimised = lower.emit(module, TARGETS["linux-x86_64"], "v3", "about")
print(module, optimised, sep="@@")
"""
# Compiles each function of a module by itself and prints what is said against it.
REFUSE = """
import sys
import bad_kernels
from pbrain_engine import kernel
from pbrain_engine.native.build import front, lower
from pbrain_engine.native.load.store import TARGETS
every = dict(kernel.EXPORTS)
for name, export in every.items():
    kernel.EXPORTS.clear()
    kernel.EXPORTS[name] = export
    try:
        _, module = front.compile_exports("bad_kernels")
        lower.emit(module, TARGETS["linux-x86_64"], "v3", "about")
    except lower.BuildError as defect:
        print(name, str(defect).replace("\\n", " "))
"""


def python(code: str, *words: str, folder: Path | None = None) -> str:
    """Return what a process of its own prints."""
    path = os.pathsep.join(str(part) for part in (ROOT, folder) if part is not None)
    plain = dict(os.environ, PYTHONPATH=path, NUMBA_OPT="0", PYTHONDONTWRITEBYTECODE="1")
    return run_program(sys.executable, "-O", "-c", code, *words, env=plain, check=True).stdout


@pytest.fixture(scope="module")
def stages() -> list[str]:
    return python(EMIT, "tests.native.toy_kernels", "1000").split("@@")


@pytest.fixture(scope="module")
def linked(stages: list[str]) -> str:
    return stages[0]


@pytest.fixture(scope="module")
def optimised(stages: list[str]) -> str:
    return stages[1]


def function(code: str, name: str) -> str:
    """Return the definition of a function."""
    return re.search(rf"^define [^\n]*@{name}\(.*?^}}", code, re.M | re.S)[0]


@pytest.mark.skipif(sys.platform != "linux", reason="code is written in one process elsewhere")
def test_forked_processes_write_the_code_that_one_writes(optimised):
    _, forked = python(EMIT, "tests.native.toy_kernels", "1").split("@@")
    numbers = re.compile(r"[!#]\d+|(?<=array\.data)\.\d+")  # of what stands elsewhere in a module
    functions = [
        sorted(re.findall(r"^define .*?^}", numbers.sub("", module), re.M | re.S))
        for module in (optimised, forked)
    ]
    assert len(functions[0]) > 10 and functions[0] == functions[1]


@pytest.mark.skipif(sys.platform != "linux", reason="code is written in one process elsewhere")
def test_a_forked_process_that_fails_says_why_and_ends_the_build():
    code = """
import os
from numba.core.lowering import Lower
from pbrain_engine.native.build import front
first, lower_inst = os.getpid(), Lower.lower_inst
def fail(lower, instruction):
    if os.getpid() != first:
        raise ValueError("this cannot be lowered")
    lower_inst(lower, instruction)
Lower.lower_inst = fail
front.BATCH = 1
front.compile_exports("tests.native.toy_kernels")
"""
    with pytest.raises(subprocess.CalledProcessError) as failure:
        python(code)
    assert "this cannot be lowered" in failure.value.stderr
    assert "BuildError: numba wrote no LLVM code; the reason is above" in failure.value.stderr


def test_canary_an_export_takes_result_exception_and_its_arguments(linked):
    assert re.match(
        r"define i32 @toy_walk\(ptr [^,]*%retptr, ptr [^,]*%excinfo, ptr [^,]*%arg.toy_p, "
        r"i64 [^,]*%arg.depth\)",
        function(linked, "toy_walk"),
    )
    body = function(linked, "toy_nodes")
    assert "ret i32 0" in body and re.search(r"store i64 %\S+, ptr %retptr", body)


def test_canary_other_functions_have_mangled_names_and_are_internal(linked):
    defined = re.findall(r"^define (.*?)@\"?([\w.$]+)\"?\(", linked, re.M)
    exported = {name for attributes, name in defined if "internal" not in attributes}
    assert {name for name in exported if not name.startswith("toy_")} == set()
    walk = [name for _, name in defined if re.match(r"_ZN5tests6native11toy_kernels4walk", name)]
    assert len(walk) == 1, "one specialisation of the signed kernel"


def test_canary_a_record_argument_is_one_pointer(linked):
    head = re.search(r"^define [^\n]*toy_kernels3put[^\n(]*\(([^\n]*)\)", linked, re.M)
    assert head is not None  # result, exception, record, cell
    assert [argument.split()[0] for argument in head[1].split(", ")] == ["ptr"] * 3 + ["i64"]


def test_canary_numba_has_not_optimised_anything_itself(linked):
    assert "alloca" in function(linked, "toy_walk")


def test_canary_an_index_is_not_tested_for_its_sign(linked, optimised):
    assert not re.search(r"icmp slt i64 %arg.cell, 0", linked)
    assert "icmp" not in function(optimised, "toy_read")


def test_callees_are_inlined_over_function_borders(optimised):
    assert not re.search(r"^define [^\n]*toy_kernels4lift", optimised, re.M)
    for name in ("toy_clear", "toy_nodes", "toy_read"):
        assert "@_ZN" not in function(optimised, name)


def test_a_record_field_is_one_load(optimised):
    body = function(optimised, "toy_nodes").splitlines()
    assert len([line for line in body if " load " in line]) == 1 and len(body) <= 7


def test_status_checks_between_kernels_that_cannot_fail_are_gone(optimised):
    walk = re.search(r"^define internal [^\n]*toy_kernels4walk.*?^}", optimised, re.M | re.S)
    assert " void " in walk[0].splitlines()[0]
    assert "excinfo" not in walk[0].replace("%excinfo", "", 1)


def test_filling_a_field_is_one_memory_call(optimised):
    assert "@llvm.memset" in function(optimised, "toy_clear")
    assert "br " not in function(optimised, "toy_clear")


BAD = {
    "return np.int64(n * 0.1)": "floating point",
    "return np.int64(np.float32(n) * np.float32(3))": "floating",
    "return np.zeros(n, np.int64)[n - 1]": "NRT_",
    "print(n); return 0": "no library here provides",
}


def test_a_kernel_that_must_not_be_shipped_is_refused(tmp_path):
    bodies = [f"@export\ndef bad_{i}(n):\n    {body}\n" for i, body in enumerate(BAD)]
    bodies.append('export_kernel("bad_4", kernel(lambda n: np.int32(n)), int)\n')
    (tmp_path / "bad_kernels.py").write_text(HEADER + "\n".join(bodies), encoding="utf-8")
    said = python(REFUSE, folder=tmp_path).splitlines()
    for number, (line, words) in enumerate(zip(said, [*BAD.values(), "returns int"], strict=True)):
        assert line.startswith(f"bad_{number} ") and words in line


def test_the_kernel_asks_for_memory_functions_only():
    _, library = facts(load().path)
    assert library.imports <= ALLOWED_IMPORTS
    if host_target() in (TARGETS["linux-x86_64"], TARGETS["linux-aarch64"]):
        assert library.imports <= MEMORY and not library.needs


def test_the_kernel_exports_its_interface_only():
    library = load()
    own = {"numoku_about", "numoku_cpuid", "numoku_xgetbv"}
    assert facts(library.path)[1].exports - own == set(library.exports)
