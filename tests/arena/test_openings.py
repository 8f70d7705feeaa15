"""Generated files of openings: even, distinct, the same every time, and read by a match."""

from __future__ import annotations

import random
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from pbrain_engine.arena.openings import (
    generate,
    key_of,
    parse,
    read_lines,
)
from pbrain_engine.arena.settings import MatchSettings, parse_engine
from pbrain_engine.position.geometry import Coordinates, transform

FAST = ["--nodes", "2000", "--balance", "80"]


def match_of(**changes: Any) -> MatchSettings:
    return MatchSettings((parse_engine("numoku"),) * 2, **changes)


def openings(*words: str, count: int = 6) -> list[list[Coordinates]]:
    return list(islice(generate(parse([*FAST, *words])), count))


def test_the_same_seed_gives_the_same_openings_however_many_threads() -> None:
    assert openings() == openings("--concurrency", "3")
    assert openings() != openings("--seed", "2")


def test_a_position_has_one_key_however_it_is_turned_or_reached() -> None:
    chance = random.Random(3)
    opening = [(2, 3), (7, 7), (5, 6), (8, 8), (9, 1)]
    for number in range(8):
        image = transform(opening, number, 15, 15)
        black, white = image[0::2], image[1::2]
        chance.shuffle(black)
        again = [black[0], white[0], black[1], white[1], black[2]]
        assert key_of(again, 15, 15) == key_of(opening, 15, 15)
    other = [opening[1], opening[0], *opening[2:]]
    assert key_of(other, 15, 15) != key_of(opening, 15, 15)
    assert key_of(transform(opening, 4, 15, 15), 20, 15) != key_of(opening, 20, 15)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_file_is_read_as_editors_and_shells_write_it(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "openings.txt"
    path.write_bytes("8,-3, 6,-4\r\n# h8\r\nh8i9 # Zentrum für beide\r\n".encode(encoding))
    assert read_lines(str(path)) == ("8,-3, 6,-4", "h8i9")
