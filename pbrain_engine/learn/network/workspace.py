"""The arrays of a training: a model, its gradients, what it says, and numbers on their way."""

from __future__ import annotations

from typing import NamedTuple

from ..losses import Floats, Ints
from .layout import Head, TransposedHead

REGIONS = 9
PEAKS = ("region", "pool", "trunk", "value", "direct", "scale", "mixed", "shift")
OF_REGION, OF_POOL, OF_TRUNK, OF_VALUE, OF_DIRECT, OF_SCALE, OF_MIXED, OF_SHIFT = range(len(PEAKS))


class Model(NamedTuple):
    """What says something of positions of one side to move."""

    vectors: Floats  # [patterns, channels], of each pattern in a line
    head: Head
    transposed: TransposedHead


class Gradients(NamedTuple):
    """The gradients of one thread, to which those of a batch are added."""

    vectors: Floats  # [patterns, channels]
    head: Head


class Goal(NamedTuple):
    """What is wanted of a batch."""

    learning: bool  # whether gradients are wanted
    shares: Floats  # [3]: what a loss of value, move and level of a position adds to that of all
    peaks: Floats  # [PEAKS]: raised to the largest numbers seen, where nothing is learned


class Outputs(NamedTuple):
    """What is said of each position of a batch, and its losses in nats; NaN where it has none."""

    odds: Floats  # [batch], the logarithm of those of the side to move
    logits: Floats  # [batch, cells of the board], of the candidates in order; the rest is left
    target: Floats  # [batch], loss of the value on its target
    result: Floats  # [batch], on the result of the game alone
    entropy: Floats  # [batch], of the move
    first: Floats  # [batch], 1 where no logit is above that of the move, else 0


class Workspace(NamedTuple):
    """The numbers of one position on their way, in the memory of a thread; all flat.

    ``of_`` is the gradient of the loss by a number. Features lie on a board with a rim one cell
    wide, [(height + 2) * (width + 2), channels], which is 0 but for the cells of the position.
    """

    features: Floats
    of_features: Floats
    sums: Floats  # [regions, channels], of the features
    of_sums: Floats
    regions: Floats  # [regions, region units], before they are clamped
    of_regions: Floats
    inputs: Floats  # [channels + region units], of the trunk
    of_inputs: Floats
    trunk: Floats  # [trunk units]
    of_trunk: Floats
    hidden: Floats  # [value units]
    of_hidden: Floats
    policy: Floats  # [channels + 2 * cell units]: direct weights, shifts and scales
    of_policy: Floats
    places: Ints  # [candidates], where the features of each begin
    classes: Ints  # [candidates, 2], of their distances from the last two stones
    crosses: Floats  # [candidates, channels], sums of the four orthogonal neighbours
    corners: Floats  # [candidates, channels], of the four diagonal ones
    mixed: Floats  # [candidates + 4, channels], of a cell and its neighbours; done four at a time
    units: Floats  # [candidates + 4, cell units]
    of_units: Floats
    logits: Floats  # [candidates], then chances, then gradients
