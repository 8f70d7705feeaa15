"""What a match says to engines, and what it takes from them: ``python -m tests.golden.players``.

The engines are models in this process, on a clock that moves only while the match waits. A session
(see ``records``) has games, with the words of the match, of which the dialogues and the results are
recorded. ``a`` and ``b`` say what an engine says at its Nth question, of which START is number 0:
seconds and text. There ``|`` parts lines, ``?`` stands for a move, ``!CAUSE`` for an engine that is
lost and ``#MB`` for memory that it takes; all other answers are as they should be. ``about`` is how
an engine is asked for its name, and ``report`` what is understood of a search.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

from pbrain_engine.arena import match, players, pool, referee
from pbrain_engine.arena.arguments import parse, settings_of
from pbrain_engine.arena.pool import GameSeat
from pbrain_engine.arena.process import EngineFault, TimedLine
from pbrain_engine.arena.referee import GameTask, Thinking
from pbrain_engine.arena.settings import EngineSpec
from pbrain_engine.engine.engine import Limit
from pbrain_engine.errors import SettingsError
from pbrain_engine.game.cells import format_moves, parse_moves
from pbrain_engine.game.game import Game
from pbrain_engine.game.record import GameRecord
from pbrain_engine.position.rules import Side
from tests.golden import texts
from tests.golden.records import Record, session

QUESTIONS = ("BEGIN", "TURN", "DONE")
USUAL = "--turn 2 --openings none --memory 100 --start-timeout 4 --draw-after 6 --games 1"
Answers = dict[int, tuple[float, str]]  # seconds that it takes, and text, by number


class Stage:
    """The clock and the record of a game, and the memory of its engines."""

    def __init__(self) -> None:
        self.now = 100.0
        self.lines: list[str] = []
        self.started = 0
        self.memory: dict[int, int] = {}

    def read(self) -> float:
        return self.now

    def say(self, who: int, text: str) -> None:
        """Add to the record; what happens at one moment stands together."""
        moment = f"{self.now - 100:.2f} "
        if self.lines and self.lines[-1].startswith(moment):
            self.lines[-1] += f" / {'ab'[who % 2]} {text}"
        else:
            self.lines.append(f"{moment}{'ab'[who % 2]} {text}")


class Actor:
    """An engine in place of a process."""

    def __init__(
        self, stage: Stage, answers: Answers, command: Sequence[str], folder: str | None,
        environment: Any, cores: Any, guardian: Any, transcript: Any, merged: bool = False,
    ) -> None:  # fmt: skip
        self.stage, self.transcript = stage, transcript
        self.pid, stage.started = stage.started, stage.started + 1
        self.answers = answers
        self.numbers = count()
        self.queue: deque[tuple[float, str]] = deque()
        self.stones = 0
        place = "a folder of its own" if "numoku-" in str(folder) else str(folder)
        words = f"{' '.join(command[-2:])} in {place}, cores {cores}, guarded {bool(guardian)}"
        stage.say(
            self.pid, f"starts {words}{', merged' * merged}{', with more' * bool(environment)}"
        )

    def ask(self, *lines: str) -> float:
        self.queue.clear()
        return self.send(*lines)

    def send(self, *lines: str) -> float:
        self.stage.say(self.pid, f"> {'|'.join(lines)}")
        word = lines[-1].split()[0]
        if "START" in lines[0] or word in QUESTIONS:
            number = next(self.numbers)
            pause = 0.2 if self.pid % 2 else 0.1 + 0.1 * (number % 4)
            usual = (0.1, "OK") if "START" in lines[0] else (pause, "?")
            seconds, text = self.answers.get(number, usual)
            if "START" in lines[0]:
                self.stones = 0
            for said in filter(None, text.split("|")):
                if said.startswith("#"):
                    self.stage.memory[self.pid] = int(said[1:]) << 20
                else:
                    self.queue.append((self.stage.now + seconds, said))
        return self.stage.now

    def receive(self, timeout: float) -> TimedLine | None:
        stage = self.stage
        if not self.queue or self.queue[0][0] > stage.now + timeout:
            stage.now += timeout
            return None
        when, text = self.queue.popleft()
        stage.now = max(stage.now, when)
        if text.startswith("!"):
            raise EngineFault(text[1:], "it is gone")
        if text == "?":
            text = f"{2 * self.stones},{self.pid % 2}"
            self.stones += 1
        stage.say(self.pid, f"< {text[:60]}")
        return TimedLine(text, when, 1)

    def suspend(self, resumes: bool = False) -> None:
        self.stage.say(self.pid, "goes on" if resumes else "is stopped")

    def end(self) -> None:
        self.stage.say(self.pid, "is asked to end")

    def close(self) -> None:
        self.stage.say(self.pid, "is closed")


class Thinker:
    """An engine of this process."""

    def __init__(self, stage: Stage, spec: EngineSpec) -> None:
        self.stage, self.who = stage, "ab".index(spec.name)
        stage.say(self.who, f"is made, {spec.options}")

    def new_game(self, *words: Any) -> None:
        self.game = Game(*words)
        self.stage.say(self.who, f"new game {words}")

    def play(self, x: int, y: int) -> None:
        self.game.play(x, y)
        self.stage.say(self.who, f"plays {x},{y}")

    def think(self, limit: Limit) -> Any:
        known = [number if number is None else round(number, 3) for number in limit]
        self.stage.say(self.who, f"thinks {known}")
        self.stage.now += 0.3
        cells = ((x, y) for y in range(self.who, 9, 2) for x in range(0, 9, 2))
        move = next(cell for cell in cells if self.game.at(*cell) == Side.EMPTY)
        self.game.play(*move)
        return SimpleNamespace(move=move, depth=4, value=-5, nodes=6)

    def set_parameter(self, name: str, value: int) -> None:
        self.stage.say(self.who, f"{name} is {value}")

    def clear_hash(self) -> None:
        self.stage.say(self.who, "forgets")


def ended(played: GameRecord) -> str:
    """Return what is kept of a game."""
    columns = {"ms": played.times, "depth": played.depths, "value": played.values}
    columns["nodes"] = played.nodes
    known = [f"{name} {[*column]}" for name, column in columns.items() if any(column)]
    said = f"{played.winner}, {'fault ' * bool(played.fault)}{played.reason}: {played.detail[:220]}"
    moves = format_moves(played.moves)
    return "; ".join([said, moves, *known, f"{[peak >> 20 for peak in played.memory]} MB"])


def moves(text: str) -> Answers:
    """Return answers that are these moves, from the first on."""
    return {number: (0.1, move) for number, move in enumerate(text.split(), 1)}


def game(
    words: str = "", a: Answers = {}, b: Answers = {}, opening: str = "",  # noqa: B006
    sets: Sequence[dict[str, int]] = (), aborted: int = 1000,
) -> Iterator[str]:  # fmt: skip
    """Return the record of a game, or of several; ``aborted`` is how often one is not."""
    engines = [] if "a=" in words else ["a=./a -x", "b"]
    settings = settings_of(parse([*engines, *USUAL.split(), *words.split()]))
    begun = tuple(parse_moves(opening, settings.height))
    stage, looks = Stage(), [0]

    def start(*words: Any, **more: Any) -> Actor:
        return Actor(stage, b if stage.started % 2 else a, *words, **more)

    def is_aborted() -> bool:
        looks[0] += 1
        return looks[0] > aborted

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(players, "EngineProcess", start)
        patch.setattr(players, "time", SimpleNamespace(perf_counter=stage.read))
        patch.setattr(referee, "time", SimpleNamespace(perf_counter=stage.read))
        patch.setattr(players, "tree_memory", lambda pid: stage.memory.get(pid, 5 << 20))
        patch.setattr(players, "make_engine", lambda spec: Thinker(stage, spec))
        bind = lambda pid, cores: stage.say(0, f"process {pid} is bound to {cores}")  # noqa: E731
        patch.setattr(pool.os, "sched_setaffinity", bind, raising=False)
        slot = GameSeat(settings, 1, object())  # type: ignore[arg-type]
        patch.setattr(slot._aborted, "is_set", is_aborted)
        for number in range(settings.games):
            try:
                task = GameTask(number, 0, number % 2, 1 - number % 2, begun, tuple(sets))
                stage.lines.append(ended(slot.play(task)))
            except CancelledError:
                stage.lines.append("broken off")
        slot.close()
    return iter(texts.filled(stage.lines))


def about(*answers: tuple[float, str], error: Exception | None = None) -> Iterator[str]:
    """Return the record of how an engine is asked for its title, or does not start."""
    stage = Stage()

    def start(command: Sequence[str], folder: str | None, environment: Any) -> Actor:
        if error is not None:
            stage.say(0, "is started")
            raise error
        actor = Actor(stage, {}, command, folder, environment, (), None, None)
        for seconds, said in answers:
            times = 300 if said.endswith("...") else 1
            actor.queue.extend((stage.now + n * seconds, said) for n in range(1, times + 1))
        return actor

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(match, "EngineProcess", start)
        patch.setattr(match, "time", SimpleNamespace(perf_counter=stage.read))
        try:
            found = repr(match.ask_about(EngineSpec("x", ("./x", "-y"))).title)
        except SettingsError as refusal:
            found = f"refused: {refusal}"
    heard = [line for line in stage.lines if not re.search(r"\d a < DEBUG", line)]
    return iter([*texts.filled(heard), found])


def report(*lines: str) -> str:
    """Return what is understood of lines about a search."""
    thinking = Thinking()
    for line in lines:
        if line.startswith("INFO "):
            thinking.read_info(*line[5:].split(" ", 1))
        else:
            thinking.read_message(line)
    return f"depth {thinking.depth}, value {thinking.value}, nodes {thinking.nodes}"


@Record("players")
def dialogues(record: str) -> str:
    """Return the record of all games and introductions, of which another one tells what is said."""
    found = session(record, dict(globals()), short=str)
    return re.sub(r"folder \S*numoku-\w+", "folder FOLDER", found)
