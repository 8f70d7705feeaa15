"""An evaluation: the value of a position without looking ahead, from counts of shapes.

Shannon, "Programming a Computer for Playing Chess" (1950), introduced such a sum: count the assets
of both sides, weight them, subtract. Here these are rows of five cells with stones of only one
side, the more stones the better, and a row counts more for the side to move. As a method, it plays
the move after which the sum is best.

Cost: the counts are updated with every stone (``board.py``), so a sum is a dozen multiplications;
choosing a move costs one position for each cell near the stones.
"""

from __future__ import annotations

from random import Random

from .board import Budget, Choice, NodeCounter, PlainGame

# The value of a row with 0 to 5 stones of one side only, for the side to move and for the other
# side. With four stones the side to move wins.
TO_MOVE = (0, 1, 8, 60, 5000, 0)
WAITING = (0, 1, 6, 30, 600, 0)

# The value of a move in a row, by the number of own stones in it, or of the other side's.
Points = tuple[int, ...]
MADE: Points = (1, 8, 60, 600, 100_000)
BROKEN: Points = (1, 6, 40, 400, 20_000)

WIN = 1_000_000  # minus one for each stone on the board, so that an earlier win is better


def value(game: PlainGame, player: int) -> int:
    """Return the value of a position for a player, also at the end of the game."""
    if game.is_over():
        return utility(game, player)
    own, other = game.open_fives[game.to_move], game.open_fives[1 - game.to_move]
    total = sum(TO_MOVE[n] * own[n] - WAITING[n] * other[n] for n in range(1, 5))
    return total if player == game.to_move else -total


def utility(game: PlainGame, player: int) -> int:
    """Return the value of a finished game for a player."""
    if game.winner is None:
        return 0
    points = WIN - len(game.history)
    return points if game.winner == player else -points


def promise(game: PlainGame, cell: int, made: Points = MADE, broken: Points = BROKEN) -> int:
    """Return the promise of a cell: points for the rows of either side through it."""
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
    """Return the move with the best value after it, a random one of the best."""
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
