"""The modules that every start of the program imports, together in one file.

PyInstaller keeps each module packed by itself and opens its archive again for each, which costs
more than running it where files are slow to open. These lie unpacked behind each other instead:
lines ``name kind length``, an empty line, then the code of each as ``marshal`` writes it.
``build/bundled.py`` imports from it; all other modules stay where PyInstaller puts them.
"""

from __future__ import annotations

import marshal
import os
import subprocess
import sys
from importlib.util import find_spec

FILE = "start.modules"  # `bundled.py` knows the name, too
OPTIMIZE = 2  # no asserts, and no docstrings: the command line shows those of other modules
PACKAGE, MODULE = "package", "module"
# What the program imports until it has answered START, and with its first move.
IMPORTED = (
    "pbrain_engine.protocol.serve, pbrain_engine.protocol.loop, pbrain_engine.engine.engine, "
    "pbrain_engine.native.load.targets"
)
LIST = f"import sys; old = set(sys.modules); import {IMPORTED}; print(*set(sys.modules) - old)"


def names(root: str) -> list[str]:
    """Return the modules in Python that a start imports, in a fixed order."""
    command = [sys.executable, "-S", "-c", LIST]
    environment = dict(os.environ, PYTHONPATH=root)
    result = subprocess.run(
        command, env=environment, input="", capture_output=True, text=True, check=True
    )
    return [name for name in sorted(result.stdout.split()) if source_of(name)]


def source_of(name: str) -> str | None:
    """Return the source file of a module; None where it is part of the interpreter or a library."""
    try:
        spec = find_spec(name)
    except ValueError:  # `os.path`, which is another module under a second name
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
    """Return the file with these modules."""
    codes = {name: code_of(name) for name in chosen}
    lines = [f"{name} {kind} {len(code)}\n" for name, (kind, code) in codes.items()]
    return "".join([*lines, "\n"]).encode("ascii") + b"".join(code for _, code in codes.values())
