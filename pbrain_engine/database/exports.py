"""Export of a database: all lines as one tree (RenLib or SGF), or everything as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import reduce
from pathlib import Path

from ..engine.engine import EngineError
from ..files import in_place_of
from ..game.documents import position_document, result_document
from ..game.position import BOARD, Position, image_of, read_key
from ..game.record import GameRecord
from ..game.tree import GameTree
from ..notation.renlib import ENCODING, SIZE, format_renlib
from ..notation.sgf import format_sgf_trees, parse_sgf
from ..position.geometry import Coordinates
from ..position.rules import Rule
from ..values import format_value
from .lines import Filter, images, join_texts, read_trees
from .store import Database

NO_BOOK = "the moves of the book are not in the file; `numoku db FILE merge` copies them"


def export(
    database: Database, path: Path, wanted: Filter, values: bool = False, encoding: str = ENCODING
) -> list[str]:
    """Write a file in the format of its suffix; return messages about what the file leaves out.

    Of ``wanted``, rule and size count; ``values`` writes values with the moves; ``encoding`` is
    that of a library. An existing file is replaced as a whole or left as it was.

    Raises:
        EngineError: there is nothing to export.
        ValueError: the format is unknown.
    """
    kind = path.suffix.lower()
    if kind not in (".lib", ".sgf", ".jsonl"):
        raise ValueError(f"{path}: exports are called .lib, .sgf or .jsonl")
    with in_place_of(path) as part:
        if kind == ".lib":
            data, losses = library(database, wanted, values, encoding)
            part.write_bytes(data)
        elif kind == ".sgf":
            trees = gather(database, wanted, values)
            if not trees:
                raise EngineError("no games or lines match")
            text, remarks = format_sgf_trees(trees)
            losses = remarks + _lost_findings(database, trees, values)
            part.write_text(text, encoding="utf-8")
        else:
            with part.open("w", encoding="utf-8") as file:
                file.writelines(json.dumps(entry) + "\n" for entry in documents(database, wanted))
            losses = [NO_BOOK] if database.count("book") else []
    return losses


def library(
    database: Database, wanted: Filter, values: bool, encoding: str
) -> tuple[bytes, list[str]]:
    """Return all lines from the empty 15x15 board as one RenLib library."""
    losses: list[str] = []
    fitting = []
    for tree in gather(database, wanted, values):
        record = tree.record
        if (record.width, record.height) != (SIZE, SIZE):
            losses.append(f"moves on {record.width}x{record.height} are left out: {tree.count()}")
        elif record.placed or record.first:
            losses.append(f"moves after set-up stones are left out: {tree.count()}")
        else:
            fitting.append(tree)
    if not fitting:
        raise EngineError("no line starts from the empty 15x15 board")
    losses += _lost_findings(database, fitting, values)
    rules = sorted({(tree.record.rule or Rule.FREESTYLE).name.lower() for tree in fitting})
    if len(rules) > 1:
        losses.append(f"a library has no rule: this one mixes {' and '.join(rules)}")
    whole = fitting[0]
    stack = [(whole.root, tree.root) for tree in reversed(fitting[1:])]
    while stack:
        target, source = stack.pop()
        target.title = join_texts(target.title, source.title, " / ")
        target.comment = join_texts(target.comment, source.comment, "\n")
        target.text = join_texts(target.text, source.text, " ")
        target.is_marked |= source.is_marked
        target.is_start |= source.is_start
        stack += [(target.child(node.cell, node.is_move), node) for node in source.children]
    data, more = format_renlib(whole, encoding)
    return data, losses + more


def gather(database: Database, wanted: Filter, values: bool) -> list[GameTree]:
    """Return all lines and games, one tree per rule, board size and start position."""
    found: dict[GameRecord, GameTree] = {}
    for tree in read_trees(database):
        if wanted.takes(tree.record.start):
            found[tree.record.beginning] = tree
    for game in database.games():
        if wanted.takes(game.record.start):
            start = game.record.beginning
            found.setdefault(start, GameTree(start)).add(game.record.turns)
    for start, way in _book_ways(database, wanted):
        found.setdefault(start, GameTree(start)).add(way)
    if values:
        known = _values(database)
        for tree in found.values():
            for node, _, image in images(tree):  # each move's value for the side that makes it
                value = known.get(image.key)
                if value is not None and node.is_move and not node.text and node is not tree.root:
                    node.text = format_value(-value)
    return list(found.values())


def _book_ways(
    database: Database, wanted: Filter
) -> Iterator[tuple[GameRecord, list[Coordinates]]]:
    """Yield an empty board and the moves to a position, for every position of the book.

    The moves follow the book from its positions with the fewest stones.
    """
    pages = {key: moves for key, _, moves in database.pages()}
    left = dict.fromkeys(sorted(pages, key=lambda key: (key[:BOARD], len(key), key)))
    while left:
        first = next(iter(left))
        del left[first]
        root = read_key(first)
        way = root.in_turn
        start = GameRecord(root.width, root.height, root.rule)
        if way is None or not wanted.takes(root):
            continue
        yield start, way
        stack = [(way, reduce(Position.after, way, start.start))]
        while stack:
            way, before = stack.pop()
            image = image_of(before)
            for cell, _ in image.unpack_book(pages[image.key]):
                position = before.after(cell)
                if (key := image_of(position).key) in left:
                    del left[key]
                    stack.append(([*way, cell], position))
                    yield start, stack[-1][0]


def _values(database: Database) -> dict[bytes, int]:
    rows = database.connection.stream("SELECT key, value FROM position WHERE rank IS NOT NULL")
    return {bytes(key): value for key, value in rows}


def _lost_findings(database: Database, trees: Iterable[GameTree], are_written: bool) -> list[str]:
    """Return messages about values left out, and values of positions on no written line."""
    values = _values(database)
    if not values:
        return []
    on_lines = {image.key for tree in trees for _, _, image in images(tree)}
    losses = []
    if not are_written:
        losses.append(f"values left out: {len(values)}; --values writes them")
    apart = sum(1 for key in values if key not in on_lines)
    if apart:
        losses.append(f"positions with a value but on no line of the file: {apart}")
    return losses


def documents(database: Database, wanted: Filter) -> Iterator[dict[str, object]]:
    """Yield everything in the database except the book, as JSON documents that ``add`` reads."""
    for result, text in database.connection.stream("SELECT result, record FROM game ORDER BY id"):
        if wanted.takes(parse_sgf(text).start):
            yield {"type": "game", "result": result, "sgf": text}
    for tree in read_trees(database):
        if wanted.takes(tree.record.start):
            text, _ = format_sgf_trees([tree])
            yield {"type": "tree", "sgf": text}
    for known in database.findings():
        position = read_key(known.image.key)
        if wanted.takes(position):
            about = position_document(GameRecord.of(position))
            yield {"type": "position", **about, **result_document(known.finding)}
