"""``numoku play``: a game against the engine in the terminal.

Each game is kept in a file of the user as it stands after each move, so that none is lost when it
is left; the oldest files go when there are many. A file holds the game with its comments and side
lines, and who plays at which level.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from shutil import get_terminal_size
from typing import Any, NamedTuple

from ..app import kept, setup, view
from ..app.thinking import DEFAULT_LEVEL, LEVELS
from ..engine.engine import Engine, Thought
from ..files import read_object, state_folder, write_whole
from ..game.cells import NotationError
from ..game.record import GameRecord, GameTree
from ..methods import METHODS
from ..notation.sgf import parse_sgf_trees
from ..options import POSITION, SHARED, CommandLine, Option, integer, problem_of
from ..position.rules import Side
from .dialogue import Dialogue, person_of

SECONDS = 5.0  # for a move of the engine
GAMES = "games"  # the folder where they are kept
MOST_KEPT = 50  # games


COMMAND = CommandLine(
    "numoku play",
    "Play against the engine in the terminal. Type a cell such as h8 (letter = column, number = "
    "row from the top), or `help` for everything else.",
    (
        SHARED["position"]._replace(
            about="moves such as h8i9, or a file, to go on from", more={"nargs": "*"}
        ),
        Option("--resume", None, False, None, "go on with the last game that was left"),
        *POSITION,
        Option("--side", ("black", "white"), about="yours (default: as in the file, or black)"),
        Option("--level", integer, None, "N",
               f"strength, 1 to 10 (default: {DEFAULT_LEVEL}, or that of the game that goes on)",
               {"choices": LEVELS}),
        Option("--method", tuple(METHODS), "", "NAME",
               f"play against a method of the textbooks: {', '.join(METHODS)}"),
        SHARED["time"]._replace(about=f"the engine's seconds a move ({SECONDS:g})"),
        "threads", "search", "db",
    ),
)  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    """Play until the person leaves."""
    parser = COMMAND.parser()
    options = parser.parse_args(arguments)
    words = " ".join(options.position)
    if options.resume and (words or options.rule is not None or options.size):
        parser.error("a game that is resumed has its own position, rule and board")
    begun = resume_last() if options.resume else Begun(
        setup.chosen_setup(options, words),
        setup.read_trees(Path(words)) if os.path.isfile(words) else [],
    )  # fmt: skip
    side = Side[options.side.upper()] if options.side else begun.person or person_of(begun.start)
    line = StatusLine()
    if sys.stdin.isatty():
        with suppress(ImportError):  # arrow keys edit what is typed, and bring it back
            import readline  # noqa: F401 - from now on it works behind `input`
    with (
        kept.Kept(options.db) as database,
        Engine(threads=options.threads, memory=200_000_000) as engine,
    ):
        dialogue = Dialogue(
            engine,
            begun.start,
            side or Side.BLACK,
            options.level or begun.level,
            options.time or begun.seconds,
            listener=line.show,
            kept=database,
            trees=begun.trees,
            method=options.method,
        )
        talk(dialogue, line, Unfinished(begun.path))
    return 0


class Begun(NamedTuple):
    """From where a game goes on."""

    start: GameRecord
    trees: list[GameTree]
    person: Side | None = None
    level: int = DEFAULT_LEVEL
    seconds: float = SECONDS
    path: Path | None = None


def resume_last() -> Begun:
    """Return the last game that has not ended, else the last one.

    Raises:
        NotationError: there is none, or it cannot be read.
    """
    found: list[tuple[Path, dict[str, Any]]] = []
    for file in sorted((state_folder() / GAMES).glob("*.json"), reverse=True):
        with suppress(OSError, ValueError):
            found.append((file, read_object(file.read_text(encoding="utf-8"))))
    if not found:
        raise NotationError("there is no game to resume")
    path, form = next((each for each in found if not each[1].get("over")), found[0])
    try:
        trees = parse_sgf_trees(form["sgf"])
        start = setup.cut(setup.parse_setup(form["sgf"]), form["moves"])
        person = Side[form["person"].upper()]
        level = form["level"] if form["level"] in LEVELS else DEFAULT_LEVEL
        return Begun(start, trees, person, level, float(form["seconds"]), path)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise NotationError(f"{path} cannot be resumed: {error}") from None


class StatusLine:
    """One line of a terminal that shows what the engine thinks, and goes when it has moved."""

    _is_open = False

    def show(self, thought: Thought) -> None:
        """Show the best move so far."""
        if sys.stdout.isatty() and thought.multipv == 1:
            self._write(f"thinking: {view.format_thought(thought)}   (Ctrl-C: move now)")
            self._is_open = True

    def clear(self) -> None:
        """Leave the line empty."""
        if self._is_open:
            self._write("", "\r")
            self._is_open = False

    def _write(self, text: str, end: str = "") -> None:
        room = get_terminal_size().columns - 1
        print("\r" + text[:room].ljust(room), end=end, flush=True)


def talk(dialogue: Dialogue, status: StatusLine, unfinished: Unfinished) -> None:
    """Read lines and show answers until the person leaves, by ``quit`` or a second Ctrl-C."""
    shown: object = None
    announced = ""
    begun = dialogue.begun
    is_warned = False
    with suppress(KeyboardInterrupt):  # while the engine is about to stop
        while not dialogue.over:
            said = dialogue.engine_turn()
            status.clear()
            _say(said)
            if dialogue.begun != begun:  # the game before stays in its file
                unfinished, begun = Unfinished(), dialogue.begun
            unfinished.keep(dialogue)
            game = dialogue.engine.game
            if (game.width, game.height, game.moves) != shown or dialogue.wants_board:
                print()
                view.show_board(game, game.diagram().last, game.forbidden())
                if (opening := game.opening) is not None:
                    print(f"opening {opening}")
                shown = (game.width, game.height, game.moves)
                dialogue.wants_board = False
            result = dialogue.result()
            if result != announced:
                _say(result)
                announced = result
                if result:
                    dialogue.keep()
            try:
                line = input(dialogue.prompt)
            except EOFError:
                print()
                break
            except KeyboardInterrupt:
                print()
                if is_warned:
                    break
                _say("Ctrl-C again leaves")
                is_warned = True
                continue
            is_warned = False
            answer = dialogue.answer(line)
            status.clear()
            _say(answer)
    if unfinished.trouble:
        _say(f"the game could not be kept: {unfinished.trouble}")
    elif unfinished.path is not None and not dialogue.game_over:
        _say("the game is kept: `numoku play --resume` goes on with it")


def _say(text: str) -> None:
    if text:
        print(text, flush=True)


# Games that were left -----------------------------------------------------------------


class Unfinished:
    """The file of one game, made when something is noted for the first time."""

    def __init__(self, path: Path | None = None) -> None:
        """Go on with a file, or begin another."""
        self.path = path
        self.trouble = ""  # why the game could not be kept

    def keep(self, dialogue: Dialogue) -> None:
        """Keep a game as it is now, once a move has been made; else ``trouble`` says why not."""
        if self.path is None and not dialogue.is_under_way:
            return
        try:
            form = {
                "sgf": dialogue.sgf()[0],
                "moves": len(dialogue.record().moves),
                "person": dialogue.person.name.lower(),
                "level": dialogue.level,
                "seconds": dialogue.seconds,
                "over": dialogue.game_over,
            }
            if self.path is None:
                self.path = new_path()
            write_whole(self.path, json.dumps(form))
            self.trouble = ""
        except (NotationError, OSError) as error:
            self.trouble = problem_of(error)


def new_path() -> Path:
    """Return the file of a new game, whose name sorts after those of older ones."""
    home = state_folder() / GAMES
    home.mkdir(parents=True, exist_ok=True)
    for old in sorted(home.glob("*.json"))[: -(MOST_KEPT - 1)]:
        with suppress(OSError):
            old.unlink()
    stem = f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
    names = (home / f"{stem}-{number:03d}.json" for number in count())
    return next(name for name in names if not name.exists())
