"""``numoku fit``: learn the weights of the evaluation and of the move score from games.

Each rule family that has games is learned by itself, towards the weights that it starts from;
the others keep those. Some games are held out, and what is printed and written into the weight
file is measured on them.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..eval.weights import (
    FAMILIES,
    SCALE,
    Weights,
    load_weights,
    weights_path,
    write_weights,
)
from ..files import in_place_of
from ..notation.games import HELD_OUT, GamesError, Record, group_of, read_about, read_games
from ..options import Option, Parser, above_zero, positive, share
from ..position.rules import Rule
from ..values import WIN_BAND
from .features import Choices, Positions, by_family, read_features
from .score_model import ScoreData, ScoreLosses, best_temperature, keep_zero, learn_scores
from .value_model import FamilyTables, ValueData, ValueLosses, best_scale, learn_values

RULE_BOUND = "renju"  # the family in which black and white play by different rules
SHOWN_EVERY = 10  # steps between two losses that are reported
MIX = 0.7  # of what the search saw with what came after
ENOUGH_CHOICES = 200_000  # of one family; more teach the move score nothing new
STEPS = 600  # of one fit at most; renju, whose sides have tables of their own, needs most
SCORE_SHARE = 0.5  # of the way from the start to what was learned
SMALLEST = 20  # positions, learned from or held out, that are worth a fit


class FitSettings(NamedTuple):
    """How weights are learned."""

    mix: float  # share of what came after in the target of the value
    strength: float  # positions that count as one, against the pull towards the start
    steps: int
    score_share: float = SCORE_SHARE  # of the way that move scores go from the start


class Samples(NamedTuple):
    """What one part of the games has to teach."""

    games: int
    positions: Positions
    choices: Choices


class Fit(NamedTuple):
    """The learned weights of one family, and what they gained on held-out games."""

    block: bytes
    games: int
    positions: int
    search_scale: float
    values: Sequence[ValueLosses]  # before and after
    temperature: float
    scores: Sequence[ScoreLosses]

    def report(self) -> list[str]:
        """Return some lines about it."""
        (value, learned), (score, chosen) = self.values, self.scores
        return [
            f"{self.games} games, {self.positions} positions learned from",
            f"value loss {value.target:.4f} -> {learned.target:.4f}, "
            f"on results alone {value.result:.4f} -> {learned.result:.4f}",
            f"scale {value.scale:.0f} -> {learned.scale:.0f}, of search values "
            f"{self.search_scale:.0f}, temperature {self.temperature:.1f}",
            f"move entropy {score.entropy:.4f} -> {chosen.entropy:.4f}, "
            f"rank {score.rank:.2f} -> {chosen.rank:.2f}, "
            f"first {score.first:.1%} -> {chosen.first:.1%}",
        ]


Watch = Callable[[str, int, float], None]


def fit_family(
    learning: Samples, held_out: Samples, start: FamilyTables, settings: FitSettings, watch: Watch
) -> Fit:
    """Learn the weights of one family; sides share their tables if those of the start do."""
    symmetric = len(start.values) == 1
    positions = learning.positions
    open_values = np.abs(positions.value.astype(np.int64)) < WIN_BAND
    search_scale = best_scale(
        positions.value[open_values].astype(np.float64),
        positions.result[open_values].astype(np.float64),
    )
    data = ValueData(positions, symmetric, settings.mix, search_scale)
    scale = data.losses(start).scale
    length = settings.strength, settings.steps
    after = learn_values(data, start, scale, *length, partial(watch, "value"))
    checked = ValueData(held_out.positions, symmetric, settings.mix, search_scale)
    value_losses = [checked.losses(t, data.losses(t).scale) for t in (start, after)]

    choices = ScoreData(learning.choices.thin(ENOUGH_CHOICES), symmetric)
    temperature = best_temperature(choices, start.scores)
    learned = learn_scores(choices, start.scores, temperature, *length, partial(watch, "score"))
    scores = keep_zero(choices, start.scores, learned)
    # The moves that a search chooses are those that its order let it look at, so scores that follow
    # them all the way confirm themselves and lose more with every generation.
    scores = np.rint(start.scores + settings.score_share * (scores - start.scores))
    others = ScoreData(held_out.choices, symmetric)
    score_losses = [others.losses(t, temperature) for t in (start.scores, scores)]
    return Fit(
        after._replace(scores=scores).block(),
        learning.games,
        len(positions),
        search_scale,
        value_losses,
        temperature,
        score_losses,
    )


def split(records: list[Record], test: list[Record]) -> tuple[Samples, Samples]:
    """Return what to learn from and what to hold out: the test games, or some groups of all."""
    positions, choices = read_features(records)
    if test:
        learning = Samples(len(records), positions, choices)
        return learning, Samples(len(test), *read_features(test))
    parts = []
    for held_out in (False, True):
        games = sum((group_of(record.number) < HELD_OUT) == held_out for record in records)
        seen = positions.take((positions.group < HELD_OUT) == held_out)
        taken = choices.take((choices.group < HELD_OUT) == held_out)
        parts.append(Samples(games, seen, taken))
    return parts[0], parts[1]


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command's options."""
    parser = Parser(
        prog="numoku fit",
        description="Learn weights from the games of `numoku datagen` and write a weight file, "
        "which `weights=FILE` of an engine loads.",
    )
    add = parser.add_argument
    add("files", type=Path, nargs="+", metavar="GAMES", help="files of games")
    add("--out", type=Path, required=True, metavar="FILE", help="the weight file to write")
    add("--id", metavar="NAME", help="what the weights are called (the file's name)")
    add("--start", default="hand", metavar="W", help="weights to start from (hand)")
    add("--test", type=Path, nargs="+", default=[], metavar="GAMES", help="files to hold out")
    Option("--mix", share, MIX, "MIX", "share of what came after in the targets").add_to(parser)
    Option("--strength", above_zero, 0.5, "STRENGTH", "pull towards the start").add_to(parser)
    way = "of the way from the start that move scores go"
    Option("--score-share", share, SCORE_SHARE, "SHARE", way).add_to(parser)
    add(
        "--keep",
        action="append",
        default=[],
        metavar="FAMILY=W",
        help="take a family as it is in weights W, learn nothing for it",
    )
    Option("--steps", positive, STEPS, "N", "most steps of each fit").add_to(parser)
    return parser


