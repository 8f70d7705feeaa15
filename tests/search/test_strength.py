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
from pbrain_engine.game.cells import format_moves, parse_moves
from pbrain_engine.game.record import GameRecord

pytestmark = pytest.mark.slow

FILE = Path(__file__).parents[1] / "positions" / "positions.txt"
NODES = 20_000
FLOORS = {"tactical": 20, "positional": 21}
HASH = 4 << 20


class Position(NamedTuple):
    """A position, and the moves that are right."""

    sort: str
    record: GameRecord
    right: list[tuple[int, int]]


def positions() -> list[Position]:
    """Return all positions of the file."""
    found = []
    for line in FILE.read_text(encoding="utf-8").splitlines():
        sort, rule, width, *cells = line.split()
        size = int(width)
        moves, right = parse_moves(cells[0], size), parse_moves(" ".join(cells[1:]), size)
        found.append(Position(sort, GameRecord(size, size, Rule.parse(rule), (*moves,)), right))
    return found


@pytest.mark.parametrize("sort", FLOORS)
def test_short_searches_find_so_many_of_the_right_moves(sort):
    wanted = [position for position in positions() if position.sort == sort]
    assert len(wanted) == 24
    missed = []
    with Engine(hash_size=HASH) as engine:
        for position in wanted:
            engine.new_game(*position.record.board)
            engine.game.become(position.record)
            engine.clear_hash()
            if engine.think(Limit(nodes=NODES)).move not in position.right:
                missed.append(format_moves(position.record.moves))
    assert len(wanted) - len(missed) >= FLOORS[sort], missed
