"""``numoku review``: mistakes, missed and allowed wins of a game.

``--json`` prints one object:

- ``rule``, ``size``
- ``accuracy``: of ``black`` and ``white``, per cent, null without moves
- ``counts``: of ``inaccuracy``, ``mistake`` and ``blunder``, for each side
- ``decisive``: the ply of the move that decided the game, or null
- ``chances``: black's, before each move and after the last
- ``moves``: for each ``ply``, ``move``, ``kind`` (``best``, ``good``, ``inaccuracy``, ``mistake``,
  ``blunder``), ``foul``, ``value`` and ``chance`` (of the position before the move, for the side
  that moves), ``best``, ``line``, ``depth``, ``loss`` (chance given away, 0 to 1), ``missed_win``
  and ``allowed_win`` (null, or ``plies``, ``line``, and ``proof`` where threats prove it)
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Sequence
from math import inf
from pathlib import Path
from threading import Event

from ..app import saved, setup, thinking, view
from ..app.saved import found_of
from ..database.sources import add_result
from ..engine.engine import Engine
from ..engine.review import Reviewer
from ..errors import counted
from ..files import check_target, user_path, write_whole
from ..game.cells import NotationError
from ..game.documents import review_document
from ..game.game import Game, Move
from ..game.record import GameRecord
from ..game.result import BY_SEARCH, INACCURACY, WRONG, Reviewed, chances, decisive, verdict
from ..game.tree import GameTree, TreeNode, main_line, tree_of
from ..notation.sgf import format_sgf_trees
from ..options import MEGABYTE, POSITION, SHARED, CommandLine, Option
from ..position.rules import Side
from ..progress import Progress
from ..solver import Solver
from ..values import format_value

BAR = 20  # characters of the curve
SHOWN_LINE = 8  # moves of a line in the table
# Comment lines that a review writes on a move:
OWN = re.compile(
    rf"value [-+]\S+, chance \d+ %$|({'|'.join(WRONG)}): lost \d|(missed|allowed) a win|"
    r"[a-z]\d+ is forbidden \([a-z ]+\): black loses$"
)


COMMAND = CommandLine(
    "numoku review",
    "Review a game: the value at every move, mistakes by the winning chance that they lost, and "
    "forced wins that were missed or allowed.",
    (
        Option("game", metavar="GAME", about="see below"),
        *POSITION,
        SHARED["time"]._replace(default=1.0, about="seconds per position"),
        "threads", "memory", "db", "json",
        Option("--sgf", user_path, None, "OUT", "write the game with comments"),
    ),
    "GAME is a game file, moves such as h8i9j10, or - for standard input.",
)  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    """Review a game."""
    options = COMMAND.parse(arguments)
    game = setup.chosen_setup(options, options.game)
    if not game.moves:
        raise NotationError("there are no moves to review")
    Game.of(game)
    source = Path(options.game)
    trees = trees_of(source, game)
    check_target(options.sgf, [] if trees else [source])
    with saved.OptionalDatabase(options.db) as database:
        found = reviewed_moves(options, game, database)
        try:
            if options.json:
                print(json.dumps(review_document(game, found)))
            else:
                print("\n".join(table(game, found)))
        finally:  # written even if printing fails
            if options.sgf is not None:
                others = trees[1:] if options.sgf.resolve() == source.resolve() else []
                noted = annotate(game, found, trees[0] if trees else None)
                write_whole(options.sgf, format_sgf_trees([noted, *others])[0])
    return 0


def reviewed_moves(
    options: argparse.Namespace, game: GameRecord, database: saved.OptionalDatabase
) -> list[Reviewed]:
    """Review a game from its end, until Ctrl-C; KeyboardInterrupt before the first result."""
    with (
        Engine(memory=options.memory * MEGABYTE, threads=options.threads) as engine,
        Solver(library=engine.library) as solver,
    ):
        engine.new_game(*game.board)
        engine.game.become(game._replace(moves=()))
        moves = [Move(*move) for move in game.moves]
        progress = Progress(len(moves), "moves", every=inf)

        reviewer = Reviewer(engine, solver, options.time, database.finding)
        latest: dict[int, Reviewed] = {}

        def listen(reviewed: Reviewed) -> None:
            if reviewed.ply not in latest:
                progress.done += 1
                progress.show(last=progress.done == progress.total)
            latest[reviewed.ply] = reviewed

        is_stopped = Event()

        def stop() -> None:
            is_stopped.set()
            solver.stop()
            engine.stop()

        try:
            thinking.in_thread(lambda: reviewer.review(moves, listen, is_stopped.is_set), stop)
        except KeyboardInterrupt:
            is_stopped.set()  # it may come before `stop` could be called
        found = [latest[ply] for ply in sorted(latest)]
        if is_stopped.is_set():
            if not found:
                raise KeyboardInterrupt
            done = f"{counted(len(found), 'move')} of {len(moves)}"
            print(f"stopped: only the last {done} were reviewed", file=sys.stderr)
        if not game.passes:
            database.note_game(add_result(game))
            database.note_findings(found_of(game, found, engine.weights.key))
    return found


def trees_of(source: Path, game: GameRecord) -> list[GameTree]:
    """Return all games of an SGF file, the first being ``game`` with its comments; else []."""
    trees = setup.read_trees(source) if os.path.isfile(source) else []
    if not trees or game.passes or main_line(trees[0]).moves != game.moves:
        return []
    trees[0].record = trees[0].record._replace(rule=game.rule)
    return trees


def table(game: GameRecord, found: Sequence[Reviewed]) -> list[str]:
    """Return the review as text lines: a curve of black's chance, and the mistakes."""
    lines = [f"{'move':>9}  value   black's chance"]
    curve = chances(game, found)
    for reviewed, black in zip(found, curve, strict=False):
        filled = round(black * BAR)
        name = f"{reviewed.ply}. {view.format_line([reviewed.move])}"
        bar = "#" * filled + "." * (BAR - filled)
        words = "; ".join(remarks(game, reviewed))
        lines.append(f"{name:>9}  {format_value(reviewed.found.value):>6}  {bar} {words}".rstrip())
    for side in (Side.BLACK, Side.WHITE):
        said = verdict(game, found, side)
        if said.accuracy is not None:
            wrong = ", ".join(plural(said.counts[kind], kind) for kind in WRONG)
            lines.append(f"{side.name.lower()}: accuracy {said.accuracy:.0f} %, {wrong}")
    ply = decisive(game, found)
    if ply is not None:
        (move,) = [reviewed.move for reviewed in found if reviewed.ply == ply]
        lines.append(f"decided by {ply}. {view.format_line([move])}")
    return lines


