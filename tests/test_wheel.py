"""A wheel with compiled kernels plays without a compiler, NumPy or numba."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from pbrain_engine.native.library import load
from pbrain_engine.native.targets import host_target

ROOT = Path(__file__).parent.parent
THINK = (
    "from pbrain_engine.engine import Engine, Limit\n"
    "from pbrain_engine.native.store import is_shipped\n"
    "with Engine(hash_size=1 << 20) as engine:\n"
    "    engine.play(7, 7)\n"
    "    print(is_shipped(), engine.library.path, engine.think(Limit(depth=3)).depth)\n"
)


@pytest.fixture(scope="module")
def wheels() -> Any:
    spec = importlib.util.spec_from_file_location("wheels", ROOT / "build" / "wheels.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def installed(wheels: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the unpacked wheel of this platform."""
    folder = tmp_path_factory.mktemp("wheel")
    target = host_target()
    assert target is not None
    kernels = folder / "kernels"
    kernels.mkdir()
    for level in target.levels:  # the same kernel under every name: the processor fits it
        shutil.copy(load().path, kernels / target.file_name(level))
    wheels.make_wheel(target, str(kernels), str(folder))
    (wheel,) = folder.glob("*.whl")
    assert wheel.name.endswith(f"-py3-none-{wheels.WHEEL_PLATFORMS[target.name]}.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "installed")
    return folder / "installed"


def test_an_installed_wheel_thinks_without_site_packages(installed: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-S", "-c", THINK],  # no site packages: no NumPy, no numba
        env=dict(os.environ, PYTHONPATH=str(installed)),
        cwd=installed,
        capture_output=True,
        text=True,
    )
    assert result.stdout.split()[0] == "True", result.stderr
    assert result.stdout.split()[1].startswith(str(installed))
    assert result.stdout.split()[2] == "3"


def test_a_wheel_has_all_that_the_engine_reads(installed: Path) -> None:
    names = {path.relative_to(installed).as_posix() for path in installed.rglob("*")}
    assert "pbrain_engine/py.typed" in names
    assert any(name.startswith("pbrain_engine/weights/") for name in names)
    assert any(name.endswith("entry_points.txt") for name in names)
    assert not any(name.split("/")[0] in ("tests", "build") for name in names)
