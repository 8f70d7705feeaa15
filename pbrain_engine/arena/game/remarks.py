"""What engines say about a move while they think: depth, value, nodes and line.

Two dialects are widespread, ``depth 12-21 ev 35 n 1203K tm 1480 pv H8 I9`` and
``Depth 12-21 | Eval 35 | Node 1203K | Time 1480ms``; both are read, by their words and not
by their places, so that a relative of either is understood too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...values import loss_in, win_in

# Each run of white space is one blank by now, and no blank can be taken by two parts of a pattern:
# else a long run costs seconds.
_WORDS = re.IGNORECASE | re.ASCII  # digits are 0 to 9 here
_DEPTH = re.compile(r"\bdepth(?: ?[:=])? ?(\d{1,9})(?!\d)", _WORDS)
_VALUE = re.compile(
    r"\b(?:ev|eval|value|score)(?: ?[:=])? ?((?:[+-] ?)?(?:M ?)?-?\d+(?:\.\d+)*)", _WORDS
)
_NODES = re.compile(r"\b(?:n|nodes?)(?: ?[:=])? ?(\d{1,15}(?:\.\d+)?) ?([KMG]?)\b(?!/)", _WORDS)
_MULTIPV = re.compile(r"\bmultipv (\d+)|^\((\d+)\)", _WORDS)
_COUNT = re.compile(r"\d{1,15}", re.ASCII)
_NUMBER = re.compile(r"[+-]?\d{1,9}(?:\.\d+)?", re.ASCII)
_MATE = re.compile(r"([+-]?)M(-?)(\d{1,3})", re.ASCII)
_SCALE = {"": 1, "K": 1_000, "M": 1_000_000, "G": 1_000_000_000}


@dataclass(slots=True)
class Thinking:
    """The last complete report on one move; None where the engine said nothing."""

    depth: int | None = None
    value: int | None = None
    nodes: int | None = None
    line: int = 0  # the rank of the line that INFO words speak of, 0 for the best

    def hear(self, text: str) -> None:
        """Take from one MESSAGE what it says about the best line."""
        text = " ".join(text.split())
        other_line = _MULTIPV.search(text)
        if other_line and (other_line[1] or other_line[2]).lstrip("0") != "1":
            return
        depth = _DEPTH.search(text)
        if depth:
            self.depth = int(depth[1])
        value = _VALUE.search(text)
        if value:
            self.value = read_value(value[1])
        nodes = _NODES.search(text)
        if nodes:
            self.nodes = int(float(nodes[1]) * _SCALE[nodes[2].upper()])

    def hear_detail(self, key: str, text: str) -> None:
        """Take what one ``INFO`` line of an engine with ``show_detail 2`` says."""
        if key == "PV":
            self.line = int(text) if _COUNT.fullmatch(text) else 0
        elif self.line or key not in ("DEPTH", "EVAL", "NODES"):
            return
        elif key == "EVAL":
            self.value = read_value(text)
        elif _COUNT.fullmatch(text):
            setattr(self, key.lower(), int(text))


def read_value(text: str) -> int | None:
    """Return the value that ``35``, ``+M9`` or ``-M8`` stands for on our scale; None of others."""
    compact = text.replace(" ", "").upper()
    if _NUMBER.fullmatch(compact):
        return round(float(compact))
    mate = _MATE.fullmatch(compact)
    if mate is None:
        return None
    plies = int(mate[3])
    return loss_in(plies) if "-" in (mate[1], mate[2]) else win_in(plies)
