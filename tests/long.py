"""What takes hours, for the weekly run: ``python -m tests.long [tests|claims|lines|games]``."""

from __future__ import annotations

import subprocess
import sys

RUNS = {
    "tests": ["-m", "pytest", "-m", "long"],
    "claims": ["-m", "lab.fuzz_claims", "--count", "20000"],
    "lines": ["-m", "lab.fuzz_protocol", "--lines", "1000000"],
    "games": ["-m", "lab.self_play", "--games", "68", "--journals", "dist/self_play"],
}


def main(wanted: list[str]) -> int:
    """Run what is wanted, or everything; return how many of the runs failed."""
    unknown = [name for name in wanted if name not in RUNS]
    if unknown:
        print(f"there is no long run {unknown[0]!r}, only {', '.join(RUNS)}", file=sys.stderr)
        return 2
    failed = 0
    for name in wanted or RUNS:
        print(name, flush=True)
        failed += subprocess.run([sys.executable, *RUNS[name]]).returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
