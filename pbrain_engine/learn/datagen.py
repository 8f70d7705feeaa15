"""``numoku datagen``: games of the engine against itself, for learning.

Games are played in small batches by processes of this machine, or by the workers of a Dask
cluster, and written in the order of their numbers: a file is the same however it was made, and
the same command continues one that was interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

from ..arena.settings import SettingsError, parse_rule
from ..engine.engine import DEFAULT_WEIGHTS, Engine
from ..notation.games import GameFile, GamesError
from ..options import Parser, positive, whole
from ..position.geometry import MAX_BOARD, MIN_BOARD
from ..position.rules import Rule
from ..progress import Progress
from ..workers import ClusterError, ClusterPool, ProcessPool, in_order
from .selfplay import Plan, SelfPlayed

MOST_BRANCHES = 0.9
BATCH = 4  # games that a worker plays in one go

Play = Callable[[Sequence[int]], list[SelfPlayed]]

_engines = threading.local()


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command's options."""
    parser = Parser(
        prog="numoku datagen",
        description="Let the engine play against itself and record every move, its value and "
        "the result, for `numoku fit`. The same command continues an interrupted file; with "
        "more --games it extends one.",
    )
    add = parser.add_argument
    add("file", type=Path, help="where the games are written")
    add("--games", type=whole, default=1000, metavar="N", help="games in the file (1000)")
    add("--nodes", type=positive, default=1200, metavar="N", help="nodes a move, on average (1200)")
    add("--rules", default="freestyle", metavar="R,...", help="rules in turn (freestyle)")
    add("--boards", default="15", metavar="N,...", help="boards in turn (15)")
    add("--seed", type=int, default=1, metavar="N", help="of openings and lengths (1)")
    add("--weights", default=DEFAULT_WEIGHTS, metavar="W",
        help=f"weights by name or file ({DEFAULT_WEIGHTS})")  # fmt: skip
    add("--processes", type=positive, metavar="N", help="games at the same time (one a core)")
    add("--cluster", metavar="ADDRESS", help="play on the workers of this Dask scheduler")
    add("--branch-share", type=float, default=0.0, metavar="S",
        help="share of positions beside the games, as search trees have them (0)")  # fmt: skip
    return parser


def plan_of(options: argparse.Namespace) -> Plan:
    """Return the plan that the options ask for.

    Raises:
        SettingsError: a rule is unknown, or a number makes no sense.
    """
    rules: list[Rule] = [parse_rule(word) for word in options.rules.split(",")]
    words = [word.strip() for word in options.boards.split(",")]
    boards = [int(word) if word.isdecimal() else 0 for word in words]
    if any(not MIN_BOARD <= board <= MAX_BOARD for board in boards):
        raise SettingsError(f"boards {options.boards}: {MIN_BOARD} to {MAX_BOARD}, with commas")
    if options.nodes < 10:
        raise SettingsError("--nodes takes 10 or more")
    if not 0 <= options.branch_share <= MOST_BRANCHES:
        raise SettingsError(f"--branch-share takes 0 to {MOST_BRANCHES}")
    return Plan(
        options.seed, options.nodes, tuple(rules), tuple(boards), options.weights,
        options.branch_share,
    )  # fmt: skip


def play_batch(plan: Plan, head: dict[str, str], numbers: Sequence[int]) -> list[SelfPlayed]:
    """Play some games on this thread's engine, which stays for the next batch.

    A worker of a cluster lives longer than a run: it may know weights of before, or have others.

    Raises:
        GamesError: what is here under the names in the plan is not what the file's head says.
    """
    if getattr(_engines, "head", None) != head:
        here = plan.about()
        for key, wanted in head.items():
            if here.get(key) != wanted:
                raise GamesError(f"a worker has {key} {here.get(key)}, not {wanted}")
        _engines.engine = plan.make_engine()
        _engines.head = head
    engine: Engine = _engines.engine
    return [plan.play(engine, number) for number in numbers]


def show_speed(progress: Progress, file: GameFile, before: int, last: bool = False) -> None:
    """Show how far a file is that held ``before`` positions at the beginning."""
    progress.done = file.games
    speed = (file.positions - before) / progress.seconds
    progress.show(f"{file.positions:,} positions, {speed:,.0f} positions/s", last)


def generate(
    path: Path, plan: Plan, games: int, processes: int, cluster: str | None = None
) -> GameFile:
    """Make or continue a file until it holds ``games`` games; return it, closed.

    Raises:
        GamesError: the file was made in another way or cannot be written.
        LostWorker: who plays was killed.
    """
    file = GameFile(path, plan.about())
    progress, before = Progress(games, "games", file.games), file.positions
    numbers = range(file.games, games)
    batches = [numbers[i : i + BATCH] for i in range(0, len(numbers), BATCH)]
    play: Play = partial(play_batch, plan, plan.about())
    if cluster is not None:
        played = in_order(partial(ClusterPool, address=cluster), play, batches)
    elif processes > 1:
        most = min(processes, max(1, len(batches)))
        played = in_order(partial(ProcessPool, processes=most), play, batches)
    else:
        played = map(play, batches)
    try:
        for game in chain.from_iterable(played):
            file.append(game.record, game.branches)
            show_speed(progress, file, before)
    finally:
        show_speed(progress, file, before, last=True)
        file.close()
    return file


def main(arguments: Sequence[str]) -> int:
    """Play the games; return 0, or 2 where the options make no sense."""
    options = make_parser().parse_args(arguments)
    processes = options.processes or os.cpu_count() or 1
    try:
        generate(options.file, plan_of(options), options.games, processes, options.cluster)
    except (SettingsError, ClusterError) as error:
        print(f"numoku datagen: {error}", file=sys.stderr)
        return 2
    return 0
