"""``numoku match``: play the games of a match, record them in a journal, stop when decided.

A game's number determines everything about it, and a game counts once its line is in the journal.
The first interrupt lets running games finish, the second aborts them; the journal can be continued
either way.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict, replace
from functools import partial
from itertools import count, product
from pathlib import Path
from typing import Any

from .. import __version__
from ..errors import INTERRUPTED, FileError, SettingsError, problem_of
from ..files import shown, state_folder
from ..game.documents import played_document
from ..game.record import START, GameRecord
from ..notation.journal import GameLog
from ..options import join_command
from ..protocol.serve import OPTIONS
from ..workers import ClusterError, ClusterPool, Pool
from .arguments import parse, resumed_settings, settings_of
from .openings import Openings
from .players import make_engine
from .pool import LocalGames, play_remotely
from .process import KNOWS_MEMORY, EngineFault, EngineProcess, usable_cores
from .referee import GameTask
from .settings import EngineSpec, MatchSettings, pairs
from .standings import Standings, View, summary

POLL = 0.2  # seconds between two checks for an interrupt
PATIENCE = 2.0  # seconds for an answer to ABOUT; some engines do not know the command
MAX_TITLE = 40
ABOUT_FIELD = re.compile(r"""\b(\w+)\s*=\s*"([^"]*)\"""")  # with or without spaces
HOPELESS = 3  # failed starts of an engine in a row that end the match


class Journal(GameLog):
    """An open journal: its ``settings`` and ``games``, and ``append``.

    Mode ``x+b`` begins a new journal with settings, ``r+b`` continues one.
    """

    settings: MatchSettings

    def __init__(self, path: Path, mode: str, settings: MatchSettings | None = None) -> None:
        super().__init__(path, mode, _head(settings) if settings else None)

    def _use(self, conditions: Mapping[str, Any]) -> None:
        super()._use(conditions)
        if conditions:
            self.settings = MatchSettings.from_json(conditions)

    def change(self, settings: MatchSettings) -> None:
        """Continue with other settings, such as more games."""
        if settings != self.settings:
            head = _head(settings)
            self._use(head["settings"])
            self.write(head)

    def append(self, played: GameRecord) -> None:
        """Write a game to disk, adding the date."""
        played = played._replace(date=played.date or time.strftime("%Y-%m-%d"))
        self.write({"type": "game", **played_document(played)})
        self.by_number[played.number] = played


def _head(settings: MatchSettings) -> dict[str, Any]:
    now = time.strftime("%Y-%m-%dT%H:%M:%S%z")
    head = {"type": "match", "format": 1, "version": __version__, "time": now}
    return {**head, "settings": asdict(settings)}


def read_journal(path: Path) -> tuple[MatchSettings, list[GameRecord]]:
    """Return settings and games of a journal, complete or not; FileError if it is not one."""
    journal = Journal(path, "rb")
    journal.close()
    return journal.settings, journal.games


def tasks(
    settings: MatchSettings, openings: Openings, games: Sequence[GameRecord] = ()
) -> Iterator[GameTask]:
    """Yield the remaining games; rounds with finished games keep their openings."""
    done, known = {played.number for played in games}, {each.round: each.opening for each in games}
    if settings.opening_rule is not None:  # then each game has an opening of its own
        known.clear()
    numbers = count()
    for round_number in range((settings.games + 1) // 2):
        opening = known.get(round_number)
        colours = range(min(2, settings.games - 2 * round_number))
        for (a, b), second in product(pairs(settings), colours):
            if (number := next(numbers)) not in done:
                if opening is None:
                    opening = tuple(openings[round_number])
                black, white = (b, a) if second else (a, b)
                yield GameTask(number, round_number, black, white, opening)


@contextmanager
def caught_interrupts() -> Iterator[list[int]]:
    """Collect SIGINT, SIGTERM and SIGHUP while a match runs.

    Yields a list to which the signals are appended as they arrive. SIGHUP stays ignored under
    ``nohup``.
    """
    caught: list[int] = []
    numbers = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    with ExitStack() as stack:
        if threading.current_thread() is threading.main_thread():
            for number in numbers:
                before = signal.signal(number, lambda number, frame: caught.append(number))
                stack.callback(signal.signal, number, before)
        yield caught


class Runner:
    """One match: ``play`` it, then look at ``standings``."""

    def __init__(
        self,
        openings: Openings,
        pool: Pool[GameTask, GameRecord],
        view: View,
        journal: Journal | None,
    ) -> None:
        self.standings = view.standings
        self.was_interrupted = False
        self.stop_reason = ""
        self._pool = pool
        self._view = view
        self._journal = journal
        self._unstarted: dict[str, int] = {}
        games = journal.games if journal else ()
        self._tasks = tasks(self.standings.settings, openings, games)

    def play(self) -> Standings:
        """Play until all games are done, the test has decided, or the user stops the match."""
        heard = 0  # interrupts so far
        self._decide()
        with caught_interrupts() as caught:
            while True:
                # Signals other than ^C leave no time to finish games.
                if (now := sum(1 if number == signal.SIGINT else 2 for number in caught)) > heard:
                    heard, self.was_interrupted = now, True
                    if heard == 1 and (running := len(self._pool.running)):
                        games = "the running game" if running == 1 else f"{running} running games"
                        text = f"finishing {games}; press ^C again to abort"
                        self._tell(self._view.say, text)
                while len(self._pool.running) < self._pool.capacity():
                    ends = self.was_interrupted or self.stop_reason
                    task = None if ends else next(self._tasks, None)
                    if task is None:
                        break
                    self._pool.submit(task)
                if not self._pool.running or heard > 1:
                    return self.standings
                if played := self._pool.next(POLL):
                    self._count(played)

    def _tell(self, way: Callable[..., None], *what: object) -> None:
        """Show something; if stdout or stderr is closed, end as after one interrupt.

        This happens when ^C ends a ``tee`` first.
        """
        try:
            way(*what)
        except BrokenPipeError:
            self.was_interrupted = True

    def _count(self, played: GameRecord) -> None:
        """Record a finished game."""
        if self._journal:
            self._journal.append(played)
        self.standings.add(played)
        self._tell(self._view.on_result, played)
        if played.reason == START:
            failures = self._unstarted[played.loser] = self._unstarted.get(played.loser, 0) + 1
            if failures >= HOPELESS:
                self.stop_reason = f"{played.loser} cannot be started: {played.detail}"
        else:
            self._unstarted.pop(played.black, None)
            self._unstarted.pop(played.white, None)
        self._decide()

    def _decide(self) -> None:
        """Stop once the sequential test has decided."""
        verdict = self.standings.verdict
        if verdict and verdict.decision and not self.stop_reason:
            hypothesis = "H1" if verdict.decision == "accepted" else "H0"
            self.stop_reason = f"SPRT: {hypothesis} accepted, {verdict}"


def ask_about(spec: EngineSpec) -> EngineSpec:
    """Return an engine with its title from ABOUT; SettingsError if it cannot be started."""
    if spec.builtin:
        return spec
    try:
        process = EngineProcess(spec.command, spec.home, spec.environment)
    except (OSError, ValueError) as error:
        raise SettingsError(f"{spec.name} cannot be started: {problem_of(error)}") from None
    end = time.perf_counter() + PATIENCE
    fields: dict[str, str] = {}
    with closing(process):
        with suppress(EngineFault):
            process.send("ABOUT")
            while not fields and (line := process.receive(max(0.0, end - time.perf_counter()))):
                fields = {key.lower(): value for key, value in ABOUT_FIELD.findall(line.text)}
        process.end()
    version = fields.get("version", "").split()[:1]  # some append their compiler and more
    title = " ".join([*fields.get("name", "").split(), *version])
    return replace(spec, title=shown(title, MAX_TITLE))


def check(settings: MatchSettings) -> None:
    """Check cores, weights, books and levels of our engines; SettingsError if one is missing."""
    for spec in settings.engines:
        if any(dict(spec.options).get(key) for key in OPTIONS):
            try:
                make_engine(spec).close()
            except Exception as error:
                raise SettingsError(f"{spec.name}: {problem_of(error)}") from None
    usable = usable_cores()
    if missing := set(settings.pin).difference(usable):
        known = ", ".join(map(str, usable))
        raise SettingsError(f"--pin: core {min(missing)} is not available, only {known}")


def main(argv: Sequence[str] | None = None) -> int:
    """Play a match; return 0, 1 (stopped before its end) or 130 (interrupted)."""
    options = parse(argv)
    journal: Journal | None = None
    try:
        if options.resume:
            journal = Journal(options.resume, "r+b")
            settings = resumed_settings(journal.settings, options)
        else:
            settings = settings_of(options)
        if not settings.cluster:  # its engines are on other machines
            check(settings)
        if journal:
            journal.change(settings)
        elif not settings.cluster:
            with ThreadPoolExecutor() as pool:
                engines = tuple(pool.map(ask_about, settings.engines))
            settings = replace(settings, engines=engines)
        openings = Openings(settings)
        if journal is None and not options.no_journal:
            try:
                journal = Journal(options.journal or default_journal(), "x+b", settings)
            except OSError as error:
                if options.journal is not None:
                    raise
                cure = "`--journal FILE` names another place, `--no-journal` keeps no games"
                raise FileError(f"{problem_of(error)}; {cure}") from None
        return play(settings, openings, journal, options)
    finally:
        if journal:
            journal.close()


def play(
    settings: MatchSettings, openings: Openings, journal: Journal | None, options: Namespace
) -> int:
    """Play the remaining games, show the progress, and print the result."""
    for line in openings.skipped[:5]:
        print(f"opening left out: {line}", file=sys.stderr)
    if settings.memory and not KNOWS_MEMORY:
        print("the memory of engines is not limited: psutil is not installed", file=sys.stderr)
    view = make_view(Standings(settings, journal.games if journal else ()), options.view)
    with closing(view):
        pool: Pool[GameTask, GameRecord]
        if settings.cluster:
            pool = ClusterPool(partial(play_remotely, settings), settings.cluster)
        else:
            pool = LocalGames(settings, view.on_move)
        with closing(pool):
            runner = Runner(openings, pool, view, journal)
            try:
                runner.play()
            except ClusterError:
                runner.stop_reason = pool.lost
    standings = runner.standings
    is_decided = bool(standings.verdict and standings.verdict.decision)
    print(json.dumps(standings.to_json()) if options.json else summary(standings))
    if runner.stop_reason:
        print(f"stopped: {runner.stop_reason}", file=sys.stderr)
    if journal and (runner.was_interrupted or not options.json):
        path = join_command([str(journal.path)])
        if standings.games < standings.total and not is_decided:
            print(f"continue with: numoku match --resume {path}", file=sys.stderr)
        else:
            print(f"look at the games: numoku report {path}", file=sys.stderr)
    if runner.was_interrupted:
        return INTERRUPTED
    return 1 if runner.stop_reason and not is_decided else 0


def make_view(standings: Standings, kind: str) -> View:
    """Return the view: ``live``, ``plain``, ``quiet``, or ``auto`` by the terminal."""
    if kind == "live" or (kind == "auto" and sys.stderr.isatty()):
        try:
            from .live import RichView

            return RichView(standings)
        except ImportError:  # rich is not installed
            if kind == "live":
                needed = "the live view needs rich: pip install 'pbrain-numoku[tools]'"
                print(needed, file=sys.stderr)
    return View(standings, is_quiet=kind == "quiet")


def default_journal() -> Path:
    """Return the path of a new journal in the user's folder, or in ``NUMOKU_MATCHES``."""
    chosen = os.environ.get("NUMOKU_MATCHES")
    folder = Path(chosen) if chosen else state_folder() / "matches"
    return folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.jsonl"
