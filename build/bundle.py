"""Bundle the modules that every start of the program imports in one file.

PyInstaller packs each module separately and reopens its archive for each, which takes longer than
running the module if opening files is slow. The bundle is not compressed: lines ``name kind
length``, an empty line, then the code of each module in the format of ``marshal``.
``build/bundled.py`` imports from it; all other modules stay in PyInstaller's archive.
"""

from __future__ import annotations

import marshal
import os
import subprocess
import sys
from importlib.util import find_spec

FILE = "start.modules"  # as in `bundled.py`
OPTIMIZE = 2  # no asserts, and no docstrings: the command line shows those of other modules
PACKAGE, MODULE = "package", "module"
# Imports of the program up to its answer to START, and for its first move.
IMPORTED = (
    "pbrain_engine.protocol.serve, pbrain_engine.protocol.loop, pbrain_engine.engine.engine, "
    "pbrain_engine.native.load.targets"
)
LIST = f"import sys; old = set(sys.modules); import {IMPORTED}; print(*set(sys.modules) - old)"


def names(root: str) -> list[str]:
    """Return the Python modules that a start imports, in a fixed order."""
    command = [sys.executable, "-S", "-c", LIST]
    environment = dict(os.environ, PYTHONPATH=root)
    result = subprocess.run(
        command, env=environment, input="", capture_output=True, text=True, check=True
    )
    return [name for name in sorted(result.stdout.split()) if source_of(name)]


def source_of(name: str) -> str | None:
    """Return the source file of a module; None for built-in, frozen and extension modules."""
    try:
        spec = find_spec(name)
    except ValueError:  # `os.path`, an alias
        return None
    origin = spec.origin if spec else None
    return origin if origin and origin.endswith(".py") else None


def code_of(name: str) -> tuple[str, bytes]:
    """Return the kind of a module and its code."""
    path = source_of(name)
    assert path is not None
    kind = PACKAGE if os.path.basename(path) == "__init__.py" else MODULE
    shown = name.replace(".", "/") + ("/__init__.py" if kind == PACKAGE else ".py")
    with open(path, "rb") as file:
        code = compile(file.read(), shown, "exec", dont_inherit=True, optimize=OPTIMIZE)
    return kind, marshal.dumps(code)


def bundle(chosen: list[str]) -> bytes:
    """Return the contents of the file with the chosen modules."""
    codes = {name: code_of(name) for name in chosen}
    lines = [f"{name} {kind} {len(code)}\n" for name, (kind, code) in codes.items()]
    return "".join([*lines, "\n"]).encode("ascii") + b"".join(code for _, code in codes.values())
