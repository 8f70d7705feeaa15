"""The tests that concern one package, in under a minute: ``python -m tests.check PACKAGE``.

What looks at a clock or another machine's programs is left to the whole suite, and of what a person
does in a browser all but `board/test_page`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

TESTS = Path(__file__).parent

# Files that take longer than that, or that look at other packages as well.
LEFT_OUT = {
    "arena/test_cluster", "arena/test_command", "arena/test_faults", "arena/test_workers",
    "board/test_database", "board/test_page_care", "board/test_page_files",
    "board/test_page_games", "board/test_page_kept", "board/test_proofs", "commands/test_terminal",
    "database/test_book", "database/test_faults", "engine/test_tactics", "learn/test_weights",
    "learn/test_network_training", "native/test_build", "native/test_checked",
    "native/test_replay", "native/test_targets", "native/test_uncompiled",
    "protocol/test_faults", "protocol/test_figures", "protocol/test_fuzz", "search/test_strength",
    "site/test_visit",
}  # fmt: skip
# Kernels are run as plain Python; those of a package beside the files of its own folder.
KERNELS = {
    "eval": "network leaf",
    "kernel": "fields network tables",
    "patterns": "board",
    "position": "board",
    "search": "search ordering tables threats golden root",
}
BESIDE = {"app": ["commands/test_commands", "commands/test_kept", "notation/test_files"],
          "pages": ["arena/test_report"], "patterns": ["game/test_rules", "search/test_symmetry"],
          "position": ["game/test_rules", "game/test_state"]}  # fmt: skip


def packages() -> list[str]:
    """Return the packages that have tests."""
    found = {path.parent.name for path in TESTS.glob("*/test_*.py")} - {"kernels", "packaging"}
    return sorted(found | set(KERNELS) | set(BESIDE))


def files_of(package: str) -> list[Path]:
    """Return the files of tests that concern a package."""
    kernels = [f"kernels/test_{name}" for name in KERNELS.get(package, "").split()]
    own = [f"{package}/{path.stem}" for path in sorted((TESTS / package).glob("test_*.py"))]
    names = [*kernels, *BESIDE.get(package, ()), *(name for name in own if name not in LEFT_OUT)]
    return [TESTS / f"{name}.py" for name in names]


def main(words: Sequence[str]) -> int:
    """Run the tests of one package; return pytest's status, or 2 where there is no such package."""
    if len(words) != 1 or words[0] not in packages():
        print(f"which package? PKG= one of {', '.join(packages())}", file=sys.stderr)
        return 2
    files = files_of(words[0])
    command = [sys.executable, "-m", "pytest", "-n", "2", "-m"]
    plain = [path for path in files if path.parent.name == "kernels"]
    compiled = [path for path in files if path not in plain]
    status = 0
    if plain:
        environment = dict(os.environ, NUMBA_DISABLE_JIT="1")
        status |= subprocess.run([*command, "uncompiled", *plain], env=environment).returncode
    if compiled:
        kinds = "not long and not timed and not uncompiled"
        status |= subprocess.run([*command, kinds, *compiled]).returncode
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
