"""Choosing, loading and calling a compiled kernel."""

from __future__ import annotations

import ctypes
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pbrain_engine.files import try_lock
from pbrain_engine.native.load import library, store
from pbrain_engine.native.load.library import KernelError, Library, load, processor_level
from pbrain_engine.native.load.store import TARGETS, host_target
from tests.native.test_uncompiled import TOY_WALK
from tests.programs import run_program, start_program

HOST = host_target()


class Toy:
    """A toy library with memory for one toy."""

    def __init__(self, folder: str, level: str, variant: str = "") -> None:
        self.library = Library(os.path.join(folder, HOST.file_name(level, variant)))
        self.memory = ctypes.create_string_buffer(self.library.toy_size())
        self.address = ctypes.addressof(self.memory)
        self.library.toy_clear(self.address)


@pytest.fixture
def toy(toy_folder: str) -> Toy:
    return Toy(toy_folder, HOST.levels[0])


@pytest.fixture
def unloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the first to ask load a library anew."""
    monkeypatch.setattr(library, "_loaded", {})


def test_a_library_tells_what_it_is(toy):
    assert toy.library.about["target"] == HOST.name
    assert toy.library.about["asserts"] == toy.library.about["bounds"] == "0"
    assert toy.library.exports["toy_walk"] == "pi"


def test_arguments_beyond_the_registers_arrive(toy):
    numbers = [-1, 2**40, 3, -(2**62), 5, 6, 7, 8]
    expected = sum((i + 1) * n for i, n in enumerate(numbers))
    assert toy.library.toy_sum(*numbers) == (expected + 2**63) % 2**64 - 2**63


def test_every_level_that_the_processor_reaches_computes_the_same(toy_folder):
    reached = processor_level(load())
    for level in HOST.levels[: HOST.levels.index(reached) + 1]:
        toy = Toy(toy_folder, level)
        value = toy.library.toy_walk(toy.address, 4)
        assert (value, toy.library.toy_nodes(toy.address)) == TOY_WALK


def test_a_call_that_no_kernel_takes_is_refused(toy):
    with pytest.raises(TypeError, match="takes 2 arguments, not 1"):
        toy.library.toy_walk(toy.address)
    with pytest.raises(AttributeError, match="no_such_function"):
        toy.library.no_such_function()


def test_only_a_checked_build_says_which_assert_or_index_fails(toy, toy_folder):
    checked_toy = Toy(toy_folder, load().level, "asserts-bounds")
    for each in (toy, toy, checked_toy):
        assert each.library.toy_put(each.address, 5) == 0
    with pytest.raises(KernelError, match=r"AssertionError.* in put, line \d+ of .*toy_kernels"):
        checked_toy.library.toy_put(checked_toy.address, 5)
    for cell in (64, -1):
        with pytest.raises(KernelError, match="IndexError"):
            checked_toy.library.toy_read(checked_toy.address, cell)


def test_a_file_that_is_no_kernel_is_a_kernel_error_with_the_cure(tmp_path):
    path = tmp_path / "half.so"
    path.write_bytes(b"\x7fELF")
    with pytest.raises(KernelError, match="is not a kernel .*; run `make setup`"):
        Library(str(path))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system looks for itself")
def test_a_kernel_without_its_end_is_told_and_ends_no_process(tmp_path):
    whole = Path(load().path).read_bytes()
    path = tmp_path / "half.so"
    code = "import sys; from pbrain_engine.native.load.library import Library; Library(sys.argv[1])"
    for length in (len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        result = run_program(sys.executable, "-c", code, str(path))
        assert result.returncode == 1 and "its end is missing" in result.stderr, length


@pytest.mark.usefixtures("unloaded")
@pytest.mark.parametrize("trouble", ["missing", "broken"])
def test_where_kernels_were_shipped_compiling_one_is_no_cure(trouble, monkeypatch, tmp_path):
    (tmp_path / store.SHIPPED_MARK).touch()
    if trouble == "broken":
        (tmp_path / HOST.file_name(HOST.levels[0])).touch()
    monkeypatch.setattr(store, "SHIPPED_FOLDER", str(tmp_path))
    with pytest.raises(KernelError, match="; install Numoku again$"):
        load()


@pytest.mark.usefixtures("unloaded")
def test_the_best_level_for_the_processor_is_chosen(monkeypatch, toy_folder):
    monkeypatch.setattr(library, "kernel_folder", lambda: toy_folder)
    assert load().level == processor_level(load())
    if HOST.levels[0] == "v2":
        monkeypatch.setattr(library, "_loaded", {})
        monkeypatch.setattr(library, "processor_level", lambda _: "v2")
        assert load().level == "v2"
        with pytest.raises(KernelError, match="does not support a kernel of level v3"):
            load("v3")


@pytest.mark.usefixtures("unloaded")
def test_a_shipped_kernel_is_believed(monkeypatch, toy_folder, tmp_path):
    for level in HOST.levels:
        name = HOST.file_name(level)
        (tmp_path / name).write_bytes(Path(toy_folder, name).read_bytes())
    (tmp_path / store.SHIPPED_MARK).touch()
    monkeypatch.setattr(store, "SHIPPED_FOLDER", str(tmp_path))
    assert "toy_walk" in load().exports


def test_load_gives_threads_the_same_library():
    with ThreadPoolExecutor(8) as threads:
        first, *others = threads.map(lambda _: load(), range(8))
    assert all(other is first for other in others)


@pytest.mark.timed
def test_loading_takes_milliseconds():
    code = (
        "import time; from pbrain_engine.native.load import library; a = time.perf_counter();"
        "library.load(); print(time.perf_counter() - a)"
    )
    taken = [run_program(sys.executable, "-c", code, check=True).stdout for _ in range(5)]
    assert min(map(float, taken)) < 0.010


@pytest.mark.timed
def test_a_call_takes_about_a_microsecond(toy):
    call, address = toy.library.toy_nodes, toy.address

    def seconds() -> float:
        start = time.perf_counter()
        for _ in range(1000):
            call(address)
        return (time.perf_counter() - start) / 1000

    assert statistics.median(seconds() for _ in range(20)) < 5e-6


def level_of(
    features: Sequence[store.Bit], saved: int | None = 0xE7, highest: int = 7
) -> str | None:
    """Return the level of a processor whose system saves these registers; None: do not ask."""

    def cpuid(leaf: int, subleaf: int) -> tuple[int, int, int, int]:
        if leaf in (0, 0x8000_0000):
            return (highest if leaf == 0 else store.EXTENDED + 1), 0, 0, 0
        a, b, c, d = (
            sum(1 << bit for at, place, bit in features if (at, place) == (leaf, register))
            for register in range(4)
        )
        return a, b, c, d

    def xgetbv() -> int:
        assert saved is not None, "an illegal instruction"
        return saved

    return store.x86_level(cpuid, xgetbv)


def test_a_level_needs_each_of_its_features_and_the_registers_that_the_system_saves():
    features: list[store.Bit] = []
    for level, needed in store.FEATURES.items():
        below = level_of(features)
        features += needed.values()
        assert level_of(features) == level
        for missing in needed.values():
            assert level_of([feature for feature in features if feature != missing]) == below
    for saved, level in ((0x3, "v2"), (0x7, "v3"), (0xE7, "v4")):
        assert level_of(features, saved) == level
    assert level_of(features, highest=6) == "v2", "a leaf beyond the highest is not believed"
    assert level_of([*store.FEATURES["v2"].values()], saved=None) == "v2"


def test_the_processor_is_the_one_that_the_system_describes():
    if HOST is not TARGETS["linux-x86_64"]:
        pytest.skip("the system's own list of features is read on Linux x86-64 only")
    flags = next(
        line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("flags")
    ).split()
    level = processor_level(load())
    assert (level in ("v3", "v4")) == {"avx2", "bmi2", "fma", "abm", "movbe"}.issubset(flags)
    assert (level == "v4") == {"avx512f", "avx512bw", "avx512vl", "avx512dq"}.issubset(flags)


def test_a_level_can_be_forced_for_play(monkeypatch):
    present = load()
    monkeypatch.setattr(library, "processor_level", lambda _: None)  # a processor that lies
    monkeypatch.setattr(library, "_loaded", {})
    with pytest.raises(KernelError, match="this processor does not support"):
        load()
    monkeypatch.setenv("NUMOKU_LEVEL", present.level)
    assert load().path == present.path
    monkeypatch.setattr(library, "_loaded", {})
    monkeypatch.setenv("NUMOKU_LEVEL", "v9")
    with pytest.raises(KernelError, match="no kernel of level v9"):
        load()


@pytest.mark.usefixtures("unloaded")
def test_the_cure_is_one_that_the_user_has(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMOKU_CACHE", str(tmp_path))
    with pytest.raises(KernelError, match="run `make setup`"):
        load()
    monkeypatch.setattr(library, "is_checkout", lambda: False)
    with pytest.raises(KernelError, match="then `numoku build`"):
        load()


@pytest.mark.skipif(sys.platform == "win32", reason="paths are others there")
@pytest.mark.parametrize(
    "system, there, folder",
    [
        ("linux", {"NUMOKU_CACHE": "/own"}, "/own"),
        ("linux", {"tree": "rw"}, "/tree/.kernels"),
        ("linux", {"tree": "built"}, "/tree/.kernels"),
        ("linux", {"tree": "ro"}, "/home/.cache/numoku"),
        ("linux", {"XDG_CACHE_HOME": "/cache"}, "/cache/numoku"),
        ("linux", {}, "/home/.cache/numoku"),
        ("darwin", {"XDG_CACHE_HOME": "/cache"}, "/home/Library/Caches/numoku"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/numoku"),
        ("win32", {}, "/home/AppData/Local/numoku"),
        ("linux", {"shipped": "yes"}, "/tree/pbrain_engine/native/lib"),
    ],
)
def test_kernels_are_kept_where_they_may_be(system, there, folder, monkeypatch):
    for name in ("NUMOKU_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {**there, "HOME": "/home"}.items():
        monkeypatch.setenv(name, value)
    tree = there.get("tree")
    found = {
        "/tree/pyproject.toml": tree, "/tree/.kernels/DIGEST": tree == "built",
        "/tree/pbrain_engine/native/lib/SHIPPED": "shipped" in there,
    }  # fmt: skip
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(store, "PACKAGE", "/tree/pbrain_engine")
    monkeypatch.setattr(store, "SHIPPED_FOLDER", "/tree/pbrain_engine/native/lib")
    monkeypatch.setattr(store, "digest", lambda: "DIGEST")
    monkeypatch.setattr(os.path, "exists", lambda path: bool(found.get(path)))
    monkeypatch.setattr(os, "access", lambda *what: (tree, *what) == ("rw", "/tree", os.W_OK))
    kernels = store.kernel_folder()
    monkeypatch.undo()
    assert kernels == folder + "/DIGEST" * ("shipped" not in there)


HOLD = (
    "import sys; from pbrain_engine.files import try_lock;"
    "file = open(sys.argv[1], 'r+b'); print(try_lock(file), flush=True); sys.stdin.read()"
)


def test_a_lock_has_one_holder_and_dies_with_it(tmp_path):
    path = tmp_path / "journal"
    path.write_bytes(b"lines\n")
    hold = [sys.executable, "-c", HOLD, str(path)]
    with start_program(*hold, stdin=subprocess.PIPE) as other:
        assert other.stdout is not None and other.stdout.readline() == "True\n"
        with path.open("r+b") as file:
            assert not try_lock(file)
            assert file.tell() == 0
        assert path.read_bytes() == b"lines\n"  # whoever only reads is not kept off
        other.kill()
    with path.open("r+b") as file:
        assert try_lock(file)
