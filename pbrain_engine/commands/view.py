"""Boards, values and lines as a terminal shows them: plain text, or colours with rich."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..engine.thought import LOWER, UPPER, Thought
from ..game.game import Game
from ..notation import picture
from ..notation.cells import cell_name
from ..notation.diagram import Diagram
from ..notation.opening_names import name_opening
from ..position.geometry import Coordinates
from ..position.rules import Side
from ..solver.proofs import BY_FOURS, BY_THREATS
from ..values import format_value

if TYPE_CHECKING:
    from rich.text import Text

_MEANS = {BY_FOURS: "by fours (VCF)", BY_THREATS: "by threats of fours (VCT)"}
_BOUNDS = {"": "", LOWER: "at least", UPPER: "at most"}


def last_of(game: Game) -> Coordinates | None:
    """Return the stone that was put last, or None."""
    return game.moves[-1] if game.moves else None


def diagram_of(game: Game, last: Coordinates | None = None) -> Diagram:
    """Return what stands on the board, with the last stone."""
    stones = ((stone.move, stone.side) for stone in game.history)
    return picture.diagram_of(game.width, game.height, stones, last)


def opening_line(game: Game) -> str:
    """Return which of renju's openings a game began with, empty if it is none of them."""
    first = [game.at(x, y) for x, y in game.moves[:3]]
    if first != [Side.BLACK, Side.WHITE, Side.BLACK]:  # stones that were set up come in any order
        return ""
    opening = name_opening(game.moves, game.width, game.height)
    return "" if opening is None else f"opening {opening}"


def plain_board(game: Game, last: Coordinates | None = None) -> str:
    """Return the board as text, a stone marked as the last one."""
    return picture.plain(diagram_of(game, last))


def rich_board(
    game: Game, last: Coordinates | None = None, crossed: Iterable[Coordinates] = ()
) -> Text:
    """Return the board in colours, some empty cells crossed out, the row that has won marked."""
    board = diagram_of(game, last)
    row = picture.winning_row(board) if game.winner is not None else []
    letters = not can_show("".join(picture.SIGNS.values()))
    return picture.coloured(board, row, set(crossed), letters)


def show_board(
    game: Game, last: Coordinates | None = None, crossed: Iterable[Coordinates] = ()
) -> None:
    """Print the board, in colours where the terminal has them."""
    console = rich_console()
    if console is not None and console.color_system is not None and not console.no_color:
        console.print(rich_board(game, last, crossed))
    else:
        print(plain_board(game, last))


def can_show(text: str) -> bool:
    """Say whether the terminal's encoding has these characters."""
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def rich_console() -> Any | None:
    """Return a console if there is a terminal and rich is installed, else None."""
    if not sys.stdout.isatty():
        return None
    try:
        from rich.console import Console
    except ImportError:
        return None
    return Console(highlight=False)


def format_line(moves: Iterable[Coordinates], most: int | None = None) -> str:
    """Return a line of play, cut after so many moves."""
    names = [cell_name(x, y) for x, y in moves]
    if most is not None and len(names) > most:
        return " ".join(names[:most]) + " ..."
    return " ".join(names)


def format_proof(claim: str, length: int, line: Iterable[Coordinates]) -> str:
    """Return a win in words: by what, in how many of the winner's stones, and the line."""
    how = f" {_MEANS[claim]}" if claim in _MEANS else ""
    return f"WIN{how} in {length} move{'s' if length > 1 else ''}: {format_line(line)}"


def format_worth(thought: Thought) -> str:
    """Return a value with the chance to win: ``+35 (53 %)``, ``+M9``, ``at least +35 (53 %)``."""
    words = [_BOUNDS[thought.bound], format_value(thought.value)]
    if thought.mate is None:
        words.append(f"({format_chance(thought)})")
    return " ".join(filter(None, words))


def format_chance(thought: Thought) -> str:
    """Return the chance of the side to move to win, such as ``53 %``; a draw is half a win."""
    return f"{100 * thought.chance:.0f} %"


def format_count(number: float) -> str:
    """Return a large number in few characters: ``950``, ``12.3k``, ``4.5M``."""
    for limit, divisor, unit in ((1e3, 1, ""), (1e6, 1e3, "k"), (1e9, 1e6, "M")):
        if number < limit:
            return f"{number / divisor:.1f}{unit}" if unit else f"{number:.0f}"
    return f"{number / 1e9:.1f}G"


def format_thought(thought: Thought) -> str:
    """Return one line about a search."""
    depth = f"{thought.depth}-{thought.seldepth}"
    rank = f"({thought.multipv}) " if thought.multipv > 1 else ""
    return (
        f"{rank}depth {depth:6} value {format_value(thought.value):6} {format_chance(thought):>5} "
        f"nodes {format_count(thought.nodes):6} time {thought.time:6.2f}  "
        f"{format_line(thought.pv, 12)}"
    )
