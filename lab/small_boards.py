"""What a tree search proves on small boards, held against exact solutions.

``python -m lab.small_boards --positions 2000`` prints how much was proven, and every
contradiction. Boards with few empty cells are solved by trying everything; larger ones are
asked of the alpha-beta, whose forced ends must not contradict either.
"""

from __future__ import annotations

import argparse
import random
import sys
from typing import NamedTuple

from lab.fuzz_rules import random_board, set_up
from pbrain_engine.engine.engine import ALPHABETA, MCTS, Engine, Limit
from pbrain_engine.game.game import Game
from pbrain_engine.position.rules import Rule, Side
from pbrain_engine.values import WIN_BAND
from tests.oracle import rules
from tests.oracle.rules import Board

EXACT_CELLS = 9  # empty cells up to which everything is tried
SIZES = (5, 6, 7)
WON, DRAWN, LOST = 1, 0, -1

Stones = frozenset[tuple[int, int, int]]
Found = tuple[int, int]  # result for the side to move, plies to the end


class Verdict(NamedTuple):
    """What a tree search says of a position, and what is true."""

    drawing: str
    claimed: int | None  # WON, DRAWN or LOST for the side to move; None: nothing proven
    plies: int
    true: int | None  # None: not known
    most: int | None  # plies that the exact win takes, where everything was tried

    @property
    def fault(self) -> str:
        """What is wrong, empty if nothing is."""
        if self.claimed is None or self.true is None:
            return ""
        if self.claimed != self.true:
            return f"claims {self.claimed} where {self.true} is true"
        if self.most is not None and self.claimed == WON and self.plies < self.most:
            return f"claims to win in {self.plies}, which takes {self.most}"
        return ""


def solve(game: Game, known: dict[Stones, Found]) -> Found:
    """Return result and plies to the end for the side to move, by trying every legal move.

    A side that has none plays a foul, and its enemy has won.
    """
    key = frozenset((*stone.move, int(stone.side)) for stone in game.history)
    if key in known:
        return known[key]
    best: Found | None = None
    for move in game.legal_moves():
        game.play(*move)
        if game.winner is not None:
            found = (WON, 1)
        elif game.is_full:
            found = (DRAWN, 1)
        else:
            result, plies = solve(game, known)
            found = (-result, plies + 1)
        game.undo()
        if best is None or rank(found) > rank(best):
            best = found
        if best == (WON, 1):
            break
    known[key] = best or (LOST, 2)
    return known[key]


def rank(found: Found) -> Found:
    """Return what a side prefers by: to win, soon; not to lose, or late."""
    result, plies = found
    return result, -plies if result == WON else plies


def nearly_full(chance: random.Random, rule: str, empty: int) -> Board:
    """Return a small board without a winner and with that many empty cells."""
    while True:
        board = random_board(chance, rule, smallest=min(SIZES), largest=max(SIZES))
        cells = board.empties()
        chance.shuffle(cells)
        for cell in cells[empty:]:
            for side in chance.sample((0, 1), 2):
                if not rules.wins_at(board, cell, side):
                    board.put(cell, side)
                    break
        if 2 <= len(board.empties()) <= empty and not rules.winners(board):
            return board


def put_on(engine: Engine, board: Board, to_move: Side) -> None:
    """Set the engine's game up."""
    engine.new_game(board.width, board.height, Rule[board.rule.upper()])
    engine.clear_hash()
    set_up(engine, board, to_move)


def examine(tree: Engine, alphabeta: Engine, seed: int, visits: int) -> Verdict:
    """Let the tree search judge a random board, and find out what is true."""
    chance = random.Random(f"small {seed}")
    rule = rules.RULES[seed % len(rules.RULES)]
    exact = seed % 2 == 0
    board = nearly_full(chance, rule, EXACT_CELLS if exact else 25)
    to_move = Side(chance.randrange(2))
    put_on(tree, board, to_move)
    drawing = f"{rule}, {to_move.name.lower()} to move\n{board.drawing()}"
    if tree.game.winner is not None:  # by a five that grew longer: the game was over then
        return Verdict(drawing, None, 0, None, None)
    thought = tree.think(Limit(nodes=visits))
    claimed: int | None = None
    if abs(thought.value) >= WIN_BAND:
        claimed = WON if thought.value > 0 else LOST
    plies = abs(thought.mate or 0)
    if exact:
        true, most = solve(tree.game, {})
        return Verdict(drawing, claimed, plies, true, most)
    put_on(alphabeta, board, to_move)
    value = alphabeta.think(Limit(nodes=50_000)).value
    known = None if abs(value) < WIN_BAND else (WON if value > 0 else LOST)
    return Verdict(drawing, claimed, plies, known, None)


def main(arguments: list[str] | None = None) -> int:
    """Examine boards; return 1 if there was a contradiction."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--positions", type=int, default=200)
    parser.add_argument("--visits", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args(arguments)
    proven = known = faults = 0
    # Without the solver's help, so that what is claimed is the tree's own.
    own = {"threat_share": 0}
    with (
        Engine(hash_size=4 << 20, search=MCTS, parameters=own) as tree,
        Engine(hash_size=4 << 20, search=ALPHABETA) as alphabeta,
    ):
        for seed in range(options.first, options.first + options.positions):
            verdict = examine(tree, alphabeta, seed, options.visits)
            proven += verdict.claimed is not None
            known += verdict.claimed is not None and verdict.true is not None
            if verdict.fault:
                faults += 1
                print(f"{seed}: {verdict.fault}\n{verdict.drawing}\n", flush=True)
    print(f"{options.positions} positions, {proven} proven, {known} of them known, {faults} false")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
