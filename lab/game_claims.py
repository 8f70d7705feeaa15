"""Self-play in which every announced win is checked: ``python -m lab.game_claims --help``.

Two engines play in this process. The oracle replays every announced win by fours or threats against
every legal defence. A win seen by the main search must be won in the game, or be proven by a tree
that the oracle replays, if that does not take too long. A win is checked when a side announces it,
and again when it is claimed in another way. A journal with one line per game makes a run resumable.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab import Journal
from lab.self_play import may_play
from pbrain_engine.engine.ending import Prover
from pbrain_engine.engine.engine import Engine, Limit, Thought
from pbrain_engine.game.cells import cell_name
from pbrain_engine.game.result import BY_FOURS, BY_THREATS, Tree
from pbrain_engine.position.rules import Rule, Side
from pbrain_engine.solver import Solver
from pbrain_engine.values import WIN_BAND
from tests.oracle import rules
from tests.oracle.replay import complaint_about_line, complaint_about_tree
from tests.oracle.rules import Board, Cell

RULES = (rules.FREESTYLE, rules.STANDARD, rules.RENJU)
SIZES = (15, 20)
SEARCH = "search"  # a win that the main search sees
FORESEEN = "foreseen"  # the next move of an earlier line, not a new claim
TABLE = 8 << 20
THREAT_NODES = 10_000_000  # node limit to find a claimed win by threats again
LARGE = 400  # moves of a tree that takes the oracle minutes
MOST_OPENING = 6  # random stones near the centre


def opening(board: Board, index: int) -> list[Cell]:
    """Return some legal first stones; none for every seventh game."""
    chance = random.Random(f"{board.rule} {board.width} {index}")
    middle = board.width // 2, board.height // 2
    near = [(middle[0] + dx, middle[1] + dy) for dx in range(-3, 4) for dy in range(-3, 4)]
    put: list[Cell] = []
    trial = Board(board.width, board.height, board.rule)
    while len(put) < index % (MOST_OPENING + 1):
        side = len(put) % 2
        put.append(chance.choice([c for c in near if rules.is_legal(trial, c, side)]))
        trial.put(put[-1], side)
    return put


class Claims:
    """Checks announced wins, with its own engine and solver and cleared tables."""

    def __init__(self, seconds: float) -> None:
        """Set the time limit for proving a win of the main search."""
        self.engine = Engine(hash_size=TABLE)
        self.solver = Solver(TABLE)
        self.seconds = seconds

    def examine(self, board: Board, moves: list[Cell], thought: Thought) -> dict[str, Any]:
        """Return the record of a claim by the side to move: how it was checked, and any fault."""
        side = len(moves) % 2
        record: dict[str, Any] = {
            "ply": len(moves),
            "kind": thought.proof or SEARCH,
            "mate": thought.mate,
            "depth": thought.depth,
            "line": "".join(cell_name(*move) for move in thought.pv),
        }
        if thought.proof == BY_FOURS:
            record["fault"] = complaint_about_line(board, side, thought.pv)
            return {**record, "check": "line"}
        tree = self.tree(board, moves, thought)
        if tree is None:
            missing = "the win is not found again" if thought.proof == BY_THREATS else ""
            return {**record, "check": "none", "fault": missing}
        record["tree"] = tree.count()
        if tree.count() > LARGE:
            return {**record, "check": "none", "fault": ""}
        record["fault"] = complaint_about_tree(board, side, tree)
        return {**record, "check": "tree"}

    def tree(self, board: Board, moves: list[Cell], thought: Thought) -> Tree | None:
        """Return a proof that the side to move wins, if one is found."""
        engine = self.engine
        engine.new_game(board.width, board.height, Rule[board.rule.upper()])
        engine.clear_hash()
        self.solver.clear()
        for move in moves:
            engine.play(*move)
        if thought.proof == BY_THREATS:
            found = self.solver.threats(engine.game, nodes=THREAT_NODES).wins
            return self.solver.tree(engine.game) if found else None
        return Prover(engine, self.solver, self.seconds).prove(thought)

    def close(self) -> None:
        """Close the engine and the solver."""
        self.engine.close()
        self.solver.close()


def kind_of(thought: Thought) -> str:
    """Return how a win is claimed, or an empty string without a win."""
    if thought.value < WIN_BAND:
        return ""
    foreseen = not thought.proof and len(thought.pv) == 1 and (thought.mate or 0) > 1
    return FORESEEN if foreseen else thought.proof or SEARCH


def play(
    board: Board, index: int, engines: tuple[Engine, Engine], limit: Limit, claims: Claims
) -> dict[str, Any]:
    """Play one game and return its record."""
    for engine in engines:
        engine.new_game(board.width, board.height, Rule[board.rule.upper()])
        engine.clear_hash()
    moves: list[Cell] = []
    given = opening(board, index)
    said: list[set[str]] = [set(), set()]  # kinds of claims of each side's current win
    record: dict[str, Any] = {
        "rule": board.rule, "size": board.width, "index": index, "winner": "draw",
        "claims": [], "announced": [], "lost": [],
    }  # fmt: skip
    while board.empties():
        side = len(moves) % 2
        if len(moves) < len(given):
            cell = given[len(moves)]
        else:
            thought = engines[side].think(limit)
            assert thought.move is not None
            cell = tuple(thought.move)
            kind = kind_of(thought)
            if kind == FORESEEN and not said[side]:
                kind = SEARCH  # not announced before: the line is merely short
            if not kind:
                said[side].clear()
            elif kind not in said[side] and kind != FORESEEN:
                said[side].add(kind)
                checked = claims.examine(board, moves, thought)
                record["claims"].append({"side": side, **checked})
            if kind:
                record["announced"].append([len(moves), kind, thought.mate])
            if thought.value <= -WIN_BAND:
                record["lost"].append([len(moves), thought.mate])
        assert may_play(board, cell, side), f"{cell} is illegal\n{board.drawing()}"
        board.put(cell, side)
        for engine in engines:
            engine.play(*cell)
        moves.append(cell)
        if rules.is_win(board, cell):
            record["winner"] = Side(side).name.lower()
            break
    record["moves"] = "".join(cell_name(*move) for move in moves)
    record["plies"] = len(moves)
    return record


def judge(record: dict[str, Any]) -> None:
    """Add to each claim of a game whether it was won, and by how many plies too late."""
    for claim in record["claims"]:
        claim["won"] = Side(claim["side"]).name.lower() == record["winner"]
        claim["late"] = max(record["plies"] - (claim["ply"] + claim["mate"]), 0)


def tasks(games: int) -> Iterator[tuple[str, int, int]]:
    """Yield all games in an order that mixes rules and boards, for unfinished runs."""
    for index in range(games):
        for rule in RULES:
            for size in SIZES:
                yield rule, size, index


def run(
    games: int, limit: Limit, seconds: float, journal: Path | None = None, until: float = 1e9
) -> list[dict[str, Any]]:
    """Play the games missing in the journal, for ``until`` seconds; return all records."""
    records = Journal(journal)
    done = {(record["rule"], record["size"], record["index"]) for record in records}
    began = time.monotonic()
    engines = Engine(hash_size=TABLE), Engine(hash_size=TABLE)
    claims = Claims(seconds)
    try:
        for rule, size, index in tasks(games):
            if (rule, size, index) in done:
                continue
            if time.monotonic() - began > until:
                break
            record = play(Board(size, size, rule), index, engines, limit, claims)
            judge(record)
            records.add(record)
    finally:
        for closing in (*engines, claims):
            closing.close()
    return records


def faults(records: list[dict[str, Any]]) -> list[str]:
    """Return all false or doubtful claims: refuted, or neither proven nor won."""
    found = []
    for record in records:
        for claim in record["claims"]:
            if claim["fault"] or not (claim["won"] or claim["check"] != "none"):
                what = claim["fault"] or "neither proven nor won"
                where = f"{record['rule']} {record['size']}"
                found.append(f"{where}: {what}: {claim}; {record['moves']}")
    return found


def table(records: list[dict[str, Any]]) -> str:
    """Return the claims by rule, board and kind."""
    lines = []
    for rule, size in sorted({(record["rule"], record["size"]) for record in records}):
        of = [record for record in records if (record["rule"], record["size"]) == (rule, size)]
        results = Counter(record["winner"] for record in of)
        lost = [record for record in of if record["lost"]]
        mistaken = sum(Side(r["lost"][-1][0] % 2).name.lower() == r["winner"] for r in lost)
        lines.append(
            f"{rule} {size}x{size}: {len(of)} games {dict(results)}; "
            f"a loss is announced in {len(lost)}, by the winner in {mistaken}"
        )
        for kind in (BY_FOURS, BY_THREATS, SEARCH):
            said = [c for record in of for c in record["claims"] if c["kind"] == kind]
            replayed = sum(c["check"] != "none" and not c["fault"] for c in said)
            won = sum(c["won"] for c in said)
            late = sum(c["won"] and c["late"] > 0 for c in said)
            lines.append(
                f"  {kind:<7} {len(said):5} announced, {replayed} replayed, "
                f"{sum(bool(c['fault']) for c in said)} false, {won} won, {late} of them late"
            )
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Play and print the table; return 1 if a claim is false or doubtful, else 0."""
    parser = argparse.ArgumentParser(prog="python -m lab.game_claims", description=__doc__)
    parser.add_argument("--games", type=int, default=50, help="of each rule on each board")
    parser.add_argument("--turn", type=float, default=0.03, help="seconds per move")
    parser.add_argument("--nodes", type=int, help="nodes per move instead")
    parser.add_argument("--prove", type=float, default=5.0, help="seconds for a proof")
    parser.add_argument("--minutes", type=float, default=1e6, help="begin no game after these")
    parser.add_argument("--journal", type=Path, help="to continue a run later")
    options = parser.parse_args(arguments)
    limit = Limit(nodes=options.nodes) if options.nodes else Limit(time=options.turn)
    records = run(options.games, limit, options.prove, options.journal, 60 * options.minutes)
    print(table(records))
    false = faults(records)
    print(f"{len(records)} games, {len(false)} false or doubtful")
    for text in false:
        print(text)
    return 1 if false else 0


if __name__ == "__main__":
    sys.exit(main())
