"""Thinking while the terminal stays alive, which Ctrl-C ends, and strength levels for people.

A level says how much is searched, and how often a lesser move is taken.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from math import exp
from typing import NamedTuple, TypeVar

from .. import methods
from ..engine.engine import Engine, Limit, Thought
from ..engine.thought import Listener
from ..engine.threads import SearchThreads
from ..game.game import Game, Move
from ..position.rules import Side

Found = TypeVar("Found")


def in_thread(work: Callable[[], Found], stop: Callable[[], None], *, ends: bool = True) -> Found:
    """Do work in another thread, so that an interrupt is heard: it makes the work ``stop``.

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
    engine: Engine,
    limit: Limit,
    *,
    on_iteration: Listener | None = None,
    multipv: int = 1,
    ends: bool = False,
) -> list[Thought]:
    """Return the best lines, best first, thought of in another thread.

    An interrupt ends the search, and where it ``ends``, the program.

    Raises:
        KeyboardInterrupt: as ``in_thread`` does.
        EngineError: the board is full.
    """
    engine.arm()
    return in_thread(
        lambda: engine.think_lines(limit, multipv, on_iteration=on_iteration),
        engine.stop,
        ends=ends,
    )


class Level(NamedTuple):
    """A strength: positions or plies searched, and the values a player does not tell apart."""

    nodes: int | None
    slip: float  # in units of values.py; 0: always the best move
    depth: int | None = None
    elo: int | None = None  # above level 1, by build/levels.py; None: not measured


LEVELS = {
    1: Level(None, 300.0, 1, elo=0),  # by depth, so that there are lines to choose from
    2: Level(None, 200.0, 2, elo=170),
    3: Level(None, 130.0, 3, elo=340),
    4: Level(3_000, 80.0, elo=440),
    5: Level(10_000, 45.0, elo=710),
    6: Level(30_000, 20.0, elo=920),
    7: Level(100_000, 0.0, elo=1240),
    8: Level(400_000, 0.0, elo=1430),
    9: Level(2_000_000, 0.0, elo=1570),
    10: Level(None, 0.0),
}
DEFAULT_LEVEL = 5  # as on the page
KEEPING_LEVEL = 7  # those below think too little to be believed
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
