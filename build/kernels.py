"""Build the kernels of every platform and level on this one machine, and put them into a folder."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import shipping

from pbrain_engine.native.build.compile import BuildError
from pbrain_engine.native.load.targets import TARGETS


def main(folder: str) -> int:
    """Build what is not in the cache yet, and copy all of it; return the exit status."""
    try:
        kernels = shipping.build_kernels(TARGETS.values())
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    Path(folder).mkdir(parents=True, exist_ok=True)
    for target in TARGETS.values():
        for level in target.levels:
            name = target.file_name(level)
            shutil.copyfile(kernels / name, Path(folder, name))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
