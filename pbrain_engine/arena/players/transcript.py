"""A log of what an engine and the arena said to each other, for authors who look for a fault."""

from __future__ import annotations

import contextlib
import re
import sys
import threading
import time
from pathlib import Path
from typing import TextIO

from ...options import problem_of

_given_up: set[str] = set()  # folders in which a file could not be written, and it was said


class Transcript:
    """A file with a line for each line of the dialogue: seconds, direction, text.

    A match goes on without what cannot be written.
    """

    def __init__(self, folder: str, title: str) -> None:
        """Open ``folder/title.log``, over an older one if there is any."""
        self._folder = folder
        name = re.sub(r"[^\w.-]+", "_", title)
        self._path = Path(folder, f"{name}.log")
        self._file: TextIO | None = None
        self._lock = threading.Lock()
        self._began = time.perf_counter()
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("w", encoding="utf-8")
        except OSError as error:
            self._give_up(error)

    def note(self, direction: str, text: str) -> None:
        """Write a line that was sent (``>``) or came (``<``)."""
        with self._lock:
            if self._file:
                seconds = time.perf_counter() - self._began
                try:
                    print(f"{seconds:9.3f} {direction} {text}", file=self._file)
                except OSError as error:
                    self._give_up(error)

    def close(self) -> None:
        """Close the file; what still comes is not written."""
        with self._lock:
            if self._file:
                try:
                    self._file.close()
                except OSError as error:
                    self._give_up(error)
                self._file = None

    def _give_up(self, error: OSError) -> None:
        """Say once in a folder that a log is not whole, and write no more of this one."""
        file, self._file = self._file, None
        if file:
            with contextlib.suppress(OSError):
                file.close()
        if self._folder not in _given_up:
            _given_up.add(self._folder)
            error.filename = str(self._path)
            print(f"a log is not whole: {problem_of(error)}", file=sys.stderr)
