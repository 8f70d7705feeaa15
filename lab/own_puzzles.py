"""Write puzzles from games of the engine against itself: ``python -m lab.own_puzzles``.

``tests/games/puzzles.jsonl`` has positions with answers of the solver, checked by the oracle where
possible.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from lab.fuzz_rules import game_of
from pbrain_engine.learn.selfplay import Plan, make_engine
from pbrain_engine.notation.games import NodePlan
from pbrain_engine.position.rules import Rule, Side
from pbrain_engine.solver import Solver
from tests.oracle import rules
from tests.oracle.replay import complaint_about_line
from tests.oracle.vcf import find_vcf
from tests.puzzles import OWN

WANTED = {
    "vcf": 25, "vcf_freestyle": 25, "vcf_standard": 25, "novcf": 30, "defend": 15, "forbidden": 30,
}  # fmt: skip
NODES = 200_000  # of the solver
PROVEN = 3  # longest win, in the winner's stones, that the oracle searches for


def found_in_games() -> Iterator[dict[str, Any]]:
    """Yield puzzles until there are ``WANTED`` of each kind."""
    plan = Plan(908, NodePlan(300), (Rule.RENJU, Rule.FREESTYLE, Rule.STANDARD), (15,), "learned")
    left, number = Counter(WANTED), -1
    with make_engine(plan.budget, plan.weights) as engine, Solver(16_000_000) as solver:
        while +left:
            number += 1
            record = plan.play(engine, number).record
            rule = record.rule.name.lower()
            fours = "vcf" if rule == "renju" else f"vcf_{rule}"
            done = set[str]()  # a game gives at most one of each kind
            for ply in range(record.opening + 4, len(record.moves)):
                board = rules.Board(15, 15, rule)
                stones: tuple[list[list[int]], list[list[int]]] = ([], [])
                for i, cell in enumerate(record.moves[:ply]):
                    stones[i & 1].append([cell % 15, cell // 15])
                    board.put((cell % 15, cell // 15), i & 1)
                side = ply & 1
                game = game_of(board, side)
                puzzle = {
                    "size": 15, "rule": rule, "black": stones[0], "white": stones[1],
                    "to_move": Side(side).name.lower(),
                }  # fmt: skip
                answers: dict[str, dict[str, Any]] = {}
                proof = solver.fours(game, nodes=NODES)
                if proof.claim == "vcf" and not complaint_about_line(board, side, proof.line):
                    wins = find_vcf(board, side) if proof.length <= PROVEN else None
                    answers[fours] = {
                        "line": [list(move) for move in proof.line], "own_moves": proof.length,
                        "shortest_proven": bool(wins and wins[0] == proof.length),
                    }  # fmt: skip
                elif proof.claim == "no-vcf":
                    answers["novcf"] = {}
                    game.set_to_move(Side(1 - side))
                    threat = solver.fours(game, nodes=NODES).claim == "vcf"
                    game.set_to_move(Side(side))
                    if threat:
                        answers["defend"] = {
                            "best": sorted(solver.rescues(game, nodes=NODES).moves)
                        }
                if rule == "renju" and side == 0 and (cells := rules.forbidden_cells(board)):
                    answers["forbidden"] = {"best": sorted(map(list, cells))}
                for name, answer in answers.items():
                    if left[name] > 0 and name not in done:
                        done.add(name)
                        left[name] -= 1
                        yield {"id": f"{number}-{ply}", "name": name, **puzzle, **answer}


if __name__ == "__main__":
    lines = [json.dumps(each, separators=(",", ":")) for each in found_in_games()]
    OWN.write_text("\n".join(lines) + "\n", encoding="utf-8")
