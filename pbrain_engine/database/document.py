"""Positions and what is known about them as JSON, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..notation.canonical import Image, Position, image_of
from ..notation.game_record import GameRecord, RecordedMove
from ..notation.opening_names import name_opening
from ..position.geometry import Coordinates
from ..position.rules import Rule, Side
from ..values import mate_distance
from .finding import Author, Bound, Entry, Finding

SEARCH = "search"  # the proof of a win that the main search has announced


class Analysis(NamedTuple):
    """A finding, the image of its position, and the moves to it where they are known."""

    image: Image
    finding: Finding
    way: GameRecord | None = None


class Asked(NamedTuple):
    """A position that somebody asks about; ``moves`` in order where that is known."""

    position: Position
    moves: tuple[Coordinates, ...] = ()


def pairs(cells: Iterable[Coordinates]) -> list[list[int]]:
    """Return cells as JSON has them."""
    return [[x, y] for x, y in cells]


def position_document(asked: Asked) -> dict[str, Any]:
    """Return what stands on the board."""
    position, moves = asked
    opening = name_opening(opening_moves(asked), position.width, position.height)
    return {
        "rule": position.rule.name.lower(),
        "size": [position.width, position.height],
        "to_move": position.to_move.name.lower(),
        "black": pairs(position.black),
        "white": pairs(position.white),
        "walls": pairs(position.walls),
        "opening": None if opening is None else str(opening),
    }


def opening_moves(asked: Asked) -> Sequence[Coordinates]:
    """Return the first moves, also where three stones alone tell them."""
    position, moves = asked
    if not moves and (len(position.black), len(position.white)) == (2, 1):
        return (position.black[0], position.white[0], position.black[1])
    return moves


def entry_document(asked: Asked, entry: Entry | None) -> dict[str, Any]:
    """Return everything about a position as one document."""
    finding = entry.finding if entry is not None else None
    out: dict[str, Any] = {"known": entry is not None, **position_document(asked)}
    best = finding.moves[0] if finding is not None and finding.moves else None
    if best is None and entry is not None and entry.book:
        best = entry.book[0][0]
    if finding is None:
        out |= dict.fromkeys(("value", "bound", "depth", "nodes", "mate"))
    else:
        out |= {
            "value": finding.value,
            "bound": finding.bound.name.lower(),
            "depth": finding.depth,
            "nodes": finding.nodes,
            "mate": mate_distance(finding.value) if finding.is_certain else None,
        }
    out |= {
        "best": None if best is None else list(best),
        "moves": pairs(finding.moves if finding is not None else ()),
        "pv": pairs(finding.line if finding is not None else ()),
        "proof": (finding.proof or None) if finding is not None else None,
        "tree": json.loads(finding.tree) if finding is not None and finding.tree else None,
        "version": finding.author.version if finding is not None else None,
        "weights": finding.author.weights if finding is not None else None,
        "games": {
            "black_wins": entry.black_wins if entry is not None else 0,
            "draws": entry.draws if entry is not None else 0,
            "white_wins": entry.white_wins if entry is not None else 0,
        },
        "notes": [
            {
                "title": note.title,
                "comment": note.comment,
                "marked": note.is_marked,
                "labels": [{"cell": list(cell), "text": text} for cell, text in note.labels],
            }
            for note in (entry.notes if entry is not None else ())
        ],
        "book": [
            {"move": list(move), "value": value}
            for move, value in (entry.book if entry is not None else ())
        ],
    }
    return out


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


def _cells(found: Iterable[Sequence[int]]) -> tuple[Coordinates, ...]:
    return tuple((int(x), int(y)) for x, y in found)


def read_analysis(entry: dict[str, Any]) -> Analysis:
    """Return the analysis that ``numoku analyse --json`` or ``numoku db FILE show`` printed.

    Raises:
        ValueError: something in it makes no sense.
        KeyError: something is missing.
    """
    if "black" not in entry or "value" not in entry or entry["value"] is None:
        raise ValueError("this is no analysis of a position: it has no stones or no value")
    width, height = entry["size"]
    position = Position(
        Rule.parse(entry["rule"]), int(width), int(height), Side[entry["to_move"].upper()],
        _cells(sorted(entry["black"])), _cells(sorted(entry["white"])),
        _cells(sorted(entry.get("walls", []))),
    )  # fmt: skip
    stones = [*position.black, *position.white, *position.walls]
    if len(set(stones)) != len(stones) or not all(
        0 <= x < width and 0 <= y < height for x, y in stones
    ):
        raise ValueError("two stones on a cell, or one off the board")
    win = entry.get("win") or {}
    line = _cells(win.get("line") or entry.get("pv") or [])
    best = entry.get("best") or entry.get("move")
    moves = _cells(entry.get("moves") or []) or (_cells([best]) if best else line[:1])
    tree = entry.get("tree")
    if tree and not is_proof(tree, width, height):
        raise ValueError("its proof makes no sense")
    value = int(entry["value"])
    finding = Finding(
        value,
        Bound[(entry.get("bound") or "exact").upper()],
        int(entry.get("depth") or 0),
        int(entry.get("nodes") or 0),
        moves,
        line,
        entry.get("proof") or win.get("proof") or SEARCH * (mate_distance(value) is not None),
        json.dumps(tree) if tree else "",
        Author(entry.get("version") or "", entry.get("weights") or ""),
    )
    way = None
    if entry.get("played"):
        played = tuple(RecordedMove(x, y) for x, y in _cells(entry["played"]))
        way = GameRecord(position.width, position.height, position.rule, played)
    return Analysis(image_of(position), finding, way)


def is_proof(node: Any, width: int, height: int, is_answer: bool = False) -> bool:
    """Say whether JSON has the form of a proof on a board: moves, and answers with theirs."""
    if not isinstance(node, dict) or not isinstance(node.get("answers"), list):
        return False
    for name in ("reply", "move") if is_answer else ("move",):
        match node.get(name):
            case [int(x), int(y)] if 0 <= x < width and 0 <= y < height:
                pass
            case _:
                return False
    return all(is_proof(answer, width, height, True) for answer in node["answers"])


def some_way(entry: dict[str, Any]) -> GameRecord | None:
    """Return an order in which an analysis's stones could have been played, if there is one."""
    black, white = _cells(entry["black"]), _cells(entry["white"])
    moves = alternating(black, white)
    if moves is None or entry.get("walls"):
        return None
    if entry["to_move"] != ("white" if len(moves) % 2 else "black"):
        return None
    width, height = entry["size"]
    return GameRecord(
        width, height, Rule.parse(entry["rule"]), tuple(RecordedMove(x, y) for x, y in moves)
    )


def alternating(
    black: Sequence[Coordinates], white: Sequence[Coordinates]
) -> list[Coordinates] | None:
    """Return stones in turn, black first; None if their numbers do not allow it."""
    if not 0 <= len(black) - len(white) <= 1:
        return None
    moves = [cell for pair in zip(black, white, strict=False) for cell in pair]
    return [*moves, *black[len(white) :]]
