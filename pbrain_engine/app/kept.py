"""Results of commands, stored in the database that a user names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..database.lines import look_up
from ..database.sources import Item, add_items
from ..database.store import Database, StoredGame
from ..engine.engine import Engine, EngineError
from ..game.documents import author_of
from ..game.game import Game
from ..game.position import Position, image_of
from ..game.record import GameRecord
from ..game.result import Entry, Known, Result, Reviewed


def certain_of(finding: Result | None) -> Result | None:
    """Return a forced win or loss, and None for any other finding."""
    return finding if finding is not None and finding.is_certain else None


class OptionalDatabase:
    """A command's database; without a target it stores and finds nothing.

    A result that cannot be stored stops no command: at the end of the context it is an EngineError.
    """

    def __init__(self, target: str | None) -> None:
        """Open the database, creating it if missing; EngineError if that fails."""
        self.database = None if target is None else Database(target, create=True)
        self.trouble: EngineError | None = None  # the error of the last write, if it failed

    def __enter__(self) -> OptionalDatabase:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.close()
        if self.trouble is not None and kind is None:
            raise self.trouble

    def close(self) -> None:
        """Close the database."""
        if self.database is not None:
            self.database.close()

    def look_up(self, game: Game) -> Entry | None:
        """Return the entry of a game's position, or None."""
        return None if self.database is None else look_up(self.database, game.position)

    def finding(self, game: Game) -> Result | None:
        """Return the finding about a game's position, None without one that has a move."""
        entry = self.look_up(game)
        finding = entry.finding if entry is not None else None
        return finding if finding is not None and finding.moves else None

    def note(self, engine: Engine, thought: Result) -> None:
        """Store a result for the engine's position, and the moves to it."""
        if thought.depth or thought.mate is not None:
            game = engine.game
            finding = thought._replace(author=author_of(engine.weights.key))
            way = game.record() if game.is_in_turn else None
            self._store(Known(image_of(game.position), finding, way))

    def note_findings(self, found: Mapping[Position, Result]) -> None:
        """Store results for positions, without the moves to them."""
        self._store(*(Known(image_of(position), finding) for position, finding in found.items()))

    def note_game(self, record: GameRecord) -> None:
        """Store a game, if it has moves."""
        if record.moves:
            self._store(StoredGame(record))

    def _store(self, *items: Item) -> None:
        if self.database is not None:
            self.trouble = None
            try:
                add_items(self.database, items)
            except EngineError as error:
                self.trouble = error


def found_of(game: GameRecord, found: Sequence[Reviewed], weights: str) -> dict[Position, Result]:
    """Return the results of a review by position, as the database stores them."""
    author = author_of(weights)
    return {
        game._replace(moves=game.moves[: item.ply - 1 - len(game.placed)]).position: Result(
            item.found.value, item.found.line, item.found.depth, author=author
        )
        for item in found
    }
