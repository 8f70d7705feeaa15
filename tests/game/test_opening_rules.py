"""Opening rules: every step asks the right player, and refuses what the rule forbids."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pbrain_engine import Game, Rule, Side
from pbrain_engine.game.cells import NotationError, cell_name
from pbrain_engine.game.opening_rules import RULES, Act, OpeningPlay


def random_word(opening: OpeningPlay, chance: random.Random) -> str:
    """Return one of the things that the step of an opening allows."""
    step = opening.step
    if step.act is Act.SWAP:
        return chance.choice(["swap", "keep"])
    if step.act is Act.COUNT:
        return str(chance.randint(step.low, step.high))
    if step.act is Act.BRANCH:
        return chance.choice([name for name, _ in step.branches])
    chosen: list[tuple[int, int]] = []
    while len(chosen) < opening.wanted():
        cell = chance.choice(opening.cells())
        if cell not in opening.twins(chosen):
            chosen.append(cell)
    return "+".join(cell_name(*cell) for cell in chosen)


@pytest.mark.parametrize("name", RULES)
@given(seed=st.integers(0, 10_000))
def test_any_allowed_opening_comes_to_its_end(name, seed):
    chance = random.Random(seed)
    opening = OpeningPlay(RULES[name])
    while opening.step is not None:
        player, before = opening.player, list(opening.stones)
        assert opening.ask().endswith(".")
        opening.play(random_word(opening, chance))
        assert player in (0, 1)
        assert opening.stones[: len(before)] == before
        assert len(set(opening.stones)) == len(opening.stones)
    again = OpeningPlay(RULES[name])
    again.play(" ".join(opening.actions))
    assert (again.stones, again.black, again.count) == (
        opening.stones, opening.black, opening.count
    )  # fmt: skip
    with pytest.raises(NotationError, match="over"):
        opening.play("a1")


def test_an_opening_goes_back_to_each_of_its_stones_with_the_choices_before_it():
    opening = OpeningPlay.named("soosorv-8", actions="h8 h9 i9 swap i10 2 keep g8+j9 g8 a1")
    for ply, actions in enumerate((0, 1, 2, 4, 8, 9)):
        assert opening.back_at(opening.stones[:ply]).actions == opening.actions[:actions]
    assert opening.back_at(opening.stones) is None
    assert opening.back_at([(7, 7), (0, 0)]) is None


def test_twins_are_where_a_symmetry_of_the_position_leads():
    opening = OpeningPlay(RULES["swap"])
    opening.play("h8")
    assert opening.twins([(7, 6)]) == {(7, 6), (7, 8), (6, 7), (8, 7)}
    opening.play("h9")
    assert opening.twins([(6, 7)]) == {(6, 7), (8, 7)}
    opening.play("g8")
    assert opening.twins([(0, 0)]) == {(0, 0)}


def test_a_renju_game_keeps_the_name_of_its_opening():
    game, placed, white = (Game(rule=Rule.RENJU) for _ in range(3))
    stones = (7, 7, Side.BLACK), (7, 6, Side.WHITE), (5, 9, Side.BLACK)
    white.set_to_move(Side.WHITE)
    for x, y, _ in stones:
        game.play(x, y)
        white.play(x, y)
    name = game.opening
    game.set_to_move(Side.BLACK)  # white passes
    for stone in sorted(stones, key=lambda stone: stone[2]):
        placed.place(*stone)
    for each in (game, placed):
        each.play("a1")
    assert name is not None and game.opening == placed.opening == name
    assert white.opening is None
