"""Compare the working tree with another revision: speed in pairs of runs, and signature.

The other revision gets its own checkout and kernel. Both run ``numoku bench`` in turn, so that
other load affects both; the result is the median of the ratios of neighbouring runs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import environ
from pathlib import Path
from statistics import median
from typing import Any

from shipping import ROOT, RUN_TOOL, run, status_of

from pbrain_engine.errors import BuildError

SPEEDS = {"nps": "nodes a second", "pairs": "make and undo pairs a second"}


@contextmanager
def checkout(revision: str) -> Iterator[Path]:
    """Yield a temporary worktree of a revision."""
    with tempfile.TemporaryDirectory(prefix="numoku-compare-") as folder:
        tree = Path(folder, "tree")
        git("worktree", "add", "--quiet", "--detach", str(tree), revision)
        try:
            yield tree
        finally:
            git("worktree", "remove", "--force", str(tree))


def git(*arguments: str) -> str:
    """Run git on this repository and return its output."""
    return run(["git", *arguments]).strip()


def python(tree: Path, *arguments: str) -> str:
    """Run Python in a source tree and on its modules; all trees share a kernel cache."""
    environment = {"NUMOKU_CACHE": str(ROOT / ".kernels"), **environ}
    result = subprocess.run(
        [sys.executable, *arguments], cwd=tree, env=environment, stdout=subprocess.PIPE, text=True
    )
    if result.returncode != 0:
        raise BuildError(f"{' '.join(arguments[-2:])} failed in {tree.name}")
    return result.stdout


def bench(tree: Path) -> dict[str, Any]:
    """Return the figures of ``numoku bench --json`` in a source tree."""
    figures: dict[str, Any] = json.loads(python(tree, "-c", RUN_TOOL, "bench", "--json"))
    return figures


def compare(base: Path, rounds: int) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return the figures of both trees, round by round: (this tree, base)."""
    for tree in (base, ROOT):
        python(tree, "-c", RUN_TOOL, "build")
    results = []
    for number in range(rounds):
        results.append((bench(ROOT), bench(base)))
        print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
    return results


def table(name: str, results: Sequence[tuple[dict[str, Any], dict[str, Any]]]) -> str:
    """Return the comparison as text."""
    lines = [f"{'':30}{'this tree':>14}{name[:12]:>14}{'ratio':>8}"]
    for key, label in SPEEDS.items():
        if not all(key in figures for pair in results for figures in pair):
            continue
        here, there = (median(pair[side][key] for pair in results) for side in (0, 1))
        ratios = [pair[0][key] / pair[1][key] for pair in results]
        lines.append(f"{label:30}{here:14,.0f}{there:14,.0f}{median(ratios):8.3f}")
        lines.append(f"{'':30}{'ratios from':>14}{min(ratios):14.3f}{max(ratios):8.3f}")
    here, there = (results[0][side]["nodes"] for side in (0, 1))
    verdict = "same" if here == there else "differs"
    lines.append(f"{'signature':30}{here:14}{there:14}{verdict:>8}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the comparison; return the exit status."""
    parser = argparse.ArgumentParser(description="Compare this tree with another revision.")
    parser.add_argument("revision", nargs="?", default="HEAD~1")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each (default: 3)")
    options = parser.parse_args(arguments)
    with checkout(options.revision) as base:
        results = compare(base, options.rounds)
    print(table(git("rev-parse", "--short", options.revision), results))
    return 0


if __name__ == "__main__":
    sys.exit(status_of(main))
