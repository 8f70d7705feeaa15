"""Measure how soon the engine announces a forced win, compared with another program.

``python -m lab.measure_wins --set vct-open --sample 100 --limit 1 --other PROGRAM``. Times are
processor times from the command to the first report of a win, so that other load does not count.
Each puzzle begins with empty tables, on one thread. ``--prove`` proves each of our wins by a tree
afterwards, and ``--replay`` also lets the oracle replay the tree. With ``--out`` a run can be
interrupted and continued.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from time import monotonic, process_time
from typing import Any

from lab import Journal
from lab.measure_threats import end, make_parser, puzzles_of, quantile
from pbrain_engine.arena.process import EngineProcess
from pbrain_engine.commands.solve import game_of
from pbrain_engine.engine.ending import Prover
from pbrain_engine.engine.engine import DEFAULT_WEIGHTS, Engine, Limit, Thought
from pbrain_engine.position.rules import Rule
from pbrain_engine.solver import Solver
from pbrain_engine.values import WIN_BAND
from tests.oracle.replay import complaint_about_tree
from tests.oracle.rules import board_of

PATIENCE = 10.0  # limit in wall-clock time, as a multiple of the limit
PROOF_SECONDS = 60.0  # of wall-clock time
TABLE = 64 << 20
WIN_WORD = re.compile(r"\+M(\d+)")


def follows_turns(puzzle: dict[str, Any]) -> bool:
    """Return whether the numbers of stones fit alternating moves."""
    more = 0 if puzzle["to_move"] == "black" else 1
    return len(puzzle["black"]) - len(puzzle["white"]) == more


class Ours:
    """The engine in this process."""

    def __init__(self, engine: Engine, proves: bool, replays: bool) -> None:
        """``proves``: prove wins by a tree; ``replays``: let the oracle replay the tree."""
        self.engine = engine
        self.solver = Solver(TABLE)
        self.proves, self.replays = proves, replays

    def ask(self, puzzle: dict[str, Any], limit: float) -> dict[str, Any]:
        """Return the record of a win announced within the limit, or of none."""
        engine = self.engine
        game = game_of(puzzle)
        engine.new_game(game.width, game.height, game.rule)
        engine.clear_hash()
        game.copy_to(engine.game)
        start = process_time()
        first: list[tuple[float, Thought]] = []

        def listen(thought: Thought) -> bool:
            spent = process_time() - start
            if thought.value >= WIN_BAND and not first:
                first.append((spent, thought))
            return bool(first) or spent >= limit

        final = engine.think(Limit(time=PATIENCE * limit), on_iteration=listen)
        if not first:
            listen(final)
        if not first or first[0][0] > limit:
            return {"found": False, "depth": final.depth, "nodes": final.nodes}
        spent, thought = first[0]
        record = {
            "found": True,
            "ms": spent * 1000,
            "mate": thought.mate,
            "how": thought.proof or "search",
            "depth": thought.depth,
            "nodes": thought.nodes,
        }
        return {**record, **self.prove(puzzle, thought)} if self.proves else record

    def prove(self, puzzle: dict[str, Any], thought: Thought) -> dict[str, Any]:
        """Return the size of a proof, its time, and any fault."""
        start = process_time()
        self.solver.clear()
        tree = Prover(self.engine, self.solver, PROOF_SECONDS).prove(thought)
        record = {"tree": tree.count() if tree else 0, "proof_s": process_time() - start}
        if tree and self.replays:
            board = board_of(puzzle["size"], puzzle["rule"], puzzle["black"], puzzle["white"])
            side = 0 if puzzle["to_move"] == "black" else 1
            record["fault"] = complaint_about_tree(board, side, tree)
        return record

    def close(self) -> None:
        """Close the engine and the solver."""
        self.engine.close()
        self.solver.close()


class Other:
    """Another program, by the protocol; it reports a win as ``+M`` and a number."""

    def __init__(self, command: str) -> None:
        """Start the program in its own folder."""
        self.peer = EngineProcess([command], folder=str(Path(command).parent))

    def spent(self) -> float:
        """Return the processor time of its threads in seconds."""
        total = 0
        for task in Path(f"/proc/{self.peer.process.pid}/task").iterdir():
            total += int((task / "schedstat").read_text().split()[0])
        return total / 1e9

    def ask(self, puzzle: dict[str, Any], limit: float) -> dict[str, Any]:
        """Return the record of a win announced within the limit, or of none."""
        self.peer.lines()
        turn = round(PATIENCE * limit * 1000)
        rule = Rule.parse(puzzle["rule"])
        self.peer.send(
            f"START {puzzle['size']}", f"INFO rule {int(rule)}", "INFO thread_num 1",
            f"INFO hash_size {TABLE >> 10}", "INFO timeout_match 0",
            "INFO time_left 2147483647", f"INFO timeout_turn {turn}", "YXHASHCLEAR",
        )  # fmt: skip
        self.peer.lines(0.1)
        own = 0 if puzzle["to_move"] == "black" else 1
        sides = (puzzle["black"], puzzle["white"])
        stones = [
            f"{x},{y},{1 if side == own else 2}"
            for number in range(len(sides[0]))
            for side in (0, 1)
            if number < len(sides[side])
            for x, y in [sides[side][number]]
        ]
        start = self.spent()
        self.peer.send("BOARD", *stones, "DONE")
        record: dict[str, Any] = {"found": False}
        deadline = monotonic() + 2 * PATIENCE * limit + 5
        while monotonic() < deadline:
            line = self.peer.line(0.05)
            spent = self.spent() - start
            if line is None:
                if spent > limit:
                    self.peer.send("YXSTOP")
                continue
            win = WIN_WORD.search(line.text)
            if win and not record["found"] and spent <= limit:
                record = {"found": True, "ms": spent * 1000, "mate": int(win[1])}
                self.peer.send("YXSTOP")
            if re.fullmatch(r"\d+,\d+", line.text.strip()):
                break
        return record

    def close(self) -> None:
        """Kill the program."""
        self.peer.close(0.0)


def row(name: str, who: str, limit: float, records: list[dict[str, Any]]) -> str:
    """Return a table row: set, who, limit, found, median and 90 % ms of the found."""
    found = [record for record in records if record["found"]]
    times = [record["ms"] for record in found]
    part = 100 * len(found) / max(len(records), 1)
    proven = [record for record in found if record.get("tree")]
    replayed = [record for record in proven if "fault" in record]
    faults = [record for record in replayed if record["fault"]]
    proofs = f" {len(proven)} proven, {len(replayed)} replayed, {len(faults)} false |"
    return (
        f"| {name} | {who} | {limit:g} s | {len(found)} of {len(records)} ({part:.1f} %) "
        f"| {quantile(times, 0.5):.1f} | {quantile(times, 0.9):.0f} |{proofs if proven else ''}"
    )


def main(arguments: list[str]) -> int:
    """Measure and print the table rows."""
    parser = make_parser("measure_wins", __doc__)
    parser.add_argument("--other", help="another program to measure")
    parser.add_argument("--only-other", action="store_true", help="do not measure ours")
    parser.add_argument("--prove", action="store_true", help="prove our wins by a tree")
    parser.add_argument("--replay", action="store_true", help="also replay the trees")
    parser.add_argument("--weights", default=DEFAULT_WEIGHTS, help="built-in name or file")
    parser.add_argument("--set-parameter", action="append", default=[], metavar="NAME=N")
    options = parser.parse_args(arguments)
    parameters = {k: int(v) for k, v in (text.split("=") for text in options.set_parameter)}
    records = Journal(options.out)
    done = {(record["who"], record["id"]) for record in records}
    players: dict[str, Ours | Other] = {}
    if not options.only_other:
        proves = options.prove or options.replay
        engine = Engine(hash_size=TABLE, parameters=parameters, weights=options.weights)
        players["numoku"] = Ours(engine, proves, options.replay)
    if options.other:
        players[Path(options.other).name] = Other(options.other)
    try:
        for puzzle in puzzles_of(options.set, options.sample, options.seed):
            for who, player in players.items():
                if (who, puzzle["id"]) in done or not follows_turns(puzzle):
                    continue
                record = {"who": who, "id": puzzle["id"], **player.ask(puzzle, options.limit)}
                records.add(record)
    finally:
        for player in players.values():
            player.close()
    for who in dict.fromkeys(record["who"] for record in records):
        mine = [record for record in records if record["who"] == who]
        print(row(options.set, who, options.limit, mine), flush=True)
    mine = [record for record in records if options.open and record["who"] == "numoku"]
    return end(records, [record for record in mine if not record.get("tree")])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
