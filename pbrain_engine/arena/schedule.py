"""Which games a match consists of, in the order in which they are begun.

All pairs move on together, an opening at a time; each opening is played twice with colours
changed. A game's number fixes everything about it, so a resumed match leaves out the
numbers that it finds in its journal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

from pbrain_engine.arena.openings import Openings
from pbrain_engine.arena.referee import GameTask
from pbrain_engine.arena.settings import Cell, MatchSettings

Pair = tuple[int, int]


def pairs(settings: MatchSettings) -> list[Pair]:
    """Return the pairs of engines that meet: all, or the first with each other."""
    count = len(settings.engines)
    if settings.gauntlet:
        return [(0, other) for other in range(1, count)]
    return list(combinations(range(count), 2))


def total_games(settings: MatchSettings) -> int:
    """Return the number of games of the whole match."""
    return settings.games * len(pairs(settings))


def rounds_of(settings: MatchSettings) -> int:
    """Return the number of openings that are needed."""
    return (settings.games + 1) // 2


def tasks(
    settings: MatchSettings,
    openings: Openings,
    done: frozenset[int] = frozenset(),
    known: Mapping[int, list[Cell]] | None = None,
) -> Iterator[GameTask]:
    """Yield the games that are not done; ``known`` openings are taken from their sister games."""
    meetings = pairs(settings)
    number = 0
    for round_number in range(rounds_of(settings)):
        opening: tuple[Cell, ...] | None = None
        for a, b in meetings:
            for second in range(min(2, settings.games - 2 * round_number)):
                if number not in done:
                    if opening is None:
                        found = (known or {}).get(round_number)
                        opening = tuple(openings[round_number] if found is None else found)
                    black, white = (b, a) if second else (a, b)
                    yield GameTask(number, round_number, black, white, opening)
                number += 1
