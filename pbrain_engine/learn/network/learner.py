"""One step of training: the losses of a batch, their gradients, and a step of Adam.

A step depends only on its numbers, its batch and the number of threads: each thread has a fixed
part of the batch and its own gradients, which are added in order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .batch import Batch, Threads
from .dataset import Floats, Ints
from .gradients import accumulate_gradients, backward_map, map_patterns
from .layout import PEAKS, Goal, Gradients, Layout, Map, Model, Outputs, Part
from .rows import loop

VECTOR_LIMIT = 31.0
EARLY, LATE = 0.9, 0.99  # decay of the running means of slopes and squares
APART = 1 << 14  # parts with more numbers are divided among threads
Shares = tuple[float, float, float]  # of the losses of value, move and level of a position


class Learner:
    """A network's numbers and their gradients."""

    def __init__(self, layout: Layout, numbers: Floats, threads: Threads) -> None:
        self.layout, self.numbers, self.threads = layout, numbers, threads
        self._kind = numbers.dtype
        size = len(layout.known) * layout.widths.channels
        self._vectors = [np.zeros(size, self._kind) for _ in range(layout.sides)]
        self._of_vectors = [
            [np.zeros(size, self._kind) for _ in range(layout.sides)] for _ in range(threads.count)
        ]
        self.gradients = [np.zeros(layout.count, self._kind) for _ in range(threads.count)]
        self.peaks = np.zeros((layout.sides, len(PEAKS)), self._kind)

    def vectors(self, numbers: Floats, used: Ints) -> list[Floats]:
        """Return each map's vectors of patterns, [used, outputs].

        The last pattern is the blank one; its vector is subtracted from all, so that empty space
        adds nothing, whatever the board size.
        """
        layout, found = self.layout, []
        keys = layout.known.keys[used]
        half = layout.known.half
        for side in range(layout.sides):
            out, net = np.empty(len(used) * layout.outputs, self._kind), layout.map(numbers, side)

            def part(thread: int, first: int, last: int, net: Map = net, out: Floats = out) -> None:
                map_patterns(net, keys, half, first, last, out)

            self.threads.each(part, 0, len(used))
            rows = out.reshape(len(used), -1)
            rows += layout.views(numbers)[f"map{side}.own"][used]
            rows -= rows[-1].copy()
            found.append(rows)
        return found

    def _lay_out(self, numbers: Floats, used: Ints) -> list[Floats]:
        """Write the vectors of patterns, as seen by both colours; return those of the maps."""
        rows = self.vectors(numbers, used)
        limited = [each.clip(-VECTOR_LIMIT, VECTOR_LIMIT) for each in rows]
        outputs, swapped = self.layout.outputs, self.layout.known.swapped[used]
        for side, flat in enumerate(self._vectors):
            table = flat.reshape(-1, 2 * outputs)
            table[used, :outputs] = limited[side]
            table[swapped, outputs:] = limited[side - 1]  # the other side's, if there is one
        return rows

    def _run(self, numbers: Floats, batch: Batch, shares: Shares | None) -> Outputs:
        """Return the outputs for a batch; with loss shares, also accumulate gradients."""
        layout, count, kind = self.layout, len(batch.chosen), self._kind
        height, width = batch.positions.height, batch.positions.width
        said = Outputs(
            np.empty(count, kind), np.zeros(count * height * width, kind),
            *(np.empty(count, kind) for _ in range(4)),
        )  # fmt: skip
        factors = np.array(shares or (0.0, 0.0, 0.0), kind)
        for side, (first, last) in enumerate(batch.sides[: layout.sides]):
            head, transposed = layout.head(numbers, side), layout.head(numbers, side, True)
            model = Model(self._vectors[side], head, transposed)
            peaks = np.zeros((self.threads.count, len(PEAKS)), kind)

            def part(
                thread: int, first: int, last: int, side: int = side, model: Model = model,
                peaks: Floats = peaks,
            ) -> None:  # fmt: skip
                goal = Goal(shares is not None, factors, peaks[thread])
                head = layout.head(self.gradients[thread], side)
                own = Gradients(self._of_vectors[thread][side], head)
                accumulate_gradients(batch, first, last, model, goal, own, said)

            self.threads.each(part, first, last)
            self.peaks[side] = np.maximum(self.peaks[side], peaks.max(0))
        return said

    def measure(self, numbers: Floats, batch: Batch) -> Outputs:
        """Return the outputs of given numbers for a batch, and update ``peaks``."""
        self._lay_out(numbers, batch.used)
        return self._run(numbers, batch, None)

    def learn(self, batch: Batch, shares: Shares) -> Outputs:
        """Return the outputs for a batch, with the total gradient in ``gradients[0]``."""
        for gradient in self.gradients:
            gradient[:] = 0
        rows = self._lay_out(self.numbers, batch.used)
        said = self._run(self.numbers, batch, shares)
        changes = self._changes(batch.used, rows)
        for side, change in enumerate(changes):
            self._backward_map(batch.used, side, change)
        for gradient in self.gradients[1:]:
            self.gradients[0] += gradient
        return said

    def _changes(self, used: Ints, rows: list[Floats]) -> list[Floats]:
        """Return the gradients, [used, outputs], of each side's map vectors."""
        layout, outputs, tables = self.layout, self.layout.outputs, []
        for side in range(layout.sides):
            total = np.zeros((len(used), 2 * outputs), self._kind)
            for each in self._of_vectors:
                table = each[side].reshape(-1, 2 * outputs)
                total += table[used]
                table[used] = 0
            tables.append(total)
        place, blank = np.searchsorted(used, layout.known.swapped[used]), len(used) - 1
        changes = list[Floats]()
        for side in range(layout.sides):
            change = tables[side][:, :outputs] + tables[side - 1][place, outputs:]
            change[np.abs(rows[side]) >= VECTOR_LIMIT] = 0
            change[blank] = 0
            change[blank] = -change.sum(0)
            changes.append(change)
        return changes

    def _backward_map(self, used: Ints, side: int, change: Floats) -> None:
        """Add the gradients of a side's map, and of its individual pattern vectors."""
        layout = self.layout
        layout.views(self.gradients[0])[f"map{side}.own"][used] = change
        net, transposed = layout.map(self.numbers, side), layout.map(self.numbers, side, True)
        keys, half, flat = layout.known.keys[used], layout.known.half, change.ravel()

        def part(thread: int, first: int, last: int) -> None:
            own = layout.map(self.gradients[thread], side)
            backward_map(net, transposed, keys, half, first, last, flat, own)

        self.threads.each(part, 0, len(used))


