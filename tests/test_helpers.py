"""Helpers end when the process that started them does, however that happens."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from pbrain_engine.helpers import LostHelper, helped

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


def double(number: int) -> int:
    if number < 0:
        os._exit(9)
    return 2 * number


def test_helpers_work_in_order() -> None:
    assert list(helped(2, double, range(20))) == list(range(0, 40, 2))


def test_a_killed_helper_is_an_error_and_no_endless_wait() -> None:
    with pytest.raises(LostHelper, match="was killed"):
        list(helped(2, double, [1, 2, -1, 3, 4, 5, 6, 7, 8]))
