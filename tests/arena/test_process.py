"""Engines that misbehave lose the game with the right cause, and nothing else happens."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pbrain_engine.arena import players
from pbrain_engine.arena.match import ask_about, tasks
from pbrain_engine.arena.openings import Openings
from pbrain_engine.arena.pool import LocalGames, close_all
from pbrain_engine.arena.process import EngineFault, EngineProcess
from pbrain_engine.arena.settings import EngineSpec, MatchSettings, parse_engine
from pbrain_engine.game.record import GameRecord

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="process groups and signals of POSIX"),
]

HOSTILE = str(Path(__file__).with_name("hostile.py"))
TOKEN = f"of-test-run-{os.getpid()}"  # on the command lines of our engines, to find them by
HELPFUL = EngineSpec("good", (sys.executable, HOSTILE, "quirks", TOKEN))

# What an engine says in place of a move is judged in tests/golden/players.py, without a process.
CAUSES = {
    "hang": "time", "mute": "mute", "exit": "exit", "crash": "crash", "error-exit": "crash",
    "flood": "flood", "one-endless-line": "flood", "suggest": "flood", "memory": "memory",
    "close-output": "exit", "leave-children": "exit", "die-after-move": "exit",
}  # fmt: skip

# Floods and hoards take their time on a busy machine, but end the game when they are seen.
PATIENT = ("flood", "memory", "one-endless-line", "suggest")


def hostile(mode: str) -> EngineSpec:
    return EngineSpec(mode, (sys.executable, HOSTILE, mode, TOKEN))


def play(games: int = 1, seats: int = 1, **changes: object) -> list[GameRecord]:
    """Play a short match and return its games."""
    values: dict[str, object] = {
        "turn": 0.2, "tolerance": 0.5,  # of the good ones, too, on a busy machine
        "start_timeout": 5.0, "memory": 150_000_000, "openings": "none", "games": games,
        "concurrency": seats,
    }  # fmt: skip
    settings = MatchSettings(**{**values, **changes})  # type: ignore[arg-type]
    pool = LocalGames(settings)
    try:
        for task in tasks(settings, Openings(settings)):
            pool.submit(task)
        found: list[GameRecord] = []
        end = time.monotonic() + 300
        while len(found) < games and time.monotonic() < end:
            found += filter(None, [pool.next(1.0)])
        return found
    finally:
        pool.close()


def processes_with(word: str) -> list[int]:
    """Return the live processes in whose command line a word stands."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with suppress(OSError):
                if word.encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
    return found


def wait_until(condition: Callable[[], object], seconds: float = 60) -> None:
    """Wait for a condition, and fail where it does not come."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.02)


@pytest.fixture
def no_orphans() -> Iterator[None]:
    """Check that no engine outlives the test."""
    yield
    if Path("/proc").is_dir():
        wait_until(lambda: not processes_with(TOKEN), 3)


def check_fault(mode: str, judge: bool = False, log: str = "") -> None:
    """Let an engine misbehave in two games, of which it loses both."""
    began = time.monotonic()
    turn = 8.0 if mode in PATIENT else 0.3 if judge else 0.2
    games = play(2, 2, engines=(hostile(mode), HELPFUL), judge=judge, turn=turn, log=log)
    assert [game.fault for game in games] == [CAUSES[mode]] * 2, [g.detail for g in games]
    assert all(game.loser == mode for game in games)
    assert time.monotonic() - began < 20


@pytest.mark.timed
def test_fault_is_booked_with_its_cause(no_orphans):
    """At most three matches at a time, of engines that do nothing but wait or end."""
    modes = [mode for mode in CAUSES if mode not in PATIENT]
    with ThreadPoolExecutor(3) as apart:
        list(apart.map(check_fault, [*modes, "hang", "exit"], [False] * len(modes) + [True] * 2))


@pytest.mark.timed
@pytest.mark.parametrize(("mode", "judge"), [*((m, False) for m in PATIENT), ("flood", True)])
def test_a_flood_or_hoard_is_booked_with_its_cause(mode, judge, tmp_path, no_orphans):
    check_fault(mode, judge, str(tmp_path))
    if mode == "suggest":  # which is answered once
        lines = (tmp_path / "00001-black.log").read_text(encoding="utf-8").splitlines()
        assert sum(line.endswith("> PLAY 7,7") for line in lines) == 1


def test_a_program_that_does_not_read_delays_nothing(no_orphans):
    # It answers after it was spoken to: what was said before that is forgotten.
    code = "import time; time.sleep(0.5); print('OK', flush=True); time.sleep(600)"
    with closing(EngineProcess([sys.executable, "-c", code, TOKEN])) as process:
        began = time.monotonic()
        process.ask(*["x" * 1000] * 200)
        answer = process.receive(30.0)
        process.end()
        assert answer and answer.text == "OK"
    assert time.monotonic() - began < 60


def test_lines_end_in_any_way_and_tell_when_and_in_how_many_pieces_they_came():
    parts = [b"OK\r", b"7", b",", b"7\r9,9\r", b"\n8,8\n", b"\nlast\r\nword"]
    code = f"""
