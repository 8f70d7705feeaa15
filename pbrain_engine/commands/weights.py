"""``numoku weights``: what a weight file holds, where it comes from, and whether it is whole."""

from __future__ import annotations

import argparse
import json
import shutil
from array import array
from collections.abc import Sequence
from pathlib import Path

from ..app.setup import add_options
from ..engine.engine import DEFAULT_WEIGHTS
from ..eval.network_block import sizes_of
from ..eval.weights import (
    COMBINATIONS,
    FAMILIES,
    MASKS,
    Weights,
    annotate_weights,
    find_weights,
    load_weights,
    weights_file,
)
from ..files import in_place_of
from ..options import Parser
from ..patterns.shapes import BLOCKED_ONE
from ..position.rules import Rule

SHAPES = (  # of a line, in the order of their numbers
    "blocked one", "open one", "blocked two", "open two", "open two, wide", "open two, free",
    "blocked three", "open three", "open three, free", "four", "open four", "five",
)  # fmt: skip
MASK_BITS = (
    "enemy five", "winning four", "enemy winning four", "four with more", "four", "double three",
    "three", "enemy four with more", "enemy four", "enemy double three", "enemy three",
)  # fmt: skip
TITLES = (
    "value of a cell with one such line",
    "value of a threat alone",
    "score of a move: made / taken",
)

Numbers = dict[str, int]
Scores = dict[str, tuple[int, int]]


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command's options."""
    parser = Parser(
        prog="numoku weights",
        description="Check weight files and show where they come from and what they say.",
    )
    add = parser.add_argument
    add("files", nargs="*", default=[DEFAULT_WEIGHTS], metavar="W", help="names or files")
    note = "write a line into the head of the files first, such as the result of a match"
    add("--note", nargs=2, action="append", default=[], metavar=("KEY", "TEXT"), help=note)
    games = "measure how well the weights predict these games of `numoku datagen` (needs NumPy)"
    add("--games", nargs="+", type=Path, default=[], metavar="GAMES", help=games)
    add_options(parser, "json")
    return parser


def main(arguments: Sequence[str]) -> int:
    """Describe weights; a damaged file is an error."""
    options = make_parser().parse_args(arguments)
    for name in options.files if options.note else ():
        annotate(weights_file(name), options.note)
    found = [find_weights(name) for name in options.files]
    if options.games:
        from ..learn.measure import measure, table

        print(table(measure(options.games, found)))
        return 0
    if options.json:
        print(json.dumps([describe(weights) for weights in found]))
        return 0
    print("\n\n".join(map(text, found)))
    return 0


def annotate(path: str, notes: Sequence[tuple[str, str]]) -> None:
    """Write lines into the head of a weight file, which stays as it is where that fails."""
    load_weights(path)
    with in_place_of(Path(path)) as part:
        shutil.copy(path, part)
        for key, note in notes:
            annotate_weights(str(part), key, note)
        load_weights(str(part))


def describe(weights: Weights) -> dict[str, object]:
    """Return head and numbers of weights as a document."""
    tables = zip(*(tables_of(weights, family) for family in FAMILIES), strict=True)
    values, threats, scores = (dict(zip(FAMILIES, table, strict=True)) for table in tables)
    return {
        "about": weights.about,
        "values": values,
        "threats": threats,
        "scores": scores,
        "networks": {family: network_sizes(weights, family) for family in weights.streams},
    }


def network_sizes(weights: Weights, family: str) -> dict[str, int]:
    """Return the sizes of a family's network, and its bytes unpacked and in the file."""
    raw = weights.network(Rule.parse(family)) or b""
    sizes = sizes_of(raw)._asdict()
    return {**sizes, "bytes": len(raw), "packed": len(weights.streams[family])}


def tables_of(weights: Weights, family: str) -> tuple[Numbers, Numbers, Scores]:
    """Return what the numbers of a family say, by the names of lines and of kinds of threats.

    What a cell with one such line adds to the value of black's position; what one kind of threat
    alone is worth when black is to move; the scores of a move that makes such a line, and of one
    that takes it away.
    """
    numbers = array("h", weights.block(Rule.parse(family)))
    threats, made = 2 * COMBINATIONS, 2 * COMBINATIONS + 2 * MASKS
    taken = made + COMBINATIONS
    # The number of the combination of a line's shape with three dead lines.
    places = {
        name: n * (n + 1) * (n + 2) * (n + 3) // 24 for n, name in enumerate(SHAPES, BLOCKED_ONE)
    }
    return (
        {name: numbers[place] for name, place in places.items()},
        {name: numbers[threats + (1 << bit)] for bit, name in enumerate(MASK_BITS)},
        {name: (numbers[made + at], numbers[taken + at]) for name, at in places.items()},
    )


def text(weights: Weights) -> str:
    """Return a page about weights: the head, then tables with a column for each family."""
    about = {k: v for k, v in weights.about.items() if not k.startswith("curve ")}
    lines = [f"{key:12} {value}" for key, value in about.items()]
    columns = "".join(f"{family:>15}" for family in FAMILIES)
    for title, *read in zip(TITLES, *(tables_of(weights, f) for f in FAMILIES), strict=True):
        lines += ["", f"{title:36}{columns}"]
        for name in read[0]:
            row = (column[name] for column in read)
            words = (f"{n[0]} / {n[1]}" if isinstance(n, tuple) else str(n) for n in row)
            lines.append(f"  {name:34}" + "".join(f"{word:>15}" for word in words))
    for family in weights.streams:
        sizes = network_sizes(weights, family)
        lines += ["", f"network for {family}"]
        lines += [f"  {name.replace('_', ' '):34}{size:15,}" for name, size in sizes.items()]
    return "\n".join(lines)
