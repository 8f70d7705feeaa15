"""Swap2 by the protocol: a program decides its steps by ``SWAP2BOARD``."""

from __future__ import annotations

import re

from ..game.cells import cell_name
from ..game.opening_rules import OpeningPlay
from ..game.record import ILLEGAL
from ..position.geometry import Coordinates
from ..position.rules import Side
from .referee import EngineFault

SWAP2_STONES = {0: (3,), 3: (1, 2), 5: (1,)}  # stones on the board: possible numbers in an answer

_CELL = r"(-?\d{1,6})\s*,\s*(-?\d{1,6})"
_CELLS = re.compile(_CELL)
_ANSWER = re.compile(rf"\s*(SWAP|{_CELL}(?:\s+{_CELL})*|(?:UNKNOWN|ERROR)\b.*)\s*", re.IGNORECASE)


def swap2_question(opening: OpeningPlay) -> list[str]:
    """Return the lines that ask a program for its step; [] if the protocol has none."""
    if opening.rule.name != "swap2" or len(opening.stones) not in SWAP2_STONES:
        return []
    return ["SWAP2BOARD", *(f"{x},{y}" for x, y in opening.stones), "DONE"]


def read_swap2(text: str) -> tuple[str, list[Coordinates]] | None:
    """Return the word and the cells of an answer, None for other lines."""
    answer = _ANSWER.fullmatch(text)
    if answer is None:
        return None
    cells = [(int(x), int(y)) for x, y in _CELLS.findall(answer[1])]
    word = answer[1].split(maxsplit=1)[0].upper()
    return ("", cells) if cells and word not in ("UNKNOWN", "ERROR") else (word, [])


def swap2_words(opening: OpeningPlay, word: str, cells: list[Coordinates]) -> str:
    """Return an answer in the words of an opening; a single cell is white's next move.

    Raises:
        EngineFault: the answer does not fit the number of stones, or is off the board.
    """
    before = len(opening.stones)
    if word == "SWAP" and before:
        return opening.taking(Side.BLACK)
    if len(cells) not in SWAP2_STONES[before]:
        said = word or f"{len(cells)} cells"
        raise EngineFault(ILLEGAL, f"{said} in answer to SWAP2BOARD with {before} stones")
    for x, y in cells:
        if not (0 <= x < opening.width and 0 <= y < opening.height):
            raise EngineFault(ILLEGAL, f"{x},{y} is off the board")
    if len(cells) == 1:
        return opening.taking(Side.WHITE)
    return " ".join([*(["two"] if before else []), *(cell_name(*cell) for cell in cells)])
