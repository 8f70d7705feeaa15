"""A network's numbers, one flat array with a name for each part of it, and one step of training.

A network has a map from patterns to vectors, so that rare patterns learn from their like, a
number of its own for each pattern, and a head above (``position_loops.study``). Where both colours
play alike there is one of each, and a position is seen by the side to move: half of the channels
come from a pattern, the other half from it with colours exchanged. Otherwise half of the channels
are black's and half white's, and each side has a map, which sees patterns as its own, and a head.

What patterns and sets of threats have alone is drawn to nought, or, where a training begins at a
shipped network, to what that one knows (``quantise.begin_at``): what is rare stays as it is.

What a step gives depends on its numbers, its batch and the number of threads alone: each thread
has a fixed part of the batch and gradients of its own, which are added in order.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...eval.network_block import NEAR_CLASSES, THREAT_MASKS
from .patterns import Map, Patterns, empty_lines, map_back, map_patterns, regions_of, see
from .pool import PositionPool
from .position_loops import MASK_BITS, PEAKS, Head, Outputs, PositionArrays, Turned, Windows, study
from .rows import adam

Ints = NDArray[np.int64]
Floats = NDArray[Any]
VECTOR_LIMIT = 31.0
DECAY, OWN_DECAY = 1e-4, 1.0  # of the weights; of what patterns and sets of threats have alone


class Widths(NamedTuple):
    """How wide the layers are: multiples of sixteen."""

    channels: int = 64
    region_units: int = 16
    cell_units: int = 16
    trunk_units: int = 48
    value_units: int = 32
    map_units: int = 64  # of the map from patterns to vectors, which is not shipped


class Part(NamedTuple):
    """A named part of the numbers."""

    name: str
    shape: tuple[int, ...]
    start: int
    decay: float

    @property
    def end(self) -> int:
        """Where the next part begins."""
        return self.start + prod(self.shape)


class Form:
    """Where the numbers of a network lie."""

    def __init__(self, known: Patterns, tied: bool, widths: Widths) -> None:
        """Lay out the network of a rule family."""
        self.known, self.tied, self.widths = known, tied, widths
        self.outputs = widths.channels // 2
        self.sides = 1 if tied else 2
        self.parts: list[Part] = []
        for side in range(self.sides):
            for name, shape in self._shapes():
                start = self.parts[-1].end if self.parts else 0
                alone = name.endswith((".own", ".sets"))
                full = name.replace(".", f"{side}.", 1)
                self.parts.append(Part(full, shape, start, OWN_DECAY if alone else DECAY))
        self.count = self.parts[-1].end

    def _shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        channels, regions, cells, trunk, values, units = self.widths
        policy = channels + 2 * cells
        return [
            ("map.first", (8 * self.known.half, units)),
            ("map.first_bias", (units,)),
            ("map.second", (units, units)),
            ("map.second_bias", (units,)),
            ("map.third", (units, self.outputs)),
            ("map.own", (len(self.known), self.outputs)),
            ("head.region", (channels, regions)),
            ("head.region_bias", (regions,)),
            ("head.trunk", (channels + regions, trunk)),
            ("head.trunk_bias", (trunk,)),
            ("head.threats", (MASK_BITS, trunk)),
            ("head.sets", (THREAT_MASKS, trunk)),
            ("head.value", (trunk, values)),
            ("head.value_bias", (values,)),
            ("head.last", (values,)),
            ("head.last_bias", (1,)),
            ("head.policy", (trunk, policy)),
            ("head.policy_bias", (policy,)),
            ("head.cell", (channels, cells)),
            ("head.neighbours", (3, channels)),
            ("head.near", (2, NEAR_CLASSES)),
            ("head.linear_share", (1,)),
            ("head.score_share", (1,)),
        ]

    def views(self, numbers: Floats) -> dict[str, Floats]:
        """Return the parts of a flat array by name."""
        return {
            part.name: numbers[part.start : part.end].reshape(part.shape) for part in self.parts
        }

    def head(self, numbers: Floats, side: int) -> Head:
        """Return a head of a flat array."""
        return Head(*self._flat(numbers, f"head{side}.", Head._fields))

    def map(self, numbers: Floats, side: int) -> Map:
        """Return a map of a flat array."""
        return Map(*self._flat(numbers, f"map{side}.", Map._fields))

    def _flat(self, numbers: Floats, start: str, names: tuple[str, ...]) -> list[Floats]:
        found = {part.name: numbers[part.start : part.end] for part in self.parts}
        return [found[start + name] for name in names]

    def transpose(self, numbers: Floats, side: int) -> Turned:
        """Return the weights of a head with rows and columns exchanged."""
        views = self.views(numbers)
        return Turned(
            *(
                np.ascontiguousarray(views[f"head{side}.{name}"].T).ravel()
                for name in Turned._fields
            )
        )

    def start(self, seed: int, kind: Any = np.float32) -> Floats:
        """Return the numbers to begin with: the linear evaluation and the linear move score."""
        chance = np.random.default_rng(seed)
        numbers = np.zeros(self.count, kind)
        views = self.views(numbers)
        for name, part in views.items():
            layer, _, end = name.rpartition("_")
            weights = views[layer] if end == "bias" else part
            word = name.partition(".")[2]
            if word in ("first", "second", "third", "region", "trunk", "value", "cell") or (
                end == "bias" and word not in ("policy_bias", "last_bias")
            ):
                reach = weights.shape[0] ** -0.5
                part[...] = chance.uniform(-reach, reach, part.shape)
            elif word == "policy":
                part[...] = chance.normal(0.0, 0.02, part.shape)
            elif word == "neighbours":
                part[0] = 1
            elif word in ("linear_share", "score_share"):
                part[...] = 1
        return numbers


# A step ---------------------------------------------------------------------------------


class Source:
    """The positions of a pool as the loops read them, with their targets."""

    def __init__(
        self, pool: PositionPool, targets: NDArray[np.float32], labels: str, scale: float
    ) -> None:
        """Take targets, and how many units of the linear evaluation are a logistic unit."""
        self.pool, chunk = pool, pool.chunk
        self.positions = PositionArrays(
            pool.height, pool.width, regions_of(pool.height, pool.width), chunk.moves, chunk.at,
            chunk.ply, chunk.mask, (chunk.linear / scale).astype(np.float32), targets,
            pool.results, pool.opens(labels), chunk.near, chunk.score_at, chunk.scores,
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.pool)


class Batch:
    """What is seen of some positions, those of black to move first where sides differ."""

    def __init__(self, form: Form, source: Source, chosen: Ints, threads: Threads) -> None:
        """Find the cells and patterns of the positions."""
        self.source = source
        pool, chunk = source.pool, source.pool.chunk
        sides = pool.side[chosen] if form.sides == 2 else np.zeros(len(chosen), np.int16)
        self.chosen = chosen[np.argsort(sides, kind="stable")]
        black = int((sides == 0).sum())
        self.sides = [(0, black), (black, len(chosen))][: form.sides]
        area, half = pool.height * pool.width, form.known.half
        self.seen = Windows(
            np.empty(len(chosen) * area, np.int16), np.empty(len(chosen) * area * 4, np.int32),
            np.empty(len(chosen), np.int32),
        )  # fmt: skip
        used = np.zeros(len(form.known), np.uint8)
        empty = empty_lines(pool.height, pool.width, half)

        def part(thread: int, first: int, last: int) -> None:
            see(
                self.chosen, first, last, chunk.at, chunk.ply, chunk.moves,
                pool.height, pool.width, half, empty, form.known.number, form.known.blank,
                *self.seen, used,
            )  # fmt: skip

        threads.each(part, 0, len(chosen))
        found = np.flatnonzero(used)
        used[form.known.swapped[found]] = 1  # closed under exchange of colours
        used[form.known.blank] = 1
        self.used = np.flatnonzero(used)

    def __len__(self) -> int:
        return len(self.chosen)


class Threads:
    """Threads that share a range in fixed parts."""

    def __init__(self, count: int) -> None:
        """Start them; one is the caller's own."""
        self.count = count
        self._executor = ThreadPoolExecutor(count) if count > 1 else None

    def each(self, work: Callable[[int, int, int], None], first: int, last: int) -> None:
        """Call ``work`` with each thread's number and its part of a range, and wait."""
        length = last - first
        ends = [first + length * i // self.count for i in range(self.count + 1)]
        parts = list(zip(range(self.count), ends[:-1], ends[1:], strict=True))
        if self._executor is None:
            work(*parts[0])
        else:
            list(self._executor.map(lambda part: work(*part), parts))


class Learner:
    """A network's numbers, and what is needed to change them."""

    def __init__(self, form: Form, numbers: Floats, threads: Threads) -> None:
        """Take the numbers."""
        self.form, self.numbers, self.threads = form, numbers, threads
        self._kind = numbers.dtype
        size = len(form.known) * form.widths.channels
        self._vectors = [np.zeros(size, self._kind) for _ in range(form.sides)]
        self._of_vectors = [
            [np.zeros(size, self._kind) for _ in range(form.sides)] for _ in range(threads.count)
        ]
        self.gradients = [np.zeros(form.count, self._kind) for _ in range(threads.count)]
        self.peaks = np.zeros((form.sides, len(PEAKS)), self._kind)

    def vectors(self, numbers: Floats, used: Ints) -> list[Floats]:
        """Return the vectors that each map makes of patterns, the last of which is the blank one.

        They are measured from that of the blank pattern, so that empty space adds nothing however
        large the board is.
        """
        form, found = self.form, []
        keys = form.known.keys[used]
        for side in range(form.sides):
            out = np.empty(len(used) * form.outputs, self._kind)
            net = form.map(numbers, side)

            def part(thread: int, first: int, last: int, net: Any = net, out: Floats = out) -> None:
                map_patterns(net, keys, first, last, form.known.half, out)

            self.threads.each(part, 0, len(used))
            rows = out.reshape(len(used), -1)
            rows += form.views(numbers)[f"map{side}.own"][used]
            rows -= rows[-1].copy()
            found.append(rows)
        return found

    def _lay_out(self, numbers: Floats, used: Ints) -> list[Floats]:
        """Write the vectors of both views of patterns; return those of the maps."""
        rows = self.vectors(numbers, used)
        limited = [each.clip(-VECTOR_LIMIT, VECTOR_LIMIT) for each in rows]
        outputs, swapped = self.form.outputs, self.form.known.swapped[used]
        for side, flat in enumerate(self._vectors):
            table = flat.reshape(-1, 2 * outputs)
            table[used, :outputs] = limited[side]
            table[swapped, outputs:] = limited[side - 1]  # the other side's, if there is one
        return rows

    def study(
        self, numbers: Floats, batch: Batch, shares: tuple[float, float, float] | None
    ) -> Outputs:
        """Return what is said of a batch; with shares of the loss its gradients are added up."""
        form, source = self.form, batch.source
        area = source.pool.height * source.pool.width
        said = Outputs(
            np.empty(len(batch), self._kind), np.zeros(len(batch) * area, self._kind),
            *(np.empty(len(batch), self._kind) for _ in range(4)),
        )  # fmt: skip
        learning = shares is not None
        of_loss = np.array(shares or (0.0, 0.0, 0.0), self._kind)
        for side, (first, last) in enumerate(batch.sides):
            head, turned = form.head(numbers, side), form.transpose(numbers, side)
            peaks = [np.zeros(len(PEAKS), self._kind) for _ in range(self.threads.count)]

            def part(
                thread: int, first: int, last: int, side: int = side, head: Any = head,
                turned: Any = turned, peaks: list[Floats] = peaks,
            ) -> None:  # fmt: skip
                study(
                    learning, batch.chosen, first, last, source.positions, batch.seen,
                    self._vectors[side], head, turned, of_loss, self._of_vectors[thread][side],
                    form.head(self.gradients[thread], side), said, peaks[thread],
                )  # fmt: skip

            self.threads.each(part, first, last)
            self.peaks[side] = np.maximum(self.peaks[side], np.max(peaks, 0))
        return said

    def measure(self, numbers: Floats, batch: Batch) -> Outputs:
        """Return what numbers say of a batch; ``peaks`` takes in how large everything gets."""
        self._lay_out(numbers, batch.used)
        return self.study(numbers, batch, None)

    def learn(self, batch: Batch, shares: tuple[float, float, float]) -> Outputs:
        """Return what is said of a batch; the gradient is ``gradients[0]`` then."""
        form, used, outputs = self.form, batch.used, self.form.outputs
        for gradient in self.gradients:
            gradient[:] = 0
        rows = self._lay_out(self.numbers, used)
        said = self.study(self.numbers, batch, shares)
        swapped, blank = form.known.swapped[used], len(used) - 1
        views = form.views(self.gradients[0])
        tables = []
        for side in range(form.sides):
            total = np.zeros((len(used), 2 * outputs), self._kind)
            for each in self._of_vectors:
                table = each[side].reshape(-1, 2 * outputs)
                total += table[used]
                table[used] = 0
            tables.append(total)
        place = np.searchsorted(used, swapped)
        for side in range(form.sides):
            change = tables[side][:, :outputs] + tables[side - 1][place, outputs:]
            change[np.abs(rows[side]) >= VECTOR_LIMIT] = 0
            change[blank] = 0
            change[blank] = -change.sum(0)
            views[f"map{side}.own"][used] = change
            net, flat = form.map(self.numbers, side), change.ravel()
            parts = form.views(self.numbers)
            second, third = (
                np.ascontiguousarray(parts[f"map{side}.{name}"].T).ravel()
                for name in ("second", "third")
            )
            keys = form.known.keys[used]

            def part(
                thread: int, first: int, last: int, side: int = side, net: Any = net,
                second: Floats = second, third: Floats = third, flat: Floats = flat,
                keys: Ints = keys,
            ) -> None:  # fmt: skip
                map_back(
                    net, second, third, keys, first, last, form.known.half, flat,
                    form.map(self.gradients[thread], side),
                )  # fmt: skip

            self.threads.each(part, 0, len(used))
        for gradient in self.gradients[1:]:
            self.gradients[0] += gradient
        return said


class Adam:
    """What a training keeps of each number: running means of gradients, and of the number."""

    def __init__(self, numbers: Floats, anchor: Floats) -> None:
        """Begin with nothing; ``anchor`` is what decay draws the numbers to."""
        self.anchor = anchor
        self.slope, self.square = np.zeros_like(numbers), np.zeros_like(numbers)
        self.mean, self.step = numbers.copy(), 0

    def update(self, learner: Learner, rate: float, clip: float, averaged: float) -> None:
        """Do a step with the gradient of a learner, shortened to ``clip`` if it is longer."""
        gradient = learner.gradients[0]
        length = float(np.sqrt(np.dot(gradient, gradient)))
        if length > clip:
            gradient *= gradient.dtype.type(clip / length)
        self.step += 1
        for part in learner.form.parts:

            def change(thread: int, first: int, last: int, decay: float = part.decay) -> None:
                adam(
                    learner.numbers, gradient, self.anchor, self.slope, self.square, self.mean,
                    first, last, rate, decay, self.step, averaged,
                )  # fmt: skip

            if part.end - part.start > 1 << 14:
                learner.threads.each(change, part.start, part.end)
            else:
                change(0, part.start, part.end)
