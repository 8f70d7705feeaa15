"""A wheel with compiled kernels plays without a compiler, NumPy or numba; an sdist is whole."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from pbrain_engine import __version__
from pbrain_engine.engine.engine import DEFAULT_WEIGHTS
from pbrain_engine.eval.weights import load_weights
from pbrain_engine.native.build import compile as compiler
from pbrain_engine.native.load.library import load
from tests.build.building import backend, shipping, wheels
from tests.programs import ROOT

pytestmark = pytest.mark.slow

FIGURES = {"nodes": 4711, "weights": load_weights(DEFAULT_WEIGHTS).key}
THINK = (
    "from pbrain_engine.engine.engine import Engine, Limit\n"
    "from pbrain_engine.native.load.store import is_shipped\n"
    "with Engine(hash_size=1 << 20) as engine:\n"
    "    engine.play(7, 7)\n"
    "    print(is_shipped(), engine.library.path, engine.think(Limit(depth=3)).depth)\n"
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel of this platform."""
    folder = tmp_path_factory.mktemp("wheel")
    target = shipping.host()
    kernels = folder / "kernels"
    kernels.mkdir()
    for level in target.levels:  # the same kernel under every name: the processor fits it
        shutil.copy(load().path, kernels / target.file_name(level))
    wheels.make_wheel(target, kernels, folder, FIGURES)
    (wheel,) = folder.glob("*.whl")
    assert wheel.name.endswith(f"-py3-none-{wheels.WHEEL_PLATFORMS[target.name]}.whl")
    return wheel


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Path:
    """Return a folder with the unpacked wheel."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(wheel.parent / "installed")
    return wheel.parent / "installed"


def test_the_page_on_installing_names_the_wheel_that_is_built():
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    platform = wheels.WHEEL_PLATFORMS["linux-x86_64"]
    named = f"pbrain_numoku-{__version__}-py3-none-{platform}.whl"
    assert set(re.findall(r"[\w.-]+\.whl\b", page)) == {named}


def test_an_installed_wheel_thinks_without_site_packages_and_tells_what_it_was_built_with(
    installed,
):
    command = [sys.executable, "-S", "-c", THINK]  # no site packages: no NumPy, no numba
    shipped, path, depth = shipping.run(command, installed, PYTHONPATH=str(installed)).split()
    assert (shipped, depth) == ("True", "3") and path.startswith(str(installed))
    command = [sys.executable, "-S", "-c", shipping.RUN_TOOL, "--version"]
    said = shipping.run(command, installed, PYTHONPATH=str(installed))
    facts = dict(line.split(None, 1) for line in said.splitlines())
    kernel = f"{load().about['target']} {load().level} {load().digest}"
    told = {"numoku": __version__, "kernel": kernel, "weights": FIGURES["weights"]}
    assert facts == facts | told | {"bench": "4711", "numba": "not installed"}


def test_a_wheel_in_an_empty_environment_has_both_commands(wheel, tmp_path):
    venv.create(tmp_path / "venv")
    scripts = next((tmp_path / "venv").glob("[bS][ic][nr]*"))  # bin, or Scripts on Windows
    pip = [sys.executable, "-m", "pip", "--python", str(next(scripts.glob("python*")))]
    install = [*pip, "install", "--quiet", "--no-index", "--disable-pip-version-check"]
    subprocess.run([*install, str(wheel)], check=True)
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}

    def run(name: str, *arguments: str, commands: str = "") -> str:
        program = shutil.which(name, path=str(scripts))
        return subprocess.run(
            [program, *arguments], cwd=tmp_path, env=environment, input=commands,
            stdout=subprocess.PIPE, text=True, check=True,
        ).stdout  # fmt: skip

    dialogue = "START 15\nINFO timeout_turn 0\nTURN 7,7\nEND\n"
    ok, move = run("pbrain-numoku", commands=dialogue).split()
    assert ok == "OK" and move.replace(",", "").isdigit()
    found = json.loads(run("numoku", "bench", "--short", "--json"))
    assert found["nodes"] == shipping.bench("--short")["nodes"]


def test_a_wheel_has_all_that_the_engine_reads_and_asks_for_no_version_of_the_c_library(installed):
    names = {path.relative_to(installed).as_posix() for path in installed.rglob("*")}
    assert "pbrain_engine/py.typed" in names
    assert any(name.startswith("pbrain_engine/weights/") for name in names)
    assert any(name.endswith("entry_points.txt") for name in names)
    assert not any(name.split("/")[0] in ("tests", "build", "lab") for name in names)
    libraries = list((installed / "pbrain_engine" / "native" / "lib").glob("*.so"))
    assert libraries or sys.platform != "linux"
    for path in libraries:
        assert b"GLIBC_" not in path.read_bytes()  # so that any manylinux platform is true


def test_an_sdist_has_all_sources_and_no_library(tmp_path):
    wheels.make_sdist(tmp_path)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    package = ROOT / "pbrain_engine"
    sources = {
        path.relative_to(ROOT).as_posix()
        for suffix in ("*.py", "*.ll", "*.numoku", "py.typed")
        for path in package.rglob(suffix)
    }
    assert sources <= names
    assert set(backend.SOURCES) <= names
    assert not any(name.endswith((".so", ".dll", ".dylib", ".pyc")) for name in names)


@pytest.mark.filterwarnings("ignore")  # setuptools about its own table in pyproject.toml
def test_pip_compiles_the_kernel_into_the_wheel(monkeypatch, tmp_path):
    target = shipping.host()

    def build(work: compiler.Build, folder: str) -> list[str]:
        assert [output.level for output in work.outputs] == list(target.levels)
        assert Path(folder).parts[-3:] == ("pbrain_engine", "native", "lib")
        Path(folder).mkdir()
        (Path(folder) / "front-end").write_bytes(b"left over")
        for path in work.paths(folder).values():
            shutil.copy(load().path, path)
        return []

    monkeypatch.setattr(compiler, "build", build)
    sources = tmp_path / "sources"
    sources.mkdir()
    backend.copy_sources(ROOT, sources)
    before = {path for path in sources.rglob("*") if "egg-info" not in str(path)}
    monkeypatch.chdir(sources)
    assert {"numba==0.68.*", "ziglang"} <= set(backend.get_requires_for_build_wheel())
    name = backend.build_wheel(str(tmp_path))
    assert "-py3-none-" in name and "any" not in name
    with zipfile.ZipFile(tmp_path / name) as archive:
        lib = {n for n in archive.namelist() if n.startswith("pbrain_engine/native/lib/")}
    kernels = {target.file_name(level) for level in target.levels}
    assert {Path(n).name for n in lib} == kernels | {"SHIPPED"}
    assert {path for path in sources.rglob("*") if "egg-info" not in str(path)} == before
