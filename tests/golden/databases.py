"""What databases take, know and give back: ``python -m tests.golden.databases``.

In ``databases.txt`` a line with ``>`` is a step, its values as Python writes them (see
``readings``), and all others are recorded: what comes of it, or the error. Each step names the
database, which is made where there is none, or the file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import cache, partial
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
from pbrain_engine.game.opening_rules import find_opening
from pbrain_engine.game.position import Position, image_of, read_key
from pbrain_engine.game.record import GameRecord
from pbrain_engine.game.result import Author, Known, Result
from pbrain_engine.game.tree import GameTree
from pbrain_engine.position.rules import Rule, Side
from tests.golden.readings import answered, nodes_of, said_of
from tests.golden.records import Record, stage

ANALYSIS: dict[str, Any] = {
    "rule": "freestyle", "size": [15, 15], "to_move": "black", "black": [[7, 7]],
    "white": [[8, 8]], "played": [[7, 7], [8, 8]], "value": 30, "depth": 9, "nodes": 100,
    "move": [6, 6], "pv": [[6, 6], [9, 9]],
}  # fmt: skip


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


def asked(
    moves: str, rule: int = 0, size: int = 15, white: str = "", first: str = ""
) -> GameRecord:
    """Return a position after these moves, or with black's stones and white's."""
    cells = tuple(parse_moves(moves, size))
    if not white and not first:
        return GameRecord(size, size, Rule(rule), cells)
    black, other = (tuple(sorted(each)) for each in (cells, parse_moves(white, size)))
    return GameRecord.of(Position(Rule(rule), size, size, Side[first.upper()], black, other))


def ruled(choice: dict[str, Any]) -> dict[str, Any]:
    return choice | ({"rule": Rule(choice["rule"])} if "rule" in choice else {})


def known(database: Database, where: GameRecord) -> Iterator[str]:
    """Yield what is known of a position; it is the same when it is read again."""
    found, entry = lines.look_up_any_rule(database, where)
    document = entry_document(found, entry)
    yield json.dumps(document)
    if entry is not None and entry.finding is not None:
        assert read_analysis(document).finding == entry.finding
    for each in following_document(lines.list_next_moves(database, found.position)):
        yield f"  {json.dumps(each)}"


def answers(database_of: Callable[[str], Database], kind: str, *given: Any) -> Iterator[str]:
    """Yield what comes of a step."""
    match kind, *given:
        case "file", name, content:
            Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
            yield from items_of(read_source(name, SourceOptions()))
        case "read", name, *wishes:
            yield from items_of(read_source(name, SourceOptions(**ruled(dict(*wishes)))))
        case "analysis", changes:
            Path("changed").write_text(json.dumps(ANALYSIS | changes), encoding="utf-8")
            yield from items_of(read_source("changed", SourceOptions()))
        case "merge", name, other:
            yield str(merge(database_of(name), database_of(other)))
        case kind, name, *more:
            database = database_of(name)
            yield from answers_of(database, kind, *more)
            yield from find_faults(database)


def answers_of(database: Database, kind: str, *given: Any) -> Iterator[str]:
    """Yield what comes of a step with one database."""
    match kind, *given:
        case "add", name:
            yield str(add_items(database, read_source(name, SourceOptions())))
        case "finding", moves, found, *where:
            found["bound"] = BOUNDS[found["bound"]] if found.get("bound") else ""
            found["author"] = Author(*found.get("author", ()))
            found["claim"] = claim_of(found.pop("proof", ""), found["value"])
            if tree := found.pop("tree", ""):
                found["tree"] = read_tree(json.loads(tree))
            position = asked(moves, **dict(*where))
            with database.transaction():
                database.add_findings([Known(image_of(position.position), Result(**found))])
            yield from known(database, position)
        case "comment", moves, before, after:
            record = GameRecord(moves=tuple(parse_moves(moves)))
            with database.transaction():
                lines.replace_comment(database, record, before, after)
            for tree in lines.read_trees(database):
                yield from nodes_of(tree)
        case "known", moves, *where:
            yield from known(database, asked(moves, **dict(*where)))
        case "query", wanted:
            if "opening" in wanted:
                wanted["opening"] = find_opening(wanted["opening"])
            for found, entry in lines.query(database, lines.Filter(**ruled(wanted))):
                yield json.dumps(entry_document(found, entry))
        case ("games",):
            yield from items_of(database.games())
        case ("checksums",):
            for table in ("position", "node", "book"):
                yield f"{table} {database.connection.rows(f'SELECT SUM(crc) FROM {table}')[0][0]}"
        case "export", form, choice:
            path = Path(f"made.{form}")
            how = {name: choice.pop(name) for name in ("values", "encoding") if name in choice}
            wanted = lines.Filter(**ruled(choice))
            yield str(sources.export(database, path, wanted, **how))
            data = path.read_bytes()
            yield from [data.hex(" ")] if form == "lib" else data.decode().splitlines()


@Record("databases")
def databases(record: str, place: Callable[[str], str] = "{}.db".format) -> str:
    """Return the record of all steps, of which another one has what is done; ``place`` of names."""
    with stage(), ExitStack() as opened:

        @cache
        def database_of(name: str) -> Database:
            return opened.enter_context(Database(place(name), create=True))

        return answered(record, partial(answers, database_of))
