"""Put random faults into the code, one at a time, and print those that no test notices.

``make mutants SEED=s COUNT=n [PKG=p]`` draws n mutants of the whole package, or of a part of it:
``database``, ``search/threats``, ``cli``; ``python`` and ``kernels`` stand for all above the
compiled functions and for these. Each is run against the tests that reach its line, fastest first,
until one fails; then all tests that noticed something run on the code as it is; those that fail
there too have noticed nothing. Mutants of kernels, and of the instructions that these use, first
run as plain Python; kernels that are left go into one build. Python that has a part in the kernels
and is left gets a build for each. What ``EQUIVALENT`` names is not drawn.
"""

from __future__ import annotations

import argparse
import difflib
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from lab.mutants import reach, schemata
from lab.mutants.operators import PACKAGE, ROOT, Mutant, mutants_of, sources
from lab.mutants.runner import CHECKED, CRASHES, HANGS, Outcome, Tree
from pbrain_engine import _HOMES
from pbrain_engine.native.load.store import sources as kernel_sources

MOST = 60.0  # seconds of tests for one mutant
# These build packages and pages, or run the others: minutes for what says little about a line.
SLOW = re.compile(
    r"(board/test_page\w*|native/test_(checked|replay|uncompiled)|build/\w+|"
    r"search/test_strength|test_(docs|layers)|lab/test_mutants)\.py"
)
WHOLLY_PLAIN = "\npytestmark = pytest.mark.uncompiled\n"
# Above the kernels nothing tells which compiled functions a test reaches.
COMPILED = (
    "search/test_signature", "patterns/test_state", "position/test_rules",
    "engine/test_alphabeta_tactics",
    "test_solver", "test_oracle", "test_claims", "methods/test_minimax",
    "search/test_symmetries", "eval/test_network", "engine/test_alphabeta",
    "test_threads", "engine/test_engine", "commands/test_solve", "board/test_proofs",
    "test_values", "engine/test_searcher",
)  # fmt: skip


# Mutants that change nothing that a user could see.
EQUIVALENT = {  # file, the text as it is and as it would be: why it changes nothing
    ("protocol/commands.py", "self._bad = 0", "pass"): "every body begins with a count of its own",
    ("arena/elo.py",
     "if max(abs(p - q) for p, q in zip(last, fitted, strict=True)) < PRECISION:",
     "if max(abs(p - q) for p, q in zip(last, fitted, strict=True)) < PRIOR:"):
        "the ratio differs in its fourth digit, and two are shown",
    ("learn/network/forward.py",
     "before = np.int64(positions.moves[at - 1]) if stones > 0 else -1",
     "before = (np.int64(positions.moves[at - 1]))"):
        "an empty board has one candidate, whose chance is one",
    ("learn/network/rows.py",
     'return builder.fadd(total, builder.fmul(one, other, flags=("fast",)), flags=("fast",))',
     'return builder.fadd(total, builder.fmul(other, one, flags=("fast",)), flags=("fast",))'):
        "a product is the same either way",
    ("search/alphabeta/table.py", "continue", "pass"):
        "an empty entry is no key's, and is worth more than the bound it sets",
    ("position/board.py", "return STRIDE - 1 - x + y", "return MARGIN - 1 - x + y"):
        "the lines have other numbers, those below zero counted from the end",
    ("search/threats/defence.py",
     "number = offset + half if offset < 0 else offset + half - 1",
     "number = offset + half if offset <= 0 else offset + half - 1"):
        "no cell is its own neighbour",
    ("native/load/library.py", "self._dll.numoku_listen.restype = None", "pass"):
        "nobody looks at what it returns",
    ("database/sources.py",
     "stack = [(whole.root, tree.root) for tree in reversed(fitting[1:])]",
     "stack = [(whole.root, tree.root) for tree in reversed(fitting[0:])]"):
        "a tree that is joined with itself stays as it is",
    ("patterns/tables.py",
     "if not walls_inside and not is_half_window(low, half, 0):", "if False:"):
        "keys that no board shows are filled as well",
    ("search/threats/memory.py", "for kind in range(16):", "for kind in range(15):"):
        "there are fourteen classes of cells",
    ("search/threats/vcf.py", "if stones > 0:", "if stones > 1:"):
        "a five is seen without a search, so nothing has stopped it",
    ("search/threats/replies.py",
     "if wins_by_fours(threats, tables, last, _FEW_FOURS) > 0:",
     "if wins_by_fours(threats, tables, last, _FEW_FOURS) > 1:"):
        "asked only where the attacker has no five to make",
}  # fmt: skip