def plural(count: int, kind: str) -> str:
    """Return a count with the name of a kind of mistake."""
    return f"{count} inaccuracies" if kind == INACCURACY and count != 1 else counted(count, kind)


def remarks(game: GameRecord, reviewed: Reviewed) -> list[str]:
    """Return the remarks about a move."""
    words = []
    if reviewed.is_foul:
        played = Game(*game.board)
        played.become(game)
        words.append(f"{view.foul_line(played)}: black loses")
    if reviewed.kind in WRONG:
        better = view.format_line(reviewed.found.line, SHOWN_LINE)
        words.append(f"{reviewed.kind}: lost {100 * reviewed.loss:.0f} %, better {better}")
    for name, win in (("missed", reviewed.missed), ("allowed", reviewed.allowed)):
        if win is not None:
            by = "" if win.claim == BY_SEARCH else f" by {win.claim.upper()}"
            line = view.format_line(win.line, SHOWN_LINE)
            words.append(f"{name} a win{by} in {win.length}: {line}")
    return words


def annotate(game: GameRecord, found: Sequence[Reviewed], tree: GameTree | None) -> GameTree:
    """Return the game with comments on its mistakes, and better lines as variations.

    ``tree``: the game with earlier comments; those of an earlier review are removed.
    """
    tree = tree_of(game._replace(passes=())) if tree is None else tree
    before: list[tuple[TreeNode, Reviewed]] = []
    node = tree.root
    for reviewed in found:
        if not before:
            node = tree.add(game.moves[: reviewed.ply - 1 - len(game.placed)])
        before.append((node, reviewed))
        node = node.child(reviewed.move)
    for node, reviewed in before:
        after = node.child(reviewed.move)
        words = remarks(game, reviewed)
        if words:
            value, chance = format_value(reviewed.found.value), view.format_chance(reviewed.found)
            words = [f"value {value}, chance {chance}", *words]
        kept = [line for line in after.comment.splitlines() if not OWN.match(line)]
        after.comment = "\n".join([*kept, *words]).strip()
        better = reviewed.missed.line if reviewed.missed else reviewed.found.line
        if reviewed.is_mistake and better[0] != reviewed.move:
            add_line(node, better, "better")
    for node, reviewed in before:  # after the moves of the game, so that those stay first
        after = node.child(reviewed.move)
        if reviewed.allowed is not None and after.children:  # else it would become the main line
            add_line(after, reviewed.allowed.line, "wins")
    return tree


def add_line(node: TreeNode, line: Sequence[Move], comment: str) -> None:
    """Add a line as a variation, with a comment on its first move unless it has one."""
    for place, move in enumerate(line):
        node = node.child(move)
        if place == 0 and not node.comment:
            node.comment = comment
