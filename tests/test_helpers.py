"""Helpers end when the process that started them does, however that happens."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

SCRIPT = textwrap.dedent(
    """
    import os
    import time
    from multiprocessing import get_context

    from pbrain_engine.helpers import become_helper, start_helpers

    if __name__ == "__main__":
        helpers = start_helpers(2)
        pool = get_context("spawn").Pool(1, become_helper)
        print(helpers.submit(os.getpid).result(), pool.apply(os.getpid), flush=True)
        BUSY
        time.sleep(600)
    """
)


@pytest.mark.parametrize("busy", ["", "helpers.submit(time.sleep, 600)"])
def test_helpers_of_a_killed_process_end(tmp_path: Path, busy: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.replace("BUSY", busy))
    starter = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    assert starter.stdout is not None
    assert len(set(starter.stdout.readline().split())) == 2
    starter.kill()
    # The helpers have inherited the pipe: it ends when the last of them does.
    rest, _ = starter.communicate(timeout=20)
    assert rest == ""
