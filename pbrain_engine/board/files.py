"""Games as files for the page: SGF, PSQ, RenLib, drawings and moves in; SGF, PSQ, drawings out."""

from __future__ import annotations

import base64
from http import HTTPStatus
from typing import Any

from ..app.saved import OPEN
from ..app.setup import DEFAULT_SIZE, parse_setup
from ..errors import NumokuError, Refused
from ..files import Document, Json, decode
from ..game.cells import begins_with_move
from ..game.diagram import animated_svg, file_stem
from ..game.documents import NAMES, NOTES, game_tree_document, read_game_tree
from ..game.tree import GameTree, main_line, tree_of
from ..notation.files import format_psq, read_games, read_text, refuse_others
from ..notation.renlib import MAGIC as LIBRARY_START
from ..notation.renlib import format_renlib
from ..notation.sgf import format_sgf_trees
from ..position.geometry import MAX_BOARD, MIN_BOARD
from ..position.rules import Rule
from ..values import chance
from .desk import Desk, Job
from .messages import (
    MAX_CELLS,
    PLACE,
    POSITION,
    RULES,
    flag,
    game_of,
    number,
    object_of,
    one_of,
    operation,
    text,
    whole,
)

MOST_FILE = 1_500_000  # bytes of a file, or characters of a text
MOST_DATA = (MOST_FILE + 2) // 3 * 4  # characters of its base64
MOST_NODES = 20_000  # moves of a tree on the page
MOST_COMMENT = 20_000
MOST_TITLE = 200
RESULTS = ("1-0", "0-1", "1/2-1/2")
_WORDS = {"type": "string", "maxLength": MOST_COMMENT}
_NAME = {"type": "string", "description": f"of which {MOST_COMMENT} characters are kept"}
_WRITTEN = dict.fromkeys(NOTES, _WORDS) | dict.fromkeys(("marked", "start"), {"type": "boolean"})
_LABEL = object_of({**PLACE, **_WRITTEN}, "x", "y", "text")
_NOTES = {**_WRITTEN, "labels": {"type": "array", "items": _LABEL, "maxItems": MAX_CELLS}}
_PARENT = {"type": "integer", "minimum": -1, "maximum": MOST_NODES}
# A tree is a flat list, so that its depth is no matter: each move names its parent's place.
TREE = {
    "type": "array",
    "maxItems": MOST_NODES,
    "description": "moves, parents first: the place of the parent in this list (-1: none), the "
    "cell, and what is written on it: title, comment, text, labels of other cells, marks",
    "items": object_of({"parent": _PARENT, **PLACE, **_NOTES}, "parent", "x", "y"),
}
GAME: dict[str, Any] = {
    "position": POSITION,
    "tree": TREE,
    "names": {"type": "object", "properties": dict.fromkeys(NAMES, _NAME), "default": None},
    "comment": text(MOST_COMMENT, "about the game as a whole", default=None),
    "root": {"type": "object", "properties": _NOTES, "default": None},
}
SIDE = whole(MIN_BOARD, MAX_BOARD, "of the board of moves alone", default=None)


@operation(
    at_once=True,
    text=text(MOST_FILE, "a file's content", default=None),
    data=text(MOST_DATA, "or its bytes in base64, in any encoding", default=""),
    name=text(255, "the file's, which tells what it is where it is damaged", default=""),
    rule=one_of(RULES, "if the text does not say", default=None),
    width=SIDE,
    height=SIDE,
    from_below=flag("rows of moves alone count from the lowest"),
)
def read(desk: Desk, job: Job) -> Document:
    """Read a file: SGF with variations, PSQ, a RenLib library, a drawing, moves.

    The answer is its position without moves, and the tree of moves.
    """
    message = job.fields
    rule = None if message["rule"] is None else Rule.parse(message["rule"])
    size = message["width"] or DEFAULT_SIZE[0], message["height"] or DEFAULT_SIZE[1]
    content: str | bytes | None = message["text"]
    if content is None:
        try:
            content = base64.b64decode(message["data"], validate=True)
        except ValueError:
            raise Refused("the data is not base64") from None
    try:
        tree, remarks = read_tree(content, rule, size, message["from_below"], message["name"])
    except NumokuError as error:
        raise error if error.code else error.coded("unreadable") from None
    return {**game_tree_document(tree), "remarks": remarks}


def read_tree(
    content: str | bytes,
    rule: Rule | None = None,
    size: tuple[int, int] = DEFAULT_SIZE,
    from_below: bool = False,
    name: str = "",
) -> tuple[GameTree, list[str]]:
    """Return the tree of a file, or of a text, and what was left out.

    Moves alone are on a board of the ``size``; ``from_below``: their rows count from the lowest.
    The ``name`` of a damaged file tells what it is.

    Raises:
        NotationError: it holds no game.
        Refused: it holds one that the page does not show.
    """
    if not content.strip():
        raise Refused("there is nothing in it").coded("empty")
    usual = Rule.FREESTYLE
    if isinstance(content, bytes):
        refuse_others(content, "")
        usual = Rule.RENJU if content.startswith(LIBRARY_START) else usual
        trees, content = read_games(content, name), decode(content)
    else:
        trees = read_text(content)
    if not trees:
        found = parse_setup(content, rule, size if begins_with_move(content) else None, from_below)
        trees = [tree_of(found)]
    tree = trees[0]
    if tree.record.rule is None:
        tree.record = tree.record._replace(rule=usual if rule is None else rule)
    remarks = list(tree.remarks)
    if len(trees) > 1:
        remarks.append(f"the first of {len(trees)} games is shown")
    nodes = tree.count()
    if nodes > MOST_NODES:
        raise Refused(f"{nodes:,} moves are too many for the page, {MOST_NODES:,} are not")
    if any(node.cell is None for node, depth in tree.walk() if depth):
        raise Refused("the game has passes, which the board does not know").coded("passes")
    game_of(main_line(tree))
    return tree, remarks


