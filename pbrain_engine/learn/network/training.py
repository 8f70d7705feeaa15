"""Training: steps over positions, with checkpoints to resume from.

A run depends only on its settings, its games and the number of threads: interrupted and resumed, it
yields the same network as without a break.
"""

from __future__ import annotations

import json
import math
import os
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...errors import FileError, WeightsError
from ...eval.weights import Weights
from ...files import Document, in_place_of
from ...notation.games import LABELS
from ...position.rules import Rule
from ...values import WIN_BAND
from .batch import Batch, Threads, make_batch, patterns
from .dataset import ENOUGH, Dataset, Floats, Ints, best_scale
from .layout import Layout, Outputs, Widths
from .learner import Adam, AdamStep, Learner
from .quantise import NetworkBlock, begin_at

WARM_UP = 100  # steps
LAST_RATE = 0.01  # of the learning rate, at the end
CLIP = 1.0  # of the length of the gradient
AVERAGED = 0.998  # decay of the running mean of the weights
VALUE_SHARE, LEVEL_SHARE = 2.0, 0.02  # weights of the losses of value and mean logit; the move's: 1
QUICK = 6000  # held-out positions to evaluate during training


class TrainingSettings(NamedTuple):
    """Everything that a run depends on except its games."""

    family: str
    steps: int
    batch: int = 4096
    rate: float = 3e-3
    mix: float = 0.7
    labels: str = LABELS[0]
    seed: int = 1
    threads: int = 1
    widths: Widths = Widths()
    begin: str = ""  # the weights whose network it starts from


class Score(NamedTuple):
    """Mean losses over positions."""

    target: float
    result: float
    entropy: float
    first: float

    def __str__(self) -> str:
        return (
            f"value {self.target:.4f}, on results {self.result:.4f}, "
            f"move {self.entropy:.4f}, first {self.first:.1%}"
        )


class Tally:
    """Adds up losses, ignoring NaN."""

    def __init__(self) -> None:
        self.sums, self.counts = np.zeros((2, len(Score._fields)))

    def add(self, losses: Sequence[Floats]) -> None:
        """Add the losses of some positions, in the order of a score."""
        for i, each in enumerate(losses):
            known = each[~np.isnan(each)]
            self.sums[i] += known.sum(dtype=np.float64)
            self.counts[i] += len(known)

    def score(self) -> Score:
        """Return the means."""
        with np.errstate(invalid="ignore"):
            return Score(*(self.sums / self.counts).tolist())


