"""The layout of a network's numbers: one flat array with named parts.

A network has a map from patterns to vectors, so that rare patterns learn from similar ones, an
individual vector for each pattern, and a head above (``forward.py``). If both colours have the same
rules, there is one map and one head, and positions are seen by the side to move: half of the
channels come from a pattern, the other half from the pattern with colours exchanged. Otherwise half
of the channels are black's and half white's, and each side has a head and a map, which sees its own
stones as black.

The individual numbers of patterns and sets of threats decay to 0 or, if training starts from a
shipped network, to the values there (``quantise.begin_at``): rare ones stay unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ...eval.network_block import NEAR_CLASSES, THREAT_MASKS
from .batch import Patterns
from .dataset import Floats, Ints

MASK_BITS = 11
DECAY, OWN_DECAY = 1e-4, 1.0  # of shared weights; of individual ones of patterns and threat sets


class Widths(NamedTuple):
    """The widths of the layers, multiples of sixteen."""

    channels: int = 64
    region_units: int = 16
    cell_units: int = 16
    trunk_units: int = 48
    value_units: int = 32
    map_units: int = 64  # of the map from patterns to vectors, which is not shipped


class Head(NamedTuple):
    """The numbers of a head or their gradients: flat arrays, [inputs, outputs] row by row."""

    region: Floats  # [channels, region units]
    region_bias: Floats  # [region units]
    trunk: Floats  # [channels + region units, trunk units]
    trunk_bias: Floats  # [trunk units]
    threats: Floats  # [bits of the threat mask, trunk units]
    sets: Floats  # [threat masks, trunk units]
    value: Floats  # [trunk units, value units]
    value_bias: Floats  # [value units]
    last: Floats  # [value units], to the logarithm of the odds
    last_bias: Floats  # [1]
    policy: Floats  # [trunk units, channels + 2 * cell units]: direct, shift, scale
    policy_bias: Floats  # [channels + 2 * cell units]
    cell: Floats  # [channels, cell units]
    neighbours: Floats  # [3, channels]: the cell, its orthogonal and its diagonal neighbours
    near: Floats  # [2, distance classes], logits by the last two stones
    linear_share: Floats  # [1], of the linear evaluation
    score_share: Floats  # [1], of the linear move score


class Map(NamedTuple):
    """The numbers of a map from patterns to vectors or their gradients, stored like a head's."""

    first: Floats  # [8 * half, units]: cell of the window and its state
    first_bias: Floats  # [units]
    second: Floats  # [units, units]
    second_bias: Floats  # [units]
    third: Floats  # [units, outputs]


class Part(NamedTuple):
    """A named part of the numbers."""

    name: str
    shape: tuple[int, ...]
    start: int
    decay: float

    @property
    def end(self) -> int:
        """The start of the next part."""
        return self.start + prod(self.shape)


