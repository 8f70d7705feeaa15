"""Bytes from a pipe, cut into lines of bounded length."""

from __future__ import annotations

MAX_LINE = 16_384  # twice what managers allow; a whole 22x22 BOARD on one line has 4,000
TOO_LONG = "\0"  # stands for a line that was longer; no real line keeps its NULs


class LineBuffer:
    """Takes any chunks and returns the lines that are complete; ends with CR, LF or both."""

    def __init__(self) -> None:
        """Start with nothing buffered."""
        self._rest = b""
        self._overlong = False

    def feed(self, chunk: bytes) -> list[str]:
        """Return the lines which this chunk completes; blank ones are left out."""
        *complete, rest = (self._rest + chunk).replace(b"\r", b"\n").split(b"\n")
        lines = [line for raw in complete if (line := self._take(raw))]
        if len(rest) > MAX_LINE:
            self._overlong = True
            rest = b""
        self._rest = rest
        return lines

    def close(self) -> list[str]:
        """Return what stands unfinished at the end of the stream."""
        return self.feed(b"\n")

    def _take(self, raw: bytes) -> str:
        if self._overlong or len(raw) > MAX_LINE:
            self._overlong = False
            return TOO_LONG
        return raw.replace(b"\0", b" ").decode("latin-1").strip()
