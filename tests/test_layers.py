"""The layers: a module imports only from below it, and a move needs little to be imported."""

from __future__ import annotations

import ast
import sys
from functools import cache
from importlib.util import resolve_name
from pathlib import Path

import pytest

from tests import check
from tests.programs import ROOT, run_program

PACKAGE = "pbrain_engine"

# Low to high. A name stands for a module or a whole subpackage; those of one row are on a
# level and do not know each other.
Rows = tuple[tuple[str, ...], ...]
LAYERS: Rows = (
    ("errors",),
    ("files", "kernel", "progress", "threads", "values", "workers"),
    ("position",),
    ("patterns",),
    ("eval",),
    ("search",),
    ("options",),
    ("native",),
    ("game",),
    ("notation",),
    ("solver",),
    ("engine",),
    ("database", "methods", "pages", "protocol"),
    ("arena",),
    ("doctor", "learn", "tuning"),
    ("app",),
    ("board", "commands"),
    ("site",),
    ("cli",),
    ("__main__",),
)
# The same inside subpackages that have parts of their own.
ORDERS: dict[str, Rows] = {
    "": LAYERS,
    "search": (("parameters",), ("threats",), ("alphabeta",)),
    "game": (
        ("cells", "position"),
        ("record",),
        ("diagram", "opening_rules", "tree"),
        ("game",),
        ("result",),
        ("documents",),
    ),
    "native": (("exports_lessons", "exports_threats"), ("exports",), ("load",), ("build",)),
    "arena": (
        ("process", "textbook"),
        ("settings",),
        ("elo", "referee"),
        ("openings", "standings"),
        ("arguments", "live", "players"),
        ("pool",),
        ("match",),
        ("report",),
    ),
}


HEIGHT = {name: height for height, row in enumerate(LAYERS) for name in row}

# Engine and game use of the native library what finds and loads it, and nothing else.
STANDARD_ONLY = (
    "native/load/*.py", "position/rules.py", "position/geometry.py", "values.py", "game/*.py",
    "solver.py", "engine/*.py", "protocol/*.py", "__main__.py",
)  # fmt: skip
UNUSED = {  # each takes milliseconds, or much more
    "numpy", "numba", "llvmlite", "rich", "asyncio", "logging", "sqlite3", "argparse",
    "dataclasses", "inspect", "random", "queue", "subprocess", "tempfile", "platform", "hashlib",
}  # fmt: skip


def modules() -> list[Path]:
    return sorted((ROOT / PACKAGE).rglob("*.py"))


def dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Return all nodes of a module's source."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@cache
def imports(path: Path) -> tuple[str, ...]:
    """Return the full names that a module imports, also those inside functions."""
    package = dotted(path) if path.name == "__init__.py" else dotted(path).rpartition(".")[0]
    found = list[str]()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package)
            found += [f"{base}.{alias.name}" for alias in node.names]
    return tuple(found)


@cache
def is_own_module(dotted_name: str) -> bool:
    place = ROOT.joinpath(*dotted_name.split("."))
    return place.is_dir() or place.with_suffix(".py").exists()


@cache
def own_imports(path: Path) -> tuple[str, ...]:
    """Return the modules of the package that a module imports, by their full names."""
    found = (name if is_own_module(name) else name.rpartition(".")[0] for name in imports(path))
    return tuple(name for name in found if name.startswith(f"{PACKAGE}.") and is_own_module(name))


@pytest.mark.parametrize("package", ORDERS)
def test_a_module_imports_only_from_lower_layers(package):
    order = {name: height for height, row in enumerate(ORDERS[package]) for name in row}
    place = [PACKAGE, package] if package else [PACKAGE]
    depth = len(place)
    for path in modules():
        words = dotted(path).split(".")
        if words[:depth] != place or len(words) == depth:  # the package itself exports names
            continue
        assert words[depth] in order, f"{words[depth]} has no place in the order of layers"
        for name in own_imports(path):
            others = name.split(".")
            if others[:depth] == place and others[depth:] and others[depth] != words[depth]:
                is_below = order[others[depth]] < order[words[depth]]
                assert is_below, f"{dotted(path)} imports {name}"


def test_no_module_imports_what_is_not_shipped():
    for path in modules():
        assert not {name.split(".")[0] for name in imports(path)} & {"tests", "build", "lab"}, path


def test_no_imports_go_in_circles():
    graph = {dotted(path): set(own_imports(path)) for path in modules()}
    for path in modules():
        if path.name == "__init__.py":  # a package is loaded before its modules, and asks none
            graph[dotted(path)] = set()
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " imports ".join((*trail[trail.index(name) :], name))
        if name not in done:
            for other in sorted(graph[name]):
                visit(other, (*trail, name))
            done.add(name)

    for name in sorted(graph):
        visit(name, ())


def test_a_class_name_has_one_meaning():
    places: dict[str, list[str]] = {}
    for path in modules():
        for node in nodes(path):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(dotted(path))
    found = {name: where for name, where in places.items() if len(where) > 1}
    assert found == {}


def test_the_order_and_the_page_for_contributors_name_every_layer_once():
    assert len(HEIGHT) == sum(map(len, LAYERS))
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for name in HEIGHT:
        if not name.startswith("__"):
            word = f"{name}/" if (ROOT / PACKAGE / name).is_dir() else f"{name}.py"
            assert f"`{word}" in page, word


@pytest.mark.parametrize("pattern", STANDARD_ONLY)
def test_the_path_to_a_move_names_the_standard_library_only(pattern):
    paths = list((ROOT / PACKAGE).glob(pattern))
    assert paths, f"nothing is called {pattern}"
    for path in paths:
        roots = {name.split(".")[0] for name in imports(path)}
        assert roots <= set(sys.stdlib_module_names) | {PACKAGE, "__future__"}, path


@pytest.mark.parametrize("pattern", ["game/*.py", "solver.py", "engine/*.py", "protocol/*.py"])
def test_the_engine_uses_of_the_compiler_only_what_loads_its_work(pattern):
    for path in sorted((ROOT / PACKAGE).glob(pattern)):
        used = [name for name in imports(path) if name.startswith(f"{PACKAGE}.native.")]
        assert all(name.split(".")[2] == "load" for name in used), f"{path.name} imports {used}"


def test_a_protocol_session_imports_nothing_heavy(tmp_path):
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
    result = run_program(sys.executable, "-c", code, input=commands)
    replies = [line for line in result.stdout.splitlines() if not line.startswith("MESSAGE")]
    assert replies[0] == "OK" and replies[1].replace(",", "").isdigit(), result.stdout
    imported = {name.split(".")[0] for name in names.read_text(encoding="utf-8").split()}
    assert "ctypes" in imported
    assert imported & UNUSED == set()


def test_every_package_has_tests_of_its_own():
    packages = {path.parent.name for path in (ROOT / PACKAGE).glob("*/__init__.py")}
    assert packages <= set(check.packages())
