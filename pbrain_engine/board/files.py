"""Games as files for the page: SGF, PSQ, RenLib, drawings and moves in; SGF, PSQ, drawings out."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..app.setup import DEFAULT_SIZE, parse_setup
from ..app.view import diagram_of
from ..files import decode
from ..notation.cells import begins_with_move
from ..notation.diagram import format_diagram
from ..notation.game_tree import GameRecord, GameTree, TreeNode, main_line, tree_of
from ..notation.psq import format_psq
from ..notation.renlib import MAGIC as LIBRARY_START
from ..notation.renlib import format_renlib, parse_renlib
from ..notation.sgf import format_sgf_trees, parse_sgf_trees
from ..position.geometry import MAX_BOARD, MIN_BOARD
from ..position.rules import Rule
from .desk import Desk, Job
from .messages import (
    COORDINATE,
    PLACE,
    MessageField,
    Refused,
    Schema,
    flag,
    game_of,
    message_of,
    number,
    one_of,
    operation,
    setup_of,
    text,
    whole,
)  # fmt: skip

MOST_FILE = 1_500_000  # bytes of a file
MOST_DATA = (MOST_FILE + 2) // 3 * 4  # characters of its base64
MOST_TEXT = 1_500_000  # characters of a text
MOST_NODES = 20_000  # moves of a tree on the page
MOST_COMMENT = 20_000
RULES = tuple(rule.name.lower() for rule in Rule)
FORMATS = ("sgf", "psq", "lib", "diagram")
NAMES = ("black", "white", "result", "date")

_WORDS: Schema = {"type": "string", "maxLength": MOST_COMMENT}
_NAME: Schema = {"type": "string", "description": f"of which {MOST_COMMENT} characters are kept"}
_MARKS: dict[str, Schema] = {
    "title": _WORDS,
    "marked": {"type": "boolean"},
    "start": {"type": "boolean"},
}
_LABEL: Schema = {
    "type": "object",
    "properties": {
        "x": COORDINATE,
        "y": COORDINATE,
        "text": _WORDS,
        "comment": _WORDS,
        **_MARKS,
    },
    "required": ["x", "y", "text"],
}
_NOTES: dict[str, Schema] = {
    **_MARKS,
    "text": _WORDS,
    "labels": {"type": "array", "items": _LABEL, "maxItems": MAX_BOARD * MAX_BOARD},
}
# A tree is a flat list, so that its depth is no matter: each move names its parent's place.
TREE: Schema = {
    "type": "array",
    "maxItems": MOST_NODES,
    "description": "moves, parents first: the place of the parent in this list (-1: none), the "
    "cell, and what is written on it: title, comment, text, labels of other cells, marks",
    "items": {
        "type": "object",
        "properties": {
            "parent": {"type": "integer", "minimum": -1, "maximum": MOST_NODES},
            "x": COORDINATE,
            "y": COORDINATE,
            "comment": _WORDS,
            **_NOTES,
        },
        "required": ["parent", "x", "y"],
    },
}


GAME = {
    "position": PLACE,
    "tree": MessageField(TREE),
    "names": MessageField({"type": "object", "properties": dict.fromkeys(NAMES, _NAME)}, None),
    "comment": text(MOST_COMMENT, None, "about the game as a whole"),
    "root": MessageField({"type": "object", "properties": _NOTES}, None),
}
SIDE = whole(MIN_BOARD, MAX_BOARD, None, "of the board of moves alone")


@operation(
    at_once=True,
    text=text(MOST_TEXT, None, "a file's content"),
    data=text(MOST_DATA, None, "or its bytes in base64, in any encoding"),
    rule=one_of(RULES, None, "if the text does not say"),
    width=SIDE,
    height=SIDE,
    from_below=flag("rows of moves alone count from the lowest"),
)
def read(desk: Desk, job: Job) -> dict[str, Any]:
    """Read a file: SGF with variations, PSQ, a RenLib library, a drawing, moves.

    The answer is its position without moves, and the tree of moves.
    """
    message = job.fields
    rule = None if message["rule"] is None else Rule.parse(message["rule"])
    size = message["width"] or DEFAULT_SIZE[0], message["height"] or DEFAULT_SIZE[1]
    content: str | bytes | None = message["text"]
    if content is not None and not content.strip():
        raise Refused("the text is empty")
    if content is None and message["data"] is None:
        raise Refused("there is neither a text nor data")
    if content is None:
        try:
            content = content_of_file(base64.b64decode(message["data"], validate=True))
        except (binascii.Error, ValueError):
            raise Refused("the data is not base64") from None
    tree, remarks = read_tree(content, rule, size, message["from_below"])
    record = tree.record
    return {
        "position": message_of(record),
        "tree": flat(tree),
        "names": {name: getattr(record, name) for name in NAMES},
        "comment": tree.root.comment,
        "root": notes_form(tree.root),
        "remarks": remarks,
    }


def content_of_file(data: bytes) -> str | bytes:
    """Return the text of a file in whatever encoding; a library stays bytes."""
    return data if data.startswith(LIBRARY_START) else decode(data)


def read_tree(
    content: str | bytes,
    rule: Rule | None = None,
    size: tuple[int, int] = DEFAULT_SIZE,
    from_below: bool = False,
) -> tuple[GameTree, list[str]]:
    """Return the tree of a file, and what was left out.

    Moves alone are on a board of the ``size``; ``from_below``: their rows count from the lowest.

    Raises:
        NotationError: it holds no game.
        Refused: it holds one that the page does not show.
    """
    if not content.strip():
        raise Refused("there is nothing in it")
    trees = parse(content, rule, size, from_below)
    tree = trees[0]
    remarks = list(tree.remarks)
    if len(trees) > 1:
        remarks.append(f"the first of {len(trees)} games is shown")
    nodes = tree.count()
    if nodes > MOST_NODES:
        raise Refused(f"{nodes:,} moves are too many for the page, {MOST_NODES:,} are not")
    if any(node.cell is None for node, depth in tree.walk() if depth):
        raise Refused("the game has passes, which the board does not know")
    game_of(main_line(tree), game_of(tree.record))
    return tree, remarks


def parse(
    content: str | bytes, rule: Rule | None, size: tuple[int, int], from_below: bool
) -> list[GameTree]:
    """Return the trees of a file, the first of them with its rule."""
    if isinstance(content, str):
        is_moves = begins_with_move(content)
        if is_moves or not content.strip().startswith("("):
            return [tree_of(parse_setup(content, rule, size if is_moves else None, from_below))]
        trees = parse_sgf_trees(content.strip())
    else:
        trees = [parse_renlib(content)]
    record = trees[0].record
    if record.rule is None:
        usual = Rule.RENJU if isinstance(content, bytes) else Rule.FREESTYLE  # of libraries
        trees[0].record = replace(record, rule=usual if rule is None else rule)
    return trees


def flat(tree: GameTree) -> list[dict[str, Any]]:
    """Return a tree as messages hold it, main lines first."""
    rows: list[dict[str, Any]] = []
    waiting = [(child, -1) for child in reversed(tree.root.children)]
    while waiting:
        node, parent = waiting.pop()
        if not node.is_move or node.cell is None:
            continue
        place = len(rows)
        x, y = node.cell
        row: dict[str, Any] = {"parent": parent, "x": x, "y": y, "comment": node.comment}
        rows.append({**row, **notes_form(node)})
        waiting += [(child, place) for child in reversed(node.children)]
    return rows


def notes_form(node: TreeNode) -> dict[str, Any]:
    """Return what is written on a node, beside its comment, as messages hold it."""
    labels = [label_form(child) for child in node.children if child.text and child.cell is not None]
    notes = {
        "title": node.title, "marked": node.is_marked, "start": node.is_start,
        "text": node.text, "labels": labels,
    }  # fmt: skip
    return {name: note for name, note in notes.items() if note}


def label_form(node: TreeNode) -> dict[str, Any]:
    """Return a text on a cell as messages hold it; a move says the rest of it itself."""
    x, y = node.cell or (0, 0)
    label: dict[str, Any] = {"x": x, "y": y, "text": node.text}
    if not node.is_move:
        notes = {"comment": node.comment, **notes_form(node)}
        label |= {name: notes[name] for name in ("comment", *_MARKS) if notes.get(name)}
    return label


def unflat(
    record: GameRecord, rows: list[dict[str, Any]], comment: str, root: Mapping[str, Any]
) -> GameTree:
    """Return the tree that a message holds; raises Refused."""
    tree = GameTree(record, TreeNode(comment=comment))
    made: list[TreeNode] = []
    for place, row in enumerate(rows):
        if row["parent"] >= place:
            raise Refused(f"move {place} stands before its parent")
        node = TreeNode((row["x"], row["y"]), comment=row.get("comment") or "")
        (made[row["parent"]] if row["parent"] >= 0 else tree.root).children.append(node)
        made.append(node)
    write_notes(tree.root, root)
    for place, row in enumerate(rows):
        write_notes(made[place], row)
    return tree


def write_notes(node: TreeNode, row: Mapping[str, Any]) -> None:
    """Write on a node, whose children are there, what a message has for it."""
    _mark(node, row)
    node.text = node.text or row.get("text") or ""
    for label in row.get("labels") or ():
        cell = label["x"], label["y"]
        after = next((child for child in node.children if child.cell == cell), None)
        if after is None:
            after = TreeNode(cell, is_move=False)
            node.children.append(after)
        after.text = label["text"]
        if not after.is_move:
            after.comment = label.get("comment") or ""
            _mark(after, label)


def _mark(node: TreeNode, row: Mapping[str, Any]) -> None:
    node.title = row.get("title") or ""
    node.is_marked = bool(row.get("marked"))
    node.is_start = bool(row.get("start"))


def tree_of_message(message: Mapping[str, Any]) -> GameTree:
    """Return the game that a message holds; raises Refused or NotationError."""
    names = message["names"] or {}
    known: dict[str, Any] = {name: str(names.get(name) or "")[:MOST_COMMENT] for name in NAMES}
    record = replace(setup_of(message["position"]).beginning, **known)
    comment, root = message["comment"] or "", message["root"] or {}
    return unflat(record, message["tree"], comment, root).check()


@operation(GAME, at_once=True, format=one_of(FORMATS))
def write(desk: Desk, job: Job) -> dict[str, Any]:
    """Write SGF or a RenLib library with variations, the main line as PSQ, or a drawing.

    It comes as ``text``, or for a library as ``data`` in base64, with what it cannot hold.
    """
    message = job.fields
    tree = tree_of_message(message)
    played = main_line(tree)
    if message["format"] == "diagram":  # of the position at its end
        game = game_of(played)
        board = diagram_of(game, played.last)
        drawing = format_diagram(replace(board, to_move=game.to_move))
        return {"text": drawing + "\n", "losses": []}
    if played.start.walls:
        raise Refused("blocked cells cannot be saved; copy the drawing instead")
    if message["format"] == "psq":
        losses = [] if tree.is_plain() else ["variations and comments are not in PSQ"]
        return {"text": format_psq(played), "losses": losses}
    if message["format"] == "lib":
        library, losses = format_renlib(tree)
        return {"data": base64.b64encode(library).decode("ascii"), "losses": losses}
    text, losses = format_sgf_trees([tree])
    return {"text": text, "losses": losses}


# What is kept ---------------------------------------------------------------------------


@operation(at_once=True, position=PLACE)
def known(desk: Desk, job: Job) -> dict[str, Any]:
    """Say what the database knows of a position, and of the positions after it."""
    setup = setup_of(job.fields["position"])
    game_of(setup)
    return desk.archive.document(setup)


@operation(
    at_once=True,
    position=PLACE,
    before=text(MOST_COMMENT, "", "what it was"),
    after=text(MOST_COMMENT, "", "what it is now"),
)
def comment(desk: Desk, job: Job) -> dict[str, Any]:
    """Store a comment about a position, in the place of what it was before."""
    setup = setup_of(job.fields["position"])
    game_of(setup)
    if setup.start.walls:
        raise Refused("positions with blocked cells have no comments in a database")
    desk.archive.store_comment(setup, job.fields["before"], job.fields["after"])
    return {"stored": True}


@operation(GAME, at_once=True)
def store(desk: Desk, job: Job) -> dict[str, Any]:
    """Store a game with its variations and comments in the database."""
    tree = tree_of_message(job.fields)
    if tree.record.start.walls:
        raise Refused("games with blocked cells cannot be stored")
    return {"stored": True, **desk.archive.store_tree(tree)}


@operation(
    GAME,
    at_once=True,
    game=text(64, about="its name, the same each time"),
    began=number(0, 1e12, about="when it was begun, in seconds since 1970"),
    at=whole(0, MOST_NODES, 0, "the move that is looked at, by its place"),
    match=MessageField({"type": "object", "description": "a game against the engine"}, None),
)
def keep(desk: Desk, job: Job) -> dict[str, Any]:
    """Keep a game of the page, with its variations and comments, so that it can be taken up."""
    desk.archive.shelf.keep(job.fields)
    return {"kept": True}


@operation(at_once=True)
def games(desk: Desk, job: Job) -> dict[str, Any]:
    """List the games that are kept, the latest first."""
    return {"games": desk.archive.shelf.summaries()}


@operation(at_once=True, title="game", game=text(64, about="its name"))
def kept_game(desk: Desk, job: Job) -> dict[str, Any]:
    """Return a game as it was kept."""
    return desk.archive.shelf.game(job.fields["game"])
