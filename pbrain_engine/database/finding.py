"""What is known about a position: what a search has found out, notes and games; and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, NamedTuple
from zlib import crc32

from ..engine.forms import pairs
from ..files import is_writable
from ..game.cells import check_on_board, check_size
from ..game.opening_names import Opening, name_opening
from ..game.position import Image, Position, image_of
from ..game.record import GameRecord
from ..position.geometry import Coordinates
from ..position.rules import Rule, Side
from ..values import MAX_PLY, WIN, WIN_BAND, mate_distance

SEARCH = "search"  # the proof of a win that the main search has announced
PROVEN = 1_000_000  # rank of what is proven; above that the shorter win stands


class Bound(IntEnum):
    """How a value is meant."""

    EXACT = 0
    LOWER = 1  # at least
    UPPER = 2  # at most


@dataclass(frozen=True, slots=True)
class Author:
    """Who has found something out: a program's name and version, and the weights it used."""

    version: str = ""
    weights: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """A value for the side to move, how deep it was searched, and the moves and the line for it.

    ``moves``: the best first. ``proof``: ``vcf``, ``vct`` or ``search`` where a win or loss is
    certain, else empty; ``tree``: the whole proof as JSON, or empty.
    """

    value: int
    bound: Bound = Bound.EXACT
    depth: int = 0
    nodes: int = 0
    moves: tuple[Coordinates, ...] = ()
    line: tuple[Coordinates, ...] = ()
    proof: str = ""
    tree: str = ""
    author: Author = Author()

    @classmethod
    def of(
        cls, value: int, best: Coordinates, line: Iterable[Coordinates], proof: str = "",
        **known: Any,
    ) -> Finding:  # fmt: skip
        """Return what a search says of a position; without a proof it vouches for a win itself."""
        proof = proof or SEARCH * (mate_distance(value) is not None)
        return cls(value, moves=(best,), line=tuple(line), proof=proof, **known)

    @property
    def is_certain(self) -> bool:
        """Whether it is a forced win or loss."""
        if self.value >= WIN_BAND:
            return self.bound is not Bound.UPPER
        return self.value <= -WIN_BAND and self.bound is not Bound.LOWER

    @property
    def rank(self) -> int:
        """Which of two findings about one position stands: that of the higher rank."""
        if self.is_certain:
            return PROVEN + 2 * abs(self.value) + bool(self.tree)
        return 2 * max(self.depth, 0) + (self.bound is Bound.EXACT)


