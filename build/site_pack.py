"""Compile the Python code of the site: ``site_pack.py SOURCE ZIP LEFT_OUT...``, run in Pyodide.

SOURCE is a folder or a ZIP; the result is a ZIP of its compiled modules and other files, without
those whose names begin with a LEFT_OUT.
"""

import importlib.util
import marshal
import sys
import zipfile
from pathlib import Path

MOMENT = (1980, 1, 1, 0, 0, 0)  # for reproducible bytes
UNCHECKED = 1  # flag of a pyc whose source is not checked


def compiled(name: str, source: bytes) -> bytes:
    """Return the contents of the pyc file of a module."""
    code = compile(source, name, "exec", dont_inherit=True, optimize=2)
    head = importlib.util.MAGIC_NUMBER + UNCHECKED.to_bytes(4, "little")
    return head + importlib.util.source_hash(source) + marshal.dumps(code)


def contents(source: Path) -> dict[str, bytes]:
    """Return the files of a folder or a ZIP by their names."""
    if source.is_dir():
        files = [path for path in source.rglob("*") if path.is_file()]
        return {path.relative_to(source).as_posix(): path.read_bytes() for path in files}
    with zipfile.ZipFile(source) as archive:
        return {name: archive.read(name) for name in archive.namelist() if name[-1] != "/"}


def pack(source: Path, out: Path, left_out: tuple[str, ...]) -> None:
    """Write the ZIP."""
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in sorted(contents(source).items()):
            if name.startswith(left_out):
                continue
            if name.endswith(".py"):
                name, content = f"{name}c", compiled(name, content)
            archive.writestr(zipfile.ZipInfo(name, MOMENT), content, zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    pack(Path(sys.argv[1]), Path(sys.argv[2]), tuple(sys.argv[3:]))
