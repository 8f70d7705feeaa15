"""A game between a person and the engine as a dialogue: a line in, lines of text out.

Nothing here reads or prints; ``play`` does.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ..engine.engine import Engine, Limit, Thought
from ..files import write_whole
from ..game.game import Game
from ..notation.cells import NotationError, cell_name, parse_cell
from ..notation.game_record import GameRecord, RecordedMove
from ..notation.psq import format_psq
from ..notation.sgf import format_sgf
from ..options import problem_of
from ..position.rules import Side
from . import setup, thinking, view
from .fouls import foul_at
from .kept import Kept
from .levels import LEVELS, choose
from .result import result_line

PERSON, ENGINE = "you", "Numoku"
KEEPING_LEVEL = 7  # those below think too little to be believed


class Dialogue:
    """The state of a game and what each command does to it."""

    def __init__(
        self,
        engine: Engine,
        start: setup.Setup,
        person: Side = Side.BLACK,
        level: int = 7,
        seconds: float = 5.0,
        seed: int | None = None,
        listener: Callable[[Thought], None] | None = None,
        kept: Kept | None = None,
    ) -> None:
        """Begin a game from a position; ``seconds`` is the engine's time for a move.

        ``listener`` gets what the engine thinks on the way to a move. What the engine finds out,
        and games that have ended, are ``kept``.
        """
        self.engine = engine
        self.person = person
        self.level = level
        self.seconds = seconds
        self.over = False  # the person has left
        self.resigned: Side | None = None
        self._chance = random.Random(seed)
        self._listener = listener
        self._kept = kept or Kept(None)
        self._notes: dict[int, str] = {}  # ply -> what the engine thought
        self._begin(start)

    def _begin(self, start: setup.Setup) -> None:
        """Begin from a position; nothing changes if it cannot be set up."""
        setup.build(Game(start.width, start.height, start.rule), start)
        self.engine.new_game(start.width, start.height, start.rule)
        setup.build(self.engine, start)
        self._start = start
        self._placed = len(start.placed)
        self._notes = {}
        self.resigned = None

    @property
    def game_over(self) -> bool:
        """Whether the game has ended."""
        return self.resigned is not None or self.engine.game.is_over

    # The engine's part -------------------------------------------------------------

    def engine_turn(self) -> str:
        """Let the engine play if it has the move; return what there is to say."""
        game = self.engine.game
        if self.game_over or game.to_move is self.person:
            return ""
        level = LEVELS[self.level]
        is_strong = self.level >= KEEPING_LEVEL
        known = self._kept.certain(game) if is_strong else None
        thought = known or choose(self.engine, level, self.seconds, self._chance, self._listener)
        if is_strong and known is None:
            self._kept.note(self.engine, thought)
        self.engine.play(*thought.move)
        self._notes[game.ply] = f"{thought.value}/{thought.depth}/{round(thought.time * 1000)}"
        return f"{ENGINE}: {cell_name(*thought.move)}   ({describe(thought)})"

    def result(self) -> str:
        """Return how the game ended, or nothing while it goes on."""
        if self.resigned is not None:
            return f"Result: {self._name(self.resigned.opponent)} wins, {PERSON} resigned"
        if not self.engine.game.is_over:
            return ""
        winner = self.engine.game.winner
        return result_line(self.engine.game, None if winner is None else self._name(winner))

    def keep(self) -> None:
        """Keep the game, which has ended."""
        if not any(side is Side.WALL for _, _, side in self._start.placed):
            self._kept.note_game(self.record())

    def _name(self, side: Side) -> str:
        return f"{side.name.lower()} ({PERSON if side is self.person else ENGINE})"

    # The person's part -------------------------------------------------------------

    def answer(self, line: str) -> str:
        """Do what a line says; return what there is to say about it."""
        words = line.split()
        if not words:
            return ""
        command = COMMANDS.get(words[0].lower())
        try:
            if command is not None:
                return command.action(self, words[1:])
            return self._move(line)
        except (ValueError, OSError, RuntimeError) as error:  # the game goes on
            return problem_of(error)

    def _move(self, line: str) -> str:
        game = self.engine.game
        if self.game_over:
            return "the game is over; `new` begins another, `undo` takes moves back"
        try:
            x, y = parse_cell(line, game.width, game.height)
        except NotationError as error:
            return f"{error}; `help` lists what else there is"
        if game.at(x, y) is not Side.EMPTY:
            return f"{cell_name(x, y)} is taken"
        if game.is_forbidden(x, y):
            return f"renju forbids black {cell_name(x, y)}: {foul_at(game, x, y)}"
        self.engine.play(x, y)
        return ""

    def _undo(self, words: list[str]) -> str:
        """Take moves back until the person has the move again."""
        game = self.engine.game
        if self.resigned is not None:
            self.resigned = None
            return ""
        if game.ply == self._placed:
            return "there is no move to take back"
        self._take_back()
        while game.ply > self._placed and game.to_move is not self.person:
            self._take_back()
        return ""

    def _take_back(self) -> None:
        self._notes.pop(self.engine.game.ply, None)
        self.engine.undo()

    def _hint(self, words: list[str]) -> str:
        if self.game_over:
            return "the game is over"
        limit = Limit(time=self.seconds)
        thought = thinking.think(self.engine, limit, on_iteration=self._listener)
        line = view.format_line(thought.pv, 8)
        return f"{cell_name(*thought.move)}   ({describe(thought)}; {line})"

    def _new(self, words: list[str]) -> str:
        old = self._start
        self._begin(setup.Setup(old.width, old.height, old.rule))
        return "a new game"

    def _swap(self, words: list[str]) -> str:
        self.person = self.person.opponent
        return f"you play {self.person.name.lower()} now"

    def _resign(self, words: list[str]) -> str:
        if not self.game_over:
            self.resigned = self.person
        return ""

    def _level(self, words: list[str]) -> str:
        if len(words) != 1 or not words[0].isdecimal() or int(words[0]) not in LEVELS:
            return f"the level is {self.level}; choose 1 to {max(LEVELS)}, as in `level 5`"
        self.level = int(words[0])
        return f"the level is {self.level}"

    def _save(self, words: list[str]) -> str:
        path = file_argument(words)
        if path.suffix.lower() == ".sgf":
            text = format_sgf(self.record())
        elif path.suffix.lower() == ".psq":
            text = format_psq(self.record())
        else:
            return "games are saved as .sgf or .psq"
        write_whole(path, text)
        return f"saved {path}"

    def _load(self, words: list[str]) -> str:
        path = file_argument(words)
        start = setup.read_file(path)
        self._begin(start)
        person = person_of(start)
        if person in (None, self.person):
            return f"loaded {path}"
        self.person = self.person.opponent
        return f"loaded {path}; you play {self.person.name.lower()}"

    def _forbidden(self, words: list[str]) -> str:
        game = self.engine.game
        fouls = [f"{cell_name(x, y)}: {foul_at(game, x, y)}" for x, y in game.forbidden()]
        return "\n".join(fouls) or "nothing is forbidden"

    def _help(self, words: list[str]) -> str:
        lines = ["  h8 or 7,7   play there (letter = column, number = row from the top)"]
        lines += [f"  {command.usage:11} {command.summary}" for command in COMMANDS.values()]
        lines.append("  Ctrl-C      while the engine thinks: play the best move found so far")
        return "\n".join(lines)

    def _quit(self, words: list[str]) -> str:
        self.over = True
        return ""

    # Records -----------------------------------------------------------------------

    def record(self) -> GameRecord:
        """Return the game as it can be written to a file."""
        game = self.engine.game
        names = {self.person: PERSON, self.person.opponent: f"{ENGINE} level {self.level}"}
        if any(held is Side.WALL for _, _, held in self._start.placed):
            raise NotationError("blocked cells cannot be saved")
        moves = tuple(
            RecordedMove(x, y, comment=self._notes.get(self._placed + number, ""))
            for number, (x, y) in enumerate(game.moves[self._placed :], 1)
        )
        return replace(
            setup.record_of(self._start),
            moves=moves,
            black=names[Side.BLACK],
            white=names[Side.WHITE],
            result=self._score(),
            passes=self._passes(),
        )

    def _passes(self) -> tuple[int, ...]:
        """Return after how many moves a turn was given up, as far as they still stand."""
        moves = self.engine.game.ply - self._placed
        return tuple(after for after in self._start.passes if after <= moves)

    def _score(self) -> str:
        game = self.engine.game
        winner = self.resigned.opponent if self.resigned is not None else game.winner
        if winner is not None:
            return "1-0" if winner is Side.BLACK else "0-1"
        return "1/2-1/2" if game.is_full else ""


class Command(NamedTuple):
    """A word that the person can type."""

    usage: str
    summary: str
    action: Callable[[Dialogue, list[str]], str]


COMMANDS = {
    command.usage.split()[0]: command
    for command in (
        Command("undo", "take back your last move", Dialogue._undo),
        Command("hint", "what the engine would play for you", Dialogue._hint),
        Command("swap", "change sides", Dialogue._swap),
        Command("level N", "1 (weak) to 10 (all the time it has)", Dialogue._level),
        Command("forbidden", "the cells that renju forbids you", Dialogue._forbidden),
        Command("new", "begin again on an empty board", Dialogue._new),
        Command("save FILE", "write the game as .sgf or .psq", Dialogue._save),
        Command("load FILE", "go on from a .sgf or .psq file, or a drawing", Dialogue._load),
        Command("resign", "give the game up", Dialogue._resign),
        Command("help", "this list", Dialogue._help),
        Command("quit", "leave", Dialogue._quit),
    )
}


def person_of(start: setup.Setup) -> Side | None:
    """Return which side of a game that was saved here the person had, or None."""
    for side, name in zip((Side.BLACK, Side.WHITE), start.names, strict=True):
        if name == PERSON:
            return side
        if name.startswith(ENGINE):
            return side.opponent
    return None


def describe(thought: Thought) -> str:
    """Return value and depth of a thought."""
    return f"value {view.format_worth(thought)}, depth {thought.depth}"


def file_argument(words: list[str]) -> Path:
    """Return the file that a command names.

    Raises:
        NotationError: it names none.
    """
    if not words:
        raise NotationError("name a file, as in `save game.sgf`")
    return Path(" ".join(words)).expanduser()