Numbered = tuple[int, Mutant]


class Result(NamedTuple):
    """A mutant, what became of it, and the test that noticed it."""

    mutant: Mutant
    noticed: bool
    by: str


def key_of(mutant: Mutant) -> tuple[str, str, str]:
    """Return the file and both texts, without the white space between words."""
    old, new = (" ".join(text.split()) for text in mutant.difference())
    return mutant.file, old, new


def drawn(seed: int, count: int, package: str) -> list[Mutant]:
    """Return that many random mutants of a part of the code, in the order of the sources."""
    part = package.strip("/").removeprefix(PACKAGE).strip("/").replace(".", "/")
    is_half = part in ("python", "kernels")
    kernels = set(kernel_sources())
    found = []
    for file in sources():
        if is_half or not part or file.removesuffix(".py") == part or file.startswith(part + "/"):
            for mutant in mutants_of(file):
                at_import = file in kernels and not mutant.function
                wanted = not is_half or mutant.kernel == (part == "kernels")
                if wanted and not at_import:
                    found.append(mutant)
    random.Random(seed).shuffle(found)
    return sorted(islice((m for m in found if key_of(m) not in EQUIVALENT), count))


def is_compiled_in(mutant: Mutant) -> bool:
    """Return whether a function in Python has a part in the kernels, so that they change, too."""
    return mutant.file in kernel_sources() and not mutant.file.startswith("native/load/")


def test_files(plain: bool) -> list[str]:
    """Return the files of tests; ``plain``: those of kernels as plain Python."""
    found = []
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        is_wanted = "mark.uncompiled" in text if plain else WHOLLY_PLAIN not in text
        name = path.relative_to(ROOT / "tests").as_posix()
        if is_wanted and not SLOW.fullmatch(name):
            found.append(f"tests/{name}")
    return found


def concerned(files: Sequence[str], mutants: Sequence[Mutant]) -> list[str]:
    """Return the files of tests that speak of one of the packages, also through their helpers."""
    parts = {m.file.removesuffix(".py").split("/")[0] for m in mutants}
    words = "|".join(sorted(parts))
    public = [name for name, home in _HOMES.items() if home.partition(".")[0] in parts]
    named = rf"pbrain_engine\.({words})\b"
    named += rf"|^from pbrain_engine import .*\b({'|'.join(public) or '-'})\b"

    def speaks(path: Path, seen: set[Path]) -> bool:
        seen.add(path)
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(ROOT).as_posix()
        if re.search(words, name) or re.search(named, text, re.MULTILINE):
            return True
        for name in re.findall(r"^from ((?:tests|lab)\.[\w.]+) import", text, re.MULTILINE):
            helper = ROOT / f"{name.replace('.', '/')}.py"
            if helper.exists() and helper not in seen and speaks(helper, seen):
                return True
        return False

    return [file for file in files if speaks(ROOT / file, set())]


def affordable(tests: Sequence[str], seconds: dict[str, float]) -> tuple[list[str], float]:
    """Return the fastest tests, file by file, and the seconds that they take."""
    chosen: list[str] = []
    total = 0.0
    for test in tests:
        total += seconds[test]
        if total > MOST and chosen:
            break
        chosen.append(test)
    quick = [test for test in chosen if seconds[test] < 0.5]
    slow = [test for test in chosen if seconds[test] >= 0.5]
    return sorted(quick, key=lambda test: test.partition("::")[0]) + slow, min(total, MOST)


