"""``numoku review``: mistakes, missed and allowed wins of a game."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from .. import __version__
from ..database.document import SEARCH
from ..database.finding import Author, Bound, Finding
from ..database.sources import Wish, decided, read_source
from ..database.store import StoredGame
from ..engine.engine import Engine, Thought
from ..engine.forms import pairs
from ..engine.review import Reviewed, Reviewer, Win
from ..files import write_whole
from ..game.game import Game, IllegalMove, Move
from ..notation.canonical import Position
from ..notation.cells import NotationError
from ..notation.game_record import GameRecord, RecordedMove
from ..notation.game_tree import GameTree, TreeNode
from ..notation.sgf_tree import format_sgf_trees
from ..options import Parser, above_zero, positive
from ..position.rules import Side
from ..solver.solver import Solver
from ..values import WIN_BAND, format_value
from . import kept, setup, view

MEGABYTE = 1_000_000
SOLVER_MEMORY = 64_000_000
BAR = 20  # characters of the curve
SHOWN_LINE = 8  # moves of a line in the table


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command's options."""
    parser = Parser(
        prog="numoku review",
        description="Go through a game: the value at every move, mistakes by the chance to win "
        "that they lost, and forced wins that were missed or allowed.",
        epilog="GAME is an SGF or PSQ file, moves such as h8i9j10, or - for the standard input.",
    )
    parser.add_argument("game", metavar="GAME", help="see below")
    setup.add_position_options(parser)
    parser.add_argument(
        "--time", type=above_zero, default=1.0, help="seconds a position (default: 1)"
    )
    parser.add_argument("--threads", type=positive, default=1, help="threads to search with")
    parser.add_argument(
        "--memory", type=positive, default=350, help="megabytes to use (default: 350)"
    )
    kept.add_database_option(parser)
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    parser.add_argument("--sgf", metavar="OUT", type=Path, help="write the game with comments")
    return parser


def main(arguments: Sequence[str]) -> int:
    """Review a game; return 0, or raise what is wrong with it."""
    options = make_parser().parse_args(arguments)
    game = setup.read_setup(options.game, options.rule, options.size)
    if not game.moves:
        raise NotationError("there are no moves to review")
    check_moves(game)
    with (
        kept.Kept(options.db) as database,
        Engine(memory=options.memory * MEGABYTE, threads=options.threads) as engine,
        Solver(SOLVER_MEMORY, engine.library) as solver,
    ):
        engine.new_game(game.width, game.height, game.rule)
        setup.build(engine, game._replace(moves=()))
        moves = [Move(*move) for move in game.moves]
        found = Reviewer(engine, solver, options.time, known_by(database.finding)).review(
            moves, progress(len(moves))
        )
        keep(database, options, game, found, engine.weights.key)
    try:
        if options.json:
            print(json.dumps(document(game, found)))
        else:
            print("\n".join(table(game, found)))
    finally:  # neither of the two is lost with the other
        if options.sgf is not None:
            text, _ = format_sgf_trees([annotated(game, found)])
            write_whole(options.sgf, text)
    return 0


def keep(
    database: kept.Kept,
    options: argparse.Namespace,
    game: setup.Setup,
    found: Sequence[Reviewed],
    weights: str,
) -> None:
    """Keep the game and what was found out about its positions."""
    if any(side is Side.WALL for _, _, side in game.placed) or game.passes:
        return
    database.note_game(told_game(options.game, Wish(options.rule, options.size), game))
    database.note_findings(found_of(game, found, weights).items())


def told_game(name: str, wish: Wish, game: setup.Setup) -> GameRecord:
    """Return a game as its file tells it, with players and date: as ``numoku db`` would add it."""
    if Path(name).is_file():
        with suppress(NotationError):
            for item in read_source(name, wish):
                if isinstance(item, StoredGame) and tuple(item.record.cells) == game.moves:
                    return item.record
    moves = tuple(RecordedMove(*move) for move in game.moves)
    return decided(replace(setup.record_of(game), moves=moves))


def found_of(game: setup.Setup, found: Sequence[Reviewed], weights: str) -> dict[Position, Finding]:
    """Return what was found out about the positions of a game, as it is kept."""
    author = Author(f"Numoku {__version__}", weights)
    findings = {}
    for reviewed in found:
        before = game._replace(moves=game.moves[: reviewed.ply - 1 - len(game.placed)])
        findings[kept.asked_of(before).position] = Finding(
            reviewed.value,
            depth=reviewed.depth,
            moves=((reviewed.best.x, reviewed.best.y),),
            line=tuple((x, y) for x, y in reviewed.line),
            proof=SEARCH if abs(reviewed.value) >= WIN_BAND else "",
            author=author,
        )
    return findings


def known_by(finding: Callable[[Game], Finding | None]) -> Callable[[Game], Thought | None]:
    """Return what a database knows as a reviewer asks for it: exact values as thoughts."""

    def known(game: Game) -> Thought | None:
        found = finding(game)
        is_told = found is not None and (found.is_certain or found.bound is Bound.EXACT)
        return kept.thought_of(found) if found is not None and is_told else None

    return known


