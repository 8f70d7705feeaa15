"""Puzzles and their answers: who is asked about a puzzle of which kind, and for how long.

A puzzle is one JSON object: ``id``, ``size``, ``rule``, ``black``, ``white``, ``to_move`` and
``kind``. Kinds: ``vcf`` and ``no-vcf`` (is there a win by continuous fours?), ``vct`` and
``win`` (is there a forced win?), ``defend`` (what stops the enemy's fours?) and ``forbidden``
(renju).
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from ..engine.engine import Engine, Limit
from ..engine.forms import line_to_five, tree_form, winner_after
from ..engine.prover import Prover
from ..files import read_object
from ..game.game import Game, Move
from ..position.rules import Rule, Side
from ..solver.proofs import BY_FOURS, OPEN, Proof, SolverProgress, Tree, own_stones
from ..solver.solver import Solver
from . import view
from .analyse import TREE_SECONDS
from .prooftext import ProofText

MEGABYTE = 1_000_000
WIN = "win"
DEFEND = "defend"
FORBIDDEN = "forbidden"
FIELDS = ("id", "size", "rule", "black", "white", "to_move", "kind")
KINDS = ("vcf", "no-vcf", "vct", WIN, DEFEND, FORBIDDEN)
KEEP_EVERY = 60.0  # seconds between two writings of the state of a long proof
SEARCH_SHARE = 0.5  # of the time that the threat search leaves to the main search at most


class PuzzleError(ValueError):
    """A line of a file is no puzzle."""


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
            document["tree"] = tree_form(self.tree)
        return document


def read_puzzle(line: str) -> dict[str, Any]:
    """Return the puzzle of a line.

    Raises:
        PuzzleError: it is none; the text says why.
    """
    try:
        puzzle = read_object(line)
    except ValueError as error:
        raise PuzzleError(str(error)) from None
    missing = [name for name in FIELDS if name not in puzzle]
    if missing:
        raise PuzzleError(f"the puzzle lacks {', '.join(missing)}")
    if not isinstance(puzzle["id"], str):
        raise PuzzleError("id is a text")
    if puzzle["kind"] not in KINDS:
        raise PuzzleError(f"unknown kind {puzzle['kind']!r}; there are {', '.join(KINDS)}")
    if puzzle["to_move"] not in ("black", "white"):
        raise PuzzleError(f"to_move is black or white, not {puzzle['to_move']!r}")
    for name in ("black", "white", *(("best",) if "best" in puzzle else ())):
        if not isinstance(puzzle[name], list) or not all(map(is_cell, puzzle[name])):
            raise PuzzleError(f"{name} is a list of cells [x, y], from 0 at the top left")
    try:
        game_of(puzzle)
    except (TypeError, ValueError) as error:  # the board, the rule, or where a stone is
        raise PuzzleError(str(error)) from None
    return puzzle


def is_cell(value: object) -> bool:
    """Say whether this is a cell as JSON has it."""
    return isinstance(value, list) and len(value) == 2 and all(type(n) is int for n in value)


def game_of(puzzle: dict[str, Any]) -> Game:
    """Return the position of a puzzle."""
    if type(puzzle["size"]) is not int:
        raise PuzzleError(f"size is the side of the board, not {puzzle['size']!r}")
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
        self._options = options
        self.time: float | None = options.time if options.prove else (options.time or 1.0)
        self.nodes: int | None = options.nodes
        self.memory: int = options.memory * MEGABYTE
        self.with_engine = not options.threats_only and not options.prove
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

    def stop(self) -> None:
        """Make the question that is being answered end soon."""
        self.solver.stop()
        if self._engine is not None:
            self._engine.stop()

    def answer(self, puzzle: dict[str, Any]) -> Answer:
        """Answer a puzzle by its kind.

        Raises:
            PuzzleError: the game is over.
        """
        kind = puzzle["kind"]
        game = game_of(puzzle)
        if game.is_over and kind != FORBIDDEN:
            raise PuzzleError("the game is over")
        start = perf_counter()
        if kind in ("vcf", "no-vcf"):
            proof = self.solver.fours(game, time=self.time, nodes=self.nodes)
            return answer_of(puzzle, proof, proof.claim, start)
        if kind in ("vct", WIN):
            return self._win(puzzle, game, start)
        if kind == DEFEND:
            return self._defend(puzzle, game, start)
        cells = tuple(game.forbidden())
        return Answer(puzzle["id"], FORBIDDEN, cells, (), 0, 0, since(start))

    def proof_lines(self, puzzle: dict[str, Any], tree: Tree) -> list[str]:
        """Return the proof of a puzzle's win in words."""
        return ProofText(game_of(puzzle), self.solver).lines(tree, "  ")

    def _win(self, puzzle: dict[str, Any], game: Game, start: float) -> Answer:
        if self._options.prove:
            proof = self._prove(puzzle["id"], game)
        else:
            share = SEARCH_SHARE if self.with_engine else 1.0
            seconds = None if self.time is None else self.time * share
            proof = self.solver.threats(game, time=seconds, nodes=self.nodes)
        if proof.wins or not self.with_engine or self.time is None:
            answer = answer_of(puzzle, proof, puzzle["kind"] if proof.wins else OPEN, start)
            if proof.wins and self._options.tree:
                answer = replace(answer, tree=self.solver.tree(game))
            return answer
        line, nodes, tree = self._search(game, self.time - (perf_counter() - start))
        moves, claim = line[:1], WIN if line else OPEN
        nodes += proof.nodes
        return Answer(puzzle["id"], claim, moves, line, own_stones(line), nodes, since(start), tree)

    def _prove(self, name: str, game: Game) -> Proof:
        """Search on until the answer is known, reporting, and keeping what was found out."""
        state: Path | None = self._options.state
        if state is not None and state.exists() and not self.solver.load(state, game):
            print(f"{state} is of another board, rule, memory or version", file=sys.stderr)
        kept_at = perf_counter()

        def report(progress: SolverProgress) -> None:
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
        if seconds <= 0 or self.solver.is_stopped:
            return (), 0, None
        if self._engine is None:
            self._engine = Engine(memory=self.memory, threads=self._options.threads)
        engine = self._engine
        engine.new_game(game.width, game.height, game.rule)
        game.copy_to(engine.game)
        thought = engine.think(Limit(time=seconds, nodes=self.nodes))
        if (thought.mate or 0) <= 0:
            return (), thought.nodes, None
        line = tuple(line_to_five(engine, thought))
        if winner_after(game, line) is not game.to_move:
            return (), thought.nodes, None
        tree = (
            Prover(engine, self.solver, TREE_SECONDS).prove(thought) if self._options.tree else None
        )
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
    if kind == "no-vcf" and answer.claim == BY_FOURS and puzzle.get("verified"):
        return "there is no win by fours"
    if kind == "vcf" and answer.claim == "no-vcf" and puzzle.get("verified"):
        return "there is a win by fours"
    complete = "best" in puzzle and (kind == FORBIDDEN or puzzle.get("best_complete"))
    if kind in (DEFEND, FORBIDDEN) and complete and answer.claim == kind:
        expected = {tuple(cell) for cell in puzzle["best"]}
        if expected != set(answer.moves):
            return f"expected {view.format_line(sorted(expected)) or 'no move'}"
    return ""
