"""Which games a match consists of, in the order in which they are begun.

All pairs move on together, an opening at a time; each opening is played twice with colours
changed. A game's number fixes everything about it, so a resumed match leaves out the
numbers that it finds in its journal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...position.geometry import Coordinates
from ..game.referee import GameTask
from ..openings import Openings
from ..settings import MatchSettings, pairs


def tasks(
    settings: MatchSettings,
    openings: Openings,
    done: frozenset[int] = frozenset(),
    known: Mapping[int, list[Coordinates]] | None = None,
) -> Iterator[GameTask]:
    """Yield the games that are not done; ``known`` openings are taken from their sister games."""
    meetings = pairs(settings)
    number = 0
    for round_number in range((settings.games + 1) // 2):
        opening: tuple[Coordinates, ...] | None = None
        for a, b in meetings:
            for second in range(min(2, settings.games - 2 * round_number)):
                if number not in done:
                    if opening is None:
                        found = (known or {}).get(round_number)
                        opening = tuple(openings[round_number] if found is None else found)
                    black, white = (b, a) if second else (a, b)
                    yield GameTask(number, round_number, black, white, opening)
                number += 1
