"""Game files for the page (SGF, PSQ, RenLib, diagrams), the database, and saved games."""

from __future__ import annotations

import base64
import re
from contextlib import suppress
from http import HTTPStatus
from itertools import product
from typing import Any

from ..app.saved import OPEN
from ..app.setup import DEFAULT_SIZE, parse_setup
from ..errors import NumokuError, Refused, Remark
from ..files import Document, decode
from ..game.cells import begins_with_move, check_size
from ..game.diagram import animated_svg, file_stem
from ..game.documents import NAMES, NOTES, game_tree_document, read_game_tree
from ..game.game import Game
from ..game.record import RESULTS
from ..game.tree import GameTree, main_line, tree_of
from ..notation.files import format_psq, read_games, read_text, refuse_others
from ..notation.renlib import format_renlib, is_renlib
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
    coded_document,
    flag,
    number,
    object_of,
    operation,
    text,
    whole,
)

MOST_FILE = 1_500_000  # bytes of a file, or characters of a text
MOST_DATA = (MOST_FILE + 2) // 3 * 4  # characters of its base64
MOST_NODES = 20_000  # moves of a tree
MOST_COMMENT = 20_000
MOST_TITLE = 200
_WORDS = {"type": "string", "maxLength": MOST_COMMENT}
_NAME = {"type": "string", "description": f"of which {MOST_COMMENT} characters are kept"}
_WRITTEN = dict.fromkeys(NOTES, _WORDS) | dict.fromkeys(("marked", "start"), {"type": "boolean"})
_LABEL = object_of({**PLACE, **_WRITTEN}, "x", "y", "text")
_NOTES = {**_WRITTEN, "labels": {"type": "array", "items": _LABEL, "maxItems": MAX_CELLS}}
_PARENT = {"type": "integer", "minimum": -1, "maximum": MOST_NODES}
# A tree is a flat list, so that depth is unlimited: each move has the index of its parent.
TREE = {
    "type": "array",
    "maxItems": MOST_NODES,
    "description": "moves, parents first: the index of the parent in this list (-1: none), the "
    "cell, and its notes: title, comment, text, labels of other cells, marks",
    "items": object_of({"parent": _PARENT, **PLACE, **_NOTES}, "parent", "x", "y"),
}
GAME: dict[str, Any] = {
    "position": POSITION,
    "tree": TREE,
    "names": {"type": "object", "properties": dict.fromkeys(NAMES, _NAME), "default": None},
    "comment": text("about the game as a whole", maxLength=MOST_COMMENT, default=None),
    "root": {"type": "object", "properties": _NOTES, "default": None},
}
# A board that a text names before its moves, such as 20x20 or renju.
_BOARD = re.compile(
    rf"\s*(?:(\d\d?)\s*[x×]\s*(\d\d?)|({'|'.join(RULES)}))\b[\s:;,·]*", re.IGNORECASE
)
NAME = text("its name", maxLength=64)  # of a saved game
USUAL = 15, 19, 20, 22  # sides of boards
MOST_TRIED = 10_000  # characters of moves for which another board is looked for
SIDE = whole(MIN_BOARD, MAX_BOARD, "of the board, for plain moves", default=None)


@operation(at_once=True)
def start(desk: Desk, job: Job) -> Document:
    """Return the game that the page opens first, and the name of its file, if there is one."""
    return desk.desks.start


