"""What is learned from games, number by number: ``python -m tests.golden.lessons`` records it anew.

The commands (see ``records``) run beside the games of ``tests/games/sample.games``. ``games FILE``
shows a file of games; ``branches FILE FILE`` writes its branches into another one;
``page FILE`` is what a page says, without its pictures. Processors add in other orders, which a
training amplifies: a fraction may differ by one in its last digit, on the page of a longer training
by a fifth of itself.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from pbrain_engine.game.cells import cell_name
from pbrain_engine.learn.network import quantise
from pbrain_engine.notation.games import (
    NO_VALUE,
    Ending,
    Record,
    encode,
    header,
    read_about,
    read_games,
)
from tests.golden import records, texts
from tests.golden.commands import run
from tests.golden.records import session, shown, stage

SAMPLE = Path(__file__).parents[1] / "games" / "sample.games"
VARIED = re.compile(r"[\d,]+(?= positions/s)|\b[\da-f]{8}\b|(?<=:)\d{6,7}\b|(?<=packed) +[\d,]+")
FRACTION = re.compile(r"\d+\.\d+")
MOST_GAMES = 16  # of a file, that are shown
AMPLIFIED = {"A page": 0.2}  # how far the fractions of a section may differ, for each unit


def line_of(record: Record) -> str:
    """Return a game in a line: each move with the value before it."""
    number, rule, width, height, opening, result, ending, moves, values, lines = record
    stones = [
        cell_name(cell % width, cell // width) + (f"={value}" if value != NO_VALUE else "")
        for cell, value in zip(moves, values, strict=True)
    ]
    stones += [f"{cell_name(cell % width, cell // width)}={value}" for cell, value in lines[1:]]
    facts = f"{number} {rule.name} {width}x{height} after {opening}: {result} by {ending.name}"
    return texts.brief(f"{facts}: {' '.join(stones)}")


def said(words: str, _: str) -> str:
    """Return what a command says."""
    command, _, rest = words.partition(" ")
    if command == "games":
        games = [line_of(record) for record in read_games(Path(rest))]
        return "\n".join([*texts.first(games, MOST_GAMES), ""])
    if command == "branches":
        path, changed = map(Path, rest.split())
        some = (record for record in read_games(path) if record.ending is Ending.BRANCH)
        changed.write_bytes(header(read_about(path)) + b"".join(map(encode, some)))
        return ""
    if command == "page":
        return re.sub("<svg .*?/>", "<svg/>", shown(rest))
    return VARIED.sub("N", run(words, ""))


def sections(record: str) -> dict[str, str]:
    """Return the parts of a record by their titles."""
    parts = re.split("(?m)^(?=§)", record)[1:]
    return {part.partition("\n")[0][2:]: part for part in parts}


def lessons(section: str) -> str:
    """Return the record of the commands of a section, which run in a folder of their own."""
    with stage() as patch:

        def codes(most: int) -> None:
            """Let networks have fewer codes, whose vectors are sooner found."""
            patch.setattr(quantise.make_codebook, "__defaults__", (most,))

        shutil.copy(SAMPLE, ".")
        return session(section, {"codes": codes}, said)


def differences(one: str, other: str) -> list[str]:
    """Return the lines in which a fraction differs by more than processors do."""
    found, spread = [], AMPLIFIED.get(one.partition("\n")[0][2:], 0.0)
    for old, new in zip(one.splitlines(), other.splitlines(), strict=False):
        pairs = zip(FRACTION.findall(old), FRACTION.findall(new), strict=False)
        near = all(
            abs(float(a) - float(b))
            < max(1.5 * 10.0 ** -len(a.partition(".")[2]), spread * float(a))
            for a, b in pairs
        )
        if not near or FRACTION.sub("", old) != FRACTION.sub("", new):
            found.append(f"{old} -> {new}")
    return found + one.splitlines()[len(other.splitlines()) :]


@records.Record("lessons")
def every(record: str) -> str:
    """Return the record of all sections."""
    return "".join(map(lessons, sections(record).values()))
