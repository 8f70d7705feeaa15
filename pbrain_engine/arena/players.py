"""Players: an engine process that speaks the protocol, and our engine in this process.

A process is treated as common managers do: START before BOARD (many engines do not clear the board
on BOARD), no answer to INFO, and all lines but moves are ignored until time is up. Our own engine
is kept from game to game and cleared in between, so that games limited by nodes are reproducible.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import ExitStack
from dataclasses import dataclass
from random import Random
from tempfile import TemporaryDirectory
from typing import TypeVar

from ..engine.engine import Engine, Limit
from ..engine.opening_choices import decide
from ..engine.pacing import Limits, plan
from ..engine.swap2 import share_nodes
from ..errors import counted, problem_of
from ..files import shown
from ..game.cells import cell_name
from ..game.game import Game
from ..game.opening_rules import OpeningPlay
from ..game.record import CRASH, GARBAGE, ILLEGAL, MEMORY, MUTE, REFUSED, START, TIME
from ..position.geometry import Coordinates
from ..position.rules import Side
from ..protocol.commands import FULL_STRENGTH, fewest_nodes
from ..protocol.serve import engine_arguments
from .process import (
    MOST_SHOWN,
    EngineFault,
    EngineProcess,
    Guardian,
    TimedLine,
    Transcript,
    tree_memory,
)
from .referee import ChosenStep, Clock, PlayedMove, Player, Thinking
from .settings import INFO_KEYS, EngineSpec

SLICE = 0.5  # seconds between two checks of memory and aborts while waiting
MEMORY_PERIOD = 2.0  # seconds between two checks of memory after quick moves
MEMORY_TOLERANCE = 1.25  # except for the judge: engines only guess the size of their tables
TOURNAMENT_GAME = 1  # INFO game_type: the opponent is an engine
DETAILED = 2  # INFO show_detail: depth, value and nodes of every move, however short
STEP_NODES = 100_000  # of all searches for a step of an opening, decided in this process
DEFAULT_HASH = 16_000_000  # bytes; small, because it is cleared for every game

SWAP2_STONES = {0: (3,), 3: (1, 2), 5: (1,)}  # stones on the board: possible numbers in an answer

_CELL = r"(-?[0-9]{1,6})\s*,\s*(-?[0-9]{1,6})"
_CELLS, _MOVE = re.compile(_CELL), re.compile(rf"\s*{_CELL}\s*")
_SWAP2_ANSWER = re.compile(
    rf"\s*(SWAP|{_CELL}(?:\s+{_CELL})*|(?:UNKNOWN|ERROR)\b.*)\s*", re.IGNORECASE
)
_SUGGESTION = re.compile(r"SUGGEST\s+([0-9]{1,6}\s*,\s*[0-9]{1,6})\s*", re.IGNORECASE)

Found = TypeVar("Found")


@dataclass
class ProcessPlayer(Player):
    """An engine process as a player of one game or, if kept, several.

    ``launch`` starts the process. The title names the game in logs.
    """

    cores: tuple[int, ...] = ()
    guardian: Guardian | None = None

    def __post_init__(self) -> None:
        self._process: EngineProcess | None = None
        self._folder = ""
        self._resources = ExitStack()
        self._thinking = Thinking()
        self._has_spoken = self._is_asked = self._has_suggested = False
        self._knows_board = False  # up to its own last move
        self._lacks_swap2 = False
        self._garbage = self._refusal = ""
        self._memory_seen = 0.0  # time of the last check

    def launch(self) -> None:
        """Start the process if it is not running, and send board and limits."""
        s = self.settings
        self._is_asked = self._knows_board = False
        self._garbage = self._refusal = ""
        transcript = Transcript(s.log, self.title) if s.log else None
        if self._process is None:
            folder = TemporaryDirectory(prefix="numoku-", ignore_cleanup_errors=True)
            self._folder = self._resources.enter_context(folder)
            try:
                self._process = EngineProcess(
                    self.spec.command, self.spec.home or self._folder, self.spec.environment,
                    self.cores, self.guardian, transcript, merged=s.judge,
                )  # fmt: skip
            except (OSError, ValueError) as error:
                raise EngineFault(START, problem_of(error)) from None
            self._resources.callback(self._process.close)
        elif transcript:
            before, self._process.transcript = self._process.transcript, transcript
            if before:
                before.close()
        start = f"START {s.width}" if s.width == s.height else f"RECTSTART {s.width},{s.height}"
        if s.judge:
            self._process.ask(start, *self._info_lines())
            self._process.suspend()
        else:
            self._process.ask(start)

    def await_ready(self) -> None:
        """Wait for OK, except as the judge."""
        if self.settings.judge:
            return

        def is_ready(text: str) -> bool:
            word = text.strip()
            if word.upper().startswith(("ERROR", "UNKNOWN")):
                raise EngineFault(REFUSED, shown(word, MOST_SHOWN))
            return word.upper().startswith("OK")

        limit = self.settings.start_timeout
        self._listen(is_ready, time.perf_counter() + limit, f"no OK after {limit:g} s")
        self._garbage = ""
        self._running.ask(*self._info_lines())

    @property
    def _running(self) -> EngineProcess:
        assert self._process is not None, "launch comes first"
        return self._process

    def _info_lines(self) -> list[str]:
        """Return the limits and conditions of the match, then the engine's own options."""
        s = self.settings
        clock = Clock(s, self.spec)
        values: dict[str, object] = {
            "timeout_turn": clock.turn_ms,
            "timeout_match": clock.match_ms,
            "max_memory": s.memory,
            "game_type": TOURNAMENT_GAME,
            "rule": int(s.rule),
        }
        where_set = {
            "folder": self._folder if s.judge else "",
            "time_left": 0 if s.judge else clock.left_ms,
            "time_increment": int(s.increment * 1000),
            "max_node": s.nodes,
            "max_depth": s.depth,
            "show_detail": DETAILED if self.spec.builtin == "numoku" else 0,
        }
        values |= {key: value for key, value in where_set.items() if value}
        values |= {INFO_KEYS[key]: value for key, value in self.spec.options if key in INFO_KEYS}
        return [f"INFO {key} {value}" for key, value in values.items()]

    def move(self, game: Game, clock: Clock) -> PlayedMove:
        """Request a move and wait for it until the clock's deadline."""
        question = self._question(game)
        self._knows_board = True
        move, seconds = self._ask(question, _MOVE.fullmatch, clock)
        return PlayedMove(int(move[1]), int(move[2]), seconds, self._thinking)

    def choose(self, opening: OpeningPlay, clock: Clock, chance: Random) -> ChosenStep | None:
        """Ask by SWAP2BOARD, if the program knows it and the opening is one of swap2."""
        stones = opening.stones
        if self._lacks_swap2 or opening.rule.name != "swap2" or len(stones) not in SWAP2_STONES:
            return None
        question = ["SWAP2BOARD", *(f"{x},{y}" for x, y in stones), "DONE"]
        answer, seconds = self._ask(question, _SWAP2_ANSWER.fullmatch, clock)
        if answer[1].upper().startswith(("UNKNOWN", "ERROR")):
            self._lacks_swap2 = True
            return None
        cells = [(int(x), int(y)) for x, y in _CELLS.findall(answer[1])]
        words = swap2_words(opening, cells)
        move = PlayedMove(*cells[0], seconds, self._thinking) if len(cells) == 1 else None
        return ChosenStep(words, seconds, move)

    def _ask(
        self, question: list[str], accepts: Callable[[str], Found | None], clock: Clock
    ) -> tuple[Found, float]:
        """Return the accepted answer to a question, and its time in seconds."""
        process = self._running
        self._is_asked = True
        self._has_suggested = False
        self._garbage = ""
        self._thinking = Thinking()
        deadline = clock.deadline
        began = process.ask(f"INFO time_left {clock.left_ms}", *question)
        if self.settings.judge:
            process.suspend(resumes=True)
            began = time.perf_counter()
        late = f"no move after {deadline:.3g} s"
        line, found = self._listen(accepts, began + deadline, late)
        if self.settings.judge:
            self._check_memory(process)
            process.suspend()
        elif time.perf_counter() - self._memory_seen > MEMORY_PERIOD:
            self._check_memory(process)
        return found, line.time - began

    def _question(self, game: Game) -> list[str]:
        """Return the command that asks for the move."""
        moves = game.moves
        if self._knows_board or (len(moves) == 1 and not self.settings.judge):
            return [f"TURN {moves[-1][0]},{moves[-1][1]}"]
        if not moves and not self.settings.judge:
            return ["BEGIN"]
        own = len(moves) % 2  # stones of the side to move have this parity
        stones = [f"{x},{y},{1 if ply % 2 == own else 2}" for ply, (x, y) in enumerate(moves)]
        return ["BOARD", *stones, "DONE"]

    def _listen(
        self, accepts: Callable[[str], Found | None], end: float, late: str
    ) -> tuple[TimedLine, Found]:
        """Return the first accepted line and its meaning; meanwhile check memory and aborts.

        EngineFault if none comes before ``end``; ``late`` is the detail.
        """
        process = self._running
        while True:
            if self.is_aborted():
                raise CancelledError
            now = time.perf_counter()
            line = process.receive(max(0.0, min(end - now, SLICE)))
            if line is None:
                self._check_memory(process)
                if now < end:
                    continue
            else:
                self._has_spoken = True
            if line is None or line.time > end:
                # Other output explains why.
                if self._garbage or self._refusal:
                    cause = GARBAGE if self._garbage else REFUSED
                    raise EngineFault(cause, shown(self._garbage or self._refusal, MOST_SHOWN))
                raise EngineFault(TIME if self._has_spoken else MUTE, late)
            if found := accepts(line.text):
                return line, found
            self._read_line(process, line.text.strip())

    def _read_line(self, process: EngineProcess, word: str) -> None:
        """Read a line that is not an answer; keep errors to explain a missing answer."""
        upper = word.upper()
        suggestion = _SUGGESTION.fullmatch(word)
        if upper.startswith("MESSAGE"):
            self._thinking.read_message(word[7:])
        elif self._is_asked and word.startswith("INFO "):
            key, _, value = word[5:].partition(" ")
            self._thinking.read_info(key, value.strip())
        elif self._is_asked and suggestion and not self._has_suggested:
            self._has_suggested = True
            process.send(f"PLAY {suggestion[1]}")
        elif upper.startswith(("ERROR", "UNKNOWN")):
            self._refusal = word
        elif word and upper != "OK" and not upper.startswith("DEBUG"):
            self._garbage = word

    def _check_memory(self, process: EngineProcess) -> None:
        self._memory_seen = time.perf_counter()
        used = tree_memory(process.pid)
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
        """End the process and all processes it has started."""
        self._resources.close()


