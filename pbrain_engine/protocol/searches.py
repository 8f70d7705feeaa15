"""Search tasks for a manager's commands, each with its time.

A task is created by the session, run in a thread and watched by the loop. It finds the best move,
balances a position or decides in swap2 and Soosorv-8, by one or more searches of the engine that
divide the time of the plan.

A task starts with an answer that needs no search. An answer is never a taken cell: moves from a
search are checked against the game.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from ..engine import swap2
from ..engine.engine import Engine, Limit, Thought
from ..engine.pacing import UNLIMITED, Pace, TimePlan
from ..errors import Refused, counted
from ..game.cells import NotationError, cell_name
from ..game.game import Game, Move
from ..game.result import Listener
from ..position.geometry import Coordinates
from ..position.rules import Side
from ..threads import start_deep
from . import replies
from .commands import Settings, fewest_nodes

if TYPE_CHECKING:
    from ..game.opening_rules import OpeningPlay

MANY_SHARE = 0.85  # of the time, for tasks of many searches, each of which ends a little late


class Outcome(NamedTuple):
    """The lines to write, and the stones they put on the board."""

    lines: tuple[str, ...]
    moves: tuple[Coordinates, ...] = ()


class Task(ABC):
    """A search: run it once, in any thread; all other methods may be called meanwhile.

    ``answer`` is always the best so far.
    """

    read_at: float  # when its clock started
    deadline: float  # the moment at which the answer must be ready

    def __init__(self, engine: Engine, game: Game, settings: Settings) -> None:
        self.engine = engine
        self.game = game
        self.settings = settings
        self.answer = Outcome(())
        self.answered = False  # the manager has an answer
        self.emit: Callable[[str], None] = lambda line: None  # writes lines during the search
        self._nodes = fewest_nodes(settings.max_nodes, settings.strength)
        self._depth = settings.max_depth or None

    def begin(self, plan: TimePlan, read_at: float) -> None:
        """Start the clock: the plan counts from ``read_at``, a moment of ``perf_counter``."""
        self.read_at, self.deadline = read_at, read_at + plan.hard
        self._stopped = plan.hard <= 0
        self._plan = plan
        self._pace = Pace(plan, read_at)  # of the engine's current or next search

    def start(self, post: Callable[[tuple[Task, str | BaseException | None]], None]) -> None:
        """Run in a thread; it posts pairs of the task and a line, at the end an error or None."""
        self.emit = lambda line: post((self, line))

        def work() -> None:
            problem = None
            try:
                self.run()
            except BaseException as error:
                problem = error
            post((self, problem))

        start_deep([work])

    def put(self, *cells: Coordinates) -> None:
        """Set the answer to stones on these cells."""
        self.answer = Outcome((replies.cells(cells, self.settings.row_first),), cells)

    @abstractmethod
    def run(self) -> None:
        """Search for the answer."""

    def stop(self) -> None:
        """Ask the search to end now; repeat until it has."""
        self._stopped = True
        self.engine.stop()

    def relimit(self, plan: TimePlan) -> None:
        """Replace the plan; its limits also count from ``read_at``."""
        if plan == self._plan:  # most INFO keys do not concern time
            return
        now = perf_counter()  # a deadline set now cannot be in the past
        self._plan, self.deadline = plan, max(self.read_at + plan.hard, min(self.deadline, now))
        if plan.hard <= 0:
            self.stop()
        else:
            self._pace.change(plan)

    def think(self, listener: Listener, count: int = 1, exclude: Iterable[Move] = ()) -> Thought:
        """Search the engine's position within the task's time."""
        limit = Limit(time=0.0 if self._stopped else None, nodes=self._nodes, depth=self._depth)
        pace = None if self._stopped else self._pace
        return self.engine.think(
            limit, pace=pace, on_iteration=listener, multipv=count, exclude=exclude
        )

    def part(self, share: float, count: int, listener: Listener) -> Thought:
        """Search, as one of several searches, with a share of the task's time left."""
        plan = self._plan
        most = plan.optimum * MANY_SHARE
        now = perf_counter() - self.read_at
        hard = UNLIMITED if most == UNLIMITED else now + (most - now) * share
        self._pace = Pace(TimePlan(hard, hard), self.read_at)
        if self._plan is not plan:  # changed meanwhile
            self._pace.change(self._plan)
        return self.think(listener, count)

    def opening_search(
        self, keep: Callable[[swap2.OpeningChoice], None] = lambda choice: None
    ) -> swap2.OpeningSearch:
        """Return an opening search that divides the task's time."""

        def tell(text: str) -> None:
            self.emit(replies.remark("DEBUG", f"swap: {text}"))

        return swap2.OpeningSearch(self.engine, self.part, tell, keep)


