"""A short search finds the moves that long searches agree on, at least a given share of them.

The positions come from the engine's own games after random openings: *tactical* ones have a forced
win that 400,000 nodes find and 4,000 do not; in *positional* ones the best move is worth at least
80 more than any other, and no win is in sight. In both a search twice as long agrees. A search
by nodes is the same on every machine, so the floors are what is found today (21 tactical and 22
positional), less one for changes that only exchange one position for another.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from pbrain_engine import Engine, Limit, Rule
from pbrain_engine.game.cells import parse_moves
from tests.played import set_up

pytestmark = pytest.mark.slow

FILE = Path(__file__).parents[1] / "positions" / "positions.txt"
NODES = 20_000
FLOORS = {"tactical": 20, "positional": 21}
HASH = 4 << 20


class Position(NamedTuple):
    """A position as the moves that led to it, and the moves that are right."""

    sort: str
    rule: Rule
    size: int
    moves: str
    right: list[tuple[int, int]]


def positions() -> list[Position]:
    """Return all positions of the file."""
    found = []
    for line in FILE.read_text(encoding="utf-8").splitlines():
        sort, rule, size, moves, *right = line.split()
        cells = parse_moves(" ".join(right), int(size))
        found.append(Position(sort, Rule.parse(rule), int(size), moves, cells))
    return found


def finds(engine: Engine, position: Position) -> bool:
    """Return whether a short search wants one of the right moves."""
    set_up(engine, position.moves, position.rule, position.size)
    engine.clear_hash()
    return engine.think(Limit(nodes=NODES)).move in position.right


@pytest.mark.parametrize("sort", FLOORS)
def test_short_searches_find_so_many_of_the_right_moves(sort):
    wanted = [position for position in positions() if position.sort == sort]
    assert len(wanted) == 24
    with Engine(hash_size=HASH) as engine:
        found = [finds(engine, position) for position in wanted]
    missed = [p.moves for p, was_found in zip(wanted, found, strict=True) if not was_found]
    assert sum(found) >= FLOORS[sort], f"found {sum(found)} of {len(wanted)}, not {missed}"
