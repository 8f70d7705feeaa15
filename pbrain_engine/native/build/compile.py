"""Build the compiled kernel: ``python -m pbrain_engine.native.build.compile [--level v3] ...``.

``ensure()`` builds what this machine needs if it is missing or stale, and returns at once if
not; set-up, the tests and the tools call it. The engine itself only ever loads.

The numba front end runs in a child process, because what it compiles depends on its
environment; what it made lies beside the libraries, for those of further levels. Each file is
written under a temporary name and renamed when it is whole, and a lock for each variant keeps
two builders from doing the same work.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import NamedTuple

from ...files import hold_lock
from ...options import Parser
from ..load.library import KernelError, Library, load, processor_level
from ..load.store import cache_root, digest, is_shipped
from ..load.targets import TARGETS, Target, host_target, x86_level

EXPORTS_MODULE = "pbrain_engine.native.exports"
ATTEMPTS = 3  # when the sources are edited while they are compiled
DIGEST = re.compile(r"[0-9a-f]{20}")  # the name of a folder of kernels
# The memory functions come from the C library that every process has loaded; macOS has a few
# more of them, and the binder of its loader.
MACOS_IMPORTS = frozenset({"bzero", "__bzero", "memset_pattern16", "dyld_stub_binder"})
ALLOWED_IMPORTS = frozenset({"memset", "memcpy", "memmove"}) | MACOS_IMPORTS
ALLOWED_LIBRARIES = frozenset({"/usr/lib/libSystem.B.dylib"})
PE_HEADER = 60  # where a file for Windows says at which offset its header begins
KEPT_DIGESTS = 20  # kernels of older sources are of use only to someone who goes back and forth


class BuildError(Exception):
    """The kernel could not be built; the message says why."""


class SourcesChanged(BuildError):
    """The sources were edited while they were compiled."""


def variant_name(asserts: bool, bounds: bool) -> str:
    """Return the name of a build with these checks; empty for a release build."""
    checks = {"asserts": asserts, "bounds": bounds}
    return "-".join(name for name, wanted in checks.items() if wanted)


class Output(NamedTuple):
    """One library: a platform, and a level of its instruction set."""

    target: Target
    level: str


class Build(NamedTuple):
    """What to build from a module of exports: which libraries, with which checks."""

    outputs: tuple[Output, ...]
    asserts: bool = False
    bounds: bool = False
    exports: str = EXPORTS_MODULE

    @property
    def variant(self) -> str:
        """The checks as part of a file name."""
        return variant_name(self.asserts, self.bounds)

    def paths(self, folder: str) -> dict[Output, str]:
        """Return where each library lies in a folder."""
        names = {o: o.target.file_name(o.level, self.variant) for o in self.outputs}
        return {output: os.path.join(folder, name) for output, name in names.items()}


def report(text: str) -> None:
    """Show one line of progress."""
    print(text, file=sys.stderr, flush=True)


def build(work: Build, folder: str) -> list[str]:
    """Build the libraries into a folder, those excepted that are there; return their paths.

    Raises:
        BuildError: with the reason.
    """
    paths = work.paths(folder)
    if not all(map(os.path.exists, paths.values())):
        os.makedirs(folder, exist_ok=True)
        waiting = "waiting for another process that builds the kernel"
        lock = "-".join(filter(None, ("lock", work.variant)))
        with hold_lock(os.path.join(folder, lock), lambda: report(waiting)):
            missing = {o: path for o, path in paths.items() if not os.path.exists(path)}
            if missing:
                _build_missing(work._replace(outputs=tuple(missing)), missing, folder)
    return list(paths.values())


def _build_missing(work: Build, paths: dict[Output, str], folder: str) -> None:
    started = time.perf_counter()
    report(f"building the kernel for {', '.join(f'{o.target.name} {o.level}' for o in paths)}")
    with tempfile.TemporaryDirectory(prefix="numoku-") as scratch:
        before = digest()
        name = "-".join(filter(None, ("front-end", work.variant)))
        kept, fresh = os.path.join(folder, name), os.path.join(scratch, name)
        is_kept = os.path.exists(kept)
        _emit_objects(work, scratch, before, kept if is_kept else fresh)
        if digest() != before:  # an editor was at work: do not file this under either digest
            raise SourcesChanged("the sources changed while they were compiled; start again")
        if not is_kept:
            move_whole(fresh, kept)
        for output, path in paths.items():
            linking = time.perf_counter()
            linked = os.path.join(scratch, os.path.basename(path))
            link(output.target, object_path(scratch, output), linked)
            move_whole(linked, path)
            seconds, size = time.perf_counter() - linking, os.stat(path).st_size
            report(f"  {seconds:5.1f} s  linked {os.path.basename(path)}, {size:,} bytes")
    report(f"  {time.perf_counter() - started:5.1f} s  in all")


def object_path(scratch: str, output: Output) -> str:
    """Return where the child process leaves an object file."""
    return os.path.join(scratch, f"{output.target.name}-{output.level}.o")


def move_whole(source: str, destination: str) -> None:
    """Copy a file so that its new name never stands for half of it."""
    part = f"{destination}.{os.getpid()}"
    try:
        shutil.copyfile(source, part)
        os.replace(part, destination)
    finally:
        if os.path.exists(part):
            os.unlink(part)


def _emit_objects(work: Build, scratch: str, sources: str, front_end: str) -> None:
    """Run the numba front end and LLVM in a child process of the right environment."""
    environment = dict(
        os.environ,
        NUMBA_DISABLE_JIT="0",
        NUMBA_CPU_NAME="generic",
        NUMBA_CPU_FEATURES="",
        NUMBA_OPT="0",
        NUMOKU_BOUNDS_CHECK="1" if work.bounds else "0",
        PYTHONPATH=os.pathsep.join(path or os.getcwd() for path in sys.path),
    )
    environment.pop("PYTHONOPTIMIZE", None)
    if not work.asserts:
        environment["PYTHONOPTIMIZE"] = "1"
    command = [sys.executable, "-m", "pbrain_engine.native.build.emit"]
    command += [work.exports, sources, front_end]
    for output in work.outputs:
        command += [output.target.name, output.level, object_path(scratch, output)]
    if subprocess.run(command, env=environment, stdin=subprocess.DEVNULL).returncode != 0:
        raise BuildError("the kernel does not compile; the reason is above")


def link(target: Target, object_file: str, library_file: str) -> None:
    """Link an object file into a shared library: with zig, for every platform, or with cc.

    No C runtime is linked where that can be avoided: it would first have to be built by zig
    (a minute for Windows), and would tie the library to one C library and its version. A library
    for WebAssembly is what Emscripten calls a side module, which Pyodide loads with ``ctypes``.

    Raises:
        BuildError: with what to install, what the linker said, or what the library asks for.
    """
    options = ["-nostdlib", "-Wl,-s"]
    if target.is_wasm:
        options = ["--experimental-pic", "--export-dynamic", "--allow-undefined", "--strip-all"]
    elif target.suffix == ".dylib":
        options = []  # the system's loader wants its own library in every other
    commands = []
    if importlib.util.find_spec("ziglang") is not None:
        how = ["wasm-ld"] if target.is_wasm else ["cc", "-target", target.zig]
        commands.append([sys.executable, "-m", "ziglang", *how])
    compiler = shutil.which("cc") or shutil.which("clang") or shutil.which("gcc")
    if compiler and target == host_target():
        commands.append([compiler])
    if not commands:
        raise BuildError(
            f"no linker for {target.name}: install the package ziglang, or a C compiler on the "
            "machine itself"
        )
    failures = []
    for command in commands:
        command += ["-shared", *options, "-o", library_file, object_file]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode == 0:
            if target.suffix == ".dll":
                with open(library_file, "rb+") as file:  # the moment of linking is left out
                    file.seek(PE_HEADER)
                    (header,) = struct.unpack("<I", file.read(4))
                    file.seek(header + 8)
                    file.write(bytes(4))
            check_library(library_file)
            return
        failures.append(f"{' '.join(command)}: {result.stderr.strip()}")
    raise BuildError("\n".join(failures))


def check_library(library_file: str) -> None:
    """Refuse a library that needs more of its surroundings than the memory functions.

    Raises:
        BuildError: with the names that it asks for.
    """
    from .binary import inspect  # reads with LIEF, which only a build needs

    with open(library_file, "rb") as file:
        binary = inspect(file.read())
    foreign = binary.imports - ALLOWED_IMPORTS
    foreign |= set(binary.libraries) - ALLOWED_LIBRARIES
    if foreign:
        raise BuildError(f"{library_file} asks for {', '.join(sorted(foreign))}")


def host_level(target: Target) -> str:
    """Return the highest instruction set level of the processor of this machine."""
    if len(target.levels) == 1:
        return target.levels[0]
    level = probe_level()
    if level is None:
        raise BuildError("the processor is older than x86-64-v2, the lowest supported level")
    return level


def probe_level() -> str | None:
    """Return the x86-64 level of this processor, with ``cpuid.ll`` compiled in memory."""
    import ctypes

    import llvmlite.binding as llvm

    from .lower import parse_file

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()
    module = parse_file("cpuid.ll")
    machine = llvm.Target.from_default_triple().create_target_machine()
    with llvm.create_mcjit_compiler(module, machine) as engine:
        engine.finalize_object()
        cpuid_type = ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p)
        ask = cpuid_type(engine.get_function_address("numoku_cpuid"))
        xgetbv = ctypes.CFUNCTYPE(ctypes.c_uint32)(engine.get_function_address("numoku_xgetbv"))
        registers = (ctypes.c_uint32 * 4)()

        def cpuid(leaf: int, subleaf: int) -> tuple[int, int, int, int]:
            ask(leaf, subleaf, ctypes.addressof(registers))
            return registers[0], registers[1], registers[2], registers[3]

        return x86_level(cpuid, xgetbv)


def host_build(asserts: bool = False, bounds: bool = False) -> Build:
    """Return the build that serves this machine."""
    target = host_target()
    if target is None:
        raise BuildError(f"no kernel can be built for this machine, only for {', '.join(TARGETS)}")
    return Build((Output(target, host_level(target)),), asserts, bounds)


def forget_old_kernels(root: str) -> None:
    """Remove the cached kernels that were built longest ago, and nothing else that lies there."""
    with os.scandir(root) as entries:
        kernels = [e for e in entries if e.is_dir() and DIGEST.fullmatch(e.name)]
        folders = sorted((e.stat().st_mtime, e.path) for e in kernels)
    for _, path in folders[:-KEPT_DIGESTS]:
        shutil.rmtree(path, ignore_errors=True)  # one that is in use may stay


def ensure(*, asserts: bool = False, bounds: bool = False) -> str:
    """Build the kernel of the present sources for this machine if need be; return its path.

    Raises:
        BuildError: it cannot be built here.
    """
    try:  # without importing LLVM
        library = load(variant=variant_name(asserts, bounds))
        if is_shipped() or library.level == processor_level(library):
            return library.path
    except KernelError:
        pass
    work = host_build(asserts, bounds)
    for attempts_left in reversed(range(ATTEMPTS)):
        folder = os.path.join(cache_root(), digest())
        for broken in filter(os.path.exists, work.paths(folder).values()):
            try:
                Library(broken)
            except KernelError as error:  # it is built again
                report(str(error).partition(";")[0])
                os.unlink(broken)
        try:
            (path,) = build(work, folder)
            break
        except SourcesChanged:
            if not attempts_left:
                raise
            report("the sources changed meanwhile")
    forget_old_kernels(cache_root())
    return path


def main(arguments: Sequence[str] | None = None) -> int:
    """Build what the command line asks for; return the exit status."""
    parser = Parser(
        prog="python -m pbrain_engine.native.build.compile",
        description="Build the compiled kernel.",
    )
    parser.add_argument("--target", choices=TARGETS, help="platform (default: this one)")
    parser.add_argument("--level", default="host", help="host, all, or one such as v3")
    parser.add_argument("--out", help="folder for the libraries (default: the cache)")
    parser.add_argument("--asserts", action="store_true", help="keep the kernel's asserts")
    parser.add_argument("--boundscheck", action="store_true", help="check every array index")
    parser.add_argument("--exports", default=EXPORTS_MODULE, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    try:
        for path in build_requested(options):
            print(path)
    except BuildError as error:
        report(f"error: {error}")
        return 1
    return 0


def build_requested(options: argparse.Namespace) -> list[str]:
    """Build what the options ask for and return the libraries' paths."""
    if not options.target and not options.out and options.level == "host":
        return [ensure(asserts=options.asserts, bounds=options.boundscheck)]
    target = TARGETS[options.target] if options.target else host_target()
    if target is None:
        raise BuildError(f"this platform is none of {', '.join(TARGETS)}")
    if options.level == "all":
        levels = target.levels
    elif options.level == "host":
        levels = (host_level(target) if target == host_target() else target.levels[-1],)
    elif options.level in target.levels:
        levels = (options.level,)
    else:
        raise BuildError(f"{target.name} has the levels {', '.join(target.levels)}")
    outputs = tuple(Output(target, level) for level in levels)
    work = Build(outputs, options.asserts, options.boundscheck, options.exports)
    return build(work, options.out or os.path.join(cache_root(), digest()))


if __name__ == "__main__":
    sys.exit(main())
