"""Building the kernel: when it is stale, and that builders do not disturb each other."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import llvmlite.binding as llvm
import pytest

from pbrain_engine.native.build import compile as kernel_compiler
from pbrain_engine.native.build import lower
from pbrain_engine.native.load import store
from pbrain_engine.native.load.store import digest, host_target, sources
from tests.programs import ROOT, run_program, start_program

pytestmark = pytest.mark.slow

PACKAGE = Path(store.PACKAGE)
SHOW = (
    "from pbrain_engine.native.load.library import load; library = load();"
    "print(library.path, library.toy_sum(1, 0, 0, 0, 0, 0, 0, 0))"
)
ENSURE = "from pbrain_engine.native.build.compile import ensure; print(ensure())"


def copy_into(folder: Path) -> Path:
    """Return a copy of the package that has the toys as its exports, so that it builds fast."""
    package = folder / "checkout" / "pbrain_engine"
    ignored = shutil.ignore_patterns("__pycache__", "lib")
    shutil.copytree(PACKAGE, package, ignore=ignored)
    shutil.copy(ROOT / "tests" / "native" / "toy_kernels.py", package / "native" / "exports.py")
    return package


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return copy_into(tmp_path)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[tuple[int, str, str]]]:
    """Return a copy that processes have built together, and the end and words of each."""
    package = copy_into(tmp_path_factory.mktemp("built"))
    processes = [start(package, "-c", ENSURE + ";" + SHOW) for _ in range(4)]
    said = [process.communicate(timeout=120) for process in processes]
    ends = [process.returncode for process in processes]
    return package, [(end, *words) for end, words in zip(ends, said, strict=True)]


def start(package: Path, *command: str) -> subprocess.Popen[str]:
    """Start Python beside a copy of the package, with a cache of its own."""
    cache = package.parent / "cache"
    environment = dict(os.environ, NUMOKU_CACHE=str(cache), PYTHONDONTWRITEBYTECODE="1")
    environment.pop("PYTHONPATH", None)
    return start_program(sys.executable, *command, cwd=package.parent, env=environment)


def run(package: Path, *command: str) -> tuple[str, str]:
    """Run Python beside a copy of the package; return what it printed and its progress."""
    process = start(package, *command)
    out, progress = process.communicate(timeout=120)
    assert process.returncode == 0, progress
    return out.strip(), progress


def libraries(package: Path) -> list[Path]:
    return sorted((package.parent / "cache").rglob("numoku-*"))


def test_processes_that_start_together_build_once_and_all_load(built):
    package, results = built
    assert [end for end, _, _ in results] == [0] * 4, results
    assert len({out for _, out, _ in results}) == 1
    progress = "".join(progress for _, _, progress in results)
    assert progress.count("compiled 8 exported functions") == 1 and "linked" in progress
    assert len(libraries(package)) == 1


def test_a_kernel_is_built_once_and_again_where_it_is_cut_off_or_a_callee_was_edited(built):
    package, _ = built
    (first,) = map(str, libraries(package))
    assert run(package, "-m", "pbrain_engine.native.build.compile") == (first, "")
    levels, progress = run(package, "-m", "pbrain_engine.native.build.compile", "--level", "all")
    assert "compiled" not in progress  # what is the same for every level is kept
    target = host_target()
    assert target is not None and len(levels.split()) == len(target.levels)
    assert progress.count("optimised") == len(target.levels) - 1
    cache, kept = package.parent / "cache", kernel_compiler.KEPT_DIGESTS
    stale = [cache / f"{age:020x}" for age in range(kept)]
    for age, folder in enumerate(stale):
        folder.mkdir()
        os.utime(folder, (age, age))
    with Path(first).open("r+b") as file:
        file.truncate(1000)
    assert "is not a kernel for this machine" in run(package, "-c", ENSURE)[1]
    assert stale[-1].exists() and not stale[0].exists()
    assert run(package, "-c", SHOW)[0] == f"{first} 1"
    helper = package / "position" / "geometry.py"  # any file of the kernel counts, not exports only
    helper.write_text(helper.read_text(encoding="utf-8") + "\n# an edit\n")
    process = start(package, "-c", SHOW)
    assert "numoku build" in process.communicate(timeout=60)[1] and process.returncode != 0
    exports = package / "native" / "exports.py"
    exports.write_text(
        exports.read_text(encoding="utf-8").replace("return a + 2 * b", "return 7 * a + 2 * b")
    )
    run(package, "-c", ENSURE)
    assert run(package, "-c", SHOW)[0].split()[1] == "7"
    assert len(libraries(package)) == len(target.levels) + 1


def test_a_kernel_that_does_not_compile_is_an_error_and_leaves_nothing(copy):
    exports = copy / "native" / "exports.py"
    exports.write_text(
        exports.read_text(encoding="utf-8").replace("return a + 2 * b", "return undefined_name")
    )
    process = start(copy, "-m", "pbrain_engine.native.build.compile")
    _, progress = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "undefined_name" in progress and "does not compile" in progress
    assert libraries(copy) == []


def test_sources_that_change_during_the_build_are_noticed(monkeypatch, tmp_path):
    digests = iter(["before", "after"])
    monkeypatch.setattr(kernel_compiler, "digest", lambda: next(digests))
    monkeypatch.setattr(kernel_compiler, "_emit_objects", lambda *_: None)
    with pytest.raises(kernel_compiler.BuildError, match="changed while"):
        output = kernel_compiler.host_output()
        kernel_compiler.build(kernel_compiler.Build((output,)), str(tmp_path))
    assert list(tmp_path.glob("front-end*")) == []


@pytest.mark.parametrize("code", ["define void @a() { ret void }", "declare void @a()"])
def test_levels_are_shared_out_and_a_defect_in_one_fails_the_build(code, tmp_path):
    kept = tmp_path / "front-end"
    caller = "define void @b() {\n call void @a()\n ret void\n}"
    kept.write_bytes(b"numba=1\n\0" + llvm.parse_assembly(f"{code}\n{caller}").as_bitcode())
    words = [word for level in ("v2", "v3") for word in ("linux-x86_64", level)]
    failed = lower.main(["unused", "digest", str(kept), str(tmp_path), *words])
    assert failed == code.startswith("declare")
    written = {path.name for path in tmp_path.iterdir()} - {kept.name}
    assert written == (set() if failed else {"linux-x86_64-v2.o", "linux-x86_64-v3.o"})


def test_the_digest_covers_every_module_that_the_exports_reach():
    code = (
        "import sys; before = set(sys.modules); import pbrain_engine.native.exports;"
        "print(*(m.__file__ for n, m in sys.modules.items() if n.startswith('pbrain_engine')))"
    )
    output = run_program(sys.executable, "-c", code, check=True).stdout
    reached = {Path(name).relative_to(PACKAGE).as_posix() for name in output.split()}
    packages = {"__init__.py", "native/__init__.py", "errors.py"}  # nothing that is compiled
    assert reached - set(sources()) <= packages


def test_the_digest_sees_content_and_names_and_not_line_ends(copy):
    before = digest(str(copy))
    file = copy / "kernel" / "__init__.py"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert digest(str(copy)) == before
    text = file.read_bytes()
    seen = {before}
    for changed in (text.replace(b"kernel", b"KERNEL", 1), text + b"\r\n"):
        file.write_bytes(changed)
        seen.add(digest(str(copy)))
    (copy / "search" / "aaa.py").write_text("", encoding="utf-8")
    seen.add(digest(str(copy)))
    (copy / "search" / "aaa.py").rename(copy / "search" / "aab.py")
    assert len({*seen, digest(str(copy))}) == 5


def test_the_digest_covers_everything_that_builds_a_kernel(copy):
    """A kernel that was built in another way is another kernel: each of these files counts."""
    building = {p.name for p in (copy / "native" / "build").iterdir() if p.suffix in (".py", ".ll")}
    assert {"compile.py", "front.py", "lower.py", "windows.ll", "runtime.ll"} <= building
    whole = digest(str(copy))
    for name in (*sources(), *(f"native/build/{name}" for name in building)):
        before = (copy / name).read_bytes()
        (copy / name).write_bytes(before + b"\n")
        assert digest(str(copy)) != whole, name
        (copy / name).write_bytes(before)
    assert digest(str(copy)) == whole


def test_the_pinned_compiler_is_the_one_of_the_digest():
    pin = f'"{store.COMPILER.replace(" ", "==")}.*"'
    assert pin in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_old_kernels_are_forgotten(tmp_path):
    for age in range(kernel_compiler.KEPT_DIGESTS + 3):
        folder = tmp_path / f"{age:020x}"
        folder.mkdir()
        os.utime(folder, (1_000_000 - age, 1_000_000 - age))
    own = tmp_path / "games"
    own.mkdir()
    os.utime(own, (1, 1))
    with pytest.MonkeyPatch.context() as patch:  # what is in use may stay
        patch.setattr(os, "rmdir", Mock(side_effect=OSError))
        kernel_compiler.forget_old_kernels(str(tmp_path))
    kernel_compiler.forget_old_kernels(str(tmp_path))
    left = {folder.name for folder in tmp_path.iterdir()}
    assert left == {"games", *(f"{age:020x}" for age in range(kernel_compiler.KEPT_DIGESTS))}