def swap2_words(opening: OpeningPlay, cells: list[Coordinates]) -> str:
    """Return the cells of an answer, none for SWAP, in the words of an opening.

    A single cell is white's next move. EngineFault if the answer does not fit the number of stones,
    or is off the board.
    """
    before = len(opening.stones)
    if before and not cells:
        return opening.taking(Side.BLACK)
    if len(cells) not in SWAP2_STONES[before]:
        said = counted(len(cells), "cell") if cells else "SWAP"
        raise EngineFault(ILLEGAL, f"{said} in answer to SWAP2BOARD with {before} stones")
    for x, y in cells:
        if not (0 <= x < opening.width and 0 <= y < opening.height):
            raise EngineFault(ILLEGAL, f"{x},{y} is off the board")
    if len(cells) == 1:
        return opening.taking(Side.WHITE)
    return " ".join([*(["two"] if before else []), *(cell_name(*cell) for cell in cells)])


@dataclass
class InprocessPlayer(Player):
    """One configuration of our engine, for many games; created at the first."""

    _engine: Engine | None = None

    def launch(self) -> None:
        """Create the engine, or clear its tables."""
        if self._engine is None:
            try:
                self._engine = make_engine(self.spec)
            except Exception as error:
                raise EngineFault(START, str(error)) from error
        for name, value in self.parameters.items():
            self._engine.set_parameter(name, value)
        self._engine.new_game(*self.settings.board)
        self._engine.clear_hash()

    def engine_at(self, game: Game) -> Engine:
        """Return the engine, its board updated to that of the game."""
        assert self._engine is not None, "launch comes first"
        for x, y in game.moves[self._engine.game.ply :]:
            self._engine.play(x, y)
        return self._engine

    def choose(self, opening: OpeningPlay, clock: Clock, chance: Random) -> ChosenStep:
        """Decide with searches of this engine, and leave it with a new game."""
        assert self._engine is not None, "launch comes first"
        words = decide(share_nodes(self._engine, STEP_NODES, self._check), opening, chance)
        self._engine.new_game(*self.settings.board)
        return ChosenStep(words)

    def _check(self) -> None:
        if self.is_aborted():
            raise CancelledError

    def move(self, game: Game, clock: Clock) -> PlayedMove:
        """Update the engine's board and search."""
        self._check()
        engine, number = self.engine_at(game), self.spec.number
        strength = int(number("strength", FULL_STRENGTH))
        nodes = fewest_nodes(int(number("nodes", self.settings.nodes)), strength)
        depth = int(number("depth", self.settings.depth)) or None
        hard = optimum = clock.turn or None  # the whole turn, or a share of the match
        if clock.match:
            increment = int(clock.increment * 1000)
            limits = Limits(clock.turn_ms, clock.left_ms, increment)
            hard, optimum = plan(limits, game.ply, game.width * game.height)
        began = time.perf_counter()
        try:
            thought = engine.think(Limit(hard, optimum, nodes, depth))
        except Exception as error:
            raise EngineFault(CRASH, str(error)) from error
        seconds = time.perf_counter() - began
        return PlayedMove(
            *thought.move, seconds, Thinking(thought.depth, thought.value, thought.nodes)
        )

    def stop(self) -> None:
        """Stop the running search."""
        if self._engine is not None:
            self._engine.stop()

    def close(self) -> None:
        """Free the engine's memory."""
        if self._engine is not None:
            self._engine.clear_hash()
            self._engine = None


def make_engine(spec: EngineSpec) -> Engine:
    """Return our engine with the options of a match."""
    hash_kilobytes = int(spec.number("hash_size", spec.number("hash", 0)))
    memory = int(spec.number("memory", 0)) or None  # of the whole process
    return Engine(
        threads=max(int(spec.number("threads", 1)), 1),
        memory=memory,
        hash_size=hash_kilobytes * 1024 or (DEFAULT_HASH if memory is None else None),
        **engine_arguments(spec.options),
    )
