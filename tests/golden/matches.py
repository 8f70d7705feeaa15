"""What is shown and written of some matches: ``python -m tests.golden.matches``.

Their games are made up. What a view says of each, the live view at some sizes, the tables, the
result document, the page, the journal and the other formats. Typed is (see ``records``) after how
many waits of a match a signal comes, or that its engines do not start.
"""

from __future__ import annotations

import io
import os
import re
import signal
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from pbrain_engine import progress
from pbrain_engine.arena import match, report
from pbrain_engine.arena.live import RichView
from pbrain_engine.arena.match import Journal
from pbrain_engine.arena.openings import Openings
from pbrain_engine.arena.referee import GameTask
from pbrain_engine.arena.settings import EngineSpec, MatchSettings, Sprt
from pbrain_engine.arena.standings import Standings
from pbrain_engine.game.record import FAULTS, RESULTS, GameRecord
from tests.golden import texts
from tests.golden.records import Record, numoku, session, stage

NEW, OLD = EngineSpec("<new>", ("a",)), EngineSpec("old & slow", ("b",), title="Old 2.1")
DUEL = MatchSettings((NEW, OLD), games=14, sprt=Sprt(0, 150, 0.1, 0.2), openings="a/b.txt")
SIZES = ((100, 50), (60, 5))  # of a terminal
ENDINGS = ("five", "five", "full", "score", "five", "limit")


