"""What a desk's engine is asked: to look at a position, to play, to choose in swap2."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

from .. import __version__
from ..commands.dialogue import KEEPING_LEVEL
from ..commands.kept import position_of
from ..commands.levels import LEVELS, choose
from ..commands.setup import Setup
from ..engine import forms, swap2
from ..engine.engine import ALPHABETA, SEARCHES, Engine, Limit, Thought
from ..position.geometry import MAX_BOARD, MIN_BOARD
from ..position.rules import Rule
from ..values import WIN_BAND
from .archive import Archive
from .desk import DEFAULT_MEMORY, Desk, Job
from .positions import facts, game_of, setup_of
from .refusal import Refused

Tell = Callable[[dict[str, Any]], None]  # takes what is known so far, for the page

Shares = list[dict[str, Any]]

KEEPING_GAP = 5.0  # seconds of an analysis that may be lost if the server is killed
MOST_POLICY = 40  # moves of the policy that are shown
SWAP2_STONES = (0, 3, 5)


class Stopped(Exception):
    """The job was stopped before it knew anything."""


def playable(setup: Setup) -> None:
    """Refuse positions in which there is nothing to think about."""
    game = game_of(setup)
    if game.is_over:
        raise Refused("the game is over")


def analyse(desk: Desk, job: Job, message: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Search a position, telling of every depth; without a limit until it is stopped."""
    setup = setup_of(message["position"])
    playable(setup)
    limit = Limit(time=message["time"], nodes=message["nodes"], depth=message["depth"])
    is_limited = limit != Limit()
    threads, memory, search = message["threads"], message["memory"], message["search"]
    engine = desk.engine(setup, threads, memory, search, fresh=is_limited)
    policy = policy_of(engine) if message["policy"] else None
    report = _Report(engine, tell, policy, desk.archive)
    thought: Thought | None = None
    while not job.is_stopped:
        way = None if is_limited else report.giving_way(desk.give_way)
        with desk.turns.turn(threads, way, lambda: job.is_stopped):
            engine.arm()
            if job.is_stopped:
                break
            report.begin()
            thought = engine.think(limit, on_iteration=report.note, multipv=message["multipv"])
            if not report.gave_way:
                break
    if thought is None:
        raise Stopped
    report.keep()
    lines = report.end(thought)
    report.keep()
    document = {**report.document(), "stopped": job.is_stopped}
    if not job.is_stopped:  # a line is played out to the five
        with desk.turns.turn(1, None, lambda: job.is_stopped):
            document.update(forms.analysis_form(engine, lines))
    return document


def policy_of(engine: Engine) -> Shares:
    """Return the moves that look best before any search, with their shares."""
    best = engine.policy()[:MOST_POLICY]
    return [{"cell": list(move), "share": round(share, 4)} for move, share in best]


class _Report:
    """What an analysis has found so far, over all the slices of time that it was given."""

    def __init__(self, engine: Engine, tell: Tell, policy: Shares | None, archive: Archive) -> None:
        self._engine = engine
        self._policy = policy
        self._tell = tell
        self._archive = archive
        self._position = position_of(engine.game)  # while a search runs there are more stones
        self._kept = perf_counter()  # when the database was told last
        self.latest: dict[int, Thought] = {}
        self._before = 0  # nodes of earlier slices
        self._spent = 0.0  # seconds of earlier slices
        self._nodes = 0
        self._seconds = 0.0
        self._depth = 0
        self.gave_way = False

    def giving_way(self, stop: Callable[[], None]) -> Callable[[], None]:
        def give_way() -> None:
            self.gave_way = True
            stop()

        return give_way

    def begin(self) -> None:
        """Begin a slice: what was reached before is kept until the search is that deep again."""
        self.gave_way = False
        self._before, self._spent = self._nodes, self._seconds

    def note(self, thought: Thought) -> None:
        self._nodes = self._before + thought.nodes
        self._seconds = self._spent + thought.time
        is_behind = thought.depth < self._depth and self._engine.search == ALPHABETA
        if is_behind and abs(thought.value) < WIN_BAND:  # not as deep yet as the slice before
            return
        if thought.multipv == 1:
            self.latest = {}
            self._depth = thought.depth
        self.latest[thought.multipv] = thought
        self._tell(self.document())
        if perf_counter() - self._kept > KEEPING_GAP:
            self.keep()

    def keep(self) -> None:
        """Tell the database what the best line says; it keeps the deepest."""
        self._kept = perf_counter()
        if 1 in self.latest:
            self._archive.note(self._position, self.latest[1], self._engine.weights.key)

    def end(self, best: Thought) -> list[Thought]:
        """Return the lines with what the search returned as the first of them."""
        self.latest[1] = best
        return list(self.latest.values())

    def document(self) -> dict[str, Any]:
        """Return the lines, and the effort of all slices together."""
        lines = [forms.thought_form(thought) for thought in self.latest.values()]
        first = lines[0] if lines else {}
        return {
            **forms.game_form(self._engine.game),
            **first,
            "nodes": self._nodes,
            "time": round(self._seconds, 4),
            "lines": lines,
            "network": self._engine.network,
            **({} if self._policy is None else {"policy": self._policy}),
        }


