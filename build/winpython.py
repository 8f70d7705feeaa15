"""A CPython for Windows, assembled on Linux from the package index, and run by wine.

The package index is the only source, and has no such Python. But the wheel of Panda3D for Windows
contains ``python311.dll`` and the extension modules as built upstream. The standard library in
Python is the same on every system, so it is copied from the Python 3.11 of this machine. Two small
files are made here, with the linker of the kernels: ``python.exe``, which calls the DLL, and
``python3.dll``, which forwards extension modules of the stable ABI to it.

The result is made once and kept in the user's cache, with its own Wine prefix.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from importlib.metadata import version
from pathlib import Path

import shipping

from pbrain_engine.errors import BuildError

MAJOR = (3, 11)  # version of the DLL, the library and the Python of this machine
CARRIER = "panda3d==1.10.16"
CARRIED = "deploy_libs/"
# The pinned checksum of the wheel.
CARRIER_SHA256 = "37acfb92655c4226879f95c988e2ef1449a53c54486d6c1ebc00e2772429af82"
BESIDE_PROGRAM = {"python311.dll", "vcruntime140.dll"}
LEFT_OUT = ("api-ms-", "tcl", "tk", "_tkinter", "_msi", "winsound")
LIBRARY_LEFT_OUT = (
    "__pycache__", "site-packages", "dist-packages", "test", "lib-dynload", "config-*",
    "_sysconfigdata*", "idlelib", "tkinter", "turtledemo", "ensurepip", "lib2to3",
)  # fmt: skip

# Requirements of the build and the tests there. The first group has the versions of this machine,
# so that the packages of both systems are made by the same tools.
SAME_AS_HERE = (
    "pyinstaller", "pyinstaller-hooks-contrib", "altgraph", "packaging", "setuptools", "pytest",
    "pluggy", "iniconfig", "pygments", "hypothesis", "sortedcontainers", "psutil", "pyyaml", "lief",
)  # fmt: skip
OTHERS = (
    "pefile==2024.8.26",
    "pywin32-ctypes==0.2.3",
    "colorama==0.4.6",
    "numpy==1.26.4",  # NumPy 2 needs functions that wine 8 lacks
)
DOWNLOAD_PATIENCE = 300.0  # seconds of one call of pip

START = """
typedef unsigned short character;
int Py_Main(int, character **);
character *GetCommandLineW(void);
character **CommandLineToArgvW(character *, int *);
void ExitProcess(unsigned);

