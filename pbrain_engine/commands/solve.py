"""``numoku solve``: the puzzles of a file, each answered by its kind and with the proof line.

A puzzle is one JSON object: ``id``, ``size``, ``rule``, ``black``, ``white``, ``to_move`` and
``kind``. Kinds: ``vcf`` and ``no-vcf`` (is there a win by continuous fours?), ``vct`` and
``win`` (is there a forced win?), ``defend`` (what stops the enemy's fours?) and ``forbidden``
(renju).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

from ..app import thinking, view
from ..database.finding import read_cells, read_position
from ..engine.engine import Engine, Limit
from ..engine.forms import line_to_five, pairs, tree_form, winner_after
from ..engine.prover import Prover
from ..files import read_object
from ..game.game import Game, Move
from ..game.record import GameRecord
from ..options import SHARED, CommandLine, Option
from ..solver.solver import BY_FOURS, OPEN, Proof, Solver, SolverProgress, Tree, own_stones
from .analyse import MEGABYTE, TREE_SECONDS

WIN, DEFEND, FORBIDDEN = "win", "defend", "forbidden"
FIELDS = ("id", "size", "rule", "black", "white", "to_move", "kind")
KINDS = ("vcf", "no-vcf", "vct", WIN, DEFEND, FORBIDDEN)
SEARCH_SHARE = 0.5  # of the time that the threat search leaves to the main search at most
NAMED_FAULTS = 3  # lines of a file without puzzles so far of which the reason is shown


COMMAND = CommandLine(
    "numoku solve",
    "Solve the puzzles of a file, one JSON object a line with id, size, rule, black, white, "
    f"to_move and kind ({', '.join(KINDS)}).",
    (
        Option("file", metavar="FILE", about="the puzzles; - for the standard input"),
        SHARED["time"]._replace(about="seconds a puzzle (1; with --prove no limit)"),
        SHARED["nodes"]._replace(about="most stones that a search may try a puzzle"),
        Option("--threats-only", None, False, None, "never ask the main search for a win"),
        Option("--prove", None, False, None, "search on for a proof of a win by threats"),
        SHARED["tree"]._replace(about="show the whole proof of each win"),
        "threads",
        SHARED["memory"]._replace(default=200),
        "json",
    ),
    "Status 1 if an answer contradicts what the file knows about its puzzle, or a line of the "
    "file is no puzzle; the other lines are answered all the same.",
)


def main(arguments: Sequence[str]) -> int:
    """Solve a file; return 0, or 1 if an answer contradicts the file."""
    options = COMMAND.parse(arguments)
    path = options.file
    answers: list[Answer] = []
    wrong = faulty = 0
    with (
        closing(Solvers(options)) as solvers,
        sys.stdin if path == "-" else open(path, encoding="utf-8", errors="replace") as file,
    ):
        for place, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                puzzle = read_puzzle(line)
            except ValueError as error:
                faulty += 1
                if answers or faulty <= NAMED_FAULTS:
                    print(f"numoku solve: {path}, line {place}: {error}", file=sys.stderr)
                continue
            answer = thinking.apart(partial(solvers.answer, puzzle), solvers.stop)
            answers.append(answer)
            fault = contradiction(puzzle, answer)
            wrong += bool(fault)
            if options.json:
                print(json.dumps(answer.document()), flush=True)
                continue
            print(_answer_line(puzzle, answer, fault), flush=True)
            if answer.tree is not None:
                lines = view.proof_lines(game_of(puzzle), solvers.solver, answer.tree, "  ")
                print("\n".join(lines))
    words = summary(answers, wrong)
    if faulty:
        words += f"; {faulty} line{'s' if faulty > 1 else ''} left out"
    print(words, file=sys.stderr if options.json else sys.stdout)
    return 1 if wrong or faulty else 0


def _answer_line(puzzle: dict[str, Any], answer: Answer, fault: str) -> str:
    what = answer.claim
    if answer.line:
        what = view.format_proof(what, answer.length, answer.line)
    elif answer.moves:
        what += f": {view.format_line(answer.moves)}"
    note = f"  WRONG: {fault}" if fault else ""
    return f"{answer.id}  {puzzle['kind']}  {answer.ms:.1f} ms  {answer.nodes} nodes  {what}{note}"


def summary(answers: Sequence[Answer], wrong: int) -> str:
    """Return how many puzzles got which answer, and how long it took."""
    if not answers:
        return "no puzzles to solve"
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


# Puzzles and their answers -------------------------------------------------------------


class Answer(NamedTuple):
    """What was found out about a puzzle; fields as in the JSON output."""

    id: str = ""
    claim: str = OPEN
    moves: tuple[Move, ...] = ()
    line: tuple[Move, ...] = ()
    length: int = 0
    nodes: int = 0
    ms: float = 0.0
    tree: Tree | None = None

    def document(self) -> dict[str, Any]:
        """Return the answer as JSON has it."""
        found = {**self._asdict(), "moves": pairs(self.moves), "line": pairs(self.line)}
        found |= {"ms": round(self.ms, 3), "tree": tree_form(self.tree)}
        return found if self.tree is not None else {n: v for n, v in found.items() if n != "tree"}


def read_puzzle(line: str) -> dict[str, Any]:
    """Return the puzzle of a line.

    Raises:
        ValueError: it is none; the text says why.
    """
    puzzle = read_object(line)
    missing = [name for name in FIELDS if name not in puzzle]
    if missing:
        raise ValueError(f"the puzzle lacks {', '.join(missing)}")
    if not isinstance(puzzle["id"], str):
        raise ValueError("id is a text")
    if puzzle["kind"] not in KINDS:
        raise ValueError(f"unknown kind {puzzle['kind']!r}; there are {', '.join(KINDS)}")
    game = game_of(puzzle)
    read_cells(puzzle.get("best"), "best", (game.width, game.height))
    if game.is_over and puzzle["kind"] != FORBIDDEN:
        raise ValueError("the game is over")
    return puzzle


def game_of(puzzle: dict[str, Any]) -> Game:
    """Return the position of a puzzle."""
    position = read_position(puzzle)
    game = Game(position.width, position.height, position.rule)
    game.become(GameRecord.of(position))
    return game


class Solvers:
    """The threat solver, and an engine once a puzzle needs one."""

    def __init__(self, options: argparse.Namespace) -> None:
        """Take time, nodes, threads and memory from the command's options."""
        self._options = options
        self.time: float | None = options.time if options.prove else (options.time or 1.0)
        self.nodes: int | None = options.nodes
        self.memory: int = options.memory * MEGABYTE
        self.solver = Solver(self.memory // 2)
        self._engine: Engine | None = None

    def close(self) -> None:
        """Give all memory back."""
        self.solver.close()
        if self._engine is not None:
            self._engine.close()

    def stop(self) -> None:
        """Make the question that is being answered end soon."""
        self.solver.stop()
        if self._engine is not None:
            self._engine.stop()

    def answer(self, puzzle: dict[str, Any]) -> Answer:
        """Answer a puzzle by its kind."""
        kind = puzzle["kind"]
        game = game_of(puzzle)
        start = perf_counter()
        if kind in ("vcf", "no-vcf"):
            proof = self.solver.fours(game, time=self.time, nodes=self.nodes)
            found = _answer_of(proof, proof.claim)
        elif kind in ("vct", WIN):
            found = self._win(puzzle, game, start)
        elif kind == DEFEND:
            rescue = self.solver.rescues(game, time=self.time, nodes=self.nodes)
            claim = OPEN if rescue.unknown else DEFEND
            found = Answer(claim=claim, moves=rescue.moves, nodes=rescue.nodes)
        else:
            found = Answer(claim=FORBIDDEN, moves=tuple(game.forbidden()))
        return found._replace(id=puzzle["id"], ms=(perf_counter() - start) * 1000)

    def _win(self, puzzle: dict[str, Any], game: Game, start: float) -> Answer:
        by_threats = self._options.threats_only or self._options.prove  # alone
        if self._options.prove:
            proof = self._prove(puzzle["id"], game)
        else:
            seconds = self.time and self.time * (1.0 if by_threats else SEARCH_SHARE)
            proof = self.solver.threats(game, time=seconds, nodes=self.nodes)
        if proof.wins or by_threats or self.time is None:
            answer = _answer_of(proof, puzzle["kind"] if proof.wins else OPEN)
            is_shown = proof.wins and self._options.tree
            return answer._replace(tree=self.solver.tree(game) if is_shown else None)
        answer = self._search(game, self.time - (perf_counter() - start))
        return answer._replace(nodes=answer.nodes + proof.nodes)

    def _prove(self, name: str, game: Game) -> Proof:
        """Search on until the answer is known, and report on the way."""

        def report(progress: SolverProgress) -> None:
            print(
                f"{name}: {progress.time:.0f} s, {view.format_count(progress.nodes)} nodes, "
                f"level {progress.level}, proof {progress.proof}, disproof {progress.disproof}",
                file=sys.stderr,
            )

        return self.solver.prove(game, time=self.time, nodes=self.nodes, listener=report)

    def _search(self, game: Game, seconds: float) -> Answer:
        """Return the win that the main search finds, with its proof if that is wanted."""
        if seconds <= 0 or self.solver.is_stopped:
            return Answer()
        if self._engine is None:
            self._engine = Engine(memory=self.memory, threads=self._options.threads)
        engine = self._engine
        engine.new_game(game.width, game.height, game.rule)
        game.copy_to(engine.game)
        thought = engine.think(Limit(time=seconds, nodes=self.nodes))
        line = tuple(line_to_five(engine, thought)) if (thought.mate or 0) > 0 else ()
        if not line or winner_after(game, line) is not game.to_move:
            return Answer(nodes=thought.nodes)
        prover = Prover(engine, self.solver, TREE_SECONDS)
        tree = prover.prove(thought) if self._options.tree else None
        return Answer("", WIN, line[:1], line, own_stones(line), thought.nodes, tree=tree)


def _answer_of(proof: Proof, claim: str) -> Answer:
    return Answer("", claim, proof.line[:1], proof.line, proof.length, proof.nodes)


def contradiction(puzzle: dict[str, Any], answer: Answer) -> str:
    """Return in what way an answer contradicts what the file knows, empty if in none."""
    kind = puzzle["kind"]
    if puzzle.get("verified") and {kind, answer.claim} == {BY_FOURS, "no-vcf"}:
        return f"there is {'a' if kind == BY_FOURS else 'no'} win by fours"
    best, complete = puzzle.get("best"), kind == FORBIDDEN or puzzle.get("best_complete")
    if kind in (DEFEND, FORBIDDEN) and complete and best is not None and answer.claim == kind:
        expected = {tuple(cell) for cell in best}
        if expected != set(answer.moves):
            return f"expected {view.format_line(sorted(expected)) or 'no move'}"
    return ""
