"""Build the package for tournaments: a ZIP with one program that needs nothing installed.

PyInstaller freezes the program to a folder according to ``build/numoku.spec``; kernels, weights and
notices go next to it. The ZIP is reproducible to the byte from the same sources and Python, and the
build fails if it is larger than a tournament accepts. ``--onefile`` makes a single program instead,
which unpacks itself at every start. ``build/windows.py`` uses this module to build the package for
Windows on Linux.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import shipping
import winpython
from shipping import ROOT

from pbrain_engine import __version__
from pbrain_engine.errors import BuildError
from pbrain_engine.native.load.store import TARGETS, Target

SPEC = ROOT / "build" / "numoku.spec"
NOTICES = ROOT / "build" / "notices"
SIZE_LIMIT = 8_000_000  # bytes that Gomocup accepts without asking
NAME = "pbrain-numoku64"
PROGRAM = NAME + (".exe" if os.name == "nt" else "")  # on this machine
WINDOWS = TARGETS["windows-x86_64"]
THIRD_PARTIES = ("python", "libffi", "zlib")
EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time in a ZIP
REGULAR, EXECUTABLE = 0o100644, 0o100755


def program_of(target: Target) -> str:
    """Return the name of the program on a platform."""
    return NAME + (".exe" if target is WINDOWS else "")


def freeze(
    shipped: Path,
    scratch: Path,
    *,
    onefile: bool = False,
    python: winpython.WindowsPython | None = None,
) -> Path:
    """Run PyInstaller; return the folder with the program.

    It freezes the Python that runs it: this one, or ``python`` for Windows.

    Raises:
        BuildError: it fails; the message has its output.
    """
    command = ["-m", "PyInstaller", "--noconfirm", "--log-level", "WARN"]
    command += ["--distpath", str(scratch / "dist"), "--workpath", str(scratch / "work")]
    command += [str(SPEC), "--", str(shipped), *(["--onefile"] if onefile else [])]
    environment = {
        "PYTHONHASHSEED": "0",  # fixes the order of sets in compiled modules
        "SOURCE_DATE_EPOCH": "315532800",
        "PYINSTALLER_CONFIG_DIR": str(scratch / "cache"),
    }
    start = [sys.executable] if python is None else python.command
    surroundings = dict(os.environ) if python is None else python.environment
    result = subprocess.run(
        [*start, *command],
        cwd=ROOT,
        env={**surroundings, **environment},
        input="",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,  # wine needs pipes; one pipe keeps the order
        text=True,
        errors="replace",
    )
    if result.returncode != 0:
        raise BuildError(f"PyInstaller failed\n{result.stdout.strip()}")
    return scratch / "dist" / ("" if onefile else "numoku")


def add_notices(folder: Path, target: Target, signature: int) -> None:
    """Write the readme for users and all licences next to the program."""
    page = (NOTICES / "README.txt").read_text(encoding="ascii")
    facts = {"VERSION": __version__, "PLATFORM": target.name, "PROGRAM": program_of(target)}
    for name, value in {**facts, "SIGNATURE": f"{signature}"}.items():
        page = page.replace(f"@{name}@", value)
    parts = [(NOTICES / "about.txt").read_text(encoding="ascii")]
    for name in THIRD_PARTIES:
        text = (NOTICES / f"{name}.txt").read_text(encoding="ascii")
        parts.append(f"{'=' * 78}\n{name}\n{'=' * 78}\n\n{text}")
    texts = {
        "README.txt": page,
        "LICENSE.txt": (ROOT / "LICENSE").read_text(encoding="ascii"),
        "THIRD-PARTY.txt": "\n".join(parts),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="ascii", newline="\r\n")


def members(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files of a folder with their names in a ZIP, in a fixed order.

    Raises:
        BuildError: a name could cause trouble in a manager.
    """
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not name.isascii() or set(name) & set(" '\"\\"):
            raise BuildError(f"the name {name!r} may confuse managers")
        if not path.is_dir():
            yield name, path


def write_zip(folder: Path, path: Path) -> None:
    """Pack a folder; the result depends only on the bytes and names of its files."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, file in members(folder):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.create_system = 3  # Unix, so that the modes below count
            is_program = Path(name).stem == NAME
            entry.external_attr = (EXECUTABLE if is_program else REGULAR) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, file.read_bytes(), compresslevel=9)


def check_size(path: Path, limit: int = SIZE_LIMIT) -> None:
    """Raise BuildError if a package is too large."""
    size = path.stat().st_size
    if size > limit:
        raise BuildError(f"{path.name} has {size:,} bytes; {limit:,} are allowed")


def write_checksum(path: Path) -> None:
    """Write the SHA-256 of a file next to it, in the form that ``sha256sum --check`` reads."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    text = f"{digest}  {path.name}\n"
    path.with_name(path.name + ".sha256").write_text(text, encoding="ascii", newline="\n")


def make_package(
    out: Path,
    figures: dict[str, Any],
    *,
    onefile: bool = False,
    python: winpython.WindowsPython | None = None,
) -> Path:
    """Build the package of this machine's platform into a folder; return its path.

    ``figures`` are the bench results of the sources. With a ``python`` for Windows, build the
    package for Windows instead.

    Raises:
        BuildError: it cannot be built here, or is too large.
    """
    target = WINDOWS if python else shipping.host()
    program = program_of(target)
    kernels = shipping.build_kernels([target])
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="numoku-package-") as scratch:
        shipped = Path(scratch, "shipped")
        shipping.ship(target, kernels, shipped, figures)
        folder = freeze(shipped, Path(scratch), onefile=onefile, python=python)
        if onefile:
            path = out / program
            shutil.copy(folder / program, path)
        else:
            add_notices(folder, target, figures["nodes"])
            path = out / f"numoku-{__version__}-{target.name}.zip"
            write_zip(folder, path)
    check_size(path)
    write_checksum(path)
    return path


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the package; return the exit status."""
    parser = argparse.ArgumentParser(description="Build the package for tournaments.")
    parser.add_argument("out", help="folder for the package and its checksum")
    parser.add_argument("--onefile", action="store_true", help="one program instead of a ZIP")
    options = parser.parse_args(arguments)
    path = make_package(Path(options.out), shipping.bench(), onefile=options.onefile)
    print(f"{path}  {path.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(shipping.status_of(main))