class Course:
    """Runs mutants and shows what became of each."""

    def __init__(self, tree: Tree) -> None:
        """Run in this tree."""
        self.tree = tree
        self.sound: dict[str, bool] = {}  # tests, and whether they pass without a mutant

    def examine(self, mutant: Mutant, tests: Sequence[str], reached: reach.Reach) -> Result:
        """Run tests on a mutant; one that fails without it, too, is left out."""
        began = perf_counter()
        wanted = [test for test in tests if self.sound.get(test, True)]
        outcome = Outcome("passed")
        while wanted:
            ordered, seconds = affordable(wanted, reached.seconds)
            with planted(self.tree, mutant):
                outcome = self.tree.run(ordered, seconds)
            suspects = ordered if outcome.by in (HANGS, CRASHES) else [outcome.by]
            if outcome.state != "noticed" or all(
                self.is_sound(test, reached) for test in suspects if test in reached.seconds
            ):
                break
            wanted = [test for test in wanted if self.sound.get(test, True)]
        if outcome.state == "broken" and self.is_sound(wanted[0], reached):
            outcome = Outcome("noticed", "what imports it")
        noticed = outcome.state == "noticed"
        by = outcome.by if wanted else "no test reaches it"
        state = "noticed" if noticed else "broken" if outcome.state == "broken" else "survived"
        print(f"{state:8} {perf_counter() - began:4.0f} s  {mutant.file}:{mutant.first} "
              f"{mutant.kind}: {by[-200:]}", flush=True)  # fmt: skip
        return Result(mutant, noticed, by)

    def is_sound(self, test: str, reached: reach.Reach) -> bool:
        """Return whether a test passes on the code as it is."""
        if test not in self.sound:
            outcome = self.tree.run([test], reached.seconds[test])
            self.sound[test] = outcome.state == "passed"
        return self.sound[test]


@contextmanager
def planted(tree: Tree, mutant: Mutant) -> Iterator[None]:
    """Have a mutant in a tree."""
    tree.put(mutant)
    try:
        yield
    finally:
        tree.take_out(mutant)


def run_lines(
    mutants: Sequence[Mutant], files: Sequence[str], folder: Path, builds: bool = False
) -> list[Result]:
    """Run each mutant against the tests that reach its line; where it ``builds``, against all."""
    reach.ensure(files)
    reached = reach.Reach(files)
    every = sorted(reached.seconds, key=lambda test: reached.seconds[test])
    tree = Tree(folder, builds)
    course = Course(tree)
    try:
        return [
            course.examine(
                m,
                every if builds else reached.tests(m.source, m.first, m.last, not m.function),
                reached,
            )
            for m in mutants
        ]
    finally:
        tree.close()


def run_build(mutants: Sequence[Mutant], folder: Path) -> list[Result]:
    """Run mutants of kernels, all in one build, against the tests that play and solve."""
    tree = Tree(folder)
    left = list(enumerate(mutants, 1))
    refused: list[Result] = []
    while (done := build_with(tree, left)).returncode != 0:
        if not left:
            raise RuntimeError(done.stderr)
        named = [int(n) for n in re.findall(r"^in \w+_(\d+)$", done.stderr, re.MULTILINE)]
        wrong = set(named[:1]) & {number for number, _ in left} or {refused_one(tree, left)}
        refused += [Result(m, True, "the compiler") for number, m in left if number in wrong]
        left = [(number, m) for number, m in left if number not in wrong]
    tree.build(CHECKED)  # before seconds are measured: a test that built it would seem too dear
    tree.close()
    results = []
    try:
        known = tree.measure([f"tests/{name}.py" for name in COMPILED])
        seconds = {test: spent for test, (spent, _) in known.items()}
        if not any(reached for _, reached in known.values()):
            raise RuntimeError("no test comes to any of the mutants: the build has none of them")
        places = {test: place for place, test in enumerate(known)}
        for number, mutant in left:
            began = perf_counter()
            others = {test for test, (_, reached) in known.items() if number not in reached}
            fastest = sorted(known, key=lambda test: (test in others, seconds[test]))  # noqa: B023
            tests, _ = affordable(fastest, seconds)
            tests.sort(key=lambda test: (test in others, places[test]))  # noqa: B023
            by = ""
            for part in (tests[:1], tests[1:]):  # where the first hangs, that is seen soon
                by = by or noticed_by(tree, number, part, seconds)
            state = "noticed" if by else "survived"
            print(f"{state:8} {perf_counter() - began:4.0f} s  {mutant.file}:{mutant.first} "
                  f"{mutant.kind}: {by}", flush=True)  # fmt: skip
            results.append(Result(mutant, bool(by), by))
    finally:
        tree.close()
    return refused + results


