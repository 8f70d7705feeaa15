"""``numoku review``: mistakes, missed and allowed wins of a game."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from math import inf
from pathlib import Path

from ..app import kept, setup, view
from ..app.kept import found_of, known_by
from ..database.sources import add_result
from ..engine.engine import Engine
from ..engine.review import Reviewer
from ..files import write_whole
from ..game.cells import NotationError
from ..game.documents import review_document
from ..game.game import Game, Move
from ..game.record import GameRecord, GameTree, TreeNode
from ..game.result import BY_SEARCH, Reviewed
from ..notation.sgf import format_sgf_trees
from ..options import POSITION, SHARED, CommandLine, Option
from ..position.rules import Side
from ..progress import Progress
from ..solver.solver import Solver
from ..values import format_value
from .analyse import MEGABYTE

SOLVER_MEMORY = 64_000_000
BAR = 20  # characters of the curve
SHOWN_LINE = 8  # moves of a line in the table


COMMAND = CommandLine(
    "numoku review",
    "Go through a game: the value at every move, mistakes by the chance to win that they lost, "
    "and forced wins that were missed or allowed.",
    (
        Option("game", metavar="GAME", about="see below"),
        *POSITION,
        SHARED["time"]._replace(default=1.0, about="seconds a position"),
        "threads", "memory", "db", "json",
        Option("--sgf", Path, None, "OUT", "write the game with comments"),
    ),
    "GAME is an SGF or PSQ file, moves such as h8i9j10, or - for the standard input.",
)  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    """Review a game; return 0, or raise what is wrong with it."""
    options = COMMAND.parse(arguments)
    game = setup.chosen_setup(options, options.game)
    if not game.moves:
        raise NotationError("there are no moves to review")
    Game(*game.board).become_checked(game)
    with (
        kept.Kept(options.db) as database,
        Engine(memory=options.memory * MEGABYTE, threads=options.threads) as engine,
        Solver(SOLVER_MEMORY, engine.library) as solver,
    ):
        engine.new_game(*game.board)
        engine.game.become(replace(game, moves=()))
        moves = [Move(*move) for move in game.moves]
        progress = Progress(len(moves), "moves", every=inf)

        def count(reviewed: Reviewed) -> None:
            progress.done += 1
            progress.show(last=progress.done == progress.total)

        known = known_by(database.finding)
        found = Reviewer(engine, solver, options.time, known).review(moves, count)
        if not game.passes:
            database.note_game(add_result(game))
            database.note_findings(found_of(game, found, engine.weights.key).items())
    try:
        if options.json:
            print(json.dumps(review_document(game, found)))
        else:
            print("\n".join(table(game, found)))
    finally:  # neither of the two is lost with the other
        if options.sgf is not None:
            text, _ = format_sgf_trees([annotate(game, found)])
            write_whole(options.sgf, text)
    return 0


def table(game: GameRecord, found: Sequence[Reviewed]) -> list[str]:
    """Return the review as lines: black's chance as a curve, and what went wrong."""
    lines = [f"{'move':>9}  value   black's chance"]
    sides = [Side((game.first + place) % 2) for place in range(len(found))]
    for side, reviewed in zip(sides, found, strict=True):
        black = reviewed.chance if side is Side.BLACK else 1 - reviewed.chance
        filled = round(black * BAR)
        name = f"{reviewed.ply}. {view.format_line([reviewed.move])}"
        bar = "#" * filled + "." * (BAR - filled)
        words = "; ".join(remarks(reviewed))
        if reviewed.is_foul:
            words = "; ".join(filter(None, (foul_words(game), words)))
        lines.append(f"{name:>9}  {format_value(reviewed.value):>6}  {bar} {words}".rstrip())
    for side in (Side.BLACK, Side.WHITE):
        own = [r for mover, r in zip(sides, found, strict=True) if mover is side]
        if own:
            lost = 100 * sum(r.loss for r in own) / len(own)
            mistakes = sum(r.is_mistake for r in own)
            lines.append(f"{side.name.lower()}: {mistakes} mistakes, {lost:.1f} % lost a move")
    return lines


def foul_words(game: GameRecord) -> str:
    """Return by which forbidden stone black has lost a game, and why it is one."""
    played = Game(*game.board)
    played.become(game)
    return f"{view.foul_line(played)}: black loses"


def remarks(reviewed: Reviewed) -> list[str]:
    """Return what is to be said about a move."""
    words = []
    if reviewed.is_mistake:
        better = view.format_line(reviewed.line, SHOWN_LINE)
        words.append(f"lost {100 * reviewed.loss:.0f} %, better {better}")
    for name, win in (("missed", reviewed.missed), ("allowed", reviewed.allowed)):
        if win is not None:
            by = "" if win.claim == BY_SEARCH else f" by {win.claim.upper()}"
            line = view.format_line(win.line, SHOWN_LINE)
            words.append(f"{name} a win{by} in {win.length}: {line}")
    return words


def annotate(game: GameRecord, found: Sequence[Reviewed]) -> GameTree:
    """Return the game with comments, and better lines as variations."""
    tree = GameTree(game.beginning)
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
