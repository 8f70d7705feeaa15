"""Compile what the site runs, by the Python that runs it: ``site_pack.py SOURCE ZIP LEFT_OUT...``.

Run in Pyodide. SOURCE is a folder or a ZIP, made into a ZIP of compiled modules and of the files
that are no modules; LEFT_OUT are the beginnings of names.
"""

import importlib.util
import marshal
import sys
import zipfile
from pathlib import Path

MOMENT = (1980, 1, 1, 0, 0, 0)  # the same bytes each time
UNCHECKED = 1  # the code belongs to its source, which is not looked for


def compiled(name: str, source: bytes) -> bytes:
    """Return the code of a module, as a file that Python imports without its source."""
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
