"""Build a wheel for every platform, each with the compiled kernels of all its levels.

A wheel is made from a copy of the sources that the kernels are shipped with, so that the
installed package believes them and needs no compiler.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pbrain_engine.native.compile import Build, BuildError, Output, build
from pbrain_engine.native.store import SHIPPED_MARK
from pbrain_engine.native.targets import TARGETS, Target

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("pyproject.toml", "README.md", "LICENSE")
WHEEL_PLATFORMS = {
    "linux-x86_64": "manylinux_2_17_x86_64",
    "linux-aarch64": "manylinux_2_17_aarch64",
    "windows-x86_64": "win_amd64",
    "macos-x86_64": "macosx_11_0_x86_64",
    "macos-arm64": "macosx_11_0_arm64",
}


def stage(target: Target, kernels: str, folder: Path) -> None:
    """Copy the sources into a folder, with the kernels of one platform in their place."""
    for name in SOURCES:
        shutil.copy(ROOT / name, folder / name)
    ignored = shutil.ignore_patterns("__pycache__", "lib")
    shutil.copytree(ROOT / "pbrain_engine", folder / "pbrain_engine", ignore=ignored)
    shipped = folder / "pbrain_engine" / "native" / "lib"
    shipped.mkdir()
    for level in target.levels:
        shutil.copy(Path(kernels, target.file_name(level)), shipped)
    (shipped / SHIPPED_MARK).write_text("The kernels here belong to the sources beside them.\n")


def make_wheel(target: Target, kernels: str, out: str) -> None:
    """Write the wheel of one platform.

    Raises:
        BuildError: with what the packaging tools say.
    """
    with tempfile.TemporaryDirectory(prefix="numoku-wheel-") as folder:
        stage(target, kernels, Path(folder))
        platform = f"--build-option=--plat-name={WHEEL_PLATFORMS[target.name]}"
        command = [sys.executable, "-m", "pip", "wheel", folder, "--wheel-dir", out, "--no-deps"]
        command += ["--quiet", "--no-build-isolation", f"--config-settings={platform}"]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode != 0:
            raise BuildError(result.stderr.strip())


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the kernels, then the wheels; return the exit status."""
    parser = argparse.ArgumentParser(description="Build wheels with compiled kernels.")
    parser.add_argument("out", help="folder for the wheels")
    parser.add_argument("--target", choices=TARGETS, help="one platform (default: all)")
    options = parser.parse_args(arguments)
    targets = [TARGETS[options.target]] if options.target else list(TARGETS.values())
    outputs = tuple(Output(target, level) for target in targets for level in target.levels)
    try:
        with tempfile.TemporaryDirectory(prefix="numoku-kernels-") as kernels:
            build(Build(outputs), kernels)
            for target in targets:
                make_wheel(target, kernels, options.out)
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for wheel in sorted(Path(options.out).glob("*.whl")):
        print(f"{wheel}  {wheel.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