class MoveTask(Task):
    """Searches for the ``count`` best moves and plays the best."""

    def __init__(
        self,
        engine: Engine,
        game: Game,
        settings: Settings,
        blocked: Collection[Coordinates],
        count: int,
    ) -> None:
        """Exclude the blocked cells, unless no other is left."""
        super().__init__(engine, game, settings)
        self._count = count
        cells = [Move(x, y) for x, y in sorted(blocked) if game.at(x, y) is Side.EMPTY]
        self._exclude = cells if len(cells) < game.width * game.height - game.ply else []
        self._play(engine.quick_move(self._exclude))

    def _play(self, at: Coordinates) -> None:
        self.put(sound(self.game, at, self._exclude))

    def run(self) -> None:
        """Search for the move."""
        report = replies.Report(self.emit, self.game, self.settings, self._count)

        def listen(thought: Thought) -> None:
            if thought.multipv == 1:
                self._play(thought.move)
            report.iteration(thought)

        thought = self.think(listen, self._count, self._exclude)
        report.finish()
        self._play(thought.move)


class BalanceTask(Task):
    """Searches for one or two stones that bring the value to the bias."""

    def __init__(
        self, engine: Engine, game: Game, settings: Settings, stones: int, bias: int
    ) -> None:
        """Start with quick moves as the answer."""
        super().__init__(engine, game, settings)
        self._stones, self._bias = stones, bias
        first = sound(game, engine.quick_move())
        self.put(*(first, first_free(game, [first]))[:stones])

    def run(self) -> None:
        """Search for the stones."""
        game = self.game
        if game.width * game.height - game.ply == self._stones:
            return  # the last cells; no search follows on a full board
        find = swap2.balanced_move if self._stones == 1 else swap2.balanced_pair
        found, _ = find(self.opening_search(), self._bias)
        if all_free(game, found):
            self.put(*found)


class SwapTask(Task):
    """Searches for the swap2 decision with the game's 0, 3 or 5 stones.

    ``steps``: answer with Yixin-Board's messages, not in the form of SWAP2BOARD.
    ``alone``: the opening with just one stone before the swap.
    """

    def __init__(
        self, engine: Engine, game: Game, settings: Settings, steps: bool, alone: bool
    ) -> None:
        """Start with an answer that needs no search."""
        super().__init__(engine, game, settings)
        self._steps, self._alone = steps, alone
        x, y = game.width // 2, game.height // 2
        plain = swap2.OpeningChoice(stones=((x, y), (x + 1, y - 2), (x - 2, y + 2)))
        if alone:
            plain = swap2.OpeningChoice(stones=(engine.quick_move(),))
        elif game.history:
            plain = swap2.OpeningChoice(swap=True)
        self._keep(plain)

    def _keep(self, choice: swap2.OpeningChoice) -> None:
        if not all_free(self.game, choice.stones):
            return
        if not self._steps:
            if choice.swap:
                self.answer = Outcome(("SWAP",))
            else:
                self.put(*choice.stones)
            return
        ply, row_first = self.game.ply, self.settings.row_first
        lines = [
            f"MESSAGE SWAP2 MOVE{ply + k} {replies.cells([at], row_first).replace(',', ' ')}"
            for k, at in enumerate(choice.stones, 1)
        ]
        moves = choice.stones
        if len(moves) < 2:  # only the colour is chosen; the client asks for the move with BOARD
            word = "YES" if choice.swap else "NO"
            lines, moves = [f"MESSAGE SWAP2 SWAP{1 if ply == 3 else 2} {word}"], ()
        self.answer = Outcome(tuple(lines), moves)

    def run(self) -> None:
        """Search for the decision."""
        is_first = self._alone and not self.game.history
        choose = swap2.first_one if is_first else swap2.choose
        self._keep(choose(self.opening_search(self._keep)))


