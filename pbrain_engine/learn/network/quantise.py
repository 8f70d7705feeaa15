"""From real numbers to the integers of a weight file (``eval.network_block``), and back.

The unit of a layer is the largest power of two that fits the numbers seen in games, and its shift
the largest for which no sum can exceed 32 bits, whatever the inputs. A file does not store the
units, which do not affect the outputs: a continued training may choose others.

If there are more patterns than *codes*, rare ones share: the most frequent patterns keep their own
vectors, every other one takes the nearest of these. If colours are tied, codes come in pairs, so
that a position with colours exchanged keeps its value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...engine.engine import LOGIT_UNIT
from ...errors import WeightsError
from ...eval.network_block import (
    BOOK_LIMIT,
    FORM,
    LAYER_LIMIT,
    NEAR_CLASSES,
    SHIFTS,
    THREAT_MASKS,
    Field,
    Sizes,
    head_fields,
    shared_fields,
    sizes_of,
)
from .batch import Patterns, patterns
from .dataset import Floats, Ints
from .forward import BOARD_SCALE, FEATURE_UNIT, POOL_SCALE, REGION_SCALE, SCORE_SCALE
from .layout import MASK_BITS, PEAKS, Layout

Real = NDArray[np.float64]
Arrays = dict[str, Ints]
REGION_SHIFT, BOARD_SHIFT = 3, 5
MOST_CODES = 16384  # as many as fit the cache of a core with their vectors
BLOCK = 512  # patterns at a time
# The shifts of a head, in order; the last two are factors times 2**8.
SHIFT_NAMES = (
    "region", "pool", "trunk", "value", "last", "direct", "shift", "scale", "cell", "logit",
    "linear_share", "score_share",
)  # fmt: skip
_KINDS = {"H": "<u2", "h": "<i2", "i": "<i4"}


class NetworkBlock(NamedTuple):
    """A network's numbers."""

    sizes: Sizes
    shared: Arrays
    heads: list[Arrays]


def unpack(raw: bytes) -> NetworkBlock:
    """Return the numbers of a block; WeightsError if the bytes are not a block."""
    sizes = sizes_of(raw)
    at = len(sizes.pack())

    def take(fields: list[Field]) -> Arrays:
        nonlocal at
        found = {}
        for field in fields:
            flat = np.frombuffer(raw[at : at + field.bytes], _KINDS[field.kind])
            found[field.name] = flat.reshape(field.shape).astype(np.int64)
            at += field.bytes
        return found

    shared = take(shared_fields(sizes))
    return NetworkBlock(sizes, shared, [take(head_fields(sizes)) for _ in range(sizes.heads)])


def pack(block: NetworkBlock) -> bytes:
    """Return the bytes of a block; ValueError if an array or a number does not fit."""
    parts = [block.sizes.pack()]
    groups = [(shared_fields(block.sizes), block.shared)]
    groups += [(head_fields(block.sizes), head) for head in block.heads]
    for fields, arrays in groups:
        for field in fields:
            numbers, kind = arrays[field.name], np.dtype(_KINDS[field.kind])
            limits = np.iinfo(kind)
            if numbers.shape != field.shape:
                raise ValueError(f"{field.name} has shape {numbers.shape}, not {field.shape}")
            if numbers.min() < limits.min or numbers.max() > limits.max:
                raise ValueError(f"{field.name} does not fit {kind.name}")
            parts.append(np.ascontiguousarray(numbers.astype(kind)).tobytes())
    return b"".join(parts)


MARGIN = 1.5  # of the range over the largest number seen
INT16 = 32767
REGION_INPUT = 32760  # the largest sum over a region, shifted
NEIGHBOUR_LIMIT = 21845  # so that the sum of the three products fits int16
MOST_SHIFT, MOST_LOGIT_SHIFT = 24, 12
# For the cell, its orthogonal and its diagonal neighbours: the factor of a weight that makes up for
# the upper half of a product with a feature times 8, 2 and 2.
AROUND_FACTORS = np.array([[2**16 / (8 * 256)], [2**16 / (2 * 256)], [2**16 / (2 * 256)]])


def shift_within(limit: float) -> int:
    """Return the exponent of the largest power of two up to a limit."""
    return int(np.floor(np.log2(limit)))


