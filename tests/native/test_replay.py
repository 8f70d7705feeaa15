"""Every kernel decides the same: the bench is recorded once and replayed on other libraries.

Compared are the result of every call and, in the end, every byte of memory. The Windows
library runs under Wine and the ARM one under QEMU where these are installed; a browser has the
signature of all (``tests/site``). Every level is asked for Linux; for Windows one stands for all.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from pbrain_engine.native.build import compile as kernel_compiler
from pbrain_engine.native.build.compile import Build, Output
from pbrain_engine.native.load.library import load, processor_level
from pbrain_engine.native.load.store import TARGETS, Target, cache_root, digest, host_target
from tests.native.libraries import facts
from tests.programs import ROOT, run_program

SOURCE = ROOT / "tests" / "replay" / "replay.c"
LINUX, WINDOWS, ARM = (TARGETS[n] for n in ("linux-x86_64", "windows-x86_64", "linux-aarch64"))
ARM_ROOT = "/usr/aarch64-linux-gnu"
HAS_QEMU = shutil.which("qemu-aarch64") is not None and Path(ARM_ROOT, "lib").exists()
DEPTH = "5"  # a part of a second of search over all positions
WINDOWS_LEVEL = "v3"
STACK = "-Wl,--stack,16777216"  # what the engine gives its search threads
MSVCRT = (  # what the program calls of the C library that Windows has
    "__getmainargs", "_strtoi64", "atol", "calloc", "exit", "fgets", "fopen", "free", "malloc",
    "memcpy", "printf", "realloc", "strchr", "strlen", "strtok",
)  # fmt: skip

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(host_target() is not LINUX, reason="replays on Linux x86-64"),
]


def wine() -> str | None:
    """Return the 64-bit Wine, which Debian keeps off the path."""
    return shutil.which("wine64") or shutil.which("wine64", path="/usr/lib/wine")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("replay")


@pytest.fixture(scope="module")
def events(folder: Path) -> Path:
    """Return the recorded bench."""
    words = [str(folder / "events"), "--json", "--depth", DEPTH]
    run_program(sys.executable, "-m", "tests.replay.record", *words, check=True)
    return folder / "events"


@pytest.fixture(scope="module")
def kernels() -> dict[Output, str]:
    """Return the libraries to replay on, of all platforms at once since they share most work."""
    outputs = [Output(LINUX, level) for level in LINUX.levels]
    outputs += [Output(WINDOWS, WINDOWS_LEVEL)] if wine() else []
    outputs += [Output(ARM, "v8")] if HAS_QEMU else []
    work = Build(tuple(outputs))
    folder = os.path.join(cache_root(), digest())
    kernel_compiler.build(work, folder)
    return work.paths(folder)


@cache
def player(folder: Path, target: Target) -> str:
    """Compile the program that replays, for a platform.

    For others than this machine's it is linked with the C library that will be there, since zig
    would first build one of its own: a minute and a half for Windows.
    """
    path, code = (str(folder / f"replay-{target.name}.{kind}") for kind in ("exe", "o"))
    zig = [sys.executable, "-m", "ziglang"]

    def run(*command: str) -> None:
        subprocess.run(command, check=True)

    if target is LINUX:
        cc = shutil.which("cc")
        run(*([cc] if cc else [*zig, "cc"]), "-O2", "-o", path, str(SOURCE), "-ldl")
        return path
    run(*zig, "cc", "-target", target.zig, "-O2", "-c", "-o", code, str(SOURCE))
    link = [*zig, "cc", "-target", target.zig, "-nostdlib", "-o", path, code]
    if target is WINDOWS:
        names, library = folder / "msvcrt.def", str(folder / "msvcrt.lib")
        names.write_text("\n".join(["LIBRARY msvcrt.dll", "EXPORTS", *MSVCRT, ""]), "ascii")
        run(*zig, "dlltool", "-m", "i386:x86-64", "-d", str(names), "-l", library)
        run(*link, library, "-lkernel32", STACK, "-Wl,--subsystem,console", "-Wl,-e,begin")
    else:
        libraries = Path(ARM_ROOT, "lib")
        (loader,) = libraries.glob("ld-linux-*.so.1")
        run(*link, str(libraries / "libc.so.6"), f"-Wl,--dynamic-linker=/lib/{loader.name}")
    return path


def replay(command: list[str], events: Path, **environment: str) -> str:
    """Replay and return what the program says."""
    environment = {**os.environ, **environment}
    return run_program(*command, str(events), env=environment, timeout=300).stdout.strip()


def skip_above_processor(level: str) -> None:
    reached = processor_level(load())
    if reached is None or level > reached:
        pytest.skip(f"this processor does not reach {level}")


@pytest.mark.parametrize("level", LINUX.levels)
def test_every_level_decides_the_same(folder, events, kernels, level):
    skip_above_processor(level)
    said = replay([player(folder, LINUX), kernels[Output(LINUX, level)]], events)
    assert said.endswith("calls agree"), said
    assert int(said.split()[0]) > 1000


@pytest.mark.skipif(wine() is None, reason="wine64 is not installed")
def test_the_windows_library_decides_the_same_under_wine(folder, events, kernels):
    skip_above_processor(WINDOWS_LEVEL)
    library = Path(kernels[Output(WINDOWS, WINDOWS_LEVEL)])
    assert facts(library)[1].exports == facts(load().path)[1].exports
    command = [str(wine()), player(folder, WINDOWS), str(library)]
    wine_only = {"WINEDEBUG": "-all", "WINEDLLOVERRIDES": "mscoree,mshtml="}  # no .NET, no browser
    said = replay(command, events, WINEPREFIX=str(folder / "wine"), **wine_only)
    assert said.endswith("calls agree"), said


@pytest.mark.skipif(not HAS_QEMU, reason="qemu-aarch64 and an ARM C library are not installed")
def test_the_arm_library_decides_the_same_under_qemu(folder, events, kernels):
    program = player(folder, ARM)
    command = ["qemu-aarch64", "-L", ARM_ROOT, program, kernels[Output(ARM, "v8")]]
    said = replay(command, events)
    assert said.endswith("calls agree"), said


def with_first_line_changed(events: Path, old: str, new: str) -> tuple[Path, int]:
    """Copy the events up to the first line of a kind, changed; return the copy and its length."""
    lines = events.read_text().splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if re.match(old, line))
    copy = events.with_suffix(".changed")
    copy.write_text("".join([*lines[:at], re.sub(old, new, lines[at])]))
    return copy, at + 1


def test_another_result_and_other_memory_are_found(folder, events, kernels):
    library, program = kernels[Output(LINUX, "v2")], player(folder, LINUX)
    for old, new, words in (
        ("C worker_iterate 1", "C worker_iterate 0", "worker_iterate, expected 0, found 1"),
        (r"(F .*)\n", r"\g<1>0\n", "memory differs"),  # ten times the checksum
    ):
        changed, line = with_first_line_changed(events, old, new)
        said = replay([program, library], changed)
        assert said.startswith(f"line {line}: {words}"), said
