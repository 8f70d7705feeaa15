"""The protocol from the manager's side: one engine process asked for one game's moves.

Real engines differ in what they tolerate, so this speaks as the common managers do: START
before BOARD (many do not clear the board on BOARD), INFO without expecting an answer,
everything that is not a move passed over until time is up.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..options import problem_of
from . import processes
from .player import (
    GARBAGE,
    MEMORY,
    MUTE,
    REFUSED,
    START,
    TIME,
    Abandoned,
    Clock,
    EngineFault,
    IsAborted,
    PlayedMove,
    Thinking,
)
from .process import EngineProcess, TimedLine, Transcript
from .processes import Guardian
from .settings import INFO_KEYS, EngineSpec, MatchSettings, SettingsError, travels_as_info

if TYPE_CHECKING:
    from ..game.game import Game

SLICE = 0.5  # seconds between two looks at memory and at an abort while waiting
MEMORY_PERIOD = 2.0  # seconds between two looks where moves come quickly
MEMORY_TOLERANCE = 1.25  # except for the judge: engines size their tables by guess
TOURNAMENT_GAME = 1  # INFO game_type: the opponent is an engine
DETAILED = 2  # INFO show_detail: depth, value and nodes of every move, however short

_MOVE = re.compile(r"\s*(-?\d{1,6})\s*,\s*(-?\d{1,6})\s*")
_SUGGESTION = re.compile(r"SUGGEST\s+([0-9]{1,6}\s*,\s*[0-9]{1,6})\s*", re.IGNORECASE)


@dataclass
class ProcessPlayer:
    """An engine process as a player; one object plays one game or, if kept, several.

    Nothing is started before the launch. The title names the game in logs.
    """

    spec: EngineSpec
    settings: MatchSettings
    cores: tuple[int, ...] = ()
    guardian: Guardian | None = None
    is_aborted: IsAborted = lambda: False
    title: str = "game"
    peak_memory: int = 0
    _process: EngineProcess | None = None
    _folder: tempfile.TemporaryDirectory[str] | None = None
    _has_spoken: bool = False
    _is_asked: bool = False
    _has_suggested: bool = False
    _garbage: str = ""
    _refusal: str = ""
    _memory_seen: float = 0.0

    def launch(self) -> None:
        """Start the process if it does not run yet, and tell it board and limits."""
        self._is_asked = False
        self._garbage = self._refusal = ""
        transcript = Transcript(self.settings.log, self.title) if self.settings.log else None
        if self._process is None:
            self._has_spoken = False
            self.peak_memory = 0
            self._folder = tempfile.TemporaryDirectory(prefix="numoku-", ignore_cleanup_errors=True)
            try:
                self._process = EngineProcess(
                    self.spec.command,
                    self.spec.home or self._folder.name,
                    self.spec.environment,
                    self.cores,
                    self.guardian,
                    transcript,
                    merged=self.settings.judge,
                )
            except (OSError, ValueError) as error:
                raise EngineFault(START, problem_of(error)) from None
        elif transcript:
            before, self._process.transcript = self._process.transcript, transcript
            if before:
                before.close()
        lines = [self._start_line()]
        if self.settings.judge:
            lines += self._info_lines()
        self._process.send(lines)
        if self.settings.judge:
            self._process.suspend()

    def await_ready(self) -> None:
        """Wait for OK; the judge does not."""
        if self.settings.judge:
            return
        process = self._process
        assert process is not None, "launch comes first"
        end = time.perf_counter() + self.settings.start_timeout
        while True:
            line = self._receive(process, end)
            if line is None:
                raise self._silence(f"no OK after {self.settings.start_timeout:g} s")
            word = line.text.strip().upper()
            if word.startswith("OK"):
                break
            if word.startswith(("ERROR", "UNKNOWN")):
                raise EngineFault(REFUSED, line.text.strip())
            self._note_stray(line.text)
        self._garbage = ""
        process.send(self._info_lines())

    def _start_line(self) -> str:
        s = self.settings
        square = s.width == s.height
        return f"START {s.width}" if square else f"RECTSTART {s.width},{s.height}"

    def _info_lines(self) -> list[str]:
        """Return the limits and conditions of the match, then the engine's own options."""
        s = self.settings
        clock = Clock.of(s, self.spec)
        values: dict[str, object] = {
            "timeout_turn": clock.turn_ms,
            "timeout_match": clock.match_ms,
            "max_memory": s.memory,
            "game_type": TOURNAMENT_GAME,
            "rule": int(s.rule),
        }
        if s.judge and self._folder:
            values["folder"] = self._folder.name
        if not s.judge:
            values["time_left"] = clock.left_ms
        if s.increment:
            values["time_increment"] = int(s.increment * 1000)
        if s.nodes:
            values["max_node"] = s.nodes
        if s.depth:
            values["max_depth"] = s.depth
        if self.spec.builtin == "numoku":
            values["show_detail"] = DETAILED
        for key, value in self.spec.options:
            if travels_as_info(key):
                values[INFO_KEYS.get(key, key)] = value
        return [f"INFO {key} {value}" for key, value in values.items()]

    def move(self, game: Game, clock: Clock) -> PlayedMove:
        """Ask for a move and wait for it until the clock's deadline."""
        process = self._process
        assert process is not None, "launch comes first"
        lines = [f"INFO time_left {clock.left_ms}", *self._question(game)]
        self._is_asked = True
        self._has_suggested = False
        self._garbage = ""
        deadline = clock.deadline
        began = process.send(lines)
        if self.settings.judge:
            process.resume()
            began = time.perf_counter()
        thinking = Thinking()
        while True:
            line = self._receive(process, began + deadline)
            if line is None or line.time > began + deadline:
                raise self._silence(f"no move after {deadline:.3g} s")
            move = _MOVE.fullmatch(line.text)
            if move:
                break
            self._hear(process, line.text, thinking)
        if self.settings.judge:
            self._check_memory(process)
            process.suspend()
        elif time.perf_counter() - self._memory_seen > MEMORY_PERIOD:
            self._check_memory(process)
        return PlayedMove(int(move[1]), int(move[2]), line.time - began, thinking)

    def _question(self, game: Game) -> list[str]:
        """Return the command that asks for the move."""
        moves = game.moves
        if self._is_asked or (len(moves) == 1 and not self.settings.judge):
            return [f"TURN {moves[-1][0]},{moves[-1][1]}"]
        if not moves and not self.settings.judge:
            return ["BEGIN"]
        own = len(moves) % 2  # stones of the side to move have this parity
        stones = [f"{x},{y},{1 if ply % 2 == own else 2}" for ply, (x, y) in enumerate(moves)]
        return ["BOARD", *stones, "DONE"]

    def _hear(self, process: EngineProcess, text: str, thinking: Thinking) -> None:
        """Take what is not a move."""
        word = text.strip()
        if word[:7].upper() == "MESSAGE":
            thinking.hear(word[7:])
            return
        if word[:5] == "INFO ":
            key, _, value = word[5:].partition(" ")
            thinking.hear_detail(key, value.strip())
            return
        suggestion = _SUGGESTION.fullmatch(word)
        if suggestion and not self._has_suggested:
            self._has_suggested = True
            process.add([f"PLAY {suggestion[1]}"])
            return
        self._note_stray(text)

    def _note_stray(self, text: str) -> None:
        """Remember what may explain a missing answer."""
        word = text.strip()
        upper = word.upper()
        if upper.startswith(("ERROR", "UNKNOWN")):
            self._refusal = word[:200]
        elif word and upper != "OK" and not upper.startswith(("MESSAGE", "DEBUG")):
            self._garbage = word[:200]

    def _silence(self, detail: str) -> EngineFault:
        """Return the fault of an engine that did not answer, by what it said instead."""
        if self._garbage:
            return EngineFault(GARBAGE, self._garbage)
        if self._refusal:
            return EngineFault(REFUSED, self._refusal)
        return EngineFault(TIME if self._has_spoken else MUTE, detail)

    def _receive(self, process: EngineProcess, end: float) -> TimedLine | None:
        """Return the next line before ``end``, with an eye on memory and on an abort."""
        while True:
            if self.is_aborted():
                raise Abandoned
            now = time.perf_counter()
            line = process.receive(max(0.0, min(end - now, SLICE)))
            if line is not None:
                self._has_spoken = True
                return line
            self._check_memory(process)
            if now >= end:
                return None

    def _check_memory(self, process: EngineProcess) -> None:
        self._memory_seen = time.perf_counter()
        used = processes.tree_memory(process.pid)
        self.peak_memory = max(self.peak_memory, used)
        allowed = self.settings.memory
        slack = 1.0 if self.settings.judge else MEMORY_TOLERANCE
        if allowed and used > allowed * slack:
            raise EngineFault(MEMORY, f"{used / 1e6:.0f} MB of {allowed / 1e6:.0f} MB")

    def finish(self) -> None:
        """Send END."""
        if self._process:
            self._process.end()

    def close(self) -> None:
        """End the process and everything it started."""
        process, self._process = self._process, None
        folder, self._folder = self._folder, None
        try:
            if process:
                process.close()
        finally:
            if folder:
                folder.cleanup()


