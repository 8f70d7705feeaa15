"""What the solver finds out: proofs and how it is getting on with them, rescues, whole trees."""

from __future__ import annotations

from typing import NamedTuple

from ..game.game import Move

BY_FOURS = "vcf"  # a win by continuous fours
BY_THREATS = "vct"  # a win by fours and threes
OPEN = "open"  # ended before it knew


class Proof(NamedTuple):
    """What a search found out about a position.

    ``claim``: ``vcf``, ``vct``, ``no-vcf``, ``no-vct``, or ``open`` if it was ended before it
    knew. ``line``: the winning side's move first, against the longest resistance; it ends
    with the five, or with a block that the rules forbid. ``length``: the winner's stones up to
    and with the five. ``nodes``: stones that the search put on the board; ``time`` in seconds.
    ``level``: of a search by threats, below which there is no win; 0 is fours and threes alone.
    """

    claim: str
    line: tuple[Move, ...]
    length: int
    nodes: int
    time: float
    level: int = 0

    @property
    def wins(self) -> bool:
        """Whether this is a proven win."""
        return bool(self.line)

    @property
    def is_open(self) -> bool:
        """Whether the search was ended before it knew."""
        return self.claim == OPEN


class SolverProgress(NamedTuple):
    """How a long search goes: ``level`` of the search, numbers of the root still to settle."""

    nodes: int
    time: float
    level: int
    proof: int
    disproof: int


class Rescue(NamedTuple):
    """What stops an enemy who wins by fours if nothing is done.

    ``threat``: that win, as if the side to move passed (without a line). ``moves``: every legal
    move after which he has none; ``unknown``: moves that the search did not get to judge.
    """

    threat: Proof
    moves: tuple[Move, ...]
    unknown: tuple[Move, ...]
    nodes: int
    time: float


class Tree:
    """A proof: the winner's move, and a proof for every answer that stops its threat."""

    __slots__ = ("move", "replies")

    def __init__(self, move: Move, replies: dict[Move, Tree]) -> None:
        """Take the move, and what follows on each answer."""
        self.move = move
        self.replies = replies

    def count(self) -> int:
        """Return how many moves of the winner it holds."""
        return 1 + sum(tree.count() for tree in self.replies.values())


def own_stones(line: tuple[Move, ...]) -> int:
    """Return the winner's stones in a line; one more follows a block that is forbidden."""
    return len(line) // 2 + 1 if line else 0


def claim_about(name: str, wins: bool, stones: int) -> str:
    """Return what a search of this name claims: the win, that there is none, or that it is open.

    ``stones`` is what the kernel says: 0 if it has proven that there is none.
    """
    return name if wins else f"no-{name}" if stones == 0 else OPEN
