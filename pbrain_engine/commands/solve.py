"""``numoku solve``: solve the puzzles of a file, with the line of each proof.

A puzzle is one JSON object on a line: ``id``, ``size``, ``rule``, ``black``, ``white`` (cells,
``[x, y]`` from 0 at the top left), ``to_move`` and ``kind``. Kinds: ``vcf`` and ``no-vcf`` (is
there a win by continuous fours?), ``vct`` (by fours and threes?), ``win`` (any forced win?),
``defend`` (what stops the opponent's fours?) and ``forbidden`` (renju). It may give solutions:
``best`` (cells; with ``"best_complete": true`` all answers of a ``defend``) and ``verified`` (of
``vcf`` and ``no-vcf``). An answer that contradicts them counts as wrong.

``--json`` prints one object per puzzle: ``id``, ``claim``, ``moves``, ``line``, ``length``,
``nodes``, ``ms``, and with ``--tree`` the proof as ``tree``. A win is claimed only with a line that
replays.
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

from ..app import thinking, view
from ..engine.ending import Prover, line_to_five, winner_after
from ..engine.engine import Engine, Limit
from ..errors import FileError, complain, counted
from ..files import read_lines, shown
from ..game.documents import DEFEND, FORBIDDEN, KINDS, Puzzle, answer_document, read_puzzle
from ..game.game import Game
from ..game.record import GameRecord
from ..game.result import BY_FOURS, BY_SEARCH, OPEN, Result, win_by
from ..options import JSON_LINES, MEGABYTE, SHARED, CommandLine, Option
from ..solver import Solver, SolverProgress
from .analyse import TREE_SECONDS

SEARCH_SHARE = 0.5  # of the time for the threat search; the main search gets the rest
NAMED_FAULTS = 3  # bad lines before the first puzzle whose error is shown
MOST_FAULTS = 10_000  # lines without any puzzle, after which no more are read


COMMAND = CommandLine(
    "numoku solve",
    "Solve the puzzles of a file, one JSON object per line with id, size, rule, black, white, "
    f"to_move and kind ({', '.join(KINDS)}).",
    (
        Option("file", metavar="FILE", about="the puzzles; - for standard input"),
        SHARED["time"]._replace(about="seconds per puzzle (1; with --prove no limit)"),
        SHARED["nodes"]._replace(about="node limit of a search"),
        Option("--threats-only", None, False, None, "do not use the main search"),
        Option("--prove", None, False, None, "search until a win by threats is proven or refuted"),
        SHARED["tree"]._replace(about="show the whole proof of each win"),
        "threads",
        SHARED["memory"]._replace(default=200),
        JSON_LINES,
    ),
    "Exit status 1 if an answer contradicts the solution in the file, or a line of the file is "
    "not a puzzle; all other lines are solved.",
)


def main(arguments: Sequence[str]) -> int:
    """Solve a file; return 0, or 1 if an answer is wrong or a line is not a puzzle."""
    options = COMMAND.parse(arguments)
    path = options.file
    name = "the standard input" if path == "-" else path
    answers: list[Result] = []
    wrong = faulty = 0
    with (
        closing(Solvers(options)) as solvers,
        sys.stdin if path == "-" else open(path, encoding="utf-8", errors="replace") as file,
    ):
        for place, line in enumerate(read_lines(file, path), 1):
            if place > MOST_FAULTS and not answers:
                raise FileError(f"{name} has no puzzle in its first {MOST_FAULTS:,} lines")
            if not line.strip():
                continue
            try:
                puzzle = read_puzzle(line.lstrip("\ufeff"))  # some editors write it
                if puzzle.kind != FORBIDDEN and game_of(puzzle).is_over:
                    raise ValueError("the game is over")
            except ValueError as error:
                faulty += 1
                if answers or faulty <= NAMED_FAULTS:
                    complain(f"{path}, line {place}: {error}")
                continue
            answer = thinking.in_thread(partial(solvers.answer, puzzle), solvers.stop)
            answers.append(answer)
            fault = contradiction(puzzle, answer)
            wrong += bool(fault)
            if options.json:
                print(json.dumps(answer_document(puzzle, answer)), flush=True)
                continue
            print(_answer_line(puzzle, answer, fault), flush=True)
            if answer.tree is not None:
                lines = view.proof_lines(game_of(puzzle), solvers.solver, answer.tree, "  ")
                print("\n".join(lines))
    if not answers and not faulty:
        raise FileError(f"{name} is empty: there is no puzzle in it")
    words = summary(answers, wrong)
    if faulty:
        words += f"; {counted(faulty, 'line')} left out"
    print(words, file=sys.stderr if options.json else sys.stdout)
    return 1 if wrong or faulty else 0


def _answer_line(puzzle: Puzzle, answer: Result, fault: str) -> str:
    what = answer.claim
    if answer.line:
        what = view.format_proof(what, answer.length, answer.line)
    elif answer.moves:
        what += f": {view.format_line(answer.moves)}"
    note = f"  WRONG: {fault}" if fault else ""
    spent = f"{1000 * answer.time:.1f} ms  {answer.nodes} nodes"
    return f"{shown(puzzle.id)}  {puzzle.kind}  {spent}  {what}{note}"


def summary(answers: Sequence[Result], wrong: int) -> str:
    """Return the number of answers of each kind, and statistics of time and nodes."""
    if not answers:
        return "no puzzles to solve"
    claims = Counter(answer.claim for answer in answers)
    counts = ", ".join(f"{count} {claim}" for claim, count in sorted(claims.items()))
    times = sorted(1000 * answer.time for answer in answers)
    nodes = sorted(answer.nodes for answer in answers)
    middle, tenth = len(answers) // 2, len(answers) * 9 // 10
    return (
        f"{counted(len(answers), 'puzzle')}: {counts}; {wrong} wrong; "
        f"median {times[middle]:.1f} ms, {nodes[middle]} nodes, "
        f"90 % {times[tenth]:.1f} ms, {nodes[tenth]} nodes"
    )


# Puzzles and their answers -------------------------------------------------------------


def game_of(puzzle: Puzzle) -> Game:
    """Return the position of a puzzle."""
    position = puzzle.position
    game = Game(position.width, position.height, position.rule)
    game.become(GameRecord.of(position))
    return game


class Solvers:
    """The threat solver, and an engine once a puzzle needs one."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self.time: float | None = options.time if options.prove else (options.time or 1.0)
        self.nodes: int | None = options.nodes
        self.memory: int = options.memory * MEGABYTE
        self.solver = Solver(self.memory // 2)
        self._engine: Engine | None = None

    def close(self) -> None:
        """Free all memory."""
        self.solver.close()
        if self._engine is not None:
            self._engine.close()

    def stop(self) -> None:
        """Stop the running search."""
        self.solver.stop()
        if self._engine is not None:
            self._engine.stop()

    def answer(self, puzzle: Puzzle) -> Result:
        """Answer a puzzle by its kind."""
        kind = puzzle.kind
        game = game_of(puzzle)
        start = perf_counter()
        if kind in ("vcf", "no-vcf"):
            proof = self.solver.fours(game, time=self.time, nodes=self.nodes)
            found = proof._replace(moves=proof.line[:1])
        elif kind in ("vct", BY_SEARCH):
            found = self._win(puzzle, game, start)
        elif kind == DEFEND:
            rescue = self.solver.rescues(game, time=self.time, nodes=self.nodes)
            found = rescue._replace(claim=OPEN if rescue.unknown else DEFEND)
        else:
            found = Result(claim=FORBIDDEN, moves=tuple(game.forbidden()))
        return found._replace(time=perf_counter() - start)

    def _win(self, puzzle: Puzzle, game: Game, start: float) -> Result:
        by_threats = self._options.threats_only or self._options.prove  # without the main search
        if self._options.prove:
            proof = self._prove(puzzle.id, game)
        else:
            seconds = self.time and self.time * (1.0 if by_threats else SEARCH_SHARE)
            proof = self.solver.threats(game, time=seconds, nodes=self.nodes)
        if proof.wins or by_threats or self.time is None:
            is_shown = proof.wins and self._options.tree
            return proof._replace(
                claim=puzzle.kind if proof.wins else OPEN, moves=proof.line[:1],
                tree=self.solver.tree(game) if is_shown else None,
            )  # fmt: skip
        answer = self._search(game, self.time - (perf_counter() - start))
        return answer._replace(nodes=answer.nodes + proof.nodes)

    def _prove(self, name: str, game: Game) -> Result:
        """Search until the answer is known, reporting progress."""

        def report(progress: SolverProgress) -> None:
            print(
                f"{name}: {progress.time:.0f} s, {view.format_count(progress.nodes)} nodes, "
                f"level {progress.level}, proof {progress.proof}, disproof {progress.disproof}",
                file=sys.stderr,
            )

        return self.solver.prove(game, time=self.time, nodes=self.nodes, listener=report)

    def _search(self, game: Game, seconds: float) -> Result:
        """Return the win that the main search finds, with ``--tree`` also its proof."""
        if seconds <= 0 or self.solver.is_stopped:
            return Result(claim=OPEN)
        if self._engine is None:
            self._engine = Engine(memory=self.memory, threads=self._options.threads)
        engine = self._engine
        engine.new_game(game.width, game.height, game.rule)
        engine.game.set_up(game.history, game.to_move)
        thought = engine.think(Limit(time=seconds, nodes=self.nodes))
        line = tuple(line_to_five(engine, thought)) if (thought.mate or 0) > 0 else ()
        if not line or winner_after(game, line) is not game.to_move:
            return Result(nodes=thought.nodes, claim=OPEN)
        prover = Prover(engine, self.solver, TREE_SECONDS)
        tree = prover.prove(thought) if self._options.tree else None
        return win_by(BY_SEARCH, line, tree)._replace(moves=line[:1], nodes=thought.nodes)


def contradiction(puzzle: Puzzle, answer: Result) -> str:
    """Return how an answer contradicts the solution in the file, empty if it does not."""
    kind, best = puzzle.kind, puzzle.best
    if puzzle.is_verified and {kind, answer.claim} == {BY_FOURS, "no-vcf"}:
        return f"there is {'a' if kind == BY_FOURS else 'no'} win by fours"
    is_told = kind in (DEFEND, FORBIDDEN) and puzzle.is_complete and answer.claim == kind
    if is_told and best is not None and {*best} != {*answer.moves}:
        return f"expected {view.format_line(sorted(best)) or 'no move'}"
    return ""
