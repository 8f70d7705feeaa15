"""Threat-space search: win by moves that have to be answered, without trying the answers.

Allis, van den Herik and Huntjens, "Go-Moku and Threat-Space Search" (1993). A threat is a move
that leaves the defender few replies. The attacker's stone is its *gain* square, the replies are
its *cost* squares, the stones that it needs its *rest* squares. The defender is given all costs at
once, so a sequence of threats is a line, not a tree. Only threats that rest on the last gain are
added to a sequence; two sequences are *combined* when a threat rests on both. What is found holds
against every reply: the defender is never left a five, nor a four while a three is on.

Cost: all threats of the board for each sequence; there are few sequences, for few threats depend.
"""

from __future__ import annotations

from contextlib import suppress
from random import Random
from typing import NamedTuple

from ..position.rules import EMPTY
from . import evaluation
from .board import Budget, Choice, NodeCounter, PlainGame


class Threat(NamedTuple):
    """A four or an open three: the stone, the replies to it, and the stones it rests on."""

    gain: int
    costs: tuple[int, ...]
    rests: frozenset[int]


Sequence = tuple[Threat, ...]


def threats(game: PlainGame, side: int) -> list[Threat]:
    """Return the threats of a side by the look of them; whether they hold, ``play`` finds out.

    A four: a row of five cells, three own stones and two empty. An open three: a row of six, its
    ends empty and two own stones between them.
    """
    found = []
    for number, five in enumerate(game.fives):
        own = game.stones[side][number]
        if game.stones[1 - side][number] or own not in (2, 3):
            continue
        row: tuple[int, ...] = five
        if own == 2:
            beyond = game.next_cell(five)
            if beyond is None or EMPTY != game.cells[five[0]] or EMPTY != game.cells[beyond]:
                continue
            row = (*five, beyond)
        rests = frozenset(cell for cell in row if game.cells[cell] == side)
        empty = [cell for cell in row if cell not in rests]
        gains = empty if own == 3 else empty[1:-1]
        found += [Threat(g, tuple(c for c in empty if c != g), rests) for g in gains]
    return found


class ThreatSpaceSearch:
    """Looks for a sequence of threats that wins for a side, as if it were to move."""

    def __init__(self, game: PlainGame, side: int, limit: Budget) -> None:
        self.game, self.side, self.effort = game, side, NodeCounter(limit)
        self.stones = len(game.history)
        self.known: set[frozenset[Threat]] = set()
        self.sequences: list[Sequence] = []
        self.win: Sequence = ()

    def run(self) -> Sequence:
        """Return a winning sequence, its last stone a five or two fours at once, or nothing."""
        self.effort.nodes += 1
        if cells := self.game.five_cells(self.side):
            return (Threat(cells[0], (), frozenset()),)
        if self.game.five_cells(1 - self.side) or self.game.rule.traits.closing:
            return ()  # in caro a four leaves more replies than one
        with self.game.kept(), suppress(TimeoutError):
            self.add_dependent((), set())
            for number, one in enumerate(self.sequences):  # grows while it is walked through
                for other in self.sequences[:number]:
                    if not self.win:
                        self.combine(one, other)
        return self.win

    def add_dependent(self, sequence: Sequence, needed: set[int]) -> None:
        """Go on with each threat that rests on all needed stones, then with what depends on it."""
        if self.win or not self.play(sequence):
            return
        for threat in threats(self.game, self.side):
            longer = (*sequence, threat)
            if needed <= threat.rests and frozenset(longer) not in self.known and not self.win:
                self.known.add(frozenset(longer))
                self.effort.spend()
                if self.play(longer):
                    self.sequences.append(longer)
                    self.add_dependent(longer, {threat.gain})

    def combine(self, one: Sequence, other: Sequence) -> None:
        """Go on from two sequences with threats that rest on the last gains of both."""
        if one[-1] not in other and other[-1] not in one and one[-1].gain != other[-1].gain:
            both = (*one, *(threat for threat in other if threat not in one))
            self.add_dependent(both, {one[-1].gain, other[-1].gain})

    def play(self, sequence: Sequence) -> bool:
        """Put a sequence on the board with all costs; return whether each threat holds.

        Notes the sequence as the win if its last stone is one.
        """
        game, enemy = self.game, 1 - self.side
        while len(game.history) > self.stones:
            game.undo()
        for threat in sequence:
            game.to_move = self.side
            if game.cells[threat.gain] != EMPTY or not game.is_legal(threat.gain):
                return False
            game.play(threat.gain)
            wins = game.five_cells(self.side)
            if game.five_cells(enemy):
                return False
            if len(wins) > 1:
                self.win = sequence[: sequence.index(threat) + 1]
                return False
            is_four = wins == list(threat.costs)
            if not is_four and (game.open_fives[enemy][3] or not self.is_three(threat)):
                return False
            for cost in threat.costs:
                game.to_move = enemy
                game.play(cost)
        return True

    def is_three(self, threat: Threat) -> bool:
        """Return whether the three on the board can become a straight four, as the rule counts."""
        game, costs = self.game, threat.costs
        game.to_move = self.side
        if [game.cells[c] for c in costs] != 3 * [EMPTY] or not game.is_legal(costs[1]):
            return False
        game.play(costs[1])
        is_straight = all(game.wins_at(end, self.side) for end in costs[::2])
        game.undo()
        return is_straight


def choose(game: PlainGame, limit: Budget, rng: Random) -> Choice:
    """Return the first threat of a win, against one a cell of it, else what the evaluation says."""
    search = ThreatSpaceSearch(game, game.to_move, limit.part(0.4))
    if sequence := search.run():
        line = tuple(cell for threat in sequence for cell in (threat.gain, *threat.costs[:1]))
        return Choice(line[0], 1.0, search.effort.nodes, line)
    choice = evaluation.choose(game, Budget(), rng)
    against = ThreatSpaceSearch(game, 1 - game.to_move, limit.part(0.4))
    cells = {cell for threat in against.run() for cell in (threat.gain, *threat.costs)}
    answers = [cell for cell in evaluation.order_actions(game) if cell in cells]
    if answers:
        choice = choice._replace(move=answers[0], line=(answers[0],))
    nodes = choice.nodes + search.effort.nodes + against.effort.nodes
    return choice._replace(value=0.0, nodes=nodes)
