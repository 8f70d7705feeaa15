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

from ..arena.settings import SettingsError
from ..engine.engine import Engine
from ..notation.games import GameFile, GamesError
from ..options import SHARED, CommandLine, Option, board_size, list_of, number, rule, whole
from ..progress import Progress
from ..workers import ClusterError, ClusterPool, ProcessPool, in_order
from .selfplay import Plan, SelfPlayed

MOST_BRANCHES = 0.9
BATCH = 4  # games that a worker plays in one go

Play = Callable[[Sequence[int]], list[SelfPlayed]]

_engines = threading.local()

COMMAND = CommandLine(
    "numoku datagen",
    "Let the engine play against itself and record every move, its value and the result, for "
    "`numoku train`. The same command continues an interrupted file; with more --games it extends "
    "one.",
    (
        Option("file", Path, about="where the games are written"),
        Option("--games", whole, 1000, "N", "games in the file"),
        SHARED["nodes"]._replace(default=1200, about="nodes a move, on average"),
        Option("--rules", list_of(rule), "freestyle", "R,...", "rules in turn"),
        Option("--boards", list_of(board_size), "15", "N,...", "square boards in turn"),
        SHARED["seed"]._replace(about="of openings and lengths"),
        "weights",
        "processes",
        "cluster",
        Option("--branch-share", number, 0.0, "S",
               "share of positions that are not of the games, as search trees have them (0)"),
    ),
)  # fmt: skip


def plan_of(options: argparse.Namespace) -> Plan:
    """Return the plan that the options ask for.

    Raises:
        SettingsError: a number makes no sense.
    """
    boards = tuple(width for width, _ in options.boards)
    if any(width != height for width, height in options.boards):
        raise SettingsError("--boards takes square ones, such as 15,20")
    if options.nodes < 10:
        raise SettingsError("--nodes takes 10 or more")
    if not 0 <= options.branch_share <= MOST_BRANCHES:
        raise SettingsError(f"--branch-share takes 0 to {MOST_BRANCHES}")
    return Plan(
        options.seed, options.nodes, options.rules, boards, options.weights,
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
    options = COMMAND.parse(arguments)
    processes = options.processes or os.cpu_count() or 1
    try:
        generate(options.file, plan_of(options), options.games, processes, options.cluster)
    except (SettingsError, ClusterError) as error:
        print(f"numoku datagen: {error}", file=sys.stderr)
        return 2
    return 0