@operation(
    at_once=True,
    text=text("a file's content", maxLength=MOST_FILE, default=None),
    data=text("or its bytes in base64, in any encoding", maxLength=MOST_DATA, default=""),
    name=text("of the file; its suffix helps to identify a damaged one", maxLength=255, default=""),
    rule=text("if the text does not say", enum=RULES, default=None),
    width=SIDE,
    height=SIDE,
    from_below=flag("rows of plain moves count from the bottom"),
    number=whole(1, MOST_FILE, "of a file with several games, from 1", default=1),
)
def read(desk: Desk, job: Job) -> Document:
    """Read a file: SGF with variations, PSQ, a RenLib library, a diagram, moves.

    The answer has the start position and the tree of moves. Moves may name their board first, as
    in "renju 15x15: h8i9"; where they do not fit it, the values of the error name one that they
    fit, if there is one.
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
    from_below = message["from_below"]
    while isinstance(content, str) and (named := _BOARD.match(content)):
        if named[3]:
            rule = Rule.parse(named[3].lower())
        else:
            size = int(named[1]), int(named[2])
            check_size("the board", *size)
        content = content[named.end() :]
    try:
        trees = read_trees(content, rule, size, from_below, message["name"])
        return page_document(trees, message["number"])
    except NumokuError as error:
        if error.code in ("wrong-board", "wrong-end") and isinstance(content, str):
            other = fitting_board(content, rule or Rule.FREESTYLE, size, from_below)
            error.coded(error.code, **error.values, **other)
        raise error if error.code else error.coded("unreadable") from None


def fitting_board(
    text: str, rule: Rule, size: tuple[int, int], from_below: bool
) -> dict[str, str | int]:
    """Return rule, width and height of a board that moves fit, as near as can be; {} without."""
    if len(text) > MOST_TRIED:
        return {}
    sizes = [size, *((side, side) for side in USUAL)]
    for (width, height), other in product(sizes, dict.fromkeys((rule, *Rule))):
        with suppress(NumokuError):
            page_document(read_trees(text, other, (width, height), from_below))
            return {"rule": other.name.lower(), "width": width, "height": height}
    return {}


def page_document(trees: list[GameTree], number: int = 1) -> Document:
    """Return a game as the page shows it, the last if there are not so many; Refused if unfit."""
    tree = trees[min(number, len(trees)) - 1]
    nodes = tree.count()
    if nodes > MOST_NODES:
        reason = f"{nodes:,} moves are too many for the page; it can show {MOST_NODES:,}"
        raise Refused(reason).coded("too-many", n=nodes, most=MOST_NODES)
    if any(node.cell is None for node, depth in tree.walk() if depth):
        raise Refused("the game has passes, which the board does not support").coded("passes")
    Game.of(main_line(tree))
    remarks = [coded_document("text", remark) for remark in tree.remarks]
    return {**game_tree_document(tree), "remarks": remarks, "games": len(trees)}


def read_trees(
    content: str | bytes,
    rule: Rule | None = None,
    size: tuple[int, int] = DEFAULT_SIZE,
    from_below: bool = False,
    name: str = "",
) -> list[GameTree]:
    """Return the games of a file or a text, with remarks on what was left out.

    ``size`` and ``from_below`` (rows count from the bottom) are for plain moves; the suffix of
    ``name`` helps to identify a damaged file. NotationError if there is no game in it.
    """
    if not content.strip():
        raise Refused("there is nothing in it").coded("empty")
    if isinstance(content, str):
        refuse_others(text := content)
        trees, is_library = read_text(text), False
    else:
        refuse_others(text := decode(content))
        trees, is_library = read_games(content, name), is_renlib(content, name)
    if not trees:
        found = parse_setup(text, rule, size if begins_with_move(text) else None, from_below)
        trees = [tree_of(found)]
    for tree in trees:
        if tree.record.rule is None or is_library and rule is not None:
            tree.record = tree.record._replace(rule=rule or Rule.FREESTYLE)
    return trees


@operation(
    at_once=True,
    format=text("of the output", enum=("sgf", "psq", "lib", "diagram", "svg")),
    **GAME,
)
def write(desk: Desk, job: Job) -> Document:
    """Write SGF or a RenLib library with variations; or PSQ, a diagram or an animated SVG.

    The answer has ``text``, or for a library ``data`` in base64, with the ``losses`` of the format
    and the ``name`` for a file.
    """
    tree = read_game_tree(job.fields)
    form = job.fields["format"]
    content, losses = written(tree, form)
    body = {"text": content}
    if isinstance(content, bytes):
        body = {"data": base64.b64encode(content).decode("ascii")}
    name = f"{file_stem(tree.record)}.{'txt' if form == 'diagram' else form}"
    remarks = [coded_document("text", loss) for loss in losses]
    return {**body, "losses": remarks, "name": name}


def written(tree: GameTree, form: str) -> tuple[str | bytes, list[Remark]]:
    """Return a game in a format, and remarks on what the format leaves out."""
    played = main_line(tree)
    if form == "diagram":  # of the final position
        return f"{Game.of(played)}\n", []
    if form == "svg":
        Game.of(played)
        return animated_svg(played), []
    if played.start.walls:
        raise Refused("blocked cells cannot be saved; copy the diagram instead").coded("walls")
    if form == "psq":
        lost = Remark("variations and comments are not in PSQ", "lost-notes")
        return format_psq(played), [] if tree.is_plain() else [lost]
    return format_renlib(tree) if form == "lib" else format_sgf_trees([tree])


# Database and saved games ---------------------------------------------------------------


@operation(at_once=True, position=POSITION)
def known(desk: Desk, job: Job) -> Document:
    """Look up a position and its next positions in the database."""
    Game.of(job.setup)
    found: dict[str, Any] = desk.archive.document(job.setup)
    scale = desk.scale(job.setup)
    for valued in (found, *found["book"], *found["next"]):
        value = valued["value"]
        valued["chance"] = None if value is None else round(chance(value, scale), 4)
    return found


@operation(
    at_once=True,
    position=POSITION,
    before=text("the earlier text", maxLength=MOST_COMMENT, default=""),
    after=text("the new text", maxLength=MOST_COMMENT, default=""),
)
def comment(desk: Desk, job: Job) -> Document:
    """Store a comment on a position, replacing its earlier text."""
    setup = job.setup
    Game.of(setup)
    if setup.start.walls:
        reason = "positions with blocked cells have no comments in a database"
        raise Refused(reason).coded("walls-kept")
    desk.archive.store_comment(setup, job.fields["before"], job.fields["after"])
    return {"stored": True}


@operation(at_once=True, **GAME)
def store(desk: Desk, job: Job) -> Document:
    """Store a game with its variations and comments in the database."""
    tree = read_game_tree(job.fields)
    if tree.record.start.walls:
        raise Refused("games with blocked cells cannot be stored").coded("walls-kept")
    return {"stored": True, **desk.archive.store_tree(tree)}


@operation(
    at_once=True,
    game=text("its name, the same each time", maxLength=64),
    began=number(0, 1e12, "start of the game, in seconds since 1970"),
    at=whole(0, MOST_NODES, "the move in view: 1 + its index in the tree", default=0),
    title=text("shown in the list of games", maxLength=MOST_TITLE, default=""),
    looked=flag("it was only looked at, not played"),
    match={"type": "object", "description": "a game against the engine", "default": None},
    **GAME,
)
def keep(desk: Desk, job: Job) -> Document:
    """Save a game of the page, with its variations and comments, to be continued."""
    desk.archive.shelf.keep(job.fields)
    return {"kept": True}


@operation(
    at_once=True,
    search=text("words of title, players, rule, result, level or date", maxLength=200, default=""),
    rule=text("of the games", enum=RULES, default=None),
    result=text("of the games", enum=(*RESULTS.values(), OPEN), default=None),
    all=flag("include games that were only looked at"),
)
def games(desk: Desk, job: Job) -> Document:
    """List the saved games, newest first."""
    wish = job.fields
    shelf = desk.archive.shelf
    return {"games": shelf.summaries(wish["search"], wish["rule"], wish["result"], wish["all"])}


@operation(at_once=True, named="game", game=NAME)
def kept_game(desk: Desk, job: Job) -> Document:
    """Return a saved game."""
    found = desk.archive.shelf.game(job.fields["game"])
    if found is None:
        raise Refused("this game is no longer saved", HTTPStatus.NOT_FOUND).coded("gone")
    return found


@operation(at_once=True, game=NAME)
def delete_game(desk: Desk, job: Job) -> Document:
    """Delete a saved game."""
    return {"deleted": desk.archive.shelf.delete(job.fields["game"])}


@operation(at_once=True, game=NAME, title=text("its title", maxLength=MOST_TITLE))
def rename_game(desk: Desk, job: Job) -> Document:
    """Give a saved game a title."""
    renamed = desk.archive.shelf.rename(job.fields["game"], job.fields["title"])
    return {"renamed": renamed}
