"""The layers: a module imports only from below it, and a move needs little to be imported."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = "pbrain_engine"

# Low to high. A name stands for a module or a whole subpackage; those of one row are on a
# level and do not know each other.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("kernel", "values"),
    ("bits",),
    ("position",),
    ("patterns",),
    ("eval",),
    ("search",),
    ("native",),
    ("game",),
    ("findings", "foresight", "tablefile", "thought", "threads"),
    ("solver",),
    ("tactics", "thinking"),
    ("engine",),
    ("clock", "prover", "swap2"),
    ("protocol",),
    ("arena",),
    ("learn", "tuning"),
    ("bench", "solve"),
    ("commands",),
    ("cli",),
    ("__main__",),
)
HEIGHT = {name: height for height, row in enumerate(LAYERS) for name in row}

# What the native library needs to be found and loaded; engine and game use nothing else of it.
LOADING = ("cpu", "digest", "footprint", "library", "memory", "store", "targets")
STANDARD_ONLY = (
    *(f"native/{name}.py" for name in LOADING),
    "position/rules.py",
    "position/geometry.py",
    "position/notation.py",
    "values.py",
    "game.py",
    "findings.py",
    "foresight.py",
    "tablefile.py",
    "thought.py",
    "threads.py",
    "solver.py",
    "tactics.py",
    "thinking.py",
    "engine.py",
    "clock.py",
    "protocol/*.py",
    "__main__.py",
)
HEAVY = {"numpy", "numba", "llvmlite", "rich", "asyncio", "logging"}


def modules() -> list[Path]:
    return sorted((ROOT / PACKAGE).rglob("*.py"))


def dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> Iterator[str]:
    """Yield the full names that a module imports, also those inside functions."""
    package = dotted(path).split(".")
    if path.name != "__init__.py":
        package = package[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            name = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{name}.{alias.name}" for alias in node.names)


def layer(name: str) -> str | None:
    """Return the layer that a dotted name belongs to, None outside of the package or its root."""
    parts = name.split(".")
    return parts[1] if parts[0] == PACKAGE and len(parts) > 1 else None


def own_imports(path: Path) -> Iterator[str]:
    for name in imports(path):
        found = layer(name)
        is_module = found is not None and (
            (ROOT / PACKAGE / found).is_dir() or (ROOT / PACKAGE / f"{found}.py").exists()
        )
        if found is not None and is_module:
            yield found


@pytest.mark.parametrize("path", modules(), ids=lambda path: dotted(path))
def test_a_module_imports_only_from_lower_layers(path: Path) -> None:
    own = layer(dotted(path))
    if own is None:  # the package itself, which re-exports the public names
        return
    assert own in HEIGHT, f"{own} has no place in the order of layers"
    for other in own_imports(path):
        assert other == own or HEIGHT[other] < HEIGHT[own], f"{own} imports {other}"


def test_the_order_names_no_layer_twice() -> None:
    assert len(HEIGHT) == sum(map(len, LAYERS))


@pytest.mark.parametrize("path", modules(), ids=lambda path: dotted(path))
def test_nothing_imports_tests_or_build_scripts(path: Path) -> None:
    assert not {name.split(".")[0] for name in imports(path)} & {"tests", "build"}


@pytest.mark.parametrize("pattern", STANDARD_ONLY)
def test_the_path_to_a_move_names_the_standard_library_only(pattern: str) -> None:
    paths = list((ROOT / PACKAGE).glob(pattern))
    assert paths, f"nothing is called {pattern}"
    for path in paths:
        roots = {name.split(".")[0] for name in imports(path)}
        assert roots <= set(sys.stdlib_module_names) | {PACKAGE, "__future__"}, path


def test_the_engine_uses_of_the_compiler_only_what_loads_its_work() -> None:
    for name in ("game.py", "engine.py"):
        for imported in imports(ROOT / PACKAGE / name):
            if layer(imported) == "native":
                assert imported.split(".")[2] in LOADING, f"{name} imports {imported}"


def test_a_protocol_session_imports_nothing_heavy(tmp_path: Path) -> None:
    names = tmp_path / "imported"
    code = (  # an audit hook, since the session closes stderr and leaves without clean-up
        "import sys; sys.argv = ['pbrain-numoku']\n"
        f"names = open({str(names)!r}, 'w', buffering=1)\n"
        "note = lambda event, args: event == 'import' and print(args[0], file=names)\n"
        "sys.addaudithook(note)\n"
        "from pbrain_engine.__main__ import main\n"
        "main()\n"
    )
    commands = "START 15\nINFO timeout_turn 100\nTURN 7,7\nEND\n"
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, input=commands, capture_output=True, text=True
    )
    replies = [line for line in result.stdout.splitlines() if not line.startswith("MESSAGE")]
    assert replies[0] == "OK" and replies[1].replace(",", "").isdigit(), result.stdout
    imported = {name.split(".")[0] for name in names.read_text().split()}
    assert "ctypes" in imported
    assert imported & HEAVY == set()
