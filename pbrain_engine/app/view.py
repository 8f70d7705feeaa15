"""Boards, values, lines, proofs and shapes for people, as plain text or in colour with rich."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING

from ..errors import counted
from ..files import Document
from ..game import diagram
from ..game.cells import cell_name
from ..game.diagram import DIRECTIONS
from ..game.game import Game, Move
from ..game.record import GameRecord
from ..game.result import BY_FOURS, BY_THREATS, LOWER, UPPER, Thought, Tree
from ..notation import colours
from ..position.geometry import Coordinates
from ..position.rules import Rule, Side
from ..solver import Solver
from ..values import format_value

if TYPE_CHECKING:
    from rich.console import Console

_MEANS = {BY_FOURS: "by fours (VCF)", BY_THREATS: "by threats of fours (VCT)"}
FOUR_STONES = 200_000  # node limit for finding the fours behind a threat again
_BOUNDS = {"": "", LOWER: "at least", UPPER: "at most"}


def diagram_of(game: Game, last: Coordinates | None) -> GameRecord:
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


def plain_board(game: Game, last: Coordinates | None) -> str:
    """Return the board as text, with the last stone marked."""
    return diagram.format_diagram(diagram_of(game, last), stars=True, mover=False)


def show_board(game: Game, last: Coordinates | None, crossed: Iterable[Coordinates]) -> None:
    """Print the board, in colour if the terminal supports it, with crosses on some empty cells."""
    console = rich_console()
    if console is not None and console.color_system is not None and not console.no_color:
        board, encoding = diagram_of(game, last), sys.stdout.encoding or "ascii"
        row = game.winning_row()
        console.print(colours.colour_rows(board, row, encoding, set(crossed)))
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
    line = solver.fours(game, nodes=FOUR_STONES).line
    game.set_to_move(loser)
    return [], line


# Shapes: what a stone on an empty cell would make for a side, and why renju forbids it.
#
# A line is a string of the cells through one cell: ``O`` own stone, ``.`` empty cell, ``X``
# opposing stone, ``#`` wall or edge. This is for display; the search has tables.
# -------------------------------------------------------------------------------

REACH = 6  # relevant cells of a line on either side
OVERLINE, DOUBLE_FOUR, DOUBLE_THREE = "overline", "double four", "double three"
FIVE, OPEN_FOUR, FOUR, THREE = "five", "open four", "four", "three"
FOUR_THREE = "four and three"


def _row(line: str, at: int) -> tuple[int, int]:
    """Return the start and end (exclusive) of the row of own stones around a cell."""
    first, end = at, at + 1
    while first > 0 and line[first - 1] == "O":
        first -= 1
    while end < len(line) and line[end] == "O":
        end += 1
    return first, end


@cache
def _is_five(line: str, at: int, rule: Rule, side: Side) -> bool:
    """Return whether the own row through a cell wins."""
    first, end = _row(line, at)
    if end - first > 5:
        return not rule.traits.exact[side]
    ends = line[max(first - 1, 0) : first], line[end : end + 1]
    return end - first == 5 and not (rule.traits.closing and ends == ("X", "X"))


def _longer(line: str) -> Iterator[tuple[int, str, int, int]]:
    """Yield each cell that extends the middle row, with the new line and the new row's ends."""
    for at, sign in enumerate(line):
        if sign == ".":
            after = f"{line[:at]}O{line[at + 1 :]}"
            first, end = _row(after, at)
            if first <= REACH < end:
                yield at, after, first, end


@cache
def _fives(line: str, rule: Rule, side: Side) -> tuple[int, ...]:
    """Return the empty cells that make five with the stone in the middle."""
    return tuple(at for at, after, *_ in _longer(line) if _is_five(after, at, rule, side))


@cache
def line_shape(line: str, rule: Rule, side: Side) -> tuple[str, int]:
    """Return what the stone in the middle of a line makes, and its number of fours."""
    if _is_five(line, REACH, rule, side):
        return FIVE, 0
    first, end = _row(line, REACH)
    if end - first > 5:
        return OVERLINE, 0
    fives = _fives(line, rule, side)
    if len(fives) > 1:
        straight = end - first == 4 and fives == (first - 1, end)
        return (OPEN_FOUR, 1) if straight else (DOUBLE_FOUR, 2)
    if fives:
        return FOUR, 1
    for _, after, first, end in _longer(line):
        if end - first == 4 and _fives(after, rule, side) == (first - 1, end):
            return THREE, 0
    return "", 0


def shape_of(game: Game, x: int, y: int, side: Side) -> str:
    """Return the strongest shape that a side makes on an empty cell; often empty."""
    signs, made = {Side.EMPTY: ".", Side.WALL: "#", side: "O", side.opponent: "X"}, []
    for dx, dy in DIRECTIONS:
        held = [game.at(x + step * dx, y + step * dy) for step in range(-REACH, REACH + 1)]
        held[REACH] = side
        made.append(line_shape("".join(signs[one] for one in held), game.rule, side))
    names = [name for name, _ in made]
    fours = sum(count for _, count in made)
    if FIVE in names:
        return FIVE
    if OVERLINE in names and game.rule is Rule.RENJU and side is Side.BLACK:
        return OVERLINE
    if fours > 1:
        return DOUBLE_FOUR
    if OPEN_FOUR in names:
        return OPEN_FOUR
    threes = names.count(THREE)
    if fours:
        return FOUR_THREE if threes else FOUR
    return DOUBLE_THREE if threes > 1 else THREE if threes else ""


def foul_of(game: Game, x: int, y: int) -> str:
    """Return the kind of foul on a cell that renju forbids to black."""
    shape = shape_of(game, x, y, Side.BLACK)
    return shape if shape in (OVERLINE, DOUBLE_FOUR) else DOUBLE_THREE


def shapes(game: Game) -> dict[str, list[Document]]:
    """Return, for each side, the cells where it makes a three or more, and what it makes."""
    return {
        side.name.lower(): [
            {"cell": [x, y], "makes": shape}
            for x, y in game.empty_cells()
            if (shape := shape_of(game, x, y, side))
        ]
        for side in (Side.BLACK, Side.WHITE)
    }
