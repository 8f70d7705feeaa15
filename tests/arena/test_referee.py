"""The referee, the schedule, the openings and the clock, without engines of others."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pbrain_engine.arena.match import ABOUT_FIELD
from pbrain_engine.arena.pool import share_of
from pbrain_engine.arena.process import MAX_LINE
from pbrain_engine.arena.referee import Thinking, agreed_result, read_value
from pbrain_engine.arena.settings import (
    Adjudication,
    EngineSpec,
    MatchSettings,
    parse_engine,
)  # fmt: skip
from pbrain_engine.errors import SettingsError
from pbrain_engine.game.record import GameRecord
from pbrain_engine.position.rules import Rule
from pbrain_engine.values import format_value

A, B = EngineSpec("a", ("a",)), EngineSpec("b", ("b",))


def settings(**changes: object) -> MatchSettings:
    values: dict[str, object] = {"engines": (A, B), "openings": "none"}
    return MatchSettings(**{**values, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "width, rule, judge, stones",
    [(15, Rule.RENJU, True, 200), (20, Rule.RENJU, True, 375), (15, Rule.RENJU, False, 225),
     (15, Rule.CARO, True, 225), (5, Rule.RENJU, True, 1)],
)  # fmt: skip
def test_a_game_is_drawn_at_the_number_of_stones_of_its_judge(width, rule, judge, stones):
    match = settings(width=width, height=width, rule=rule, judge=judge)
    assert match.draw_stones == stones


@pytest.mark.parametrize("value", [0, 5000])
def test_without_terms_no_values_end_a_game(value):
    played = GameRecord(moves=((0, 0),) * 200, values=(value, -value) * 100)
    assert agreed_result(played, Adjudication()) is None


def test_one_engine_is_no_match():
    with pytest.raises(SettingsError):
        settings(engines=(A,))


@pytest.mark.parametrize(
    "text, command, home",
    [
        ("eng.sh", ("HERE/eng.sh",), "HERE"),
        ("sh eng.sh", ("sh", "HERE/eng.sh"), "HERE"),
        ("sh -x sub/eng conf.txt", ("sh", "-x", "HERE/sub/eng", "HERE/conf.txt"), "HERE/sub"),
        ("HERE/bin/python3.11 -u eng.py", ("HERE/bin/python3.11", "-u", "HERE/eng.py"), "HERE"),
        ("python3 eng.py", ("python3", "HERE/eng.py"), "HERE"),
        ("sub/eng conf.txt fast", ("HERE/sub/eng", "HERE/conf.txt", "fast"), "HERE/sub"),
        ("bin/python3.11 -m engine", ("HERE/bin/python3.11", "-m", "engine"), "HERE/bin"),
        ("sh -c fast", ("sh", "-c", "fast"), None),
    ],
)
def test_files_of_a_command_are_found_and_it_runs_in_the_folder_of_its_program(
    text, command, home, tmp_path, monkeypatch
):
    for name in ("eng.sh", "eng.py", "conf.txt", "sub/eng", "bin/python3.11", "sh"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(shutil, "which", lambda word: f"/bin/{word}" if word == "sh" else None)
    here = lambda word: word.replace("HERE", tmp_path.as_posix())  # noqa: E731
    engine = parse_engine(here(text))
    assert [Path(word) for word in engine.command] == [Path(here(word)) for word in command]
    assert engine.home == (str(Path(here(home))) if home else None)


@pytest.mark.timed
@pytest.mark.parametrize("word", ["depth", "ev", "n", "multipv", "(", "ev -", "ev M", "n 1"])
def test_blanks_in_a_report_and_a_title_without_an_end_cost_nothing(word):
    began = time.thread_time()
    Thinking().read_message(f"{word}{' ' * 120}x")
    assert ABOUT_FIELD.findall("x" * MAX_LINE) == []
    assert time.thread_time() - began < 0.1


@given(st.integers(-6000, 6000))
def test_values_are_written_as_they_are_read(value):
    assert read_value(format_value(value)) == value


@pytest.mark.parametrize("cores", [0, 1, 3, 8, 12])
@pytest.mark.parametrize("slots", [1, 3, 4])
def test_slots_share_the_cores_evenly_and_none_twice_where_there_are_enough(cores, slots):
    pin = tuple(range(100, 100 + cores))
    shares = [share_of(pin, number, slots) for number in range(slots)]
    used = Counter(core for share in shares for core in share)
    assert set(used) <= set(pin)
    assert {len(share) for share in shares} == {max(1, cores // slots) if cores else 0}
    assert max(used.values(), default=0) - min((used[core] for core in pin), default=0) <= 1
