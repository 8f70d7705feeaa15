"""The tests that concern one package, in under a minute: ``python -m tests.check PACKAGE``.

They are in the folder of its name. Tests marked ``timed``, and those marked ``slow`` because they
take longer or involve other packages, are left to the whole suite.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

TESTS = Path(__file__).parent
COMPILED = "not long and not timed and not slow and not uncompiled"


def packages() -> list[str]:
    """Return the folders that have tests."""
    return sorted({path.parent.name for path in TESTS.glob("*/test_*.py")})


def main(words: Sequence[str]) -> int:
    """Run the tests of one package; return pytest's status, or 2 if there is no such package."""
    if len(words) != 1 or words[0] not in packages():
        print(f"which package? PKG= one of {', '.join(packages())}", file=sys.stderr)
        return 2
    files = sorted((TESTS / words[0]).glob("test_*.py"))
    plain = [path for path in files if "mark.uncompiled" in path.read_text(encoding="utf-8")]
    runs = [("uncompiled and not slow", plain, dict(os.environ, NUMBA_DISABLE_JIT="1"))]
    runs.append((COMPILED, files, dict(os.environ)))
    status = 0
    for kind, paths, environment in runs:
        if paths:
            command = [sys.executable, "-m", "pytest", "-n", "2", "-m", kind, *paths]
            status |= subprocess.run(command, env=environment).returncode % 5  # 5: none of the kind
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