@dataclass(frozen=True, slots=True)
class Note:
    """What a person has written about a position."""

    title: str = ""
    comment: str = ""
    is_marked: bool = False
    labels: tuple[tuple[Coordinates, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """All that a database knows about a position, in the orientation in which it was asked."""

    number: int  # of the row
    finding: Finding | None
    black_wins: int = 0
    draws: int = 0
    white_wins: int = 0
    notes: tuple[Note, ...] = ()
    book: tuple[tuple[Coordinates, int], ...] = field(default=())  # moves with values, best first

    @property
    def games(self) -> int:
        """How many games passed through."""
        return self.black_wins + self.draws + self.white_wins


def checksum(*parts: object) -> int:
    """Return a number that damage to any of these changes."""
    return crc32("\x1f".join(map(repr, parts)).encode("utf-8", "surrogatepass"))


class Known(NamedTuple):
    """A finding and the image of its position, as it is to be stored."""

    image: Image
    finding: Finding
    way: GameRecord | None = None  # the moves to it, where they are known


# As JSON --------------------------------------------------------------------------------

PROOFS = ("vcf", "vct", SEARCH, "")
BOUNDS = tuple(bound.name.lower() for bound in Bound)
PLAYERS = ("black", "white")
MOST_NODES = (1 << 63) - 1  # a number that every store holds


def position_document(record: GameRecord) -> dict[str, Any]:
    """Return what stands on the board after the moves of a record."""
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


def opening_of(record: GameRecord) -> Opening | None:
    """Return the opening by the moves from the empty board, or by three stones alone, or None."""
    is_plain = not (record.placed or record.passes) and record.first is Side.BLACK
    first = replace(record, moves=record.moves[:3]) if is_plain else record
    return name_opening(first.position)


def finding_document(finding: Finding) -> dict[str, Any]:
    """Return everything about a finding, as ``read_analysis`` reads it again."""
    return {
        "value": finding.value,
        "bound": finding.bound.name.lower(),
        "depth": finding.depth,
        "nodes": finding.nodes,
        "moves": pairs(finding.moves),
        "pv": pairs(finding.line),
        "proof": finding.proof,
        "tree": json.loads(finding.tree) if finding.tree else None,
        "version": finding.author.version,
        "weights": finding.author.weights,
    }


def entry_document(record: GameRecord, entry: Entry | None) -> dict[str, Any]:
    """Return everything about a position as one document."""
    is_known = entry is not None
    entry = entry or Entry(0, None)
    finding = entry.finding
    found = finding_document(finding or Finding(0))
    if finding is None:
        found |= dict.fromkeys(("value", "bound", "depth", "nodes", "version", "weights"))
    moves = [*found["moves"], *(list(move) for move, _ in entry.book)]
    return {
        "known": is_known,
        **position_document(record),
        **found,
        "proof": found["proof"] or None,
        "mate": mate_distance(finding.value) if finding and finding.is_certain else None,
        "best": moves[0] if moves else None,
        "games": {name: getattr(entry, name) for name in ("black_wins", "draws", "white_wins")},
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


def following_document(moves: Iterable[tuple[Coordinates, Entry]]) -> list[dict[str, Any]]:
    """Return the known moves from a position, with values for the side that makes them."""
    return [
        {
            "move": list(move),
            "value": None if after.finding is None else -after.finding.value,
            "depth": None if after.finding is None else after.finding.depth,
            "games": after.games,
        }
        for move, after in moves
    ]


def read_cells(found: Any, name: str, size: tuple[int, int]) -> tuple[Coordinates, ...]:
    """Return cells of a board from JSON, none for null; raises ValueError."""
    cells = []
    for cell in found if isinstance(found, list) else [found] * (found is not None):
        match cell:
            case [int(x), int(y)]:
                cells.append(check_on_board(x, y, *size))
            case _:
                raise ValueError(f"{name} is no list of cells [x, y], from 0 at the top left")
    return tuple(cells)


def _whole(entry: dict[str, Any], name: str, low: int, high: int) -> int:
    """Return a whole number from JSON, 0 for null."""
    match entry.get(name):
        case None:
            return 0
        case int(number) if not isinstance(number, bool) and low <= number <= high:
            return number
        case _:
            raise ValueError(f"{name} is no whole number from {low} to {high}")


def _word(entry: dict[str, Any], name: str, words: tuple[str, ...], default: str = "") -> str:
    """Return one of some words from JSON; null and an empty text stand for the default."""
    word = str(entry.get(name) or default).lower()
    if word not in words:
        raise ValueError(f"{name} is none of {', '.join(filter(None, words))}")
    return word


def read_text(entry: dict[str, Any], name: str) -> str:
    """Return a text from JSON; raises ValueError."""
    text = entry.get(name)
    if not isinstance(text, str) or not is_writable(text):
        raise ValueError(f"{name} is no text")
    return text


def read_position(entry: dict[str, Any]) -> Position:
    """Return a position from JSON; raises ValueError."""
    match entry.get("size"):
        case [int(width), int(height)] | int(width as height):  # of a square
            size = width, height
            check_size("the board", *size)
        case _:
            raise ValueError("size is neither a number nor a pair of them")
    black, white, walls = (
        tuple(sorted(read_cells(entry.get(name), name, size))) for name in (*PLAYERS, "walls")
    )
    if len({*black, *white, *walls}) != len(black) + len(white) + len(walls):
        raise ValueError("two stones on a cell")
    side = Side[_word(entry, "to_move", PLAYERS).upper()]
    return Position(Rule.parse(entry.get("rule", "")), *size, side, black, white, walls)


def _way(entry: dict[str, Any], position: Position) -> GameRecord | None:
    """Return an order in which a position's stones were played, or could have been, or None."""
    size = position.width, position.height
    moves: Sequence[Coordinates] | None = read_cells(entry.get("played"), "played", size)
    if moves:
        if position != GameRecord(*size, position.rule, tuple(moves)).position:
            raise ValueError("what was played does not lead to this position")
    else:
        black, white = (read_cells(entry.get(name), name, size) for name in PLAYERS)
        moves = position._replace(black=black, white=white).in_turn  # in the order that is given
    if moves is None or entry.get("type") == "position":  # of an export, which has its lines
        return None
    return GameRecord(*size, position.rule, tuple(moves))


def read_analysis(entry: dict[str, Any]) -> Known:
    """Return the analysis that ``numoku analyse --json`` or ``numoku db FILE show`` printed.

    Raises:
        ValueError: something in it is missing or makes no sense.
    """
    if "black" not in entry or entry.get("value") is None:
        raise ValueError("this is no analysis of a position: it has no stones or no value")
    position = read_position(entry)
    size = position.width, position.height
    win = entry.get("win") or {}
    if not isinstance(win, dict):
        raise ValueError("win is no object")
    line = read_cells(win.get("line"), "win.line", size) or read_cells(entry.get("pv"), "pv", size)
    best = entry.get("best") or entry.get("move")
    moves = read_cells(entry.get("moves"), "moves", size) or line[:1]
    if best and not entry.get("moves"):
        moves = read_cells([best], "move", size)
    if {*moves, *line} & {*position.black, *position.white, *position.walls}:
        raise ValueError("a move on a stone")
    tree = entry.get("tree")
    if tree:
        _check_proof(tree, size)
    value = _whole(entry, "value", -WIN, WIN)
    given = {name: text for name, text in entry.items() if text}
    proof = _word(entry, "proof", PROOFS) or _word(win, "proof", PROOFS)
    finding = Finding(
        value,
        Bound[_word(entry, "bound", BOUNDS, "exact").upper()],
        _whole(entry, "depth", 0, MAX_PLY),
        _whole(entry, "nodes", 0, MOST_NODES),
        moves,
        line,
        proof or SEARCH * (mate_distance(value) is not None),
        json.dumps(tree) if tree else "",
        Author(*(read_text({name: "", **given}, name) for name in ("version", "weights"))),
    )
    return Known(image_of(position), finding, _way(entry, position))


def _check_proof(node: Any, size: tuple[int, int], names: Sequence[str] = ("move",)) -> None:
    """Refuse what has not the form of a proof on a board: moves, and answers with theirs."""
    if not isinstance(node, dict) or not isinstance(node.get("answers"), list):
        raise ValueError("its proof makes no sense")
    read_cells([node.get(name) for name in names], "a move of its proof", size)
    for answer in node["answers"]:
        _check_proof(answer, size, ("reply", "move"))
