"""Shared by all tests: an up-to-date kernel, and the selection of tests by mode.

Tests normally run on the compiled kernel, which is built first if it is missing or stale. With
``NUMBA_DISABLE_JIT=1`` only the tests marked ``uncompiled`` run, which call kernels as plain Python
functions; ``native/test_uncompiled.py`` does so as a part of the normal run.
"""

from __future__ import annotations

import hashlib
import os
import signal
import sysconfig
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from pbrain_engine import Engine, Solver, cli
from pbrain_engine.files import hold_lock
from pbrain_engine.native.build import compile as kernel_compiler
from pbrain_engine.native.load.library import Library
from pbrain_engine.native.load.store import Target, cache_root, digest, host_target

Run = Callable[..., tuple[int, str, str]]
UNCOMPILED = os.environ.get("NUMBA_DISABLE_JIT") == "1"

# On several cores, a file is one unit of work, so that its shared fixtures are made once. The
# longest files come first: the last units should be short, or one core waits for the other. Files
# with pages are adjacent, since a browser lasts until a process leaves their folder; files that
# compile the same loops are not, so that the second finds them compiled.
FIRST = (
    "native/test_checked", "site/test_site", "native/test_replay", "learn/test_gradients",
    "arena/test_pool", "tests/test_cli", "native/test_compile", "site/test_visit",
    "board/test_page_main",
    "board/test_page_play", "board/test_page_files", "board/test_page_games",
    "board/test_page_server",
    "board/test_page_words", "board/test_page_opening", "board/test_page_board",
    "board/test_page_review", "board/test_app", "board/test_proofs", "build/test_package",
    "build/test_wheels", "lab/test_mutants", "native/test_uncompiled", "methods/test_methods",
    "arena/test_match", "build/test_bundle", "tests/test_claims", "arena/test_journal",
    "native/test_lower", "game/test_game", "database/test_connection", "doctor/test_exam",
    "learn/test_train", "position/test_rules", "native/test_library", "database/test_store",
    "protocol/test_transcripts", "learn/test_yardstick", "tests/test_solver",
    "search/test_signature", "commands/test_transcripts", "arena/test_players",
    "notation/test_notation", "eval/test_network", "build/test_pictures", "engine/test_searcher",
    "database/test_book", "learn/test_datagen", "engine/test_review",
    "learn/test_measure",
)  # fmt: skip


# Examples may take long on a busy machine; of most properties the first few find a fault.
settings.register_profile(
    "busy", deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("busy")


def pytest_configure(config: pytest.Config) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    if not UNCOMPILED and not config.option.collectonly:
        kernel_compiler.ensure()


def rank(item: pytest.Item) -> int:
    """Return the index of a test's file in ``FIRST``, or its length."""
    name = f"{item.path.parent.name}/{item.path.stem}"
    return FIRST.index(name) if name in FIRST else len(FIRST)


# Markers of few files: other files are not even imported when only these are selected.
RARE = {"timed and not long": "timed", "uncompiled": "uncompiled"}


def names(path: Path, kind: str) -> bool:
    return f"mark.{kind}" in path.read_text(encoding="utf-8")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    kind = RARE.get(config.option.markexpr)
    is_test = collection_path.match("test_*.py")
    return True if kind and is_test and not names(collection_path, kind) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    def runs(item: pytest.Item) -> bool:
        return ("uncompiled" in item.keywords) == UNCOMPILED

    for item in items:
        kinds = () if item.get_closest_marker("long") else RARE.values()
        for kind in kinds:
            if item.get_closest_marker(kind) and not names(item.path, kind):
                raise pytest.UsageError(f"{item.path} has to name its pytest.mark.{kind}")
    config.hook.pytest_deselected(items=[item for item in items if not runs(item)])
    items[:] = [item for item in items if runs(item)]
    if config.pluginmanager.hasplugin("xdist"):
        items.sort(key=rank)


@pytest.fixture(scope="session", autouse=True)
def state_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Redirect the state that programs write for their users to a temporary folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs a command and returns exit status, stdout and stderr."""

    def run(*arguments: str) -> tuple[int, str, str]:
        try:
            status = cli.main(arguments)
        except SystemExit as leaving:
            status = int(leaving.code or 0)
        out, err = capsys.readouterr()
        return status, out, err

    return run


@pytest.fixture
def engine() -> Iterator[Engine]:
    """Return an engine with a small table."""
    with Engine(hash_size=8 << 20) as engine:
        yield engine


@pytest.fixture(scope="module")
def solver() -> Iterator[Solver]:
    """Return a solver that keeps its tables from test to test."""
    with Solver(16_000_000) as solver:
        yield solver


@pytest.fixture(scope="session")
def checked_library() -> Library:
    """Return the kernel with asserts and bounds checks, for fuzzing."""
    from tests.checked import checked

    return checked()


def toy_levels(target: Target) -> tuple[str, ...]:
    """Return the levels of a platform for which the toys are made: all of this machine's alone."""
    return target.levels if target is host_target() else target.levels[:1]


@pytest.fixture(scope="session")
def toy_folder() -> str:
    """Return a folder with the toy kernels of every platform, and of this one with checks.

    It is next to the kernels, so that it is made once for each state of the sources.
    """
    source = (Path(__file__).parent / "native" / "toy_kernels.py").read_bytes()
    name = hashlib.sha256(digest().encode() + source).hexdigest()[:20]
    folder = os.path.join(cache_root(), f"toys-{name}")
    outputs = tuple(
        kernel_compiler.Output(target, level)
        for target in kernel_compiler.TARGETS.values()
        for level in toy_levels(target)
    )
    toys = kernel_compiler.Build(outputs, exports="tests.native.toy_kernels")
    kernel_compiler.build(toys, folder)
    host = (kernel_compiler.host_output(),)
    kernel_compiler.build(kernel_compiler.Build(host, "asserts-bounds", toys.exports), folder)
    return folder


@pytest.fixture(scope="session")
def tournament_zip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the ZIP for tournaments given by ``NUMOKU_PACKAGE``, or a new one.

    ``NUMOKU_PACKAGE`` may be a folder with the ZIP for this system. A new ZIP is made once for all
    processes that share a folder ``NUMOKU_MADE``.
    """
    if "NUMOKU_PACKAGE" in os.environ:
        path = Path(os.environ["NUMOKU_PACKAGE"]).resolve()
        target = host_target()
        if path.is_dir() and target is not None:
            (path,) = path.glob(f"numoku-*-{target.name}.zip")
        return path
    if find_spec("PyInstaller") is None:
        pytest.skip("PyInstaller is not installed")
    if os.name == "posix" and not sysconfig.get_config_var("PYTHONFRAMEWORK"):
        if not sysconfig.get_config_var("Py_ENABLE_SHARED"):
            pytest.skip("PyInstaller needs a Python with a shared library")
    from pbrain_engine.engine.engine import DEFAULT_WEIGHTS
    from pbrain_engine.eval.weights import load_weights
    from tests.build.building import package

    weights = load_weights(DEFAULT_WEIGHTS).key
    folder = Path(os.environ.get("NUMOKU_MADE") or tmp_path_factory.mktemp("made"))
    with hold_lock(str(folder / "package.lock"), lambda: None):
        there = list(folder.glob("numoku-*.zip"))
        return (
            there[0] if there else package.make_package(folder, {"nodes": 4711, "weights": weights})
        )
