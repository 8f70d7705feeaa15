"""The libraries of all platforms, linked here and read without running them."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import llvmlite.binding as llvm
import pytest

from pbrain_engine.errors import BuildError
from pbrain_engine.native.build import compile as kernel_compiler
from pbrain_engine.native.build.binary import inspect
from pbrain_engine.native.build.compile import ALLOWED_IMPORTS, Build, link
from pbrain_engine.native.load.targets import TARGETS, host_target

FORMATS = {"linux": "elf", "windows": "pe", "macos": "macho", "wasm32": "wasm"}
MACHINES = {"x86_64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64", "simd128": "wasm32"}
TOYS = {"size", "clear", "put", "walk", "nodes", "read", "sum", "shift"}
OUTPUTS = [(target, level) for target in TARGETS.values() for level in target.levels]
NAMES = [target.file_name(level) for target, level in OUTPUTS]


@pytest.mark.parametrize("name", NAMES)
def test_a_linked_library_is_for_its_machine_and_stands_alone(toy_folder: str, name: str) -> None:
    _, system, rest = name.split("-", 2)
    binary = inspect(Path(toy_folder, name).read_bytes())
    assert binary.format == FORMATS[system]
    assert binary.machine == MACHINES[rest.split("-")[0].removesuffix(".wasm")]
    helpers = {"numoku_about"}
    if binary.machine == "x86_64":
        helpers |= {"numoku_cpuid", "numoku_xgetbv"}
    assert binary.exports == {f"toy_{toy}" for toy in TOYS} | helpers
    if system == "macos":
        assert binary.imports <= ALLOWED_IMPORTS
        assert binary.libraries == ("/usr/lib/libSystem.B.dylib",)
    else:
        allowed = {"memset", "memcpy", "memmove"} if system == "linux" else set()
        assert binary.imports <= allowed
        assert binary.libraries == ()


@pytest.mark.parametrize("name", NAMES)
def test_a_linked_library_describes_itself(toy_folder: str, name: str) -> None:
    data = Path(toy_folder, name).read_bytes()
    target = next(t for t in TARGETS.values() if name.startswith(f"numoku-{t.name}"))
    level = name.removesuffix(target.suffix).rsplit("-", 1)[1]
    assert f"target={target.name}\nlevel={level}\n".encode() in data


def test_a_library_for_windows_does_not_tell_when_it_was_linked(tmp_path: Path) -> None:
    pytest.importorskip("ziglang")
    source, compiled = tmp_path / "toy.c", tmp_path / "toy.o"
    source.write_text("int DllMainCRTStartup(void) { return 1; }\n", encoding="ascii")
    target = TARGETS["windows-x86_64"]
    compiler = [sys.executable, "-m", "ziglang", "cc", "-target", target.zig, "-c"]
    subprocess.run([*compiler, "-o", str(compiled), str(source)], check=True)
    linked = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        link(target, str(compiled), str(tmp_path / name / "toy.dll"))
        linked.append((tmp_path / name / "toy.dll").read_bytes())
        time.sleep(1.1)  # the moment is noted in whole seconds
    assert linked[0] == linked[1]


TICKS = """
__declspec(dllimport) unsigned GetTickCount(void);
__declspec(dllimport) void Sleep(unsigned);
__declspec(dllexport) unsigned ticks(void) { Sleep(1); return GetTickCount(); }
int DllMainCRTStartup(void) { return 1; }
"""


def test_what_a_library_asks_others_for_is_read(tmp_path: Path) -> None:
    pytest.importorskip("ziglang")
    source, library = tmp_path / "ticks.c", tmp_path / "ticks.dll"
    source.write_text(TICKS, encoding="ascii")
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", TARGETS["windows-x86_64"].zig]
    subprocess.run([*zig, "-shared", "-nostdlib", "-o", library, source, "-lkernel32"], check=True)
    wanted = {"GetTickCount", "Sleep"}, ("KERNEL32.dll",), {"ticks"}
    binary = inspect(library.read_bytes())
    assert (binary.imports, binary.libraries, binary.exports) == wanted
    if sys.platform == "linux":  # what the system's own loader finds in this one
        (path,) = Path(llvm.__file__).parent.glob("libllvmlite*")
        binary, loaded = inspect(path.read_bytes()), ctypes.CDLL(str(path))
        assert {"libc.so.6", "libm.so.6"} <= set(binary.libraries) and "malloc" in binary.imports
        assert binary.exports and all(hasattr(loaded, name) for name in binary.exports)


LINKED = {  # with what there is: the commands that are tried, as all of them fail
    ("linux-x86_64", "zig cc"): [
        "zig cc -target TARGET -shared -nostdlib -Wl,-s", "cc -shared -nostdlib -Wl,-s",
    ],
    ("linux-x86_64", "zig"): ["zig cc -target TARGET -shared -nostdlib -Wl,-s"],
    ("linux-x86_64", "gcc"): ["gcc -shared -nostdlib -Wl,-s"],
    ("linux-x86_64", ""): [],
    ("windows-x86_64", "zig cc"): ["zig cc -target TARGET -shared -nostdlib -Wl,-s"],
    ("windows-x86_64", "cc"): [],
    ("macos-arm64", "zig"): ["zig cc -target TARGET -shared"],
    ("wasm32", "zig cc"): [
        "zig wasm-ld -shared --experimental-pic --export-dynamic --allow-undefined --strip-all"
    ],
}  # fmt: skip


@pytest.mark.parametrize("name, there", LINKED)
def test_a_library_is_linked_with_what_there_is(
    monkeypatch: pytest.MonkeyPatch, name: str, there: str
) -> None:
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
    "--out here --exports toys --variant bounds": "linux-x86_64 v3 bounds toys in here",
    "--target macos-arm64 --level v2": "error: macos-arm64 has the levels ",
}  # fmt: skip


@pytest.mark.parametrize("words", ASKED)
def test_the_command_builds_what_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: str
) -> None:
    def build(work: Build, folder: str) -> list[str]:
        facts = " ".join(filter(None, (work.variant, work.exports.rpartition(".")[2])))
        facts = facts.removesuffix("exports").strip()
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
    "data", [b"", b"MZ", b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\0asm\1\0\0\0\2\7", b"#!/bin/sh\n"]
)
def test_a_broken_file_is_no_library(data: bytes) -> None:
    with pytest.raises(BuildError):
        inspect(data)


@pytest.mark.parametrize(
    "version, name",
    [
        ("3.11.9 (tags/v3.11.9:de54cf5) [MSC v.1938 64 bit (AMD64)]", "windows-x86_64"),
        ("3.12.4 (main, Jun 12 2024) [GCC UCRT 14.1.0 64 bit (AMD64)]", "windows-x86_64"),
        ("3.13.0 (tags/v3.13.0:60403a5) [MSC v.1941 64 bit (ARM64)]", None),
    ],
)
def test_windows_is_known_in_a_bare_environment(
    monkeypatch: pytest.MonkeyPatch, version: str, name: str | None
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(sys, "version", version)
    monkeypatch.delenv("PROCESSOR_ARCHITECTURE", raising=False)
    target = host_target()
    assert (target.name if target else None) == name
