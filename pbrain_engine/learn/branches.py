"""Branches: positions beside those of a game, as search trees have them, each with its own label.

Search trees are full of positions that no game shows: moves that no player would choose, threats
left unanswered. Half of the branches are such positions: where a search of the game met its node
limit, which is any one of its tree, its leaf searches included. The others leave the game at a
random place and go on with a few moves of which every second or so is odd. Each is searched, once.
It is not played to the end, so it has a value and a move but no result (Veness et al. 2009 learn
from such trees for the same reason).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from ..engine.alphabeta import Glance
from ..engine.engine import Engine
from ..game.opinion import policy_of
from ..position.geometry import Coordinates
from ..values import WIN
from .records import MOST_OPENING, NO_VALUE, Ending, Record

STEPS = (1, 1, 2, 2, 3)  # moves between the game and the branch
TREE_SHARE = 0.6  # of the branches: positions of the trees of searches, where that is of use
ODD_SHARE = 0.5  # of the moves to the others, how many are odd
ODD_AMONG = 14  # an odd move is any of the policy's first
TRIES = 8  # positions looked at for each branch that is wanted
NEAR_END = 4  # plies to the end of what is decided at a glance: by a five or a winning four

Line = Sequence[Coordinates]  # the moves from the empty board to a position
Search = Callable[[], Glance | None]


def lay(engine: Engine, line: Line) -> bool:
    """Put these stones in place of all others; False if there is a foul, a win or a full board."""
    game = engine.game
    shared = 0
    for stone, move in zip(game.history, line, strict=False):
        if stone.move != move:
            break
        shared += 1
    while game.ply > shared:
        engine.undo()
    for x, y in line[shared:]:
        if game.is_forbidden(x, y):
            return False
        engine.play(x, y)
        if game.winner is not None:
            return False
    return not game.is_over


def odd_or_sound(engine: Engine, chance: random.Random) -> Coordinates | None:
    """Return a move to walk on with: any good-looking one, or one by the policy's chances."""
    policy = policy_of(engine.game, engine.game.address)  # which is a worker's
    if chance.random() < ODD_SHARE:
        policy = [(move, 1.0) for move, _ in policy[:ODD_AMONG]]
    if not policy:
        return None
    shares = [share for _, share in policy]
    return chance.choices([move for move, _ in policy], shares)[0]


def walk(engine: Engine, chance: random.Random, line: Line) -> bool:
    """Go some moves on from a position; return whether there is something to search at the end."""
    if not lay(engine, line):
        return False
    for _ in range(chance.choice(STEPS)):
        move = odd_or_sound(engine, chance)
        if move is None:
            return False
        engine.play(*move)
        if engine.game.is_over:
            return False
    return True


def grow(
    engine: Engine,
    chance: random.Random,
    game: Record,
    ends: Sequence[Line],
    share: float,
    search: Search,
) -> tuple[Record, ...]:
    """Return branches of a game, as many as make up this share of all its positions.

    ``ends``: where the searches of the game ended; ``search`` looks at the engine's position. What
    is decided at a glance, or has an only move, teaches nothing and is left out.
    """
    width = game.width
    line = [(cell % width, cell // width) for cell in game.moves]
    positions = len(line) - game.opening
    wanted = int(share / (1 - share) * positions + chance.random())
    found: list[Record] = []
    for place in sorted(chance.random() for _ in range(wanted)):  # so that few stones change
        in_tree = bool(ends) and chance.random() < TREE_SHARE
        seen = None
        for _ in range(TRIES):
            if in_tree:
                is_open = lay(engine, ends[int(place * len(ends))])
                in_tree = False
            else:
                is_open = walk(engine, chance, line[: game.opening + int(place * positions)])
            seen = search() if is_open else None
            teaches = seen and seen.choices > 1 and abs(seen.value) < WIN - NEAR_END
            if teaches and engine.game.ply <= MOST_OPENING:
                break
        else:
            continue
        assert seen is not None
        cells = [move.y * width + move.x for move in (*engine.game.moves, seen.move)]
        values = (*[NO_VALUE] * (len(cells) - 1), seen.value)
        found.append(
            game._replace(
                opening=len(cells) - 1,
                result=0,
                ending=Ending.BRANCH,
                moves=tuple(cells),
                values=values,
            )
        )
    return tuple(found)
