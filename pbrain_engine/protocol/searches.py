"""What a task does: find the best move, balance a position, or choose in swap2.

Each function returns the work of a task, with the answer that it would give for a given
best move and the answer that needs no search at all. An answer is never a cell that is
taken: what a search returns is held against the record.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..engine import swap2
from ..position.geometry import Coordinates
from . import replies
from .keeper import Keeper
from .record import ScoreSheet
from .report import Report
from .settings import Settings
from .task import Outcome, Task

if TYPE_CHECKING:
    from ..engine.engine import Engine, Thought
    from ..game.game import Move

Phrase = Callable[[swap2.Choice, int, bool], Outcome]


class Job(NamedTuple):
    """The makings of a task."""

    engine: Engine
    work: Callable[[Task], Outcome]
    answer_with: Callable[[Coordinates], Outcome]
    fallback: Outcome


def best_move(
    record: ScoreSheet,
    keeper: Keeper,
    settings: Settings,
    blocked: Collection[Coordinates],
    count: int,
) -> Job:
    """Search for the best move, or for so many best moves."""
    engine = keeper.catch_up(record, settings)
    exclude = exclusions(record, blocked)

    def answer_with(at: Coordinates) -> Outcome:
        at = sound(record, at, exclude)
        return Outcome((replies.cell(at, settings.row_first),), (at,))

    def work(task: Task) -> Outcome:
        report = Report(
            task.emit, record.stones, record.to_move, settings.rule, settings.show_detail,
            settings.row_first, count,
        )  # fmt: skip
        thought = task.think(report.iteration, count=count, exclude=exclude)
        report.finish()
        return answer_with(thought.move)

    return Job(engine, work, answer_with, answer_with(keeper.quick_move(record, exclude)))


def balance(record: ScoreSheet, keeper: Keeper, settings: Settings, stones: int, bias: int) -> Job:
    """Search one or two stones that bring the value to the bias."""
    engine = keeper.catch_up(record, settings)

    def answer_with(at: Coordinates) -> Outcome:
        cells = [sound(record, at)]
        second = record.first_free(cells)
        if stones == 2 and second is not None:
            cells.append(second)
        return Outcome((replies.cells(cells, settings.row_first),), tuple(cells))

    def work(task: Task) -> Outcome:
        keeper.fall_out_of_step()  # the search plays stones of its own
        search = searcher(task, engine)
        if stones == 1:
            single = swap2.balanced_move(search, bias)
            found: Sequence[Coordinates] = (single[0],) if single else ()
        else:
            pair = swap2.balanced_pair(search, bias)
            found = pair[0] if pair else ()
        if not found or not all_free(record, found):
            return task.fallback
        return Outcome((replies.cells(found, settings.row_first),), tuple(found))

    return Job(engine, work, answer_with, answer_with(keeper.quick_move(record)))


def swap_choice(
    record: ScoreSheet, keeper: Keeper, settings: Settings, phrase: Phrase, alone: bool = False
) -> Job:
    """Search what to do in swap2 with the 0, 3 or 5 stones of the record.

    ``alone``: the other opening, in which only the first stone is put before the swap.
    """
    engine = keeper.catch_up(record, settings)
    cells = list(record.stones)
    if alone:
        plain = swap2.Choice(stones=(keeper.quick_move(record),))
    else:
        plain = plain_choice(record, cells)
    fallback = phrase(plain, len(cells), settings.row_first)

    def keep(task: Task, choice: swap2.Choice) -> None:
        if all_free(record, choice.stones):
            task.fallback = phrase(choice, len(cells), settings.row_first)

    def work(task: Task) -> Outcome:
        keeper.fall_out_of_step()
        search = searcher(task, engine, lambda choice: keep(task, choice))
        shape = record.width, record.height, settings.rule
        if cells:
            choice = swap2.choose(search, *shape, cells)
        elif alone:
            choice = swap2.first_one(search, *shape)
        else:
            known = engine.balanced(stones=3)
            choice = swap2.first_three(search._replace(known=known), *shape)
        if not all_free(record, choice.stones):
            return task.fallback
        return phrase(choice, len(cells), settings.row_first)

    return Job(engine, work, lambda at: fallback, fallback)


def searcher(
    task: Task, engine: Engine, keep: Callable[[swap2.Choice], None] = lambda choice: None
) -> swap2.Searcher:
    """Return the engine with searches that share the time of a task."""

    def think(share: float, count: int) -> list[Thought]:
        by_rank: dict[int, Thought] = {}

        def rank(thought: Thought) -> None:
            by_rank[thought.multipv] = thought

        last = task.think(rank, share=share, count=count, leads=False)
        if count == 1 or 1 not in by_rank:
            by_rank[1] = last
        return [by_rank[place] for place in sorted(by_rank)]

    def deepen(share: float, note: swap2.Note) -> list[Thought]:
        found: list[Thought] = []

        def listen(thought: Thought) -> None:
            found.append(thought)
            note(thought)

        last = task.think(listen, share=share, leads=False)
        return found or [last]

    def tell(text: str) -> None:
        task.emit(replies.debug(f"swap: {text}"))

    return swap2.Searcher(engine, think, deepen, tell, keep)


def plain_choice(record: ScoreSheet, cells: Sequence[Coordinates]) -> swap2.Choice:
    """Return a choice that needs no engine, for when there is no time or no engine."""
    if cells:
        return swap2.Choice(swap=True)
    middle_x, middle_y = record.width // 2, record.height // 2
    return swap2.Choice(
        stones=((middle_x, middle_y), (middle_x + 1, middle_y - 2), (middle_x - 2, middle_y + 2))
    )


def board_answer(choice: swap2.Choice, number: int, row_first: bool) -> Outcome:
    """Answer SWAP2BOARD."""
    if choice.swap:
        return Outcome((replies.SWAP,))
    return Outcome((replies.cells(choice.stones, row_first),), choice.stones)


def step_answer(choice: swap2.Choice, number: int, row_first: bool) -> Outcome:
    """Answer YXSWAP2STEP1 to 3, with messages as Yixin-Board reads them."""
    words = f"MESSAGE SWAP2 SWAP{1 if number == 3 else 2} "
    if choice.swap:
        return Outcome((words + "YES",))
    if len(choice.stones) == 1:
        return Outcome((words + "NO",))  # the client asks for the move with BOARD
    lines = [
        f"MESSAGE SWAP2 MOVE{number + k} {replies.cell(at, row_first).replace(',', ' ')}"
        for k, at in enumerate(choice.stones, 1)
    ]
    return Outcome(tuple(lines), choice.stones)


def exclusions(record: ScoreSheet, blocked: Collection[Coordinates]) -> list[Move]:
    """Return the blocked cells, unless nothing else is left."""
    from ..game.game import Move

    if record.first_free(blocked) is None:
        return []
    return [Move(x, y) for x, y in sorted(blocked) if record.is_free(x, y)]


def sound(
    record: ScoreSheet, at: Coordinates, exclude: Collection[Coordinates] = ()
) -> Coordinates:
    """Return this cell if a stone can go there, else one where it can."""
    x, y = at
    if record.is_free(x, y) and at not in exclude:
        return x, y
    return record.first_free(exclude) or (x, y)


def all_free(record: ScoreSheet, cells: Sequence[Coordinates]) -> bool:
    """Say whether stones can go on all of these cells, which differ."""
    return len(set(cells)) == len(cells) and all(record.is_free(x, y) for x, y in cells)
