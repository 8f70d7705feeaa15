"""Positions, games and results as JSON; no other module writes or reads them.

Cells are ``[x, y]``, or ``x`` and ``y`` in the messages of the page; values are for the side to
move, times in seconds unless a name says otherwise. Readers validate their input and raise
``ValueError`` (for positions ``NotationError``), which says what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .. import __version__
from ..files import Document, check_kinds, is_writable, read_object
from ..position.geometry import MAX_BOARD, Coordinates
from ..position.rules import Rule, Side
from ..values import MAX_PLY, WIN, mate_distance
from .cells import NotationError, cell_name, check_on_board, check_size, format_moves
from .game import Game, Move
from .opening_rules import opening_of
from .position import Position, image_of
from .record import RESULTS, GameRecord
from .result import (
    BY_FOURS,
    BY_SEARCH,
    BY_THREATS,
    LOWER,
    UPPER,
    Author,
    Entry,
    Known,
    Result,
    Reviewed,
    Tree,
    chances,
    decisive,
    verdict,
)
from .tree import GameTree, TreeNode

PLAYERS = ("black", "white")
BOUNDS = ("exact", LOWER, UPPER)  # by their number in a database
ANNOUNCED = "search"  # the proof of a win found by the main search
PROOFS = (BY_FOURS, BY_THREATS, ANNOUNCED, "")
COUNTS = ("black_wins", "draws", "white_wins")  # of the results of games
MOST_NODES = (1 << 63) - 1  # SQLite's largest integer


def pairs(moves: Iterable[Coordinates]) -> list[list[int]]:
    """Return moves as JSON pairs."""
    return [*map(list, moves)]


# Positions and games --------------------------------------------------------------------


def game_document(game: Game) -> Document:
    """Return a game's position; ``played``: its moves in order if the sides took turns."""
    record = game.record()
    is_played = record.is_in_turn and (not game.ply or record.first is Side.BLACK)
    opening = opening_of(record) if game.rule is Rule.RENJU else None
    cells = {
        side: pairs([stone.move for stone in game.history if stone.side is side]) for side in Side
    }
    return {
        "rule": game.rule.name.lower(),
        "size": [game.width, game.height],
        "stones": game.ply,
        "black": cells[Side.BLACK],
        "white": cells[Side.WHITE],
        "walls": cells[Side.WALL],
        "played": pairs(game.moves) if is_played else None,
        "opening": None if opening is None else str(opening),
        "to_move": game.to_move.name.lower(),
        "winner": None if game.winner is None else game.winner.name.lower(),
        "forbidden": pairs(game.forbidden()),
    }


def position_document(record: GameRecord) -> Document:
    """Return the position after the moves of a record."""
    position, opening = record.position, opening_of(record)
    return {
        "rule": position.rule.name.lower(),
        "size": [position.width, position.height],
        "to_move": position.to_move.name.lower(),
        "black": pairs(position.black),
        "white": pairs(position.white),
        "walls": pairs(position.walls),
        "opening": None if opening is None else str(opening),
    }


def read_position(entry: Mapping[str, Any]) -> Position:
    """Return the position of a document; ``size`` may be one number."""
    match entry.get("size"):
        case [int(width), int(height)] | int(width as height):  # a square
            size = width, height
            check_size("the board", *size)
        case _:
            raise ValueError("size is neither a number nor a pair of numbers")
    black, white, walls = (
        tuple(sorted(read_cells(entry.get(name), name, size))) for name in (*PLAYERS, "walls")
    )
    if len({*black, *white, *walls}) != len(black) + len(white) + len(walls):
        raise ValueError("two stones on a cell")
    side = Side[_word(entry, "to_move", PLAYERS).upper()]
    return Position(Rule.parse(entry.get("rule", "")), *size, side, black, white, walls)


def setup_document(setup: GameRecord) -> Document:
    """Return a position and its moves, in the form of the page."""
    width, height, rule = setup.board
    return {
        "width": width,
        "height": height,
        "rule": rule.name.lower(),
        "placed": [{"x": x, "y": y, "side": side.name.lower()} for (x, y), side in setup.placed],
        "first": setup.first.name.lower(),
        "moves": pairs(setup.moves),
    }


def read_setup(entry: Mapping[str, Any]) -> GameRecord:
    """Return the position of a message, whose fields must be checked already."""
    placed = entry.get("placed") or ()
    return GameRecord(
        entry["width"],
        entry["height"],
        Rule.parse(entry["rule"]),
        tuple(map(tuple, entry["moves"])),
        Side[(entry.get("first") or "black").upper()],
        tuple(((held["x"], held["y"]), Side[held["side"].upper()]) for held in placed),
    )


