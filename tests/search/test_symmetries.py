"""Root moves that a symmetry of the position takes to each other are searched once."""

from __future__ import annotations

import ctypes

import pytest

from pbrain_engine import Engine, Limit, Rule, Side
from pbrain_engine.position.geometry import symmetries, transform
from tests.played import set_up


def root_moves(engine: Engine, multipv: int = 1) -> int:
    """Return how many root moves a search of the engine's position has."""
    engine.think(Limit(depth=1), multipv=multipv)
    counters = (ctypes.c_int64 * 4)()
    engine.library.worker_counters(engine.game.address, ctypes.addressof(counters))
    return counters[3]


def orbits(engine: Engine) -> set[frozenset[tuple[int, int]]]:
    """Return the empty cells in groups that the position's symmetries take to each other."""
    game = engine.game
    width, height = game.width, game.height
    cells = [(x, y) for y in range(height) for x in range(width)]
    kept = []
    for number in range(symmetries(width, height)):
        images = transform(cells, number, width, height)
        if all(game.at(*a) == game.at(*b) for a, b in zip(cells, images, strict=True)):
            kept.append(dict(zip(cells, images, strict=True)))
    return {
        frozenset(image[cell] for image in kept) for cell in cells if game.at(*cell) is Side.EMPTY
    }


@pytest.mark.parametrize(
    "moves, width, height",
    [
        ("h8", 15, 15),  # all eight
        ("h8i9g7", 15, 15),  # two diagonals
        ("h8h9h7", 15, 15),  # left and right, top and bottom
        ("h8h9", 15, 15),  # left and right
        ("h8i8g8h7h9", 15, 15),
        ("h8i9", 15, 15),  # one diagonal
        ("k8", 20, 15),  # none: the sides are even and odd
        ("h8", 15, 9),  # top and bottom, not turned
        ("h5", 15, 9),
        ("a1b2", 7, 7),
        ("h8i10", 15, 15),  # none
    ],
)
def test_one_move_of_each_kind_is_left(engine, moves, width, height):
    set_up(engine, moves, size=width, height=height)
    every = root_moves(engine, multipv=2)
    distinct = root_moves(engine)
    kinds = orbits(engine)
    lines = []
    engine.think(Limit(depth=1), multipv=every, on_iteration=lines.append)
    listed = {tuple(thought.move) for thought in lines if thought.move}
    assert len(listed) == every
    assert distinct == sum(1 for kind in kinds if kind & listed)


def test_a_blocked_cell_breaks_the_symmetry(engine):
    set_up(engine, "h8")
    alike = root_moves(engine)
    engine.place(8, 10, Side.WALL)
    engine.set_to_move(Side.WHITE)
    assert root_moves(engine) > 2 * alike


@pytest.mark.parametrize("rule", Rule)
@pytest.mark.parametrize("size", [5, 15, 22])
def test_first_stones_come_at_once_and_near_the_centre(engine, rule, size):
    engine.new_game(size, rule=rule)
    thought = engine.think(Limit(time=60))
    assert thought.move == (size // 2, size // 2) and thought.time < 5
    engine.play(*thought.move)
    answer = engine.think(Limit(nodes=20_000)).move
    assert max(abs(answer.x - size // 2), abs(answer.y - size // 2)) <= 4
