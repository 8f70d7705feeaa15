"""Short searches compared with deep labels: ``python -m lab.measure_agreement FILE VARIANT...``.

FILE has positions that were searched with many nodes (``numoku datagen FILE --positions GAMES
--open --nodes 2000000``). Each VARIANT, such as ``razor_base=60,razor_slope=20``, or ``-`` for the
defaults, searches every position from an empty table. Printed for each: the value's log loss above
the least possible, the share of moves that are those of the file, the mean depth, nodes a second of
the processor relative to the first variant; and paired differences from the first variant, of the
loss and of the per cent of moves, with standard errors between games. ``--equal-time`` gives each
variant nodes in proportion to its speed, measured before.

A minute shows what games show in hours, but the labels come from the same engine: a variant that
makes the same errors as they do looks better than it is. Games decide.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from math import log
from pathlib import Path
from time import process_time
from typing import NamedTuple

from pbrain_engine.arena.elo import average
from pbrain_engine.engine.engine import Engine, Limit
from pbrain_engine.learn.yardstick import Labelled, loss_above_least, read_labels, set_up_label

TABLE = 16 << 20
MOST_ODDS = log(9999)  # a forced win that the labels do not confirm costs a bounded amount
DEFAULTS = "-"
SPEED_SHARE = 10  # every so many-th position measures the speed


class Answer(NamedTuple):
    """What a search says of a labelled position."""

    loss: float  # of the value, nats above the least possible
    agrees: float  # 1 if the move is that of the label, else 0
    depth: int  # plies


def parse_variant(text: str) -> dict[str, int]:
    """Return the parameters of a variant; ValueError if one is no ``name=number``."""
    if text == DEFAULTS:
        return {}
    pairs = (pair.split("=", 1) for pair in text.split(","))
    return {name: int(value) for name, value in pairs}


def odds_of(value: int, scale: float) -> float:
    """Return the odds of a value in logistic units, bounded."""
    return max(-MOST_ODDS, min(value / scale, MOST_ODDS))


def answers(engine: Engine, labels: Sequence[Labelled], nodes: int) -> Iterator[Answer]:
    """Search each position from an empty table with so many nodes."""
    for label in labels:
        record = label.record
        set_up_label(engine, record)
        engine.clear_hash()
        found = engine.think(Limit(nodes=nodes))
        odds = odds_of(found.value, engine.weights.scale(record.rule))
        agrees = float((found.move.x, found.move.y) == record.cells[-1])
        yield Answer(loss_above_least(odds, label.chance), agrees, found.depth)


def measure(
    labels: Sequence[Labelled], parameters: dict[str, int], nodes: int
) -> tuple[list[Answer], float]:
    """Return the answers of a variant, and the processor's seconds that they took."""
    with Engine(hash_size=TABLE, parameters=parameters) as engine:
        start = process_time()
        found = list(answers(engine, labels, nodes))
        return found, process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("variants", nargs="+", help=f"NAME=NUMBER,... or {DEFAULTS}")
    parser.add_argument("--nodes", type=int, default=50_000, help="a search (%(default)s)")
    parser.add_argument("--count", type=int, help="of the positions (all)")
    about = "nodes by the variant's speed: it and the first are measured before each comparison"
    parser.add_argument("--equal-time", action="store_true", help=about)
    options = parser.parse_args()
    labels = list(read_labels([options.file]))
    step = max(1, len(labels) // options.count) if options.count else 1
    labels = labels[::step]
    games = [label.game for label in labels]
    first: list[Answer] = []
    first_time = 0.0
    for text in options.variants:
        parameters, nodes = parse_variant(text), options.nodes
        if first and options.equal_time:
            few = labels[::SPEED_SHARE]
            _, of_first = measure(few, parse_variant(options.variants[0]), nodes)
            _, of_this = measure(few, parameters, nodes)
            nodes = round(nodes * of_first / of_this)
        found, time = measure(labels, parameters, nodes)
        if not first:
            first, first_time = found, time
        mean = [sum(each) / len(found) for each in zip(*found, strict=True)]
        speed = nodes / options.nodes * first_time / time
        line = f"{text:40} {mean[0]:.4f} {mean[1]:6.1%} {mean[2]:6.2f} {speed:5.2f}"
        for at, unit in ((0, 1), (1, 100)):
            change = average(
                [unit * (new[at] - old[at]) for new, old in zip(found, first, strict=True)], games
            )
            line += f"   {change.mean:+.4f} ({change.error:.4f})" if found is not first else ""
        print(line, flush=True)


if __name__ == "__main__":
    main()
