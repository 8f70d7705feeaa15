"""Proof-number search: is this position won? Search where the least remains to be proven.

Allis, *Searching for Solutions in Games and Artificial Intelligence* (1994), chapter 2. In an OR
node the attacker moves and one winning move is enough; in an AND node the defender moves and every
move must be winning for the attacker. The proof number of a node is the least number of leaves
still to be proven for a win, the disproof number the same for no win. The least numbers lead down
to the *most proving node*, which is expanded. Few replies of the defender mean small numbers, so
the search finds sequences of fours without knowing what a four is. The attacker's moves are those
near stones, the defender's all legal ones except those that allow a five at once: so a proof holds.

Cost: memory for each node, and a walk over a node's children for each step down and up.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from ..position.rules import EMPTY
from . import evaluation
from .board import Budget, Choice, NodeCounter, PlainGame

INFINITE = 10**9
MOST_NODES = 200_000  # kept in memory


@dataclass(eq=False)
class ProofNode:
    """A position: its numbers and, once expanded, its moves with their nodes."""

    is_or: bool
    proof: int
    disproof: int
    children: dict[int, ProofNode] = field(default_factory=dict)
    parents: list[ProofNode] = field(default_factory=list)


class ProofNumberSearch:
    """Finds out whether the side to move, the attacker, wins."""

    def __init__(self, game: PlainGame, limit: Budget) -> None:
        self.game, self.attacker, self.effort = game, game.to_move, NodeCounter(limit)
        self.nodes: dict[tuple[int, ...], ProofNode] = {}
        self.root = self.node_here()

    def run(self) -> bool:
        """Search until the root is proven or disproven, or the limit is reached."""
        self.expand(self.root)
        while self.root.proof and self.root.disproof and len(self.nodes) <= MOST_NODES:
            if self.effort.is_over:
                break
            with self.game.kept():
                node = self.most_proving_node()
                self.expand(node)
            self.update_ancestors(node)
        return self.root.proof == 0

    def most_proving_node(self) -> ProofNode:
        """Walk down to the most proving leaf, playing its moves; return the leaf."""
        node = self.root
        while node.children:
            wanted = node.proof if node.is_or else node.disproof
            move, node = next(
                (move, child) for move, child in node.children.items()
                if (child.proof if node.is_or else child.disproof) == wanted
            )  # fmt: skip
            self.game.play(move)
        return node

    def expand(self, node: ProofNode) -> None:
        """Add the children of a leaf: won, not won or unknown."""
        for move in self.moves(node.is_or):
            self.game.play(move)
            child = self.node_here()
            self.game.undo()
            child.parents.append(node)
            node.children[move] = child
            self.effort.nodes += 1
            if node.is_or and child.proof == 0:
                break
        self.set_numbers(node)

    def moves(self, is_or: bool) -> list[int]:
        """Return the moves to try: winning ones, else those that stop a five, else all."""
        game = self.game
        for side in (game.to_move, 1 - game.to_move):
            if cells := game.five_cells(side):
                closing = game.rule.traits.closing and side != game.to_move
                if not closing:  # in caro a five can be stopped from its ends, too
                    return [cell for cell in cells if side == game.to_move or game.is_legal(cell)]
        return evaluation.order_actions(game) if is_or else game.legal_moves()

    def node_here(self) -> ProofNode:
        """Return the node of the position on the board, created if missing."""
        key = tuple(self.game.cells)
        if key not in self.nodes:
            game, is_or = self.game, self.game.to_move == self.attacker
            # Estimated as if it were expanded, by the number of its moves.
            moves = 1 if game.five_cells(1 - game.to_move) else game.cells.count(EMPTY)
            proof, disproof = (1, moves) if is_or else (moves, 1)
            if game.is_over():
                proof, disproof = (0, INFINITE) if game.winner == self.attacker else (INFINITE, 0)
            self.nodes[key] = ProofNode(is_or, proof, disproof)
        return self.nodes[key]

    def set_numbers(self, node: ProofNode) -> None:
        """Compute the numbers of a node from those of its children."""
        proofs = [child.proof for child in node.children.values()]
        disproofs = [child.disproof for child in node.children.values()]
        if node.is_or:
            node.proof, node.disproof = min(proofs, default=INFINITE), sum(disproofs)
        else:
            node.proof, node.disproof = sum(proofs), min(disproofs, default=INFINITE)
        node.proof, node.disproof = min(node.proof, INFINITE), min(node.disproof, INFINITE)

    def update_ancestors(self, node: ProofNode) -> None:
        """Propagate changed numbers up to the root, along all paths."""
        changed = [node]
        while changed:
            for parent in changed.pop().parents:
                before = parent.proof, parent.disproof
                self.set_numbers(parent)
                if (parent.proof, parent.disproof) != before:
                    changed.append(parent)

    def line(self) -> tuple[int, ...]:
        """Return a line of the proof."""
        line, node = [], self.root
        while node.children:
            move, node = next(item for item in node.children.items() if item[1].proof == 0)
            line.append(move)
        return tuple(line)


def choose(game: PlainGame, limit: Budget, rng: Random) -> Choice:
    """Return the first move of a proven win, else the best move by the evaluation."""
    search = ProofNumberSearch(game, limit.part(0.7))  # the rest is for the evaluation
    if search.run():
        line = search.line()
        return Choice(line[0], 1.0, search.effort.nodes, line)
    choice = evaluation.choose(game, Budget(), rng)
    return choice._replace(nodes=choice.nodes + search.effort.nodes, value=0.0)
