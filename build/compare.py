"""Compare the working tree with another revision: speed in pairs of runs, and signature.

The other revision gets its own checkout and kernel. Both run ``numoku bench`` in turn, so that
other load affects both; the result is the median of the ratios of neighbouring runs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from shipping import ROOT, RUN_TOOL, run, run_bench, status_of

from pbrain_engine.native.load.store import cache_root

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


def compare(base: Path, rounds: int) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return the figures of both trees, round by round: (this tree, base).

    There are none if both have the same kernel and weights.
    """
    tool, cache = [sys.executable, "-c", RUN_TOOL], cache_root()  # one for all kernels
    kernels = [run([*tool, "build"], tree, NUMOKU_CACHE=cache) for tree in (base, ROOT)]
    weights = [
        [path.read_bytes() for path in sorted(Path(tree, "pbrain_engine/weights").iterdir())]
        for tree in (base, ROOT)
    ]
    if kernels[0] == kernels[1] and weights[0] == weights[1]:
        return []
    results = []
    for number in range(rounds):
        here = run_bench(tool, folder=ROOT, NUMOKU_CACHE=cache)
        results.append((here, run_bench(tool, folder=base, NUMOKU_CACHE=cache)))
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
    name = git("rev-parse", "--short", options.revision)
    same = f"{name} has the same kernel and weights: there is nothing to compare"
    print(table(name, results) if results else same)
    return 0


if __name__ == "__main__":
    sys.exit(status_of(main))
