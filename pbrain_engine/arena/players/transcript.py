"""A log of what an engine and the arena said to each other, for authors who look for a fault."""

from __future__ import annotations

import re
import threading
import time
from pathlib import Path
from typing import TextIO


class Transcript:
    """A file with a line for each line of the dialogue: seconds, direction, text."""

    def __init__(self, folder: str, title: str) -> None:
        """Open ``folder/title.log``, over an older one if there is any."""
        Path(folder).mkdir(parents=True, exist_ok=True)
        name = re.sub(r"[^\w.-]+", "_", title)
        self._file: TextIO | None = Path(folder, f"{name}.log").open("w", encoding="utf-8")
        self._lock = threading.Lock()
        self._began = time.perf_counter()

    def note(self, direction: str, text: str) -> None:
        """Write a line that was sent (``>``) or came (``<``)."""
        with self._lock:
            if self._file:
                seconds = time.perf_counter() - self._began
                print(f"{seconds:9.3f} {direction} {text}", file=self._file)

    def close(self) -> None:
        """Close the file; what still comes is not written."""
        with self._lock:
            if self._file:
                self._file.close()
                self._file = None
