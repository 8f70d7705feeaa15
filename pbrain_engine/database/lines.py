"""Lines entered by people, and queries for everything known about a position.

Lines are trees of moves with notes, merged into one tree per start position. They keep their
original orientation, so an imported library is exported unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import NamedTuple

from ..game.opening_rules import Opening
from ..game.position import Image, Position, image_of, read_key
from ..game.record import GameRecord
from ..game.result import Entry, Note
from ..game.tree import GameTree, TreeNode
from ..position.geometry import Coordinates
from ..position.rules import Rule
from .store import FOUND, POSITIONS, Added, Database, checksum, clean

START, MOVE, TEXT = 0, 1, 2  # kinds of nodes
NO_PARENT = 0
PASS = -1
MARKED, BEGIN = 1, 2  # bits of marks

ADD_NODE = """INSERT INTO node (parent, kind, cell, position, crc)
    VALUES (:parent, :kind, :cell, :position, :crc)
    ON CONFLICT (parent, kind, cell) DO UPDATE SET cell = excluded.cell
    RETURNING id, title, comment, text, marks"""
SET_NOTES = """UPDATE node SET title = :title, comment = :comment, text = :text, marks = :marks,
    crc = :crc WHERE id = :id"""
WAY_TO = """WITH RECURSIVE way (id, parent, kind, cell, position, steps) AS (
        SELECT id, parent, kind, cell, position, 0 FROM node WHERE id = :id
        UNION ALL
        SELECT node.id, node.parent, node.kind, node.cell, node.position, way.steps + 1
        FROM node JOIN way ON node.id = way.parent AND node.id < way.id)
    SELECT kind, cell, key FROM way LEFT JOIN position ON position.id = way.position
    ORDER BY steps DESC"""


def add_tree(database: Database, tree: GameTree) -> Added:
    """Store a tree, appending its notes to those already stored where they differ.

    Only new or changed nodes are counted.
    """
    record = tree.record
    ((newest,),) = database.connection.rows("SELECT COALESCE(MAX(id), 0) FROM node")
    start = image_of(record.start)
    # Stones that were set up may have another orientation than the stored position.
    nodes = 0
    way: list[int] = []  # the numbers of the moves to a node
    for node, depth, image in images(tree):
        del way[depth:]
        cell = node.cell
        if cell is not None and record.placed:
            (cell,) = start.turn([cell])
        if not way:
            parent, kind, place = NO_PARENT, START, database.position_number(start.key)
        else:
            parent, kind = way[-1], MOVE if node.is_move else TEXT
            place = PASS if cell is None else cell[1] * record.width + cell[0]
        position = None if kind == TEXT else database.position_number(image.key)
        crc = node_checksum(kind, place, "", "", "", 0)
        row = {"parent": parent, "kind": kind, "cell": place, "position": position, "crc": crc}
        ((number, *old),) = database.connection.rows(ADD_NODE, row)
        new = [
            join_texts(old[0], node.title, " / "),
            join_texts(old[1], node.comment, "\n"),
            join_texts(old[2], node.text, " "),
            old[3] | MARKED * node.is_marked | BEGIN * node.is_start,
        ]
        if new != old:
            _set_notes(database, number, kind, place, *new)
        nodes += new != old or (kind != START and number > newest)
        newest = max(newest, number)
        if kind != TEXT:
            way.append(number)
    return Added(0, 0, nodes)


def images(tree: GameTree) -> Iterator[tuple[TreeNode, int, Image]]:
    """Yield every node with its depth and the image of its position (after the move)."""
    way = [tree.record.start]  # the positions up to a node
    for node, depth in tree.walk():
        del way[max(depth, 1) :]
        if depth and node.is_move:
            way.append(way[-1].after(node.cell))
        yield node, depth, image_of(way[-1])


def replace_comment(database: Database, record: GameRecord, before: str, after: str) -> None:
    """Replace a comment on the last position of a line.

    ``before`` is a whole comment or consecutive whole lines of one. If no stored comment has it,
    the new comment is added. What was replaced before, and is asked again, stays as it is.
    """
    image = image_of(record.position)
    rows = database.connection.rows(
        "SELECT id, title, comment, text, marks, kind, cell FROM node WHERE position = :position "
        "ORDER BY id",
        {"position": database.position_number(image.key)},
    )
    before = clean(before)
    rows.sort(key=lambda row: row[2] != before)
    old, new = f"\n{before}\n", f"\n{clean(after)}\n" if after else "\n"
    for number, title, comment, text, marks, kind, cell in rows:
        lines = f"\n{comment}\n"
        if before and old in lines:
            if not (old in new and new in lines):
                changed = lines.replace(old, new, 1).strip("\n")
                _set_notes(database, number, kind, cell, title, changed, text, marks)
            return
    tree = GameTree(record.beginning)
    tree.add(record.turns).comment = after
    add_tree(database, tree)


def _set_notes(
    database: Database, number: int, kind: int, cell: int, title: str, comment: str, text: str,
    marks: int,
) -> None:  # fmt: skip
    notes = {"title": title, "comment": comment, "text": text, "marks": marks}
    crc = node_checksum(kind, cell, title, comment, text, marks)
    database.connection.run(SET_NOTES, {"id": number, "crc": crc, **notes})


def join_texts(old: str, new: str, separator: str) -> str:
    """Return both texts joined, without repeating one that is already there."""
    new = clean(new)
    if not old or not new or new == old:
        return new or old
    parts = f"{separator}{old}{separator}"
    return old if f"{separator}{new}{separator}" in parts else old + separator + new


def node_checksum(kind: int, cell: int, title: str, comment: str, text: str, marks: int) -> int:
    """Return the checksum of a node; a start leaves out its number, which may change."""
    return checksum(kind, 0 if kind == START else cell, title, comment, text, marks)


# Reading -----------------------------------------------------------------------------


def read_trees(database: Database) -> list[GameTree]:
    """Return all entered lines, one tree per start position."""
    trees: list[GameTree] = []
    known: dict[int, tuple[TreeNode, GameTree]] = {}
    for number, parent, kind, cell, key, marks, *notes in database.connection.stream(
        "SELECT node.id, parent, kind, cell, key, marks, title, comment, text FROM node "
        "LEFT JOIN position ON kind = 0 AND position.id = node.position ORDER BY node.id"
    ):
        node = TreeNode(None, kind != TEXT, *notes)
        node.is_marked, node.is_start = bool(marks & MARKED), bool(marks & BEGIN)
        if kind == START:
            tree = GameTree(GameRecord.of(read_key(bytes(key or b""))), node)
            trees.append(tree)
            known[number] = node, tree
        elif parent in known:  # a parent is always stored before its children
            above, tree = known[parent]
            node.cell = cell_of(cell, tree.record.width)
            above.children.append(node)
            known[number] = node, tree
    return trees


def cell_of(stored: int, width: int) -> Coordinates | None:
    """Return the cell of a stored node, None for a pass."""
    return None if stored == PASS else (stored % width, stored // width)


def notes_of(database: Database, position: int, image: Image) -> tuple[Note, ...]:
    """Return the notes on a position, in the orientation of ``image``."""
    notes = []
    for number, title, comment, marks in database.connection.rows(
        "SELECT id, title, comment, marks FROM node WHERE position = :id ORDER BY id",
        {"id": position},
    ):
        labels: list[tuple[Coordinates, str]] = []
        texts = database.connection.rows(
            "SELECT cell, text FROM node WHERE parent = :id AND text <> '' ORDER BY id",
            {"id": number},
        )
        if texts:  # these are in the orientation of their tree
            (_, _, start), *way = database.connection.rows(WAY_TO, {"id": number})
            before = read_key(bytes(start))
            cells = [cell_of(cell, before.width) for kind, cell, _ in way if kind == MOVE]
            own = image_of(reduce(Position.after, cells, before))
            for stored, text in texts:
                if (cell := cell_of(stored, before.width)) is not None:
                    labels.append((image.back(own.turn([cell]))[0], text))
        if title or comment or marks & MARKED or labels:
            notes.append(Note(title, comment, bool(marks & MARKED), tuple(labels)))
    return tuple(notes)


# Asking ---------------------------------------------------------------------------------


def look_up(database: Database, position: Position) -> Entry | None:
    """Return everything known about a position, in its own orientation; None if unknown."""
    image = image_of(position)
    entry = database.look_up(image)
    if entry is None:
        return None
    return entry._replace(notes=notes_of(database, entry.number, image))


def look_up_any_rule(database: Database, record: GameRecord) -> tuple[GameRecord, Entry | None]:
    """Look a position up under its own rule, then under all others; return the first entry."""
    for rule in (record.rule, *Rule):
        other = record._replace(rule=rule)
        entry = look_up(database, other.position)
        if entry is not None:
            return other, entry
    return record, None


def list_next_moves(database: Database, position: Position) -> list[tuple[Coordinates, Entry]]:
    """Return every move to a known position, with the entry of that position.

    The best value comes first, then the most games.
    """
    entries = (
        (cell, database.look_up(image_of(position.after(cell)))) for cell in position.empty_cells
    )
    known = [(cell, entry) for cell, entry in entries if entry is not None]

    def order(pair: tuple[Coordinates, Entry]) -> tuple[int, int]:
        finding = pair[1].finding
        return finding.value if finding is not None else 1 << 20, -pair[1].games

    return sorted(known, key=order)


class Filter(NamedTuple):
    """Conditions on positions; the defaults accept all."""

    rule: Rule | None = None
    size: tuple[int, int] | None = None
    stones: tuple[int, int] = (0, 1 << 30)
    depth: int | None = None  # at least
    values: tuple[int, int] | None = None
    certain: bool = False  # forced wins and losses only
    games: int = 0  # at least
    text: str = ""  # in a title or comment
    opening: Opening | None = None

    def takes(self, position: Position) -> bool:
        """Return whether rule, size, stones and opening match."""
        least, most = self.stones
        return (
            self.rule in (None, position.rule)
            and self.size in (None, (position.width, position.height))
            and least <= position.stones <= most
            and (self.opening is None or self.opening.leads_to(position))
        )


def query(database: Database, wanted: Filter) -> Iterator[tuple[GameRecord, Entry]]:
    """Yield the positions that match a filter, in their stored orientation."""
    conditions = ["black_wins + draws + white_wins >= :games"]
    parameters = {"games": wanted.games}
    if wanted.depth is not None:
        conditions.append("depth >= :depth")
        parameters["depth"] = wanted.depth
    if wanted.values is not None:
        conditions.append("value BETWEEN :low AND :high")
        parameters["low"], parameters["high"] = wanted.values
    if wanted.certain:
        conditions.append("proof <> ''")
    noted = _find_notes(database, wanted.text) if wanted.text else None
    for number, raw, black, draws, white, *columns in database.connection.stream(
        f"SELECT position.id, key, black_wins, draws, white_wins, {FOUND} FROM {POSITIONS} "
        f"WHERE {' AND '.join(conditions)} ORDER BY position.id",
        parameters,
    ):
        if noted is not None and number not in noted:
            continue
        key = bytes(raw)
        position = read_key(key)
        if wanted.takes(position):
            finding = database.read_finding(Image(key, 0), columns)
            yield GameRecord.of(position), Entry(number, finding, black, draws, white)


def _find_notes(database: Database, text: str) -> set[int]:
    """Return the positions with a text in their notes, ignoring case.

    Python compares, because backends differ: SQLite folds the case of ASCII letters only.
    """
    return {
        position
        for position, title, comment in database.connection.stream(
            "SELECT position, title, comment FROM node WHERE title <> '' OR comment <> ''"
        )
        if any(text.casefold() in note.casefold() for note in (title, comment))
    }
