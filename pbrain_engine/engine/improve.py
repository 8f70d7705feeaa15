"""A policy better than the one that a tree search began with: what self-play teaches.

By Gumbel root search (Danihelka et al. 2022): a few moves are drawn without putting them back (by
adding Gumbel noise to the logarithms of the policy), and sequential halving shares the visits among
them; the improved policy is the softmax of logarithm plus transformed value, with the node's own
value for moves that were not visited.

This is for making data, not for playing: it computes in floating point.
"""

from __future__ import annotations

import ctypes
import random
from collections.abc import Sequence
from math import exp, log
from typing import TYPE_CHECKING, NamedTuple

from ..game.game import Move, move_of
from ..position.geometry import NO_CELL, cell_of
from ..values import WIN_BAND, win_in
from .searcher import Crew

if TYPE_CHECKING:
    from .montecarlo import TreeSearch

UNIT = 65536  # of chances and shares in the kernel

CONSIDERED = 16  # moves among which the visits are shared
VALUE_BASE = 50.0  # transformed values: this and the most visits of a move ...
VALUE_SHARE = 0.1  # ... times this are how much a chance of 1 weighs against a logarithm
ROOM = 512  # moves of a root
_NUMBERS = 5  # of each, as the kernel writes them
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


def transformed(moves: Sequence[RootMove], own: float) -> list[float]:
    """Return what the chance of each move weighs against the logarithm of its share.

    For a move without a visit it is ``own``, the evaluation of the position, mixed with the others.
    """
    total = sum(m.visits for m in moves)
    share = sum(m.prior for m in moves if m.visits)
    mixed = own
    if total and share > 0:
        seen = sum(m.prior * m.chance for m in moves if m.visits) / share
        mixed = (own + total * seen) / (1 + total)
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


def softmax(scores: dict[Move, float]) -> dict[Move, float]:
    """Return the softmax of some scores, without what is next to nothing."""
    best = max(scores.values())
    powers = {move: exp(score - best) for move, score in scores.items()}
    total = sum(powers.values())
    kept = {move: power / total for move, power in powers.items() if power >= LEAST * total}
    total = sum(kept.values())
    return {move: share / total for move, share in kept.items()}


class Lesson:
    """An improved policy from a search that is set up and has not been run."""

    def __init__(self, search: TreeSearch, own: float, chance: random.Random) -> None:
        """Use this search; ``own``: the chance that the evaluation sees in the position."""
        self._search = search
        self._own = own
        self._chance = chance
        self._out = (ctypes.c_int64 * (_NUMBERS * ROOM))()

    def learn(self, visits: int) -> Improved | None:
        """Spend this many visits; return what they teach, None if there is no legal move."""
        found: list[Improved] = []

        def lead() -> None:
            adviser = self._search.question.adviser
            win = adviser.first_win() if adviser else None
            if win is not None:
                value = win_in(2 * win.length - 1)
                found.append(Improved(win.line[0], value, {win.line[0]: 1.0}))
            elif self.moves():
                found.append(self._by_halving(visits))

        Crew(self._search.stop).run(lead)
        return found[0] if found else None

    def moves(self) -> list[RootMove]:
        """Return what the tree knows of the root moves, likeliest first."""
        search, out = self._search, self._out
        count = search.library.tree_moves(search.tree, search.lists, ctypes.addressof(out), ROOM)
        found = []
        for at in range(0, _NUMBERS * count, _NUMBERS):
            cell, prior, visits, average, proof = out[at : at + _NUMBERS]
            found.append(RootMove(move_of(cell), prior / UNIT, visits, average / UNIT, proof))
        return found

    def _visit(self, move: Move | None, visits: int) -> None:
        """Make visits that all begin with a move, or as the search would have it."""
        search = self._search
        search.library.tree_force(search.tree, NO_CELL if move is None else cell_of(*move))
        search.walk(search.leader, visits)

    def _by_halving(self, visits: int) -> Improved:
        moves = self.moves()
        draws = [self._chance.random() or 1e-300 for _ in moves]
        noise = {m.move: -log(-log(u) or 1e-300) for m, u in zip(moves, draws, strict=True)}
        drawn = self._drawn(moves, noise, values=False)[:CONSIDERED]
        for count, each in halving_plan(len(drawn), visits):
            drawn = drawn[:count]
            for move in drawn:
                self._visit(move, each)
            still = [m for m in self.moves() if m.move in drawn]
            drawn = self._drawn(still, noise, values=True)
        self._visit(None, 0)
        moves = self.moves()
        return self._improved(drawn[0], moves, improved_policy(moves, self._own))

    def _drawn(
        self, moves: Sequence[RootMove], noise: dict[Move, float], values: bool
    ) -> list[Move]:
        """Return moves by logarithm and noise, and their chances where ``values``; best first."""
        gains = transformed(moves, self._own) if values else [0.0] * len(moves)
        scores = {
            m.move: (-m.loses, noise[m.move] + base + gain)
            for m, base, gain in zip(moves, logarithms(moves), gains, strict=True)
        }
        return sorted(scores, key=lambda move: scores[move], reverse=True)

    def _improved(
        self, move: Move, moves: Sequence[RootMove], policy: dict[Move, float]
    ) -> Improved:
        """Return the result, with the root's value as the search sees it; a sure win is played."""
        search = self._search
        out = (ctypes.c_int64 * 5)()
        search.library.tree_root(search.tree, ctypes.addressof(out))
        visited, total, proof = out[:3]
        chance = 0.5 if proof else total / max(visited, 1) / UNIT
        if proof >= WIN_BAND:
            best = max(moves, key=lambda m: m.proof).move
            return Improved(best, proof, {best: 1.0})
        if proof <= -WIN_BAND:
            return Improved(move, proof, policy)
        scale = max(round(search.question.game.scale), 1)
        value = search.library.value_from_chance(round(chance * UNIT), scale)
        return Improved(move, value, policy)
