"""The openings of games of self-play, of several kinds.

- *square*: random stones in a small square, mostly around the centre;
- *balanced*: stones as players put them, each one of the policy's first moves;
- *wild*: random stones anywhere, which one side may like much better;
- *swap2*: three stones that begin swap2, and for a half of them two more.

All but the wild ones are stones in which a search sees neither side ahead.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from math import isfinite

from ..arena.openings import first_balanced, square_around
from ..engine.engine import Engine
from ..engine.swap2 import openings
from ..position.geometry import Coordinates

SQUARE, BALANCED, WILD, SWAP2 = "square", "balanced", "wild", "swap2"
KINDS = (SQUARE, BALANCED, WILD, SWAP2)
MIX = ((SQUARE, 0.3), (BALANCED, 0.4), (WILD, 0.1), (SWAP2, 0.2))
ALL_SQUARE = ((SQUARE, 1.0),)

STONES = (2, 9)  # of an opening
REACHES = (2, 3, 4)  # how far its stones lie from the middle of their square
OFF_CENTRE = 0.25  # share of squares that lie anywhere on the board
BALANCE = 150  # largest value of an opening for either side ...
WILD_BALANCE = 600  # ... and of a wild one
TRIES = 100  # openings looked at before the best of them is taken
PLAYED = (3, 9)  # stones of a balanced opening
AMONG = 12  # each of them is one of the policy's first moves
FIRST_REACH = 3  # how far the first one lies from the centre
PAIRED = 0.5  # share of swap2's openings that have five stones

Shares = tuple[tuple[str, float], ...]  # of each kind of opening, which add up to 1
Line = Sequence[Coordinates]  # the moves from the empty board to a position


def parse_shares(text: str) -> Shares:
    """Read ``square`` or ``balanced=0.5,swap2=0.25``, scaled to a sum of 1; ValueError if wrong."""
    found: dict[str, float] = {}
    for word in text.split(","):
        kind, _, share = word.strip().partition("=")
        try:
            number = float(share or 1)
        except ValueError:
            number = 0.0
        if kind not in KINDS or kind in found or not (isfinite(number) and number > 0):
            raise ValueError(f"openings {text}: {', '.join(KINDS)}, with shares such as wild=0.1")
        found[kind] = number
    total = sum(found.values())
    return tuple((kind, found[kind] / total) for kind in KINDS if kind in found)


def format_shares(shares: Shares) -> str:
    """Return what ``parse_shares`` reads."""
    return ",".join(f"{kind}={share:g}" for kind, share in shares)


def set_up_line(engine: Engine, line: Line) -> bool:
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


def scatter(chance: random.Random, board: int) -> list[Coordinates]:
    """Return random stones in a small square, mostly around the centre."""
    reach = min(chance.choice(REACHES), (board - 1) // 2)
    middle = (board // 2, board // 2)
    if chance.random() < OFF_CENTRE:
        middle = (chance.randrange(board), chance.randrange(board))
    near = square_around(middle, reach, board, board)
    return chance.sample(near, min(chance.randint(*STONES), len(near) - 1))


def play_out(engine: Engine, chance: random.Random, board: int) -> list[Coordinates]:
    """Return stones as players put them; fewer where the game would end or has no choice."""
    reach = min(FIRST_REACH, (board - 1) // 2)
    first = (board // 2 + chance.randint(-reach, reach), board // 2 + chance.randint(-reach, reach))
    stones = [first]
    for _ in range(chance.randint(*PLAYED) - 1):
        if not set_up_line(engine, stones):
            break
        policy = engine.policy()[:AMONG]
        if len(policy) < 2:
            break
        stones.append(chance.choice(policy)[0])
    return stones


def strew(chance: random.Random, board: int) -> list[Coordinates]:
    """Return random stones anywhere."""
    cells = [(x, y) for y in range(board) for x in range(board)]
    return chance.sample(cells, chance.randint(*STONES))


def begin_swap2(chance: random.Random, board: int) -> list[Coordinates]:
    """Return three stones that begin swap2, or five."""
    stones = list(chance.choice(openings(board, board, chance)))
    if chance.random() < PAIRED:
        reach = min(max(REACHES), (board - 1) // 2)
        near = {cell for stone in stones for cell in square_around(stone, reach, board, board)}
        stones += chance.sample(sorted(near - {*stones}), 2)
    return stones


def make_opening(
    engine: Engine, chance: random.Random, board: int, kind: str, judge: Callable[[], int]
) -> list[Coordinates]:
    """Return the first opening of ``kind`` that is found balanced, or the best of many.

    ``judge`` values the position of the engine.
    """

    def value_of(opening: Line) -> int:
        set_up_line(engine, opening)
        return judge()

    def candidates() -> Iterator[list[Coordinates]]:
        for _ in range(TRIES):
            if kind == BALANCED:
                yield play_out(engine, chance, board)
            else:
                yield makers[kind](chance, board)

    makers = {SQUARE: scatter, WILD: strew, SWAP2: begin_swap2}
    playable = (opening for opening in candidates() if set_up_line(engine, opening))
    return first_balanced(playable, value_of, WILD_BALANCE if kind == WILD else BALANCE)
