"""``numoku solve``: puzzle files, each puzzle answered by its kind and with the proof line.

A puzzle is one JSON object a line: ``id``, ``size``, ``rule``, ``black``, ``white``, ``to_move``
and ``kind``. Kinds: ``vcf`` and ``no-vcf`` (is there a win by continuous fours?), ``vct`` and
``win`` (is there a forced win?), ``defend`` (what stops the enemy's fours?) and ``forbidden``
(renju).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from ..engine import Engine, Limit
from ..findings import FOURS, OPEN, Progress, Proof, Tree, own_stones
from ..game import Game, Move
from ..position.rules import Rule, Side
from ..prover import Prover
from ..solver import Solver
from . import view
from .analyse import TREE_SECONDS, line_to_five, tree_document

MEGABYTE = 1_000_000
WIN = "win"
DEFEND = "defend"
FORBIDDEN = "forbidden"
KINDS = ("vcf", "no-vcf", "vct", WIN, DEFEND, FORBIDDEN)
KEEP_EVERY = 60.0  # seconds between two writings of the state of a long proof
SEARCH_SHARE = 0.5  # of the time that the threat search leaves to the main search at most


@dataclass(frozen=True)
class Answer:
    """What was found out about a puzzle; fields as in the JSON output."""

    id: str
    claim: str
    moves: tuple[Move, ...]
    line: tuple[Move, ...]
    length: int
    nodes: int
    ms: float
    tree: Tree | None = None

    def document(self) -> dict[str, Any]:
        """Return the answer as JSON has it."""
        document: dict[str, Any] = {
            "id": self.id,
            "claim": self.claim,
            "moves": [list(move) for move in self.moves],
            "line": [list(move) for move in self.line],
            "length": self.length,
            "nodes": self.nodes,
            "ms": round(self.ms, 3),
        }
        if self.tree is not None:
            document["tree"] = tree_document(self.tree)
        return document


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command's options."""
    parser = argparse.ArgumentParser(
        prog="numoku solve",
        description="Solve the puzzles of a file, one JSON object a line with id, size, rule, "
        "black, white, to_move and kind (" + ", ".join(KINDS) + ").",
        epilog="Status 1 if an answer contradicts what the file knows about its puzzle.",
    )
    parser.add_argument("file", metavar="FILE", help="the puzzles; - for the standard input")
    parser.add_argument("--time", type=float, help="seconds a puzzle (1; with --prove no limit)")
    parser.add_argument("--nodes", type=int, help="most stones that a search may try a puzzle")
    parser.add_argument("--threads", type=int, default=1, help="threads of the main search")
    parser.add_argument("--memory", type=int, default=200, help="megabytes to use (default: 200)")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every N-th puzzle")
    parser.add_argument(
        "--threats-only", action="store_true", help="never ask the main search for a win"
    )
    parser.add_argument(
        "--prove", action="store_true", help="search on for a proof of a win by threats"
    )
    parser.add_argument(
        "--state", type=Path, metavar="FILE", help="of --prove: keep what is found out, go on later"
    )
    parser.add_argument("--tree", action="store_true", help="show the whole proof of each win")
    parser.add_argument("--out", metavar="FILE", help="append answers to a file; skip those in it")
    parser.add_argument("--json", action="store_true", help="one JSON object a line on stdout")
    return parser


def main(arguments: Sequence[str]) -> int:
    """Solve a file; return 0, or 1 if an answer contradicts the file."""
    options = make_parser().parse_args(arguments)
    known = answered(options.out)
    answers: list[Answer] = []
    wrong = 0
    with Solvers(options) as solvers:
        for puzzle in read_puzzles(options.file, options.every):
            if puzzle["id"] in known:
                continue
            answer = solvers.answer(puzzle)
            answers.append(answer)
            fault = contradiction(puzzle, answer)
            wrong += bool(fault)
            text = json.dumps(answer.document())
            if options.out:
                with open(options.out, "a", encoding="utf-8") as file:
                    file.write(text + "\n")
            print(text if options.json else answer_line(puzzle, answer, fault), flush=True)
            if answer.tree is not None and not options.json:
                print("\n".join(view.tree_lines(answer.tree, "  ")))
    print(summary(answers, wrong, len(known)), file=sys.stderr if options.json else sys.stdout)
    return 1 if wrong else 0


