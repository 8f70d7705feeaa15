"""Everything that the server can be asked, in one table.

The WebSocket, the addresses under ``/api/`` and their description in OpenAPI are all made of
this table. What needs an engine waits for its turn at the desk of its tab.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .. import __version__
from ..engine.engine import SEARCHES
from ..methods import METHODS
from ..position.geometry import MAX_BOARD, MIN_BOARD
from ..position.rules import Side
from . import files, proofs, searches
from .desk import DEFAULT_MEMORY, Desk, Job
from .files import MOST_DATA, MOST_TEXT
from .messages import (
    MOVES,
    POSITION,
    REQUIRED,
    MessageField,
    Refused,
    flag,
    number,
    one_of,
    text,
    whole,
)
from .positions import game_of, setup_of

MOST_SECONDS = 600.0
MOST_MEMORY = 65_536  # megabytes
MOST_LINES = 20

Do = Callable[[Desk, Job], dict[str, Any]]


@dataclass(frozen=True)
class Operation:
    """A thing that can be asked: by what name, with which fields, and who does it."""

    name: str
    summary: str
    fields: Mapping[str, MessageField]
    do: Do
    at_once: bool = False  # needs no engine
    endless: bool = False  # on a socket it goes on until something else is asked

    def read(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Return the checked fields of a message; raises Refused."""
        return {name: field.read(name, message) for name, field in self.fields.items()}

    def schema(self) -> dict[str, Any]:
        """Return the schema of its messages."""
        properties = {}
        for name, field in self.fields.items():
            properties[name] = dict(field.schema)
            if field.default is not REQUIRED and field.default is not None:
                properties[name]["default"] = field.default
        required = [name for name, field in self.fields.items() if field.default is REQUIRED]
        return {"type": "object", "properties": properties, "required": required}


def known(desk: Desk, job: Job) -> dict[str, Any]:
    """Say what the database knows of a position."""
    setup = setup_of(job.fields["position"])
    game_of(setup)
    return desk.archive.document(setup)


def comment(desk: Desk, job: Job) -> dict[str, Any]:
    """Store a comment."""
    setup = setup_of(job.fields["position"])
    game_of(setup)
    if any(side is Side.WALL for _, _, side in setup.placed):
        raise Refused("positions with blocked cells have no comments in a database")
    desk.archive.store_comment(setup, job.fields["before"], job.fields["after"])
    return {"stored": True}


def store(desk: Desk, job: Job) -> dict[str, Any]:
    """Store a game in the database."""
    tree = files.tree_of_message(job.fields)
    if any(stone["side"] == "wall" for stone in job.fields["position"].get("placed") or ()):
        raise Refused("games with blocked cells cannot be stored")
    return {"stored": True, **desk.archive.store_tree(tree)}


def keep(desk: Desk, job: Job) -> dict[str, Any]:
    """Keep a game of the page."""
    desk.archive.shelf.keep(job.fields)
    return {"kept": True}


def at_once(name: str, summary: str, do: Do, **fields: MessageField) -> Operation:
    """Return an operation that needs no engine."""
    return Operation(name, summary, fields, do, at_once=True)


def at_desk(name: str, summary: str, do: Do, **fields: MessageField) -> Operation:
    """Return an operation that waits for the desk."""
    return Operation(name, summary, fields, do)


def seconds(default: float, about: str = "how long it may take") -> MessageField:
    """Return the field for a time."""
    return number(0.01, MOST_SECONDS, default, about)


PLACE = MessageField(POSITION)
THREADS = whole(1, 64, 1, "threads to search with")
MEMORY = whole(16, MOST_MEMORY, DEFAULT_MEMORY, "megabytes that the process may use")
SIDE = whole(MIN_BOARD, MAX_BOARD, None, "of the board of moves alone")
ANALYSIS = {
    "position": PLACE,
    "multipv": whole(1, MOST_LINES, 1, "how many best moves"),
    "threads": THREADS,
    "memory": MEMORY,
    "search": one_of(SEARCHES, SEARCHES[0], "the kind of search"),
    "policy": flag("which moves look best before any search, too"),
    "time": number(0.01, MOST_SECONDS, None, "seconds"),
    "nodes": whole(1, 1 << 50, None, "positions to search, with an empty memory"),
    "depth": whole(1, 200, None, "plies"),
}

