"""The libraries of all platforms, linked here and read without running them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pbrain_engine.native.build.binary import BinaryError, inspect
from pbrain_engine.native.build.link import ALLOWED_IMPORTS
from pbrain_engine.native.load.targets import TARGETS

FORMATS = {"linux": "elf", "windows": "pe", "macos": "macho"}
MACHINES = {"x86_64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}
TOYS = {"size", "clear", "put", "walk", "nodes", "read", "sum", "shift"}
OUTPUTS = [(target, level) for target in TARGETS.values() for level in target.levels]
NAMES = [target.file_name(level) for target, level in OUTPUTS]


@pytest.mark.parametrize("name", NAMES)
def test_a_linked_library_is_for_its_machine_and_stands_alone(toy_folder: str, name: str) -> None:
    _, system, rest = name.split("-", 2)
    binary = inspect(Path(toy_folder, name).read_bytes())
    assert binary.format == FORMATS[system]
    assert binary.machine == MACHINES[rest.split("-")[0]]
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


@pytest.mark.parametrize("data", [b"", b"MZ", b"\x7fELF", b"\xcf\xfa\xed\xfe", b"#!/bin/sh\n"])
def test_a_broken_file_is_no_library(data: bytes) -> None:
    with pytest.raises(BinaryError):
        inspect(data)


def test_a_level_of_another_platform_is_refused() -> None:
    with pytest.raises(ValueError, match="has no level v3"):
        TARGETS["macos-arm64"].cpu("v3")
