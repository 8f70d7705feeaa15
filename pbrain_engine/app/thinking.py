"""Searches that Ctrl-C stops, and strength levels for people.

A level says how much is searched, and how often a lesser move is taken.
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
from ..engine.thought import Listener
from ..game.game import Game, Move
from ..position.rules import Side
from ..threads import SearchThreads

Found = TypeVar("Found")


def in_thread(work: Callable[[], Found], stop: Callable[[], None], *, ends: bool = True) -> Found:
    """Do work in another thread, where an interrupt makes it ``stop``.

    ``ends``: it ends the program, too, once the work has stopped.

    Raises:
        KeyboardInterrupt: there was an interrupt that ends the program, or the work with no result.
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
    """Return the best lines, best first, thought of in another thread.

    An interrupt ends the search.

    Raises:
        KeyboardInterrupt: there was an interrupt before there was a line.
        EngineError: the board is full.
    """
    engine.arm()
    find = partial(engine.think_lines, limit, multipv, on_iteration=on_iteration)
    return in_thread(find, engine.stop, ends=False)


class Level(NamedTuple):
    """A strength: positions or plies searched, and the values a player does not tell apart."""

    nodes: int | None
    slip: float  # in units of values.py; 0: always the best move
    depth: int | None = None
    elo: int | None = None  # above level 1, by build/levels.py; None: not measured
    word: str = ""  # what kind of player this is, and what it is like
    about: str = ""


LEVELS = {  # the first by depth, so that there are lines to choose from
    1: Level(None, 300.0, 1, 0, "first steps", "looks no further than its own stone"),
    2: Level(None, 200.0, 2, 170, "newcomer", "sees your answer, and often takes a lesser move"),
    3: Level(None, 130.0, 3, 340, "beginner", "blocks fours, and overlooks many open threes"),
    4: Level(3_000, 80.0, None, 440, "casual", "blocks most threes, and errs now and then"),
    5: Level(10_000, 45.0, None, 710, "practised", "punishes plain mistakes"),
    6: Level(30_000, 20.0, None, 920, "club player", "finds most short wins, and seldom errs"),
    7: Level(100_000, 0.0, None, 1240, "strong", "plays the best move that it sees"),
    8: Level(400_000, 0.0, None, 1430, "expert", "sees forced wins far ahead"),
    9: Level(2_000_000, 0.0, None, 1570, "master", "thinks for seconds about each move"),
    10: Level(None, 0.0, None, None, "full strength", "uses all the time it has"),
}
OPPONENTS = {  # of the textbooks (docs/methods.md), and what they are like
    "minimax": "looks at every move two plies deep",
    "alphabeta": "the same by a quicker search",
    "deepening": "searches deeper as long as it has time",
    "evaluation": "knows what rows are worth, and searches a little",
    "proofnumber": "tries to prove a win",
    "threatspace": "attacks with threats, one after the other",
    "uct": "plays many games at random, and follows the best",
    "knowledge": "plays games that are less random",
    "puct": "lets the engine's network guide its tree",
    "adp": "has learned from games against itself",
    "genetic": "breeds lines of play",
}
DEFAULT_LEVEL = 5  # as on the page
KEEPING_LEVEL = 7  # those below think too little to be believed
LEAST_SECONDS = 0.05
BYOYOMI_SHARE = 0.85  # of a period that a move takes, so that it is never late
CHOICES = 6  # moves that a slip chooses from
MOST_SEEN = 1000  # where moves slip, a win or loss counts no more than this: it is overlooked, too


def choose(
    engine: Engine,
    level: Level,
    seconds: float,
    chance: random.Random,
    listener: Listener | None = None,
) -> Thought:
    """Return what a player of this level would play, within this time in seconds."""
    limit = Limit(time=seconds, nodes=level.nodes, depth=level.depth)
    lines = CHOICES if level.slip else 1
    thoughts = think(engine, limit, on_iteration=listener, multipv=lines)
    if not level.slip or thoughts[0].mate == 1:  # a five is never overlooked
        return thoughts[0]
    seen = [max(-MOST_SEEN, min(MOST_SEEN, thought.value)) for thought in thoughts]
    weights = [exp((value - max(seen)) / level.slip) for value in seen]
    return chance.choices(thoughts, weights)[0]


def clock_seconds(left: float, increment: float, byoyomi: float, ply: int, cells: int) -> float:
    """Return how long a move should take by a clock, in seconds.

    ``left``: of the main time; what each move adds to it; and what each move may take once it is
    gone. ``ply``: the stones on a board of ``cells``.
    """
    limits = Limits(None, round(1000 * max(left, 0.0)), round(1000 * increment))
    shared = plan(limits, ply, cells).optimum
    free = BYOYOMI_SHARE * byoyomi
    return max(min(max(shared, free), max(left, 0.0) + free), LEAST_SECONDS)


def choose_by(
    name: str, game: Game, seconds: float, chance: random.Random
) -> tuple[Move, methods.Choice]:
    """Return the move of a textbook method in a game, within this time in seconds."""
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
