"""Whose turn it is, and what is left of the clock, counted here without the program."""

from __future__ import annotations

from itertools import combinations

import pytest

from pbrain_engine.position.rules import Side
from pbrain_engine.protocol.settings import Settings
from tests.protocol.test_session import Talk

PAIRS = list(combinations(("time_left", "timeout_turn", "timeout_match"), 2))
CELLS = [(3, 4), (5, 5), (6, 6), (7, 2), (8, 8)]


@pytest.mark.parametrize("back", range(1, len(CELLS) + 1))
def test_after_takebacks_the_next_stone_has_the_right_colour(back: int) -> None:
    talk = Talk().start()
    for x, y in CELLS:
        assert talk.say(f"PLAY {x},{y}") == [f"{x},{y}"]
    for x, y in CELLS[: -back - 1 : -1]:
        assert talk.say(f"TAKEBACK {x},{y}") == ["OK"]
    talk.say("PLAY 12,12")
    left = len(CELLS) - back
    colour = Side.BLACK if left % 2 == 0 else Side.WHITE
    played = [Side.BLACK if ply % 2 == 0 else Side.WHITE for ply in range(left)]
    assert list(talk.stones.items()) == [*zip(CELLS, played, strict=False), ((12, 12), colour)]
    assert talk.engine.game.to_move is colour.opponent


def test_one_takeback_after_an_answer_leaves_the_program_to_move() -> None:
    talk = Talk().start()
    (answer,) = talk.say("TURN 7,7")
    assert talk.say(f"TAKEBACK {answer}") == ["OK"]
    assert talk.engine.game.to_move is Side.WHITE
    assert talk.say("TAKEBACK 7,7") == ["OK"]
    assert talk.engine.game.to_move is Side.BLACK


def test_a_takeback_from_a_board_gives_the_move_to_the_owner_of_the_stone() -> None:
    talk = Talk().start()
    talk.say("YXBOARD", "7,7,1", "8,8,1", "9,9,2", "DONE")  # any stones are accepted
    for cell, owner in (("9,9", Side.WHITE), ("8,8", Side.BLACK), ("7,7", Side.BLACK)):
        assert talk.say(f"TAKEBACK {cell}") == ["OK"]
        assert talk.engine.game.to_move is owner


def test_only_the_last_stone_can_be_taken_back() -> None:
    talk = Talk().start()
    for x, y in CELLS:
        talk.say(f"PLAY {x},{y}")
    for x, y in (*CELLS[:-1], (0, 0)):
        assert talk.say(f"TAKEBACK {x},{y}")[0].startswith("ERROR")
    assert list(talk.stones) == CELLS


# The clock --------------------------------------------------------------------------------


def test_time_left_counts_from_the_moment_it_is_said() -> None:
    settings = Settings()
    settings.update("timeout_match", "100000")
    for said, spent in ((90_000, 4.0), (70_000, 1.5), (80_000, 30.0)):
        settings.update("time_left", str(said))
        assert settings.limits.left == said, "nothing of it has been spent yet"
        settings.spend(spent)
        assert settings.limits.left == said - round(1000 * spent)


def test_time_spent_adds_up_until_the_manager_says_what_is_left() -> None:
    talk = Talk().start()
    settings = talk.session.settings
    talk.say("INFO timeout_match 60000")
    for seconds, left in ((2.0, 58_000), (3.0, 55_000)):
        settings.spend(seconds)
        assert settings.limits.left == left
    talk.say("INFO time_left 57000")
    assert settings.limits.left == 57_000


def test_each_move_earns_its_increment() -> None:
    settings = Settings()
    settings.update("timeout_match", "10000")
    settings.update("time_increment", "2000")
    for seconds, left in ((3.0, 9_000), (2.0, 9_000), (0.5, 10_500)):
        settings.spend(seconds)
        assert settings.limits.left == left


@pytest.mark.parametrize("says", [True, False])
def test_a_new_game_has_its_time_back_unless_the_manager_keeps_the_clock(says: bool) -> None:
    talk = Talk().start()
    settings = talk.session.settings
    settings.update("timeout_match", "60000")
    if says:
        settings.update("time_left", "20000")
    settings.spend(5.0)
    talk.start()
    assert settings.limits.left == (15_000 if says else 60_000)


def test_a_giant_of_time_is_never_used_up() -> None:
    settings = Settings()
    settings.update("time_left", "2147483647")
    settings.spend(10.0**6)
    assert settings.limits.left == 2147483647


@pytest.mark.parametrize("pair", PAIRS)
def test_each_limit_is_its_own(pair: tuple[str, str]) -> None:
    settings = Settings()
    for number, key in enumerate(pair, 1):
        settings.update(key, str(1000 * number))
    limits = settings.limits
    seen = {"time_left": limits.left, "timeout_turn": limits.turn, "timeout_match": limits.match}
    assert [seen[key] for key in pair] == [1000, 2000]
