"""Locks between processes: one holder at a time, freed by its end, readers never blocked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from pbrain_engine.native.load.lock import try_lock

HOLD = (
    "import sys; from pbrain_engine.native.load.lock import try_lock;"
    "file = open(sys.argv[1], 'r+b'); print(try_lock(file), flush=True); sys.stdin.read()"
)


def holder(path: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", HOLD, str(path)]
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )


def test_a_lock_has_one_holder_and_dies_with_it(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.write_bytes(b"lines\n")
    with holder(path) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "True\n"
        with path.open("r+b") as file:
            assert not try_lock(file)
            assert file.tell() == 0
        assert path.read_bytes() == b"lines\n"  # whoever only reads is not kept off
        other.kill()
    with path.open("r+b") as file:
        assert try_lock(file)
