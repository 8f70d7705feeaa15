"""Boards, values, lines and proofs for a terminal, as plain text or in colour with rich."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..engine.thought import Thought
from ..errors import counted
from ..game import diagram
from ..game.cells import cell_name
from ..game.game import Game, Move
from ..game.record import GameRecord
from ..game.result import BY_FOURS, BY_THREATS, LOWER, UPPER, Tree
from ..notation import colours
from ..position.geometry import Coordinates
from ..position.rules import Side
from ..solver import Solver
from ..values import format_value
from .shapes import foul_of

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_MEANS = {BY_FOURS: "by fours (VCF)", BY_THREATS: "by threats of fours (VCT)"}
FOUR_STONES = 200_000  # node limit for finding the fours behind a threat again
_BOUNDS = {"": "", LOWER: "at least", UPPER: "at most"}


def diagram_of(game: Game, last: Coordinates | None = None) -> GameRecord:
    """Return the position of a game, with its last stone marked."""
    return GameRecord.of(game.position)._replace(marked=last)


def foul_line(game: Game) -> str:
    """Return which stone lost the game as a foul, and why; empty if none did."""
    if game.foul is None:
        return ""
    return f"{cell_name(*game.foul)} is forbidden ({foul_of(game, *game.foul)})"


def result_line(game: Game, winner: str | None) -> str:
    """Return the result of a game that is over, in words."""
    stones = counted(len(game.moves), "stone")
    if winner is None:
        return f"Result: draw, {stones}"
    if game.foul is not None:
        return f"Result: {winner} wins, {foul_line(game)}, {stones}"
    row = game.winning_row()
    where = f" with {cell_name(*row[0])} to {cell_name(*row[-1])}" if row else ""
    return f"Result: {winner} wins{where}, {stones}"


def plain_board(game: Game, last: Coordinates | None = None) -> str:
    """Return the board as text, with the last stone marked."""
    return diagram.format_diagram(diagram_of(game, last), stars=True, mover=False)


def rich_board(
    game: Game, last: Coordinates | None = None, crossed: Iterable[Coordinates] = ()
) -> Text:
    """Return the board in colour, with crosses on some empty cells and the winning row marked."""
    board, encoding = diagram_of(game, last), sys.stdout.encoding or "ascii"
    return colours.colour_rows(board, game.winning_row(), set(crossed), encoding)


def show_board(
    game: Game, last: Coordinates | None = None, crossed: Iterable[Coordinates] = ()
) -> None:
    """Print the board, in colour if the terminal supports it."""
    console = rich_console()
    if console is not None and console.color_system is not None and not console.no_color:
        console.print(rich_board(game, last, crossed))
    else:
        print(plain_board(game, last))


def rich_console() -> Console | None:
    """Return a console if there is a terminal and rich is installed, else None."""
    if not sys.stdout.isatty():
        return None
    try:
        from rich.console import Console
    except ImportError:
        return None
    return Console(highlight=False)


def format_line(moves: Iterable[Coordinates], most: int | None = None) -> str:
    """Return a line of play, cut after ``most`` moves."""
    names = [cell_name(x, y) for x, y in moves]
    if most is not None and len(names) > most:
        return " ".join(names[:most]) + " ..."
    return " ".join(names)


def format_proof(claim: str, length: int, line: Iterable[Coordinates]) -> str:
    """Return a proven win in words: its means, length in the winner's moves, and line."""
    how = f" {_MEANS[claim]}" if claim in _MEANS else ""
    return f"WIN{how} in {counted(length, 'move')}: {format_line(line)}"


def format_worth(thought: Thought) -> str:
    """Return a value with the chance of winning, such as ``+35 (53 %)`` or ``at least +M9``."""
    words = [_BOUNDS[thought.bound], format_value(thought.value)]
    if thought.mate is None:
        words.append(f"({format_chance(thought)})")
    return " ".join(filter(None, words))


def format_chance(thought: Thought) -> str:
    """Return the winning chance of the side to move, such as ``53 %``; a draw is half a win."""
    return f"{100 * thought.chance:.0f} %"


def format_count(number: float) -> str:
    """Return a number in few characters: ``950``, ``12.3k``, ``4.5M``."""
    for limit, divisor, unit in ((1e3, 1, ""), (1e6, 1e3, "k"), (1e9, 1e6, "M")):
        if number < limit:
            return f"{number / divisor:.1f}{unit}" if unit else f"{number:.0f}"
    return f"{number / 1e9:.1f}G"


def format_thought(thought: Thought) -> str:
    """Return one line of output about a search."""
    depth = f"{thought.depth}-{thought.seldepth}"
    rank = f"({thought.multipv}) " if thought.multipv > 1 else ""
    return (
        f"{rank}depth {depth:6} value {format_value(thought.value):6} {format_chance(thought):>5} "
        f"nodes {format_count(thought.nodes):6} time {thought.time:6.2f}  "
        f"{format_line(thought.pv, 12)}"
    )


def proof_lines(
    game: Game, solver: Solver, tree: Tree, indent: str = "", before: str = ""
) -> list[str]:
    """Return the text of a proof for the side to move; ``solver`` finds what follows a threat.

    Each text line is a line of play up to the loser's next choice; the loser's answers are
    indented below it. ``any other answer`` stands for all answers that stop nothing: the winner
    makes five, directly or by a line of fours.
    """
    winner, moves = game.to_move, [tree.move]
    with game.after(tree.move):
        fives = fives_of(game, winner)
        while len(tree.replies) == 1 and len(fives) == 1:  # a four and its only answer
            ((reply, tree),) = tree.replies.items()
            for move in (reply, tree.move):
                moves.append(move)
                game.play(*move)
            fives = fives_of(game, winner)
        lines = [f"{indent}{before}{format_line(moves)}"]
        if game.winner is not None:
            return [f"{lines[0]}, five"]
        for reply, answer in tree.replies.items():
            with game.after(reply):
                lines += proof_lines(game, solver, answer, indent + "  ", f"{cell_name(*reply)} ")
        other = "any other answer" if tree.replies else "any answer"
        if fives:
            end = f"five at {' or '.join(cell_name(*move) for move in fives)}"
        else:
            _, line = consequence(game, solver)
            end = f"{winner.name.lower()} wins by fours"
            end += f", as with {format_line(line)}, five" if line else ""
        return [*lines, f"{indent}  {other}: {end}"]


def fives_of(game: Game, side: Side) -> list[Move]:
    """Return the cells where a side's next stone would win; empty if the game is over."""
    if game.winner is not None:
        return []
    mover = game.to_move
    game.set_to_move(side)
    fives: list[Move] = []
    for move in game.legal_moves():
        with game.after(move):
            if game.winner is side:
                fives.append(move)
    game.set_to_move(mover)
    return fives


def consequence(game: Game, solver: Solver) -> tuple[list[Move], tuple[Move, ...]]:
    """Return how the last mover wins after an answer that stops nothing.

    Returns the cells that make five, and a line of fours if there is no such cell.
    """
    loser = game.to_move
    fives = fives_of(game, loser.opponent)
    if fives or game.winner is not None:
        return fives, ()
    game.set_to_move(loser.opponent)
    proof = solver.fours(game, nodes=FOUR_STONES)
    game.set_to_move(loser)
    return [], proof.line if proof.wins else ()