def check_moves(game: setup.Setup) -> None:
    """Refuse a game that goes on after its end, or that cannot be played.

    Raises:
        NotationError: why.
    """
    board = Game(game.width, game.height, game.rule)
    try:
        setup.build(board, game._replace(moves=()))
        for number, (x, y) in enumerate(game.moves, 1):
            if board.winner is not None:
                raise NotationError(f"{board.winner.name.lower()} has won before move {number}")
            board.play(x, y)
    except IllegalMove as error:
        raise NotationError(str(error)) from None


def progress(moves: int) -> Any:
    """Return a listener that counts on stderr, where that is a terminal."""
    done = 0

    def count(reviewed: Reviewed) -> None:
        nonlocal done
        done += 1
        if sys.stderr.isatty():
            end = "\n" if done == moves else ""
            print(f"\rmove {done} of {moves}", end=end, file=sys.stderr, flush=True)

    return count


def win_form(win: Win | None) -> dict[str, Any] | None:
    """Return a win as JSON has it, like that of `numoku analyse`."""
    if win is None:
        return None
    found: dict[str, Any] = {"plies": win.plies, "line": pairs(win.line)}
    return {**found, "proof": win.proof} if win.proof else found


def move_form(reviewed: Reviewed) -> dict[str, Any]:
    """Return what was found out about a move as JSON has it."""
    return {
        "ply": reviewed.ply,
        "move": list(reviewed.move),
        "value": reviewed.value,
        "chance": round(reviewed.chance, 4),
        "best": list(reviewed.best),
        "loss": round(reviewed.loss, 4),
        "missed_win": win_form(reviewed.missed),
        "allowed_win": win_form(reviewed.allowed),
        "line": pairs(reviewed.line),
        "depth": reviewed.depth,
    }


def document(game: setup.Setup, found: Sequence[Reviewed]) -> dict[str, Any]:
    """Return the review as one document; values are those of the side that moves."""
    return {
        "rule": game.rule.name.lower(),
        "size": [game.width, game.height],
        "moves": [move_form(reviewed) for reviewed in found],
    }


def side_of(game: setup.Setup, place: int) -> Side:
    """Return who makes a move of the game."""
    return Side((game.first + place) % 2)


def table(game: setup.Setup, found: Sequence[Reviewed]) -> list[str]:
    """Return the review as lines: black's chance as a curve, and what went wrong."""
    lines = [f"{'move':>9}  value   black's chance"]
    for place, reviewed in enumerate(found):
        side = side_of(game, place)
        black = reviewed.chance if side is Side.BLACK else 1 - reviewed.chance
        filled = round(black * BAR)
        name = f"{reviewed.ply}. {view.format_line([reviewed.move])}"
        bar = "#" * filled + "." * (BAR - filled)
        words = "; ".join(remarks(reviewed))
        lines.append(f"{name:>9}  {format_value(reviewed.value):>6}  {bar} {words}".rstrip())
    for side in (Side.BLACK, Side.WHITE):
        own = [r for place, r in enumerate(found) if side_of(game, place) is side]
        if own:
            lost = 100 * sum(r.loss for r in own) / len(own)
            mistakes = sum(r.is_mistake for r in own)
            lines.append(f"{side.name.lower()}: {mistakes} mistakes, {lost:.1f} % lost a move")
    return lines


def remarks(reviewed: Reviewed) -> list[str]:
    """Return what is to be said about a move."""
    words = []
    if reviewed.is_mistake:
        words.append(f"lost {100 * reviewed.loss:.0f} %, better {best_line(reviewed)}")
    for name, win in (("missed", reviewed.missed), ("allowed", reviewed.allowed)):
        if win is not None:
            by = f" by {win.proof.upper()}" if win.proof else ""
            line = view.format_line(win.line, SHOWN_LINE)
            words.append(f"{name} a win{by} in {(win.plies + 1) // 2}: {line}")
    return words


def best_line(reviewed: Reviewed) -> str:
    """Return the line that would have been better."""
    return view.format_line(reviewed.line, SHOWN_LINE)


def annotated(game: setup.Setup, found: Sequence[Reviewed]) -> GameTree:
    """Return the game with comments, and better lines as variations."""
    tree = GameTree(setup.record_of(game))
    node = tree.root
    for reviewed in found:
        before, node = node, node.child(reviewed.move)
        words = [f"value {format_value(reviewed.value)}, chance {100 * reviewed.chance:.0f} %"]
        node.comment = "\n".join([node.comment, *words, *remarks(reviewed)]).strip()
        better = reviewed.missed.line if reviewed.missed else reviewed.line
        if reviewed.is_mistake and better[0] != reviewed.move:
            add_line(before, better, "better")
    node = tree.root
    for reviewed in found:  # after the moves of the game, so that those stay the first
        node = node.child(reviewed.move)
        if reviewed.allowed is not None and node.children:  # or else it would be the game
            add_line(node, reviewed.allowed.line, "wins")
    return tree


def add_line(node: TreeNode, line: Sequence[Move], comment: str) -> None:
    """Add a line as a variation; its first move has a comment, unless that is there already."""
    for place, move in enumerate(line):
        node = node.child(move)
        if place == 0 and not node.comment:
            node.comment = comment
