"""``numoku datagen``: self-play games, or positions of games searched again.

Small batches are computed by local processes or by the workers of a Dask cluster and written in
order: the file is the same however the work was divided, and the same command continues an
interrupted file.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Sequence
from contextlib import closing
from functools import partial
from itertools import chain, islice
from typing import Any

from ..engine.engine import Engine
from ..errors import FileError, SettingsError, counted
from ..files import check_target, user_path
from ..notation.games import GameFile, NodePlan
from ..options import (
    SHARED,
    CommandLine,
    Option,
    board_size,
    list_of,
    number,
    positive,
    share,
    whole,
)
from ..position.rules import Rule
from ..progress import Progress
from ..workers import ClusterPool, ProcessPool, ThreadCache, in_order
from .selfplay import KINDS, MIX, Plan, SelfPlayed, format_shares, make_engine, parse_shares
from .yardstick import Sources, Survey, count_done, sample

MOST_BRANCHES = 0.9
BATCH = 4  # games, or positions, per task of a worker

_engines = ThreadCache()


COMMAND = CommandLine(
    "numoku datagen",
    "Let the engine play against itself and record every move, its value and the result, for "
    "`numoku train`; or search positions of games again. The same command continues an "
    "interrupted file; with more --games it extends one.",
    (
        Option("file", user_path, about="where the games are written"),
        Option("--games", whole, 1000, "N", "games in the file"),
        Option("--nodes", NodePlan.parse, "1200", "N",
               "nodes a move, on average; 12000@20,4800@40,1200: 12000 before the 20th stone, "
               "4800 before the 40th, then 1200"),
        Option("--rules", list_of(Rule.parse), "freestyle", "R,...", "rules in turn"),
        Option("--boards", list_of(board_size), "15", "N,...", "square boards in turn"),
        SHARED["seed"]._replace(about="of openings and lengths, or of the sample"),
        "weights",
        "processes",
        "cluster",
        Option("--branch-share", number, 0.0, "S",
               "share of positions off the games, as search trees have them (0)"),
        Option("--openings", parse_shares, format_shares(MIX), "K=S,...",
               f"shares of the kinds of openings: {', '.join(KINDS)}"),
        Option("--full-share", share, 0.0, "S",
               "share of games that quiet moves do not end early (0)"),
        "positions of game files, searched again:",
        Option("--positions", user_path, None, "GAMES", "the files", {"nargs": "+"}),
        Option("--count", positive, None, "N",
               "a sample of N, balanced over rules, boards and stages (all of them)"),
        Option("--open", None, False, None, "leave out positions decided or with an only move"),
        Option("--multipv", positive, None, "N", "values of the N best moves (1)"),
    ),
)  # fmt: skip


def plan_of(options: argparse.Namespace) -> Plan:
    """Return the plan for the options; SettingsError if an option is invalid."""
    boards = tuple(width for width, _ in options.boards)
    if any(width != height for width, height in options.boards):
        raise SettingsError("--boards takes square ones, such as 15,20")
    if options.count or options.open or options.multipv:
        raise SettingsError("--count, --open and --multipv go with --positions")
    if not 0 <= options.branch_share <= MOST_BRANCHES:
        raise SettingsError(f"--branch-share takes 0 to {MOST_BRANCHES}")
    return Plan(
        options.seed, options.nodes, options.rules, boards, options.weights,
        options.branch_share, options.openings, options.full_share,
    )  # fmt: skip


def survey_of(options: argparse.Namespace, sources: Sources) -> Survey:
    """Return the survey for the options; SettingsError if an option applies only to games."""
    usual = COMMAND.parse([str(options.file)])
    for name in ("games", "rules", "boards", "branch_share", "openings", "full_share"):
        if getattr(options, name) != getattr(usual, name):
            raise SettingsError(f"--positions goes without --{name.replace('_', '-')}")
    about = ", ".join(sources.about)
    return Survey(
        about, options.nodes, options.weights, options.multipv or 1, options.open, options.count,
        options.seed,
    )  # fmt: skip


def play_batch(
    plan: Plan | Survey, head: dict[str, str], batch: Sequence[Any]
) -> list[SelfPlayed | None]:
    """Do a batch of a plan's work on this thread's engine, which is kept for the next batch.

    FileError if weights or other inputs of this machine differ from the file's head.
    """

    def engine() -> Engine:
        here = plan.about()
        for key, wanted in head.items():
            if here.get(key) != wanted:
                raise FileError(f"a worker has {key} {here.get(key)}, not {wanted}")
        return make_engine(plan.budget, plan.weights)

    return [plan.play(_engines.get(head, engine), task) for task in batch]


def fill(
    file: GameFile, plan: Plan | Survey, tasks: Iterable[Any], progress: Progress,
    processes: int, cluster: str | None,
) -> None:  # fmt: skip
    """Do the tasks and append the results in order; ClusterError if a worker was killed."""
    play, waiting = partial(play_batch, plan, plan.about()), iter(tasks)
    batches = iter(lambda: list(islice(waiting, BATCH)), [])
    if cluster is not None:
        played = in_order(partial(ClusterPool, address=cluster), play, batches)
    elif processes > 1 and progress.total - progress.done > BATCH:
        played = in_order(partial(ProcessPool, processes=processes), play, batches)
    else:
        played = map(play, batches)
    before = file.positions

    def show(last: bool = False) -> None:
        speed = (file.positions - before) / progress.seconds
        progress.show(f"{counted(file.positions, 'position')}, {speed:,.0f} positions/s", last)

    try:
        for found in chain.from_iterable(played):
            if found is not None:
                file.append(*found)
            progress.done += 1
            show()
    finally:
        show(last=True)


def main(arguments: Sequence[str]) -> int:
    """Create or continue a file of games, or of positions searched again; return 0.

    FileError if it was made with other settings or cannot be written.
    """
    options = COMMAND.parse(arguments)
    path, cluster, processes = options.file, options.cluster, options.processes or os.cpu_count()
    if options.positions:
        check_target(path, options.positions)
        sources = Sources(options.positions)
        survey = survey_of(options, sources)
        with closing(GameFile(path, survey.about(), single=True)) as file:
            places = list(sources.places()) if survey.size is None else sample(survey, sources)
            done = count_done(sources, places, file.last)
            progress = Progress(len(places), "positions", done)
            positions = ((sources[place.record], place.stones) for place in places[done:])
            fill(file, survey, positions, progress, processes or 1, cluster)
    else:
        plan = plan_of(options)
        with closing(GameFile(path, plan.about())) as file:
            progress = Progress(options.games, "games", file.games)
            numbers = range(file.games, options.games)
            fill(file, plan, numbers, progress, processes or 1, cluster)
    return 0
