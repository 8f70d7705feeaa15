"""Opening rules: every step asks the right player, and refuses what the rule forbids."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pbrain_engine.game.cells import NotationError, cell_name
from pbrain_engine.game.opening_rules import RULES, Act, OpeningPlay
from pbrain_engine.position.rules import Side


def random_word(opening: OpeningPlay, chance: random.Random) -> str:
    """Return one of the things that the step of an opening allows."""
    step = opening.step
    assert step is not None
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


@pytest.mark.parametrize("name", RULES)
def test_what_needs_no_thought_is_allowed_at_every_step(name):
    opening = OpeningPlay(RULES[name])
    while opening.step is not None:
        opening.play(opening.plain())
    assert opening.stones[0] == (7, 7)
    assert "swap" not in opening.actions


# Who acts at each step, as the rules say it: 0 is the player who begins.
@pytest.mark.parametrize(
    ("name", "words", "players", "black"),
    [
        ("swap", "h8 i9 a1 swap", [0, 0, 0, 1], 1),
        ("swap2", "h8 i9 a1 keep", [0, 0, 0, 1], 0),
        ("swap2", "h8 i9 a1 swap", [0, 0, 0, 1], 1),
        ("swap2", "h8 i9 a1 two b2 c3 swap", [0, 0, 0, 1, 1, 1, 0], 1),
        ("rif", "h8 i9 j9 keep k8 g7+a1 a1 g9", [0, 0, 0, 1, 1, 0, 1, 1], 0),
        ("rif", "h8 i9 j9 swap k8 g7+a1 a1 g9", [0, 0, 0, 1, 0, 1, 0, 0], 1),
        ("yamaguchi", "h8 i9 j9 3 keep k8 g7+a1+b1 a1 g9", [0, 0, 0, 0, 1, 1, 0, 1, 1], 0),
        ("soosorv-8", "h8 i9 j9 keep k8 1 swap g7 g7 g9", [0, 0, 0, 1, 1, 1, 0, 1, 0, 0], 1),
        ("taraguchi-10", "h8 keep i9 swap j10 keep k8 one swap g7 keep g9",
         [0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 1, 1], 0),
        ("taraguchi-10", "h8 swap i9 keep j9 keep k8 ten "
         "a1+b1+c1+d1+e1+f1+g1+h1+i1+j1 c1 a1", [0, 1, 0, 1, 1, 0, 0, 1, 1, 0, 0], 1),
    ],
)  # fmt: skip
def test_each_step_asks_the_player_whom_the_rule_names(name, words, players, black):
    opening = OpeningPlay(RULES[name])
    asked = []
    for word in words.split():
        asked.append(opening.player)
        opening.play(word)
    assert opening.step is None
    assert (asked, opening.black) == (players, black)


@pytest.mark.parametrize(
    ("name", "before", "word", "why"),
    [
        ("rif", "", "h9", "h9 is not allowed there. The first player puts the first stone in the"),
        ("rif", "h8", "h8", "h8 is taken"),
        ("rif", "h8", "h10", "in the central 3x3"),
        ("rif", "h8 h9", "h5", "in the central 5x5"),
        ("rif", "h8 h9 h10 keep g7", "g8", "1 offered, not 2"),
        ("rif", "h8 h9 h10 keep h7", "g8+i8", "i8 is symmetric to another one, or the same"),
        ("rif", "h8 h9 h10 keep g7", "g8+g8", "symmetric to another one, or the same"),
        ("rif", "h8 h9 h10 keep g7 g8+i8", "a1", "a1 was not offered"),
        ("yamaguchi", "h8 h9 h10", "11", "a number from 1 to 10"),
        ("soosorv-8", "h8 h9 h10 keep a1", "0", "a number from 1 to 8"),
        ("soosorv-8", "h8 h9 h10", "h11", "say swap or keep"),
        ("taraguchi-10", "h8 keep h9 keep h10 keep", "d8", "in the central 7x7"),
        ("taraguchi-10", "h8 keep h9 keep h10 keep g8", "two", "choose one, ten"),
        ("swap2", "a1 b1", "a1", "a1 is taken"),
        ("swap2", "a1 b1", "p1", "p1 is off the 15x15 board"),
    ],
)
def test_what_a_rule_forbids_is_refused_with_the_reason(name, before, word, why):
    opening = OpeningPlay(RULES[name])
    opening.play(before)
    stones, left = list(opening.stones), opening.step
    with pytest.raises(NotationError, match=why.replace("+", r"\+")):
        opening.play(word)
    assert (opening.stones, opening.step) == (stones, left)


def test_twins_are_where_a_symmetry_of_the_position_leads():
    opening = OpeningPlay(RULES["swap"])
    opening.play("h8")
    assert opening.twins([(7, 6)]) == {(7, 6), (7, 8), (6, 7), (8, 7)}
    opening.play("h9")
    assert opening.twins([(6, 7)]) == {(6, 7), (8, 7)}
    opening.play("g8")
    assert opening.twins([(0, 0)]) == {(0, 0)}


def test_a_rule_of_renju_needs_its_board():
    with pytest.raises(NotationError, match="RIF is played on 15x15, not 20"):
        OpeningPlay(RULES["rif"], 20)
    assert OpeningPlay(RULES["swap2"], 20).cells()[-1] == (19, 19)
    assert OpeningPlay(RULES["swap2"], 9, 20).cells()[-1] == (8, 19)


def test_what_a_player_did_last_is_taken_back_with_what_followed():
    opening = OpeningPlay.named("soosorv-8", actions="h8 i9 j10 swap g9 2 keep")
    assert [player for player, _ in opening.history] == [0, 0, 0, 1, 0, 0, 1]
    before = opening.taken_back(0)
    assert before is not None and before.actions == "h8 i9 j10 swap g9".split()
    before = opening.taken_back(1)
    assert before is not None and (before.actions[-1], before.black) == ("2", 1)
    assert OpeningPlay.named("soosorv-8", actions="h8").taken_back(1) is None
    with pytest.raises(NotationError, match="no opening rule"):
        OpeningPlay.named("none")


def test_a_colour_is_taken_by_keeping_or_changing_sides():
    opening = OpeningPlay.named("swap2", actions="h8 i9 j10")
    assert (opening.taking(Side.BLACK), opening.taking(Side.WHITE)) == ("swap", "keep")
    opening.play("two a1 b1")
    assert (opening.taking(Side.BLACK), opening.taking(Side.WHITE)) == ("keep", "swap")
    assert opening.colour_of(1) is Side.WHITE
