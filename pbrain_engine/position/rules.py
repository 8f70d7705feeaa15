"""The rules of the game by protocol code, and what counts as a win in each."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class Side(IntEnum):
    """The content of a cell; the two players are also indices into per-side arrays."""

    BLACK = 0
    WHITE = 1
    EMPTY = 2
    WALL = 3

    @property
    def opponent(self) -> Side:
        """The other player (only for BLACK and WHITE)."""
        return Side(1 - self)


class Traits(NamedTuple):
    """The properties of a rule; all code that depends on the rule asks these.

    ``half``: cells on each side of a cell that determine its line shape; overlines and closed ends
    need one more. ``exact``: for black and white, whether only exactly five in a row wins.
    ``closing``: whether a five with enemy stones at both ends does not win. ``fouls``: whether
    black has forbidden cells. ``family``: the rules that share one block of weights.
    """

    half: int
    exact: tuple[bool, bool]
    closing: bool
    fouls: bool
    family: str


class Rule(IntEnum):
    """A rule of the game; the value is the code of ``INFO rule``."""

    FREESTYLE = 0  # five or more
    STANDARD = 1  # exactly five
    RENJU = 4  # black: exactly five, and forbidden moves; white: five or more
    CARO = 8  # five not closed by stones at both ends; six or more always wins
    CARO_EXACT = 9  # exactly five, not closed by stones at both ends

    @property
    def traits(self) -> Traits:
        """The properties of this rule."""
        return TRAITS[self]

    @property
    def label(self) -> str:
        """Its name for people, as they type it."""
        return self.name.lower().replace("_", "-")

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
            names = ", ".join(f"{rule.label} ({rule.value})" for rule in cls)
            raise ValueError(f"unknown rule {text!r}; there are {names}") from None


TRAITS: dict[int, Traits] = {  # by protocol code
    Rule.FREESTYLE: Traits(4, (False, False), False, False, "freestyle"),
    Rule.STANDARD: Traits(5, (True, True), False, False, "standard"),
    Rule.RENJU: Traits(5, (True, False), False, True, "renju"),
    Rule.CARO: Traits(5, (False, False), True, False, "caro"),
    Rule.CARO_EXACT: Traits(5, (True, True), True, False, "caro"),
}

BLACK = int(Side.BLACK)
WHITE = int(Side.WHITE)
EMPTY = int(Side.EMPTY)
WALL = int(Side.WALL)