def played(settings: MatchSettings, task: GameTask) -> GameRecord:
    """Return a game as its number has it: length, result, ending and what was said of it."""
    number = task.game
    winner = ("black", "white", "black", "draw", "black", "white", "white")[number % 7]
    reason = ENDINGS[number % len(ENDINGS)] if winner != "draw" else "full"
    detail = ""
    if number % 5 == 4 and winner != "draw":
        reason = FAULTS[number % len(FAULTS)]
        detail = "" if number % 2 else f"</script> {number}"
    count = 7 + number % 9
    cells = [((i * 5 + number) % settings.width, i * 5 // settings.width) for i in range(count)]
    steps, given = range(count - 2), [(settings.width - 1, settings.height - 1), (0, 6)]
    return GameRecord(
        settings.width, settings.height, settings.rule, (*given, *cells[2:]), given=len(given),
        number=number, round=task.round, black=settings.engines[task.black].name,
        white=settings.engines[task.white].name,
        result=RESULTS[winner], reason=reason, detail=detail,
        times=tuple(130 * i + number for i in steps),
        depths=tuple(None if i % 5 == 4 else i + number for i in steps),
        values=tuple(None if i % 7 == 6 else 29_990 + i if i == count - 3 else 20 * i * (-1) ** i
                     for i in steps),
        nodes=tuple(None if i % 4 == 1 else 1000 * i for i in steps),
        memory=(10_000_000 + number * 100_000, 0 if number % 3 else 20_000_000),
        seconds=1.25 * number, date="" if number % 2 else f"2026-03-{number + 1:02}",
    )  # fmt: skip


def unstarted(settings: MatchSettings, task: GameTask) -> GameRecord:
    """Return a game that one of the engines, mostly b, does not begin."""
    found, number = played(settings, task), task.game
    if number in (2, 5):  # after which b has to fail anew
        return found
    loser = "a" if number == 1 else "b"
    winner = "white" if found.black == loser else "black"
    return found._replace(
        result=RESULTS[winner], reason="start", detail=f"no {loser}", moves=found.opening,
        times=(), depths=(), values=(), nodes=(),
    )  # fmt: skip


class Shelf:
    """Games of a match that end in the order in which they began, on a clock that they move.

    ``wishes`` are signals, by the number of times that the match has waited before.
    """

    make = staticmethod(played)
    wishes: Mapping[int, signal.Signals] = {}
    now = 100.0

    def __init__(self, what: Any, more: Any) -> None:
        if isinstance(what, partial):  # what workers of a cluster do, and where it is
            print(f"cluster {more}")
            what = what.args[0]
        self.settings: MatchSettings = what
        self.capacity = lambda: what.concurrency
        self.running: deque[GameTask] = deque()
        self.waited = 0

    def submit(self, task: GameTask) -> None:
        print(f"begins {task.game}: {task.black} {task.white} {task.round} {task.opening}")
        self.running.append(task)

    def next(self, timeout: float) -> GameRecord | None:
        self.waited += 1
        Shelf.now += 3.0
        if wish := self.wishes.get(self.waited):
            signal.raise_signal(wish)
        elif self.waited % 4:
            return self.make(self.settings, self.running.popleft())
        return None

    def close(self) -> None:
        print("closed")


def run(words: str, asked: str) -> str:
    """Return what a command says, each game of a page in a line."""
    wishes = {int(n): signal.Signals[name] for n, name in re.findall(r"(\d+): (\w+)", asked)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Shelf, "make", staticmethod(unstarted if "unstarted" in asked else played))
        patch.setattr(Shelf, "wishes", wishes)
        patch.setattr(match, "LocalGames", Shelf)
        patch.setattr(match, "ClusterPool", Shelf)
        patch.setattr(match, "KNOWS_MEMORY", False)
        patch.setattr(match, "usable_cores", lambda: (0, 1, 4))
        said = numoku(words)
    Path(f"{'T' * 6}-7.jsonl").unlink(missing_ok=True)  # where no journal is named
    return said.replace('{"game":', '\n{"game":') if words.endswith(".html") else said


def live(settings: MatchSettings, colour: bool = False) -> Iterator[str]:
    """Yield the live view at some sizes, and what is left of it at its end."""
    games = games_of(settings)
    for width, height in SIZES if len(settings.engines) == 2 else SIZES[:1]:
        out = io.StringIO()
        standings = Standings(settings)
        view = RichView(standings, out)
        view._live.stop()
        kind = "256" if colour else None
        view.console = Console(
            file=out, width=width, height=height, color_system=kind, force_terminal=colour,
            legacy_windows=False,
        )  # fmt: skip
        out.seek(0)
        out.truncate()
        six = tuple((x, y) for x in range(6) for y in (0, 2))[:-1]  # of black's in a row
        rows = [game._replace(moves=six, reason=why)
                for game in games[-1:] for why in ("five", "time")]  # fmt: skip
        for slot, game in enumerate(rows if colour else games[-3:]):
            view.on_move(2 - slot, game)
        for game in games:
            standings.add(game)
            view.on_result(game)
        view.console.print(view.render())
        view.say("said")
        lines = out.getvalue().replace("\x1b", "^").splitlines()
        yield f"live view of {width}x{height}"
        yield from (texts.brief(f"|{line.rstrip()}") for line in lines)


def games_of(settings: MatchSettings) -> list[GameRecord]:
    """Return all games of a match."""
    settings = replace(settings, openings="none")
    return [played(settings, task) for task in match.tasks(settings, Openings(settings))]


def keep(name: str, settings: MatchSettings, games: bool = True) -> None:
    """Write the journal of a match."""
    journal = Journal(Path(name), "x+b", settings)
    for game in games_of(settings) if games else ():
        journal.append(game)
    journal.close()


@Record("matches")
def matches(record: str) -> str:
    """Return the record of all of it, of which another one has what is asked."""
    with stage() as patch:
        patch.setattr(time, "strftime", lambda form: "T" * form.count("%"))
        patch.setattr(os, "getpid", lambda: 7)
        patch.setattr(match, "__version__", "9.9")
        patch.setattr(progress, "perf_counter", lambda: Shelf.now)
        patch.delenv("NO_COLOR", raising=False)
        patch.setattr(Shelf, "now", 100.0)
        here = str(Path.cwd())
        patch.setenv("NUMOKU_MATCHES", here)
        patch.setattr(report.webbrowser, "open", lambda place: print(f"shows {place[:8]}"))
        patch.setattr(sys, "executable", "PYTHON")
        patch.setattr(report, "VIEWER", "VIEWER\n")
        return session(record, dict(globals()), run).replace(here, "HERE")
