"""A lock between processes: the operating system frees it when its holder dies."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


@contextmanager
def locked(path: str, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold the lock that a file stands for; ``on_wait`` is called once if another has it."""
    with open(path, "ab") as file:
        if not _try_lock(file.fileno()):
            on_wait()
            while not _try_lock(file.fileno()):
                time.sleep(0.05)
        yield  # closing the file gives the lock back