_CELLS = {cell_name(x, y): (x, y) for x in range(MAX_BOARD) for y in range(MAX_BOARD)}
_NAMES = re.compile(r"[a-z]\d+")
# What a journal says of the moves, and the fields of records.
_COLUMNS = {"ms": "times", "depth": "depths", "value": "values", "nodes": "nodes"}
_LATER = {"detail": "", "date": "", "steps": "", "memory": [], "seconds": 0.0}  # may be missing
_PLAYED = {
    **dict.fromkeys(("game", "round"), int),
    **dict.fromkeys(("black", "white", "winner", "reason", "opening", "moves"), str),
    **dict.fromkeys(_COLUMNS, list),
    **{name: type(usual) for name, usual in _LATER.items()},
}


def played_document(game: GameRecord) -> Document:
    """Return a match game as a journal entry, without board and rule."""
    return {
        "game": game.number,
        "round": game.round,
        "black": game.black,
        "white": game.white,
        "winner": game.winner,
        "reason": game.reason,
        "detail": game.detail,
        "opening": format_moves(game.opening),
        **({"steps": game.steps} if game.steps else {}),
        "moves": format_moves(game.chosen),
        **{name: list(getattr(game, column)) for name, column in _COLUMNS.items()},
        "memory": list(game.memory),
        "seconds": round(game.seconds, 3),
        "date": game.date,
    }


def read_played(entry: Mapping[str, Any], width: int, height: int, rule: Rule) -> GameRecord:
    """Return the game written by :func:`played_document`; any error means that it is invalid.

    Each column must have an entry for each move after the opening.
    """
    entry = {**_LATER, **entry}
    check_kinds(entry, _PLAYED)
    # faster than parse_moves; the moves were checked when written
    opening, moves = (
        [_CELLS[n] for n in _NAMES.findall(entry[key])] for key in ("opening", "moves")
    )
    columns: dict[str, Any] = {column: tuple(entry[key]) for key, column in _COLUMNS.items()}
    alike = "round", "black", "white", "reason", "detail", "date", "steps", "seconds"
    game = GameRecord(
        width, height, rule, (*opening, *moves), result=RESULTS.get(entry["winner"], ""),
        number=entry["game"], given=len(opening), memory=tuple(entry["memory"]), **columns,
        **{name: entry[name] for name in alike},
    )  # fmt: skip
    if not game.result:
        raise ValueError(f"game {game.number} has no result")
    if any(len(column) != len(moves) for column in columns.values()):
        raise ValueError(f"game {game.number} lacks the data of some moves")
    numbers = {type(value) for column in columns.values() for value in column} - {type(None)}
    if not {*numbers, *map(type, game.memory)} <= {int} or None in game.times:
        raise ValueError(f"game {game.number} has data of moves that are no whole numbers")
    return game


# Trees ----------------------------------------------------------------------------------

LONGEST_NAME = 20_000  # characters that are kept
NAMES = ("black", "white", "result", "date")
# Notes of a node: their names in documents, and as attributes of nodes.
NOTES = {
    "title": "title", "text": "text", "comment": "comment", "drawn": "drawn",
    "marked": "is_marked", "start": "is_start",
}  # fmt: skip


def game_tree_document(tree: GameTree) -> Document:
    """Return a game with its variations: a flat list of moves, each with its parent's index."""
    return {
        "position": setup_document(tree.record),
        "tree": _flat(tree),
        "names": {name: getattr(tree.record, name) for name in NAMES},
        "comment": tree.root.comment,
        "root": _notes_document(tree.root),
    }


def _flat(tree: GameTree) -> list[Document]:
    """Return the moves of a tree, main lines first; without passes and what follows them."""
    rows: list[Document] = []
    way = [-1]  # the indices of the moves that lead to a node
    for node, depth in tree.walk():
        if node.cell is None or not node.is_move:
            del way[max(depth, 1) :]
        elif len(way) >= depth:
            x, y = node.cell
            row: Document = {"parent": way[depth - 1], "x": x, "y": y, "comment": node.comment}
            way[depth:] = [len(rows)]
            rows.append({**row, **_notes_document(node)})
    return rows


def _notes_document(node: TreeNode) -> Document:
    """Return a node's notes, without its comment."""
    labels = [
        {"x": x, "y": y, **_written(child, {"text"} if child.is_move else NOTES)}
        for child in node.children
        if child.text and child.cell is not None
        for x, y in [child.cell]
    ]
    return _written(node, NOTES.keys() - {"comment"}) | ({"labels": labels} if labels else {})


