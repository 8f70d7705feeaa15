"""Build the package for tournaments: a ZIP with one program that needs nothing installed.

PyInstaller freezes the program to a folder as ``build/numoku.spec`` says; kernels, weights and
notices go next to it. The ZIP is the same to the last byte whenever it is built from the same
sources with the same Python, and the build fails where it would be larger than a tournament
accepts. ``--onefile`` makes a single program instead, which unpacks itself at every start.
``build/windows.py`` has the package for Windows built here too, on Linux.
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
from pbrain_engine.native.load.targets import TARGETS, Target

SPEC = ROOT / "build" / "numoku.spec"
NOTICES = ROOT / "build" / "notices"
SIZE_LIMIT = 8_000_000  # bytes: what Gomocup accepts without asking
NAME = "pbrain-numoku64"
PROGRAM = NAME + (".exe" if os.name == "nt" else "")  # on this machine
WINDOWS = TARGETS["windows-x86_64"]
THIRD_PARTIES = ("python", "libffi", "zlib")
EPOCH = (1980, 1, 1, 0, 0, 0)  # the first moment that a ZIP can name
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
    """Let PyInstaller make the program; return the folder that holds it.

    It freezes the Python that runs it: this one, or one for Windows.

    Raises:
        BuildError: with what PyInstaller says.
    """
    command = ["-m", "PyInstaller", "--noconfirm", "--log-level", "WARN"]
    command += ["--distpath", str(scratch / "dist"), "--workpath", str(scratch / "work")]
    command += [str(SPEC), "--", str(shipped), *(["--onefile"] if onefile else [])]
    environment = {
        "PYTHONHASHSEED": "0",  # sets go into compiled modules in their order
        "SOURCE_DATE_EPOCH": "315532800",
        "PYINSTALLER_CONFIG_DIR": str(scratch / "cache"),
    }
    start = [sys.executable] if python is None else python.command
    surroundings = dict(os.environ) if python is None else python.environment()
    result = subprocess.run(
        [*start, *command],
        cwd=ROOT,
        env={**surroundings, **environment},
        input="",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,  # wine wants a pipe, and one tells what comes first
        text=True,
        errors="replace",
    )
    if result.returncode != 0:
        raise BuildError(f"PyInstaller failed\n{result.stdout.strip()}")
    return scratch / "dist" / ("" if onefile else "numoku")


def add_notices(folder: Path, target: Target, signature: int) -> None:
    """Put the page for users and all licences next to the program."""
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
    """Yield the files of a folder by the names that they get in a ZIP, in a fixed order.

    Raises:
        BuildError: a name would trouble a manager.
    """
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not name.isascii() or set(name) & set(" '\"\\"):
            raise BuildError(f"managers may stumble over the name {name!r}")
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
    """Refuse a package that is too large.

    Raises:
        BuildError: with both sizes.
    """
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

    ``figures`` are what the bench measures on the sources. With a ``python`` for Windows it is
    the package for Windows.

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
    """Build what the command line asks for; return the exit status."""
    parser = argparse.ArgumentParser(description="Build the package for tournaments.")
    parser.add_argument("out", help="folder for the package and its checksum")
    parser.add_argument("--onefile", action="store_true", help="one program instead of a ZIP")
    options = parser.parse_args(arguments)
    path = make_package(Path(options.out), shipping.bench(), onefile=options.onefile)
    print(f"{path}  {path.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(shipping.status_of(main))
