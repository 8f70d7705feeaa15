"""What a match says to engines, and what it takes from them: ``python -m tests.golden.players``.

The engines are models in this process that say what the record tells of them, on a clock that
moves only while the match waits. Each game is recorded with its dialogues and its result.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pbrain_engine.arena import match, players, pool, referee
from pbrain_engine.arena.journal import Played
from pbrain_engine.arena.pool import Slot
from pbrain_engine.arena.process import TimedLine
from pbrain_engine.arena.referee import Abandoned, EngineFault, GameTask
from pbrain_engine.arena.settings import EngineSpec, MatchSettings, SettingsError, parse_engine
from pbrain_engine.engine.engine import Limit
from pbrain_engine.game.game import Game
from pbrain_engine.notation.cells import format_moves
from pbrain_engine.position.rules import Rule, Side

FILE = Path(__file__).with_suffix(".txt")
QUESTIONS = ("BEGIN", "TURN", "DONE")
OPENING = ((8, 8), (9, 9), (10, 10))
OWN = "numoku:turn=0.25,nodes=7,depth=3,threads=2,hash=9,memory=8,strength=50,seed=-3,weights=hand"

# Each answer of the first engine, from that to START on, and the seconds that it takes; ``?``
# stands for a move, ``!CAUSE`` for an engine that is lost, ``#MB`` for memory that it takes.
Answers = Sequence[tuple[float, str]]
SOUND: Answers = ((0.1, "OK"), (0.2, "?"), (0.3, "?"), (0.4, "?"))


def answering(*said: str, seconds: float = 0.1, at: int = 1) -> Answers:
    """Return answers of which one (0: to START) is these lines."""
    return (*SOUND[:at], (seconds, "|".join(said)), *SOUND[at + 1 :])


GAMES: list[tuple[str, dict[str, Any], Answers]] = [
    ("as usual", {}, SOUND),
    ("all limits", {"match": 9.0, "increment": 0.5, "nodes": 5, "depth": 6, "memory": 0,
                    "width": 12, "height": 9, "rule": Rule.CARO}, SOUND),
    ("a long match", {"turn": 0.0, "match": 60.0, "rule": Rule.STANDARD}, SOUND),
    ("no limit of time", {"turn": 0.0, "nodes": 5, "patience": 3.0}, SOUND),
    ("with the judge", {"judge": True, "match": 9.0}, SOUND),
    ("an opening with the judge", {"judge": True, "opening": OPENING}, SOUND),
    ("a stone is given", {"opening": OPENING[:1]}, SOUND),
    ("two stones are given", {"opening": OPENING[:2]}, SOUND),
    ("three stones are given", {"opening": OPENING, "pin": (1, 2, 3), "concurrency": 2}, SOUND),
    ("own limits", {"own": OWN}, SOUND),
    ("own limits with the judge", {"own": "x=random:turn=0.125,seed=4", "judge": True}, SOUND),
    ("kept", {"keep": True, "games": 2}, (*SOUND, *SOUND)),
    ("kept, but for the judge", {"keep": True, "games": 2, "judge": True}, (*SOUND, *SOUND)),
    ("kept, but for a fault", {"keep": True, "games": 2}, answering("15,0", at=2)),
    ("not kept", {"games": 2}, (*SOUND, *SOUND)),
    ("another word after OK", {}, answering("ok - ready", at=0)),
    ("words before OK", {}, answering("MESSAGE depth 9", "hello", " ok ", at=0)),
    ("refuses the board", {}, answering(" ERROR size ", at=0)),
    ("does not know START", {}, answering("unknown START", at=0)),
    ("never starts", {}, answering(at=0)),
    ("says nonsense for OK", {}, answering("hello", at=0)),
    ("starts late", {}, answering("OK", seconds=4.1, at=0)),
    ("starts in time", {}, answering("OK", seconds=3.9, at=0)),
    ("silent", {}, answering()),
    ("silent before the judge", {"judge": True}, answering(at=1)),
    ("silent in the middle", {}, answering(at=2)),
    ("late", {}, answering("?", seconds=3.1)),
    ("within the tolerance", {"match": 3.5}, answering("?", seconds=2.9)),
    ("late with time that is left", {"match": 3.0}, ((0.1, "OK"), (2.9, "?"), (1.2, "?"))),
    ("slow, but in no hurry", {"turn": 0.0, "nodes": 5, "patience": 3.0},
     answering("?", seconds=2.9)),
    ("reports", {}, answering("MESSAGE depth 4-9 ev 35 n 12K", "INFO DEPTH 5", "?")),
    ("reports in detail", {}, answering(
        "INFO PV 1", "INFO EVAL 9", "INFO PV 0", "INFO DEPTH 6", "INFO EVAL -M8", "INFO NODES 70",
        "info DEPTH 1", "?")),
    ("the same report for each move", {}, ((0.1, "OK"), (0.1, "MESSAGE depth 4|?"), (0.1, "?"))),
    ("forgets to move", {}, answering("OK", "DEBUG x", "", "message y")),
    ("says an error for a move", {}, answering("ERROR no time", "DEBUG x")),
    ("does not know how to move", {}, answering("unknown command", "OK")),
    ("says nonsense and an error", {}, answering("7;7", "ERROR x" * 40)),
    ("much nonsense", {}, answering("nonsense " * 40)),
    ("nonsense, later a move", {}, answering("7;7", "?")),
    ("nonsense, and later silent", {}, ((0.1, "OK"), (0.1, "x|ERROR y|?"), (0.1, ""))),
    ("suggests a move", {}, answering("suggest 3 , 3", "SUGGEST 4,4", "?")),
    ("suggests before it is asked", {}, answering("SUGGEST 3,3", "INFO DEPTH 4", "OK", at=0)),
    ("blanks around a move", {}, answering(" 3 ,\t3 ")),
    ("below the board", {}, answering("-1,3")),
    ("right of the board", {}, answering("15,0")),
    ("above the board", {}, answering("0,15")),
    ("the last cell", {}, answering("14,14")),
    ("on a stone", {}, answering("0,1", at=2)),
    ("dies", {}, answering("!crash", at=2)),
    ("grows a little", {}, answering("#124", "?")),
    ("grows and waits", {}, answering("#124", "?", seconds=2.5)),
    ("grows too much and waits", {}, answering("#126", "?", seconds=2.5)),
    ("grows too much", {}, answering("#126", "?")),
    ("grows a little before the judge", {"judge": True}, answering("#101", "?", at=0)),
    ("fits the judge's limit", {"judge": True}, answering("#100", "?", at=0)),
    ("grows without a limit", {"memory": 0}, answering("#999", "?", seconds=2.5)),
    ("is broken off", {"aborted": 7}, answering()),
    ("in this process", {"in_process": True, "own": "a=numoku:nodes=7,depth=3,turn=0.5", "games": 3,
                         "pin": (1, 2, 3, 4), "concurrency": 2, "opening": OPENING}, ()),
    ("in this process, with a match", {
        "in_process": True, "own": "a=numoku:strength=30", "turn": 0.0, "match": 3.0,
        "increment": 0.5, "nodes": 9000, "width": 9, "height": 8, "rule": Rule.RENJU}, ()),
    ("in this process, with sets", {
        "in_process": True, "own": "a=numoku", "games": 2, "turn": 0.0, "depth": 5,
        "sets": ({"x": 1, "y": 2}, {"x": 3})}, ()),
    ("in this process, broken off", {"in_process": True, "own": "a=numoku", "aborted": 3}, ()),
]  # fmt: skip


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
        self.lines.append(f"  {self.now - 100:6.2f} {'ab'[who % 2]} {text}")


class Actor:
    """An engine in place of a process."""

    def __init__(
        self, stage: Stage, answers: Answers, command: Sequence[str], folder: str | None,
        environment: Any, cores: Any, guardian: Any, transcript: Any, merged: bool = False,
    ) -> None:  # fmt: skip
        self.stage, self.transcript = stage, transcript
        self.pid, stage.started = stage.started, stage.started + 1
        self.answers = deque(answers if self.pid % 2 == 0 else ())
        self.queue: deque[tuple[float, str]] = deque()
        self.stones = 0
        place = "a folder of its own" if "numoku-" in str(folder) else str(folder)
        words = f"{' '.join(command[-2:])} in {place}, cores {cores}, guarded {bool(guardian)}"
        stage.say(
            self.pid, f"starts {words}{', merged' * merged}{', with more' * bool(environment)}"
        )

    def send(self, lines: Sequence[str]) -> float:
        self.queue.clear()
        return self.add(lines)

    def add(self, lines: Sequence[str]) -> float:
        self.stage.say(self.pid, f"> {'|'.join(lines)}")
        word = lines[-1].split()[0]
        if "START" in lines[0] or word in QUESTIONS:
            usual = (0.1, "OK") if "START" in lines[0] else (0.2, "?")
            seconds, text = self.answers.popleft() if self.answers else usual
            if "START" in lines[0]:
                self.stones = 0
            for said in filter(None, text.split("|")):
                if said.startswith("#"):
                    self.stage.memory[self.pid] = int(said[1:]) * 1_000_000
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

    def suspend(self) -> None:
        self.stage.say(self.pid, "is stopped")

    def resume(self) -> None:
        self.stage.say(self.pid, "goes on")

    def end(self) -> None:
        self.stage.say(self.pid, "is told to end")

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


def ended(played: Played) -> str:
    """Return what is kept of a game."""
    columns = [(name, getattr(played, name)) for name in ("ms", "depth", "value", "nodes")]
    known = [f"{name} {column}" for name, column in columns if any(column)]
    said = f"{played.winner}, {played.reason}: {played.detail[:220]}"
    moves = format_moves(played.all_moves)
    return "; ".join([said, moves, *known, f"{[peak // 1000 for peak in played.memory]} kB"])


def dialogue(name: str, changes: dict[str, Any], answers: Answers) -> list[str]:
    """Return the record of a game, or of several."""
    values: dict[str, Any] = {
        "turn": 2.0, "openings": "none", "memory": 100_000_000, "start_timeout": 4.0,
        "draw_after": 6, **changes,
    }  # fmt: skip
    own, opening = values.pop("own", ""), values.pop("opening", ())
    aborted, sets = values.pop("aborted", 1000), values.pop("sets", ())
    first = parse_engine(own) if own else EngineSpec("a", ("./a", "-x"))
    second = parse_engine("b=numoku") if "in_process" in changes else EngineSpec("b", ("b",))
    settings = MatchSettings((first, second), **values)
    stage, looks = Stage(), [0]

    def start(*words: Any, **more: Any) -> Actor:
        return Actor(stage, answers, *words, **more)

    def is_aborted() -> bool:
        looks[0] += 1
        return looks[0] > aborted

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(players, "EngineProcess", start)
        patch.setattr(players, "time", SimpleNamespace(perf_counter=stage.read))
        patch.setattr(referee, "time", SimpleNamespace(perf_counter=stage.read))
        seen = lambda pid: stage.memory.get(pid, 5_000_000)  # noqa: E731
        patch.setattr(players, "processes", SimpleNamespace(tree_memory=seen))
        patch.setattr(pool.threading, "Thread", AtOnce)
        patch.setattr(players, "make_engine", lambda spec: Thinker(stage, spec))
        bind = lambda pid, cores: stage.say(0, f"process {pid} is bound to {cores}")  # noqa: E731
        patch.setattr(pool.os, "sched_setaffinity", bind, raising=False)
        slot = Slot(settings, 1, object())  # type: ignore[arg-type]
        patch.setattr(slot._aborted, "is_set", is_aborted)
        for number in range(settings.games if "games" in changes else 1):
            try:
                task = GameTask(number, 0, number % 2, 1 - number % 2, opening, sets)
                stage.lines.append(f"  {ended(slot.play(task))}")
            except Abandoned:
                stage.lines.append("  broken off")
        slot.close()
    text = re.sub(r"folder \S*numoku-\w+", "folder FOLDER", "\n".join(stage.lines))
    return [f"{name}:", text, ""]


class AtOnce:
    """A thread whose work is done when it starts."""

    def __init__(self, target: Callable[..., None], args: tuple[Any, ...]) -> None:
        self.start = lambda: target(*args)

    def join(self) -> None:
        pass


ABOUT = '  name = "Engine X" , VERSION="1.2 (gcc 9)",author="me"'
INTRODUCTIONS: list[tuple[str, Answers]] = [
    ("a title", ((0.1, ABOUT),)),
    ("words before it", ((0.1, "OK"), (0.5, "MESSAGE hello"), (1.9, ABOUT))),
    ("too late", ((0.1, "OK"), (2.1, ABOUT))),
    ("words without end", [(0.01 * n, "DEBUG") for n in range(300)]),
    ("no version", ((0.1, 'name="Y"'),)),
    ("no name", ((0.1, 'version="3"'),)),
    ("an empty version", ((0.1, 'version="", name=" Y "'),)),
    ("a long name", ((0.1, f'name="{"long " * 9}", version="7"'),)),
    ("an unknown command", ((0.1, "UNKNOWN command"),)),
    ("gone", ((0.1, "!crash"),)),
    ("not there", ()),
    ("not a command", ()),
]


def introduction(name: str, answers: Answers) -> list[str]:
    """Return the record of how an engine is asked for its title."""
    stage = Stage()

    def start(command: Sequence[str], folder: str | None, environment: Any) -> Actor:
        if name.startswith("not"):
            stage.say(0, "is started")
            raise {"not there": FileNotFoundError(2, "No such file", "x")}.get(
                name, ValueError("?")
            )
        actor = Actor(stage, (), command, folder, environment, (), None, None)
        actor.queue.extend((stage.now + seconds, said) for seconds, said in answers)
        return actor

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Actor, "send", Actor.add)
        patch.setattr(match, "EngineProcess", start)
        patch.setattr(match, "time", SimpleNamespace(perf_counter=stage.read))
        try:
            found = repr(match.ask_about(EngineSpec("x", ("./x", "-y"))).title)
        except SettingsError as error:
            found = f"refused: {error}"
    heard = [line for line in stage.lines if "< DEBUG" not in line]
    return [f"{name}:", *heard, f"  {found}", ""]


def dialogues() -> str:
    """Return the record of all games, and of all questions for a title."""
    games = [line for game in GAMES for line in dialogue(*game)]
    return "\n".join(games + [line for one in INTRODUCTIONS for line in introduction(*one)])


if __name__ == "__main__":
    FILE.write_text(dialogues(), encoding="utf-8")
