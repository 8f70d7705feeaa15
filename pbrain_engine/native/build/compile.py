"""Build the compiled kernel: ``python -m pbrain_engine.native.build.compile [--level v3] ...``.

``ensure()`` builds this machine's kernel if it is missing or stale, and otherwise returns at once;
set-up, tests and tools call it. The engine itself never builds.

The numba front end runs in a child process, because its output depends on the environment; the
output is kept next to the libraries, to build further levels. Each file is written under a
temporary name and renamed when complete, and a lock for each variant prevents two builders from
doing the same work.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from ...errors import BuildError
from ...files import hold_lock, in_place_of
from ...options import CommandLine, Option
from ..load.library import KernelError, Library, load, processor_level
from ..load.store import FEATURES, TARGETS, Target, cache_root, digest, host_target, is_shipped

EXPORTS_MODULE = "pbrain_engine.native.exports"
VARIANTS = ("asserts", "bounds", "asserts-bounds")
DIGEST = re.compile(r"[0-9a-f]{20}")  # the name of a folder of kernels
KEPT_DIGESTS = 20  # kernels of older sources are useful only when switching between revisions


class Output(NamedTuple):
    """One library: a platform, and a level of its instruction set."""

    target: Target
    level: str

    def object_file(self, scratch: str) -> str:
        """Return the path of the object file written by the child process."""
        return os.path.join(scratch, f"{self.target.name}-{self.level}.o")


class Build(NamedTuple):
    """What to build from a module of exports: which libraries, with the checks of a variant."""

    outputs: tuple[Output, ...]
    variant: str = ""
    exports: str = EXPORTS_MODULE

    def paths(self, folder: str) -> dict[Output, str]:
        """Return the path of each library in a folder."""
        names = {o: o.target.file_name(o.level, self.variant) for o in self.outputs}
        return {output: os.path.join(folder, name) for output, name in names.items()}


def report(text: str, began: float | None = None) -> None:
    """Print a line of progress, with the seconds since ``began``."""
    seconds = "" if began is None else f"  {time.perf_counter() - began:5.1f} s  "
    print(seconds + text, file=sys.stderr, flush=True)


def build(work: Build, folder: str) -> list[str]:
    """Build the missing libraries of a folder; return the paths of all; BuildError says why not."""
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
        if digest() != before:  # edited meanwhile: do not store the result under either digest
            raise BuildError("the sources changed while they were compiled; start again")
        if not is_kept:
            _copy_whole(fresh, kept)
        for output, path in paths.items():
            began = time.perf_counter()
            linked = os.path.join(scratch, os.path.basename(path))
            link(output.target, output.object_file(scratch), linked)
            _copy_whole(linked, path)
            report(f"linked {os.path.basename(path)}, {os.stat(path).st_size:,} bytes", began)
    report("in all", started)


def _copy_whole(source: str, destination: str) -> None:
    with in_place_of(Path(destination)) as part:
        shutil.copyfile(source, part)


def _emit_objects(work: Build, scratch: str, sources: str, front_end: str) -> None:
    """Run the numba front end and LLVM in a child process with the right environment."""
    environment = dict(
        os.environ, NUMBA_DISABLE_JIT="0", NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="",
        NUMBA_OPT="0", NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING="1",  # colours would take time
        NUMOKU_BOUNDS_CHECK=str(int("bounds" in work.variant)),
        PYTHONOPTIMIZE="" if "asserts" in work.variant else "1",
        PYTHONPATH=os.pathsep.join(path or os.getcwd() for path in sys.path),
    )  # fmt: skip
    command = [sys.executable, "-m", "pbrain_engine.native.build.lower"]
    command += [work.exports, sources, front_end, scratch]
    for output in work.outputs:
        command += [output.target.name, output.level]
    if subprocess.run(command, env=environment, stdin=subprocess.DEVNULL).returncode != 0:
        raise BuildError("the kernel does not compile; the reason is above")


def link(target: Target, object_file: str, library_file: str) -> None:
    """Link an object file into a shared library: with zig, for every platform, or with cc.

    No C runtime is linked: zig would have to build it first (a minute), and it would tie the
    library to one C library and its version. For WebAssembly, the library is one of Emscripten's
    side modules, which Pyodide loads with ``ctypes``. BuildError with what to install, or with
    the linker's output.
    """
    options = ["-nostdlib", "-Wl,-s"]
    if target.is_wasm:
        options = ["--experimental-pic", "--export-dynamic", "--allow-undefined", "--strip-all"]
    elif target.suffix == ".dylib":
        # the loader requires the system library; the name would contain the folder
        name = os.path.basename(library_file)
        options = ["-nostdlib", "-lSystem", f"-Wl,-install_name,{name}"]
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
    timeless = dict(os.environ, SOURCE_DATE_EPOCH="0")  # a DLL contains its link time
    failures = []
    for command in commands:
        command += ["-shared", *options, "-o", library_file, object_file]
        result = subprocess.run(command, env=timeless, capture_output=True, text=True)
        if result.returncode == 0:
            break
        failures.append(f"{' '.join(command)}: {result.stderr.strip()}")
    else:
        raise BuildError("\n".join(failures))


def host_output() -> Output:
    """Return the best library for this machine; BuildError if there is none."""
    target = host_target()
    if target is None:
        raise BuildError(f"no kernel can be built for this machine, only for {', '.join(TARGETS)}")
    return Output(target, host_level(target))


def host_level(target: Target) -> str:
    """Return the highest level of this platform that the processor reaches, according to LLVM."""
    if len(target.levels) == 1:
        return target.levels[0]
    import llvmlite.binding as llvm

    has = llvm.get_host_cpu_features().get
    reached = list(takewhile(lambda level: all(map(has, FEATURES[level])), target.levels))
    if not reached:
        raise BuildError("the processor is older than x86-64-v2, the lowest supported level")
    return reached[-1]


def forget_old_kernels(root: str) -> None:
    """Remove the oldest cached kernels, and nothing else in the folder."""
    with os.scandir(root) as entries:
        kernels = [e for e in entries if e.is_dir() and DIGEST.fullmatch(e.name)]
        folders = sorted((e.stat().st_mtime, e.path) for e in kernels)
    for _, path in folders[:-KEPT_DIGESTS]:
        shutil.rmtree(path, ignore_errors=True)  # those in use may stay


def ensure(variant: str = "", exports: str = EXPORTS_MODULE) -> str:
    """Build this machine's kernel if needed; return its path; BuildError if it cannot be built."""
    try:  # without importing LLVM
        library = load(variant=variant)
        if is_shipped() or library.level == processor_level(library):
            return library.path
    except KernelError:
        pass
    work = Build((host_output(),), variant, exports)
    folder = os.path.join(cache_root(), digest())
    (path,) = work.paths(folder).values()
    if os.path.exists(path):
        try:
            Library(path)
        except KernelError as error:  # rebuild it
            report(str(error).partition(";")[0])
            os.unlink(path)
    build(work, folder)
    forget_old_kernels(cache_root())
    return path


COMMAND = CommandLine(
    "numoku build",
    "Build the compiled kernel.",
    (
        Option("--target", tuple(TARGETS), about="platform (default: this one)"),
        Option("--level", str, "host", "L", "host, all, or one such as v3"),
        Option("--out", metavar="FOLDER", about="for the libraries (default: the cache)"),
        Option("--variant", VARIANTS, "", about="keep asserts, check every array index, or both"),
    ),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the requested kernels; return the exit status."""
    options = COMMAND.parse(arguments)
    try:
        if not options.target and not options.out and options.level == "host":
            paths = [ensure(options.variant)]
        else:
            target = TARGETS[options.target] if options.target else host_output().target
            levels = target.levels if options.level == "all" else (options.level,)
            if options.level == "host":
                levels = (host_level(target) if target == host_target() else target.levels[-1],)
            if not set(levels).issubset(target.levels):
                raise BuildError(f"{target.name} has the levels {', '.join(target.levels)}")
            outputs = tuple(Output(target, level) for level in levels)
            folder = options.out or os.path.join(cache_root(), digest())
            paths = build(Build(outputs, options.variant), folder)
    except BuildError as error:
        report(f"error: {error}")
        return 1
    print(*paths, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