void start(void) {
    int count;
    character **words = CommandLineToArgvW(GetCommandLineW(), &count);
    ExitProcess(Py_Main(count, words));
}
"""


class Missing(BuildError):
    """A requirement is not installed on this machine."""


class Unavailable(BuildError):
    """A download failed or wine cannot run the result; it may work another time."""


def find_wine() -> str:
    """Return the path of the 64-bit wine, which is not on Debian's search path.

    Raises:
        Missing: wine is not installed.
    """
    for folder in (None, "/usr/lib/wine"):
        for name in ("wine64", "wine"):
            found = shutil.which(name, path=folder)
            if found:
                return found
    raise Missing("wine is not installed (on Debian: apt-get install wine64)")


class WindowsPython:
    """A Python for Windows, with the ``command`` and ``environment`` to run it."""

    def __init__(self, folder: Path, wine: str) -> None:
        """Store its folder and the path of wine."""
        self.folder = folder
        self.wine = wine

    @property
    def program(self) -> Path:
        """The path of the interpreter."""
        return self.folder / "python" / "python.exe"

    @property
    def command(self) -> list[str]:
        """The command that starts the interpreter."""
        return [self.wine, str(self.program)]

    @property
    def environment(self) -> dict[str, str]:
        """The environment for wine, with its own prefix and without debug output.

        Variables for the Python of this machine are removed: without compiled modules, for
        example, each start would take seconds.
        """
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        return {
            **kept,
            "WINEPREFIX": str(self.folder / "prefix"),
            "WINEDEBUG": "-all",
            "WINEDLLOVERRIDES": "mscoree,mshtml=",  # keep .NET and a browser from being installed
        }


def cache_folder() -> Path:
    """Return the cache folder, whose name depends on this recipe."""
    recipe = Path(__file__).read_bytes() + repr((sys.version_info, _requirements())).encode()
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base, "numoku", f"windows-python-{hashlib.sha256(recipe).hexdigest()[:12]}")


def windows_python() -> WindowsPython:
    """Return the Python for Windows, assembling it if it is not in the cache.

    Raises:
        Missing: there is no wine, or no Python 3.11.
        Unavailable: a download failed, or wine does not start it.
        BuildError: a downloaded or made file is wrong.
    """
    wine = find_wine()
    if sys.version_info[:2] != MAJOR:
        raise Missing("it needs the standard library of a Python 3.11 here")
    folder = cache_folder()
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        print("assembling a Python for Windows", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(prefix="windows-", dir=folder.parent) as name:
            assemble(WindowsPython(Path(name, "whole"), wine))
            try:
                Path(name, "whole").rename(folder)
            except OSError:
                if not folder.exists():  # else another process was faster
                    raise
        forget_others(folder)
    return WindowsPython(folder, wine)


def forget_others(folder: Path) -> None:
    """Remove the folders of older recipes except the latest; each has nearly a gigabyte."""
    others = set(folder.parent.glob("windows-python-*")) - {folder}
    for other in sorted(others, key=lambda path: path.stat().st_mtime)[:-1]:
        shutil.rmtree(other, ignore_errors=True)


def assemble(python: WindowsPython) -> None:
    """Assemble the Python in its folder, and try it.

    Raises:
        Unavailable: a download failed, or wine does not start the result.
        BuildError: a downloaded file does not match its checksum.
    """
    place = python.program.parent
    (place / "DLLs").mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix="numoku-windows-") as scratch:
        take_libraries(download(Path(scratch)), place)
        ignored = shutil.ignore_patterns(*LIBRARY_LEFT_OUT)
        shutil.copytree(sysconfig.get_path("stdlib"), place / "Lib", ignore=ignored)
        make_program(Path(scratch), place)
        make_forwarder(Path(scratch), place)
    packages = str(place / "Lib" / "site-packages")
    _pip("install", "--no-deps", "--no-compile", "--target", packages, *_requirements())
    command = [*python.command, "-c", "import ctypes, psutil"]
    tried = subprocess.run(
        command, env=python.environment, input="", capture_output=True, text=True, errors="replace"
    )
    if tried.returncode != 0:
        raise Unavailable(f"the Python for Windows does not start\n{tried.stderr.strip()}")


def download(scratch: Path) -> Path:
    """Download the wheel with the DLLs; return its path.

    Raises:
        Unavailable: the download failed.
        BuildError: the checksum does not match.
    """
    _pip("download", "--no-deps", "--dest", str(scratch), CARRIER)
    (wheel,) = scratch.glob("*.whl")
    if hashlib.sha256(wheel.read_bytes()).hexdigest() != CARRIER_SHA256:
        raise BuildError(f"{wheel.name} does not match the pinned checksum")
    return wheel


def take_libraries(wheel: Path, place: Path) -> None:
    """Unpack the DLLs and extension modules of Python from the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            name = entry.filename.removeprefix(CARRIED)
            if name == entry.filename or name.lower().startswith(LEFT_OUT):
                continue
            folder = place if name.lower() in BESIDE_PROGRAM else place / "DLLs"
            (folder / name).write_bytes(archive.read(entry))


def make_program(scratch: Path, place: Path) -> None:
    """Make ``python.exe``, which calls the DLL and needs no C library."""
    library = scratch / "python311.lib"
    definition = scratch / "python311.def"
    definition.write_text("LIBRARY python311.dll\nEXPORTS\nPy_Main\n", encoding="ascii")
    source = scratch / "start.c"
    source.write_text(START, encoding="ascii")
    _zig("dlltool", "-m", "i386:x86-64", "-d", str(definition), "-l", str(library))
    options = ["-Wl,--subsystem,console", "-Wl,-e,start", "-Wl,-s"]
    _compile(*options, "-o", str(place / "python.exe"), str(source), str(library),
             "-lkernel32", "-lshell32")  # fmt: skip


def make_forwarder(scratch: Path, place: Path) -> None:
    """Make ``python3.dll``, which forwards every name to ``python311.dll``."""
    import lief

    library = lief.PE.parse(str(place / "python311.dll"))
    assert library is not None
    names = sorted(str(function.name) for function in library.exported_functions)
    lines = ["LIBRARY python3.dll", "EXPORTS", *(f"{name}=python311.{name}" for name in names)]
    definition = scratch / "python3.def"
    definition.write_text("\n".join(lines) + "\n", encoding="ascii")
    source = scratch / "nothing.c"
    source.write_text("\n", encoding="ascii")
    options = ["-shared", "-Wl,-s", "-Wl,--no-entry"]
    _compile(*options, "-o", str(place / "python3.dll"), str(source), str(definition))


def _requirements() -> list[str]:
    return [f"{name}=={version(name)}" for name in SAME_AS_HERE] + list(OTHERS)


def _pip(verb: str, *arguments: str) -> None:
    number = ".".join(map(str, MAJOR))
    command = [sys.executable, "-m", "pip", verb, "--quiet", "--disable-pip-version-check"]
    command += ["--only-binary", ":all:", "--platform", "win_amd64", "--python-version", number]
    command += ["--implementation", "cp", *arguments]
    try:
        shipping.run(command, shipping.ROOT, DOWNLOAD_PATIENCE)
    except BuildError as error:
        raise Unavailable(str(error)) from None


def _compile(*arguments: str) -> None:
    _zig("cc", "-target", "x86_64-windows-gnu", "-nostdlib", *arguments)


def _zig(*arguments: str) -> None:
    shipping.run([sys.executable, "-m", "ziglang", *arguments])
