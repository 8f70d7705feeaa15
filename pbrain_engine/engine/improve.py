"""A policy better than the one that a tree search began with: what self-play teaches.

Two ways to spend the visits at the root, and to read what they have brought:

- *gumbel* (Danihelka et al. 2022): a few moves are drawn without putting them back (by adding
  Gumbel noise to the logarithms of the policy), and sequential halving shares the visits
  among them; the improved policy is the softmax of logarithm plus transformed value, with the
  node's own value for moves that were not visited;
- *visits* (Silver et al. 2017): Dirichlet noise is mixed into the policy at the root, the
  search goes its usual way, and the shares of the visits are the improved policy.

This is for making data, not for playing: it computes in floating point.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import exp, log
from typing import NamedTuple

from ..game.game import Move
from ..values import WIN_BAND

UNIT = 65536  # of chances and shares in the kernel

GUMBEL, VISITS = "gumbel", "visits"
METHODS = (GUMBEL, VISITS)

CONSIDERED = 16  # moves among which gumbel shares the visits
VALUE_BASE = 50.0  # transformed values: this and the most visits of a move ...
VALUE_SHARE = 0.1  # ... times this are how much a chance of 1 weighs against a logarithm
NOISE_SHARE = 0.25  # of Dirichlet noise in the policy at the root
NOISE_MOVES = 10.0  # its concentration is this divided by the number of moves
LEAST = 1e-4  # shares of an improved policy below this are left out


class RootMove(NamedTuple):
    """What the tree knows of a move: its share of the policy, its visits and its chance."""

    move: Move
    prior: float
    visits: int
    chance: float
    proof: int  # as a value, 0 where nothing is proven

    @property
    def loses(self) -> bool:
        """Whether it is proven to lose."""
        return self.proof <= -WIN_BAND


class Improved(NamedTuple):
    """An improved policy: shares that add up to one, the move to play, and the root's value."""

    move: Move
    value: int
    policy: dict[Move, float]


def gumbel_noise(chance: random.Random) -> float:
    """Draw from the standard Gumbel distribution."""
    return -log(-log(chance.random() or 1e-300) or 1e-300)


def dirichlet_noise(chance: random.Random, moves: int) -> list[float]:
    """Draw shares of so many moves from a symmetric Dirichlet distribution."""
    draws = [chance.gammavariate(NOISE_MOVES / moves, 1.0) for _ in range(moves)]
    total = sum(draws) or 1.0
    return [draw / total for draw in draws]


def halving_plan(considered: int, visits: int) -> list[tuple[int, int]]:
    """Return the rounds of sequential halving: how many moves, and visits for each of them.

    >>> halving_plan(8, 24)
    [(8, 1), (4, 2), (2, 4)]
    """
    rounds = max((considered - 1).bit_length(), 1)
    plan = []
    while visits > 0 and considered > 0:
        each = max(visits // (rounds * considered), 1) if considered > 2 else visits // considered
        if each == 0:
            break
        plan.append((considered, each))
        visits -= considered * each
        considered = max(considered // 2, 2) if considered > 2 else 0
        rounds = max(rounds - 1, 1)
    return plan


def mixed_chance(moves: Sequence[RootMove], own: float) -> float:
    """Return the chance taken for moves without a visit: the node's own, mixed with the others'.

    ``own`` is the evaluation of the position.
    """
    total = sum(m.visits for m in moves)
    share = sum(m.prior for m in moves if m.visits)
    if total == 0 or share <= 0:
        return own
    seen = sum(m.prior * m.chance for m in moves if m.visits) / share
    return (own + total * seen) / (1 + total)


def transformed(moves: Sequence[RootMove], own: float) -> list[float]:
    """Return what the chance of each move weighs against the logarithm of its share."""
    mixed = mixed_chance(moves, own)
    weight = VALUE_SHARE * (VALUE_BASE + max((m.visits for m in moves), default=0))
    return [weight * (m.chance if m.visits else mixed) for m in moves]


def logarithms(moves: Sequence[RootMove]) -> list[float]:
    """Return the logarithms of the policy."""
    return [log(max(m.prior, 1 / UNIT)) for m in moves]


def improved_policy(moves: Sequence[RootMove], own: float) -> dict[Move, float]:
    """Return the softmax of logarithm plus transformed chance; no share for proven losses."""
    open_moves = [m for m in moves if not m.loses] or list(moves)
    gains = transformed(open_moves, own)
    pairs = zip(open_moves, logarithms(open_moves), gains, strict=True)
    return softmax({m.move: base + gain for m, base, gain in pairs})


def visit_policy(moves: Sequence[RootMove]) -> dict[Move, float]:
    """Return the shares of the visits; no share for proven losses."""
    open_moves = [m for m in moves if not m.loses] or list(moves)
    total = sum(m.visits for m in open_moves)
    if total == 0:
        return {m.move: 1 / len(open_moves) for m in open_moves}
    return {m.move: m.visits / total for m in open_moves}


def softmax(scores: dict[Move, float]) -> dict[Move, float]:
    """Return the softmax of some scores, without what is next to nothing."""
    best = max(scores.values())
    powers = {move: exp(score - best) for move, score in scores.items()}
    total = sum(powers.values())
    kept = {move: power / total for move, power in powers.items() if power >= LEAST * total}
    total = sum(kept.values())
    return {move: share / total for move, share in kept.items()}
