"""A program and its arguments written as one text, by the rules of the system it runs on.

On Unix a shell's: single and double quotes, and backslashes. On Windows those that every
program there reads its own command line by: double quotes, and a backslash is one unless it
stands before a quote. So paths can be written as they are, and quoted where they have spaces.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

WINDOWS = os.name == "nt"
BLANKS = " \t"


def split_command(text: str, *, windows: bool = WINDOWS) -> list[str]:
    """Return the program and its arguments; the name of a file as it is needs no quotes.

    Raises:
        ValueError: a quotation has no end.
    """
    if os.path.isfile(text):
        return [text]
    if windows:
        return _split_windows(text)
    import shlex

    try:
        return shlex.split(text)
    except ValueError as error:
        raise ValueError(f"{text}: {str(error).lower()}") from None


def join_command(words: Sequence[str], *, windows: bool = WINDOWS) -> str:
    """Return the text of a program and its arguments, which :func:`split_command` reads back."""
    if windows:
        import subprocess

        return subprocess.list2cmdline(words)
    import shlex

    return shlex.join(words)


def _split_windows(text: str) -> list[str]:
    words: list[str] = []
    word: list[str] | None = None  # the characters of a word that has begun
    quoted = False
    at = 0
    while at < len(text):
        backslashes = len(text) - at - len(text[at:].lstrip("\\"))
        at += backslashes
        sign = text[at : at + 1]
        if sign != '"':
            if backslashes:
                word = [*(word or []), "\\" * backslashes]
        else:
            word = [*(word or []), "\\" * (backslashes // 2)]
            if backslashes % 2:
                word.append('"')
            elif quoted and text[at + 1 : at + 2] == '"':  # two inside of quotes stand for one
                word.append('"')
                at += 1
            else:
                quoted = not quoted
            at += 1
            continue
        if sign and (quoted or sign not in BLANKS):
            word = [*(word or []), sign]
        elif word is not None:
            words.append("".join(word))
            word = None
        at += 1
    if quoted:
        raise ValueError(f"{text}: no closing quotation")
    if word is not None:
        words.append("".join(word))
    return words