def move(desk: Desk, job: Job, message: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Choose the engine's move in a game against a person, by its level."""
    setup = setup_of(message["position"])
    playable(setup)
    engine = desk.engine(setup, message["threads"], message["memory"])
    with desk.turns.turn(message["threads"], None, lambda: job.is_stopped):
        if job.is_stopped:
            raise Stopped
        number = message["level"]
        known = desk.archive.certain(engine.game) if number >= KEEPING_LEVEL else None
        chance = random.Random()
        thought = known or choose(engine, LEVELS[number], message["seconds"], chance)
    if number >= KEEPING_LEVEL and known is None:
        desk.archive.note(position_of(engine.game), thought, engine.weights.key)
    return forms.thought_form(thought)


def choose_side(desk: Desk, job: Job, message: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Decide in swap2: put three stones, or with three or five there take a side or put two."""
    setup = setup_of(message["position"])
    if setup.placed or len(setup.moves) not in SWAP2_STONES:
        raise Refused("swap2 is decided with 0, 3 or 5 stones on the board")
    playable(setup)
    engine = desk.engine(setup, 1, DEFAULT_MEMORY)
    shape = setup.width, setup.height, setup.rule
    with desk.turns.turn(1, None, lambda: job.is_stopped):
        if job.is_stopped:
            raise Stopped
        searcher = _searcher(engine, job, perf_counter() + message["seconds"])
        if setup.moves:
            choice = swap2.choose(searcher, *shape, setup.moves)
        else:
            choice = swap2.first_three(searcher, *shape)
    return {"swap": choice.swap, "stones": forms.pairs(choice.stones)}


def _searcher(engine: Engine, job: Job, until: float) -> swap2.Searcher:
    """Return the engine with searches that share the time that is left."""

    def limit(share: float) -> Limit:
        return Limit(time=max((until - perf_counter()) * share, 0.01))

    def think(share: float, count: int) -> list[Thought]:
        if job.is_stopped:
            raise Stopped
        found: dict[int, Thought] = {}
        best = engine.think(
            limit(share), on_iteration=lambda t: found.update({t.multipv: t}), multipv=count
        )
        return list({**found, 1: best}.values())

    def deepen(share: float, note: swap2.Note) -> list[Thought]:
        if job.is_stopped:
            raise Stopped
        found: list[Thought] = []

        def listen(thought: Thought) -> None:
            found.append(thought)
            note(thought)

        last = engine.think(limit(share), on_iteration=listen)
        return found or [last]

    return swap2.Searcher(engine, think, deepen)


def look(message: Mapping[str, Any]) -> dict[str, Any]:
    """Say what the rules say about a position; no search."""
    return facts(game_of(setup_of(message["position"])))


def about(message: Mapping[str, Any]) -> dict[str, Any]:
    """Say what the engine can do."""
    return {
        "version": __version__,
        "rules": [rule.name.lower() for rule in Rule],
        "sizes": [MIN_BOARD, MAX_BOARD],
        "searches": list(SEARCHES),
        "threads": os.cpu_count() or 1,
        "memory": DEFAULT_MEMORY,
        "levels": [{"level": number, **level._asdict()} for number, level in LEVELS.items()],
    }
