"""The libraries of all platforms, linked here and read without running them."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from pbrain_engine.errors import BuildError
from pbrain_engine.native.build import compile as kernel_compiler
from pbrain_engine.native.build.compile import Build, link
from pbrain_engine.native.load.store import TARGETS, host_target
from tests.conftest import toy_levels
from tests.native.libraries import ALLOWED_IMPORTS, MEMORY, facts

pytestmark = pytest.mark.slow

FORMATS = {"linux": "elf", "windows": "pe", "macos": "macho"}
MACHINES = {"x86_64": "X86_64", "aarch64": "ARM64", "arm64": "ARM64"}
TOYS = {"size", "clear", "put", "walk", "nodes", "read", "sum", "shift"}
OUTPUTS = [(target, level) for target in TARGETS.values() for level in toy_levels(target)]
NAMES = [target.file_name(level) for target, level in OUTPUTS]


@pytest.mark.parametrize("name", NAMES)
def test_a_linked_library_is_for_its_machine_stands_alone_and_says_so(toy_folder, name):
    _, system, rest = name.split("-", 2)
    exported = {f"toy_{toy}" for toy in TOYS} | {"numoku_about"}
    data = Path(toy_folder, name).read_bytes()
    target, level = next(each for each in OUTPUTS if each[0].file_name(each[1]) == name)
    assert f"target={target.name}\nlevel={level}\n".encode() in data
    assert tempfile.gettempdir().encode() not in data  # where it was linked
    if system == "wasm32":  # which LIEF does not know
        assert data.startswith(b"\0asm") and all(each.encode() in data for each in exported)
        return
    binary, library = facts(Path(toy_folder, name))
    machine = rest.split("-")[0].partition(".")[0]
    assert binary.format.name.lower() == FORMATS[system]
    assert binary.abstract.header.architecture.name == MACHINES[machine]
    if machine == "x86_64":
        exported |= {"numoku_cpuid", "numoku_xgetbv"}
    assert library.exports == exported
    allowed = {"linux": MEMORY, "macos": ALLOWED_IMPORTS}.get(system, set())
    assert library.imports <= allowed
    assert library.needs <= ({"/usr/lib/libSystem.B.dylib"} if system == "macos" else set())


LINKED = {  # with what there is: the commands that are tried, as all of them fail
    ("linux-x86_64", "zig cc"): [
        "zig cc -target TARGET -shared -nostdlib -Wl,-s", "cc -shared -nostdlib -Wl,-s",
    ],
    ("linux-x86_64", "zig"): ["zig cc -target TARGET -shared -nostdlib -Wl,-s"],
    ("linux-x86_64", "gcc"): ["gcc -shared -nostdlib -Wl,-s"],
    ("linux-x86_64", ""): [],
    ("windows-x86_64", "zig cc"): ["zig cc -target TARGET -shared -nostdlib -Wl,-s"],
    ("windows-x86_64", "cc"): [],
    ("macos-arm64", "zig"): [
        "zig cc -target TARGET -shared -nostdlib -lSystem -Wl,-install_name,x.so"
    ],
    ("wasm32", "zig cc"): [
        "zig wasm-ld -shared --experimental-pic --export-dynamic --allow-undefined --strip-all"
    ],
}  # fmt: skip


@pytest.mark.parametrize("name, there", LINKED)
def test_a_library_is_linked_with_what_there_is(monkeypatch, name, there):
    failed = SimpleNamespace(returncode=1, stderr=" is broken\n")
    monkeypatch.setattr(kernel_compiler, "host_target", lambda: TARGETS["linux-x86_64"])
    monkeypatch.setattr("importlib.util.find_spec", lambda _: "zig" in there or None)
    monkeypatch.setattr("shutil.which", lambda word: word if word in there.split() else None)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: failed)
    target = TARGETS[name]
    with pytest.raises(BuildError) as error:
        link(target, "x.o", "x.so")
    said = str(error.value).replace(f"{sys.executable} -m ziglang", "zig")
    tried = [f"{command} -o x.so x.o: is broken" for command in LINKED[name, there]]
    wanted = "\n".join(tried).replace("TARGET", target.zig)
    assert said == wanted or (not tried and said.startswith(f"no linker for {name}: install "))


ASKED = {  # of the command, on a Linux machine of level v3: what is built, in which folder
    "": "this machine, variant ",
    "--variant bounds": "this machine, variant bounds",
    "--target windows-x86_64": "windows-x86_64 v4 in /cache/DIGEST",
    "--target linux-x86_64 --variant asserts": "linux-x86_64 v3 asserts in /cache/DIGEST",
    "--level v2": "linux-x86_64 v2 in /cache/DIGEST",
    "--level all --out here":
        "linux-x86_64 v2 in here, linux-x86_64 v3 in here, linux-x86_64 v4 in here",
    "--target macos-arm64 --level v2": "error: macos-arm64 has the levels ",
}  # fmt: skip


@pytest.mark.parametrize("words", ASKED)
def test_the_command_builds_what_is_asked_for(monkeypatch, capsys, words):
    def build(work: Build, folder: str) -> list[str]:
        facts = work.variant
        return [f"{o.target.name} {o.level} {facts} in {folder}".replace("  ", " ")
                for o in work.outputs]  # fmt: skip

    def ensure(variant: str) -> str:
        return f"this machine, variant {variant}"

    for name, value in {"host_target": lambda: TARGETS["linux-x86_64"], "digest": lambda: "DIGEST",
                        "host_level": lambda _: "v3", "cache_root": lambda: "/cache",
                        "build": build, "ensure": ensure}.items():  # fmt: skip
        monkeypatch.setattr(kernel_compiler, name, value)
    is_wrong = ASKED[words].startswith("error")
    assert kernel_compiler.main(words.split()) == is_wrong
    out, err = capsys.readouterr()
    assert ", ".join((err if is_wrong else out).splitlines()).startswith(ASKED[words])


@pytest.mark.parametrize(
    "version, name",
    [
        ("3.11.9 (tags/v3.11.9:de54cf5) [MSC v.1938 64 bit (AMD64)]", "windows-x86_64"),
        ("3.12.4 (main, Jun 12 2024) [GCC UCRT 14.1.0 64 bit (AMD64)]", "windows-x86_64"),
        ("3.13.0 (tags/v3.13.0:60403a5) [MSC v.1941 64 bit (ARM64)]", None),
    ],
)
def test_windows_is_known_in_a_bare_environment(monkeypatch, version, name):
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(sys, "version", version)
    monkeypatch.delenv("PROCESSOR_ARCHITECTURE", raising=False)
    target = host_target()
    assert (target.name if target else None) == name


def test_the_level_is_the_highest_that_the_processor_reaches(monkeypatch):
    has: dict[str, bool] = {}
    monkeypatch.setattr("llvmlite.binding.get_host_cpu_features", lambda: has)
    target = TARGETS["linux-x86_64"]
    with pytest.raises(BuildError, match="older than x86-64-v2"):
        kernel_compiler.host_level(target)
    for level in target.levels:
        has |= dict.fromkeys(kernel_compiler.FEATURES[level], True)
        assert kernel_compiler.host_level(target) == level
