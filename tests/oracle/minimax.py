"""Game values by the definition, and by the textbook's cuts with a note of what was cut."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

INFINITY = 10**9

Node = TypeVar("Node")
Tree = Any  # an integer is a leaf with its value, a list is a node with its children


def minimax(
    node: Node,
    depth: int,
    successors: Callable[[Node], Iterable[Node]],
    evaluate: Callable[[Node], int],
) -> int:
    """Return the value of a node for the side to move at it, looking that many plies ahead.

    Values change sign between plies; a node without successors is evaluated where it is.
    """
    best: int | None = None
    if depth > 0:
        for successor in successors(node):
            value = -minimax(successor, depth - 1, successors, evaluate)
            best = value if best is None else max(best, value)
    return evaluate(node) if best is None else best


def leaves(tree: Tree) -> list[int]:
    """Return the leaves of a tree from left to right."""
    if isinstance(tree, int):
        return [tree]
    return [leaf for child in tree for leaf in leaves(child)]


def tree_value(tree: Tree, maximising: bool = True) -> int:
    """Return the minimax value of a tree."""
    if isinstance(tree, int):
        return tree
    values = [tree_value(child, not maximising) for child in tree]
    return max(values) if maximising else min(values)


def alphabeta(
    tree: Tree,
    maximising: bool = True,
    alpha: int = -INFINITY,
    beta: int = INFINITY,
    unvisited: list[int] | None = None,
) -> tuple[int, list[int]]:
    """Return the value of a tree and the leaves that alpha-beta never visits, in order.

    A node is left as soon as alpha >= beta.
    """
    missed: list[int] = [] if unvisited is None else unvisited
    if isinstance(tree, int):
        return tree, missed
    best = -INFINITY if maximising else INFINITY
    for number, child in enumerate(tree):
        value, _ = alphabeta(child, not maximising, alpha, beta, missed)
        if maximising:
            best = max(best, value)
            alpha = max(alpha, best)
        else:
            best = min(best, value)
            beta = min(beta, best)
        if alpha >= beta:
            for rest in tree[number + 1 :]:
                missed.extend(leaves(rest))
            break
    return best, missed
