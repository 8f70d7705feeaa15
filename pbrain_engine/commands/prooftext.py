"""A proof of a win in words: every answer that stops a threat, and what the others run into.

A line of text is a line of play up to where the loser has a choice; each of his answers is a
line below it, one step further in. ``any other answer`` are all that were left out because they
stop nothing: against these the winner makes five, or goes on with fours up to it.
"""

from __future__ import annotations

from ..game.game import Game, Move
from ..notation.cells import cell_name
from ..position.rules import Side
from ..solver.proofs import Tree
from ..solver.solver import Solver
from .view import format_line

FOUR_STONES = 200_000  # that the fours behind a threat may take to be found again


class ProofText:
    """Writes the proof of a win in a game, on which it plays and takes back."""

    def __init__(self, game: Game, solver: Solver) -> None:
        """Take the position of the proof, and a solver for what follows a threat."""
        self._game = game
        self._solver = solver

    def lines(self, tree: Tree, indent: str = "", before: str = "") -> list[str]:
        """Return the lines of a proof for the side to move."""
        game = self._game
        began = game.ply
        winner = game.to_move
        moves = [self._play(tree.move)]
        fives = self._fives(winner)
        while len(tree.replies) == 1 and len(fives) == 1:  # a four, and its one answer
            ((reply, tree),) = tree.replies.items()
            moves += [self._play(reply), self._play(tree.move)]
            fives = self._fives(winner)
        lines = [f"{indent}{before}{format_line(moves)}"]
        if game.winner is not None:
            lines[0] += ", five"
        else:
            for reply, answer in tree.replies.items():
                self._play(reply)
                lines += self.lines(answer, indent + "  ", f"{cell_name(*reply)} ")
                game.undo()
            other = "any other answer" if tree.replies else "any answer"
            lines.append(f"{indent}  {other}: {self._consequence(winner, fives)}")
        while game.ply > began:
            game.undo()
        return lines

    def _play(self, move: Move) -> Move:
        self._game.play(*move)
        return move

    def _fives(self, side: Side) -> list[Move]:
        """Return where a side would win with its next stone; none if the game is over."""
        game = self._game
        if game.winner is not None:
            return []
        loser = game.to_move
        game.set_to_move(side)
        fives: list[Move] = []
        for move in game.legal_moves():
            game.play(*move)
            if game.winner is side:
                fives.append(move)
            game.undo()
        game.set_to_move(loser)
        return fives

    def _consequence(self, winner: Side, fives: list[Move]) -> str:
        """Return what the winner does about an answer that stops nothing."""
        if fives:
            return f"five at {' or '.join(cell_name(*move) for move in fives)}"
        game = self._game
        loser = game.to_move
        game.set_to_move(winner)
        proof = self._solver.fours(game, nodes=FOUR_STONES)
        game.set_to_move(loser)
        if not proof.wins:
            return f"{winner.name.lower()} wins by fours"
        return f"{winner.name.lower()} wins by fours, as with {format_line(proof.line)}, five"
