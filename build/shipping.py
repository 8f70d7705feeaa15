"""The parts of every package besides the program: kernels, a mark that they fit, a signature.

Kernels come from the cache of this source tree, so that those built for the tests are reused. The
signature is measured here, on the sources, with one of these kernels: a package with another
signature does not play like its sources. ``shipping.py FOLDER`` copies the kernels of every
platform and level to a folder.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from pbrain_engine.commands.bench import FILE, line
from pbrain_engine.errors import BuildError
from pbrain_engine.native.build import compile as compiler
from pbrain_engine.native.load.store import (
    SHIPPED_MARK,
    TARGETS,
    Target,
    cache_root,
    digest,
    host_target,
)

ROOT = Path(__file__).resolve().parent.parent
RUN_TOOL = "import sys; from pbrain_engine.cli import main; sys.exit(main(sys.argv[1:]))"


def host() -> Target:
    """Return the platform of this machine.

    Raises:
        BuildError: no kernels exist for it.
    """
    target = host_target()
    if target is None:
        raise BuildError("no kernel can be built for this kind of machine")
    return target


def build_kernels(targets: Iterable[Target]) -> Path:
    """Build all levels of some platforms into the cache; return their folder."""
    outputs = tuple(compiler.Output(target, level) for target in targets for level in target.levels)
    folder = os.path.join(cache_root(), digest())
    compiler.build(compiler.Build(outputs), folder)
    return Path(folder)


def status_of(main: Callable[[], int]) -> int:
    """Run a script; return its status, or print a BuildError in one line and return 1."""
    try:
        return main()
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def run(
    command: Sequence[str],
    folder: Path = ROOT,
    patience: float | None = None,
    /,
    **environment: str,
) -> str:
    """Run a program in a folder, with additional environment variables; return its output.

    Raises:
        BuildError: it fails, or takes longer than ``patience``; the message has the command and
            its error output.
    """
    words, variables = shlex.join(command), {**os.environ, **environment}
    try:
        result = subprocess.run(
            command, cwd=folder, env=variables, capture_output=True, text=True, timeout=patience
        )
    except subprocess.TimeoutExpired:
        raise BuildError(f"{words} took over {patience:.0f} seconds") from None
    if result.returncode != 0:
        raise BuildError(f"{words} failed\n{result.stderr.strip()}")
    return result.stdout


def bench(*options: str) -> dict[str, Any]:
    """Return the figures of ``numoku bench`` on the sources."""
    compiler.ensure()
    return run_bench([sys.executable, "-c", RUN_TOOL], *options)


def run_bench(
    command: list[str], *options: str, folder: Path = ROOT, **environment: str
) -> dict[str, Any]:
    """Return the figures of a program's bench, with the sources in a folder at hand.

    Raises:
        BuildError: it fails.
    """
    words = [*command, "bench", "--json", *options]
    said = run(words, folder, PYTHONPATH=str(folder), **environment)
    figures: dict[str, Any] = json.loads(said)
    return figures


def copy_kernels(target: Target, kernels: Path, folder: Path) -> None:
    """Copy the kernels of one platform to a folder, creating it."""
    folder.mkdir(parents=True, exist_ok=True)
    for level in target.levels:
        shutil.copyfile(kernels / target.file_name(level), folder / target.file_name(level))


def ship(target: Target, kernels: Path, folder: Path, figures: dict[str, Any]) -> None:
    """Fill a folder with the kernels of one platform, their mark and the signature."""
    copy_kernels(target, kernels, folder)
    text = "The kernels here belong to these sources.\n"
    (folder / SHIPPED_MARK).write_text(text, encoding="ascii", newline="\n")
    signature = line(figures["weights"], figures["nodes"])
    (folder / FILE).write_text(signature, encoding="ascii", newline="\n")


def main() -> int:
    """Copy the kernels of every platform and level to a folder, building missing ones."""
    kernels = build_kernels(TARGETS.values())
    for target in TARGETS.values():
        copy_kernels(target, kernels, Path(sys.argv[1]))
    return 0


if __name__ == "__main__":
    sys.exit(status_of(main))
