"""A game between a person and the engine as a dialogue: one line in, lines of text out.

Reading and printing are left to ``play``.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

from ..app import setup, thinking, view
from ..app.saved import OptionalDatabase, certain_of
from ..app.thinking import DEFAULT_LEVEL, KEEPING_LEVEL, LEVELS, choose, choose_by
from ..app.view import DOUBLE_FOUR, DOUBLE_THREE, OVERLINE, foul_of
from ..engine import swap2
from ..engine.engine import Engine, Limit, Thought
from ..errors import NumokuError, counted, problem_of
from ..files import read_whole, user_path, write_whole
from ..game.cells import NotationError, cell_name, parse_cell
from ..game.documents import game_tree_document
from ..game.game import Game
from ..game.opening_rules import RULES, Act, OpeningPlay
from ..game.record import GameRecord
from ..game.tree import GameTree
from ..notation.files import KINDS, write_game
from ..notation.sgf import format_sgf_trees
from ..position.rules import Side
from .opening import ENGINE, TalkedOpening

PERSON = "you"
SECONDS = 5.0  # for a move of the engine
LATER = ("hint", "resign")  # commands that wait until the opening is over
CHOICES = ("swap", "black", "white")  # answers to an opening's questions
CLOCK = ("used", "minutes", "increment", "byoyomi", "periods")
FOULS = {
    OVERLINE: "a row of six or more",
    DOUBLE_FOUR: "two fours at once",
    DOUBLE_THREE: "two open threes at once",
}
HELP = """\
  h8 or 7,7   play there (letter = column, number = row from the top)
  undo        take back your last move
  hint        show the engine's move for you
  board       show the board again
  swap        change sides
  opening RULE new game by an opening rule; `opening rif numoku`: Numoku begins
  swap2       the same as `opening swap2`; `swap2 numoku`: Numoku begins
  black       in an opening: take black
  white       in an opening: take white
  level N     1 (weak) to 10 (all the time it has)
  forbidden   list the cells that renju forbids you
  new         new game on an empty board
  save FILE   write the game as .sgf, .psq, .lib or .svg
  load FILE   continue from a game file or a drawing
  resign      give up the game
  help        show this list
  quit        quit; `numoku play --resume` continues
  Ctrl-C      while the engine thinks: play the best move found so far"""
COMMANDS = [line.split()[0] for line in HELP.splitlines()[1:-1]]


class GameStart(NamedTuple):
    """The start of a dialogue: a position and an opponent."""

    record: GameRecord
    trees: Sequence[GameTree] = ()  # the games of the file that has the position
    person: Side | None = None
    level: int = DEFAULT_LEVEL
    seconds: float = SECONDS
    method: str = ""  # a textbook method that replaces the engine
    opening: TalkedOpening | None = None  # finished or not
    name: str = ""  # among the saved games, empty until it is saved
    at: float = 0.0  # start of the game, in seconds since 1970
    clock: Mapping[str, Any] = {}  # of the page, stopped here: the fields in CLOCK


class Dialogue:
    """The state of a game, and its commands."""

    def __init__(
        self,
        engine: Engine,
        start: GameStart,
        seed: int | None = None,
        listener: Callable[[Thought], None] | None = None,
        kept: OptionalDatabase | None = None,
    ) -> None:
        """Begin a game.

        ``listener`` receives each iteration of the engine's searches. Findings and finished games
        are stored in ``kept``.
        """
        self.engine = engine
        self.person = start.person or Side.BLACK
        self.level, self.method, self.seconds = start.level, start.method, start.seconds
        self.over = False  # whether the person has quit
        self.wants_board = False  # whether the person has asked for the board
        self._chance = random.Random(seed)
        self._listener = listener
        self._kept = kept or OptionalDatabase(None)
        self._question: Callable[[], str] | None = None  # called if the person answers yes
        self._begin(start)

    def _begin(self, start: GameStart) -> None:
        """Begin a game with the same opponent; on an error nothing changes."""
        record, opening = start.record, start.opening
        Game.of(record)
        self.engine.new_game(*record.board)
        self.engine.game.become(record)
        self._start = record
        self._placed = len(record.placed)
        self._replies: dict[int, tuple[str, str]] = {}  # ply -> level or method, and a note
        self._trees, self._clock = start.trees, start.clock
        self._files: set[Path] = set()  # written for this game, so overwritten without asking
        self._opening = opening
        if opening is not None and opening.goes_on:
            self.person = opening.side
        self.resigned: Side | None = None
        self.name, self.began = start.name, start.at

    @property
    def prompt(self) -> str:
        """The prompt for the person."""
        if self._opening is not None and self._opening.goes_on:
            return f"{self._opening.prompt}> "
        if self.game_over:
            return "the game is over> "
        return f"your move, {self.person.name.lower()}> "

    @property
    def is_under_way(self) -> bool:
        """Whether moves differ from those at the start, so that the game is worth saving."""
        return self.engine.game.moves[self._placed :] != [*self._start.moves]

    @property
    def game_over(self) -> bool:
        """Whether the game has ended."""
        return self.resigned is not None or self.engine.game.is_over

    # The engine's part -------------------------------------------------------------

    def engine_turn(self) -> str:
        """Let the engine move if it is its turn; return the text to print."""
        game = self.engine.game
        if self._opening is not None and self._opening.goes_on:
            said = self._opening_turn(self._opening)
            if not self._opening.goes_on:
                said.append(self.engine_turn())
            return "\n".join(filter(None, said))
        if self.game_over or game.to_move is self.person:
            return ""
        if self.method:
            move, choice = choose_by(self.method, game, self.seconds, self._chance)
            self.engine.play(*move)
            self._replies[game.ply] = self.method, ""
            looked = f"{counted(choice.nodes, 'node')}, value {choice.value:.3g}"
            return f"{self.method}: {cell_name(*move)}   ({looked})"
        level = LEVELS[self.level]
        is_strong = self.level >= KEEPING_LEVEL
        known = certain_of(self._kept.finding(game)) if is_strong else None
        thought = known or choose(self.engine, level, self.seconds, self._chance, self._listener)
        if is_strong and known is None:
            self._kept.note(self.engine, thought)
        self.engine.play(*thought.move)
        note = f"{thought.value}/{thought.depth}/{round(thought.time * 1000)}"
        self._replies[game.ply] = str(self.level), note
        return f"{ENGINE}: {cell_name(*thought.move)}   ({_describe(thought)})"

    def result(self) -> str:
        """Return the result of the game in words, or nothing before its end."""
        if self.resigned is not None:
            return f"Result: {self._name(self.resigned.opponent)} wins, {PERSON} resigned"
        if not self.engine.game.is_over:
            return ""
        winner = self.engine.game.winner
        return view.result_line(self.engine.game, None if winner is None else self._name(winner))

    def keep(self) -> None:
        """Store the finished game in the database."""
        if not self._start.start.walls:
            self._kept.note_game(self.record())

    def _name(self, side: Side) -> str:
        return f"{side.name.lower()} ({PERSON if side is self.person else ENGINE})"

    # The person's part -------------------------------------------------------------

    def answer(self, line: str) -> str:
        """Carry out a line typed by the person; return the text to print."""
        words = line.split()
        if not words:
            return ""
        question, self._question = self._question, None
        word = words[0].lower()
        try:
            if question is not None and word in ("y", "yes", "n", "no"):
                return question() if word in ("y", "yes") else "nothing was written"
            opening = self._opening
            if opening is not None and opening.goes_on:
                if word in LATER:
                    return f"`{word}` waits until the opening is over. {opening.play.ask()}"
                if word in CHOICES or word not in COMMANDS:
                    return self._do_step(opening, words)
            if word in COMMANDS:
                return self._obey(word, words[1:])
            return self._move(line)
        except (NumokuError, ValueError, OSError) as error:  # the game continues
            return problem_of(error)

    def _obey(self, word: str, words: list[str]) -> str:
        """Carry out a command and return the text to print."""
        game = self.engine.game
        match word:
            case "undo":
                return self._undo()
            case "hint" if self.game_over:
                return "the game is over"
            case "hint":
                limit = Limit(time=self.seconds)
                thought, *_ = thinking.think(self.engine, limit, on_iteration=self._listener)
                line = view.format_line(thought.pv, 8)
                return f"{cell_name(*thought.move)}   ({_describe(thought)}; {line})"
            case "board":
                self.wants_board = True
            case "swap":
                self.person = self.person.opponent
                return f"you play {self.person.name.lower()} now"
            case "opening" | "swap2":
                return self._begin_opening(words if word == "opening" else [word, *words])
            case "black" | "white":
                return "sides are chosen in an opening; `swap` changes them"
            case "level":
                if len(words) != 1 or not words[0].isdecimal() or int(words[0]) not in LEVELS:
                    return f"the level is {self.level}; choose 1 to {max(LEVELS)}, as in `level 5`"
                self.level, self.method = int(words[0]), ""
                return f"the level is {self.level}"
            case "forbidden":
                fouls = [f"{cell_name(*move)}: {FOULS[foul_of(game, *move)]}"
                         for move in game.forbidden()]  # fmt: skip
                return "\n".join(fouls) or "nothing is forbidden"
            case "new":
                self._begin(GameStart(GameRecord(*self._start.board)))
                return "a new game"
            case "save" | "load" if not words:
                return f"name a file, as in `{word} game.sgf`"
            case "save":
                return self._save(user_path(" ".join(words)))
            case "load":
                return self._load(user_path(" ".join(words)))
            case "resign" if not self.game_over:
                self.resigned = self.person
            case "help":
                return HELP
            case "quit":
                self.over = True
        return ""

    def _move(self, line: str) -> str:
        game = self.engine.game
        if self.game_over:
            return "the game is over; `new` begins another, `undo` takes moves back"
        try:
            x, y = parse_cell(line, game.width, game.height)
        except NotationError as error:
            return f"{error}; `help` lists all commands"
        if game.at(x, y) is not Side.EMPTY:
            return f"{cell_name(x, y)} is taken"
        if game.is_forbidden(x, y):
            return f"renju forbids black {cell_name(x, y)}: {FOULS[foul_of(game, x, y)]}"
        self.engine.play(x, y)
        return ""

    def _undo(self) -> str:
        """Take moves back until it is the person's turn again."""
        game = self.engine.game
        if self.resigned is not None:
            self.resigned = None
            return ""
        opening = self._opening
        if opening is not None and self._first_own(opening) >= game.ply:
            if not opening.take_back():
                return "there is no move to take back"
            self._show_opening(opening)
            return ""
        if all(game.at(*move) is not self.person for move in game.moves[self._placed :]):
            return "there is no move to take back"
        self._take_back()
        while game.ply > self._placed and game.to_move is not self.person:
            self._take_back()
        return ""

    def _take_back(self) -> None:
        self._replies.pop(self.engine.game.ply, None)
        self.engine.undo()

    def _first_own(self, opening: TalkedOpening) -> int:
        """Return the number of stones before the person's first move after the opening."""
        stones = len(opening.play.stones)
        is_engines = (Side.BLACK, Side.WHITE)[stones % 2] is not self.person
        return stones + int(is_engines and not opening.goes_on)

    def _save(self, path: Path) -> str:
        if path.suffix.lower() not in KINDS:
            return "games are saved as .sgf, .psq, .lib (RenLib) or .svg (a film)"
        self.sgf()  # raises errors before asking
        if path.exists() and path.resolve() not in self._files:
            self._question = lambda: self._write(path)
            return f"{path} already exists; replace it? (yes or no)"
        return self._write(path)

    def _write(self, path: Path) -> str:
        text, losses = self.sgf()
        if path.suffix.lower() == ".sgf":
            write_whole(path, text)
        else:
            is_whole = not self._trees[1:] and all(tree.is_plain() for tree in self._trees)
            losses = [] if is_whole else ["comments, side lines and other games are left out"]
            write_game(path, self.record())
        self._files.add(path.resolve())
        return "; ".join([f"saved {path}", *losses])

    def _load(self, path: Path) -> str:
        start = setup.read_setup(read_whole(path), str(path))
        trees = setup.read_trees(path)
        self._begin(GameStart(start, trees))
        said = "; ".join([f"loaded {path}", *start.remarks])
        person = person_of(start)
        if person in (None, self.person):
            return said
        self.person = self.person.opponent
        return f"{said}; you play {self.person.name.lower()}"

    # Openings by a rule. During one, the board has only its stones.

    def _begin_opening(self, words: list[str]) -> str:
        """Begin a new game by an opening rule; the person or the engine is the first player."""
        names = [word.lower() for word in words]
        if not names or names[0] not in RULES or names[1:] not in ([], [ENGINE.lower()]):
            return f"name a rule, as in `opening rif` or `opening rif numoku`: {', '.join(RULES)}"
        width, height, rule = self._start.board
        rule = RULES[names[0]].rule or rule
        opening = TalkedOpening(OpeningPlay.named(names[0], width, height), len(names) - 1)
        self._begin(GameStart(GameRecord(width, height, rule), opening=opening))
        return opening.greet()

    def _do_step(self, opening: TalkedOpening, words: list[str]) -> str:
        """Do steps of the person; a colour stands for the word that takes it."""
        step = opening.play.step
        if words[0].lower() in CHOICES and (step is None or step.act not in (Act.SWAP, Act.BRANCH)):
            return opening.play.ask()
        if (colour := words[0].upper()) in Side.__members__ and len(words) == 1:
            words = [opening.play.taking(Side[colour])]
        try:
            opening.answer(words)
        finally:
            self._show_opening(opening)
        return "" if opening.goes_on else self._closing(opening)

    def _closing(self, opening: TalkedOpening) -> str:
        return f"{opening.play.ask()} You play {self.person.name.lower()}."

    def _opening_turn(self, opening: TalkedOpening) -> list[str]:
        """Let the engine do its steps; return their description and the next instructions."""
        try:
            said = opening.engine_steps(self.engine, self.seconds, self._chance)
        finally:
            self._show_opening(opening)
        return [*said, opening.ask() if opening.goes_on else self._closing(opening)]

    def _show_opening(self, opening: TalkedOpening) -> None:
        """Put the stones of the opening on the board, and update the person's colour."""
        swap2.set_up(self.engine, opening.play.stones)
        self._replies, self.person = {}, opening.side

    # Records -----------------------------------------------------------------------

    def sgf(self) -> tuple[str, list[str]]:
        """Return the game as an SGF file, and messages about what SGF leaves out.

        The moves played are the main line; other moves of the loaded file are variations. Names
        and result are those of that file until the engine moves or the person resigns.
        NotationError if the position has blocked cells.
        """
        tree = self._tree()
        text, losses = format_sgf_trees([tree, *self._trees[1:]])
        return text, [*losses, *tree.remarks]

    def _tree(self) -> GameTree:
        """Return the game with its notes, and the variations of the loaded file."""
        played = self.record()
        tree = deepcopy(self._trees[0]) if self._trees else GameTree()
        before = tree.record
        header = played._replace(moves=(), passes=(), comments=(), date=before.date)
        if self._trees and not self._replies and self.resigned is None:
            result = before.result or played.result
            header = header._replace(black=before.black, white=before.white, result=result)
        tree.record = header
        comments = iter(played.comments)
        node = tree.root
        for cell in played.turns:
            siblings, node = node.children, node.child(cell)
            siblings.sort(key=lambda child: child is not node)  # noqa: B023 - used at once
            if cell is not None:
                noted = next(comments)
                node.comment = node.comment or noted
        return tree

    def document(self) -> dict[str, Any]:
        """Return the game as a document to save, without its name and start time."""
        tree, played = self._tree(), self.record()
        if played.passes:  # documents have no passes, so the position is stored as set up
            tree, played = GameTree(GameRecord.of(played.position)), played._replace(moves=())
            tree.record = tree.record._replace(black=played.black, white=played.white)
        return {
            **game_tree_document(tree),
            "match": None if self.game_over else self._match(),
            "at": len(played.moves),
            "looked": False,
        }

    def _match(self) -> dict[str, Any]:
        """Return the state of the match, with the page's names."""
        more = format_sgf_trees(self._trees[1:])[0] if self._trees[1:] else ""
        return {
            "human": self.person.name.lower(),
            "fresh": not self._start.placed and not self._start.moves,
            "used": [0, 0],
            "level": self.method or str(self.level),
            "seconds": f"{self.seconds:g}",
            "minutes": "0",
            **self._clock,
            **({"opening": self._opening.document()} if self._opening is not None else {}),
            **({"more": more} if more else {}),  # other games of the loaded file
        }

    def _opponent(self) -> str:
        """Return the levels or methods that the engine has played with, and the current one."""
        players = [by for by, _ in self._replies.values()]
        known = list(dict.fromkeys([*players, self.method or str(self.level)]))
        if not all(name.isdecimal() for name in known):
            return " and ".join(f"level {name}" if name.isdecimal() else name for name in known)
        return f"level {known[0]}" if len(known) == 1 else f"levels {' and '.join(known)}"

    def record(self) -> GameRecord:
        """Return the record of the game."""
        game = self.engine.game
        opponent = f"{ENGINE} {self._opponent()}"
        names = (PERSON, opponent) if self.person is Side.BLACK else (opponent, PERSON)
        moves = tuple(game.moves[self._placed :])
        plies = range(self._placed + 1, game.ply + 1)
        return self._start.beginning._replace(
            moves=moves, comments=tuple(self._replies.get(ply, ("", ""))[1] for ply in plies),
            black=names[0], white=names[1],
            result=game.result if self.resigned is None else ("0-1", "1-0")[self.resigned],
            passes=tuple(after for after in self._start.passes if after <= len(moves)),
        )  # fmt: skip


def person_of(start: GameRecord) -> Side | None:
    """Return the person's side in a game saved here, or None."""
    for side, name in ((Side.BLACK, start.black), (Side.WHITE, start.white)):
        if name == PERSON:
            return side
        if name.startswith(ENGINE):
            return side.opponent
    return None


def _describe(thought: Thought) -> str:
    return f"value {view.format_worth(thought)}, depth {thought.depth}"