def layer(weights: Real, biases: Real, largest: int) -> tuple[Ints, Ints, int]:
    """Return quantised weights and biases for integer inputs up to ``largest``, and their shift.

    Half a unit is added to the biases, so that the shift rounds. ValueError if even without a shift
    the sums do not fit 32 bits.
    """
    for shift in range(MOST_SHIFT, -1, -1):
        rows = np.rint(weights * 2.0**shift)
        ends = np.rint(biases * 2.0**shift + 2.0 ** (shift - 1))
        most = (np.abs(rows).sum(1) * largest + np.abs(ends)).max()
        if np.abs(rows).max() <= INT16 and most < 1 << 31:
            return rows.astype(np.int64), ends.astype(np.int64), shift
    raise ValueError("a layer of the network has grown too large for the file")


def quantise_head(head: Mapping[str, Real], ranges: Mapping[str, float], scale: float) -> Arrays:
    """Return the arrays of a head.

    ``ranges``: the largest number to allow for at each place; ``scale``: units of value per
    logistic unit. Where inputs are truncated, sums of weights in the biases make up for it.
    """
    found: Arrays = {}
    shifts: dict[str, int] = {}

    def put(name: str, weights: Real, biases: Real, largest: int = LAYER_LIMIT) -> None:
        rows, ends, shifts[name] = layer(weights, biases, largest)
        found[f"{name}_weights"], found[f"{name}_biases"] = rows, ends

    channels, cells = head["cell"].shape
    region_unit, trunk_unit, value_unit, hidden_unit = (
        2.0 ** shift_within(LAYER_LIMIT / ranges[name])
        for name in ("region", "trunk", "value", "shift")
    )
    weights = head["region"].T * region_unit * 2**REGION_SHIFT / (REGION_SCALE * FEATURE_UNIT)
    biases = head["region_bias"] * region_unit + weights.sum(1) / 2
    put("region", weights, biases, REGION_INPUT)
    shifts["pool"] = max(
        0, -shift_within(LAYER_LIMIT / (ranges["pool"] * POOL_SCALE * region_unit))
    )
    weights = head["trunk"].T * trunk_unit
    weights[:, :channels] *= 2**BOARD_SHIFT / (BOARD_SCALE * FEATURE_UNIT)
    weights[:, channels:] *= 2 ** shifts["pool"] / (POOL_SCALE * region_unit)
    put("trunk", weights, head["trunk_bias"] * trunk_unit + weights.sum(1) / 2)
    bits = (np.arange(THREAT_MASKS)[:, None] >> np.arange(MASK_BITS)) & 1
    threats = np.clip((bits @ head["threats"] + head["sets"]) * trunk_unit, -INT16, INT16)
    found["trunk_threats"] = np.rint(threats).astype(np.int64)
    put("value", head["value"].T * value_unit / trunk_unit, head["value_bias"] * value_unit)
    put("last", head["last"][None] * scale / value_unit, head["last_bias"] * scale)
    found["last_weights"], found["last_bias"] = found["last_weights"][0], found.pop("last_biases")

    around = head["neighbours"] * AROUND_FACTORS
    mixed_limit = min(INT16 / ranges["mixed"], NEIGHBOUR_LIMIT / max(np.abs(around).max(), 1e-6))
    mixed_unit = 2.0 ** shift_within(mixed_limit)
    found["neighbours"] = np.rint(around * mixed_unit).astype(np.int64)
    weights = head["cell"].T * hidden_unit / mixed_unit
    put("cell", weights, 1.5 * weights.sum(1), INT16)  # three products are truncated
    of_cell = found.pop("cell_biases") / 2.0 ** shifts["cell"]
    scale_unit = LOGIT_UNIT / hidden_unit
    logit_limit = LAYER_LIMIT / max(ranges["direct"], scale_unit * ranges["scale"])
    shifts["logit"] = min(MOST_LOGIT_SHIFT, shift_within(logit_limit))
    logit = 2.0 ** shifts["logit"]
    split = channels, channels + cells
    parts = zip(
        np.split(head["policy"].T, split), np.split(head["policy_bias"], split), strict=True
    )
    units = {"direct": logit, "shift": hidden_unit, "scale": scale_unit * logit}
    for (name, unit), (weights, biases) in zip(units.items(), parts, strict=True):
        more = of_cell if name == "shift" else 0.0
        put(name, weights * unit / trunk_unit, biases * unit + more)
    found["near"] = np.rint(head["near"] * LOGIT_UNIT).astype(np.int64)
    shifts["linear_share"] = round(float(head["linear_share"][0]) * 256)
    shifts["score_share"] = round(float(head["score_share"][0]) * LOGIT_UNIT * 256 / SCORE_SCALE)
    ordered = [shifts[name] for name in SHIFT_NAMES]
    found["shifts"] = np.array(ordered + [0] * (SHIFTS - len(ordered)), np.int64)
    return found


