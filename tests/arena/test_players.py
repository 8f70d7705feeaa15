"""Openings by a rule in a match: each player takes its steps, or the judge takes them."""

from __future__ import annotations

import sys
from dataclasses import replace
from unittest.mock import Mock

import pytest

from pbrain_engine.arena import players
from pbrain_engine.arena.arguments import parse, settings_of
from pbrain_engine.arena.match import tasks
from pbrain_engine.arena.openings import Openings
from pbrain_engine.arena.pool import GameSeat, close_all
from pbrain_engine.arena.settings import MatchSettings
from pbrain_engine.errors import NumokuError, SettingsError
from pbrain_engine.game.documents import played_document, read_played
from pbrain_engine.game.opening_rules import RULES, OpeningPlay
from pbrain_engine.game.record import ILLEGAL, GameRecord
from pbrain_engine.position.rules import Rule
from tests.arena.test_process import HOSTILE

PROGRAM = f'"{sys.executable}" "{HOSTILE}" swap2'
THREE = "0=7,7_8,7_0,14"


def settings(*words: str) -> MatchSettings:
    limits = ["--turn", "20", "--start-timeout", "60", "--openings", "swap2", "--games", "2"]
    return settings_of(parse([*limits, *words]))


def games(match: MatchSettings) -> list[GameRecord]:
    seat = GameSeat(match)
    try:
        return [seat.play(task) for task in tasks(match, Openings(match))]
    finally:
        close_all([seat])


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(players, "STEP_NODES", 500)


@pytest.mark.parametrize("name", RULES)
def test_engines_of_this_process_play_every_opening_the_same_each_time(name):
    words = ["numoku:nodes=50", "numoku:nodes=50,weights=hand", "--in-process"]
    match = replace(settings(*words), openings=name, rule=RULES[name].rule or Rule.FREESTYLE)
    played = games(match)
    for game in played:
        opening = OpeningPlay.named(name, actions=game.steps)
        assert opening.step is None and tuple(opening.stones) == game.opening
        first = match.engines[game.number % 2].name
        assert (game.white if opening.black else game.black) == first
        written = played_document(game)
        assert read_played(written, 15, 15, match.rule).steps == game.steps
    again = [(game.steps, game.moves, game.black) for game in games(match)]
    assert again == [(game.steps, game.moves, game.black) for game in played]


@pytest.mark.parametrize(
    ("second", "at_five", "steps", "black", "sixth"),
    [
        ("3=SWAP", "5=SWAP", "h8 i8 a15 swap", "b", (0, 0)),
        ("3=5,5", "5=SWAP", "h8 i8 a15 keep", "a", (5, 5)),
        ("3=1,1_2,2", "5=SWAP", "h8 i8 a15 two b2 c3 keep", "a", (0, 0)),
        ("3=1,1_2,2", "5=9,9", "h8 i8 a15 two b2 c3 swap", "b", (9, 9)),
    ],
)
def test_programs_are_asked_as_the_protocol_has_it(second, at_five, steps, black, sixth):
    command = f"{PROGRAM} {THREE} {second} {at_five}"
    game = games(settings(f"a={command}", f"b={command}", "--draw-after", "12"))[0]
    assert (game.steps, game.black, game.reason) == (steps, black, "limit")
    assert game.chosen[0] == sixth
    assert len(game.moves) == 12


@pytest.mark.parametrize(
    ("name", "answers"), [("swap2", "0=UNKNOWN 3=ERROR 5=UNKNOWN"), ("swap", "0=SWAP 3=SWAP")]
)
def test_a_judge_decides_where_programs_or_the_opening_lack_the_command(name, answers):
    command = f"{PROGRAM} {answers}"
    words = ("--draw-after", "12", "--openings", name)
    for game in games(settings(f"a={command}", f"b={command}", *words)):
        assert game.reason == "limit"
        assert OpeningPlay.named(name, actions=game.steps).step is None


def test_a_judge_starts_only_for_programs_without_the_command(monkeypatch):
    monkeypatch.setattr(players, "make_engine", Mock(side_effect=ValueError("no memory")))
    knowing = f"{PROGRAM} {THREE} 3=SWAP"
    match = settings(f"a={knowing}", f"b={knowing}", "--draw-after", "12")
    assert [game.reason for game in games(match)] == ["limit", "limit"]
    with pytest.raises(NumokuError, match="no judge of openings: no memory"):
        games(settings(f"a={PROGRAM} 0=UNKNOWN", f"b={knowing}"))


@pytest.mark.parametrize(
    ("three", "second", "loser", "detail"),
    [
        ("0=7,7_8,7", "3=SWAP", "a", "2 cells in answer to SWAP2BOARD with 0 stones"),
        ("0=SWAP", "3=SWAP", "a", "SWAP in answer to SWAP2BOARD with 0 stones"),
        ("0=7,7_7,7_8,7", "3=SWAP", "a", "h8 is taken. The first player puts the second stone"),
        ("0=7,7_8,7_15,0", "3=SWAP", "a", "15,0 is off the board"),
        ("0=7,7_8,7_0,15", "3=SWAP", "a", "0,15 is off the board"),
        (THREE, "3=7,7_1,1", "b", "h8 is taken"),
        (THREE, "3=7,7", "b", "7,7 (h8) is occupied"),
    ],
)
def test_an_answer_that_is_none_loses_the_game(three, second, loser, detail):
    command = f"{PROGRAM} {three} {second}"
    game = games(settings(f"a={command}", f"b={command}"))[0]
    assert (game.reason, game.loser) == (ILLEGAL, loser)
    assert game.detail.startswith(detail)


def test_the_clock_runs_while_a_program_chooses():
    slow, quick = f"a={PROGRAM} 0=hang", f"b={PROGRAM} 3=SWAP"
    late = games(settings(slow, quick, "--turn", "0.2", "--tolerance", "0"))[0]
    assert (late.reason, late.loser) == ("time", "a")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("rif --rule freestyle", "RIF is played by the rule renju"),
        ("soosorv-8 --board 19", "Soosorv-8 is played on 15x15, not 19"),
        ("swap2 --transform", "--transform turns given openings, not those of Swap2"),
    ],
)
def test_what_the_rule_does_not_allow_is_refused(words, problem):
    with pytest.raises(SettingsError, match=problem):
        settings_of(parse(["numoku", "random", "--openings", *words.split()]))


def test_openings_of_renju_choose_the_rule():
    assert settings_of(parse(["numoku", "random", "--openings", "rif"])).rule is Rule.RENJU
    match = settings("numoku", "random", "--rule", "standard")
    assert match.rule is Rule.STANDARD


def test_games_still_to_be_played_begin_without_stones_of_others():
    match = settings("numoku", "numoku:seed=2", "--in-process")
    done = GameRecord(moves=((7, 7), (8, 8), (0, 1)), given=3, steps="h8 i9 a2 keep")
    assert [task.opening for task in tasks(match, Openings(match), [done])] == [()]
