"""Swap2 and balance commands: from the engine's choice to the words of each client."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from .. import swap2
from ..position.rules import Rule
from . import replies
from .record import Cell, Record
from .task import Answer, Task

if TYPE_CHECKING:
    from ..engine import Engine, Thought

Phrase = Callable[[swap2.Choice, int, bool], Answer]


def searcher(task: Task, engine: Engine) -> swap2.Searcher:
    """Return the engine with searches that share the time of a task."""

    def think(share: float, count: int) -> list[Thought]:
        by_index: dict[int, Thought] = {}

        def keep(thought: Thought) -> None:
            by_index[thought.multipv] = thought

        last = task.think(keep, share=share, count=count, leads=False)
        if count == 1 or 1 not in by_index:
            by_index[1] = last
        return [by_index[index] for index in sorted(by_index)]

    return swap2.Searcher(engine, think)


def swap2_choice(
    task: Task, engine: Engine, width: int, height: int, rule: Rule, cells: Sequence[Cell]
) -> swap2.Choice:
    """Search what to do with 0, 3 or 5 stones."""
    search = searcher(task, engine)
    if not cells:
        return swap2.first_three(search, width, height, rule)
    return swap2.choose(search, width, height, rule, cells)


def plain_choice(record: Record, cells: Sequence[Cell]) -> swap2.Choice:
    """Return a choice that needs no engine, for when there is no time or no engine."""
    if cells:
        return swap2.Choice(swap=True)
    middle_x, middle_y = record.width // 2, record.height // 2
    return swap2.Choice(
        stones=((middle_x, middle_y), (middle_x + 1, middle_y - 2), (middle_x - 2, middle_y + 2))
    )


def balance(task: Task, engine: Engine, stones: int, bias: int) -> tuple[Cell, ...] | None:
    """Search one or two stones that bring the value to the bias."""
    search = searcher(task, engine)
    if stones == 1:
        single = swap2.balanced_move(search, bias)
        return (single[0],) if single else None
    pair = swap2.balanced_pair(search, bias)
    return pair[0] if pair else None


def board_answer(choice: swap2.Choice, number: int, row_first: bool) -> Answer:
    """Answer SWAP2BOARD."""
    if choice.swap:
        return Answer((replies.SWAP,))
    return Answer((replies.cells(choice.stones, row_first),), choice.stones)


def step_answer(choice: swap2.Choice, number: int, row_first: bool) -> Answer:
    """Answer YXSWAP2STEP1 to 3, with messages as Yixin-Board reads them."""
    words = f"MESSAGE SWAP2 SWAP{1 if number == 3 else 2} "
    if choice.swap:
        return Answer((words + "YES",))
    if len(choice.stones) == 1:
        return Answer((words + "NO",))  # the client asks for the move with BOARD
    lines = [
        f"MESSAGE SWAP2 MOVE{number + k} {replies.cell(at, row_first).replace(',', ' ')}"
        for k, at in enumerate(choice.stones, 1)
    ]
    return Answer(tuple(lines), choice.stones)
