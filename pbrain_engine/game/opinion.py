"""What the evaluation says of a position without any search: its value, and a policy.

The policy is the chance of each move that a search would list to be the one that is played,
as the network sees it; without a network, as the learned scores of the moves do.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from math import exp

from ..native.load.memory import Block
from .game import Game, Move, move_of

LOGIT_UNIT = 256


@contextmanager
def _desk(game: Game) -> Iterator[int]:
    """Yield the address of a worker that has the game on it."""
    memory = Block(game.library.sizes["worker"])
    try:
        game.copy_to(game.like(memory))
        yield memory.address
    finally:
        memory.close()


def value_of(game: Game) -> int:
    """Return the value of the position for the side to move (``values.py``).

    The network's where the rule is played with one, else the linear one (``Game.value``).
    """
    with _desk(game) as worker:
        return game.library.worker_value(worker, game.tables)


def logits_of(game: Game, worker: int | None = None) -> dict[Move, int]:
    """Return the moves that a search would list, each with 256 times the logarithm of a weight.

    There is none where the game is over or every move is forbidden. ``worker``: the address of one
    that has the game on it and does not search; one is made where there is none, which takes
    several times as long as the rest.
    """
    if game.is_over:
        return {}
    room = game.width * game.height
    out = (ctypes.c_int64 * (2 * room))()
    with _desk(game) if worker is None else nullcontext(worker) as worker:
        count = game.library.worker_policy(worker, game.tables, ctypes.addressof(out), room)
    return {move_of(out[2 * i]): out[2 * i + 1] for i in range(count)}


def policy_of(game: Game, worker: int | None = None) -> list[tuple[Move, float]]:
    """Return the moves of ``logits_of`` with their chances, best first.

    The chances are from 0 to 1 and add up to 1.
    """
    logits = logits_of(game, worker)
    highest = max(logits.values(), default=0)
    weights = {move: exp((logit - highest) / LOGIT_UNIT) for move, logit in logits.items()}
    total = sum(weights.values())
    chances = [(move, weight / total) for move, weight in weights.items()]
    return sorted(chances, key=lambda entry: -entry[1])
