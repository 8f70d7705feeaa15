"""The rules of the game by their protocol code, and what counts as a win in each."""

from __future__ import annotations

from enum import IntEnum


class Side(IntEnum):
    """What a cell holds; the two players are also indices into every per-side array."""

    BLACK = 0
    WHITE = 1
    EMPTY = 2
    WALL = 3

    @property
    def opponent(self) -> Side:
        """The other player (only for BLACK and WHITE)."""
        return Side(1 - self)


class Rule(IntEnum):
    """A rule of the game; the value is the code that ``INFO rule`` carries."""

    FREESTYLE = 0  # five or more
    STANDARD = 1  # exactly five
    RENJU = 4  # black: exactly five, and forbidden moves; white: five or more
    CARO = 8  # five not closed by stones at both ends; six or more always wins
    CARO_EXACT = 9  # exactly five, not closed by stones at both ends

    @classmethod
    def parse(cls, text: str | int) -> Rule:
        """Return the rule with this name or protocol code.

        Raises:
            ValueError: there is no such rule.
        """
        word = str(text).strip().upper().replace("-", "_")
        if word in cls.__members__:
            return cls[word]
        try:
            return cls(int(word))
        except ValueError:
            names = ", ".join(f"{rule.name.lower()} ({rule.value})" for rule in cls)
            raise ValueError(f"unknown rule {text!r}; there are {names}") from None


FREESTYLE = int(Rule.FREESTYLE)
STANDARD = int(Rule.STANDARD)
RENJU = int(Rule.RENJU)
CARO = int(Rule.CARO)
CARO_EXACT = int(Rule.CARO_EXACT)

BLACK = int(Side.BLACK)
WHITE = int(Side.WHITE)
EMPTY = int(Side.EMPTY)
WALL = int(Side.WALL)
