"""How many nodes a search gets that makes a label: the same everywhere, or by stones.

A search learns more from more nodes early in the game, where what it sees is far from certain.
``12000@20,4800@40,1200`` are 12,000 nodes before the 20th stone is on the board, 4,800 before
the 40th, and 1,200 from then on.
"""

from __future__ import annotations

import re
from typing import NamedTuple

LEAST_NODES = 10
_STEP = re.compile(r"([0-9]{1,10})@([0-9]{1,3})")
_NODES = re.compile(r"[0-9]{1,10}")


class NodePlan(NamedTuple):
    """Nodes by stones: ``steps`` are pairs of nodes and the stones before which they hold."""

    nodes: int  # where no step holds
    steps: tuple[tuple[int, int], ...] = ()

    @classmethod
    def parse(cls, text: str) -> NodePlan:
        """Read ``1200`` or ``12000@20,4800@40,1200``.

        Raises:
            ValueError: it is neither, has too few nodes, or stones that do not rise.
        """
        *words, last = (word.strip() for word in text.split(","))
        found = [_STEP.fullmatch(word) for word in words]
        if not _NODES.fullmatch(last) or not all(found):
            raise ValueError(f"nodes {text}: a number such as 1200, or 12000@20,4800@40,1200")
        steps = tuple((int(each[1]), int(each[2])) for each in found if each)
        stones = [before for _, before in steps]
        if stones != sorted({*stones}):
            raise ValueError(f"nodes {text}: the stones have to rise")
        if min(int(last), *(nodes for nodes, _ in steps), 1 << 40) < LEAST_NODES:
            raise ValueError(f"nodes {text}: {LEAST_NODES} or more")
        return cls(int(last), steps)

    def at(self, stones: int) -> int:
        """Return the nodes of a search with this many stones on the board."""
        return next((nodes for nodes, before in self.steps if stones < before), self.nodes)

    @property
    def most(self) -> int:
        """The nodes of the longest search."""
        return max(self.nodes, *(nodes for nodes, _ in self.steps), 0)

    def __str__(self) -> str:
        """Return what ``parse`` reads."""
        steps = (f"{nodes}@{before}" for nodes, before in self.steps)
        return ",".join([*steps, str(self.nodes)])
