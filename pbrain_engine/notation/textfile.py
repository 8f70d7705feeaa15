"""Bytes of position and game files as text, in whatever encoding a program has written them.

An SGF file may name its encoding (``CA[GBK]``); other files do not say. Cells are ASCII in all
of them, so a name that is read wrongly harms no game.
"""

from __future__ import annotations

import codecs
import re

_NAMED = re.compile(rb"CA\s*\[\s*([A-Za-z0-9._-]+)\s*\]")
_HEAD = 2000  # bytes in which an encoding is named


def decode(data: bytes) -> str:
    """Return the text of a file: by the encoding that it names, else UTF-8, else Latin-1.

    Its lines end in one way, whatever system wrote them, so that texts can be compared.
    """
    return _letters(data).replace("\r\n", "\n").replace("\r", "\n")


def _letters(data: bytes) -> str:
    for marks, encoding in (
        ((codecs.BOM_UTF8,), "utf-8-sig"),
        ((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE), "utf-16"),
    ):
        if data.startswith(marks):
            return data.decode(encoding, errors="replace")
    named = _NAMED.search(data[:_HEAD])
    for encoding in ([named[1].decode("ascii")] if named else []) + ["utf-8"]:
        try:
            return data.decode(encoding)
        except (LookupError, ValueError):  # unknown, or not what it is written in
            pass
    return data.decode("latin-1")


def is_writable(text: str) -> bool:
    """Return whether a text can be written: what JSON holds may have halves of characters in it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