def _written(node: TreeNode, names: Collection[str]) -> Document:
    notes = {name: getattr(node, NOTES[name]) for name in NOTES if name in names}
    return {name: note for name, note in notes.items() if note}


def read_game_tree(entry: Mapping[str, Any]) -> GameTree:
    """Return the game of a message with checked fields."""
    names: dict[str, Any] = {
        name: str((entry["names"] or {}).get(name) or "")[:LONGEST_NAME] for name in NAMES
    }
    tree = GameTree(read_setup(entry["position"]).beginning._replace(**names))
    made = [tree.root]
    for place, row in enumerate(entry["tree"]):
        if row["parent"] >= place:
            raise NotationError(f"move {place} stands before its parent")
        made.append(TreeNode((row["x"], row["y"])))
        made[row["parent"] + 1].children.append(made[-1])
    root = {**(entry["root"] or {}), "comment": entry["comment"]}
    for node, row in zip(made, [root, *entry["tree"]], strict=True):
        _write_notes(node, row)
        for label in row.get("labels") or ():
            cell = label["x"], label["y"]
            after = next((child for child in node.children if child.cell == cell), None)
            if after is None:
                after = TreeNode(cell, is_move=False)
                node.children.append(after)
            _write_notes(after, {"text": label["text"]} if after.is_move else label)
    return tree.check()


def _write_notes(node: TreeNode, row: Mapping[str, object]) -> None:
    for name, attribute in NOTES.items():
        if row.get(name):
            setattr(node, attribute, row[name])


# Results --------------------------------------------------------------------------------


def thought_document(thought: Result, win: Document | None = None) -> Document:
    """Return a search's result, with the ``win_document`` of a forced win or loss."""
    return {
        "move": list(thought.move),
        "value": thought.value,
        "chance": round(thought.chance, 4),
        "bound": thought.bound,
        "mate": thought.mate,
        "depth": thought.depth,
        "seldepth": thought.seldepth,
        "pv": pairs(thought.pv),
        "win": win,
        "nodes": thought.nodes,
        "time": round(thought.time, 4),
    }


def win_document(line: Sequence[Move], plies: int, claim: str) -> Document:
    """Return a forced win of either side, with ``proof`` if it is a win by fours or threats."""
    found: Document = {"plies": max(plies, len(line)), "line": pairs(line)}
    return {**found, "proof": claim} if claim in (BY_FOURS, BY_THREATS) else found


def author_of(weights: str) -> Author:
    """Return this program and its weights as the author of a result."""
    return Author(f"Numoku {__version__}", weights)


def tree_document(tree: Tree | None) -> Document | None:
    """Return a proof: a move, and for each reply the proof that follows."""
    if tree is None:
        return None
    answers = [
        {"reply": list(reply), **(tree_document(answer) or {})}
        for reply, answer in tree.replies.items()
    ]
    return {"move": list(tree.move), "answers": answers}


def read_tree(form: object, size: tuple[int, int] = (MAX_BOARD, MAX_BOARD)) -> Tree:
    """Return the proof written by ``tree_document``; ValueError if it is malformed."""
    match form:
        case {"move": move, "answers": [*answers]} if all(isinstance(a, dict) for a in answers):
            replies = [answer.get("reply") for answer in answers]
            move, *cells = read_cells([move, *replies], "a move of its proof", size)
            return Tree(move, {c: read_tree(a, size) for c, a in zip(cells, answers, strict=True)})
    raise ValueError("its proof is malformed")


def proof_of(result: Result) -> str:
    """Return the proof of a forced win or loss, as named in databases and their documents."""
    return result.proof or ANNOUNCED * (result.mate is not None or result.claim == BY_SEARCH)


def result_document(result: Result) -> Document:
    """Return a complete result, as ``read_analysis`` reads it."""
    return {
        "value": result.value,
        "bound": result.bound or BOUNDS[0],
        "depth": result.depth,
        "nodes": result.nodes,
        "moves": pairs(result.moves),
        "pv": pairs(result.line),
        "proof": proof_of(result),
        "tree": tree_document(result.tree),
        "version": result.author.version,
        "weights": result.author.weights,
    }


