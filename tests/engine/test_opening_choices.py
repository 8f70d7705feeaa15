"""How the engine plays opening rules: its choices follow the values of its searches."""

from __future__ import annotations

import random
from time import perf_counter

import pytest

from pbrain_engine import Move, Rule, Thought
from pbrain_engine.engine import opening_choices
from pbrain_engine.engine.opening_choices import FINALISTS, FOURTHS, SCREENED, decide, fifths
from pbrain_engine.engine.swap2 import share_time
from pbrain_engine.game.cells import cell_name
from pbrain_engine.game.opening_rules import RULES, Act, OpeningPlay
from pbrain_engine.game.result import Listener
from tests.engine.test_swap2 import searcher


def by_column(stones: set[Move]) -> int:
    """For the side to move: black likes columns to the right; each is worth ten."""
    black = sum(10 * (move.x - 7) for move in stones)
    return black if len(stones) % 2 == 0 else -black


def after(name: str, words: str) -> OpeningPlay:
    opening = OpeningPlay(RULES[name])
    opening.play(words)
    return opening


@pytest.mark.parametrize(
    ("name", "words", "value", "choice"),
    [  # the value is black's
        ("swap", "h8 i9 a1", 50, "swap"),  # the second player has white
        ("swap", "h8 i9 a1", -50, "keep"),
        ("soosorv-8", "h8 i9 j9 keep k8 4", 50, "keep"),  # black decides
        ("soosorv-8", "h8 i9 j9 keep k8 4", -50, "swap"),
        ("soosorv-8", "h8 i9 j9 swap k8 4", -50, "swap"),
        ("taraguchi-10", "h8 keep i9 keep j10 keep k8 one keep f8", 50, "swap"),
        ("taraguchi-10", "h8 keep i9 keep j10 keep k8 one keep f8", -50, "keep"),
        ("taraguchi-10", "h8", -50, "swap"),  # who puts no stone next may change sides after it
        ("taraguchi-10", "h8 swap i9", 50, "swap"),
        ("taraguchi-10", "h8 keep i9 keep j10", -50, "swap"),
        ("soosorv-8", "h8 i9 j9", -50, "swap"),
        ("taraguchi-10", "h8 keep i9 keep j10 keep k8 one", 50, "swap"),
    ],
)
def test_sides_are_changed_where_the_other_colour_stands_better(name, words, value, choice):
    opening = after(name, words)
    search = searcher(lambda stones: value if len(stones) % 2 == 0 else -value)
    assert decide(search, opening, random.Random(1)) == choice


def test_black_offers_his_best_fifth_stones_and_white_takes_the_worst_of_them():
    opening = after("rif", "h8 i9 j9 keep k8")
    search = searcher(by_column)
    listed = fifths(search, opening, opening.stones, 5, 1.0)
    assert [value for value, _ in listed] == sorted((v for v, _ in listed), reverse=True)
    offer = decide(search, opening, random.Random(1))
    assert set(offer.split("+")) == {cell_name(*cell) for _, cell in listed[:2]}
    opening.play(offer)
    chosen = decide(search, opening, random.Random(1))
    columns = {word: word[0] for word in offer.split("+")}
    assert columns[chosen] == min(columns.values())


def test_a_fourth_stone_comes_with_its_number_and_is_searched_once():
    opening = after("soosorv-8", "h8 i9 j9 keep")
    before = searcher(by_column)
    asked: list[list[Move]] = []

    def think(share: float, count: int, listener: Listener) -> Thought:
        asked.append(list(before.engine.game.moves))
        return before.think(share, count, listener)

    words = decide(before._replace(think=think), opening, random.Random(1))
    assert len(asked) == len({tuple(moves) for moves in asked}) == 1 + FOURTHS
    opening.play(words)
    assert opening.step is not None and opening.step.act is Act.SWAP and opening.count


@pytest.mark.parametrize(
    ("name", "words"), [("yamaguchi", "h8 i9 j9"), ("soosorv-8", "h8 i9 j9 keep")]
)
def test_a_number_reckons_with_all_good_fourth_stones(name, words, monkeypatch):
    best = iter([100, 80, 50, 90])  # black's best fifth stone after each fourth one; others less

    def listed(*_: object) -> list[tuple[int, tuple[int, int]]]:
        first = next(best)
        return [(first - 10 * rank, (rank, 0)) for rank in range(12)]

    monkeypatch.setattr(opening_choices, "fifths", listed)
    decided = decide(searcher(by_column), after(name, words), random.Random(1))
    assert decided.split()[-1] == "6"


def test_an_even_stone_has_two_fifths_of_the_time_for_the_first_look_and_the_rest_for_the_best(
    monkeypatch,
):
    opening = after("taraguchi-10", "h8 swap i9 keep")
    before, left, spent = searcher(by_column), 1.0, dict[int, float]()
    monkeypatch.setattr(before.engine, "value", lambda: 0)

    def think(share: float, count: int, listener: Listener) -> Thought:
        nonlocal left
        stones = hash(tuple(before.engine.game.moves))
        spent[stones] = spent.get(stones, 0) + left * share
        left -= left * share
        return before.think(share, count, listener)

    decide(before._replace(think=think), opening, random.Random(1))
    shares = sorted(spent.values(), reverse=True)
    assert len(shares) == SCREENED and left == pytest.approx(0)
    assert shares[:FINALISTS] == pytest.approx([0.4 / SCREENED + 0.6 / FINALISTS] * FINALISTS)
    assert shares[FINALISTS:] == pytest.approx([0.4 / SCREENED] * (SCREENED - FINALISTS))


def test_offers_are_never_symmetric():
    opening = after("rif", "h8 h9 h10 keep h7")
    search = searcher(by_column)
    for seed in range(5):
        offer = decide(search, opening, random.Random(seed))
        after("rif", f"h8 h9 h10 keep h7 {offer}")  # it is accepted


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("seed", range(2))
def test_the_engine_plays_every_opening_to_its_end(engine, name, seed):
    rule, chance = RULES[name], random.Random(seed)
    engine.new_game(15, rule=rule.rule or Rule.FREESTYLE)
    opening = OpeningPlay(rule)
    while opening.step is not None:
        is_swap = opening.step.act is Act.SWAP
        word = decide(share_time(engine, perf_counter() + 0.02), opening, chance)
        if is_swap and chance.random() < 0.5:  # the other player may think otherwise
            word = chance.choice(["swap", "keep"])
        opening.play(word)
    assert len(opening.stones) in (3, 5, 6)


@pytest.mark.parametrize(
    ("name", "words"), [("rif", "h8"), ("rif", "h8 i9"), ("swap", "a1"), ("swap2", "a1 b1 c9 two"),
                        ("swap2", "a1 b1 c9 two o15"), ("soosorv-8", "h8 i9 j9 swap a1 3")]
)  # fmt: skip
def test_the_engine_goes_on_from_the_middle_of_a_step(engine, name, words):
    opening = after(name, words)
    engine.new_game(15, rule=opening.rule.rule or Rule.FREESTYLE)
    before = opening.step, len(opening.stones), opening.offered
    opening.play(decide(share_time(engine, perf_counter() + 0.05), opening, random.Random(1)))
    assert before != (opening.step, len(opening.stones), opening.offered)
