"""``numoku solve``: the puzzles of a file, each answered by its kind and with the proof line."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from ..files import read_object
from ..options import Parser, above_zero, positive
from . import thinking, view
from .puzzles import KINDS, Answer, PuzzleError, Solvers, contradiction, read_puzzle


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command's options."""
    parser = Parser(
        prog="numoku solve",
        description="Solve the puzzles of a file, one JSON object a line with id, size, rule, "
        "black, white, to_move and kind (" + ", ".join(KINDS) + ").",
        epilog="Status 1 if an answer contradicts what the file knows about its puzzle, or a "
        "line of the file is no puzzle; the other lines are answered all the same.",
    )
    parser.add_argument("file", metavar="FILE", help="the puzzles; - for the standard input")
    parser.add_argument(
        "--time", type=above_zero, help="seconds a puzzle (1; with --prove no limit)"
    )
    parser.add_argument("--nodes", type=positive, help="most stones that a search may try a puzzle")
    parser.add_argument("--threads", type=positive, default=1, help="threads of the main search")
    parser.add_argument(
        "--memory", type=positive, default=200, help="megabytes to use (default: 200)"
    )
    parser.add_argument(
        "--every", type=positive, default=1, metavar="N", help="only every N-th puzzle"
    )
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
    end_line(options.out)
    answers: list[Answer] = []
    wrong = faulty = 0
    with Solvers(options) as solvers:
        for place, line in read_lines(options.file, options.every):
            try:
                puzzle = read_puzzle(line)
                if puzzle["id"] in known:
                    continue
                answer = thinking.apart(partial(solvers.answer, puzzle), solvers.stop)
            except PuzzleError as error:
                print(f"numoku solve: {options.file}, line {place}: {error}", file=sys.stderr)
                faulty += 1
                continue
            answers.append(answer)
            fault = contradiction(puzzle, answer)
            wrong += bool(fault)
            text = json.dumps(answer.document())
            if options.out:
                with open(options.out, "a", encoding="utf-8") as file:
                    file.write(text + "\n")
            print(text if options.json else answer_line(puzzle, answer, fault), flush=True)
            if answer.tree is not None and not options.json:
                print("\n".join(solvers.proof_lines(puzzle, answer.tree)))
    words = summary(answers, wrong, len(known))
    if faulty:
        words += f"; {faulty} line{'s' if faulty > 1 else ''} left out"
    print(words, file=sys.stderr if options.json else sys.stdout)
    return 1 if wrong or faulty else 0


def answered(path: str | None) -> set[str]:
    """Return the puzzles that an output file has answers to; half a line at its end has none."""
    if path is None or not Path(path).exists():
        return set()
    known = set()
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            with suppress(ValueError, KeyError):
                known.add(str(read_object(line)["id"]))
    return known


def end_line(path: str | None) -> None:
    """End the last line of an output file, so that the next answer has one of its own."""
    if path is None or not Path(path).exists():
        return
    with open(path, "rb+") as file:
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            if file.read() != b"\n":
                file.write(b"\n")


def read_lines(path: str, every: int) -> Iterator[tuple[int, str]]:
    """Yield every so many of the lines that hold something, with their numbers from 1."""
    with sys.stdin if path == "-" else open(path, encoding="utf-8", errors="replace") as file:
        lines = ((place, line) for place, line in enumerate(file, 1) if line.strip())
        for number, (place, line) in enumerate(lines):
            if number % every == 0:
                yield place, line


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