def entry_document(record: GameRecord, entry: Entry | None) -> Document:
    """Return everything a database knows about a position."""
    is_known = entry is not None
    entry = entry or Entry(0, None)
    finding = entry.finding
    found = result_document(finding or Result())
    if finding is None:
        found |= dict.fromkeys(("value", "bound", "depth", "nodes", "version", "weights"))
    moves = [*(finding.moves if finding else ()), *(move for move, _ in entry.book)]
    return {
        "known": is_known,
        **position_document(record),
        **found,
        "proof": found["proof"] or None,
        "mate": finding.mate if finding and finding.is_certain else None,
        "best": list(moves[0]) if moves else None,
        "games": {name: getattr(entry, name) for name in COUNTS},
        "notes": [
            {
                "title": note.title,
                "comment": note.comment,
                "marked": note.is_marked,
                "labels": [{"cell": list(cell), "text": text} for cell, text in note.labels],
            }
            for note in entry.notes
        ],
        "book": [{"move": list(move), "value": value} for move, value in entry.book],
    }


def following_document(moves: Iterable[tuple[Coordinates, Entry]]) -> list[Document]:
    """Return the known moves from a position, with values for the side that plays them."""
    return [
        {
            "move": list(move),
            "value": None if after.finding is None else -after.finding.value,
            "depth": None if after.finding is None else after.finding.depth,
            "games": after.games,
            "results": {name: getattr(after, name) for name in COUNTS},
        }
        for move, after in moves
    ]


def read_analysis(entry: Mapping[str, object]) -> Known:
    """Return the analysis printed by ``numoku analyse --json`` or ``numoku db FILE show``."""
    if "black" not in entry or entry.get("value") is None:
        raise ValueError("this is no analysis of a position: it has no stones or no value")
    position = read_position(entry)
    size = position.width, position.height
    win = entry.get("win") or {}
    if not isinstance(win, dict):
        raise ValueError("win is not an object")
    line = read_cells(win.get("line"), "win.line", size) or read_cells(entry.get("pv"), "pv", size)
    best = entry.get("best") or entry.get("move")
    moves = read_cells(entry.get("moves"), "moves", size) or line[:1]
    if best and not entry.get("moves"):
        moves = read_cells([best], "move", size)
    if {*moves, *line} & {*position.black, *position.white, *position.walls}:
        raise ValueError("a move on a stone")
    tree = entry.get("tree")
    value, depth = _whole(entry, "value", -WIN, WIN), _whole(entry, "depth", 0, MAX_PLY)
    given = {name: text for name, text in entry.items() if text}
    bound = _word(entry, "bound", BOUNDS, BOUNDS[0])
    result = Result(
        value, line, depth, depth, _whole(entry, "nodes", 0, MOST_NODES),
        claim=claim_of(_word(entry, "proof", PROOFS) or _word(win, "proof", PROOFS), value),
        bound=bound if bound != BOUNDS[0] else "", moves=moves,
        tree=read_tree(tree, size) if tree else None,
        author=Author(*(read_text({name: "", **given}, name) for name in ("version", "weights"))),
    )  # fmt: skip
    return Known(image_of(position), result, _way(entry, position))


def claim_of(proof: str, value: int) -> str:
    """Return the claim of a proof as named in databases and their documents."""
    if proof in (BY_FOURS, BY_THREATS):
        return proof
    return BY_SEARCH if proof or mate_distance(value) is not None else ""


def _way(entry: Mapping[str, object], position: Position) -> GameRecord | None:
    """Return an order in which a position's stones were or could have been played, or None."""
    size = position.width, position.height
    moves: Sequence[Coordinates] | None = read_cells(entry.get("played"), "played", size)
    if moves:
        if position != GameRecord(*size, position.rule, tuple(moves)).position:
            raise ValueError("the played moves do not lead to this position")
    else:
        black, white = (read_cells(entry.get(name), name, size) for name in PLAYERS)
        moves = position._replace(black=black, white=white).in_turn  # in the order given
    if moves is None or entry.get("type") == "position":  # an export, which stores lines itself
        return None
    return GameRecord(*size, position.rule, tuple(moves))


def reviewed_document(reviewed: Reviewed) -> Document:
    """Return a reviewed move."""
    wins = {"missed_win": reviewed.missed, "allowed_win": reviewed.allowed}
    return {
        "ply": reviewed.ply,
        "move": list(reviewed.move),
        "kind": reviewed.kind,
        "foul": reviewed.is_foul,
        "value": reviewed.found.value,
        "chance": round(reviewed.found.chance, 4),
        "best": list(reviewed.found.move),
        "loss": round(reviewed.loss, 4),
        **{
            name: win and win_document(win.line, win.plies, win.claim) for name, win in wins.items()
        },
        "line": pairs(reviewed.found.line),
        "depth": reviewed.found.depth,
    }


