"""How commands read and feed a database: ``--db FILE``, or the file that ``NUMOKU_DB`` names."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from .. import __version__
from ..database.adding import add_items
from ..database.asking import following, look_up
from ..database.connection import DatabaseError
from ..database.document import SEARCH, Asked, entry_document, following_document
from ..database.finding import Author, Bound, Entry, Finding
from ..database.lines import add_line, replace_comment
from ..database.sources import Item
from ..database.store import Added, Database, Known, StoredGame
from ..engine.engine import Engine, EngineError, Move, Thought
from ..engine.thought import LOWER, UPPER
from ..game.game import Game
from ..notation.canonical import Position, image_of
from ..notation.game_record import GameRecord, RecordedMove
from ..position.rules import Side
from .setup import Setup

VARIABLE = "NUMOKU_DB"
BOUNDS = {LOWER: Bound.LOWER, UPPER: Bound.UPPER}


def add_database_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that names a database."""
    parser.add_argument(
        "--db", metavar="FILE", default=os.environ.get(VARIABLE) or None,
        help=f"keep what is found out in a database, and use what it knows (${VARIABLE})",
    )  # fmt: skip


def asked_of(start: Setup) -> Asked:
    """Return a position as it is asked for; its moves count only from an empty board."""
    cells: dict[Side, list[tuple[int, int]]] = {
        side: [(x, y) for x, y, held in start.placed if held is side]
        for side in (Side.BLACK, Side.WHITE, Side.WALL)
    }
    side = start.first
    for number in range(len(start.moves) + 1):
        if start.passes.count(number) % 2:
            side = side.opponent
        if number < len(start.moves):
            cells[side].append(start.moves[number])
            side = side.opponent
    black, white, walls = (tuple(sorted(held)) for held in cells.values())
    position = Position(start.rule, start.width, start.height, side, black, white, walls)
    is_plain = not (start.placed or start.passes) and start.first is Side.BLACK
    return Asked(position, tuple(start.moves) if is_plain else ())


def position_of(game: Game) -> Position:
    """Return what stands in a game."""
    cells = [
        tuple(sorted((x, y) for (x, y), held, _ in game.history if held is side))
        for side in (Side.BLACK, Side.WHITE, Side.WALL)
    ]
    return Position(game.rule, game.width, game.height, game.to_move, *cells)


def finding_of(thought: Thought, weights: str, tree: Any = None) -> Finding:
    """Return a thought as it is kept; ``tree`` is the JSON form of its proof."""
    return Finding(
        thought.value,
        BOUNDS.get(thought.bound, Bound.EXACT),
        thought.depth,
        thought.nodes,
        ((thought.move.x, thought.move.y),),
        tuple((x, y) for x, y in thought.pv),
        thought.proof or SEARCH * (thought.mate is not None),
        json.dumps(tree) if tree else "",
        Author(f"Numoku {__version__}", weights),
    )


def thought_of(finding: Finding) -> Thought:
    """Return a finding that has a move as a thought."""
    move = Move(*finding.moves[0])
    line = tuple(Move(x, y) for x, y in finding.line) or (move,)
    proof = "" if finding.proof == SEARCH else finding.proof
    return Thought(
        move, finding.value, finding.depth, finding.depth, finding.nodes, 0.0, line, proof=proof
    )


@contextmanager
def told() -> Iterator[None]:
    """Turn what goes wrong with a database into what commands report."""
    try:
        yield
    except DatabaseError as error:
        raise EngineError(str(error)) from None


class Kept:
    """An open database, as a command uses it; one that is not named does nothing."""

    def __init__(self, target: str | None) -> None:
        """Open it, made if it is not there.

        Raises:
            EngineError: it cannot be opened.
        """
        self._database: Database | None = None
        if target is not None:
            try:
                self._database = Database(target, create=True)
            except DatabaseError as error:
                raise EngineError(str(error)) from None

    def __enter__(self) -> Kept:
        return self

    def __exit__(self, *_: object) -> None:
        if self._database is not None:
            self._database.close()

    def look_up(self, game: Game) -> Entry | None:
        """Return what is known about a position."""
        if self._database is None:
            return None
        with told():
            return look_up(self._database, Asked(position_of(game)))

    def finding(self, game: Game) -> Finding | None:
        """Return the value that is known of a position, with a move."""
        entry = self.look_up(game)
        finding = entry.finding if entry is not None else None
        return finding if finding is not None and finding.moves else None

    def certain(self, game: Game) -> Thought | None:
        """Return a forced win or loss that is known, as a thought."""
        finding = self.finding(game)
        return thought_of(finding) if finding is not None and finding.is_certain else None

    def note(self, engine: Engine, thought: Thought, tree: Any = None) -> None:
        """Keep what was found out about the engine's position, and the way to it."""
        if self._database is None or (not thought.depth and thought.mate is None):
            return
        game = engine.game
        position = position_of(game)
        finding = finding_of(thought, engine.weights.key, tree)
        with told(), self._database.writing():
            self._database.add_findings([Known(image_of(position), finding)])
            if game.is_in_turn:
                moves = tuple(RecordedMove(x, y) for x, y in game.moves)
                first = game.history[0].side if game.ply else game.to_move
                add_line(
                    self._database, GameRecord(game.width, game.height, game.rule, moves, first)
                )

    def note_findings(self, findings: Iterable[tuple[Position, Finding]]) -> None:
        """Keep what was found out about positions, but not how they were reached."""
        if self._database is not None:
            known = [Known(image_of(position), finding) for position, finding in findings]
            with told(), self._database.writing():
                self._database.add_findings(known)

    def note_items(self, items: Iterable[Item]) -> Added:
        """Keep games, trees and analyses; return how much came."""
        if self._database is None:
            return Added()
        with told():
            return add_items(self._database, items)

    def note_comment(self, record: GameRecord, before: str, after: str) -> None:
        """Keep a comment about the end of a line, in the place of what it was ``before``."""
        if self._database is not None:
            with told(), self._database.writing():
                replace_comment(self._database, record, before, after)

    def document(self, asked: Asked) -> dict[str, Any] | None:
        """Return everything about a position, and what is known after each move, as JSON has it."""
        if self._database is None:
            return None
        with told():
            out = entry_document(asked, look_up(self._database, asked))
            out["next"] = following_document(following(self._database, asked))
        return out

    def note_game(self, record: GameRecord, findings: dict[int, Finding] | None = None) -> None:
        """Keep a game, and what was found out about its positions, by the stones played before."""
        if self._database is not None and record.moves:
            with told(), self._database.writing():
                self._database.add_games([StoredGame(record, findings or {})])