PATIENCE = 2.0  # seconds; some engines do not know the command
MAX_TITLE = 40

_FIELD = re.compile(r"""\b(\w+)\s*=\s*"([^"]*)\"""")


def parse_about(line: str) -> dict[str, str]:
    """Return the fields of ``name="X", version="1.0"``, however many blanks are in it."""
    return {key.lower(): value.strip() for key, value in _FIELD.findall(line)}


def introduce(engines: Iterable[EngineSpec]) -> tuple[EngineSpec, ...]:
    """Return the engines with their titles, where they tell them in time.

    Raises:
        SettingsError: a program cannot be started at all.
    """
    listed = list(engines)
    with ThreadPoolExecutor(max_workers=len(listed)) as pool:
        titles = list(pool.map(ask_title, listed))
    return tuple(replace(spec, title=title) for spec, title in zip(listed, titles, strict=True))


def ask_title(spec: EngineSpec) -> str:
    """Return name and version of a foreign engine, or an empty string.

    Raises:
        SettingsError: the program cannot be started.
    """
    if spec.builtin:
        return ""
    try:
        process = EngineProcess(spec.command, spec.home, spec.environment)
    except (OSError, ValueError) as error:
        raise SettingsError(f"{spec.name} cannot be started: {problem_of(error)}") from None
    end = time.perf_counter() + PATIENCE
    fields: dict[str, str] = {}
    try:
        process.send(["ABOUT"])
        while not fields and (line := process.receive(max(0.0, end - time.perf_counter()))):
            fields = parse_about(line.text)
    except EngineFault:
        pass
    finally:
        process.end()
        process.close()
    version = fields.get("version", "").split()[:1]  # some add their compiler and more
    return " ".join([fields.get("name", ""), *version]).strip()[:MAX_TITLE]
