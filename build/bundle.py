"""Bundle the modules that every start of the program imports in one file.

PyInstaller packs each module separately and reopens its archive for each, which takes longer than
running the module if opening files is slow. ``build/bundled.py`` imports from the bundle; all other
modules stay in PyInstaller's archive.
"""

from __future__ import annotations

import marshal
import os
import subprocess
import sys
from importlib.util import find_spec

FILE = "start.modules"  # as in `bundled.py`
OPTIMIZE = 2  # no asserts, and no docstrings: the command line shows those of other modules
# Imports of the program up to its answer to START, and for its first move.
IMPORTED = (
    "pbrain_engine.protocol.serve, pbrain_engine.protocol.loop, pbrain_engine.engine.engine, "
    "pbrain_engine.native.load.store"
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


def code_of(name: str) -> tuple[bool, bytes]:
    """Return whether a module is a package, and its code."""
    path = source_of(name)
    assert path is not None
    is_package = os.path.basename(path) == "__init__.py"
    shown = name.replace(".", "/") + ("/__init__.py" if is_package else ".py")
    with open(path, "rb") as file:
        code = compile(file.read(), shown, "exec", dont_inherit=True, optimize=OPTIMIZE)
    return is_package, marshal.dumps(code)


def bundle(chosen: list[str]) -> bytes:
    """Return the contents of the file: the chosen modules by name, each as by ``code_of``."""
    return marshal.dumps({name: code_of(name) for name in chosen})
