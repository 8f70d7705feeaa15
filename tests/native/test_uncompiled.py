"""The kernels as plain Python: the tests marked ``uncompiled``, run by a second pytest."""

import ctypes
import os
import sys

import pytest

from tests.programs import run_program

pytestmark = pytest.mark.slow


def test_the_kernels_also_run_as_plain_python():
    words = ["-m", "pytest", "-m", "uncompiled", "-p", "no:cacheprovider"]
    plain = dict(os.environ, NUMBA_DISABLE_JIT="1")
    result = run_program(sys.executable, *words, env=plain)
    assert result.returncode == pytest.ExitCode.OK, result.stdout + result.stderr


TOY_WALK = (80, 2081)  # value and nodes of a walk of depth 4, also asked of the compiled toys


@pytest.mark.uncompiled
def test_a_walk_gives_the_compiled_value():
    from tests.native import toy_kernels as toys

    memory = ctypes.create_string_buffer(toys.toy_size())
    pointer = ctypes.cast(memory, ctypes.c_void_p)
    toys.toy_clear(pointer)
    assert (toys.toy_walk(pointer, 4), toys.toy_nodes(pointer)) == TOY_WALK
