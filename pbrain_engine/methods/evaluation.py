"""An evaluation: what a position is worth without looking ahead, by counted shapes.

Shannon, "Programming a Computer for Playing Chess" (1950), was the first to write down such a sum:
count what is good for either side, weigh it, subtract. Here it is rows of five cells in which one
side alone has stones, the more of them the better, and a row counts more for the side that is to
move. As a method, it plays the move after which the sum is best.

Cost: the counts are kept with every stone (``board.py``), so a sum is a dozen multiplications; a
move of its own is one position for each cell near the stones.
"""

from __future__ import annotations

from random import Random

from .board import Budget, Choice, NodeCounter, PlainGame

# A row of five cells with 0 to 5 own stones and no other: its worth to the side to move, and
# to the other side. With four of them the side to move wins.
TO_MOVE = (0, 1, 8, 60, 5000, 0)
WAITING = (0, 1, 6, 30, 600, 0)

# The worth of a move to a row, by the own stones in it, or by those of the other side.
Points = tuple[int, ...]
MADE: Points = (1, 8, 60, 600, 100_000)
BROKEN: Points = (1, 6, 40, 400, 20_000)

WIN = 1_000_000  # less one for each stone on the board, so that a sooner win is worth more


def value(game: PlainGame, player: int) -> int:
    """Return what a position is worth to a player, at the end of the game or before."""
    if game.is_over():
        return utility(game, player)
    own, other = game.open_fives[game.to_move], game.open_fives[1 - game.to_move]
    total = sum(TO_MOVE[n] * own[n] - WAITING[n] * other[n] for n in range(1, 5))
    return total if player == game.to_move else -total


def utility(game: PlainGame, player: int) -> int:
    """Return what the end of a game is worth to a player."""
    if game.winner is None:
        return 0
    points = WIN - len(game.history)
    return points if game.winner == player else -points


def promise(game: PlainGame, cell: int, made: Points = MADE, broken: Points = BROKEN) -> int:
    """Return how much a cell matters at first sight: the rows through it, of either side."""
    own, other = game.stones[game.to_move], game.stones[1 - game.to_move]
    points = 0
    for five in game.through[cell]:
        if not other[five]:
            points += made[own[five]]
        elif not own[five]:
            points += broken[other[five]]
    return points


def order_actions(game: PlainGame) -> list[int]:
    """Return the actions, the most promising first."""
    return sorted(game.actions(), key=lambda cell: -promise(game, cell))


def choose(game: PlainGame, limit: Budget, rng: Random) -> Choice:
    """Return the move after which the position is worth most; one of the best by chance."""
    effort = NodeCounter(limit)
    player = game.to_move
    values: dict[int, int] = {}
    for move in order_actions(game):
        if values and effort.is_over:
            break
        effort.nodes += 1
        game.play(move)
        values[move] = value(game, player)
        game.undo()
    best = max(values.values())
    move = rng.choice([move for move, worth in values.items() if worth == best])
    return Choice(move, best, effort.nodes, (move,))
