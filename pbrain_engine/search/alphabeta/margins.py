"""Margins, limits, reductions and bonuses computed from the parameters.

Depths are in depth units, ``ONE`` per ply.
"""

from ...kernel import kernel
from ..parameters import ONE

LOG_BITS = 6  # 64 units of ``log_of`` are a factor of two


@kernel
def log_of(number):
    """Return 64 * log2 of a positive number, interpolated linearly between powers of two."""
    power = 0
    while number >> (power + 1):
        power += 1
    return (power << LOG_BITS) + ((number - (1 << power) << LOG_BITS) >> power)


@kernel
def futility_margin(params, depth, improving):
    """Return the margin above beta at which the evaluation is trusted at this depth."""
    return params.futility_slope * (depth - ONE * improving) // ONE


@kernel
def razor_margin(params, depth):
    """Return the margin below alpha at which the leaf search decides."""
    return params.razor_base + params.razor_slope * depth // ONE


@kernel
def count_limit(params, depth, improving, pv):
    """Return the number of moves a node searches before pruning the rest."""
    rise = params.count_slope + params.count_curve * depth // ONE
    limit = 100 * params.count_base + rise * depth // ONE
    if pv:
        limit = limit * params.count_pv // 100
    return limit // 100 if improving != 0 else limit // 200


@kernel
def late_reduction(params, depth, number):
    """Return the reduction, in depth units, of a move by its number."""
    logs = log_of(max(depth // ONE, 1)) * log_of(number)
    return params.reduction_base + (params.reduction_scale * logs >> 12)


@kernel
def policy_reduction(params, unlikely):
    """Return the change of a move's reduction for its improbability under the policy."""
    change = (unlikely - params.policy_even) * params.policy_reduce >> 8
    return min(max(change, -params.policy_less), params.policy_more)


@kernel
def history_bonus(params, depth):
    """Return the history bonus for a cutoff at this depth."""
    plies = depth // ONE + 1
    return min(12 * plies * plies + 40 * plies, params.history_bonus)
