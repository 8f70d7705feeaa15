"""The network as torch sees it: real numbers, and a small map from patterns to vectors.

What it computes is what ``reference.py`` computes in integers; the constants here only keep
the inputs of layers near one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from ...eval.network_block import FEATURE_LIMIT, NEAR_CLASSES, THREAT_MASKS
from .batches import Batch
from .patterns import Patterns
from .sums import cell_features, neighbour_sums, region_sums, segment_log_softmax

FEATURE_UNIT = 256  # of the integers that stand for a feature
TOP = FEATURE_LIMIT / FEATURE_UNIT
VECTOR_LIMIT = 31.0
MASK_BITS = 11
REGION_SCALE, BOARD_SCALE, POOL_SCALE = 8.0, 32.0, 4.0
LEVEL_BEND = 4.0  # mean logits above this are drawn to nought no harder
SCORE_SCALE = 26.0  # points of the linear move score that are worth one logistic unit


class Widths(NamedTuple):
    """How wide the layers are."""

    channels: int = 64
    region_units: int = 16
    cell_units: int = 16
    trunk_units: int = 48
    value_units: int = 32
    map_units: int = 64  # of the map from patterns to vectors, which is not shipped


class Inputs(NamedTuple):
    """A batch as tensors on a device."""

    height: int
    width: int
    side: int
    boards: Tensor
    last: Tensor
    second: Tensor
    patterns: Tensor  # as rows of the vectors that are made
    used: Tensor  # patterns whose vectors are needed; closed under exchange of colours
    swapped: Tensor  # of each of them, the place of the one with colours exchanged
    regions: Tensor
    mask: Tensor
    linear: Tensor
    target: Tensor
    result: Tensor
    open: Tensor
    cells: Tensor
    rows: Tensor
    scores: Tensor
    near: Tensor
    shares: Tensor
    chosen: Tensor
    chooses: Tensor

    @classmethod
    def of(cls, batch: Batch, known: Patterns, device: torch.device) -> Inputs:
        """Copy a batch to a device, with the patterns that occur in it numbered anew."""
        occurs = np.zeros(len(known) + 1, bool)
        occurs[batch.patterns.ravel()] = True
        occurs[known.swapped[np.flatnonzero(occurs[:-1])]] = True
        occurs[known.blank] = True  # the one that all others are measured by
        used = np.flatnonzero(occurs[:-1])
        place = np.full(len(known) + 1, len(used), np.int32)
        place[used] = np.arange(len(used))
        chooses = batch.chosen >= 0
        arrays = (
            batch.boards,
            batch.last,
            batch.second,
            place[batch.patterns],
            used,
            place[known.swapped[used]].astype(np.int64),
            batch.regions,
            batch.mask,
            batch.linear,
            batch.target,
            batch.result,
            batch.open,
            batch.cells,
            batch.rows,
            batch.scores.astype(np.float32),
            batch.near,
            batch.shares,
            np.where(chooses, batch.chosen, 0),
            chooses,
        )
        tensors = (torch.from_numpy(np.ascontiguousarray(array)).to(device) for array in arrays)
        return cls(batch.height, batch.width, batch.side, *tensors)


class PatternMap(nn.Module):  # type: ignore[misc]
    """From patterns to vectors: a small network, so that rare patterns learn from their like."""

    def __init__(self, known: Patterns, outputs: int, hidden: int) -> None:
        """Begin with vectors near nought."""
        super().__init__()
        self.blank = known.blank
        for name, mirrored in (("forwards", False), ("backwards", True)):
            hot = torch.from_numpy(known.one_hot(mirrored))
            self.register_buffer(name, hot, persistent=False)
        self.first = nn.Linear(8 * known.half, hidden)
        self.second = nn.Linear(hidden, hidden)
        self.third = nn.Linear(hidden, outputs)
        self.own = nn.Parameter(torch.zeros(len(known), outputs))  # of each pattern alone
        self.sink = nn.Parameter(torch.zeros(outputs))

    def forward(self, used: Tensor) -> Tensor:
        """Return the vectors of some patterns, the blank one last: [patterns, outputs].

        They are measured from that of the blank pattern, which is never above nought, so that
        empty space adds nothing however large the board is.
        """
        hidden = functional.relu(self.first(self.forwards[used]))
        hidden = hidden + functional.relu(self.first(self.backwards[used]))
        found = self.third(functional.relu(self.second(hidden))) + self.own[used]
        return (found - found[-1] - self.sink.abs()).clamp(-VECTOR_LIMIT, VECTOR_LIMIT)


class Head(nn.Module):  # type: ignore[misc]
    """From the features of a position to its value and its policy."""

    def __init__(self, widths: Widths) -> None:
        """Begin as the linear evaluation and the linear move score."""
        super().__init__()
        channels, cells, trunk = widths.channels, widths.cell_units, widths.trunk_units
        self.region = nn.Linear(channels, widths.region_units)
        self.trunk = nn.Linear(channels + widths.region_units, trunk)
        self.threats = nn.Linear(MASK_BITS, trunk, bias=False)
        self.threat_sets = nn.Embedding(THREAT_MASKS, trunk)
        self.value = nn.Linear(trunk, widths.value_units)
        self.last = nn.Linear(widths.value_units, 1)
        self.policy = nn.Linear(trunk, channels + 2 * cells)
        self.cell = nn.Linear(channels, cells, bias=False)
        self.neighbours = nn.Parameter(torch.zeros(3, channels))
        self.near = nn.Parameter(torch.zeros(2, NEAR_CLASSES))
        self.linear_share = nn.Parameter(torch.ones(1))
        self.score_share = nn.Parameter(torch.ones(1))
        self.split = [channels, cells, cells]
        for tensor in (
            self.threats.weight, self.threat_sets.weight, self.last.weight, self.last.bias,
            self.policy.bias,
        ):  # fmt: skip
            nn.init.zeros_(tensor)
        nn.init.ones_(self.neighbours[0].data)
        nn.init.normal_(self.policy.weight, std=0.02)

    def see(self, sums: Tensor, mask: Tensor) -> Tensor:
        """Return what value and policy share, from the sums over regions: [positions, trunk]."""
        bits = mask[:, None] >> torch.arange(MASK_BITS, device=mask.device) & 1
        pooled = functional.relu(self.region(sums / REGION_SCALE)).sum(1)
        seen = torch.cat([sums.sum(1) / BOARD_SCALE, pooled / POOL_SCALE], 1)
        threats = self.threats(bits.to(sums.dtype)) + self.threat_sets(mask)
        return functional.relu(self.trunk(seen) + threats)

    def judge(self, seen: Tensor, linear: Tensor) -> Tensor:
        """Return the logarithm of the odds of winning; ``linear`` is in the same units."""
        added = self.last(functional.relu(self.value(seen))).squeeze(1)
        return linear * self.linear_share + added

    def choose(self, seen: Tensor, features: Tensor, inputs: Inputs) -> Tensor:
        """Return the logit of each candidate."""
        direct, shift, scale = self.policy(seen).split(self.split, 1)
        around = neighbour_sums(features, inputs.cells, inputs.height, inputs.width)
        mixed = (around * self.neighbours[:, None]).sum(0)
        hidden = functional.relu(self.cell(mixed) + shift[inputs.rows])
        logits = (around[0] * direct[inputs.rows]).sum(1)
        logits = logits + (hidden * scale[inputs.rows]).sum(1)
        logits = logits + inputs.scores / SCORE_SCALE * self.score_share
        return logits + self.near[0][inputs.near[0]] + self.near[1][inputs.near[1]]


class Network(nn.Module):  # type: ignore[misc]
    """The whole of it, for one rule family.

    Tied: both colours play alike, and a position is seen by the side to move. Half of the
    channels then come from a pattern, the other half from it with colours exchanged. Untied:
    half of the channels are black's and half white's; each side has a map, which sees patterns
    as its own, and a head.
    """

    def __init__(self, known: Patterns, tied: bool, widths: Widths, scale: float) -> None:
        """Begin at the linear evaluation, ``scale`` units of which are a logistic unit."""
        super().__init__()
        self.known, self.tied, self.widths, self.scale = known, tied, widths, scale
        sides = range(1 if tied else 2)
        outputs = widths.channels // 2
        self.maps = nn.ModuleList(PatternMap(known, outputs, widths.map_units) for _ in sides)
        self.heads = nn.ModuleList(Head(widths) for _ in sides)

    def vectors(self, used: Tensor, swapped: Tensor, side: int) -> Tensor:
        """Return the vectors of some patterns for the side to move, and zeros for none."""
        black = self.maps[0](used)
        white = (black if self.tied else self.maps[1](used))[swapped]
        found = torch.cat([black, white] if side == 0 else [white, black], 1)
        return torch.cat([found, found.new_zeros(1, found.shape[1])])

    def forward(self, inputs: Inputs) -> tuple[Tensor, Tensor]:
        """Return the logarithm of the odds of each position, and the logit of each candidate."""
        head = self.heads[inputs.side]
        vectors = self.vectors(inputs.used, inputs.swapped, inputs.side)
        features = cell_features(inputs.patterns, vectors, TOP)
        seen = head.see(region_sums(features, inputs.regions), inputs.mask)
        return head.judge(seen, inputs.linear / self.scale), head.choose(seen, features, inputs)


def level(logits: Tensor, inputs: Inputs) -> Tensor:
    """Return how far from nought the mean logit of positions is, as a loss.

    A number added to all candidates changes no chance, so games do not teach it; but searches
    look at single logits, and integers have an end.
    """
    count = len(inputs.linear)
    sums = logits.new_zeros(count).index_add(0, inputs.rows, logits)
    sizes = torch.bincount(inputs.rows, minlength=count).clamp_min(1)
    means = sums / sizes
    return functional.smooth_l1_loss(means, torch.zeros_like(means), beta=LEVEL_BEND)


class Losses(NamedTuple):
    """What a network loses on a batch, position by position."""

    target: Tensor  # log loss of the value, where that counts
    result: Tensor  # the same on results alone, where there is one
    entropy: Tensor  # of what the search made of the candidates, where it chose one of them
    first: Tensor  # whether the chosen move had the highest logit


def losses(odds: Tensor, logits: Tensor, inputs: Inputs) -> Losses:
    """Return the losses of what a network says."""
    known = inputs.open & ~inputs.result.isnan()
    target, result = (
        functional.binary_cross_entropy_with_logits(odds[these], wanted[these], reduction="none")
        for these, wanted in ((inputs.open, inputs.target), (known, inputs.result))
    )
    chances = segment_log_softmax(logits, inputs.rows, len(odds))
    best = torch.full_like(odds, -1e30).scatter_reduce(0, inputs.rows, logits.detach(), "amax")
    chosen = inputs.chosen[inputs.chooses]
    first = logits.detach()[chosen] >= best[inputs.chooses]
    entropy = -mean_by(inputs.shares, chances, inputs)
    return Losses(target, result.detach(), entropy, first.to(odds.dtype))


def mean_by(shares: Tensor, chances: Tensor, inputs: Inputs) -> Tensor:
    """Return the mean of a figure of candidates by shares of them, of each position with a move."""
    count = len(inputs.linear)
    sums = chances.new_zeros(count).index_add(0, inputs.rows, shares * chances)
    return sums[inputs.chooses]