class Codebook(NamedTuple):
    """The code of each pattern, and for each code its vector and the colour-exchanged code."""

    codes: Ints
    swap: Ints
    vectors: Real


def make_codebook(
    maps: list[Real], known: Patterns, counts: Ints, most: int = MOST_CODES
) -> Codebook:
    """Return the codes of a network; ``counts``: frequencies of patterns in games.

    ``maps``: the vectors of all patterns, from the only map or from black's and white's.
    """
    tied = len(maps) == 1
    vectors = maps[0] if tied else np.concatenate([maps[0], maps[1][known.swapped]], 1)
    every = np.arange(len(known))
    if len(known) <= most:
        return Codebook(every, known.swapped, vectors)
    kept = frequent(known, counts, most, tied)
    codes, swap = np.empty_like(every), np.arange(len(kept))
    codes[kept] = swap
    rest = ~np.isin(every, kept)
    if tied:  # self-exchanged patterns need such codes; of other pairs, one determines both
        own, second = known.swapped == every, known.swapped < every
        both = np.concatenate([vectors, vectors[known.swapped]], 1)
        for kind in (False, True):
            these, among = np.flatnonzero(rest & ~second & (own == kind)), kept[own[kept] == kind]
            codes[these] = np.searchsorted(kept, among[nearest(both[these], both[among])])
        swap = np.searchsorted(kept, known.swapped[kept])
        codes[second] = swap[codes[known.swapped[second]]]
    else:
        codes[rest] = nearest(vectors[rest], vectors[kept])
    return Codebook(codes, swap, vectors[kept])


def frequent(known: Patterns, counts: Ints, most: int, tied: bool) -> Ints:
    """Return the most frequent patterns, ascending; if tied, with their colour-exchanged ones."""
    weight = counts + counts[known.swapped] if tied else counts.copy()
    weight[known.blank] = weight.max() + 1
    group = np.minimum(np.arange(len(known)), known.swapped) if tied else np.arange(len(known))
    order = np.lexsort((group, -weight))  # keeps pairs together
    kept = order[:most]
    if tied and not np.isin(known.swapped[kept[-1]], kept):
        kept = kept[:-1]
    return np.sort(kept)


def nearest(points: Real, among: Real) -> Ints:
    """Return the index of the nearest vector for each point."""
    lengths = (among**2).sum(1) / 2
    found = [
        np.argmax(points[i : i + BLOCK] @ among.T - lengths, 1)
        for i in range(0, len(points), BLOCK)
    ]
    return np.concatenate(found) if found else np.zeros(0, np.int64)


def quantise(
    layout: Layout, numbers: Floats, peaks: Floats, codes: Codebook, scale: float
) -> NetworkBlock:
    """Return a network quantised by the ``peaks`` of its heads; ValueError if numbers are large."""
    book = np.rint(codes.vectors * FEATURE_UNIT).clip(-BOOK_LIMIT, BOOK_LIMIT).astype(np.int64)
    shared = {"codes": codes.codes, "book": book}
    if layout.tied:
        shared["swap"] = codes.swap
    views = layout.views(numbers)
    heads = [
        quantise_head(
            {part.name[6:]: views[part.name].astype(np.float64) for part in layout.parts
             if part.name.startswith(f"head{side}.")},
            dict(zip(PEAKS, MARGIN * np.maximum(peaks[side], 1e-6), strict=True)), scale,
        )
        for side in range(layout.sides)
    ]  # fmt: skip
    return NetworkBlock(sizes_for(layout, len(book)), shared, heads)


def sizes_for(layout: Layout, codes: int) -> Sizes:
    """Return the sizes of a network for its file."""
    channels, regions, cells, trunk, values, _ = layout.widths
    return Sizes(
        FORM, layout.known.half, int(layout.tied), layout.sides, len(layout.known), codes, channels,
        regions, cells, trunk, values, NEAR_CLASSES,
    )  # fmt: skip


UNIT = 1024.0  # of every layer; the largest numbers are then usually about eight