def build_with(tree: Tree, mutants: Sequence[Numbered]) -> subprocess.CompletedProcess[str]:
    """Build the kernels with these mutants in them."""
    tree.copy()
    schemata.plant(tree.root, mutants)
    return tree.build()


def refused_one(tree: Tree, mutants: Sequence[Numbered]) -> int:
    """Return the number of a mutant that the compiler refuses, where it names only callers."""
    while len(mutants) > 1:
        half = mutants[: len(mutants) // 2]
        mutants = half if build_with(tree, half).returncode != 0 else mutants[len(half) :]
    return mutants[0][0]


def noticed_by(tree: Tree, number: int, tests: Sequence[str], seconds: dict[str, float]) -> str:
    """Return the test that fails with a mutant and passes without; empty if there is none."""
    while tests:
        tree.environment[schemata.NUMBER] = str(number)
        outcome = tree.run(tests, sum(seconds[test] for test in tests))
        tree.environment[schemata.NUMBER] = "0"
        if outcome.state == "passed":
            break
        if outcome.by not in tests:  # it hangs, crashes or cannot even be loaded
            return outcome.by
        if tree.run([outcome.by], seconds[outcome.by]).state == "passed":
            return outcome.by
        tests = tests[tests.index(outcome.by) + 1 :]  # it fails now and then
    return ""


def show(result: Result) -> None:
    """Print a mutant that survived as a diff."""
    mutant = result.mutant
    old, new = mutant.difference()
    place = f"{mutant.source}:{mutant.first}"
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), place, place, lineterm="")
    print(f"\n{mutant.kind}: {result.by or 'survived'}", *lines, sep="\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw mutants and run them; return 0 however many survive."""
    parser = argparse.ArgumentParser(prog="python -m lab.mutants", description=__doc__)
    parser.add_argument("seed", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("package", nargs="?", default="", help="a part such as database")
    options = parser.parse_args(arguments)
    mutants = drawn(options.seed, options.count, options.package)
    results: list[Result] = []
    plain = [m for m in mutants if m.kernel or m.file.startswith("kernel/")]
    python = [m for m in mutants if m not in plain]
    with tempfile.TemporaryDirectory(prefix="numoku-mutants-") as folder:
        if plain:
            os.environ["NUMBA_DISABLE_JIT"] = "1"
            first = run_lines(plain, test_files(plain=True), Path(folder, "plain"))
            del os.environ["NUMBA_DISABLE_JIT"]
            left = [result.mutant for result in first if not result.noticed]
            results += [result for result in first if result.noticed]
            python += [mutant for mutant in left if not mutant.kernel]
            kernels = [mutant for mutant in left if mutant.kernel]
            results += run_build(kernels, Path(folder, "compiled")) if kernels else []
        if python:
            files = test_files(plain=False)
            chosen = concerned(files, python) if options.package else files
            found = run_lines(python, chosen, Path(folder, "python"))
            again = [r.mutant for r in found if not r.noticed and is_compiled_in(r.mutant)]
            results += [result for result in found if result.mutant not in again]
            files = [f"tests/{name}.py" for name in COMPILED]
            results += run_lines(again, files, Path(folder, "built"), True) if again else []
    for result in results:
        if not result.noticed:
            show(result)
    print(f"\nnoticed {sum(result.noticed for result in results)} of {len(results)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
