"""Adaptive dynamic programming: learn the value of positions from games against oneself.

Zhao, Zhang and Dai, "Self-Teaching Adaptive Dynamic Programming for Gomoku" (2012). A *critic*
maps shapes to the winning chance, and learns from every move of games against itself by *temporal
differences* (Sutton 1988): a value should equal the value one move later, at the end the result.
Tang et al. (2016) combine it with Monte Carlo tree search: the critic's five favourite moves are
searched, and the value of each is half the critic's and half the search's.

Cost: ``learn`` plays some hundred games, once; its result is ``WEIGHTS`` below. A move costs one
position for each cell near the stones, plus the cost of UCT.
"""

from __future__ import annotations

from math import exp, sqrt
from random import Random

from .board import Budget, Choice, PlainGame
from .evaluation import order_actions
from .uct import UCT, Node

CANDIDATES = 5
MIX = 0.5  # share of the critic in the final value

# Of ``learn(1200, Random(1))``: for the roots of the counts of open fives with 1 to 4 stones.
WEIGHTS = [-0.35, 0.73, 1.47, 4.22, 0.57, -0.67, -1.12, -2.44, -0.13]


def features(game: PlainGame) -> list[float]:
    """Return the critic's features: roots of open fives by stones, for both sides, and a one."""
    own, other = game.open_fives[game.to_move], game.open_fives[1 - game.to_move]
    return [sqrt(count) for count in (*own[1:5], *other[1:5], 1)]


def critic(game: PlainGame, weights: list[float]) -> float:
    """Return the winning chance of the side to move."""
    if game.is_over():
        return 0.5 if game.winner is None else float(game.winner == game.to_move)
    total = sum(w * f for w, f in zip(weights, features(game), strict=True))
    return 1 / (1 + exp(-total))


def after(game: PlainGame, move: int, weights: list[float]) -> float:
    """Return the winning chance of the side to move if it plays ``move``."""
    game.play(move)
    chance = 1 - critic(game, weights)
    game.undo()
    return chance


def learn(
    games: int, rng: Random, size: int = 9, step: float = 0.05, doubt: float = 0.1
) -> list[float]:
    """Return the weights after ``games`` games against itself; ``doubt``: share of random moves."""
    weights = [0.0] * 9
    for _ in range(games):
        game = PlainGame(size)
        for _ in range(4):  # start anywhere
            game.play(rng.choice(game.actions()))
        while not game.is_over():
            seen, said = features(game), critic(game, weights)
            moves = game.actions()
            if rng.random() < doubt:
                move = rng.choice(moves)
            else:
                move = max(moves, key=lambda move: after(game, move, weights))
            game.play(move)
            # The temporal difference: the value one move later minus the value before.
            difference = (1 - critic(game, weights)) - said
            weights = [w + step * difference * f for w, f in zip(weights, seen, strict=True)]
    return weights


class Candidates(UCT):
    """UCT that tries the moves of a node in order of promise."""

    def moves(self, node: Node) -> list[int]:
        """Return the moves of a node, the most promising last, as these are tried first."""
        return order_actions(self.game)[::-1]


def choose(game: PlainGame, limit: Budget, rng: Random) -> Choice:
    """Return the best of the critic's favourites by the mean of critic and search."""
    moves = game.actions()
    chances = {move: after(game, move, WEIGHTS) for move in moves}
    best = sorted(moves, key=lambda move: -chances[move])[:CANDIDATES]
    if chances[best[0]] == 1 or len(best) == 1:
        return Choice(best[0], chances[best[0]], len(moves), (best[0],))
    tree = Candidates(game, limit.part(0.9), rng)
    tree.root.untried = best[:]
    tree.run()
    values = {
        child.move: MIX * chances[child.move] + (1 - MIX) * child.mean
        for child in tree.root.children
    }
    move = max(values, key=lambda move: values[move])
    return Choice(move, values[move], len(moves) + tree.effort.nodes, (move,))
