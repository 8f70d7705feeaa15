"""Positions that tournaments put to a new engine: each has answers that every rule demands."""

from __future__ import annotations

import pytest

from pbrain_engine.engine.engine import Engine, Limit, Thought
from pbrain_engine.notation.cells import cell_name, parse_moves
from pbrain_engine.position.rules import Rule

pytestmark = pytest.mark.timed

SECONDS = 0.5


def answer(moves: str, rule: Rule, size: int = 15) -> tuple[str, Thought]:
    """Return the engine's move in a position, by name."""
    with Engine(memory=100_000_000) as engine:
        engine.new_game(size, rule=rule)
        for x, y in parse_moves(moves, size):
            engine.play(x, y)
        thought = engine.think(Limit(time=SECONDS))
    assert thought.time < 2 * SECONDS
    return cell_name(*thought.move), thought


@pytest.mark.parametrize("rule", Rule)
def test_a_five_is_taken(rule: Rule) -> None:
    move, thought = answer("h8h9i8i9j8j9k8k9", rule)
    assert move in ("g8", "l8")
    assert thought.mate == 1


def test_standard_stops_the_three_and_does_not_make_six() -> None:
    move, _ = answer("h8h9i8h10g8h11j13h12g14h14i15", Rule.STANDARD)
    assert move in ("f8", "j8")


def test_freestyle_makes_six() -> None:
    move, _ = answer("h8h9i8h10g8h11j13h12g14h14i15", Rule.FREESTYLE)
    assert move in ("h13",)


def test_renju_does_not_play_a_forbidden_cell() -> None:
    move, _ = answer("h8h9i7i9h10i6i11i12", Rule.RENJU)
    assert move != "g9"


@pytest.mark.parametrize("rule", [Rule.CARO, Rule.CARO_EXACT])
def test_caro_does_not_make_a_closed_five(rule: Rule) -> None:
    move, _ = answer("h8f8g8f9i8f7j8l8", rule)
    assert move in ("f5", "f6", "f10", "f11")


def test_freestyle_makes_a_closed_five() -> None:
    move, _ = answer("h8f8g8f9i8f7j8l8", Rule.FREESTYLE)
    assert move == "k8"


@pytest.mark.parametrize("rule", Rule)
@pytest.mark.parametrize("size", [5, 15, 20, 22])
def test_the_first_move_is_near_the_centre(rule: Rule, size: int) -> None:
    with Engine(memory=60_000_000) as engine:
        engine.new_game(size, rule=rule)
        move = engine.think(Limit(depth=3)).move
    assert all(abs(at - (size - 1) / 2) <= 1 for at in move)