_TABLE = (
    at_once(
        "look",
        "What the rules say about a position: who moves, who has won, what is forbidden and why",
        searches.look,
        position=PLACE,
    ),
    Operation(
        "analyse",
        "Search a position; on the WebSocket every depth is reported, until a limit or until "
        "something else is asked",
        ANALYSIS,
        searches.analyse,
        endless=True,
    ),
    at_desk(
        "move",
        "The engine's move in a game against a person",
        searches.move,
        position=PLACE,
        level=whole(1, 10, 10, "strength"),
        method=one_of(METHODS, None, "a method of the textbooks in place of the engine"),
        seconds=seconds(5.0, "for the move"),
        threads=THREADS,
        memory=MEMORY,
    ),
    at_desk(
        "swap2",
        "The engine's decision in swap2, with 0, 3 or 5 stones on the board",
        searches.choose_side,
        position=PLACE,
        seconds=seconds(5.0),
    ),
    at_desk(
        "balance",
        "One or two stones after which the chances are even: `value` is that of the side to move "
        "for its own stone, or for two stones before its next move",
        searches.balance,
        position=PLACE,
        stones=whole(1, 2, 1, "how many"),
        seconds=seconds(5.0),
    ),
    at_desk(
        "threats",
        "What every cell makes for either side, which cells win by fours, and what stops the "
        "enemy's win by fours",
        proofs.threats,
        position=PLACE,
        seconds=seconds(5.0),
    ),
    at_desk(
        "prove",
        "A proven win of the side to move: its next move and its line",
        proofs.prove,
        position=PLACE,
        seconds=seconds(10.0),
    ),
    at_desk(
        "branches",
        "The defences against the attacker's last move, and what each of them leads to",
        proofs.branches,
        position=PLACE,
        seconds=seconds(20.0),
    ),
    at_desk(
        "reply",
        "The longest defence against the attacker's last move, and whether that still wins",
        proofs.reply,
        position=PLACE,
        seconds=seconds(20.0),
    ),
    at_desk(
        "review",
        "A game move by move: values, mistakes, missed and allowed wins",
        searches.review,
        position=PLACE,
        seconds=seconds(1.0, "for each position"),
    ),
    at_once(
        "read",
        "The game that a file holds: SGF with variations, PSQ, a RenLib library, a drawing, moves",
        lambda desk, job: files.read(job.fields),
        text=text(MOST_TEXT, None, "a file's content"),
        data=text(MOST_DATA, None, "or its bytes in base64, in any encoding"),
        rule=one_of(files.RULES, None, "if the text does not say"),
        width=SIDE,
        height=SIDE,
        from_below=flag("rows of moves alone count from the lowest"),
    ),
    at_once(
        "write",
        "A game as SGF or a RenLib library with its variations, its main line as PSQ, or a drawing",
        lambda desk, job: files.write(job.fields),
        format=one_of(files.FORMATS),
        **files.GAME,
    ),
    at_once(
        "known",
        "What the database knows of a position, and of the positions after it",
        known,
        position=PLACE,
    ),
    at_once(
        "comment",
        "Store a comment about a position, in the place of what it was before",
        comment,
        position=PLACE,
        before=text(files.MOST_COMMENT, "", "what it was"),
        after=text(files.MOST_COMMENT, "", "what it is now"),
    ),
    at_once(
        "store",
        "Store a game with its variations and comments in the database",
        store,
        **files.GAME,
    ),
    at_once(
        "keep",
        "Keep a game of the page, with its variations and comments, so that it can be taken up",
        keep,
        game=text(64, about="its name, the same each time"),
        began=number(0, 1e12, about="when it was begun, in seconds since 1970"),
        at=whole(0, files.MOST_NODES, 0, "the move that is looked at, by its place"),
        match=MessageField({"type": "object", "description": "a game against the engine"}, None),
        **files.GAME,
    ),
    at_once(
        "games",
        "The games that are kept, the latest first",
        lambda desk, job: {"games": desk.archive.shelf.summaries()},
    ),
    at_once(
        "game",
        "A game that is kept, as it was kept",
        lambda desk, job: desk.archive.shelf.game(job.fields["game"]),
        game=text(64, about="its name"),
    ),
    at_once(
        "puzzles",
        "The puzzles of the trainer",
        lambda desk, job: {"puzzles": proofs.shipped_puzzles()},
    ),
    at_desk(
        "puzzle",
        "A position as a puzzle, in the format that `numoku solve` reads",
        proofs.puzzle,
        position=PLACE,
        line=MessageField(MOVES, ()),
        check=flag("refuse it unless a win by threats is found"),
    ),
    at_once(
        "engine",
        "What the engine can do: levels, rules, kinds of search, threads; and its database",
        searches.about,
    ),
)

OPERATIONS = {operation.name: operation for operation in _TABLE}


ANSWERS = {
    "200": {"description": "the answer", "content": {"application/json": {}}},
    "400": {"description": "refused; `error` says why"},
    "401": {"description": "the token is missing or wrong"},
    "403": {"description": "the request comes from a foreign page"},
    "413": {"description": "the request is too large"},
    "500": {"description": "an error of the server; `error` names its kind"},
}
ABOUT = (
    "Every operation is a POST of one JSON object. The WebSocket `/api/socket` takes the same "
    "objects with two more fields: `do`, the name of the operation, and `id`, any number, which "
    "all answers carry: `event` objects on the way, and one with `result` or `error` at the "
    'end. `{"do": "stop"}` ends what is running, with the id of a question as `target` that one '
    "alone. The token goes into the header "
    "`Authorization: Bearer TOKEN`, or into the query as `token`."
)


def openapi(address: str) -> dict[str, Any]:
    """Return the description of the server at an address in the terms of OpenAPI."""
    health = {
        "summary": "Whether the server lives; needs no token",
        "security": [],
        "responses": {"200": ANSWERS["200"]},
    }
    paths: dict[str, Any] = {"/api/health": {"get": health}}
    for operation in OPERATIONS.values():
        content = {"application/json": {"schema": operation.schema()}}
        post = {
            "operationId": operation.name,
            "summary": operation.summary,
            "requestBody": {"required": True, "content": content},
            "responses": ANSWERS,
        }
        paths[f"/api/{operation.name}"] = {"post": post}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Numoku board", "version": __version__, "description": ABOUT},
        "servers": [{"url": address}],
        "security": [{"token": []}],
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "paths": paths,
    }
