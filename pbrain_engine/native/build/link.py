"""An object file to a shared library: with zig, which links for every platform, or with cc.

A library for WebAssembly is what Emscripten calls a side module: zig's copy of LLVM's linker
makes one, and Pyodide loads it with ``ctypes``.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys

from ..load.targets import Target, host_target
from .binary import inspect, timeless

# The memory functions come from the C library that every process has loaded; macOS has a few
# more of them, and the binder of its loader.
MACOS_IMPORTS = frozenset({"bzero", "__bzero", "memset_pattern16", "dyld_stub_binder"})
ALLOWED_IMPORTS = frozenset({"memset", "memcpy", "memmove"}) | MACOS_IMPORTS
ALLOWED_LIBRARIES = frozenset({"/usr/lib/libSystem.B.dylib"})


class LinkError(Exception):
    """No linker is there, or it refused."""


def _commands(target: Target) -> list[list[str]]:
    """Return the linkers to try for a platform, best first."""
    found = []
    if importlib.util.find_spec("ziglang") is not None:
        zig = [sys.executable, "-m", "ziglang"]
        found.append([*zig, *(["wasm-ld"] if target.is_wasm else ["cc", "-target", target.zig])])
    compiler = shutil.which("cc") or shutil.which("clang") or shutil.which("gcc")
    if compiler and target == host_target():
        found.append([compiler])
    return found


def link(target: Target, object_file: str, library_file: str) -> None:
    """Link an object file into a shared library.

    Raises:
        LinkError: with what to install, or what the linker said.
    """
    commands = _commands(target)
    if not commands:
        raise LinkError(
            f"no linker for {target.name}: install the package ziglang, or a C compiler on the "
            "machine itself"
        )
    failures = []
    for command in commands:
        result = subprocess.run(
            [*command, "-shared", *_options(target), "-o", library_file, object_file],
            capture_output=True,
            text=True,
        )
        if result.returncode == 0:
            if target.suffix == ".dll":
                forget_time(library_file)
            check_library(library_file)
            return
        failures.append(f"{' '.join(command)}: {result.stderr.strip()}")
    raise LinkError("\n".join(failures))


def forget_time(library_file: str) -> None:
    """Let the same sources give the same library, whenever it is linked."""
    with open(library_file, "rb+") as file:
        data = timeless(file.read())
        file.seek(0)
        file.write(data)


def check_library(library_file: str) -> None:
    """Refuse a library that needs more of its surroundings than the memory functions.

    Raises:
        LinkError: with the names that it asks for.
    """
    with open(library_file, "rb") as file:
        binary = inspect(file.read())
    foreign = binary.imports - ALLOWED_IMPORTS
    foreign |= set(binary.libraries) - ALLOWED_LIBRARIES
    if foreign:
        raise LinkError(f"{library_file} asks for {', '.join(sorted(foreign))}")


def _options(target: Target) -> list[str]:
    """Return the options of a platform's linker.

    No C runtime is linked where that can be avoided: it would first have to be built by zig
    (a minute for Windows), and would tie the library to one C library and its version.
    """
    if target.is_wasm:
        return ["--experimental-pic", "--export-dynamic", "--allow-undefined", "--strip-all"]
    if target.suffix == ".dylib":
        return []  # the system's loader wants its own library in every other
    return ["-nostdlib", "-Wl,-s"]
