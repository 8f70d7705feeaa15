"""Mutants that change nothing that a user could see, with reasons: none of them is drawn."""

from __future__ import annotations

from lab.mutants.operators import Mutant

EQUIVALENT = {  # file, the text as it is and as it would be: why it changes nothing
    ("protocol/commands.py", "self._bad = 0", "pass"): "every body begins with a count of its own",
    ("search/alphabeta/table.py", "continue", "pass"):
        "an empty entry is no key's, and is worth more than the bound it sets",
    ("patterns/tables.py",
     "if not walls_inside and not is_half_window(low, half, 0):", "if False:"):
        "keys that no board shows are filled as well",
}  # fmt: skip


def key_of(mutant: Mutant) -> tuple[str, str, str]:
    """Return the file and both texts, without the white space between words."""
    old, new = (" ".join(text.split()) for text in mutant.difference())
    return mutant.file, old, new


def is_equivalent(mutant: Mutant) -> bool:
    """Return whether a mutant is in the list."""
    return key_of(mutant) in EQUIVALENT
