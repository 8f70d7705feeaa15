"""The search of one position for a book: plain values in and out, on any thread or machine."""

from __future__ import annotations

import threading
from typing import NamedTuple

from ...engine.engine import Engine, Limit, Move, Thought
from ...notation.canonical import read_key
from ...position.geometry import Coordinates
from ...position.rules import Side
from .entry import BookMove
from .graph import doubles

HASH_BYTES = 32 << 20

_own = threading.local()


class Job(NamedTuple):
    """What is to be searched and how; the result depends on nothing else."""

    key: bytes
    lines: int  # moves that differ by more than symmetry
    nodes: int
    weights: str


class Result(NamedTuple):
    """What was found: moves with values for the side to move, best first."""

    key: bytes
    moves: tuple[BookMove, ...]
    value: int
    depth: int
    nodes: int
    line: tuple[Coordinates, ...]
    proof: str


def search_position(job: Job) -> Result:
    """Search a position with the engine of this thread, which forgets everything before."""
    engine: Engine | None = getattr(_own, "engine", None)
    if engine is None or _own.weights != job.weights:
        if engine is not None:
            engine.close()
        engine = _own.engine = Engine(hash_size=HASH_BYTES, weights=job.weights)
        _own.weights = job.weights
    position = read_key(job.key)
    engine.new_game(position.width, position.height, position.rule)
    engine.clear_hash()
    for side, cells in (
        (Side.BLACK, position.black), (Side.WHITE, position.white), (Side.WALL, position.walls),
    ):  # fmt: skip
        for x, y in cells:
            engine.place(x, y, side)
    engine.set_to_move(position.to_move)
    if engine.game.is_over:
        return Result(job.key, (), 0, 0, 0, (), "")
    exclude = [Move(x, y) for x, y in doubles(job.key)]
    thoughts: dict[int, Thought] = {}

    def listen(thought: Thought) -> None:
        if thought.multipv == 1:  # those of the next depth begin
            thoughts.clear()
        thoughts[thought.multipv] = thought

    limit = Limit(nodes=job.nodes)
    best = engine.think(limit, on_iteration=listen, multipv=job.lines, exclude=exclude)
    thoughts.setdefault(1, best)
    ranked = sorted(thoughts.values(), key=lambda thought: -thought.value)
    moves = {tuple(thought.move): thought.value for thought in reversed(ranked)}
    ordered = sorted(moves.items(), key=lambda pair: -pair[1])
    return Result(
        job.key,
        tuple(((x, y), value) for (x, y), value in ordered),
        ranked[0].value,
        ranked[0].depth,
        best.nodes,
        tuple((x, y) for x, y in ranked[0].pv),
        ranked[0].proof or ("search" if ranked[0].mate is not None else ""),
    )
