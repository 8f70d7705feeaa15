"""Openings by a rule in a match: how the steps of a player are decided.

Our engine in this process decides its own steps. A program decides its steps of swap2 by
``SWAP2BOARD``, on its clock. For other rules, which the protocol does not support, and for programs
without that command, a judge decides: our engine with default settings.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

from ..engine.engine import Engine
from ..engine.opening_choices import decide
from ..engine.swap2 import share_nodes
from ..game.cells import cell_name
from ..game.opening_rules import OpeningPlay
from ..game.record import ILLEGAL
from ..position.geometry import Coordinates
from ..position.rules import Side
from .referee import EngineFault
from .settings import MatchSettings

STEP_NODES = 100_000  # of all searches for a step decided in this process
TABLE = 8_000_000  # bytes, of the judge
SWAP2_STONES = {0: (3,), 3: (1, 2), 5: (1,)}  # stones on the board: possible numbers in an answer

_CELL = r"(-?\d{1,6})\s*,\s*(-?\d{1,6})"
_CELLS = re.compile(_CELL)
_ANSWER = re.compile(rf"\s*(SWAP|{_CELL}(?:\s+{_CELL})*|(?:UNKNOWN|ERROR)\b.*)\s*", re.IGNORECASE)


def decide_by(
    engine: Engine,
    settings: MatchSettings,
    opening: OpeningPlay,
    chance: Random,
    check: Callable[[], None] = lambda: None,
) -> str:
    """Return an engine's decision about the step of an opening; leaves it with a new game."""
    board = settings.width, settings.height, settings.rule
    engine.new_game(*board)
    words = decide(share_nodes(engine, STEP_NODES, check), opening, chance)
    engine.new_game(*board)
    return words


class OpeningJudge:
    """Decides steps of openings for players that cannot, by our engine, created on first use."""

    def __init__(self, settings: MatchSettings, check: Callable[[], None] = lambda: None) -> None:
        """Use the board and rule of a match; ``check`` may raise between two searches."""
        self._settings, self._check = settings, check
        self._engine: Engine | None = None

    def __call__(self, opening: OpeningPlay, chance: Random) -> str:
        """Return the words of the step."""
        if self._engine is None:
            self._engine = Engine(hash_size=TABLE)
        self._engine.clear_hash()
        return decide_by(self._engine, self._settings, opening, chance, self._check)

    def stop(self) -> None:
        """Stop the running search."""
        if self._engine is not None:
            self._engine.stop()


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
