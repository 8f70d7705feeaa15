"""A genetic algorithm: breed sequences of moves, and play the first of the best.

After Wang and Huang, "Evolving Gomoku Solver by Genetic Algorithm" (2014). A chromosome is the
next moves of both sides in turn, each a cell near the stones. Its fitness counts the shapes that
its moves make and break: a four is worth 4800, a three 97, a two 17, positive for the mover's
moves, negative for the other side's. In each generation the fitter ones are *selected* as parents,
two of them are cut at the same point and *crossed*, and now and then a move *mutates*.

Cost: a generation plays each of its sequences once. The method does not know forced replies: a
sequence works only if the other side plays along.
"""

from __future__ import annotations

from random import Random

from .board import Budget, Choice, NodeCounter, PlainGame
from .evaluation import order_actions, promise

LENGTH = 5  # moves of a chromosome
POPULATION = 40
GENERATIONS = 30
FAR = 0.3  # weight of a move relative to the one before
MUTATION = 0.2  # probability that one move of a child changes
NARROW = 20  # cells that genes are drawn from, the most promising

MADE = (0, 17, 97, 4800, 1_000_000)  # points of a row, by the own stones before the move
BROKEN = (0, 0, 17, 97, 100_000)  # by the stones of the other side, for which it is closed


class Breeding:
    """A population of sequences for the position on the board."""

    def __init__(self, game: PlainGame, limit: Budget, rng: Random) -> None:
        """Start with random sequences; each promising cell starts one or more."""
        self.game, self.effort, self.rng = game, NodeCounter(limit), rng
        self.cells = order_actions(game)[:NARROW]
        self.length = min(LENGTH, len(self.cells))
        self.population = []
        for number in range(POPULATION):
            sequence = rng.sample(self.cells, self.length)
            first = self.cells[number % len(self.cells)]
            self.population.append([first, *(c for c in sequence if c != first)][: self.length])

    def fitness(self, sequence: list[int]) -> float:
        """Play a sequence and sum up its shapes; earlier moves count more."""
        game, points, weight = self.game, 0.0, 1.0
        self.effort.nodes += 1
        with game.kept():
            for cell in sequence:
                if game.is_over() or not game.is_legal(cell):
                    break
                points += weight * promise(game, cell, MADE, BROKEN)
                game.play(cell)
                weight *= -FAR
        return points

    def select(self, ranked: list[list[int]]) -> list[int]:
        """Return the fitter of two random sequences."""
        return ranked[min(self.rng.randrange(len(ranked)) for _ in range(2))]

    def cross(self, mother: list[int], father: list[int]) -> list[int]:
        """Return the mother's first moves followed by the father's, without duplicates."""
        cut = self.rng.randrange(1, self.length + 1)
        rest = [cell for cell in father if cell not in mother[:cut]]
        return [*mother[:cut], *rest][: self.length]

    def mutate(self, sequence: list[int]) -> list[int]:
        """Change a random move, sometimes."""
        fresh = [cell for cell in self.cells if cell not in sequence]
        if fresh and self.rng.random() < MUTATION:
            sequence[self.rng.randrange(self.length)] = self.rng.choice(fresh)
        return sequence

    def breed(self) -> None:
        """Replace the population by its children, except the two best."""
        ranked = sorted(self.population, key=self.fitness, reverse=True)
        self.population = ranked[:2]
        while len(self.population) < POPULATION:
            child = self.cross(self.select(ranked), self.select(ranked))
            self.population.append(self.mutate(child))


def choose(game: PlainGame, limit: Budget, rng: Random) -> Choice:
    """Breed generations; return the first move of the fittest sequence."""
    breeding = Breeding(game, limit, rng)
    for _ in range(GENERATIONS):
        if breeding.effort.is_over:
            break
        breeding.breed()
    best = max(breeding.population, key=breeding.fitness)
    points = breeding.fitness(best)
    return Choice(best[0], points, breeding.effort.nodes, tuple(best))
