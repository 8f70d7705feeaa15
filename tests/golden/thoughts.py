"""What engines think and tell: ``python -m tests.golden.thoughts`` records it anew.

In ``thoughts.txt`` a line without a sign begins a new engine, with its options behind the colon. A
line with ``>`` is what it is asked, and all others are recorded: the best moves of each iteration
by rank with depth, value, nodes, changes and line, what the solver was asked, and ``=``
before the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pbrain_engine.engine.ending import Prover, forced_end
from pbrain_engine.engine.engine import Engine, EngineError, Limit
from pbrain_engine.game.cells import cell_name, format_moves, parse_moves
from pbrain_engine.game.result import Result, Thought, Tree
from pbrain_engine.position.rules import Side
from pbrain_engine.solver import Solver
from tests.golden import texts
from tests.golden.records import Record


def numbers(words: list[str]) -> dict[str, Any]:
    """Return options such as ``depth=3``."""
    pairs = (word.split("=") for word in words)
    return {key: int(text) if text.lstrip("-").isdigit() else text for key, text in pairs}


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


def answer(engine: Engine, solver: Solver, words: list[str], said: list[str]) -> None:
    """Do what is asked, and add the answer to what was said."""
    match words:
        case ["new", size, rule, *moves]:
            engine.new_game(int(size), rule=rule)  # type: ignore[arg-type]
            for move in parse_moves("".join(moves), int(size)):
                engine.play(*move)
        case ["place", side, cells]:
            for cell in parse_moves(cells, engine.game.width):
                engine.place(*cell, Side[side])
        case ["wall", "but", cells]:
            for cell in engine.game.legal_moves():
                if cell not in parse_moves(cells, engine.game.width):
                    engine.place(*cell, Side.WALL)
        case ["rule", name]:
            engine.set_rule(name)
        case ["move", side]:
            engine.set_to_move(Side[side])
        case ["set", name, value]:
            engine.set_parameter(name, int(value))
        case ["quick", *cells]:
            move = engine.quick_move(parse_moves("".join(cells), engine.game.width))  # type: ignore[arg-type]
            said.append(f"= {cell_name(*move)}")
        case ["policy"]:
            chances = [f"{cell_name(*move)} {chance:.4f}" for move, chance in engine.policy()[:9]]
            value = f"value {engine.value():+}, network {engine.network}"
            said.append(f"= {value}: {' '.join(chances)}")
        case ["search_nodes", nodes]:
            said.append(f"= {engine.search_nodes(int(nodes))}")
        case ["prove"]:
            tree = Prover(engine, solver).prove()
            said.append(f"= {drawn(tree) if tree else 'no proof'}")
        case ["think", *options]:
            asked = numbers(options)
            cells = parse_moves(asked.pop("exclude", ""), engine.game.width)
            lines, enough = asked.pop("multipv", 1), asked.pop("until", None)

            def hear(thought: Thought) -> bool:
                heard = summary(thought)
                if said[-1][:1].isdigit() and len(said[-1]) + len(heard) < texts.WIDTH:
                    said[-1] += f"; {heard}"
                else:
                    said.append(heard)
                return thought.depth == enough

            try:
                found = engine.think(
                    Limit(**asked), on_iteration=hear, multipv=lines, exclude=cells
                )
            except ValueError as error:
                said.append(f"= ValueError: {error}")
                return
            form = forced_end(engine, found)
            table = f"scale {found.scale:g}, {engine.table_bytes} bytes"
            said.append(f"= {summary(found)}, {table}")
            if form:
                said.append(f"  {form}")
        case ["undo" | "clear_hash" as name]:
            getattr(engine, name)()
        case ["set_threads" | "set_hash_size" as name, number]:
            getattr(engine, name)(int(number))
        case _:
            raise LookupError(words)


def noted(name: str, said: list[str]) -> Callable[..., Any]:
    """Return a question to the solver that is added to what was said, with the answer."""
    question = getattr(Solver, name)

    def ask(*asked: Any, **about: Any) -> Any:
        found = question(*asked, **about)
        after = f" after {cell_name(*about['after'])}" if about.get("after") else ""
        claim = f"{found.claim}, {found.nodes} nodes" if isinstance(found, Result) else bool(found)
        told = f"{name}{after} in {about.get('nodes')}: {claim}"
        if said[-1].startswith("  ") and len(said[-1]) + len(told) < texts.WIDTH:
            said[-1] += f"; {told}"
        else:
            said.append(f"  {told}")
        return found

    return ask


@Record("thoughts")
def thoughts(record: str) -> str:
    """Return the record of all engines, of which another one has what is asked."""
    said: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        for name in ("threatens_fours", "rescues", "fours", "threats"):
            patch.setattr(Solver, name, noted(name, said))
        for block in record.rstrip("\n").split("\n\n"):
            title, *lines = block.split("\n")
            options = {"hash_size": 4_000_000, **numbers(title.partition(": ")[2].split())}
            said.append(title)
            with Engine(**options) as engine, Solver(8_000_000, engine.library) as solver:
                for line in lines:
                    if line.startswith("> "):
                        said.append(line)
                        try:
                            answer(engine, solver, line[2:].split(), said)
                        except EngineError as error:
                            said.append(f"! {error}")
                        assert engine.game.check() == 0
            said.append("")
    return "\n".join(said)
