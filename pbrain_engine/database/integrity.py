"""Whether a database is whole: the file, every checksum, and what follows from something else."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from ..game.cells import NotationError
from ..game.position import image_of, read_key
from ..notation.sgf import parse_sgf
from .lines import MOVE, NO_PARENT, START, TEXT, cell_of, node_checksum
from .store import FINDING_COLUMNS, OPEN, RESULTS, Database, checksum, digest_of, finding_checksum


def find_faults(database: Database) -> Iterator[str]:
    """Yield what is wrong, one line each; nothing where all is whole."""
    damage = database.connection.faults()
    if damage:
        yield from (f"the file is damaged: {text}" for text in damage)
        return
    counts: Counter[tuple[bytes, str]] = Counter()  # of positions and results
    yield from _check_games(database, counts)
    yield from _check_positions(database, counts)
    yield from _check_nodes(database)
    for position, value, moves, crc, key in database.connection.stream(
        "SELECT book.position, book.value, book.moves, book.crc, key FROM book "
        "LEFT JOIN position ON position.id = book.position"
    ):
        if key is None:
            yield f"the book has a position {position} that is not there"
        elif checksum(bytes(key), value, bytes(moves)) != crc:
            yield f"the book's entry for position {position} is not what was stored"


def _check_games(database: Database, counts: Counter[tuple[bytes, str]]) -> Iterator[str]:
    """Check the games and count again what their positions say."""
    for number, digest, result, text in database.connection.stream(
        "SELECT id, digest, result, record FROM game"
    ):
        if digest_of(text) != bytes(digest):
            yield f"game {number} is not what was stored"
            continue
        try:
            images = list(parse_sgf(text).images())
        except (NotationError, ValueError) as error:
            yield f"game {number} cannot be read: {error}"
            continue
        if result in RESULTS:
            counts.update((image.key, result) for image in images)
        elif result != OPEN:
            yield f"game {number} has the result {result!r}"


def _check_positions(database: Database, counts: Counter[tuple[bytes, str]]) -> Iterator[str]:
    authors = {number for (number,) in database.connection.stream("SELECT id FROM author")}
    for number, raw, black, white, draws, *columns in database.connection.stream(
        f"SELECT id, key, black_wins, white_wins, draws, {FINDING_COLUMNS} FROM position"
    ):
        key = bytes(raw)
        try:
            if image_of(read_key(key)).key != key:
                yield f"position {number} is not in its least orientation"
        except ValueError as error:
            yield f"position {number} has {error}"
        if [black, white, draws] != [counts.pop((key, result), 0) for result in RESULTS]:
            yield f"position {number} counts other results than its games have"
        if columns[0] is not None:
            if finding_checksum(key, columns[:-1]) != columns[-1]:
                yield f"the finding about position {number} is not what was stored"
            if columns[-2] not in authors:
                yield f"position {number}: unknown author"
    if counts:
        yield f"{len({key for key, _ in counts})} positions of games are missing"


def _check_nodes(database: Database) -> Iterator[str]:
    """Check the lines, and that every node leads to its position."""
    below: dict[int, list[tuple[int, int, int, bytes | None]]] = defaultdict(list)
    total = 0
    for number, parent, kind, cell, raw, crc, *notes in database.connection.stream(
        "SELECT node.id, parent, kind, cell, key, node.crc, title, comment, text, marks "
        "FROM node LEFT JOIN position ON position.id = node.position"
    ):
        total += 1
        if node_checksum(kind, cell, *notes) != crc:
            yield f"node {number} is not what was stored"
        below[parent].append((number, kind, cell, None if raw is None else bytes(raw)))
    reached = 0
    for number, kind, _, key in below[NO_PARENT]:
        reached += 1
        if kind != START or key is None:
            yield f"node {number} begins nowhere"
            continue
        stack = [(read_key(key), *child) for child in below[number]]
        while stack:
            before, node, kind, cell, key = stack.pop()
            reached += 1
            if kind == TEXT:
                continue
            position = before.after(cell_of(cell, before.width))
            if kind != MOVE or image_of(position).key != key:
                yield f"node {node} does not lead to its position"
            stack += [(position, *child) for child in below[node]]
    if reached != total:
        yield f"nodes that hang on nothing: {total - reached}"
