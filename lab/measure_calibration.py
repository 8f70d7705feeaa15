"""How reliable an engine's chances are: ``python -m lab.measure_calibration JOURNAL NAME``.

The table compares the values that NAME reported for its moves, as winning chances by the default
weights, with NAME's scores in those games, by moves since the opening. Proven wins and losses are
left out: they say nothing about the evaluation. The error is the standard error of the score
between games, because the positions of a game share its result.
"""

from __future__ import annotations

import argparse
from bisect import bisect
from collections import defaultdict
from collections.abc import Iterable, Iterator
from math import sqrt
from pathlib import Path
from typing import NamedTuple

from pbrain_engine.arena.match import read_journal
from pbrain_engine.board.desk import scale_of
from pbrain_engine.engine.engine import DEFAULT_WEIGHTS
from pbrain_engine.game.record import GameRecord
from pbrain_engine.values import WIN_BAND

MOVES = (0, 10, 20, 30, 60)  # since the opening, from which each stage begins
EDGES = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9)  # of the chances


class Row(NamedTuple):
    """Mean chance and score over positions, and the numbers of positions and games."""

    stage: int
    said: float
    scored: float
    error: float
    positions: int
    games: int


def positions(game: GameRecord, name: str) -> Iterator[tuple[int, float, float]]:
    """Yield the stage, the reported chance and the score for each move of a player."""
    scale, score = scale_of(DEFAULT_WEIGHTS, game.board[2]), game.points(name) / 2
    said = zip(game.movers, game.values, game.chances(scale), strict=True)
    for number, (mover, value, chance) in enumerate(said):
        if mover == name and value is not None and chance is not None and abs(value) < WIN_BAND:
            yield bisect(MOVES, number) - 1, chance, score


def calibrate(games: Iterable[GameRecord], name: str) -> list[Row]:
    """Return the chances and scores of a player, by stage and chance."""
    found: dict[tuple[int, int], dict[int, list[tuple[float, float]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for number, game in enumerate(games):
        for stage, said, score in positions(game, name):
            found[stage, bisect(EDGES, said)][number].append((said, score))
    rows = []
    for (stage, _), by_game in sorted(found.items()):
        pairs = [pair for one in by_game.values() for pair in one]
        scored = sum(score for _, score in pairs) / len(pairs)
        parts = [sum(score - scored for _, score in one) for one in by_game.values()]
        error = sqrt(sum(part * part for part in parts)) / len(pairs)
        said = sum(said for said, _ in pairs) / len(pairs)
        rows.append(Row(stage, said, scored, error, len(pairs), len(by_game)))
    return rows


def main() -> None:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("journal", type=Path)
    parser.add_argument("name", help="name of the player in the journal")
    options = parser.parse_args()
    _, games = read_journal(options.journal)
    print("| moves since the opening | said | scored | positions | games |\n|---|---|---|---|---|")
    for row in calibrate(games, options.name):
        first, *later = MOVES[row.stage :]
        stage = f"{first} to {later[0] - 1}" if later else f"{first} and more"
        print(
            f"| {stage} | {row.said:.2f} | {row.scored:.2f} ± {row.error:.2f} "
            f"| {row.positions} | {row.games} |"
        )


if __name__ == "__main__":
    main()
