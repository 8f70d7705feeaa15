"""What every package carries beside the program: kernels, a mark that they fit, a signature.

Kernels come from the cache of this source tree, so that a build that was done for the tests
is not done again. The signature is measured here, on the sources, with one of these kernels:
a package that reports another one does not play as its sources do.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pbrain_engine.commands.bench import FILE, line
from pbrain_engine.native.build import compile as compiler
from pbrain_engine.native.load.store import SHIPPED_MARK, cache_root, digest
from pbrain_engine.native.load.targets import Target, host_target

ROOT = Path(__file__).resolve().parent.parent
RUN_TOOL = "import sys; from pbrain_engine.cli import main; sys.exit(main(sys.argv[1:]))"


def host() -> Target:
    """Return the platform of this machine.

    Raises:
        BuildError: it is none of those that there are kernels for.
    """
    target = host_target()
    if target is None:
        raise compiler.BuildError("no kernel can be built for this kind of machine")
    return target


def build_kernels(targets: Iterable[Target]) -> Path:
    """Build all levels of some platforms into the cache and return their folder."""
    outputs = tuple(compiler.Output(target, level) for target in targets for level in target.levels)
    folder = os.path.join(cache_root(), digest())
    compiler.build(compiler.Build(outputs), folder)
    return Path(folder)


def bench(*options: str) -> dict[str, Any]:
    """Return what ``numoku bench`` measures on the sources."""
    compiler.ensure()
    return run_bench([sys.executable, "-c", RUN_TOOL], *options)


def run_bench(command: list[str], *options: str) -> dict[str, Any]:
    """Return what the bench of a program measures.

    Raises:
        BuildError: it fails.
    """
    command = [*command, "bench", "--json", *options]
    environment = dict(os.environ, PYTHONPATH=str(ROOT))
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    if result.returncode != 0:
        raise compiler.BuildError(f"{command[0]}: the bench failed\n{result.stderr.strip()}")
    figures: dict[str, Any] = json.loads(result.stdout)
    return figures


def ship(target: Target, kernels: Path, folder: Path, figures: dict[str, Any]) -> None:
    """Fill a folder with the kernels of one platform, and with what was measured."""
    folder.mkdir(parents=True, exist_ok=True)
    for level in target.levels:
        shutil.copyfile(kernels / target.file_name(level), folder / target.file_name(level))
    text = "The kernels here belong to the sources beside them.\n"
    (folder / SHIPPED_MARK).write_text(text, encoding="ascii", newline="\n")
    signature = line(figures["weights"], figures["nodes"])
    (folder / FILE).write_text(signature, encoding="ascii", newline="\n")