# Adam with decay (Loshchilov and Hutter 2019), and a running mean of the numbers ----------


class AdamStep(NamedTuple):
    """The settings of one step for the numbers of one part."""

    rate: float
    decay: float
    number: int  # of the step, from 1
    kept: float  # decay of the running mean of the numbers


@loop
def adam(state: Adam, gradient: Floats, step: AdamStep, first: int, last: int) -> None:
    """Update numbers ``first`` to ``last``; the records are Adam and AdamStep."""
    numbers, anchor, slope, square, mean = state
    one = numbers.dtype.type
    early, late = one(1 / (1 - EARLY**step.number)), one(1 / (1 - LATE**step.number))
    pull, rate = one(step.rate * step.decay), one(step.rate)
    kept, rest = one(step.kept), one(1 - step.kept)
    for i in range(first, last):
        change = gradient[i]
        slope[i] = one(EARLY) * slope[i] + one(0.1) * change
        square[i] = one(LATE) * square[i] + one(0.01) * change * change
        towards = slope[i] * early / (np.sqrt(square[i] * late) + one(1e-8))
        numbers[i] -= rate * towards + pull * (numbers[i] - anchor[i])
        mean[i] = kept * mean[i] + rest * numbers[i]


class Adam(NamedTuple):
    """The state of training for each number of the network: flat arrays updated in place."""

    numbers: Floats
    anchor: Floats  # target of the decay
    slope: Floats  # running mean of the gradient
    square: Floats  # of its square
    mean: Floats  # of the numbers

    @classmethod
    def begin(cls, numbers: Floats, anchor: Floats) -> Adam:
        """Return the state before the first step."""
        nothing = np.zeros_like(numbers)
        return cls(numbers, anchor, nothing, nothing.copy(), numbers.copy())

    def update(self, gradient: Floats, parts: list[Part], step: AdamStep, threads: Threads) -> None:
        """Do a step with a gradient, with each part's own decay."""
        for part in parts:
            own = step._replace(decay=part.decay)

            def change(thread: int, first: int, last: int, own: AdamStep = own) -> None:
                adam(self, gradient, own, first, last)

            if part.end - part.start > APART:
                threads.each(change, part.start, part.end)
            else:
                change(0, part.start, part.end)
