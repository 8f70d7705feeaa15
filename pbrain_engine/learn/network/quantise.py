"""From real numbers to the integers of a weight file.

Every layer gets the largest power of two as its unit that what was seen in games leaves room
for, and the largest shift with which no sum can leave 32 bits, whatever is put in.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from ...eval.network_block import (
    BOOK_LIMIT,
    FORM,
    LAYER_LIMIT,
    NEAR_CLASSES,
    SHIFTS,
    THREAT_MASKS,
    Sizes,
)
from .codebook import Codebook
from .model import (
    BOARD_SCALE,
    FEATURE_UNIT,
    MASK_BITS,
    POOL_SCALE,
    REGION_SCALE,
    SCORE_SCALE,
    TOP,
    Head,
    Inputs,
    Network,
)
from .reference import BOARD_SHIFT, LOGIT_UNIT, REGION_SHIFT, Arrays, Block
from .sums import cell_features, neighbour_sums, region_sums

Real = NDArray[np.float64]
MARGIN = 1.5  # of the range over the largest number that was seen
INT16 = 32767
REGION_INPUT = 32760  # the largest sum over a region, shifted
NEIGHBOUR_LIMIT = 21845  # so that the three products together stay within int16
MOST_SHIFT = 24


class Ranges(dict[str, float]):
    """The largest number seen at each place of a head."""

    def see(self, name: str, numbers: Tensor) -> None:
        """Take numbers into account."""
        largest = float(numbers.abs().max()) if numbers.numel() else 0.0
        self[name] = max(self.get(name, 1e-6), largest)

    def unit(self, name: str, limit: int = LAYER_LIMIT) -> float:
        """Return the power of two by which numbers of this place are multiplied."""
        return float(2.0 ** np.floor(np.log2(limit / (MARGIN * self[name]))))


def look(network: Network, batches: Iterable[Inputs]) -> list[Ranges]:
    """Return the ranges of each head on some batches."""
    found = [Ranges() for _ in network.heads]
    with torch.no_grad():
        for inputs in batches:
            head, ranges = network.heads[inputs.side], found[inputs.side]
            vectors = network.vectors(inputs.used, inputs.swapped, inputs.side)
            features = cell_features(inputs.patterns, vectors, TOP)
            sums = region_sums(features, inputs.regions)
            pooled = functional.relu(head.region(sums / REGION_SCALE))
            seen = head.see(sums, inputs.mask)
            direct, shift, scale = head.policy(seen).split(head.split, 1)
            around = neighbour_sums(features, inputs.cells, inputs.height, inputs.width)
            mixed = (around * head.neighbours[:, None]).sum(0)
            ranges.see("region", pooled)
            ranges.see("pool", pooled.sum(1))
            ranges.see("trunk", seen)
            ranges.see("value", functional.relu(head.value(seen)))
            ranges.see("direct", direct)
            ranges.see("scale", scale)
            ranges.see("mixed", mixed)
            ranges.see("shift", shift)
            ranges.see("shift", functional.relu(head.cell(mixed) + shift[inputs.rows]))
    return found


class Layer(NamedTuple):
    """Weights and biases in integers, and the shift that follows."""

    weights: NDArray[np.int64]
    biases: NDArray[np.int64]
    shift: int


def layer(weights: Real, biases: Real, largest: int) -> Layer:
    """Return a layer whose real numbers turn integer inputs up to ``largest`` into outputs.

    Half a unit is added, so that the shift rounds.

    Raises:
        ValueError: even without a shift the sums do not fit 32 bits.
    """
    for shift in range(MOST_SHIFT, -1, -1):
        rows = np.rint(weights * 2.0**shift)
        ends = np.rint(biases * 2.0**shift + 2.0 ** (shift - 1))
        most = (np.abs(rows).sum(1) * largest + np.abs(ends)).max()
        if np.abs(rows).max() <= INT16 and most < 1 << 31:
            return Layer(rows.astype(np.int64), ends.astype(np.int64), shift)
    raise ValueError("a layer of the network has grown too large for the file")


def real(tensor: Tensor) -> Real:
    """Return a tensor as an array."""
    return np.asarray(tensor.detach().cpu().double().numpy())


def quantise_head(head: Head, ranges: Ranges, scale: float) -> Arrays:
    """Return the arrays of a head; ``scale`` units of value are a logistic unit."""
    found: Arrays = {}
    shifts: list[int] = []

    def put(name: str, weights: Real, biases: Real, largest: int = LAYER_LIMIT) -> None:
        done = layer(weights, biases, largest)
        found[f"{name}_weights"], found[f"{name}_biases"] = done.weights, done.biases
        shifts.append(done.shift)

    channels = head.split[0]
    region_unit = ranges.unit("region")
    weights = real(head.region.weight) * region_unit * 2**REGION_SHIFT
    weights /= REGION_SCALE * FEATURE_UNIT
    put(
        "region",
        weights,
        real(head.region.bias) * region_unit + weights.sum(1) / 2,  # the inputs are cut off
        REGION_INPUT,
    )
    pool_shift = 0
    while ranges["pool"] * region_unit * MARGIN / 2**pool_shift > LAYER_LIMIT:
        pool_shift += 1
    shifts.append(pool_shift)
    trunk_unit = ranges.unit("trunk")
    weights = real(head.trunk.weight) * trunk_unit
    weights[:, :channels] *= 2**BOARD_SHIFT / (BOARD_SCALE * FEATURE_UNIT)
    weights[:, channels:] *= 2**pool_shift / (POOL_SCALE * region_unit)
    put("trunk", weights, real(head.trunk.bias) * trunk_unit + weights.sum(1) / 2)
    bits = (np.arange(THREAT_MASKS)[:, None] >> np.arange(MASK_BITS)) & 1
    threats = bits @ real(head.threats.weight).T + real(head.threat_sets.weight)
    found["trunk_threats"] = np.rint(np.clip(threats * trunk_unit, -INT16, INT16)).astype(np.int64)
    value_unit = ranges.unit("value")
    weights = real(head.value.weight) * value_unit / trunk_unit
    put("value", weights, real(head.value.bias) * value_unit)
    last = layer(
        real(head.last.weight) * scale / value_unit, real(head.last.bias) * scale, LAYER_LIMIT
    )
    found["last_weights"], found["last_bias"] = last.weights[0], last.biases
    shifts.append(last.shift)

    hidden_unit, mixed_unit = ranges.unit("shift"), ranges.unit("mixed", INT16)
    factors = np.array([[2**16 / (8 * 256)], [2**16 / (2 * 256)], [2**16 / (2 * 256)]])
    around = real(head.neighbours) * factors
    while np.abs(around * mixed_unit).max() > NEIGHBOUR_LIMIT:
        mixed_unit /= 2
    found["neighbours"] = np.rint(around * mixed_unit).astype(np.int64)
    weights = real(head.cell.weight) * hidden_unit / mixed_unit
    cell = layer(weights, 1.5 * weights.sum(1), INT16)  # three products are cut off
    found["cell_weights"] = cell.weights
    logit_shift = 12
    while (
        2.0**logit_shift * ranges["direct"] * MARGIN > LAYER_LIMIT
        or LOGIT_UNIT * 2.0**logit_shift / hidden_unit * ranges["scale"] * MARGIN > LAYER_LIMIT
    ):
        logit_shift -= 1
    units = {
        "direct": 2.0**logit_shift,
        "shift": hidden_unit,
        "scale": LOGIT_UNIT * 2.0**logit_shift / hidden_unit,
    }
    all_weights = np.split(real(head.policy.weight), np.cumsum(head.split)[:-1])
    all_biases = np.split(real(head.policy.bias), np.cumsum(head.split)[:-1])
    for (name, unit), rows, ends in zip(units.items(), all_weights, all_biases, strict=True):
        more = cell.biases / 2.0**cell.shift if name == "shift" else 0.0
        put(name, rows * unit / trunk_unit, ends * unit + more)
    shifts += [cell.shift, logit_shift]
    shifts.append(round(float(real(head.linear_share)[0]) * 256))
    shifts.append(round(float(real(head.score_share)[0]) * LOGIT_UNIT * 256 / SCORE_SCALE))
    found["shifts"] = np.array(shifts + [0] * (SHIFTS - len(shifts)), np.int64)
    found["near"] = np.rint(real(head.near) * LOGIT_UNIT).astype(np.int64)
    return found


def quantise(network: Network, ranges: list[Ranges], codes: Codebook) -> Block:
    """Return the block of a network; ``ranges`` are those of its heads on games.

    Raises:
        ValueError: numbers have grown too large for the file.
    """
    widths = network.widths
    book = np.rint(codes.vectors * FEATURE_UNIT).clip(-BOOK_LIMIT, BOOK_LIMIT).astype(np.int64)
    sizes = Sizes(
        FORM,
        network.known.half,
        int(network.tied),
        len(network.heads),
        len(network.known),
        len(book),
        widths.channels,
        widths.region_units,
        widths.cell_units,
        widths.trunk_units,
        widths.value_units,
        NEAR_CLASSES,
    )
    shared = {"codes": codes.codes, "book": book}
    if network.tied:
        shared["swap"] = codes.swap
    heads = [
        quantise_head(head, each, network.scale)
        for head, each in zip(network.heads, ranges, strict=True)
    ]
    return Block(sizes, shared, heads)
