"""Searches that Ctrl-C stops, and strength levels for people.

A level limits the search and sets how often a weaker move is played.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from math import exp
from typing import NamedTuple, TypeVar

from .. import methods
from ..engine.engine import Engine, Limit, Thought
from ..engine.pacing import Limits, plan
from ..game.game import Game, Move
from ..game.result import Listener
from ..position.rules import Side
from ..threads import SearchThreads

Found = TypeVar("Found")


def in_thread(work: Callable[[], Found], stop: Callable[[], None], *, ends: bool = True) -> Found:
    """Run work in another thread and return its result; an interrupt calls ``stop``.

    It is raised again if ``ends`` is set or the work has no result.
    """
    result: list[Found] = []
    try:
        SearchThreads(stop).run(lambda: result.append(work()))
    except KeyboardInterrupt:
        if ends or not result:
            raise
    return result[0]


def think(
    engine: Engine, limit: Limit, *, on_iteration: Listener | None = None, multipv: int = 1
) -> list[Thought]:
    """Search in another thread and return the best lines, best first.

    An interrupt ends the search; it is raised again before the first line is found.
    """
    engine.arm()
    find = partial(engine.think_lines, limit, multipv, on_iteration=on_iteration)
    return in_thread(find, engine.stop, ends=False)


class Level(NamedTuple):
    """A strength: nodes or plies to search, and how far a chosen move may fall short."""

    nodes: int | None
    slip: float  # scale of a typical loss in value, in units of values.py; 0: always the best move
    depth: int | None = None
    elo: int | None = None  # above level 1, by build/levels.py; None: not measured
    word: str = ""  # the kind of player
    about: str = ""  # the player's typical habits


LEVELS = {  # the first ones limit depth, so that there are lines to choose from
    1: Level(None, 300.0, 1, 0, "first steps", "looks no further than its own stone"),
    2: Level(None, 200.0, 2, 170, "newcomer", "sees your answer, but often plays a weaker move"),
    3: Level(None, 130.0, 3, 340, "beginner", "blocks fours, and overlooks many open threes"),
    4: Level(3_000, 80.0, None, 440, "casual", "blocks most threes, and errs now and then"),
    5: Level(10_000, 45.0, None, 710, "practised", "punishes plain mistakes"),
    6: Level(30_000, 20.0, None, 920, "club player", "finds most short wins, and seldom errs"),
    7: Level(100_000, 0.0, None, 1240, "strong", "plays the best move that it sees"),
    8: Level(400_000, 0.0, None, 1430, "expert", "sees forced wins far ahead"),
    9: Level(2_000_000, 0.0, None, 1570, "master", "thinks for seconds about each move"),
    10: Level(None, 0.0, None, None, "full strength", "uses all the time it has"),
}
DEFAULT_LEVEL = 5  # as on the page
KEEPING_LEVEL = 7  # results of lower levels are not stored: their searches are too shallow
LEAST_SECONDS = 0.05
BYOYOMI_SHARE = 0.85  # of a byoyomi period used for a move, to stay clear of its end
CHOICES = 6  # moves to choose from at levels that slip
MOST_SEEN = 1000  # at these levels, the most that a win or loss counts: they can overlook it


def choose(
    engine: Engine,
    level: Level,
    seconds: float,
    chance: random.Random,
    listener: Listener | None = None,
) -> Thought:
    """Return the move that a player of this level makes, within a time in seconds."""
    limit = Limit(time=seconds, nodes=level.nodes, depth=level.depth)
    lines = CHOICES if level.slip else 1
    thoughts = think(engine, limit, on_iteration=listener, multipv=lines)
    if not level.slip or thoughts[0].mate == 1:  # a five is never overlooked
        return thoughts[0]
    seen = [max(-MOST_SEEN, min(MOST_SEEN, thought.value)) for thought in thoughts]
    weights = [exp((value - max(seen)) / level.slip) for value in seen]
    return chance.choices(thoughts, weights)[0]


def clock_seconds(left: float, increment: float, byoyomi: float, ply: int, cells: int) -> float:
    """Return how many seconds a move should take on a clock.

    ``left``: main time left; ``increment``: added after each move; ``byoyomi``: per move once the
    main time is used up. ``ply``: stones on a board of ``cells``.
    """
    limits = Limits(None, round(1000 * max(left, 0.0)), round(1000 * increment))
    shared = plan(limits, ply, cells).optimum
    free = BYOYOMI_SHARE * byoyomi
    return max(min(max(shared, free), max(left, 0.0) + free), LEAST_SECONDS)


def choose_by(
    name: str, game: Game, seconds: float, chance: random.Random
) -> tuple[Move, methods.Choice]:
    """Return the move that a textbook method chooses, within a time in seconds."""
    board = methods.PlainGame(game.width, game.height, game.rule)
    for (x, y), side, _ in game.history:
        if side is Side.WALL:
            board.block(y * game.width + x)
        else:
            board.to_move = int(side)
            board.play(y * game.width + x)
    board.to_move, board.winner = int(game.to_move), None  # stones may be set up in any order
    choice = methods.method(name)(board, methods.Budget(seconds), chance)
    y, x = divmod(choice.move, game.width)
    return Move(x, y), choice
