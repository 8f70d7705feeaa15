"""What a run has come to: a table, a change to the parameter table, and a page of charts."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from ..arena.views.text import conditions, table
from ..pages import charts
from ..pages.charts import Curve
from ..pages.html import html_document, html_figures, html_table
from ..search.alphabeta import params
from .plan import TuningPlan
from .space import format_point
from .spsa import Spsa

SOURCE = Path(params.__file__)
SOURCE_NAME = "pbrain_engine/search/alphabeta/params.py"


def rows(method: Spsa) -> list[list[str]]:
    """Return the parameters with start and outcome, and a head."""
    space, best = method.space, method.best
    found = [["parameter", "start", "now", "steps", "range"]]
    for name in space.names:
        before, now = space.start[name], best[name]
        steps = (now - before) / space.steps[name]
        bounds = f"{space.low(name)} to {space.high(name)}"
        found.append([name, str(before), str(now), f"{steps:+.2f}", bounds])
    return found


def changed_source(text: str, point: Mapping[str, int]) -> str:
    """Return the source of the parameter table with other defaults."""
    for name, value in point.items():
        if params.PARAMETERS[name].default != value:
            text = re.sub(rf'("{name}": Parameter\()[^,]+,', rf"\g<1>{value},", text)
    return text


def patch(point: Mapping[str, int]) -> str:
    """Return the change to the parameter table as a patch for ``git apply``."""
    before = SOURCE.read_text(encoding="utf-8")
    after = changed_source(before, point)
    lines = difflib.unified_diff(
        before.splitlines(keepends=True),
        after.splitlines(keepends=True),
        f"a/{SOURCE_NAME}",
        f"b/{SOURCE_NAME}",
    )
    return "".join(lines)


def summary(plan: TuningPlan, method: Spsa) -> str:
    """Return the table, and the match that says what the change is worth."""
    best = method.best
    changed = {name: v for name, v in best.items() if v != method.space.start[name]}
    lines = [f"{2 * method.done} of {2 * method.duels} games; {method.remark}"]
    lines += table(rows(method))
    if changed:
        options = dict(plan.match.engines[0].options)
        kept = {name: value for name, value in options.items() if name not in changed}
        new = f"numoku:{format_point({**kept, **changed})}"
        old = f"numoku:{format_point(options)}".rstrip(":")
        lines += ["", "try it:", f"numoku match new={new} old={old} {limits(plan)}"]
    return "\n".join(lines)


def limits(plan: TuningPlan) -> str:
    """Return the options of ``numoku match`` that repeat the conditions of the run."""
    match = plan.match
    board = f"{match.width}" if match.width == match.height else f"{match.width}x{match.height}"
    words = [f"--rule {match.rule.name.lower()}", f"--board {board}"]
    words += [f"--nodes {match.nodes}"] if match.nodes else []
    words += [f"--turn {match.turn:g}"] if match.turn else []
    return " ".join([*words, f"--games 2000 --seed {match.seed + 1} --in-process"])


def html_page(plan: TuningPlan, method: Spsa, states: Sequence[Mapping[str, Any]]) -> str:
    """Return a page with the outcome and how the run went."""
    title = "Tuning by SPSA"
    about = f"{conditions(plan.match)}; {2 * method.done} games; {method.remark}"
    body = f"""<h1>{escape(title)}</h1>
<p class="about">{escape(about)}</p>
<h2>Parameters</h2>
{html_table(rows(method))}
<h2>How they moved</h2>
{html_figures(_figures(method, states))}"""
    return html_document(title, body)


def _figures(method: Spsa, states: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return captions and charts: the path of each parameter."""
    space = method.space
    found = []
    for name in space.names:
        points = [(0.0, float(space.start[name]))]
        points += [(2.0 * state["done"], state["values"][name]) for state in states]
        chart = charts.line_chart(
            name, "games", name, [Curve("", points, "a")], marks=[space.start[name]]
        )
        found.append((name, chart))
    return found