class Order:
    """The order of training positions, shuffled anew in every epoch."""

    def __init__(self, datasets: Sequence[Dataset], batch: int, seed: int) -> None:
        """Leave out held-out positions; a batch has one board size."""
        self._places = [np.flatnonzero(~dataset.held) for dataset in datasets]
        self._batch, self._seed = batch, seed
        self.positions = sum(map(len, self._places))
        # The remainder of an epoch is dropped, unless it is everything.
        self._counts = [max(1, len(each) // batch) if len(each) else 0 for each in self._places]
        self.batches = sum(self._counts)

    def epoch(self, number: int) -> Iterator[tuple[int, Ints]]:
        """Yield the batches of an epoch: the index of a dataset, and indices of its positions."""
        chance = np.random.default_rng([self._seed, number])
        mixed = [chance.permutation(each) for each in self._places]
        turns = np.repeat(np.arange(len(mixed)), self._counts)
        done = [0] * len(mixed)
        for place in chance.permutation(turns).tolist():
            begin = done[place] * self._batch
            done[place] += 1
            yield place, mixed[place][begin : begin + self._batch]

    def after(self, step: int) -> Iterator[tuple[int, Ints]]:
        """Yield the batches after a step, endlessly."""
        number, begin = divmod(step, self.batches)
        while True:
            for place, batch in enumerate(self.epoch(number)):
                if place >= begin:
                    yield batch
            number, begin = number + 1, 0


def held_out(datasets: Sequence[Dataset], batch: int, most: int) -> Iterator[tuple[int, Ints]]:
    """Yield batches of the held-out positions, evenly thinned to about ``most`` positions."""
    places = [np.flatnonzero(dataset.held) for dataset in datasets]
    step = max(1, sum(map(len, places)) // most)
    for number, each in enumerate(places):
        chosen = each[::step]
        yield from ((number, chosen[i : i + batch]) for i in range(0, len(chosen), batch))


class Run:
    """A network in training."""

    def __init__(
        self,
        settings: TrainingSettings,
        datasets: Sequence[Dataset],
        weights: Weights,
        start: NetworkBlock | None,
    ) -> None:
        """Start from the linear evaluation of ``weights`` or the network ``start``.

        FileError if the network does not fit, or no game has a result.
        """
        self.settings = settings
        self.datasets = [
            dataset.with_targets(settings.mix, labels=settings.labels) for dataset in datasets
        ]
        self.scale = linear_scale(self.datasets)
        self.order = Order(self.datasets, settings.batch, settings.seed)
        known = patterns(Rule.parse(settings.family).traits.half)
        tied = not Rule.parse(settings.family).traits.fouls
        self.layout = Layout(known, tied, settings.widths)
        numbers = self.layout.start(settings.seed)
        anchor = np.zeros_like(numbers)
        if start is not None:
            try:
                numbers, anchor = begin_at(start, self.layout, settings.seed, self.scale)
            except WeightsError as error:
                raise FileError(f"{settings.begin}: its network {error}") from None
        self.threads = Threads(settings.threads)
        self.learner = Learner(self.layout, numbers, self.threads)
        self.adam, self.step = Adam.begin(numbers, anchor), 0  # steps done
        self.best, self.least = numbers.copy(), math.inf  # best on held-out positions, and its loss
        self.history, self.tally = list[Document](), Tally()
        self.about = json.loads(json.dumps({
            **settings._asdict(),
            "widths": settings.widths._asdict(),
            "scale": self.scale,
            "positions": self.order.positions,
            "weights": weights.key,
        }))  # fmt: skip

    def rate(self) -> float:
        """Return the learning rate of the next step: warm-up, then cosine decay."""
        share = self.step / self.settings.steps
        falling = LAST_RATE + (1 - LAST_RATE) * (1 + math.cos(math.pi * share)) / 2
        return self.settings.rate * min(1.0, (self.step + 1) / WARM_UP) * falling

    def batch(self, number: int, chosen: Ints) -> Batch:
        """Return a batch of positions of a dataset."""
        layout = self.layout
        return make_batch(
            self.datasets[number], chosen, self.scale, layout.known, layout.tied, self.threads
        )

    def learn(self, batch: Batch) -> Outputs:
        """Do one step."""
        positions, chosen = batch.positions, batch.chosen
        chooses = int(positions.picks[chosen].sum())
        opens = int(positions.opens[chosen].sum())
        said = self.learner.learn(batch, (
            VALUE_SHARE / max(1, opens), 1 / max(1, chooses), LEVEL_SHARE / len(chosen),
        ))  # fmt: skip
        done = self.step + 1
        gradient = self.learner.gradients[0]
        length = float(np.sqrt(np.dot(gradient, gradient)))
        if length > CLIP:
            gradient *= gradient.dtype.type(CLIP / length)
        step = AdamStep(self.rate(), 0.0, done, min(AVERAGED, done / (done + 50)))
        self.adam.update(gradient, self.layout.parts, step, self.threads)
        self.step = done
        return said

    def evaluate(self, numbers: Floats, most: int = 1 << 62) -> Score:
        """Return the losses of a network on about ``most`` of the held-out positions."""
        tally = Tally()
        for number, chosen in held_out(self.datasets, self.settings.batch, most):
            tally.add(self.learner.measure(numbers, self.batch(number, chosen))[2:])
        return tally.score()

    def linear(self) -> Score:
        """Return the losses of the linear evaluation and move score on the held-out positions."""
        numbers = np.zeros_like(self.learner.numbers)
        views = self.layout.views(numbers)
        for side in range(self.layout.sides):
            views[f"head{side}.linear_share"][:] = views[f"head{side}.score_share"][:] = 1
        return self.evaluate(numbers)

    def go(
        self,
        checkpoint: Path,
        every: int,
        watch: Callable[[Score, Score, float], None] = lambda learned, held, speed: None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> float:
        """Train to the end; save, measure and ``watch`` every ``every`` steps.

        The averaged network with the least loss is kept as the best, which with few games is not
        the last. Returns the positions learned per second, or 0. KeyboardInterrupt if training was
        stopped; its state is saved.
        """
        seen, seconds = 0, 0.0
        for number, chosen in self.order.after(self.step):
            if self.step >= self.settings.steps:
                break
            if stopped():
                self.save(checkpoint)
                raise KeyboardInterrupt
            start = time.perf_counter()
            self.tally.add(self.learn(self.batch(number, chosen))[2:])
            seconds += time.perf_counter() - start
            seen += len(chosen)
            if self.step % every == 0 or self.step == self.settings.steps:
                held = self.evaluate(self.adam.mean, QUICK)
                loss = VALUE_SHARE * held.target + held.entropy
                if not loss >= self.least:
                    self.best, self.least = self.adam.mean.copy(), loss
                learned = self.tally.score()
                self.history.append({"step": self.step, "learned": learned, "held": held})
                self.tally = Tally()
                self.save(checkpoint)
                watch(learned, held, seen / seconds)
        return seen / seconds if seconds else 0.0

    def save(self, path: Path) -> None:
        """Write a checkpoint atomically: a power cut leaves the previous one intact."""
        with in_place_of(path) as part, part.open("wb") as file:
            np.savez(
                file, numbers=self.learner.numbers, best=self.best, mean=self.adam.mean,
                slope=self.adam.slope, square=self.adam.square, step=np.array(self.step),
                tally=np.stack([self.tally.sums, self.tally.counts]),
                about=np.array(json.dumps(self.about)), least=np.array(self.least),
                history=np.array(json.dumps(self.history)),
            )  # fmt: skip
            file.flush()
            os.fsync(file.fileno())

    def resume(self, path: Path) -> None:
        """Resume from a checkpoint; FileError if it is damaged, or of other settings or games."""
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as members:
                state = {name: members[name] for name in members.files}
            found, history = json.loads(str(state["about"])), json.loads(str(state["history"]))
            arrays = {name: state[name] for name in ("numbers", "best", "mean", "slope", "square")}
            step, least = int(state["step"]), float(state["least"])
            sums, counts = state["tally"]
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise FileError(f"{path} is not a readable checkpoint: {reason}") from None
        for key in sorted({*found, *self.about}):
            if found.get(key) != self.about.get(key):
                was, now = found.get(key), self.about.get(key)
                raise FileError(f"{path} was trained with {key} {was}, not {now}")
        for name, array in arrays.items():
            if array.shape != self.best.shape:
                raise FileError(f"{path} has {array.size} {name}, not {self.best.size}")
        self.learner.numbers[:], self.best = arrays["numbers"], arrays["best"]
        for name in ("mean", "slope", "square"):
            getattr(self.adam, name)[:] = arrays[name]
        self.step, self.least, self.history = step, least, history
        self.tally.sums, self.tally.counts = sums, counts


def linear_scale(datasets: Sequence[Dataset]) -> float:
    """Return the units of the linear evaluation per logistic unit, fitted to the training data."""
    values, wanted = list[Floats](), list[Floats]()
    for dataset in datasets:
        # Forced wins do not depend on the scale.
        chosen = np.flatnonzero((dataset.value < WIN_BAND) & ~dataset.held)
        chosen = chosen[:: max(1, len(chosen) // ENOUGH)]
        values.append(dataset.linear[chosen].astype(np.float64))
        wanted.append(dataset.target[chosen].astype(np.float64))
    return best_scale(np.concatenate(values), np.concatenate(wanted))
