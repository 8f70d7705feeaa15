"""Evolution: a population of parameter sets, whose fitness is what they score in games.

In every generation each individual meets the parameters at the start in the same openings.
Parents are the winners of small tournaments; a child takes each parameter from one of them
or from between both, and some of its parameters mutate. The fittest live on and keep their
score, so that a lucky generation does not make a champion; the outcome is their mean, which
is worth more than the best of them, whose score is mostly luck.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .duels import WIN, Duel
from .space import Point, Space

POPULATION = 32
DUELS = 4  # of each individual in a generation
SURVIVORS = 0.25  # share of the population that lives on
TOURNAMENT = 3
BLEND = 0.3  # probability that a parameter lies between those of the parents
MUTATION = 0.5  # probability that a parameter mutates
MUTATION_STEP = 0.5  # standard deviation of a mutation, in steps
DOUBT = 8  # duels at an even score that every individual is thought to have played before


@dataclass(slots=True)
class Individual:
    """A parameter set and its score in half points against the start."""

    genes: Point
    points: int = 0
    duels: int = 0

    @property
    def fitness(self) -> float:
        """The share of the points, drawn to one half where duels are few."""
        return (self.points + DOUBT * WIN / 2) / (WIN * (self.duels + DOUBT))


class Evolution:
    """The state of an evolutionary run: the population and how many duels it has played."""

    def __init__(
        self,
        space: Space,
        duels: int,
        seed: int,
        population: int = POPULATION,
        each: int = DUELS,
    ) -> None:
        """Plan a run of about so many duels; a generation is never left half played."""
        self.space = space
        self.duels = duels
        self.done = 0
        self.generation = 0
        self._seed = seed
        self._size = population
        self._each = each
        chance = random.Random(f"{seed}:evolution")
        self.population = [Individual(dict(space.start))]
        while len(self.population) < population:
            self.population.append(Individual(self.mutated(space.start, chance, 1.0)))

    def ask(self) -> list[Duel]:
        """Return the duels of a generation: each individual against the start."""
        if self.done >= self.duels:
            return []
        first = self.generation * self._each
        return [
            Duel(number, individual.genes, self.space.start)
            for individual in self.population
            for number in range(first, first + self._each)
        ]

    def tell(self, duels: Sequence[Duel], results: Sequence[int]) -> None:
        """Count the half points and, unless the run is over, breed the next generation."""
        for index, individual in enumerate(self.population):
            scored = results[index * self._each : (index + 1) * self._each]
            individual.points += sum(scored)
            individual.duels += len(scored)
        self.done += len(duels)
        self.generation += 1
        self.population.sort(key=lambda individual: -individual.fitness)
        if self.done < self.duels:
            self._breed(random.Random(f"{self._seed}:evolution:{self.generation}"))

    def _breed(self, chance: random.Random) -> None:
        """Replace all but the survivors by children."""
        survivors = self._survivors
        children: list[Individual] = []
        while survivors + len(children) < self._size:
            genes = self.crossed(self.selected(chance), self.selected(chance), chance)
            children.append(Individual(self.mutated(genes, chance, MUTATION)))
        self.population = self.population[:survivors] + children

    def selected(self, chance: random.Random) -> Point:
        """Return the genes of the fittest of some individuals taken at random."""
        rivals = chance.sample(self.population, min(TOURNAMENT, len(self.population)))
        return max(rivals, key=lambda individual: individual.fitness).genes

    def crossed(self, one: Point, other: Point, chance: random.Random) -> Point:
        """Return a child's genes: each from one parent, or from between both."""
        child: dict[str, float] = {}
        for name in self.space.names:
            if chance.random() < BLEND:
                share = chance.random()
                child[name] = share * one[name] + (1 - share) * other[name]
            else:
                child[name] = chance.choice((one, other))[name]
        return self.space.round_by_chance(child, chance)

    def mutated(self, genes: Mapping[str, int], chance: random.Random, rate: float) -> Point:
        """Return genes of which each has changed with this probability."""
        changed: dict[str, float] = dict(genes)
        for name in self.space.names:
            if chance.random() < rate:
                changed[name] += chance.gauss(0, MUTATION_STEP * self.space.steps[name])
        return self.space.round_by_chance(changed, chance)

    @property
    def _survivors(self) -> int:
        return max(1, round(self._size * SURVIVORS))

    @property
    def best(self) -> Point:
        """The mean of the fittest, who stand first after every generation."""
        fittest = self.population[: self._survivors if self.generation else 1]
        means = {
            name: sum(individual.genes[name] for individual in fittest) / len(fittest)
            for name in self.space.names
        }
        return self.space.round(means)

    @property
    def remark(self) -> str:
        """The best score so far, in a few words."""
        best = max(self.population, key=lambda individual: individual.fitness)
        if not best.duels:
            return f"generation {self.generation}"
        share = 100 * best.points / (WIN * best.duels)
        return f"generation {self.generation}, best {share:.1f} % of {2 * best.duels} games"

    def state(self) -> dict[str, Any]:
        """Return all that is needed to go on from here."""
        return {
            "done": self.done,
            "generation": self.generation,
            "population": [asdict(individual) for individual in self.population],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from such a state."""
        self.done = state["done"]
        self.generation = state["generation"]
        self.population = [Individual(**each) for each in state["population"]]
