"""``numoku play``: a game against the engine in the terminal.

After each move the game is saved with comments, variations, level and the state of its opening. The
board's page saves its games in the same place, and each can continue the other's games.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from shutil import get_terminal_size
from typing import Any

from ..app import setup, view
from ..app.saved import OptionalDatabase, SavedGames, shelf_file, way_of
from ..app.thinking import DEFAULT_LEVEL, LEVELS
from ..engine.engine import Engine, Thought
from ..errors import problem_of
from ..game.cells import NotationError
from ..game.documents import read_game_tree
from ..game.opening_rules import RULES, OpeningPlay
from ..methods import METHODS
from ..notation.sgf import parse_sgf_trees
from ..options import POSITION, SHARED, CommandLine, Option, integer
from ..position.rules import Side
from .dialogue import CLOCK, SECONDS, Dialogue, GameStart, person_of
from .opening import TalkedOpening

COMMAND = CommandLine(
    "numoku play",
    "Play against the engine in the terminal. Type a cell such as h8 (letter = column, number = "
    "row from the top), or `help` for everything else.",
    (
        SHARED["position"]._replace(
            about="moves such as h8i9, or a file, to continue from", more={"nargs": "*"}
        ),
        Option("--resume", None, False, None, "continue the last unfinished game"),
        *POSITION,
        Option("--side", ("black", "white"), about="yours (default: as in the file, or black)"),
        Option("--level", integer, None, "N",
               f"strength, 1 to 10 (default: {DEFAULT_LEVEL}, or that of a resumed game)",
               {"choices": LEVELS}),
        Option("--method", tuple(METHODS), "", "NAME",
               f"play against a textbook method: {', '.join(METHODS)}"),
        Option("--opening", tuple(RULES), "", "RULE",
               f"begin by an opening rule, step by step: {', '.join(RULES)} (`--side white`: "
               "Numoku is the first player)"),
        SHARED["time"]._replace(about=f"the engine's seconds per move ({SECONDS:g})"),
        "threads", "search", "db",
    ),
)  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    """Play until the person quits."""
    parser = COMMAND.parser()
    options = parser.parse_args(arguments)
    words = " ".join(options.position)
    if options.resume and (words or options.rule is not None or options.size):
        parser.error("a resumed game has its own position, rule and board")
    if options.opening and (words or options.resume):
        parser.error("an opening rule begins on an empty board")
    if options.method and options.level:
        parser.error("--method and --level exclude each other")
    shelf = SavedGames(shelf_file())
    begun = resume_last(shelf) if options.resume else GameStart(
        setup.chosen_setup(options, words),
        setup.read_trees(Path(words)) if os.path.isfile(words) else [],
    )  # fmt: skip
    side = person_of(begun.record) if begun.person is None else begun.person
    side = Side[options.side.upper()] if options.side else side
    begun = begun._replace(
        person=side or Side.BLACK,
        level=options.level or begun.level,
        seconds=options.time or begun.seconds,
        method=options.method or ("" if options.level else begun.method),
    )
    if options.opening:
        wanted, board = RULES[options.opening], begun.record
        if wanted.rule is not None and options.rule not in (None, wanted.rule):
            raise NotationError(f"{wanted.title} is played by the rule {wanted.rule.label}")
        played = OpeningPlay(wanted, board.width, board.height)
        opening = TalkedOpening(played, int(begun.person is Side.WHITE))
        record = board._replace(rule=wanted.rule or board.rule)
        begun = begun._replace(opening=opening, record=record)
        print(opening.greet())
    if sys.stdin.isatty():
        with suppress(ImportError):  # editing and history with the arrow keys
            import readline  # noqa: F401 - makes `input` use it
    with (
        OptionalDatabase(options.db) as database,
        Engine(threads=options.threads, memory=200_000_000) as engine,
    ):
        line = ThinkingLine()
        talk(Dialogue(engine, begun, listener=line.show, kept=database), shelf, line)
    shelf.close()
    return 0


def resume_last(shelf: SavedGames) -> GameStart:
    """Return the newest unfinished game, else the newest; NotationError if none can be read."""
    try:
        game = next(filter(is_resumable, shelf.going_on()), None)
        if game is not None:
            return begun_of(game)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        raise NotationError(f"the game cannot be resumed: {error}") from None
    raise NotationError(shelf.trouble or "there is no game to resume")


def is_resumable(game: Mapping[str, Any]) -> bool:
    """Return whether a saved game is one of a person against the engine."""
    match = game.get("match")
    if match is not None:
        return match.get("human") in ("black", "white")
    return not game.get("looked") and bool(game.get("names"))


def begun_of(game: Mapping[str, Any]) -> GameStart:
    """Return the start of a dialogue that continues a saved game, at the move in view."""
    tree, match, moves = read_game_tree(game), game["match"] or {}, way_of(game)
    start = tree.record._replace(moves=tuple(moves))
    opening, kept = None, match.get("opening")
    if kept:
        played = OpeningPlay.named(kept["rule"], start.width, start.height, kept["actions"])
        is_past = played.stones == moves[: len(played.stones)]
        if there := played if is_past else played.back_at(moves):
            opening = TalkedOpening(there, kept["person"])
    level = str(match.get("level"))
    return GameStart(
        start,
        [tree, *(parse_sgf_trees(match["more"]) if match.get("more") else [])],
        Side[match["human"].upper()] if match else None,
        int(level) if level.isdecimal() and int(level) in LEVELS else DEFAULT_LEVEL,
        float(match.get("seconds") or SECONDS),
        level if level in METHODS else "",
        opening,
        game["game"],
        game["began"],
        {name: match[name] for name in CLOCK if name in match},
    )


class ThinkingLine:
    """The best move so far, on a line of the terminal until it is cleared."""

    def __init__(self) -> None:
        self._is_shown = False

    def show(self, thought: Thought) -> None:
        """Show a result of the search in place of the one before."""
        if thought.multipv == 1 and sys.stdout.isatty():
            text = f"thinking: {view.format_thought(thought)}   (Ctrl-C: move now)"
            self._write(text, "")
            self._is_shown = True

    def clear(self) -> None:
        """Clear the line if anything is on it."""
        if self._is_shown:
            self._write("", "\r")
            self._is_shown = False

    def _write(self, text: str, end: str) -> None:
        room = get_terminal_size().columns - 1
        print("\r" + text[:room].ljust(room), end=end, flush=True)


def talk(dialogue: Dialogue, shelf: SavedGames, thinking: ThinkingLine) -> None:
    """Read lines and print answers until ``quit``, the end of input or a second Ctrl-C."""
    shown: object = None
    announced = trouble = ""
    is_warned = False
    with suppress(KeyboardInterrupt):  # while the engine is about to stop
        while not dialogue.over:
            said = dialogue.engine_turn()
            thinking.clear()
            _say(said)
            trouble = save(dialogue, shelf)
            game = dialogue.engine.game
            if (game.width, game.height, game.moves) != shown or dialogue.wants_board:
                print()
                view.show_board(game, game.last, game.forbidden())
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
                _say("press Ctrl-C again to quit")
                is_warned = True
                continue
            is_warned = False
            answer = dialogue.answer(line)
            thinking.clear()
            _say(answer)
    if trouble:
        _say(f"the game could not be saved: {trouble}")
    elif dialogue.name and not dialogue.game_over:
        _say("the game is saved: `numoku play --resume` continues it")


def save(dialogue: Dialogue, shelf: SavedGames) -> str:
    """Save the game once a move has been made; return why it could not be saved, or nothing."""
    if not dialogue.name and not dialogue.is_under_way:
        return ""
    try:
        document = dialogue.document()
        if not dialogue.name:
            dialogue.began = time.time()
            dialogue.name = f"terminal-{os.getpid()}-{dialogue.began:.3f}"
        shelf.keep({"game": dialogue.name, "began": dialogue.began, **document})
    except (NotationError, OSError) as error:
        return problem_of(error)
    return shelf.trouble


def _say(text: str) -> None:
    if text:
        print(text, flush=True)
