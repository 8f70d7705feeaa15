"""Build the site: the board and its engine as files for any static host, in ``dist/site``.

It consists of the board's page, the wheel for browsers as the engine, and Pyodide from npm. Python
modules are compiled, and large files are packed. All addresses are relative, so the folder works
under any path.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pyodide
import shipping
import wheels
from shipping import ROOT

from pbrain_engine.errors import BuildError
from pbrain_engine.native.load.store import TARGETS

PACKAGE = ROOT / "pbrain_engine"
PAGE = (PACKAGE / "board" / "static", PACKAGE / "site" / "static")
SHARED = (PACKAGE / "pages" / "page.css", PACKAGE / "pages" / "draw.js")
PACKER = Path(__file__).with_name("site_pack.py")
MOST_BYTES = 12_000_000  # transferred by a first visit
POLICY = (
    "default-src 'self' 'wasm-unsafe-eval'; img-src 'self' data: blob:; "
    "style-src 'self' 'unsafe-inline'; connect-src 'self'; base-uri 'none'"
)
# Modules that the site's engine never imports: other tools, and the sources of the kernel.
NOT_IN_ENGINE = (
    "pbrain_engine/board/static", "pbrain_engine/site/static", "pbrain_engine/learn/network",
    "pbrain_engine/learn/train",
    "pbrain_engine/native/build", "pbrain_engine/native/exports", "pbrain_engine/doctor",
    "pbrain_engine/tuning", "pbrain_engine/weights/hand", "pbrain_engine/weights/learned",
)  # fmt: skip
NOT_IN_PYTHON = (
    "_android_support", "_apple_support", "_ios_support", "_osx_support", "_pyrepl", "bdb",
    "cProfile", "cgi", "curses", "dbm", "doctest", "ensurepip", "ftplib", "html/parser",
    "http/server", "idlelib",
    "imaplib", "lib2to3", "logging/handlers", "mailbox", "multiprocessing/managers", "optparse",
    "pdb", "pickletools", "poplib", "profile", "pstats", "pydoc", "smtplib", "socketserver",
    "statistics", "test", "tkinter", "trace.", "tracemalloc", "turtle", "unittest", "venv",
    "wsgiref", "xml/dom", "xml/sax", "xmlrpc",
)  # fmt: skip


def pack(source: Path, out: Path, left_out: Sequence[str]) -> None:
    """Compile the modules of a folder or ZIP with Pyodide.

    Raises:
        BuildError: it fails.
    """
    done = pyodide.run(PACKER, f"/host{source}", f"/host{out}", *left_out)
    if done.returncode != 0:
        raise BuildError(f"{source.name} cannot be packed: {done.stderr.strip()}")


def put_engine(site: Path, scratch: Path) -> None:
    """Build the wheel for browsers, and compile its modules."""
    target = TARGETS["wasm32"]
    kernels = shipping.build_kernels([target])
    wheels.make_wheel(target, kernels, scratch, shipping.bench())
    (wheel,) = scratch.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(scratch / "engine")
    pack(scratch / "engine", site / "numoku.zip", NOT_IN_ENGINE)


def put_python(site: Path) -> None:
    """Copy the needed files of Pyodide, without packages, so that it fetches nothing else."""
    package = pyodide.package()
    for name in ("pyodide.mjs", "pyodide.asm.mjs"):
        shutil.copyfile(package / name, site / name)
    code = (package / "pyodide.asm.wasm").read_bytes()
    (site / "pyodide.asm.wasm.packed").write_bytes(gzip.compress(code, mtime=0))
    lock = json.loads((package / "pyodide-lock.json").read_text(encoding="utf-8"))
    (site / "pyodide-lock.json").write_text(json.dumps({**lock, "packages": {}}), encoding="utf-8")
    pack(package / "python_stdlib.zip", site / "python_stdlib.zip", NOT_IN_PYTHON)


def put_page(site: Path) -> None:
    """Copy the page of the board, and add the parts of the site."""
    for folder in PAGE:
        shutil.copytree(folder, site, dirs_exist_ok=True)
    for path in SHARED:
        shutil.copyfile(path, site / path.name)
    index = site / "index.html"
    text = index.read_text(encoding="utf-8")
    head = (PACKAGE / "site" / "head.html").read_text(encoding="utf-8")
    foot = (PACKAGE / "site" / "foot.html").read_text(encoding="utf-8")
    added = head.replace("{policy}", POLICY) + '<script type="module"'
    for mark, own in (('<script type="module"', added), ('<div id="site"></div>', foot)):
        if text.count(mark) != 1:
            raise BuildError(f"the page lacks the mark {mark}, where the site adds its parts")
        text = text.replace(mark, own)
    index.write_text(text, encoding="utf-8")


def put_list(site: Path) -> None:
    """Write the list of files, and a version name from their contents, to the service worker."""
    large = ("numoku.zip", "python_stdlib.zip", "pyodide.asm.wasm.packed")
    whole, engine = sum((site / name).stat().st_size for name in large), site / "worker.js"
    engine.write_text(engine.read_text(encoding="utf-8").replace("{whole}", str(whole)), "utf-8")
    worker = site / "offline.js"
    paths = sorted(path for path in site.iterdir() if path != worker)
    sums = [hashlib.sha256(path.read_bytes()).hexdigest() for path in (*paths, worker)]
    version = hashlib.sha256("\n".join(sums).encode()).hexdigest()[:16]
    text = worker.read_text(encoding="utf-8")
    values = {"version": f"numoku-{version}", "policy": POLICY}
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    text = text.replace("{files}", json.dumps([path.name for path in paths]))
    worker.write_text(text, encoding="utf-8")


def carried(site: Path) -> int:
    """Return the bytes that a first visit transfers if the host compresses texts."""
    files = {path: path.read_bytes() for path in site.iterdir()}
    packed = (".zip", ".packed")
    return sum(len(d if p.suffix in packed else gzip.compress(d)) for p, d in files.items())


def make_site(out: Path) -> int:
    """Write the site to a folder, replacing it; return the bytes that a first visit transfers.

    Raises:
        BuildError: something cannot be built, or the site is too large.
        Unavailable: Node, npm or Pyodide is missing.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="numoku-site-") as folder:
        site = Path(folder, "site")
        site.mkdir()
        put_python(site)
        put_engine(site, Path(folder))
        put_page(site)
        put_list(site)
        size = carried(site)
        if size > MOST_BYTES:
            raise BuildError(f"the site has {size:,} bytes, more than {MOST_BYTES:,}")
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(site, out)
    return size


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the site; return the exit status."""
    parser = argparse.ArgumentParser(description="Build the site of the board.")
    parser.add_argument("out", help="folder for the site")
    options = parser.parse_args(arguments)
    size = make_site(Path(options.out))
    print(f"{options.out}  {size:,} bytes transferred by a first visit")
    return 0


if __name__ == "__main__":
    sys.exit(shipping.status_of(main))
