"""A conversation with a manager, without input or output.

``handle`` takes one command and returns the lines to write at once. If a move is due, it creates a
task to find it; the caller (the loop, or a test) runs the task and passes it to ``conclude``.
While a task runs, only INFO and ABOUT may be handled.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise

from ..engine import pacing
from ..engine.engine import Engine
from ..errors import Refused, WeightsError, counted
from ..game.game import Game
from ..native.load.library import KernelError
from ..position.geometry import Coordinates, is_board
from ..position.rules import Side
from . import replies, searches
from .commands import CONTINUOUS, MAX_THREADS, YIXIN_SWAP1, Command, Settings
from .searches import Task

IMPLICIT_SIZE = 20  # of the board when a manager forgets START
LEAST_MEMORY = 24_000_000  # bytes, enough for a small table
DEFEND_COUNT = 20  # moves that YXSEARCHDEFEND compares
MAX_COUNT = 64  # best moves that YXNBEST compares
REPLACEMENT_SHARE = 8  # a new engine gets one part in this many while the old one may still run
MOVES = ("BEGIN", "TURN", "BOARD", "YXNBEST")  # commands after which a client waits for a move


def queued_time() -> float:
    """Return the seconds the main thread has waited for a processor, or 0 if unknown.

    Linux only: under Wine, its server reads the file and would report its own waiting.
    """
    if sys.platform == "win32":
        return 0.0
    try:
        with open("/proc/self/schedstat", "rb") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


class Session:
    """One manager, one engine, one board.

    The game is the engine's, except while the engine's searches play stones of their own or may
    still be running: then it is a copy, and the next command copies it back to the engine.
    """

    def __init__(self, make_engine: Callable[[int], Engine]) -> None:
        """Start without an engine; ``make_engine(memory)`` is called when one is needed."""
        self.settings = Settings()
        self.game: Game | None = None  # None before START
        self.engine: Engine | None = None
        self._make_engine = make_engine
        self._settled: tuple[object, ...] = ()  # memory, hash size, threads of the engine
        self.divisor = 1  # of the memory, part of which an abandoned engine may still use
        self._blocked: set[Coordinates] = set()
        self._after: tuple[int, Side] | None = None  # stones after YXBOARD, and the side of TURN
        self._ready_at: float | None = None  # when the first START was answered
        self._moved = False  # a move has been asked for
        self._charged = 0.0  # startup seconds on the clock of this move
        self._complained = 0  # the max_memory already complained about
        self.task: Task | None = None  # the current search, unless abandoned
        self._late = pacing.ON_TIME
        self._behind: Engine | None = None  # its game lacks only the watchdog's answer

    # -- what the loop calls ---------------------------------------------------------------

    def handle(self, command: Command, read_at: float) -> tuple[str, ...]:
        """Execute a command read at ``read_at``, a moment of ``perf_counter``."""
        if command.name.startswith("YX") and command.name != "YXSTOP":
            self.settings.yixin = True
        try:
            return self._carry_out(command, read_at)
        except Refused as refusal:
            return (replies.remark("ERROR", str(refusal)),)
        except (KernelError, WeightsError) as failure:
            if self.engine is not None:
                raise  # not missing at the start, but failed later
            return (replies.remark("ERROR", " ".join(str(failure).split())),)

    def conclude(self, task: Task, busy: bool = False) -> tuple[str, ...]:
        """Play the answer of a task and return the lines to write.

        ``busy``: the engine is still searching and must not be touched.
        """
        task.answered = True
        game = self._known_game()
        if busy:
            self.game = game = game.copy()
            self._behind = self.engine if isinstance(task, searches.MoveTask) else None
        now = time.perf_counter()
        self.settings.spend(now - task.read_at)
        self._late = self._late.after(now - task.deadline)
        lines, moves = task.answer
        for x, y in moves:
            game.play(x, y)
        return lines

    def emergency(self, command: Command, error: Exception) -> tuple[str, ...]:
        """Return the reply of last resort to a command that failed with ``error``."""
        self.abandon_engine(gone=True)
        if self.game is None or self.game.is_full or command.name not in MOVES:
            return (replies.remark("ERROR", replies.problem_of(error)),)
        cell = searches.first_free(self.game)
        self.game.play(*cell)
        return (self._cell(cell),)

    def abandon_engine(self, gone: bool) -> None:
        """Switch to a new engine; unless the old one is ``gone``, it may still use its memory."""
        self.engine = self.task = None
        self.divisor = 1 if gone else REPLACEMENT_SHARE

    # -- commands --------------------------------------------------------------------------

    def _carry_out(self, command: Command, read_at: float) -> tuple[str, ...]:
        """Execute a command of Gomocup's protocol or of Yixin-Board."""
        match command.name, command.numbers:
            case "INFO", _:
                task = self.task
                if task is not None and not task.answered:
                    self.settings.update(command.text, read_at - task.read_at)
                    task.relimit(self._plan())
                else:
                    self.settings.update(command.text)
                    if task is None:
                        self._prepare_rule()
            case "MALFORMED", _:
                raise Refused(command.text)
            case "UNKNOWN", _:
                return (replies.remark("UNKNOWN", command.text),)
            case "ABOUT", _:
                return (replies.ABOUT,)
            case "START" | "RECTSTART", numbers:
                return self._start(*self._seen(numbers[0], numbers[-1]))
            case "RESTART", _:
                game = self._known_game()
                return self._start(game.width, game.height)
            case "BEGIN", _:
                if stones_of(self._catch_up()):
                    raise Refused("BEGIN on a board with stones")
                return self._search(read_at)
            case "TURN", (x, y):
                x, y = self._seen(x, y)
                game = self._free_game(x, y)
                if self._is_over(game):
                    raise Refused("the game is over")
                if self._after is not None and self._after[0] == game.ply:
                    game.set_to_move(self._after[1])
                game.play(x, y)
                return self._search(read_at)
            case "PLAY", (x, y):
                x, y = self._seen(x, y)
                self._free_game(x, y).play(x, y)
                return (self._cell((x, y)),)
            case "TAKEBACK", (x, y):
                game, at = self._catch_up(), self._seen(x, y)
                last = game.history[-1] if game.history else None
                if last is None or last.move != at or last.side is Side.WALL:
                    raise Refused(f"{self._cell(at)} is not the last stone")
                game.undo()
                game.set_to_move(last.side)
                return ("OK",)
            case "BOARD" | "YXBOARD", _:
                notes = self._set_up(command)
                return notes + (self._search(read_at) if command.name == "BOARD" else ())
            case "SWAP2BOARD", _:
                cells = [self._seen(x, y) for x, y, _ in command.stones]
                return self._swap2_with(cells, command.bad, read_at, steps=False)
            case name, _ if name.startswith("YX"):
                return self._carry_out_yixin(command, read_at)
        return ()  # no reply, as to STOP and END: the loop has ended the search

    def _carry_out_yixin(self, command: Command, read_at: float) -> tuple[str, ...]:
        """Execute a command of Yixin-Board's extensions."""
        match command.name, command.numbers:
            case "YXSWAP2STEP1" | "YXSWAP2STEP2" | "YXSWAP2STEP3" as name, _:
                cells = [] if name[-1] == "1" else list[Coordinates](self._known_game().moves)
                if len(cells) != (0, 3, 5)[int(name[-1]) - 1]:
                    raise Refused(f"{name} with {counted(len(cells), 'stone')}")
                return self._swap2_with(cells, 0, read_at, steps=True)
            case name, _ if name.startswith("YXSOOSORVSTEP"):
                return self._soosorv_with(command, read_at)
            case "YXNBEST", (wanted,):
                return self._search(read_at, count=min(max(wanted, 1), MAX_COUNT))
            case "YXSEARCHDEFEND", _:
                return self._search(read_at, count=DEFEND_COUNT)
            case "YXBALANCEONE" | "YXBALANCETWO" as name, (bias,):
                stones, game = 1 if name == "YXBALANCEONE" else 2, self._catch_up()
                if game.width * game.height - game.ply < stones:
                    raise Refused("board full")
                return self._begin(searches.BalanceTask, read_at, stones, bias)
            case "YXBLOCK", _:
                self._blocked |= {self._seen(x, y) for x, y, _ in command.stones}
            case "YXBLOCKUNDO", _:
                self._blocked -= {self._seen(x, y) for x, y, _ in command.stones}
            case "YXBLOCKRESET", _:
                self._blocked.clear()
            case "YXHASHCLEAR", _:
                if self.engine is not None:
                    self.engine.clear_hash()
            case "YXSHOWINFO", _:
                return replies.about_limits(MAX_THREADS, self.settings.memory)
            case "YXSHOWFORBID", _:
                fouls = self._catch_up().forbidden()
                return (replies.forbidden(fouls, self.settings.row_first),)
        return ()  # YXSTOP, too: the loop has ended the search

    def _start(self, width: int, height: int) -> tuple[str, ...]:
        if not is_board(width, height):
            return (replies.BAD_SIZE,)
        self._empty_game(width, height)
        if self.settings.left is None:
            self.settings.spent = 0  # a new match: all of its time is left
        if self._ready_at is None:
            self._ready_at = time.perf_counter()
        return ("OK",)

    def _set_up(self, command: Command) -> tuple[str, ...]:
        """Set up the stones of a body on an empty board; return remarks about them."""
        old = self._known_game()
        game = self._empty_game(old.width, old.height)
        placed: dict[Coordinates, int] = {}
        bad = command.bad
        for stone in command.stones:
            at = self._seen(stone.x, stone.y)
            is_free = at not in placed and game.at(*at) is Side.EMPTY
            if stone.field is None or stone.field < 1 or not is_free:
                bad += 1
            else:
                placed[at] = stone.field
        fields = [field for field in placed.values() if field in (1, 2)]
        # The owner of the first listed stone is black, and field 1 is the side to move.
        own = to_move = Side.WHITE if fields[:1] == [2] else Side.BLACK
        notes = []
        is_whole = not bad and len(fields) == len(placed)
        if command.name == "BOARD" and is_whole and fields.count(1) == fields.count(2) + 1:
            own, to_move = Side.BLACK, Side.WHITE  # the side to move never has a stone more
            notes.append("field 1 has a stone more: it is read as black, and field 2 is to move")
        owners = {1: own, 2: own.opponent}
        for at, field in placed.items():
            game.place(*at, owners.get(field, Side.WALL))
        game.set_to_move(to_move)
        is_record = fields[-1:] != [1] and all(one != two for one, two in pairwise(fields))
        if command.name == "YXBOARD" and not is_record:
            self._after = game.ply, own.opponent
        if bad:
            notes.append(f"{counted(bad, 'bad stone')} left out")
        return tuple(replies.remark("MESSAGE", note) for note in notes)

    # -- searches --------------------------------------------------------------------------

    def _search(self, read_at: float, count: int = 1) -> tuple[str, ...]:
        game = self._catch_up()
        if game.is_full:
            raise Refused("board full")
        settings = self.settings
        notes: tuple[str, ...] = ()
        if self._is_over(game):  # a move is owed all the same
            notes = (replies.remark("MESSAGE", "the game is over"),)
        may_swap = settings.yixin and settings.swapable and settings.rule_code == YIXIN_SWAP1
        if may_swap and stones_of(game) == game.ply < 2 and count == 1:
            return self._begin(searches.SwapTask, read_at, False, True)
        return notes + self._begin(searches.MoveTask, read_at, self._blocked, count)

    def _is_over(self, game: Game) -> bool:
        goes_on = self.settings.rule_code & CONTINUOUS and not self.settings.yixin
        return game.winner is not None and not goes_on

    def _swap2_with(
        self, cells: list[Coordinates], bad: int, read_at: float, *, steps: bool
    ) -> tuple[str, ...]:
        old = self._known_game()
        bad += len(cells) - len(set(cells)) + sum(not old.on_board(x, y) for x, y in cells)
        if bad or len(cells) not in (0, 3, 5):
            raise Refused("SWAP2BOARD takes 0, 3 or 5 stones on different cells")
        game = self._empty_game(old.width, old.height)
        for x, y in cells:
            game.play(x, y)
        return self._begin(searches.SwapTask, read_at, steps, False)

    def _soosorv_with(self, command: Command, read_at: float) -> tuple[str, ...]:
        old = self._known_game()
        if (old.width, old.height) != (15, 15):
            raise Refused(f"{command.name} on a board of {old.width}x{old.height}")
        cells = [self._seen(x, y) for x, y, _ in command.stones]
        if command.bad or not all(old.on_board(x, y) for x, y in cells):
            raise Refused(f"{command.name} with bad stones")
        step = int(command.name[-1])
        opening = searches.soosorv(step, cells, sum(command.numbers))
        game = self._empty_game(old.width, old.height)
        for x, y in opening.stones:
            game.play(x, y)
        return self._begin(searches.OpeningTask, read_at, step, opening)

    def _begin(self, kind: Callable[..., Task], read_at: float, *asked: object) -> tuple[str, ...]:
        """Create the task of a search and start its clock; return the lines to write."""
        game = self._known_game()
        if kind is not searches.MoveTask:  # its searches play stones of their own
            self.game = game = game.copy()
        task = kind(self._ready(), game, self.settings, *asked)
        # A manager that waits for OK starts its clock afterwards. One that sends the first move
        # along with START has been waiting since then, except while it kept this process suspended:
        # so count processor time and time spent waiting for a processor, not wall time.
        waiting = not self._moved and self._ready_at is not None and read_at <= self._ready_at
        self._moved = True
        self._charged = time.process_time() + queued_time() if waiting else 0.0
        task.begin(self._plan(), read_at)
        self.task = task
        memory = self.settings.memory
        if memory >= LEAST_MEMORY or memory == self._complained:
            return ()
        self._complained = memory
        text = f"max_memory {memory} is too little; using the least there is"
        return (replies.remark("MESSAGE", text),)

    def _plan(self) -> pacing.TimePlan:
        game = self._known_game()
        ply, cells = stones_of(game), game.width * game.height
        return pacing.plan(self.settings.limits, ply, cells, self._charged, self._late)

    # -- the engine and its game -----------------------------------------------------------

    def _ready(self) -> Engine:
        """Return the engine with memory and threads as set, created if needed.

        KernelError or WeightsError if kernel or weights cannot be loaded.
        """
        settings = self.settings
        memory = max(settings.memory // self.divisor, 1)
        hash_size = max(settings.hash_size // self.divisor, 1) if settings.hash_size else None
        if self.engine is None:
            self.engine = self._make_engine(memory)
            self._settled = (memory, None, 1)
        wanted = (memory, hash_size, settings.threads)
        if self._settled != wanted:
            self.engine.set_memory(memory)
            self.engine.set_hash_size(hash_size)
            self.engine.set_threads(settings.threads)
            self._settled = wanted
        return self.engine

    def _new_game(self, width: int, height: int) -> Game:
        """Start a game on the engine under the current rule."""
        engine = self._ready()
        engine.new_game(width, height, self.settings.rule)
        self.game = engine.game
        return self.game

    def _empty_game(self, width: int, height: int) -> Game:
        """Start a game on an empty board."""
        self._after = None
        return self._new_game(width, height)

    def _known_game(self) -> Game:
        """Return the current game; without START, a board of 20x20."""
        if self.game is None:
            self._start(IMPLICIT_SIZE, IMPLICIT_SIZE)
        assert self.game is not None
        return self.game

    def _catch_up(self) -> Game:
        """Return the engine's game after bringing it up to date, including the rule."""
        game, engine = self._known_game(), self._ready()
        if engine.game is not game:
            own, board = engine.game, (game.width, game.height, self.settings.rule)
            if self._behind is not engine or (own.width, own.height, own.rule) != board:
                own = self._new_game(game.width, game.height)
            self.game, self._behind = own, None
            own.set_up(game.history, game.to_move)  # keeps the stones that agree
        elif game.rule is not self.settings.rule:
            engine.set_rule(self.settings.rule)
            self.game = engine.game
        return engine.game

    def _prepare_rule(self) -> None:
        """Set up a rule's tables, up to 85 ms on first use, before a clock runs."""
        engine, rule = self.engine, self.settings.rule
        if engine is not None and engine.game is self.game and self.game.rule is not rule:
            with suppress(KernelError, WeightsError):  # reported when a command needs the rule
                engine.set_rule(rule)
                self.game = engine.game

    # -- small things ----------------------------------------------------------------------

    def _free_game(self, x: int, y: int) -> Game:
        """Return the up-to-date game; Refused unless this cell is empty."""
        game = self._catch_up()
        if not game.on_board(x, y):
            raise Refused(f"{self._cell((x, y))} is off the board")
        if game.at(x, y) is not Side.EMPTY:
            raise Refused(f"{self._cell((x, y))} is occupied")
        return game

    def _seen(self, x: int, y: int) -> Coordinates:
        """Convert a pair of numbers from the client's order to x, y."""
        return (y, x) if self.settings.row_first else (x, y)

    def _cell(self, at: Coordinates) -> str:
        return replies.cells([at], self.settings.row_first)


def stones_of(game: Game) -> int:
    """Return the number of stones on the board, without blocked cells."""
    sides = [stone.side for stone in game.history]
    return len(sides) - sides.count(Side.WALL)
