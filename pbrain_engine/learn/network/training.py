"""Training: steps over lessons, with checkpoints, so that a run goes on where it stopped.

A run depends on its settings, its lessons and, on the processor, on nothing else: interrupted
and continued it gives the same network as in one go.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from ...eval.weights import Weights
from ...files import in_place_of
from ..fit import RULE_BOUND
from ..value_model import best_scale
from . import TEACHER_SHARE
from .batches import Order, Source, held_out
from .checkpoint import ResumeError, begin_at, read_checkpoint
from .lessons import Lessons
from .model import Inputs, Losses, Network, Widths, level, losses
from .patterns import Patterns, half_of, patterns
from .resident import Resident
from .teacher import Size, Teacher, read_teacher, taught_losses

WARM_UP = 100  # steps
LAST_RATE = 0.02  # of the learning rate, at the end
CLIP = 1.0  # of the length of the gradient
DECAY, OWN_DECAY = 1e-4, 1.0  # weight decay; of what patterns and sets of threats have alone
AVERAGED = 0.998  # of the running mean of the weights that a step leaves
LEVEL_SHARE = 0.02  # of the loss of the mean logit
QUICK = 6000  # held-out positions that are looked at on the way


class Settings(NamedTuple):
    """All that a run depends on but its lessons."""

    family: str
    steps: int
    batch: int = 1024
    rate: float = 3e-3
    mix: float = 0.7
    value_share: float = 2.0  # of the value's loss beside that of the policy
    seed: int = 1
    widths: Widths = Widths()
    begin: str = ""  # the checkpoint whose network it begins at
    teacher: str = ""  # the checkpoint of a teacher to learn from, beside the games
    teacher_share: float = TEACHER_SHARE  # of the targets
    size: tuple[int, int] | None = None  # of a teacher, if that is what is trained (``Size``)

    @property
    def tied(self) -> bool:
        """Whether both colours play by the same rules."""
        return self.family != RULE_BOUND

    @property
    def half(self) -> int:
        """How far a line window reaches (``patterns/tables.py``)."""
        return half_of(self.family)


class Score(NamedTuple):
    """Mean losses over held-out positions."""

    target: float
    result: float
    entropy: float
    first: float

    def __str__(self) -> str:
        return (
            f"value {self.target:.4f}, on results {self.result:.4f}, "
            f"move {self.entropy:.4f}, first {self.first:.1%}"
        )


class Moment(NamedTuple):
    """How far a run is, for whoever watches."""

    step: int
    steps: int
    learned: Score  # over the steps since the last moment
    held: Score
    positions: float  # a second
    seconds_left: float


class Run:
    """A network in training."""

    def __init__(
        self, settings: Settings, lessons: list[Lessons], weights: Weights, device: str = "cpu"
    ) -> None:
        """Begin at the linear evaluation of ``weights``, or where the settings say.

        Raises:
            ResumeError: the checkpoint to begin at is damaged, or does not fit.
        """
        self.settings, self.device = settings, torch.device(device)
        self.known: Patterns = patterns(settings.half)
        targets = [each.targets(settings.mix) for each in lessons]
        self.scale = linear_scale(lessons, targets)
        self.sources = [
            Source(each, target, self.known, settings.tied)
            for each, target in zip(lessons, targets, strict=True)
        ]
        self.order = Order(self.sources, settings.batch, settings.seed, settings.tied)
        torch.manual_seed(settings.seed)
        self.network: Network | Teacher
        if settings.size is None:
            self.network = Network(self.known, settings.tied, settings.widths, self.scale)
            if settings.begin:
                begin_at(self.network, Path(settings.begin))
        else:
            self.network = Teacher(Size(*settings.size), self.scale)
        self.network.to(self.device)
        self.teacher = None
        if settings.teacher:
            self.teacher = read_teacher(Path(settings.teacher), self.device)
        self.resident: list[Resident] | None = None  # where the processor is not what computes
        if self.device.type != "cpu":
            self.resident = [Resident(each, self.known, self.device) for each in self.sources]
        self.mean = {name: value.clone() for name, value in self.network.state_dict().items()}
        self.best, self.least = self.mean, math.inf  # what did best on held-out positions
        self.step, self.history = 0, list[dict[str, Any]]()
        self.about = {
            **settings._asdict(),
            "widths": list(settings.widths),
            "size": settings.size and list(settings.size),
            "scale": self.scale,
            "positions": self.order.positions,
            "weights": weights.key,
        }
        alone = [p for n, p in self.network.named_parameters() if "own" in n or "_sets" in n]
        marked = set(map(id, alone))
        shared = [p for p in self.network.parameters() if id(p) not in marked]
        self.optimiser = torch.optim.AdamW(
            [
                {"params": shared, "weight_decay": DECAY},
                {"params": alone, "weight_decay": OWN_DECAY},
            ],
            betas=(0.9, 0.99),
        )

    def rate(self) -> float:
        """Return the learning rate of the next step: warming up, then falling like a cosine."""
        share = self.step / self.settings.steps
        falling = max(LAST_RATE, (1 + math.cos(math.pi * share)) / 2)
        return self.settings.rate * min(1.0, (self.step + 1) / WARM_UP) * falling

    def inputs(self, source: int, chosen: NDArray[np.int64]) -> Inputs:
        """Return a batch on the device."""
        if self.resident is not None:
            return self.resident[source].inputs(chosen)
        return Inputs.of(self.sources[source].batch(chosen), self.known, self.device)

    def learn(self, inputs: Inputs) -> Losses:
        """Do one step."""
        odds, logits = self.network(inputs)
        lost = losses(odds, logits, inputs)
        value, move = mean(lost.target), mean(lost.entropy)
        if self.teacher is not None:
            with torch.no_grad():
                told = self.teacher(inputs)
            share = self.settings.teacher_share
            value, move = taught_losses((odds, logits), told, inputs, share)
        total = self.settings.value_share * value + move
        total = total + LEVEL_SHARE * level(logits, inputs)
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate()
        self.optimiser.zero_grad()
        total.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), CLIP)
        self.optimiser.step()
        self.step += 1
        kept = min(AVERAGED, self.step / (self.step + 50))
        with torch.no_grad():
            for name, value in self.network.state_dict().items():
                if value.is_floating_point():
                    self.mean[name].mul_(kept).add_(value, alpha=1 - kept)
                else:  # a counter
                    self.mean[name].copy_(value)
        return lost

    def measured(self, state: dict[str, torch.Tensor], most: int | None = None) -> Score:
        """Return the losses of a network on the held-out positions, or on some of them."""
        before = {name: value.clone() for name, value in self.network.state_dict().items()}
        self.network.load_state_dict(state)
        batches = held_out(self.sources, self.settings.batch, most or 1 << 62, self.settings.tied)
        tally = Tally()
        self.network.eval()
        with torch.no_grad():
            for source, chosen in batches:
                inputs = self.inputs(source, chosen)
                odds, logits = self.network(inputs)
                tally.add(losses(odds, logits, inputs))
        self.network.load_state_dict(before)
        self.network.train()
        return tally.score()

    def go(
        self,
        checkpoint: Path,
        every: int,
        watch: Callable[[Moment], None] = lambda moment: None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        """Train to the end; save, measure and tell every so many steps.

        What is kept as the best is the mean network that did best then: with few games it is
        not the last one.

        Raises:
            KeyboardInterrupt: it was stopped; all that was learned is saved.
        """
        tally, seen, start = Tally(), 0, time.perf_counter()
        begun = self.step
        for source, chosen in self.order.after(self.step):
            if self.step >= self.settings.steps:
                break
            if stopped():
                self.save(checkpoint)
                raise KeyboardInterrupt
            tally.add(self.learn(self.inputs(source, chosen)))
            seen += len(chosen)
            if self.step % every == 0 or self.step == self.settings.steps:
                seconds = time.perf_counter() - start
                left = (self.settings.steps - self.step) * seconds / (self.step - begun)
                held = self.measured(self.mean, QUICK)
                loss = self.settings.value_share * held.target + held.entropy
                if not loss >= self.least:
                    self.best = {name: value.clone() for name, value in self.mean.items()}
                    self.least = loss
                moment = Moment(
                    self.step, self.settings.steps, tally.score(), held, seen / seconds, left
                )
                self.history.append(
                    {"step": self.step, "learned": moment.learned, "held": moment.held}
                )
                self.save(checkpoint)
                watch(moment)
                tally = Tally()

    def save(self, path: Path) -> None:
        """Write all that the run needs to go on; a power cut leaves the last one whole."""
        state = {
            "about": self.about,
            "step": self.step,
            "network": self.network.state_dict(),
            "mean": self.mean,
            "best": self.best,
            "least": self.least,
            "optimiser": self.optimiser.state_dict(),
            "history": json.dumps(self.history),
        }
        with in_place_of(path) as part, part.open("wb") as file:
            torch.save(state, file)
            file.flush()
            os.fsync(file.fileno())

    def resume(self, path: Path) -> None:
        """Go on where a checkpoint stopped.

        Raises:
            ResumeError: it is damaged, or of a run with other settings or lessons.
        """
        state = read_checkpoint(path, self.device)
        found = state["about"]
        for key in sorted({*found, *self.about}):
            if found.get(key) != self.about.get(key):
                was, now = found.get(key), self.about.get(key)
                raise ResumeError(f"{path} was trained with {key} {was}, not {now}")
        self.network.load_state_dict(state["network"])
        self.mean, self.best, self.least = state["mean"], state["best"], state["least"]
        self.optimiser.load_state_dict(state["optimiser"])
        self.step, self.history = state["step"], json.loads(state["history"])


class Tally:
    """Adds up losses."""

    def __init__(self) -> None:
        """Begin with none."""
        self._sums = [0.0] * len(Losses._fields)
        self._counts = [0] * len(Losses._fields)

    def add(self, lost: Losses) -> None:
        """Add those of a batch."""
        for i, each in enumerate(lost):
            self._sums[i] += float(each.detach().double().sum())
            self._counts[i] += len(each)

    def score(self) -> Score:
        """Return the means."""
        pairs = zip(self._sums, self._counts, strict=True)
        return Score(*(total / count if count else math.nan for total, count in pairs))


def mean(numbers: torch.Tensor) -> torch.Tensor:
    """Return the mean, or nought of none."""
    return numbers.sum() / max(1, len(numbers))


def linear_scale(lessons: list[Lessons], targets: list[NDArray[np.float32]]) -> float:
    """Return how many units of the linear evaluation are a logistic unit, in what is learned."""
    chosen = [each.open & ~each.held for each in lessons]
    values = [np.asarray(each.linear)[these] for each, these in zip(lessons, chosen, strict=True)]
    wanted = [each[these] for each, these in zip(targets, chosen, strict=True)]
    return best_scale(
        np.concatenate(values).astype(np.float64), np.concatenate(wanted).astype(np.float64)
    )
