"""The libraries of all platforms, linked here and read without running them."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from pbrain_engine.native.build.binary import BinaryError, inspect
from pbrain_engine.native.build.compile import ALLOWED_IMPORTS, link
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


@pytest.mark.parametrize(
    "data", [b"", b"MZ", b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\0asm\1\0\0\0\2\7", b"#!/bin/sh\n"]
)
def test_a_broken_file_is_no_library(data: bytes) -> None:
    with pytest.raises(BinaryError):
        inspect(data)


def test_a_level_of_another_platform_is_refused() -> None:
    with pytest.raises(ValueError, match="has no level v3"):
        TARGETS["macos-arm64"].cpu("v3")


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
