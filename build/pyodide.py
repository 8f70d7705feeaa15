"""Pyodide, CPython as WebAssembly: a pinned package from the npm registry, run by Node.

The package is downloaded once and unpacked in the user's cache; it is not committed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from pbrain_engine.errors import BuildError

VERSION = "314.0.7"
SHA256 = "66b7949e5a0cba2250b586d7e368bf12fb482800748d182c4618254b685ffaa0"
RUNNER = Path(__file__).with_name("pyodide.mjs")
PATIENCE = 300.0  # seconds for the download
LEAST_NODE = 18  # major version; older ones have no fetch


class Unavailable(BuildError):
    """Pyodide or Node is missing; the message says what to install."""


def node() -> str:
    """Return the path of Node.

    Raises:
        Unavailable: it is not installed, or too old.
    """
    path = shutil.which("node")
    if path is None:
        raise Unavailable("node is not installed (on Debian: apt-get install nodejs npm)")
    said = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
    if int(said.strip().lstrip("v").partition(".")[0] or 0) < LEAST_NODE:
        raise Unavailable(f"node {said.strip()} is too old, {LEAST_NODE} is needed")
    return path


def package() -> Path:
    """Return the folder of the package, downloading it if it is not in the cache.

    Raises:
        Unavailable: npm is not installed, or the download fails or differs from the pinned one.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "numoku"
    folder = cache / f"pyodide-{VERSION}"
    if folder.exists():
        return folder
    npm = shutil.which("npm")
    if npm is None:
        raise Unavailable("npm is not installed (on Debian: apt-get install nodejs npm)")
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix="pyodide-") as scratch:
        command = [npm, "pack", "--silent", f"pyodide@{VERSION}"]
        try:
            subprocess.run(command, cwd=scratch, capture_output=True, timeout=PATIENCE, check=True)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            raise Unavailable(f"npm cannot download pyodide {VERSION}: {error}") from None
        (archive,) = Path(scratch).glob("*.tgz")
        if hashlib.sha256(archive.read_bytes()).hexdigest() != SHA256:
            raise Unavailable(f"pyodide {VERSION} does not match the pinned checksum")
        with tarfile.open(archive) as tar:
            tar.extractall(scratch, filter="data")
        try:
            os.rename(Path(scratch, "package"), folder)
        except OSError:
            if not folder.exists():  # else another process was faster
                raise
    return folder


def run(program: Path, *words: str, patience: float = 600.0) -> subprocess.CompletedProcess[str]:
    """Run a Python program in Pyodide, with the files of this machine below ``/host``.

    The current folder there is first on the module search path.

    Raises:
        Unavailable: it cannot be run here.
    """
    command = [node(), str(RUNNER), str(package()), str(program), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=patience)
