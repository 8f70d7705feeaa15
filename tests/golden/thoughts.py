"""What engines think and tell: ``python -m tests.golden.thoughts`` records it anew.

A session (see ``records``) with an engine: the best moves of each iteration by rank with depth,
value, nodes, changes and line, what the solver was asked, and ``=`` before the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from math import inf
from typing import Any

import pytest

from pbrain_engine.engine.ending import Prover, forced_end
from pbrain_engine.engine.engine import Engine, Limit
from pbrain_engine.game.cells import cell_name, format_moves, parse_moves
from pbrain_engine.game.result import Result, Thought, Tree
from pbrain_engine.position.rules import Side
from pbrain_engine.solver import Solver
from tests.golden import texts
from tests.golden.records import Record, session


def summary(thought: Thought) -> str:
    """Return a thought in a line, but for its time."""
    value = " ".join(filter(None, [thought.bound, f"{thought.value:+}", thought.proof]))
    effort = f"{thought.nodes} nodes" + f", {thought.changes} changes" * bool(thought.changes)
    line = format_moves(thought.pv)
    assert thought.pv[0] == thought.move and thought.board is not None or not thought.depth
    depth = f"{thought.depth}-{thought.seldepth}"
    return f"{thought.multipv}. {depth} {value}, {effort}: {line}"


def drawn(tree: Tree) -> str:
    """Return a proof in a line."""
    answers = [f"{cell_name(*move)} {drawn(below)}" for move, below in tree.replies.items()]
    return cell_name(*tree.move) + (f" ({', '.join(answers)})" if answers else "")


class Room:
    """An engine and a solver, which are asked, and what was said."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names, self.said = names, list[str]()
        self.open = ExitStack()

    def begin(self, **options: Any) -> None:
        """Begin with a new engine."""
        self.open.close()
        self.engine = self.open.enter_context(Engine(hash_size=4_000_000, **options))
        self.solver = self.open.enter_context(Solver(8_000_000, self.engine.library))
        self.names["engine"] = self.engine

    def cells(self, text: str) -> list[Any]:
        return parse_moves(text, self.engine.game.width)

    def new(self, size: int, rule: Any, moves: str = "") -> None:
        self.engine.new_game(size, rule=rule)
        for move in self.cells(moves):
            self.engine.play(*move)

    def wall(self, but: str) -> None:
        """Block all empty cells but some."""
        for cell in self.engine.game.legal_moves():
            if cell not in self.cells(but):
                self.engine.place(*cell, Side.WALL)

    def quick(self, exclude: str = "") -> str:
        return cell_name(*self.engine.quick_move(self.cells(exclude)))

    def policy(self) -> str:
        engine = self.engine
        chances = [f"{cell_name(*move)} {chance:.4f}" for move, chance in engine.policy()[:9]]
        return f"value {engine.value():+}, network {engine.network}: {' '.join(chances)}"

    def prove(self) -> Iterator[str]:
        self.said.clear()
        tree = Prover(self.engine, self.solver, inf).prove()
        yield from texts.joined(self.said, "  ")
        yield drawn(tree) if tree else "no proof"

    def think(
        self, exclude: str = "", multipv: int = 1, until: int | None = None, **limits: Any
    ) -> Iterator[str]:
        said = self.said
        said.clear()

        def hear(thought: Thought) -> bool:
            said.append(summary(thought))
            return thought.depth == until

        found = self.engine.think(
            Limit(**limits), on_iteration=hear, multipv=multipv, exclude=self.cells(exclude)
        )
        form = forced_end(self.engine, found)
        table = f"scale {found.scale:g}, {self.engine.table_bytes} bytes"
        yield from texts.joined(said, "  ", "")
        yield from [f"= {summary(found)}, {table}", *([f"  {form}"] if form else [])]

    def faults(self) -> list[str]:
        faults = self.engine.game.check() if "engine" in self.names else 0
        return [f"{faults} faults of the board"] * bool(faults)


def noted(name: str, said: list[str]) -> Callable[..., Any]:
    """Return a question to the solver that is added to what was said, with the answer."""
    question = getattr(Solver, name)

    def ask(*asked: Any, **about: Any) -> Any:
        found = question(*asked, **about)
        after = f" after {cell_name(*about['after'])}" if about.get("after") else ""
        claim = f"{found.claim}, {found.nodes} nodes" if isinstance(found, Result) else bool(found)
        said.append(f"  {name}{after} in {about.get('nodes')}: {claim}")
        return found

    return ask


@Record("thoughts")
def thoughts(record: str) -> str:
    """Return the record of all engines, of which another one has what is asked."""
    names = dict(globals())
    room = Room(names)
    for name in ("begin", "new", "wall", "quick", "policy", "prove", "think"):
        names[name] = getattr(room, name)
    with pytest.MonkeyPatch.context() as patch, room.open:
        for name in ("threatens_fours", "rescues", "fours", "threats"):
            patch.setattr(Solver, name, noted(name, room.said))
        return session(record, names, after=room.faults)
