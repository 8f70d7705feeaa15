"""The kernels as plain Python: the tests marked ``uncompiled``, run by a second pytest."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


def test_the_kernels_also_run_as_plain_python():
    command = [sys.executable, "-m", "pytest", "-m", "uncompiled", "-p", "no:cacheprovider"]
    result = subprocess.run(
        command,
        cwd=ROOT,
        env=dict(os.environ, NUMBA_DISABLE_JIT="1"),
        capture_output=True,
        text=True,
    )
    assert result.returncode == pytest.ExitCode.OK, result.stdout + result.stderr


TOY_WALK = (80, 2081)  # value and nodes of a walk of depth 4, also asked of the compiled toys


@pytest.mark.uncompiled
def test_a_walk_gives_the_compiled_value():
    from tests.native import toy_kernels as toys

    memory = ctypes.create_string_buffer(toys.toy_size())
    pointer = ctypes.cast(memory, ctypes.c_void_p)
    toys.toy_clear(pointer)
    assert (toys.toy_walk(pointer, 4), toys.toy_nodes(pointer)) == TOY_WALK
