"""Adding sources to a database in batches, each told only when it is stored for good."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from ..notation.game_tree import GameTree
from .document import Analysis
from .lines import add_line, add_tree
from .sources import Item, known_of
from .store import Added, Database, StoredGame

BATCH = 200  # games or analyses that are stored at once

Tell = Callable[[Added], None]  # takes what has been stored so far


def add_items(database: Database, items: Iterable[Item], tell: Tell = lambda done: None) -> Added:
    """Store everything; ``tell`` is called after every batch."""
    done = Added()
    source = iter(items)
    while batch := list(islice(source, BATCH)):
        with database.writing():
            stored = _add_batch(database, batch)
        done += stored
        tell(done)
    return done


def _add_batch(database: Database, batch: list[Item]) -> Added:
    games = [item for item in batch if isinstance(item, StoredGame)]
    analyses = [item for item in batch if isinstance(item, Analysis)]
    done = database.add_games(games) if games else Added()
    for tree in _trees(batch):
        done += add_tree(database, tree)
    if analyses:
        number = database.add_findings(known_of(analysis) for analysis in analyses)
        done += Added(positions=number)
        for analysis in analyses:
            if analysis.way is not None:
                done += add_line(database, analysis.way)
    return done


def _trees(batch: list[Item]) -> Iterator[GameTree]:
    return (item for item in batch if isinstance(item, GameTree))