def vectors_of(block: NetworkBlock, layout: Layout) -> list[Floats]:
    """Return the vectors of a layout's patterns for each of its maps: [patterns, outputs].

    If the layout's windows are wider than the block's, outer cells make no difference; if colours
    are no longer tied, both start with the shared vectors.
    """
    narrow, wide = patterns(block.sizes.half), layout.known
    rows = block.shared["book"][block.shared["codes"]] / FEATURE_UNIT
    half = layout.outputs
    found = [rows] if block.sizes.tied else [rows[:, :half], rows[narrow.swapped, half:]]
    inner = wide.keys >> 2 * (wide.half - narrow.half) & (1 << 4 * narrow.half) - 1
    found = [each[narrow.number[inner]] for each in found]
    return [each - each[wide.blank] for each in found * (layout.sides // len(found))]


def begin_at(block: NetworkBlock, layout: Layout, seed: int, scale: float) -> tuple[Floats, Floats]:
    """Return the numbers of a network equivalent to a block, and their decay targets.

    ``scale``: units of value per logistic unit. WeightsError if the block has other layer widths or
    wider windows, or distinguishes colours that the family treats the same.
    """
    sizes, wanted = block.sizes, sizes_for(layout, block.sizes.codes)
    if sizes[6:11] != wanted[6:11]:
        raise WeightsError(f"has layers of {sizes[6:11]} units, not {wanted[6:11]}")
    if sizes.half > layout.known.half:
        raise WeightsError("has wider windows than this family")
    if sizes.tied < layout.tied:
        raise WeightsError("distinguishes colours that this family treats the same")
    numbers = layout.start(seed).astype(np.float64)
    anchor = np.zeros_like(numbers)
    first, target = layout.views(numbers), layout.views(anchor)
    for side, rows in enumerate(vectors_of(block, layout)):
        head = block.heads[side % len(block.heads)]
        for views in (first, target):
            views[f"map{side}.own"][...] = rows
            views[f"head{side}.sets"][...] = head["trunk_threats"] / UNIT
        first[f"map{side}.third"][...] = 0
        for name, part in head_of(head, layout.widths.channels, scale).items():
            first[f"head{side}.{name}"][...] = part
    return numbers.astype(np.float32), anchor.astype(np.float32)


def head_of(head: Arrays, channels: int, scale: float) -> dict[str, Floats]:
    """Return the numbers of a head, without its sets of threats."""
    shifts = dict(zip(SHIFT_NAMES, head["shifts"].tolist(), strict=False))

    def layer(name: str) -> tuple[Floats, Floats]:
        """Return the weights, and the biases without the half added for rounding."""
        ends = head["last_bias" if name == "last" else f"{name}_biases"]
        weights = head[f"{name}_weights"] / 2.0 ** shifts[name]
        return weights, (ends - 2.0 ** (shifts[name] - 1)) / 2.0 ** shifts[name]

    region, region_bias = layer("region")
    trunk, trunk_bias = layer("trunk")
    value, value_bias = layer("value")
    last, last_bias = layer("last")
    cell = head["cell_weights"] / 2.0 ** shifts["cell"]
    around = head["neighbours"] / AROUND_FACTORS
    mixed_unit = 2.0 ** np.round(np.log2(np.abs(around[0]).mean() + 1e-9))
    logit = 2.0 ** shifts["logit"]
    units = {"direct": logit, "shift": UNIT, "scale": LOGIT_UNIT * logit / UNIT}
    policy = {name: layer(name) for name in units}
    biases = {name: ends for name, (_, ends) in policy.items()}
    biases["shift"] = biases["shift"] - 1.5 * cell.sum(1) - 0.5  # three products are truncated
    board = BOARD_SCALE * FEATURE_UNIT / 2**BOARD_SHIFT
    pool = POOL_SCALE * UNIT / 2.0 ** shifts["pool"]
    return {
        "region": (region * REGION_SCALE * FEATURE_UNIT / 2**REGION_SHIFT / UNIT).T,
        "region_bias": (region_bias - region.sum(1) / 2) / UNIT,
        "trunk": (np.concatenate([trunk[:, :channels] * board, trunk[:, channels:] * pool], 1)
                  / UNIT).T,
        "trunk_bias": (trunk_bias - trunk.sum(1) / 2) / UNIT,
        "value": value.T,
        "value_bias": value_bias / UNIT,
        "last": last * UNIT / scale,
        "last_bias": last_bias / scale,
        "policy": np.concatenate([policy[name][0] * UNIT / unit for name, unit in units.items()]).T,
        "policy_bias": np.concatenate([biases[name] / unit for name, unit in units.items()]),
        "cell": (cell * mixed_unit / UNIT).T,
        "neighbours": around / mixed_unit,
        "near": head["near"] / LOGIT_UNIT,
        "linear_share": np.array([shifts["linear_share"] / 256]),
        "score_share": np.array([shifts["score_share"] * SCORE_SCALE / (LOGIT_UNIT * 256)]),
        "threats": np.zeros(1),
    }  # fmt: skip
