"""Build the kernels of every platform and level into a folder, from this one machine."""

from __future__ import annotations

import sys

from pbrain_engine.native.build.compile import Build, BuildError, Output, build
from pbrain_engine.native.load.targets import TARGETS


def every_output() -> tuple[Output, ...]:
    """Return all platforms with all their levels."""
    return tuple(Output(t, level) for t in TARGETS.values() for level in t.levels)


def main(folder: str) -> int:
    """Build into a folder what is not there yet; return the exit status."""
    try:
        build(Build(every_output()), folder)
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