def answered(path: str | None) -> set[str]:
    """Return the puzzles that an output file has answers to."""
    if path is None or not Path(path).exists():
        return set()
    with open(path, encoding="utf-8") as file:
        return {json.loads(line)["id"] for line in file if line.strip()}


def read_puzzles(path: str, every: int) -> Iterator[dict[str, Any]]:
    """Yield every so many puzzles of a file."""
    with sys.stdin if path == "-" else open(path, encoding="utf-8") as file:
        lines = (line for line in file if line.strip())
        for number, line in enumerate(lines):
            if number % every == 0:
                yield json.loads(line)


def game_of(puzzle: dict[str, Any]) -> Game:
    """Return the position of a puzzle."""
    game = Game(puzzle["size"], rule=Rule.parse(puzzle["rule"]))
    for side in (Side.BLACK, Side.WHITE):
        for x, y in puzzle[side.name.lower()]:
            game.place(x, y, side)
    game.set_to_move(Side[puzzle["to_move"].upper()])
    return game


class Solvers:
    """The threat solver, and an engine once a puzzle needs one."""

    def __init__(self, options: argparse.Namespace) -> None:
        """Take time, nodes, threads and memory from the command's options."""
        self.time: float | None = options.time if options.prove else (options.time or 1.0)
        self.nodes: int | None = options.nodes
        self.threads: int = options.threads
        self.memory: int = options.memory * MEGABYTE
        self.with_engine = not options.threats_only and not options.prove
        self.proves: bool = options.prove
        self.state: Path | None = options.state
        self.with_tree: bool = options.tree
        self.solver = Solver(self.memory // 2)
        self._engine: Engine | None = None

    def __enter__(self) -> Solvers:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Give all memory back."""
        self.solver.close()
        if self._engine is not None:
            self._engine.close()

    def answer(self, puzzle: dict[str, Any]) -> Answer:
        """Answer a puzzle by its kind.

        Raises:
            ValueError: there is no such kind.
        """
        kind = puzzle["kind"]
        game = game_of(puzzle)
        start = perf_counter()
        if kind in ("vcf", "no-vcf"):
            proof = self.solver.fours(game, time=self.time, nodes=self.nodes)
            return answer_of(puzzle, proof, proof.claim, start)
        if kind in ("vct", WIN):
            return self._win(puzzle, game, start)
        if kind == DEFEND:
            return self._defend(puzzle, game, start)
        if kind == FORBIDDEN:
            cells = tuple(game.forbidden())
            return Answer(puzzle["id"], FORBIDDEN, cells, (), 0, 0, since(start))
        raise ValueError(f"puzzle {puzzle['id']}: unknown kind {kind!r}; there are {KINDS}")

    def _win(self, puzzle: dict[str, Any], game: Game, start: float) -> Answer:
        if self.proves:
            proof = self._prove(puzzle["id"], game)
        else:
            share = SEARCH_SHARE if self.with_engine else 1.0
            seconds = None if self.time is None else self.time * share
            proof = self.solver.threats(game, time=seconds, nodes=self.nodes)
        if proof.wins or not self.with_engine or self.time is None:
            answer = answer_of(puzzle, proof, puzzle["kind"] if proof.wins else OPEN, start)
            if proof.wins and self.with_tree:
                answer = replace(answer, tree=self.solver.tree(game))
            return answer
        line, nodes, tree = self._search(game, self.time - (perf_counter() - start))
        moves, claim = line[:1], WIN if line else OPEN
        nodes += proof.nodes
        return Answer(puzzle["id"], claim, moves, line, own_stones(line), nodes, since(start), tree)

    def _prove(self, name: str, game: Game) -> Proof:
        """Search on until the answer is known, reporting, and keeping what was found out."""
        state = self.state
        if state is not None and state.exists() and not self.solver.load(state, game):
            print(f"{state} is of another board, rule, memory or version", file=sys.stderr)
        kept_at = perf_counter()

        def report(progress: Progress) -> None:
            nonlocal kept_at
            print(
                f"{name}: {progress.time:.0f} s, {view.format_count(progress.nodes)} nodes, "
                f"level {progress.level}, proof {progress.proof}, disproof {progress.disproof}",
                file=sys.stderr,
            )
            if state is not None and perf_counter() - kept_at >= KEEP_EVERY:
                self.solver.save(state)
                kept_at = perf_counter()

        try:
            return self.solver.prove(game, time=self.time, nodes=self.nodes, listener=report)
        finally:
            if state is not None:
                self.solver.save(state)

    def _search(self, game: Game, seconds: float) -> tuple[tuple[Move, ...], int, Tree | None]:
        """Return the line of a win that the main search finds, its nodes, and the proof.

        The line is empty if it finds none; the proof is there if it is wanted.
        """
        if seconds <= 0:
            return (), 0, None
        if self._engine is None:
            self._engine = Engine(memory=self.memory, threads=self.threads)
        engine = self._engine
        engine.new_game(game.width, game.height, game.rule)
        game.copy_to(engine.game)
        thought = engine.think(Limit(time=seconds, nodes=self.nodes))
        if (thought.mate or 0) <= 0:
            return (), thought.nodes, None
        line = tuple(Move(*move) for move in line_to_five(engine, thought))
        tree = Prover(engine, self.solver, TREE_SECONDS).prove(thought) if self.with_tree else None
        return line, thought.nodes, tree

    def _defend(self, puzzle: dict[str, Any], game: Game, start: float) -> Answer:
        rescue = self.solver.rescues(game, time=self.time, nodes=self.nodes)
        claim = OPEN if rescue.unknown else DEFEND
        return Answer(puzzle["id"], claim, rescue.moves, (), 0, rescue.nodes, since(start))


def since(start: float) -> float:
    """Return the milliseconds since a time."""
    return (perf_counter() - start) * 1000


def answer_of(puzzle: dict[str, Any], proof: Proof, claim: str, start: float) -> Answer:
    """Return a proof as an answer."""
    line = proof.line
    return Answer(puzzle["id"], claim, line[:1], line, proof.length, proof.nodes, since(start))


def contradiction(puzzle: dict[str, Any], answer: Answer) -> str:
    """Return in what way an answer contradicts what the file knows, empty if in none."""
    kind = puzzle["kind"]
    if kind == "no-vcf" and answer.claim == FOURS and puzzle.get("verified"):
        return "there is no win by fours"
    if kind == "vcf" and answer.claim == "no-vcf" and puzzle.get("verified"):
        return "there is a win by fours"
    complete = kind == FORBIDDEN or puzzle.get("best_complete")
    if kind in (DEFEND, FORBIDDEN) and complete and answer.claim == kind:
        expected = {tuple(cell) for cell in puzzle.get("best", ())}
        if expected != set(answer.moves):
            return f"expected {view.format_line(sorted(expected)) or 'no move'}"
    return ""


def answer_line(puzzle: dict[str, Any], answer: Answer, fault: str) -> str:
    """Return an answer for the terminal."""
    what = answer.claim
    if answer.line:
        what = view.format_proof(what, answer.length, answer.line)
    elif answer.moves:
        what += f": {view.format_line(answer.moves)}"
    note = f"  WRONG: {fault}" if fault else ""
    return f"{answer.id}  {puzzle['kind']}  {answer.ms:.1f} ms  {answer.nodes} nodes  {what}{note}"


def summary(answers: Sequence[Answer], wrong: int, skipped: int) -> str:
    """Return how many puzzles got which answer, and how long it took."""
    if not answers:
        return f"no puzzles left to solve, {skipped} answered before"
    claims = Counter(answer.claim for answer in answers)
    counts = ", ".join(f"{count} {claim}" for claim, count in sorted(claims.items()))
    times = sorted(answer.ms for answer in answers)
    nodes = sorted(answer.nodes for answer in answers)
    middle, tenth = len(answers) // 2, len(answers) * 9 // 10
    return (
        f"{len(answers)} puzzles: {counts}; {wrong} wrong; "
        f"median {times[middle]:.1f} ms, {nodes[middle]} nodes, "
        f"90 % {times[tenth]:.1f} ms, {nodes[tenth]} nodes"
    )
