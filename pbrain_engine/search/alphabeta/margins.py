"""By how much moves are pruned, reduced and rewarded: what follows from the parameters.

Depths are in depth units, ``ONE`` a ply.
"""

from ...kernel import kernel
from ..parameters import ONE

LOG_BITS = 6  # 64 units of ``log_of`` are a factor of two


@kernel
def log_of(number):
    """Return 64 * log2 of a positive number, rounded down to linear steps between powers."""
    power = 0
    while number >> (power + 1):
        power += 1
    return (power << LOG_BITS) + ((number - (1 << power) << LOG_BITS) >> power)


@kernel
def futility_margin(params, depth, improving):
    """Return by how much the evaluation must exceed beta to be believed at this depth."""
    return params.futility_slope * (depth - ONE * improving) // ONE


@kernel
def razor_margin(params, depth):
    """Return how far below alpha the evaluation leaves the question to the leaf search."""
    return params.razor_base + params.razor_slope * depth // ONE


@kernel
def count_limit(params, depth, improving, pv):
    """Return how many moves a node looks at before it prunes the rest by number."""
    rise = params.count_slope + params.count_curve * depth // ONE
    limit = 100 * params.count_base + rise * depth // ONE
    if pv:
        limit = limit * params.count_pv // 100
    return limit // (100 * (2 - improving))


@kernel
def late_reduction(params, depth, number):
    """Return the reduction, in depth units, of the move with this number."""
    logs = log_of(max(depth // ONE, 1)) * log_of(number)
    return params.reduction_base + (params.reduction_scale * logs >> 12)


@kernel
def policy_reduction(params, unlikely):
    """Return how much more, or less, a move is reduced for what the policy says against it."""
    change = (unlikely - params.policy_even) * params.policy_reduce >> 8
    return min(max(change, -params.policy_less), params.policy_more)


@kernel
def history_bonus(params, depth):
    """Return the history bonus of a move that cut at this depth."""
    plies = depth // ONE + 1
    return min(12 * plies * plies + 40 * plies, params.history_bonus)
