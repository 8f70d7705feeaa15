"""The build backend of ``pip install .``: compiles the kernels of this machine into the wheel.

An editable install compiles nothing, as its sources change; ``numoku build`` does that.
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import (
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

Settings = dict[str, Any] | None

SOURCES = ("pyproject.toml", "README.md", "LICENSE", "MANIFEST.in", "build/backend.py")
REFUSAL = """
Numoku's kernel cannot be compiled here: {reason}.
Install a wheel with a kernel, or use a Python that numba 0.68 supports, on 64-bit x86 or ARM.
`pip install -e .` installs the sources without a kernel.
"""


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    """Return the build requirements: setuptools, and those of the extra ``build``."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    compiler = project["optional-dependencies"]["build"]
    return [*build_meta.get_requires_for_build_wheel(config_settings), *compiler]


def copy_sources(source: Path, folder: Path) -> None:
    """Copy the sources of the package to another folder, without libraries."""
    (folder / "build").mkdir()
    for name in SOURCES:
        shutil.copy(source / name, folder / name)
    ignored = shutil.ignore_patterns("__pycache__", "lib")
    shutil.copytree(source / "pbrain_engine", folder / "pbrain_engine", ignore=ignored)


def build_wheel(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Build a wheel from a copy of the sources with kernels; return its name."""
    sources, out = Path.cwd(), os.path.abspath(wheel_directory)
    with tempfile.TemporaryDirectory(prefix="numoku-wheel-") as folder:
        copy_sources(sources, Path(folder))
        compile_kernels(Path(folder))
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        options = [*(config_settings or {}).get("--build-option", []), f"--plat-name={platform}"]
        settings = {**(config_settings or {}), "--build-option": options}
        os.chdir(folder)
        try:
            return str(build_meta.build_wheel(out, settings, metadata_directory))
        finally:
            os.chdir(sources)


def compile_kernels(folder: Path) -> None:
    """Compile the kernels of this machine into the package in a folder.

    Raises:
        SystemExit: they cannot be compiled; the message says what to do.
    """
    sys.path.insert(0, str(folder))
    try:
        from pbrain_engine.errors import BuildError
        from pbrain_engine.native.build import compile as compiler
        from pbrain_engine.native.load.store import SHIPPED_MARK, host_target

        target = host_target()
        if target is None:
            raise BuildError("this kind of machine is not supported")
        lib = folder / "pbrain_engine" / "native" / "lib"
        outputs = tuple(compiler.Output(target, level) for level in target.levels)
        compiler.build(compiler.Build(outputs), str(lib))
        keep = {target.file_name(level) for level in target.levels}
        for path in lib.iterdir():
            if path.name not in keep:
                path.unlink()
        (lib / SHIPPED_MARK).write_text("The kernels here belong to these sources.\n")
    except Exception as error:  # numba raises many kinds
        raise SystemExit(REFUSAL.format(reason=error)) from None
    finally:
        sys.path.remove(str(folder))
