"""Build a wheel for every platform, each with the compiled kernels of all its levels, and an sdist.

A wheel is made from a copy of the sources together with their kernels, so that the installed
package trusts them and needs no compiler.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import shipping
from backend import copy_sources
from shipping import ROOT

from pbrain_engine.native.load.store import TARGETS, Target

EPOCH = "315532800"  # 1980, the first year in a ZIP, for reproducible bytes
WHEEL_PLATFORMS = {
    "linux-x86_64": "manylinux_2_17_x86_64",
    "linux-aarch64": "manylinux_2_17_aarch64",
    "windows-x86_64": "win_amd64",
    "macos-x86_64": "macosx_11_0_x86_64",
    "macos-arm64": "macosx_11_0_arm64",
    "wasm32": "pyemscripten_2026_0_wasm32",  # of Pyodide with CPython 3.14
}


def make_wheel(target: Target, kernels: Path, out: Path, figures: dict[str, Any]) -> None:
    """Write the wheel of one platform; ``figures`` are the bench results of the sources.

    Raises:
        BuildError: it fails; the message has the output of the packaging tools.
    """
    with tempfile.TemporaryDirectory(prefix="numoku-wheel-") as folder:
        copy_sources(ROOT, Path(folder))
        shipped = Path(folder, "pbrain_engine", "native", "lib")
        shipping.ship(target, kernels, shipped, figures)
        platform = f"--plat-name={WHEEL_PLATFORMS[target.name]}"
        run_setuptools(Path(folder), "bdist_wheel", "--dist-dir", str(out.resolve()), platform)


def make_sdist(out: Path) -> None:
    """Write the source distribution, which compiles a kernel where it is installed.

    Raises:
        BuildError: it fails; the message has the output of the packaging tools.
    """
    with tempfile.TemporaryDirectory(prefix="numoku-sdist-") as folder:
        copy_sources(ROOT, Path(folder))
        run_setuptools(Path(folder), "sdist", "--dist-dir", str(out.resolve()))


def run_setuptools(folder: Path, *command: str) -> None:
    """Run a setuptools command on the project in a folder, in this environment."""
    command = (sys.executable, "-c", "import setuptools; setuptools.setup()", "--quiet", *command)
    # Without PYTHONPATH, so that it uses the project there, not this one.
    shipping.run(command, folder, SOURCE_DATE_EPOCH=EPOCH, PYTHONPATH="")


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the kernels, then wheels and sdist; return the exit status."""
    parser = argparse.ArgumentParser(description="Build the wheels and the sdist.")
    parser.add_argument("out", help="output folder")
    parser.add_argument("--target", choices=TARGETS, help="one platform (default: all)")
    options = parser.parse_args(arguments)
    targets = [TARGETS[options.target]] if options.target else list(TARGETS.values())
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    kernels = shipping.build_kernels(targets)
    figures = shipping.bench()
    for target in targets:
        make_wheel(target, kernels, out, figures)
    make_sdist(out)
    for path in sorted([*out.glob("*.whl"), *out.glob("*.tar.gz")]):
        print(f"{path}  {path.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(shipping.status_of(main))