def review_document(game: GameRecord, found: Sequence[Reviewed]) -> Document:
    """Return the review of a game, with values for the side that moves."""
    *size, rule = game.board
    verdicts = {side.name.lower(): verdict(game, found, side) for side in (Side.BLACK, Side.WHITE)}
    return {
        "rule": rule.name.lower(),
        "size": size,
        "moves": [reviewed_document(reviewed) for reviewed in found],
        "accuracy": {
            name: None if said.accuracy is None else round(said.accuracy, 1)
            for name, said in verdicts.items()
        },
        "counts": {name: said.counts for name, said in verdicts.items()},
        "decisive": decisive(game, found),
        "chances": [round(chance, 4) for chance in chances(game, found)],
    }


# Puzzles --------------------------------------------------------------------------------

DEFEND, FORBIDDEN = "defend", "forbidden"
KINDS = (BY_FOURS, "no-vcf", BY_THREATS, BY_SEARCH, DEFEND, FORBIDDEN)
FIELDS = ("id", "size", "rule", "black", "white", "to_move", "kind")


class Puzzle(NamedTuple):
    """A position with a question and its answer, as far as known.

    ``best``: the correct moves, None if unknown; ``is_complete``: there are no others;
    ``is_verified``: the kind reliably says whether there is a win by fours.
    """

    id: str
    kind: str
    position: Position
    best: tuple[Move, ...] | None = None
    is_complete: bool = False
    is_verified: bool = False


def read_puzzle(line: str) -> Puzzle:
    """Parse a line of a puzzle file."""
    entry = read_object(line)
    missing = [name for name in FIELDS if name not in entry]
    if missing:
        raise ValueError(f"the puzzle lacks {', '.join(missing)}")
    if not isinstance(entry["id"], str):
        raise ValueError("id is not a text")
    if entry["kind"] not in KINDS:
        raise ValueError(f"unknown kind {entry['kind']!r}; there are {', '.join(KINDS)}")
    position, best = read_position(entry), entry.get("best")
    cells = read_cells(best, "best", (position.width, position.height))
    complete = entry["kind"] == FORBIDDEN or bool(entry.get("best_complete"))
    return Puzzle(
        entry["id"], entry["kind"], position, None if best is None else cells, complete,
        bool(entry.get("verified")),
    )  # fmt: skip


def answer_document(puzzle: Puzzle, answer: Result) -> Document:
    """Return the answer to a puzzle, with its proof if there is one; ``ms``: milliseconds."""
    found: Document = {
        "id": puzzle.id,
        "claim": answer.claim,
        "moves": pairs(answer.moves),
        "line": pairs(answer.line),
        "length": len(answer.line) and len(answer.line) // 2 + 1,
        "nodes": answer.nodes,
        "ms": round(answer.time * 1000, 3),
    }
    return found if answer.tree is None else {**found, "tree": tree_document(answer.tree)}


# Fields ---------------------------------------------------------------------------------


def read_cells(found: object, name: str, size: tuple[int, int]) -> tuple[Move, ...]:
    """Return a list of cells, empty for null."""
    cells = []
    for cell in found if isinstance(found, list) else [found] * (found is not None):
        match cell:
            case [x, y] if type(x) is type(y) is int:
                cells.append(Move(*check_on_board(x, y, *size)))
            case _:
                raise ValueError(f"{name} is not a list of cells [x, y], from 0 at the top left")
    return tuple(cells)


def read_text(entry: Mapping[str, object], name: str) -> str:
    """Return a field that must be a string."""
    text = entry.get(name)
    if not isinstance(text, str) or not is_writable(text):
        raise ValueError(f"{name} is not a text")
    return text


def _whole(entry: Mapping[str, object], name: str, low: int, high: int) -> int:
    """Return a field that must be an integer, 0 for null."""
    match entry.get(name):
        case None:
            return 0
        case int(number) if not isinstance(number, bool) and low <= number <= high:
            return number
        case _:
            raise ValueError(f"{name} is not a whole number from {low} to {high}")


def _word(entry: Mapping[str, object], name: str, words: tuple[str, ...], default: str = "") -> str:
    """Return a field that must be one of ``words``; null and an empty text mean the default."""
    word = str(entry.get(name) or default).lower()
    if word not in words:
        raise ValueError(f"{name} must be one of {', '.join(filter(None, words))}")
    return word
