"""Mutants that change nothing that a user could see: ``equivalent.txt`` has them, with reasons.

Each is three lines, a file with the reason, the text as it is and as it would be:

    database/store.py: the order of what is returned is decided below
    - found = sorted(rows)
    + found = sorted(names)
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tests.mutants.operators import Mutant

LIST = Path(__file__).with_name("equivalent.txt")
Known = tuple[str, str, str]  # file, old and new text without the white space between words


def plain(text: str) -> str:
    return " ".join(text.split())


@cache
def known() -> dict[Known, str]:
    """Return the reason of each mutant of the list.

    Raises:
        ValueError: an entry has another form.
    """
    found = {}
    for entry in LIST.read_text(encoding="utf-8").strip().split("\n\n"):
        head, old, new = entry.splitlines()
        file, _, reason = head.partition(": ")
        if not reason or old[:2] != "- " or new[:2] != "+ ":
            raise ValueError(f"no reason, old and new text: {entry}")
        found[file, plain(old[2:]), plain(new[2:])] = reason
    return found


def is_equivalent(mutant: Mutant) -> bool:
    """Tell whether a mutant is in the list."""
    old, new = mutant.difference()
    return (mutant.file, plain(old), plain(new)) in known()
