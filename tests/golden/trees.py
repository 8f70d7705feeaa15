"""Golden trees: what small searches look at, node by node, as text that people can read.

They are recorded by standing between the search and itself, where kernels are plain Python:
``NUMBA_DISABLE_JIT=1 python -m tests.golden.trees`` makes them anew. A change of the search changes
them, and the difference shows where it began: a window, a depth, a value, a move that is not tried
any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import pytest

from pbrain_engine.game.cells import cell_name
from pbrain_engine.game.game import move_of
from pbrain_engine.position.rules import Rule
from pbrain_engine.search.alphabeta import alphabeta, root
from pbrain_engine.search.parameters import ONE
from pbrain_engine.search.threats import vcf, vct
from pbrain_engine.search.threats.memory import UNPROVABLE, disproof_of, proof_of
from pbrain_engine.values import INFINITE, format_value
from tests.golden import texts
from tests.golden.records import Record
from tests.kernels.memory import shared_block, tables_of_rule, threats_after, worker_after

ENDLESS = 1 << 60


class Case(NamedTuple):
    """A position, and the depth of the main search or the kind of win to look for."""

    rule: Rule
    size: int
    moves: str
    asked: int | str


SEARCHES = (
    Case(Rule.FREESTYLE, 15, "h8i9i7g9", 3),
    Case(Rule.RENJU, 15, "h8i7j9h10i10", 2),
    Case(Rule.STANDARD, 15, "h5f9g9j8e5h7g8f5i8g6f8g10h11h8h6e7", 2),
    Case(Rule.CARO, 9, "e5d4f6f4d6e6c5", 2),
)
QUESTIONS = (
    Case(Rule.FREESTYLE, 15, "h8g8i8c1j8e1k9g1k10i1", "fours"),
    Case(Rule.FREESTYLE, 15, "h8g8i8b2j8e1b3g1b4i1b5k1", "fours"),
    Case(Rule.FREESTYLE, 15, "i10f5e9g11i6k5f6j6h9j11h7g9", "threats"),
    Case(Rule.RENJU, 15, "i10f5e9g11i6k5f6j6h9j11h7g9", "threats"),
)


def limit(value: int) -> str:
    """Return a bound of a window."""
    return f"{'-' if value < 0 else '+'}inf" if abs(value) >= INFINITE else format_value(value)


def last_move(state: Any) -> str:
    """Return the name of the last stone's cell."""
    cell = int(state.position.moves[state.position.ply - 1])
    return cell_name(*move_of(cell))


@contextmanager
def between(*places: tuple[Any, str], note: Callable[..., Iterator[str]]) -> Iterator[list[str]]:
    """Record every call of a function imported by several modules, each below its caller.

    ``note`` yields what is known before the call and, given the result, what is known after it.
    """
    lines: list[str] = []
    depth = 0
    inner = getattr(*places[0])

    def recorded(*arguments: Any) -> Any:
        nonlocal depth
        at = len(lines)
        lines.append("")
        depth += 1
        notes = note(*arguments)
        before = next(notes)
        result = inner(*arguments)
        depth -= 1
        after = notes.send(result)  # type: ignore[attr-defined]
        lines[at] = f"{'  ' * depth}{before} = {after}" if after else ""
        return result

    with pytest.MonkeyPatch.context() as patch:
        for module, name in places:
            patch.setattr(module, name, recorded)
        yield lines


def note_search(worker, tables, shared, alpha, beta, depth, ply, cut):  # type: ignore[no-untyped-def]
    """Describe a call of the main search: move, depth in plies, window; then its value."""
    where = f"{last_move(worker.state)} {depth / ONE:.2f}{' cut' if cut else ''}"
    before = worker.nodes
    value = yield f"{where} [{limit(int(alpha))} {limit(int(beta))}]"
    nodes = worker.nodes - before
    if depth <= 0 and nodes == 1:
        yield ""  # nothing but an evaluation: its sum is in the value of the node above
    yield f"{format_value(int(value))}, {nodes} nodes"


def note_fours(threats, tables, stones, first):  # type: ignore[no-untyped-def]
    """Describe a call of the search by fours: the last block, the bound; then the result."""
    value = yield f"{last_move(threats.state)} at most {stones}"
    names = {0: "none", -1: "none so short", -2: "stopped"}
    yield names.get(int(value), f"{value} stones")


def note_prove(threats, tables, proof_limit, disproof_limit, first):  # type: ignore[no-untyped-def]
    """Describe a call of the search by threats: its limits; then its numbers."""

    def text(number: int) -> str:
        return "inf" if number >= UNPROVABLE else str(number)

    where = f"{last_move(threats.state)} level {threats.level}"
    result = yield f"{where} below {text(int(proof_limit))}/{text(int(disproof_limit))}"
    data = np.uint64(result)
    proof, disproof = proof_of(data), disproof_of(data)
    won = f" won in {threats.length}" if proof == 0 else ""
    yield f"{text(proof)}/{text(disproof)}{won}"


def headline(case: Case, said: str) -> str:
    """Return the line that begins a tree: the position, what was asked and what was found."""
    return f"# {case.rule.name.lower()} {case.size} {case.moves} {case.asked}: {said}"


def tree_of_search(case: Case) -> list[str]:
    """Return the headline and the tree of a search of all iterations."""
    tables = tables_of_rule(case.rule)
    worker, shared = worker_after(case.moves, case.rule, case.size), shared_block(1 << 12)
    root.prepare_root(worker, tables, shared, ENDLESS, 1)
    places = (alphabeta, "search"), (root, "search")
    with between(*places, note=note_search) as lines:
        for depth in range(1, case.asked + 1):
            lines.append(f"iteration {depth}")
            root.iterate(worker, tables, shared, depth, 0)
    said = f"{format_value(int(worker.root_value))}, {worker.nodes} nodes"
    levels = ["  " * depth for depth in range(9, -1, -1)]
    return [headline(case, said), *texts.joined(filter(None, lines), "iteration ", *levels)]


def tree_of_question(case: Case) -> list[str]:
    """Return the headline and the tree of a search for a forced win."""
    tables = tables_of_rule(case.rule)
    threats = threats_after(case.moves, case.rule, case.size)
    if case.asked == "fours":
        with between((vcf, "find_fours"), note=note_fours) as lines:
            stones = vcf.solve_fours(threats, tables, 0)
    else:
        with between((vct, "prove"), note=note_prove) as lines:
            stones = vct.solve_threats(threats, tables, 0)
    return [headline(case, f"{stones} stones, {threats.nodes} nodes"), *lines]


@Record("search")
def searches(_: str) -> str:
    """Return the trees of the main search."""
    return "\n\n".join("\n".join(tree_of_search(case)) for case in SEARCHES) + "\n"


@Record("solver")
def questions(_: str) -> str:
    """Return the trees of the searches for forced wins."""
    return "\n\n".join("\n".join(tree_of_question(case)) for case in QUESTIONS) + "\n"
