"""What databases take, know and give back: ``python -m tests.golden.databases``.

A session (see ``records``). Each step names the database, which is made where there is none, or the
file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

from pbrain_engine.database import lines, sources
from pbrain_engine.database.rescue import find_faults
from pbrain_engine.database.sources import Item, SourceOptions, add_items, merge, read_source
from pbrain_engine.database.store import Database, StoredGame, rank_of
from pbrain_engine.game.cells import parse_moves
from pbrain_engine.game.documents import (
    BOUNDS,
    claim_of,
    entry_document,
    following_document,
    read_analysis,
    read_tree,
)
from pbrain_engine.game.position import Position, image_of, read_key
from pbrain_engine.game.record import GameRecord
from pbrain_engine.game.result import Author, Known, Result
from pbrain_engine.game.tree import GameTree
from pbrain_engine.position.rules import Rule, Side
from tests.golden import texts
from tests.golden.readings import nodes_of, said_of
from tests.golden.records import Record, session, stage


def finding_of(finding: Result) -> str:
    return f"{said_of(finding)} certain={finding.is_certain} rank={rank_of(finding)}"


def items_of(items: Iterable[Item]) -> Iterator[str]:
    """Yield what a source brings."""
    for item in items:
        if isinstance(item, StoredGame):
            yield f"game {said_of(item.record)}" + ", does not count" * (not item.counts)
            yield from (f"  {ply}: {finding_of(each)}" for ply, each in item.findings.items())
        elif isinstance(item, GameTree):
            yield from nodes_of(item)
        else:
            yield ascii(tuple(read_key(item.image.key)))
            yield f"  {finding_of(item.finding)}"
            yield f"  way {'-' if item.way is None else said_of(item.way)}"


def read(name: str, **wishes: Any) -> Iterator[str]:
    return items_of(read_source(name, SourceOptions(**wishes)))


def file(name: str, content: str | bytes) -> Iterator[str]:
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return read(name)


class Shelf:
    """What is asked of databases, by their names."""

    def __init__(self, place: Callable[[str], str], opened: ExitStack) -> None:
        self.of = cache(lambda name: opened.enter_context(Database(place(name), create=True)))

    def add(self, name: str, *sources: str) -> Iterator[str]:
        """Yield how many games, positions, nodes, known games and pages come from each source."""
        said = []
        for source in sources:
            added = add_items(self.of(name), read_source(source, SourceOptions()))
            said.append(f"{source}: {said_of(added)}")
            said += find_faults(self.of(name))
        yield from texts.joined(said, "")

    def merge(self, name: str, other: str) -> Iterator[str]:
        yield said_of(merge(self.of(name), self.of(other)))

    def known(
        self,
        name: str,
        moves: str,
        rule: Rule = Rule.FREESTYLE,
        white: str = "",
        first: Side | None = None,
    ) -> Iterator[str]:
        """Yield what is known of a position; it is the same when it is read again.

        It is the one after these moves, or has black's stones and white's.
        """
        where = GameRecord(rule=rule, moves=tuple(parse_moves(moves)))
        if first is not None:
            black, other = (tuple(sorted(parse_moves(each))) for each in (moves, white))
            position = Position(rule, 15, 15, first, black, other)
            where = GameRecord.of(position)
        found, entry = lines.look_up_any_rule(self.of(name), where)
        document = entry_document(found, entry)
        yield json.dumps(document)
        if entry is not None and entry.finding is not None:
            assert read_analysis(document).finding == entry.finding
        for each in following_document(lines.list_next_moves(self.of(name), found.position)):
            yield f"  {json.dumps({key: one for key, one in each.items() if one is not None})}"

    def finding(self, name: str, moves: str, **found: Any) -> Iterator[str]:
        found["bound"] = BOUNDS[found["bound"]] if found.get("bound") else ""
        found["author"] = Author(*found.get("author", ()))
        found["claim"] = claim_of(found.pop("proof", ""), found["value"])
        if tree := found.pop("tree", ""):
            found["tree"] = read_tree(json.loads(tree))
        position = GameRecord(moves=tuple(parse_moves(moves))).position
        with self.of(name).transaction():
            self.of(name).add_findings([Known(image_of(position), Result(**found))])
        yield from self.known(name, moves)
        yield from find_faults(self.of(name))

    def comment(self, name: str, moves: str, before: str, after: str) -> Iterator[str]:
        record = GameRecord(moves=tuple(parse_moves(moves)))
        with self.of(name).transaction():
            lines.replace_comment(self.of(name), record, before, after)
        for tree in lines.read_trees(self.of(name)):
            yield from nodes_of(tree)
        yield from find_faults(self.of(name))

    def query(self, name: str, **wanted: Any) -> Iterator[str]:
        for found, entry in lines.query(self.of(name), lines.Filter(**wanted)):
            yield json.dumps(entry_document(found, entry))

    def export(self, name: str, form: str, **choice: Any) -> Iterator[str]:
        path = Path(f"made.{form}")
        how = {name: choice.pop(name) for name in ("values", "encoding") if name in choice}
        yield str(sources.export(self.of(name), path, lines.Filter(**choice), **how))
        data = path.read_bytes()
        yield data.hex(" ") if form == "lib" else data.decode().rstrip("\n")


@Record("databases")
def databases(record: str, place: Callable[[str], str] = "{}.db".format) -> str:
    """Return the record of all steps, of which another one has what is done; ``place`` of names."""
    with stage(), ExitStack() as opened:
        shelf = Shelf(place, opened)
        steps = ("add", "merge", "known", "finding", "comment", "query", "export")
        return session(record, globals() | {name: getattr(shelf, name) for name in steps})
