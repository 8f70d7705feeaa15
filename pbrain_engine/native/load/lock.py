"""Locks between processes: the operating system frees one when its holder dies.

A package of its own does this, too (``filelock``), with a file beside each file that is locked;
here the file itself is the lock, and nothing has to be installed to play a match.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any

if sys.platform == "win32":
    import msvcrt

    # A lock there keeps others from reading, too: it is put where no file has bytes.
    _FAR = 1 << 40

    def try_lock(file: IO[Any]) -> bool:
        """Take the lock of an open file unless another has it; closing the file frees it."""
        place = file.tell()
        file.seek(_FAR)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            file.seek(place)
        return True
else:
    import fcntl

    def try_lock(file: IO[Any]) -> bool:
        """Take the lock of an open file unless another has it; closing the file frees it."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


@contextmanager
def locked(path: str, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold the lock that a file stands for; ``on_wait`` is called once if another has it."""
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT), "r+b") as file:
        if not try_lock(file):
            on_wait()
            while not try_lock(file):
                time.sleep(0.05)
        yield