class Layout:
    """The layout of a network's numbers."""

    def __init__(self, known: Patterns, tied: bool, widths: Widths) -> None:
        """Lay out the network of a rule family; ``tied``: both colours share one head."""
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
            ("map.first", (8 * self.known.half, units)), ("map.first_bias", (units,)),
            ("map.second", (units, units)), ("map.second_bias", (units,)),
            ("map.third", (units, self.outputs)),
            ("map.own", (len(self.known), self.outputs)),
            ("head.region", (channels, regions)), ("head.region_bias", (regions,)),
            ("head.trunk", (channels + regions, trunk)), ("head.trunk_bias", (trunk,)),
            ("head.threats", (MASK_BITS, trunk)), ("head.sets", (THREAT_MASKS, trunk)),
            ("head.value", (trunk, values)), ("head.value_bias", (values,)),
            ("head.last", (values,)), ("head.last_bias", (1,)),
            ("head.policy", (trunk, policy)), ("head.policy_bias", (policy,)),
            ("head.cell", (channels, cells)), ("head.neighbours", (3, channels)),
            ("head.near", (2, NEAR_CLASSES)),
            ("head.linear_share", (1,)), ("head.score_share", (1,)),
        ]  # fmt: skip

    def views(self, numbers: Floats) -> dict[str, Floats]:
        """Return views of the parts of a flat array, by name and in shape."""
        return {
            part.name: numbers[part.start : part.end].reshape(part.shape) for part in self.parts
        }

    def head(self, numbers: Floats, side: int, transpose: bool = False) -> Head:
        """Return a head of a flat array; ``transpose``: a copy, [outputs, inputs] row by row."""
        return Head(*self._flat(f"head{side}", Head._fields, numbers, transpose))

    def map(self, numbers: Floats, side: int, transpose: bool = False) -> Map:
        """Return a map of a flat array, like a head."""
        return Map(*self._flat(f"map{side}", Map._fields, numbers, transpose))

    def _flat(
        self, prefix: str, fields: Sequence[str], numbers: Floats, transpose: bool
    ) -> list[Floats]:
        views = self.views(numbers)
        parts = [views[f"{prefix}.{name}"] for name in fields]
        return [np.ravel(part.T if transpose else part) for part in parts]

    def start(self, seed: int, kind: type[np.floating[Any]] = np.float32) -> Floats:
        """Return initial numbers, equivalent to the linear evaluation and linear move score."""
        chance = np.random.default_rng(seed)
        numbers: Floats = np.zeros(self.count, kind)
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


# Records for the training loops ---------------------------------------------------------

REGIONS = 9
PEAKS = ("region", "pool", "trunk", "value", "direct", "scale", "mixed", "shift")


class Model(NamedTuple):
    """A network for positions of one side to move."""

    vectors: Floats  # [patterns, channels]
    head: Head
    transposed: Head  # for the backward pass


class Gradients(NamedTuple):
    """The gradients of one thread, to which those of positions are added."""

    vectors: Floats  # [patterns, channels]
    head: Head


class Goal(NamedTuple):
    """What to compute for a batch."""

    learning: bool  # whether gradients are wanted
    shares: Floats  # [3]: weights of a position's losses of value, move and level in the total
    peaks: Floats  # [PEAKS]: raised to the largest numbers seen, unless learning


class Outputs(NamedTuple):
    """The outputs for each position of a batch, and its losses in nats; NaN if it has none."""

    odds: Floats  # [batch], logarithm of the odds of the side to move
    logits: Floats  # [batch, cells of the board], of the candidates in order; the rest is unused
    target: Floats  # [batch], loss of the value on its target
    result: Floats  # [batch], on the result of the game alone
    entropy: Floats  # [batch], of the move
    first: Floats  # [batch], 1 if no logit is above the move's, else 0


class Workspace(NamedTuple):
    """A thread's intermediate numbers for one position; all arrays are flat.

    ``of_X`` is the gradient of the loss with respect to ``X``. Features are stored for a board with
    a rim one cell wide, [(height + 2) * (width + 2), channels], 0 except for the position's cells.
    """

    features: Floats
    of_features: Floats
    sums: Floats  # [regions, channels], of the features
    of_sums: Floats
    regions: Floats  # [regions, region units], before clamping
    of_regions: Floats
    inputs: Floats  # [channels + region units], of the trunk
    of_inputs: Floats
    trunk: Floats  # [trunk units]
    of_trunk: Floats
    hidden: Floats  # [value units]
    of_hidden: Floats
    policy: Floats  # [channels + 2 * cell units]: direct weights, shifts and scales
    of_policy: Floats
    places: Ints  # [candidates], offset of each one's features
    classes: Ints  # [candidates, 2], distance classes from the last two stones
    crosses: Floats  # [candidates, channels], sums of the four orthogonal neighbours
    corners: Floats  # [candidates, channels], of the four diagonal ones
    mixed: Floats  # [candidates + 4, channels], cell mixed with its neighbours; four at a time
    units: Floats  # [candidates + 4, cell units]
    of_units: Floats
    logits: Floats  # [candidates], then chances, then gradients
