"""Openings of self-play by kind, their shares, and games that are played to the full board."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from pbrain_engine import Engine, Move, Rule, cli
from pbrain_engine.learn import selfplay
from pbrain_engine.learn.selfplay import (
    ALL_SQUARE,
    KINDS,
    Plan,
    SelfPlayer,
    format_shares,
    make_opening,
    parse_shares,
    play_game,
    set_up_line,
)
from pbrain_engine.notation.games import Ending, NodePlan, read_about


@pytest.mark.parametrize("board", [7, 15, 20])
@pytest.mark.parametrize("kind", KINDS)
def test_openings_of_a_kind_are_playable_and_look_so(kind, board):
    chance, stones = random.Random(6), Counter[int]()
    reach = 0
    with Engine(hash_size=1 << 20, weights="network") as engine:
        engine.new_game(board, rule=Rule.RENJU)
        for _ in range(12):
            opening = make_opening(engine, chance, board, kind, lambda: 0)
            assert len({*opening}) == len(opening) and set_up_line(engine, opening)
            assert engine.game.moves == opening
            stones[len(opening)] += 1
            xs, ys = zip(*opening, strict=True)
            reach = max(reach, max(xs) - min(xs), max(ys) - min(ys))
    most = {"square": 8, "balanced": board, "wild": board, "swap2": board}[kind]
    assert reach <= most
    assert set(stones) <= {"square": {*range(2, 10)}, "balanced": {*range(1, 10)},
                           "wild": {*range(2, 10)}, "swap2": {3, 5}}[kind]  # fmt: skip
    assert len(stones) >= 2
    if kind == "wild" and board > 7:
        assert reach > 8


def test_a_wild_opening_may_favour_a_side():
    with Engine(hash_size=1 << 20, weights="hand") as engine:
        for kind, left in (("wild", [149]), ("square", []), ("swap2", []), ("balanced", [])):
            values = [400, 149]
            make_opening(engine, random.Random(3), 15, kind, lambda: values.pop(0))  # noqa: B023
            assert values == left, kind


def test_shares_are_read_as_they_are_written_and_add_up_to_one():
    assert parse_shares("square") == ALL_SQUARE
    assert parse_shares("swap2=1, wild=3") == (("wild", 0.75), ("swap2", 0.25))
    assert parse_shares(format_shares(selfplay.MIX)) == selfplay.MIX
    for text in ("", "round", "wild=0", "wild=-1", "wild=x", "wild=nan", "wild=inf", "wild,wild"):
        with pytest.raises(ValueError, match="with shares such as"):
            parse_shares(text)


@pytest.mark.parametrize("openings", ["square", "swap2=1", ""])
@pytest.mark.parametrize("full", ["0.5", ""])
def test_the_head_names_what_is_not_as_it_always_was(openings, full, tmp_path):
    path, words = tmp_path / "games", ["--games", "0", "--processes", "1"]
    words += ["--openings", openings] * bool(openings) + ["--full-share", full] * bool(full)
    assert cli.main(["datagen", str(path), *words]) == 0
    about, named = read_about(path), openings or format_shares(selfplay.MIX)
    assert about.get("openings", "square") == named and about.get("full", "") == full


class Even(SelfPlayer):
    """Sees no advantage, and makes no rows."""

    def judge(self) -> int:
        return 0

    def decide(self, chance: random.Random) -> tuple[Move, int]:
        game = self._engine.game
        apart = [c for c in game.legal_moves() if (c.x + 2 * c.y) % 4 // 2 == game.to_move]
        return chance.choice(apart), 0


def test_an_even_game_is_a_draw_as_soon_as_45_of_100_cells_are_full(engine):
    plan = Plan(1, NodePlan(1), (Rule.FREESTYLE,), (10,), "hand")
    record = play_game(engine, plan, 0, Even(engine, plan))
    assert (len(record.moves), record.ending) == (45, Ending.CALM)