@operation(
    at_once=True,
    format=one_of(("sgf", "psq", "lib", "diagram", "svg"), "of what is written"),
    **GAME,
)
def write(desk: Desk, job: Job) -> Document:
    """Write SGF or a RenLib library with variations, the main line as PSQ, or a drawing.

    Or an animated picture of the main line. It comes as ``text``, or for a library as ``data`` in
    base64, with what it cannot hold, and the ``name`` of a file.
    """
    tree = read_game_tree(job.fields, MOST_COMMENT)
    form = job.fields["format"]
    suffix = "txt" if form == "diagram" else form
    return {**written(tree, form), "name": f"{file_stem(tree.record)}.{suffix}"}


def written(tree: GameTree, form: str) -> Document:
    """Return a game in a format, and what of it the format cannot hold."""
    played = main_line(tree)
    if form == "diagram":  # of the position at its end
        return {"text": f"{game_of(played)}\n", "losses": []}
    if form == "svg":
        game_of(played)
        return {"text": animated_svg(played), "losses": []}
    if played.start.walls:
        raise Refused("blocked cells cannot be saved; copy the drawing instead").coded("walls")
    if form == "psq":
        losses = [] if tree.is_plain() else ["variations and comments are not in PSQ"]
        return {"text": format_psq(played), "losses": losses}
    if form == "lib":
        library, losses = format_renlib(tree)
        return {"data": base64.b64encode(library).decode("ascii"), "losses": losses}
    text, losses = format_sgf_trees([tree])
    return {"text": text, "losses": losses}


# What is kept ---------------------------------------------------------------------------


@operation(at_once=True, position=POSITION)
def known(desk: Desk, job: Job) -> Document:
    """Say what the database knows of a position, and of the positions after it."""
    game_of(job.setup)
    return with_chances(desk.archive.document(job.setup), desk.scale(job.setup))


def with_chances(document: Document, scale: float) -> Document:
    """Return a document with a chance next to each of its values."""

    def within(found: Json) -> Json:
        if isinstance(found, dict):
            return with_chances(found, scale)
        return [*map(within, found)] if isinstance(found, list) else found

    made = {name: within(each) for name, each in document.items()}
    if "value" in made:
        value = made["value"]
        made["chance"] = round(chance(value, scale), 4) if isinstance(value, int) else None
    return made


@operation(
    at_once=True,
    position=POSITION,
    before=text(MOST_COMMENT, "what it was", default=""),
    after=text(MOST_COMMENT, "what it is now", default=""),
)
def comment(desk: Desk, job: Job) -> Document:
    """Store a comment about a position, in the place of what it was before."""
    setup = job.setup
    game_of(setup)
    if setup.start.walls:
        reason = "positions with blocked cells have no comments in a database"
        raise Refused(reason).coded("walls-kept")
    desk.archive.store_comment(setup, job.fields["before"], job.fields["after"])
    return {"stored": True}


@operation(at_once=True, **GAME)
def store(desk: Desk, job: Job) -> Document:
    """Store a game with its variations and comments in the database."""
    tree = read_game_tree(job.fields, MOST_COMMENT)
    if tree.record.start.walls:
        raise Refused("games with blocked cells cannot be stored").coded("walls-kept")
    return {"stored": True, **desk.archive.store_tree(tree)}


@operation(
    at_once=True,
    game=text(64, "its name, the same each time"),
    began=number(0, 1e12, "when it was begun, in seconds since 1970"),
    at=whole(0, MOST_NODES, "the move that is looked at, by its place", default=0),
    title=text(MOST_TITLE, "by which a person finds it", default=""),
    looked=flag("it is a position that was only looked at"),
    match={"type": "object", "description": "a game against the engine", "default": None},
    **GAME,
)
def keep(desk: Desk, job: Job) -> Document:
    """Keep a game of the page, with its variations and comments, so that it can be taken up."""
    desk.archive.shelf.keep(job.fields)
    return {"kept": True}


@operation(
    at_once=True,
    search=text(200, "words of title, players, rule, result, level or date", default=""),
    rule=one_of(RULES, "of the games", default=None),
    result=one_of((*RESULTS, OPEN), "of the games", default=None),
    all=flag("positions that were only looked at, too"),
)
def games(desk: Desk, job: Job) -> Document:
    """List the games that are kept, the latest first."""
    wish = job.fields
    shelf = desk.archive.shelf
    return {"games": shelf.summaries(wish["search"], wish["rule"], wish["result"], wish["all"])}


@operation(at_once=True, named="game", game=text(64, "its name"))
def kept_game(desk: Desk, job: Job) -> Document:
    """Return a game as it was kept."""
    found = desk.archive.shelf.game(job.fields["game"])
    if found is None:
        raise Refused("this game is not kept any more", HTTPStatus.NOT_FOUND).coded("gone")
    return found


@operation(at_once=True, game=text(64, "its name"))
def delete_game(desk: Desk, job: Job) -> Document:
    """Forget a game that is kept."""
    return {"deleted": desk.archive.shelf.delete(job.fields["game"])}


@operation(at_once=True, game=text(64, "its name"), title=text(MOST_TITLE, "its title"))
def rename_game(desk: Desk, job: Job) -> Document:
    """Give a game that is kept a title."""
    renamed = desk.archive.shelf.rename(job.fields["game"], job.fields["title"])
    return {"renamed": renamed}
