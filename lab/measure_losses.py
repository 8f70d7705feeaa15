"""Where games are lost: ``python -m lab.measure_losses JOURNAL NAME [--games N] [--time S]``.

Each game that NAME lost is reviewed from its end, S seconds per position, using the results of the
next one (``engine/review.py``). The decisive move is the last one before which NAME still had a
fair chance and reported one; fours are skipped, since they only push a loss beyond the horizon.
There, fresh searches of 1, 4 and 16 times the match's time show what would have avoided it:

- *opening*: there was no such move; NAME's first position was already lost;
- *time*: a longer search plays another move that leaves a fair chance;
- *luck*: even a search of the match's own time plays such a move;
- *threats*: the opponent's win after the move is proven by threats, but no search avoids it;
- *judgement*: none of these; not even the longest search sees it.

It prints a line for each game, with the position, the losing move and, if found, one that holds:
``lab.measure_refutations`` reads them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from pbrain_engine.arena.match import read_journal
from pbrain_engine.engine.engine import Engine, Limit
from pbrain_engine.engine.review import Reviewer
from pbrain_engine.game.cells import cell_name, format_moves
from pbrain_engine.game.game import Move
from pbrain_engine.game.record import BLACK, GameRecord
from pbrain_engine.game.result import Reviewed
from pbrain_engine.position.rules import Rule
from pbrain_engine.solver import Solver

FAIR = 0.25  # least winning chance at which a game is not lost yet
FACTORS = (1, 4, 16)  # of the match's time, for the searches at the decisive move
TABLE = 64 << 20
THREAT_NODES = 300_000  # node limit for the opponent's win by threats
OPENING, TIME, LUCK, THREATS, JUDGEMENT = "opening", "time", "luck", "threats", "judgement"


class Losses:
    """Reviews lost games of one rule and board."""

    def __init__(self, size: int, rule: Rule, turn: float, seconds: float) -> None:
        """Set the seconds per move of the games (``turn``) and per position of the review."""
        self.turn = turn
        self.size = size
        self.rule = rule
        self.engine = Engine(hash_size=TABLE)
        self.solver = Solver(TABLE)
        self.engine.new_game(size, rule=rule)
        self.reviewer = Reviewer(self.engine, self.solver, seconds)

    def begin(self, moves: list[Move]) -> None:
        """Set up a position with cleared tables."""
        self.engine.new_game(self.size, rule=self.rule)
        self.engine.clear_hash()
        for move in moves:
            self.engine.play(*move)

    def examine(self, played: GameRecord, name: str) -> dict[str, Any]:
        """Return the record of a lost game: its decisive move and the cause."""
        opening = [Move(*cell) for cell in played.opening]
        moves = [Move(*cell) for cell in played.chosen]
        self.begin(opening)
        reviewed = enumerate(self.reviewer.review(moves))
        mine = [(at, each) for at, each in reviewed if played.movers[at] == name]
        said = played.chances(self.engine.weights.scale(self.rule))
        record: dict[str, Any] = {"game": played.number, "plies": len(opening) + len(moves)}
        fair = [
            (at, each)
            for at, each in mine
            if min(each.found.chance, 1.0 if said[at] is None else said[at]) >= FAIR
            and not self._makes_four([*opening, *moves[:at]], each.move)
        ]
        if not fair:
            return {**record, "why": OPENING, "chance": round(mine[0][1].found.chance, 2)}
        at, decisive = fair[-1]
        before = [*opening, *moves[:at]]
        record |= {
            "size": self.size,
            "rule": self.rule.name.lower(),
            "moves": format_moves(before),
            "lost_by": cell_name(*decisive.move),
            "ply": decisive.ply,
            "reported": played.values[at],
            "chance": round(decisive.found.chance, 2),
        }
        return record | self._avoided(before, decisive)

    def _makes_four(self, before: list[Move], move: Move) -> bool:
        """Return whether a move makes a four."""
        self.begin([*before, move])
        self.engine.game.set_to_move(self.engine.game.to_move.opponent)
        return self.solver.fours(self.engine.game, nodes=THREAT_NODES).length == 1

    def _avoided(self, before: list[Move], decisive: Reviewed) -> dict[str, Any]:
        """Return the cause of a decisive move, and a move that would have avoided it."""
        self.begin([*before, decisive.move])
        proof = self.solver.threats(self.engine.game, nodes=THREAT_NODES)
        for factor in FACTORS:
            self.begin(before)
            move = self.engine.think(Limit(time=self.turn * factor)).move
            if move == decisive.move:
                continue
            self.engine.play(*move)
            after = self.engine.think(Limit(time=self.turn * FACTORS[-1]))
            if 1 - after.chance >= FAIR:
                why = LUCK if factor == FACTORS[0] else TIME
                return {"why": why, "factor": factor, "holds": cell_name(*move)}
        return {"why": THREATS if proof.wins else JUDGEMENT}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("journal", type=Path)
    parser.add_argument("name", help="the engine whose losses count")
    parser.add_argument("--games", type=int, default=1 << 30, help="at most this many")
    parser.add_argument("--time", type=float, default=1.0, help="per position (%(default)s s)")
    options = parser.parse_args()
    settings, games = read_journal(options.journal)
    losses = Losses(settings.width, Rule(settings.rule), settings.turn, options.time)
    lost = [played for played in games if played.loser == options.name and not played.fault]
    found = []
    for played in lost[: options.games]:
        found.append(losses.examine(played, options.name))
        print(json.dumps(found[-1]), flush=True)
    wins = sum(played.winner == BLACK for played in lost)
    print(f"{len(found)} of {len(lost)} lost games ({wins} of them with white)", file=sys.stderr)
    for why, count in Counter(each["why"] for each in found).most_common():
        print(f"{count:4}  {why}", file=sys.stderr)


if __name__ == "__main__":
    main()
