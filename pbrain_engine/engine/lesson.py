"""One search that teaches: it shares its visits as the method says, and reads a better policy."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Sequence

from ..game.game import Move, move_of
from ..position.geometry import NO_CELL, cell_of
from ..values import WIN_BAND, win_in
from .crew import Crew
from .improve import (
    CONSIDERED,
    GUMBEL,
    NOISE_SHARE,
    UNIT,
    Improved,
    RootMove,
    dirichlet_noise,
    gumbel_noise,
    halving_plan,
    improved_policy,
    logarithms,
    transformed,
    visit_policy,
)
from .tree_search import TreeSearch

ROOM = 512  # moves of a root
_NUMBERS = 5  # of each, as the kernel writes them


class Lesson:
    """An improved policy from a search that is set up and has not been run."""

    def __init__(self, search: TreeSearch, own: float, chance: random.Random) -> None:
        """Use this search; ``own``: the chance that the evaluation sees in the position."""
        self._search = search
        self._own = own
        self._chance = chance
        self._out = (ctypes.c_int64 * (_NUMBERS * ROOM))()
        self._result: list[Improved] = []
        self._error: BaseException | None = None

    def learn(self, visits: int, method: str) -> Improved | None:
        """Spend so many visits; return what they teach, None if there is no legal move.

        Methods are those of ``improve.METHODS``.
        """
        Crew(self._search.stop).run([lambda: self._work(visits, method)])
        if self._error is not None:
            raise self._error
        return self._result[0] if self._result else None

    def _work(self, visits: int, method: str) -> None:
        try:
            known = self._known_win()
            if known is not None:
                self._result.append(known)
            elif self.moves():
                halve = method == GUMBEL
                self._result.append(self._by_gumbel(visits) if halve else self._by_visits(visits))
        except BaseException as error:  # raised again where the lesson was asked for
            self._error = error

    def _known_win(self) -> Improved | None:
        """Return a forced win that is found before the search, if there is one."""
        adviser = self._search.question.adviser
        win = adviser.first_win() if adviser else None
        if win is None:
            return None
        return Improved(win.line[0], win_in(2 * win.length - 1), {win.line[0]: 1.0})

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

    def _by_gumbel(self, visits: int) -> Improved:
        moves = self.moves()
        noise = {m.move: gumbel_noise(self._chance) for m in moves}
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

    def _by_visits(self, visits: int) -> Improved:
        moves = self.moves()
        noise = dirichlet_noise(self._chance, len(moves))
        for m, extra in zip(moves, noise, strict=True):
            prior = (1 - NOISE_SHARE) * m.prior + NOISE_SHARE * extra
            self._search.library.tree_prior(
                self._search.tree, self._search.lists, cell_of(*m.move), round(prior * UNIT)
            )
        self._visit(None, visits)
        moves = self.moves()
        policy = visit_policy(moves)
        picked = self._chance.choices(list(policy), list(policy.values()))[0]
        return self._improved(picked, moves, policy)

    def _improved(
        self, move: Move, moves: Sequence[RootMove], policy: dict[Move, float]
    ) -> Improved:
        """Return the result, with the root's value as the search sees it; a sure win is played."""
        search = self._search
        proof, chance = search.root_chance()
        if proof >= WIN_BAND:
            best = max(moves, key=lambda m: m.proof).move
            return Improved(best, proof, {best: 1.0})
        if proof <= -WIN_BAND:
            return Improved(move, proof, policy)
        scale = max(round(search.question.scale), 1)
        value = search.library.value_from_chance(round(chance * UNIT), scale)
        return Improved(move, value, policy)
