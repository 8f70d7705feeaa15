"""The lines that people have entered: trees of moves with notes, merged into one.

They keep the orientation in which they came, so that a library that goes in comes out as it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..notation.canonical import Image, Line, read_key
from ..notation.game_tree import GameRecord, GameTree, TreeNode
from ..position.geometry import Coordinates
from ..position.rules import Rule
from .finding import Note, checksum
from .store import Added, Database, clean, game_images, game_line, play_on, take_back

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
        FROM node JOIN way ON node.id = way.parent)
    SELECT kind, cell, position FROM way ORDER BY steps DESC"""


class _Stored(NamedTuple):
    """A node's row: its number and its notes."""

    number: int
    title: str
    comment: str
    text: str
    marks: int


def add_tree(database: Database, tree: GameTree) -> Added:
    """Store a tree; notes that differ from those that are there are put after them.

    What was there already is not counted.
    """
    record = tree.record
    ((newest,),) = database.connection.rows("SELECT COALESCE(MAX(id), 0) FROM node")
    start = game_line(record).image()
    # Stones that are set up may lie in another orientation than the position that is stored.
    is_turned = bool(record.black_setup or record.white_setup)
    nodes = 0
    way: list[_Stored] = []  # the rows of the moves to a node
    for node, depth, image in images(tree):
        del way[depth:]
        cell = node.cell
        if cell is not None and is_turned:
            (cell,) = start.turn([cell])
        if not way:
            parent, kind, number = NO_PARENT, START, database.position_number(start.key)
        else:
            parent, kind = way[-1].number, MOVE if node.is_move else TEXT
            number = PASS if cell is None else cell[1] * record.width + cell[0]
        row = _add(database, parent, kind, number, image.key)
        is_changed = _note(database, row, node, kind, number)
        nodes += is_changed or (kind != START and row.number > newest)
        newest = max(newest, row.number)
        if kind != TEXT:
            way.append(row)
    return Added(0, 0, nodes)


def images(tree: GameTree) -> Iterator[tuple[TreeNode, int, Image]]:
    """Yield every node with its depth and the image of its position, that after a move."""
    line = game_line(tree.record)
    played: list[TreeNode] = []
    for node, depth in tree.walk():
        while depth and len(played) >= depth:
            take_back(line, played.pop().cell)
        if depth and node.is_move:
            play_on(line, node.cell)
            played.append(node)
        yield node, depth, line.image()


def add_line(database: Database, record: GameRecord) -> Added:
    """Store the way to a position, without notes."""
    tree = GameTree(replace(record, moves=(), passes=()))
    tree.add(record.turns)
    return add_tree(database, tree)


def replace_comment(database: Database, record: GameRecord, before: str, after: str) -> None:
    """Put a comment about the end of a line in the place of an earlier one.

    ``before`` is a whole comment, or else whole lines of one that stand together. Where it is not
    there (any more) the new one comes beside what is.
    """
    image = list(game_images(record))[-1]
    rows = database.connection.rows(
        "SELECT id, title, comment, text, marks, kind, cell FROM node WHERE position = :position "
        "ORDER BY id",
        {"position": database.position_number(image.key)},
    )
    before = clean(before)
    rows.sort(key=lambda row: row[2] != before)
    for number, title, comment, text, marks, kind, cell in rows:
        if before and f"\n{before}\n" in f"\n{comment}\n":
            new = f"\n{clean(after)}\n" if after else "\n"
            changed = f"\n{comment}\n".replace(f"\n{before}\n", new, 1).strip("\n")
            _set_notes(database, _Stored(number, title, changed, text, marks), kind, cell)
            return
    tree = GameTree(replace(record, moves=(), passes=()))
    tree.add(record.turns).comment = after
    add_tree(database, tree)


def _add(database: Database, parent: int, kind: int, cell: int, key: bytes) -> _Stored:
    """Return the row of a node, made if there is none."""
    position = None if kind == TEXT else database.position_number(key)
    row = {"parent": parent, "kind": kind, "cell": cell, "position": position}
    crc = node_checksum(kind, cell, "", "", "", 0)
    return _Stored(*database.connection.rows(ADD_NODE, {**row, "crc": crc})[0])


