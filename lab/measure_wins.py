"""How soon the engine announces the forced wins of a file of puzzles, beside another program.

``python -m lab.measure_wins FILE.jsonl --limit 1 --other PROGRAM``, with the puzzles of ``numoku
solve``. Times are processor times from the command to the first report of a win, so that other
load does not count. Each puzzle begins with empty tables, on one thread. With ``--prove`` each of
our wins is proven by a tree afterwards, which the oracle replays.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from time import monotonic, process_time
from typing import NamedTuple

from pbrain_engine.arena.process import EngineProcess
from pbrain_engine.commands.solve import game_of
from pbrain_engine.engine.ending import Prover
from pbrain_engine.engine.engine import DEFAULT_WEIGHTS, Engine, Limit, Thought
from pbrain_engine.game.documents import Puzzle, read_puzzle
from pbrain_engine.solver import Solver
from pbrain_engine.values import WIN_BAND
from tests.oracle.replay import complaint_about_tree
from tests.oracle.rules import board_of

PATIENCE = 10.0  # limit in wall-clock time, as a multiple of the limit
PROOF_SECONDS = 60.0  # of wall-clock time
TABLE = 64 << 20
WIN_WORD = re.compile(r"\+M(\d+)")


class Win(NamedTuple):
    """An announced win: the time until then, and what the oracle says of its proof, if any."""

    seconds: float
    fault: str | None = None  # None: not proven


class Ours:
    """The engine in this process."""

    def __init__(self, weights: str, proves: bool) -> None:
        """``proves``: prove wins by a tree, and let the oracle replay it."""
        self.engine = Engine(hash_size=TABLE, weights=weights)
        self.solver = Solver(TABLE)
        self.proves = proves

    def ask(self, puzzle: Puzzle, limit: float) -> Win | None:
        """Return the win announced within the limit, if there is one."""
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

        listen(engine.think(Limit(time=PATIENCE * limit), on_iteration=listen))
        if not first or first[0][0] > limit:
            return None
        seconds, thought = first[0]
        return Win(seconds, self.complaint(puzzle, thought) if self.proves else None)

    def complaint(self, puzzle: Puzzle, thought: Thought) -> str | None:
        """Return what the oracle has against the proof of a win; None if none is found."""
        self.solver.clear()
        tree = Prover(self.engine, self.solver, PROOF_SECONDS).prove(thought)
        rule, width, _, side, black, white, _ = puzzle.position
        board = board_of(width, rule.name.lower(), black, white)
        return complaint_about_tree(board, int(side), tree) if tree else None

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

    def ask(self, puzzle: Puzzle, limit: float) -> Win | None:
        """Return the win announced within the limit, if there is one."""
        self.peer.lines()
        position = puzzle.position
        self.peer.send(
            f"START {position.width}", f"INFO rule {int(position.rule)}", "INFO thread_num 1",
            f"INFO hash_size {TABLE >> 10}", "INFO timeout_match 0", "INFO time_left 2147483647",
            f"INFO timeout_turn {round(PATIENCE * limit * 1000)}", "YXHASHCLEAR",
        )  # fmt: skip
        self.peer.lines(0.1)
        stones = [
            f"{stone.move.x},{stone.move.y},{1 if stone.side is position.to_move else 2}"
            for stone in game_of(puzzle).history
        ]
        start = self.spent()
        self.peer.send("BOARD", *stones, "DONE")
        found: Win | None = None
        deadline = monotonic() + 2 * PATIENCE * limit + 5
        while monotonic() < deadline:
            line = self.peer.line(0.05)
            spent = self.spent() - start
            if line is None:
                if spent > limit:
                    self.peer.send("YXSTOP")
                continue
            if WIN_WORD.search(line.text) and found is None and spent <= limit:
                found = Win(spent)
                self.peer.send("YXSTOP")
            if re.fullmatch(r"\d+,\d+", line.text.strip()):
                break
        return found

    def close(self) -> None:
        """Kill the program."""
        self.peer.close(0.0)


def row(who: str, answers: Sequence[Win | None]) -> str:
    """Return a table row: who, the wins found, median and 90 % ms until then, and the proofs."""
    wins = [win for win in answers if win is not None]
    times = sorted(1000 * win.seconds for win in wins) or [0.0]
    proven = [win.fault for win in wins if win.fault is not None]
    return (
        f"| {who} | {len(wins)} of {len(answers)} | {times[len(times) // 2]:.1f} "
        f"| {times[len(times) * 9 // 10]:.0f} | {len(proven)} | {sum(map(bool, proven))} |"
    )


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", type=Path, help="puzzles, as for numoku solve")
    parser.add_argument("--limit", type=float, default=1.0, help="seconds per puzzle (1)")
    parser.add_argument("--other", help="another program to measure")
    parser.add_argument("--prove", action="store_true", help="prove our wins, replay the proofs")
    parser.add_argument("--weights", default=DEFAULT_WEIGHTS, help="built-in name or file")
    options = parser.parse_args()
    puzzles = [read_puzzle(line) for line in options.file.read_text("utf-8").splitlines()]
    players: dict[str, Ours | Other] = {"numoku": Ours(options.weights, options.prove)}
    if options.other:
        players[Path(options.other).name] = Other(options.other)
    with ExitStack() as stack:
        for player in players.values():
            stack.callback(player.close)
        print("| who | found | ms, median | 90 % | proven | of them false |")
        print("|---|---|---|---|---|---|")
        for who, player in players.items():
            print(row(who, [player.ask(puzzle, options.limit) for puzzle in puzzles]), flush=True)


if __name__ == "__main__":
    main()