class OpeningTask(Task):
    """Searches for a step of Soosorv-8 and answers with Yixin-Board's messages."""

    def __init__(
        self, engine: Engine, game: Game, settings: Settings, step: int, opening: OpeningPlay
    ) -> None:
        """Start with an answer that needs no search."""
        super().__init__(engine, game, settings)
        self._step, self._opening = step, opening
        self._count = {1: 3, 3: 2}.get(step, 1)  # actions that the step asks for
        self._keep([])

    def _keep(self, words: Sequence[str]) -> None:
        """Set the answer to these actions, completed by default actions."""
        opening = self._opening.after(words)
        while len(opening.actions) < len(self._opening.actions) + self._count:
            opening.play(opening.plain())
        word, before = opening.actions[-1], len(self._opening.stones)
        cells = opening.offered if self._step == 5 else opening.stones[before:]
        spaced = [replies.cells([at], self.settings.row_first).replace(",", " ") for at in cells]
        lines = {
            1: [f"MOVE{number} {cell}" for number, cell in enumerate(spaced, 1)],
            2: [f"SWAP1 {'Y' if word == 'swap' else 'N'}"],
            3: [f"MOVE4 {cell} {opening.count}" for cell in spaced],
            4: [f"SWAP2 {'Y' if word == 'swap' else 'N'}"],
            5: ["MOVE5 REFRESH", *(f"MOVE5 {cell}" for cell in spaced), "MOVE5 DONE"],
            6: [f"MOVE5 C {cell}" for cell in spaced],
        }[self._step]
        self.answer = Outcome(
            tuple(f"MESSAGE SOOSORV {line}" for line in lines), tuple(opening.stones[before:])
        )

    def run(self) -> None:
        """Search for the actions of the step."""
        from random import Random  # imported late, as in swap2

        from ..engine.opening_choices import decide

        words: list[str] = []
        while len(words) < self._count:
            searcher = self.opening_search()
            words += decide(searcher, self._opening.after(words), Random()).split()
            self._keep(words)


def soosorv(step: int, cells: Sequence[Coordinates], number: int) -> OpeningPlay:
    """Return a Soosorv-8 opening before one of Yixin-Board's six steps.

    ``cells``: the stones so far; ``number``: the declared number of fifth stones. Refused if the
    rule does not allow this opening.
    """
    from ..game.opening_rules import RULES, OpeningPlay

    if len(cells) not in ((0,), (3,), (3,), (4,), (4,), range(5, 13))[step - 1]:
        raise Refused(f"YXSOOSORVSTEP{step} with {counted(len(cells), 'stone')}")
    names = [cell_name(*cell) for cell in cells]
    words = [*names[:3], "keep", *names[3:4], str(len(cells) - 4 if step == 6 else number), "keep",
             "+".join(names[4:])]  # fmt: skip
    opening = OpeningPlay(RULES["soosorv-8"])
    try:
        opening.play(" ".join(words[: (0, 3, 4, 6, 7, 8)[step - 1]]))
    except NotationError as error:
        raise Refused(f"YXSOOSORVSTEP{step}: {error}") from None
    return opening


def sound(game: Game, at: Coordinates, exclude: Collection[Coordinates] = ()) -> Coordinates:
    """Return this cell if it is empty and not excluded, else another free one."""
    is_free = game.at(*at) is Side.EMPTY and at not in exclude
    return at if is_free else first_free(game, exclude)


def first_free(game: Game, exclude: Collection[Coordinates] = ()) -> Coordinates:
    """Return the empty cell nearest to the centre; an excluded one only if no other is left."""
    cells, x, y = game.empty_cells(), (game.width - 1) / 2, (game.height - 1) / 2
    others = [cell for cell in cells if cell not in exclude]
    return min(others or cells, key=lambda at: (abs(at.x - x) + abs(at.y - y), at))


def all_free(game: Game, cells: Sequence[Coordinates]) -> bool:
    """Return whether these cells are distinct and empty."""
    return len(set(cells)) == len(cells) and all(game.at(x, y) is Side.EMPTY for x, y in cells)