def _note(database: Database, row: _Stored, node: TreeNode, kind: int, cell: int) -> bool:
    """Add a node's notes to those of its row; return whether there are new ones."""
    title = joined(row.title, node.title, " / ")
    comment = joined(row.comment, node.comment, "\n")
    text = joined(row.text, node.text, " ")
    marks = row.marks | MARKED * node.is_marked | BEGIN * node.is_start
    if (title, comment, text, marks) == row[1:]:
        return False
    _set_notes(database, _Stored(row.number, title, comment, text, marks), kind, cell)
    return True


def _set_notes(database: Database, row: _Stored, kind: int, cell: int) -> None:
    """Write the notes of a row."""
    number, title, comment, text, marks = row
    crc = node_checksum(kind, cell, title, comment, text, marks)
    database.connection.run(
        SET_NOTES,
        {"id": number, "title": title, "comment": comment, "text": text, "marks": marks,
         "crc": crc},
    )  # fmt: skip


def joined(old: str, new: str, separator: str) -> str:
    """Return both texts, once each."""
    new = clean(new)
    if not old or not new or new == old:
        return new or old
    parts = f"{separator}{old}{separator}"
    return old if f"{separator}{new}{separator}" in parts else old + separator + new


def node_checksum(kind: int, cell: int, title: str, comment: str, text: str, marks: int) -> int:
    """Return the checksum of a node; that of a start leaves out its number, which may change."""
    return checksum(kind, 0 if kind == START else cell, title, comment, text, marks)


# Reading -----------------------------------------------------------------------------


def read_trees(database: Database) -> list[GameTree]:
    """Return everything that was entered: a tree for each start position."""
    trees: list[GameTree] = []
    known: dict[int, tuple[TreeNode, GameTree]] = {}
    for (
        number,
        parent,
        kind,
        cell,
        position,
        title,
        comment,
        text,
        marks,
    ) in database.connection.stream(
        "SELECT id, parent, kind, cell, position, title, comment, text, marks FROM node ORDER BY id"
    ):
        node = TreeNode(
            None, kind != TEXT, title, comment, text, bool(marks & MARKED), bool(marks & BEGIN)
        )
        if kind == START:
            tree = GameTree(_start_record(database, position), node)
            trees.append(tree)
            known[number] = node, tree
        elif parent in known:  # a parent is always stored before its children
            above, tree = known[parent]
            if cell != PASS:
                node.cell = cell % tree.record.width, cell // tree.record.width
            above.children.append(node)
            known[number] = node, tree
    return trees


def _start_record(database: Database, position: int) -> GameRecord:
    ((key,),) = database.connection.rows(
        "SELECT key FROM position WHERE id = :id", {"id": position}
    ) or [(b"",)]
    start = read_key(bytes(key))
    return GameRecord(
        start.width, start.height, start.rule, first=start.to_move,
        black_setup=start.black, white_setup=start.white,
    )  # fmt: skip


def notes_of(database: Database, position: int, image: Image) -> tuple[Note, ...]:
    """Return what was written about a position, turned as it was asked for."""
    notes = []
    for number, title, comment, marks in database.connection.rows(
        "SELECT id, title, comment, marks FROM node WHERE position = :id ORDER BY id",
        {"id": position},
    ):
        texts = database.connection.rows(
            "SELECT cell, text FROM node WHERE parent = :id AND text <> '' ORDER BY id",
            {"id": number},
        )
        labels: list[tuple[Coordinates, str]] = []
        if texts:
            width, own = image.key[1], line_to(database, number).image()
            for cell, text in texts:
                if cell != PASS:
                    turned = own.turn([(cell % width, cell // width)])
                    labels.append((image.back(turned)[0], text))
        if title or comment or marks & MARKED or labels:
            notes.append(Note(title, comment, bool(marks & MARKED), tuple(labels)))
    return tuple(notes)


def line_to(database: Database, node: int) -> Line:
    """Return the position of a node in the orientation of its tree."""
    way: Sequence[tuple[int, int, int]] = database.connection.rows(WAY_TO, {"id": node})
    line = Line(Rule.FREESTYLE, 15, 15)
    for kind, cell, position in way:
        if kind == START:
            line = game_line(_start_record(database, position))
        elif kind == MOVE:
            play_on(line, None if cell == PASS else (cell % line.width, cell // line.width))
    return line