import sys, time
for part in {parts}:
    time.sleep(0.1)
    sys.stdout.buffer.write(part)
    sys.stdout.buffer.flush()
"""
    began = time.perf_counter()
    with closing(EngineProcess([sys.executable, "-c", code, TOKEN])) as process:
        answers = [answer for _ in range(7) if (answer := process.receive(5.0))]
    said = [(answer.text, answer.chunks) for answer in answers]
    whole = [("9,9", 1), ("8,8", 1), ("", 1), ("last", 1), ("word", 1)]
    assert said == [("OK", 1), ("7,7", 3), *whole]
    times = [began, *(answer.time for answer in answers), time.perf_counter()]
    assert times == sorted(times)


SAYS = "import os, signal, sys, time; "


@pytest.mark.parametrize(
    ("code", "merged", "heard", "fault"),
    [
        ("os.write(1, b'a\\n' * 4)", False, 4, "exit: left the game"),
        ("os.write(1, b'a\\n' * 5)", False, 0, "flood: 5 lines, 10 bytes in one answer"),
        ("os.write(1, b'a' * 39 + b'\\n')", False, 1, "exit: left the game"),
        ("os.write(1, b'a' * 40 + b'\\n')", False, 0, "flood: 1 lines, 41 bytes in one answer"),
        ("os.write(2, b'x\\n y \\n'); os._exit(3)", False, 0, "crash: exit code 3: y"),
        ("os.write(2, b'x' * 30); os._exit(1)", False, 0, f"crash: exit code 1: {'x' * 20}"),
        ("os.write(2, b'x\\ny'); os._exit(3)", True, 2, "crash: exit code 3: y"),
        ("os.write(1, b'z\\n'); os.kill(os.getpid(), 9)", False, 1, "crash: SIGKILL"),
        ("os.close(1); time.sleep(9)", False, 0, "exit: closed its output"),
        ("os.write(1, b'a')", False, 1, "exit: left the game"),
    ],
)  # fmt: skip
def test_a_program_floods_beyond_its_bounds_and_its_end_is_told(
    code, merged, heard, fault, monkeypatch
):
    for name, bound in (("FLOOD_LINES", 4), ("FLOOD_BYTES", 40), ("ERROR_TAIL", 20)):
        monkeypatch.setattr(f"pbrain_engine.arena.process.{name}", bound)
    lines = []
    with (
        closing(EngineProcess([sys.executable, "-c", SAYS + code], merged=merged)) as process,
        pytest.raises(EngineFault) as caught,
    ):
        while line := process.receive(60.0):
            lines.append((line.text, line.chunks))
    assert (str(caught.value), len(lines)) == (fault, heard)
    assert {pieces for _, pieces in lines} <= {1}


@pytest.mark.parametrize("text", [r"\33[2J\0red", r"\33]0;title\7"])
def test_what_an_engine_says_cannot_steer_a_terminal(text: str) -> None:
    fault = EngineFault("garbage", text.encode().decode("unicode_escape"))
    code = f"print('name=\"{text}\"')"
    title = ask_about(EngineSpec("x", (sys.executable, "-c", code))).title
    assert (fault.detail + str(fault) + title).isprintable()
    assert title and fault.detail


def test_a_program_that_does_not_start_has_its_reason_behind_a_long_path(tmp_path):
    path = tmp_path / ("a" * 120) / ("b" * 120)
    (game,) = play(1, engines=(EngineSpec("lost", (str(path),)), HELPFUL))
    assert game.detail.endswith("No such file or directory")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full disk")
def test_a_log_on_a_full_disk_ends_and_the_match_goes_on(tmp_path, monkeypatch, capsys, no_orphans):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    log = tmp_path / "log"
    log.mkdir()
    for name in ("00001-black", "00001-white", "00002-black"):
        (log / f"{name}.log").symlink_to("/dev/full")
    (log / "00002-white.log").mkdir()
    games = play(2, engines=(hostile("flood"), HELPFUL), turn=8.0, log=str(log))
    assert [game.reason for game in games] == ["flood"] * 2, [game.detail for game in games]
    err = capsys.readouterr().err
    assert (err.count("\n"), "No space left on device" in err) == (1, True)
    assert [path.name for path in tmp_path.iterdir()] == ["log"]


def test_kept_engines_have_a_log_for_each_game(tmp_path):
    log = str(tmp_path / "a" / "b")
    play(2, engines=(hostile("steady"), HELPFUL), keep=True, log=log, draw_after=4)
    logs = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.glob("a/b/*")}
    assert len(logs) == 4
    for text in logs.values():
        assert text.count("> START 15") == text.count("< OK") == 1
        assert "> TURN" in text


def test_what_a_program_says_before_it_is_asked_is_in_its_log(tmp_path, monkeypatch):
    class Heard(EngineProcess):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            wait_until(lambda: self._lines)

    monkeypatch.setattr(players, "EngineProcess", Heard)
    program = EngineSpec("early", (sys.executable, "-c", "print('hello', flush=True); input()"))
    match = MatchSettings((program, HELPFUL), log=str(tmp_path))
    with closing(players.ProcessPlayer(program, match)) as player:
        player.launch()
    assert "< hello" in (tmp_path / "game.log").read_text(encoding="utf-8")


def test_every_player_is_closed_whatever_happens():
    closed: list[int] = []

    def fail() -> None:
        closed.append(1)
        raise OSError("no")

    with pytest.raises(OSError, match="no"):
        close_all([SimpleNamespace(close=fail)] * 2)  # type: ignore[list-item]
    assert len(closed) == 2


def test_program_that_does_not_exist_cannot_be_started():
    (game,) = play(1, engines=(HELPFUL, EngineSpec("ghost", ("/nonexistent/pbrain-ghost",))))
    assert (game.reason, game.loser) == ("start", "ghost") and "nonexistent" in game.detail


def test_quirks_are_lived_with(no_orphans):
    (game,) = play(1, engines=(HELPFUL, EngineSpec("other", HELPFUL.command)), draw_after=30)
    assert game.reason == "limit" and not game.fault
    assert ({*game.depths}, {*game.values}, {*game.nodes}) == ({7}, {-42}, {1_203_000})
    assert len(game.times) == len(game.chosen) == 30


@pytest.mark.long
@pytest.mark.timed
@pytest.mark.parametrize("mode", CAUSES)
def test_two_hundred_hostile_games(mode, no_orphans):
    turn = 8.0 if mode in PATIENT else 0.5
    games = play(200, 8, engines=(hostile(mode), HELPFUL), turn=turn, tolerance=0.4)
    assert Counter(game.reason for game in games) == {CAUSES[mode]: 200}
    assert {game.number for game in games} == set(range(200))


def test_a_game_in_this_process_is_broken_off_within_a_move():
    engine = parse_engine("numoku:hash_size=1024")
    settings = MatchSettings((engine, engine), turn=300.0, openings="none", in_process=True)
    pool = LocalGames(settings)
    for task in islice(tasks(settings, Openings(settings)), 3):  # two of them wait
        pool.submit(task)
    time.sleep(1.0)
    began = time.monotonic()
    pool.close()
    assert time.monotonic() - began < 60
