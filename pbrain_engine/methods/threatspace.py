"""Threat-space search: win by moves that must be answered, without trying each answer.

Allis, van den Herik and Huntjens, "Go-Moku and Threat-Space Search" (1993). A threat is a move
that leaves the defender few replies. The attacker's stone is its *gain* square, the replies are
its *cost* squares, the stones it needs its *rest* squares. The defender gets all costs at once, so
a sequence of threats is a line, not a tree. Only threats that rest on the last gain extend a
sequence; two sequences are *combined* if a threat rests on both. A win found this way holds against
every reply: the defender never gets a five, nor a four in answer to a three.

Cost: all threats on the board for each sequence; there are few sequences, as few threats depend on
each other.
"""

from __future__ import annotations

from contextlib import suppress
from random import Random
from typing import NamedTuple

from ..position.rules import EMPTY
from . import evaluation
from .board import Budget, Choice, NodeCounter, PlainGame


class Threat(NamedTuple):
    """A four or an open three: the move, the replies to it, and the stones it rests on."""

    gain: int
    costs: tuple[int, ...]
    rests: frozenset[int]


Sequence = tuple[Threat, ...]


def threats(game: PlainGame, side: int) -> list[Threat]:
    """Return the apparent threats of a side; ``play`` checks whether they hold.

    A four comes from a row of five cells, three with own stones and two empty; an open three from
    a row of six with empty ends and two own stones between.
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
    """Looks for a winning sequence of threats of a side, as if it were to move."""

    def __init__(self, game: PlainGame, side: int, limit: Budget) -> None:
        self.game, self.side, self.effort = game, side, NodeCounter(limit)
        self.stones = len(game.history)
        self.known: set[frozenset[Threat]] = set()
        self.sequences: list[Sequence] = []
        self.win: Sequence = ()

    def run(self) -> Sequence:
        """Return a winning sequence that ends with a five or two fours at once, or nothing."""
        self.effort.nodes += 1
        if cells := self.game.five_cells(self.side):
            return (Threat(cells[0], (), frozenset()),)
        if self.game.five_cells(1 - self.side) or self.game.rule.traits.closing:
            return ()  # in caro a four has more than one reply
        with self.game.kept(), suppress(TimeoutError):
            self.add_dependent((), set())
            for number, one in enumerate(self.sequences):  # grows while it is walked through
                for other in self.sequences[:number]:
                    if not self.win:
                        self.combine(one, other)
        return self.win

    def add_dependent(self, sequence: Sequence, needed: set[int]) -> None:
        """Extend a sequence by each threat that rests on all needed stones, recursively."""
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
        """Extend two sequences together by threats that rest on the last gains of both."""
        if one[-1] not in other and other[-1] not in one and one[-1].gain != other[-1].gain:
            both = (*one, *(threat for threat in other if threat not in one))
            self.add_dependent(both, {one[-1].gain, other[-1].gain})

    def play(self, sequence: Sequence) -> bool:
        """Play a sequence with all costs; return whether each threat holds.

        Records the sequence as the win if a threat wins outright.
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
        """Return whether the three on the board can become a straight four under the rule."""
        game, costs = self.game, threat.costs
        game.to_move = self.side
        if [game.cells[c] for c in costs] != 3 * [EMPTY] or not game.is_legal(costs[1]):
            return False
        game.play(costs[1])
        is_straight = all(game.wins_at(end, self.side) for end in costs[::2])
        game.undo()
        return is_straight


def choose(game: PlainGame, limit: Budget, rng: Random) -> Choice:
    """Return a winning threat, else a cell of the enemy's win, else the evaluation's move."""
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
