"""What a notebook shows: boards as text and as pictures, and the example that explains them."""

from __future__ import annotations

import ast
import json
from typing import Any
from xml.etree import ElementTree

from pbrain_engine import Limit
from pbrain_engine.game.diagram import LINE, parse_diagram
from tests.golden import boards
from tests.played import set_up
from tests.programs import ROOT

EXAMPLE = ROOT / "docs" / "example.ipynb"
SVG = "{http://www.w3.org/2000/svg}"


def shown(item: Any) -> tuple[int, int, list[str]]:
    """Return how many stones a picture has, how many are only expected, and what is on them."""
    root = ElementTree.fromstring(item._repr_svg_())
    stones = [c for c in root.iter(f"{SVG}circle") if float(c.get("r", 0)) > 10]
    texts = [t.text or "" for t in root.iter(f"{SVG}text") if t.get("fill") != LINE]
    return len(stones), sum("opacity" in stone.attrib for stone in stones), texts


def test_games_are_told_and_drawn_as_recorded(engine):
    boards.boards.check()
    assert parse_diagram(str(engine)).stones == {}


def test_thoughts_and_proofs_show_their_line_on_their_board(engine, solver):
    set_up(engine, "h8a1i8c1j8e1")
    seen: list[Any] = []
    thought = engine.think(Limit(depth=3), on_iteration=seen.append)
    proof = solver.fours(engine.game)
    engine.new_game(20)  # what was found stays what it was
    for found, line in ((thought, thought.pv), (seen[0], seen[0].pv), (proof, proof.line)):
        texts = [str(number) for number in range(1, len(line) + 1)]
        assert shown(found) == (6 + len(line), len(line), texts)
    assert len(repr(thought)) < 400


def test_the_example_notebook_runs():
    notebook = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    pictures = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == [] and cell["execution_count"] is None
        *lines, last = ast.parse("".join(cell["source"])).body
        exec(compile(ast.Module(lines, []), "cell", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
            pictures += hasattr(value, "_repr_svg_") and shown(value)[0] > 0
        else:
            exec(compile(ast.Module([last], []), "cell", "exec"), names)
    assert pictures == 4