def name_of(out: Path, name: str | None) -> str:
    """Return what the weights of a file that is to be written are called.

    Raises:
        GamesError: such a file could not be written, or not loaded by its name.
        OSError: its folder cannot be made.
    """
    name = name or out.stem
    if not name.isascii() or not name.isprintable():
        raise GamesError(f"weights cannot be called {name!r}; --id takes a name in ASCII")
    if weights_path(str(out)) != str(out):
        raise GamesError(f"--out {out}: built-in weights have this name")
    out.parent.mkdir(parents=True, exist_ok=True)
    if out.is_dir() or not os.access(out.parent, os.W_OK):
        raise GamesError(f"--out {out}: no file can be written there")
    return name


def put(out: Path, write: Callable[[str], None]) -> None:
    """Let weights be written, and put them in their place when they are whole."""
    with in_place_of(out) as part:
        write(str(part))
        load_weights(str(part))


def by_family_named(words: Iterable[str], option: str) -> dict[str, str]:
    """Return what an option of the form FAMILY=FILE was given, by family.

    Raises:
        GamesError: nothing is given, or there is no such family.
    """
    found = {}
    for word in words:
        family, _, what = word.partition("=")
        if not what or family not in FAMILIES:
            raise GamesError(f"{option} {word}: it takes FAMILY=FILE, one of {', '.join(FAMILIES)}")
        found[family] = what
    return found


def read_all(files: Iterable[Path]) -> dict[str, list[Record]]:
    """Return the games of some files by rule family."""
    return by_family(chain.from_iterable(map(read_games, files)))


def recorded_scale(weights: Weights, family: str) -> dict[str, str]:
    """Return the line of a head that tells the scale of a family, if there is one."""
    key = f"{SCALE} {family}"
    return {key: weights.about[key]} if key in weights.about else {}


def source(path: Path) -> str:
    """Return in a few words how the games of a file were made."""
    about = read_about(path)
    return ", ".join(f"{key} {value}" for key, value in about.items())


def show_loss(family: str, what: str, step: int, loss: float) -> None:
    """Print a loss on stderr every few steps of a fit."""
    if step % SHOWN_EVERY == 0:
        print(f"{family} {what}: step {step}, loss {loss:.5f}", file=sys.stderr, flush=True)


def main(arguments: Sequence[str]) -> int:
    """Learn and write; return 0."""
    options = make_parser().parse_args(arguments)
    settings = FitSettings(options.mix, options.strength, options.steps, options.score_share)
    name = name_of(options.out, options.id)
    start = load_weights(options.start)
    kept = {f: load_weights(w) for f, w in by_family_named(options.keep, "--keep").items()}
    games, test = read_all(options.files), read_all(options.test)
    about = {
        "id": name,
        "made": f"numoku fit --mix {settings.mix:g} --strength {settings.strength:g} "
        f"--steps {settings.steps} --score-share {settings.score_share:g}",
        "start": start.key,
    }
    for number, path in enumerate(options.files, 1):
        about[f"games {number}"] = source(path)
    for number, path in enumerate(options.test, 1):
        about[f"test {number}"] = source(path)
    blocks = {}
    for family in FAMILIES:
        rule = Rule.parse(family)
        if family in kept:
            other = kept[family]
            blocks[family] = other.block(rule)
            about[family] = f"as in {other.key}"
            about.update(recorded_scale(other, family))
            continue
        first = FamilyTables.of(start.block(rule), family != RULE_BOUND)
        learning, held_out = split(games.get(family, []), test.get(family, []))
        if min(len(learning.positions), len(held_out.positions)) < SMALLEST:
            about[family] = "as at the start"
            about.update(recorded_scale(start, family))
            blocks[family] = start.block(rule)
            continue
        fit = fit_family(learning, held_out, first, settings, partial(show_loss, family))
        blocks[family] = fit.block
        about[family] = "; ".join(fit.report())
        about[f"{SCALE} {family}"] = f"{fit.search_scale:.0f}"
        print(family, *fit.report(), sep="\n  ", flush=True)
    if all(value.startswith("as ") for key, value in about.items() if key in FAMILIES):
        raise GamesError("there are not enough games to learn from")
    put(options.out, lambda path: write_weights(path, about, blocks))
    print(f"{options.out} written")
    return 0
