"""A conversation with a manager, without input or output.

``handle`` takes one command and returns the lines to write at once and, if a move is due,
the task that finds it. Whoever runs the session (the loop, or a test) runs the task and
hands its answer to ``conclude``. While a task runs, only INFO and ABOUT may be handled.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from ..engine import clock
from ..eval.weights import WeightsError
from ..native.load.library import KernelError
from ..position.geometry import MAX_BOARD, MIN_BOARD, Coordinates
from ..position.rules import Side
from . import commands, replies, searches
from .commands import Command, Word
from .keeper import Keeper
from .record import ScoreSheet
from .settings import MAX_THREADS, Settings
from .task import Outcome, Task

if TYPE_CHECKING:
    from ..engine.engine import Engine

IMPLICIT_SIZE = 20  # of the board when a manager forgets START
LEAST_MEMORY = 24_000_000  # below this not even a small table fits
DEFEND_COUNT = 20  # moves that YXSEARCHDEFEND compares
MAX_COUNT = 64  # best moves that YXNBEST compares


class Response(NamedTuple):
    """What to do about a command."""

    lines: tuple[str, ...] = ()
    task: Task | None = None
    leave: bool = False


class Refusal(Exception):
    """The command cannot be carried out; the reason goes into an ERROR line."""


def is_yixin(command: Command) -> bool:
    """Say whether only clients that speak like Yixin-Board or gomocalc say this."""
    if isinstance(command, Word):
        return command.value.startswith("YX") and command is not Word.YXSTOP
    if isinstance(command, commands.Board):
        return not command.think
    return isinstance(command, commands.Nbest | commands.Balance | commands.BlockCells)


def wants_move(command: Command) -> bool:
    """Say whether a client waits for a move after this command."""
    if isinstance(command, commands.Board):
        return command.think
    return command is Word.BEGIN or isinstance(command, commands.Turn | commands.Nbest)


def queued_time() -> float:
    """Return the seconds that the main thread has waited for a processor, where Linux tells.

    Wine must not be asked: its server reads files, and would tell of itself.
    """
    if sys.platform == "win32":
        return 0.0
    try:
        with open("/proc/self/schedstat", "rb") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


class Session:
    """One manager, one engine, one board."""

    def __init__(self, make_engine: Callable[[int], Engine]) -> None:
        """Begin without an engine; ``make_engine(memory)`` is called when one is needed."""
        self.settings = Settings()
        self.record: ScoreSheet | None = None  # None before START
        self._keeper = Keeper(make_engine)
        self._blocked: set[Coordinates] = set()
        self._ready_at: float | None = None  # when the first START was answered
        self._moved = False  # a move has been asked for
        self._charged = 0.0  # seconds of the start that are on the clock of this move
        self._complained = 0  # the max_memory that we have complained about
        self._task: Task | None = None
        self._reserve = clock.Reserve()

    # -- what the loop calls ---------------------------------------------------------------

    def handle(self, command: Command, read_at: float) -> Response:
        """Carry out a command that was read at this moment of ``perf_counter``."""
        if is_yixin(command):
            self.settings.yixin = True
        try:
            return self._dispatch(command, read_at)
        except Refusal as refusal:
            return Response((replies.error(str(refusal)),))
        except (KernelError, WeightsError) as reason:
            if self._keeper.engine is not None:
                raise  # it is not missing, it has failed
            return Response((replies.error(" ".join(str(reason).split())),))

    def conclude(self, task: Task, answer: Outcome, busy: bool = False) -> tuple[str, ...]:
        """Take the answer of a task into the game and return the lines to write.

        The engine is left alone while it is ``busy``, still searching past its time.
        """
        self._task = None
        if busy:
            self._keeper.fall_out_of_step()
        now = time.perf_counter()
        self.settings.spend(now - task.read_at)
        self._reserve.note(now - task.deadline)
        for x, y in answer.moves:
            self._put(x, y)
        return answer.lines

    def emergency(self, command: Command) -> tuple[str, ...]:
        """Return what to write for a command on which everything else has failed."""
        self.abandon_engine(gone=True)
        cell = self.record.first_free() if self.record and wants_move(command) else None
        if cell is None:
            return (replies.error("internal error"),)
        self._put(*cell)
        return (self._cell(cell),)

    def abandon_engine(self, gone: bool) -> None:
        """Go on with a new engine; the old one is ``gone`` or may still hold its memory."""
        self._keeper.abandon(gone)
        self._task = None

    def memory_is_back(self) -> None:
        """Note that an abandoned engine has gone after all."""
        self._keeper.memory_is_back()

    # -- commands --------------------------------------------------------------------------

    def _dispatch(self, command: Command, read_at: float) -> Response:
        match command:
            case commands.Info(key, value):
                self.settings.update(key, value)
                if self._task is not None:
                    self._task.relimit(self._plan())
                return Response()
            case commands.Turn(x, y):
                return self._turn(*self._seen(x, y), read_at)
            case commands.Board():
                return self._board(command, read_at)
            case commands.Start(width, height):
                return self._start(*self._seen(width, height))
            case commands.Takeback(x, y):
                return self._takeback(*self._seen(x, y))
            case commands.Play(x, y):
                return self._play(*self._seen(x, y))
            case commands.Nbest(wanted):
                return self._search(read_at, count=min(max(wanted, 1), MAX_COUNT))
            case commands.Balance(stones, bias):
                return self._balance(stones, bias, read_at)
            case commands.Swap2Board():
                cells = [self._seen(x, y) for x, y, _ in command.stones]
                return self._swap2_with(cells, command.bad, read_at, searches.board_answer)
            case commands.BlockCells():
                return self._block(command)
            case commands.Malformed(reason):
                raise Refusal(reason)
            case commands.Unknown(text):
                return Response((replies.unknown(text),))
            case Word():
                return self._word(command, read_at)

    def _word(self, word: Word, read_at: float) -> Response:
        match word:
            case Word.ABOUT:
                return Response((replies.ABOUT,))
            case Word.BEGIN:
                if self._game().ply:
                    raise Refusal("BEGIN on a board with stones")
                return self._search(read_at)
            case Word.RESTART:
                record = self._game()
                return self._start(record.width, record.height)
            case Word.END:
                return Response(leave=True)
            case Word.STOP | Word.YXSTOP:
                return Response()
            case Word.YXSHOWINFO:
                return Response(tuple(replies.about_limits(MAX_THREADS, self.settings.memory)))
            case Word.YXSHOWFORBID:
                return self._show_forbidden()
            case Word.YXHASHCLEAR:
                if self._keeper.engine is not None:
                    self._keeper.engine.clear_hash()
                return Response()
            case Word.YXBLOCKRESET:
                self._blocked.clear()
                return Response()
            case Word.YXSEARCHDEFEND:
                return self._search(read_at, count=DEFEND_COUNT)
            case Word.YXSWAP2STEP1 | Word.YXSWAP2STEP2 | Word.YXSWAP2STEP3:
                return self._swap2_step(int(word.value[-1]), read_at)

    def _start(self, width: int, height: int) -> Response:
        if not (MIN_BOARD <= width <= MAX_BOARD and MIN_BOARD <= height <= MAX_BOARD):
            return Response((replies.BAD_SIZE,))
        record = ScoreSheet(width, height)
        self._keeper.fall_out_of_step()
        self._keeper.catch_up(record, self.settings)
        self.record = record
        self.settings.new_game()
        if self._ready_at is None:
            self._ready_at = time.perf_counter()
        return Response((replies.OK,))

    def _turn(self, x: int, y: int, read_at: float) -> Response:
        record = self._game()
        self._check_free(record, x, y)
        if record.is_won(self.settings.rule) and not self.settings.is_continuous:
            raise Refusal("the game is over")
        self._put(x, y)
        return self._search(read_at)

    def _play(self, x: int, y: int) -> Response:
        record = self._game()
        self._check_free(record, x, y)
        self._put(x, y)
        return Response((self._cell((x, y)),))

    def _takeback(self, x: int, y: int) -> Response:
        record = self._game()
        last = next(reversed(record.stones), None)
        if last != (x, y) or record.stones[x, y] is Side.WALL:
            raise Refusal(f"{x},{y} is not the last stone")
        record.undo()
        self._keeper.undo(record)
        return Response((replies.OK,))

    def _board(self, command: commands.Board, read_at: float) -> Response:
        old = self._game()
        record = ScoreSheet(old.width, old.height)
        owners = colours(command.stones)
        bad = command.bad
        for stone in command.stones:
            x, y = self._seen(stone.x, stone.y)
            if stone.field is None or not record.is_free(x, y):
                bad += 1
                continue
            record.place(x, y, owners.get(stone.field, Side.WALL))
        record.to_move = owners[1]
        self._take(record)
        note = (replies.message(f"{bad} bad stones left out"),) if bad else ()
        if not command.think:
            return Response(note)
        response = self._search(read_at)
        return response._replace(lines=note + response.lines)

    def _block(self, command: commands.BlockCells) -> Response:
        cells = {self._seen(x, y) for x, y, _ in command.cells}
        if command.on:
            self._blocked |= cells
        else:
            self._blocked -= cells
        return Response()

    def _show_forbidden(self) -> Response:
        engine = self._keeper.catch_up(self._game(), self.settings)
        moves = [(x, y) for x, y in engine.game.forbidden()]
        return Response((replies.forbidden(moves, self.settings.row_first),))

    # -- searches --------------------------------------------------------------------------

    def _search(self, read_at: float, count: int = 1) -> Response:
        record = self._game()
        if record.is_full:
            raise Refusal("board full")
        if self.settings.may_swap_first and record.ply == len(record.stones) < 2 and count == 1:
            job = searches.swap_choice(
                record, self._keeper, self.settings, searches.board_answer, alone=True
            )
            return self._task_for(job, read_at)
        job = searches.best_move(record, self._keeper, self.settings, self._blocked, count)
        return self._task_for(job, read_at)

    def _balance(self, stones: int, bias: int, read_at: float) -> Response:
        record = self._game()
        if record.width * record.height - len(record.stones) < stones:
            raise Refusal("board full")
        job = searches.balance(record, self._keeper, self.settings, stones, bias)
        return self._task_for(job, read_at)

    def _swap2_step(self, step: int, read_at: float) -> Response:
        cells = [] if step == 1 else list(self._game().stones)
        if len(cells) != (0, 3, 5)[step - 1]:
            raise Refusal(f"YXSWAP2STEP{step} with {len(cells)} stones")
        return self._swap2_with(cells, 0, read_at, searches.step_answer)

    def _swap2_with(
        self, cells: list[Coordinates], bad: int, read_at: float, phrase: searches.Phrase
    ) -> Response:
        game = self._game()
        record = ScoreSheet(game.width, game.height)
        for x, y in cells:
            if record.is_free(x, y):
                record.play(x, y)
            else:
                bad += 1
        if bad or len(cells) not in (0, 3, 5):
            raise Refusal("SWAP2BOARD takes 0, 3 or 5 stones on different cells")
        self._take(record)
        job = searches.swap_choice(record, self._keeper, self.settings, phrase)
        return self._task_for(job, read_at)

    def _task_for(self, job: searches.Job, read_at: float) -> Response:
        """Return the response that starts a search, with its time and its limits."""
        self._charged = self._start_up(read_at)
        plan = self._plan()
        nodes, depth = self.settings.node_limit, self.settings.max_depth or None
        self._task = Task(*job, plan, read_at, nodes=nodes, depth=depth)
        return Response(self._complaint(), self._task)

    def _plan(self) -> clock.TimePlan:
        record = self._game()
        cells = record.width * record.height
        reserve = self._reserve.seconds
        return clock.plan(self.settings.limits, record.ply, cells, self._charged, reserve)

    def _start_up(self, read_at: float) -> float:
        """Return the seconds that the start of the program has taken off the clock.

        A manager that waits for OK starts its clock afterwards. One that sends the first
        move along with START has been waiting since then, except while it kept us
        suspended: so processor time counts, and time spent waiting for a processor, but
        not the time on the wall.
        """
        waiting = not self._moved and self._ready_at is not None and read_at <= self._ready_at
        self._moved = True
        return time.process_time() + queued_time() if waiting else 0.0

    # -- small things ----------------------------------------------------------------------

    def _game(self) -> ScoreSheet:
        """Return the record of the game; without START there is a board of 20 by 20."""
        if self.record is None:
            self._start(IMPLICIT_SIZE, IMPLICIT_SIZE)
        assert self.record is not None
        return self.record

    def _take(self, record: ScoreSheet) -> None:
        """Take over another position."""
        self.record = record
        self._keeper.fall_out_of_step()

    def _put(self, x: int, y: int) -> None:
        """Play a move of the side to move in the record and on the engine."""
        self._game().play(x, y)
        self._keeper.play(x, y)

    def _check_free(self, record: ScoreSheet, x: int, y: int) -> None:
        if not record.is_on_board(x, y):
            raise Refusal(f"{x},{y} is off the board")
        if (x, y) in record.stones:
            raise Refusal(f"{x},{y} is occupied")

    def _seen(self, x: int, y: int) -> Coordinates:
        """Return a pair of numbers as x,y, whatever order this client writes."""
        return (y, x) if self.settings.row_first else (x, y)

    def _cell(self, at: Coordinates) -> str:
        return replies.cell(at, self.settings.row_first)

    def _complaint(self) -> tuple[str, ...]:
        memory = self.settings.memory
        if memory >= LEAST_MEMORY or memory == self._complained:
            return ()
        self._complained = memory
        return (replies.message(f"max_memory {memory} is too little; using the least there is"),)


def colours(stones: tuple[commands.Stone, ...]) -> dict[int, Side]:
    """Return who owns fields 1 and 2: the owner of the first listed stone is black."""
    first = next((s.field for s in stones if s.field in (1, 2)), 1)
    own = Side.BLACK if first == 1 else Side.WHITE
    return {1: own, 2: own.opponent}
