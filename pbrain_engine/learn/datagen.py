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
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

from ..arena.match.cluster import answers, connect, is_lost
from ..arena.settings import SettingsError, parse_rule
from ..engine.engine import ALPHABETA, SEARCHES, Engine
from ..engine.improve import GUMBEL, METHODS
from ..eval.weights import load_weights
from ..helpers import LostHelper, helped, in_order
from ..options import Parser, positive, whole
from ..position.geometry import MAX_BOARD, MIN_BOARD
from ..position.rules import Rule
from .branches import BranchPlan, games_of, grow_branch
from .policy_records import PolicyFile
from .records import GameFile, GamesError, Record
from .selfplay import Plan, play_game
from .tree_selfplay import OPENING_VISITS, TaughtGame, TreePlan, play_taught_game

BATCH = 4  # games that a worker plays in one go
REPORT_SECONDS = {True: 1.0, False: 30.0}  # by whether a person watches

AnyPlan = Plan | TreePlan | BranchPlan
AnyGame = Record | TaughtGame
Play = Callable[[Sequence[int]], list[AnyGame]]

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
    add("--nodes", type=positive, default=5000, metavar="N", help="nodes a move, on average (5000)")
    add("--rules", default="freestyle", metavar="R,...", help="rules in turn (freestyle)")
    add("--boards", default="15", metavar="N,...", help="boards in turn (15)")
    add("--seed", type=int, default=1, metavar="N", help="of openings and lengths (1)")
    add("--weights", default="hand", metavar="W", help="weights by name or file (hand)")
    add("--processes", type=positive, metavar="N", help="games at the same time (one a core)")
    add("--cluster", metavar="ADDRESS", help="play on the workers of this Dask scheduler")
    add("--branches", nargs="+", metavar="GAMES", default=[],
        help="search positions a few odd moves beside those of these games instead")  # fmt: skip
    add("--search", choices=SEARCHES, default=ALPHABETA, help="mcts also records policies")
    add("--visits", type=int, default=200, metavar="N", help="mcts: visits a move (200)")
    add("--root", choices=METHODS, default=GUMBEL, help="mcts: how the root teaches (gumbel)")
    return parser


def plan_of(options: argparse.Namespace) -> AnyPlan:
    """Return the plan that the options ask for.

    Raises:
        SettingsError: a rule is unknown, or a number makes no sense.
    """
    rules: list[Rule] = [parse_rule(word) for word in options.rules.split(",")]
    words = [word.strip() for word in options.boards.split(",")]
    boards = [int(word) if word.isdecimal() else 0 for word in words]
    if any(not MIN_BOARD <= board <= MAX_BOARD for board in boards):
        raise SettingsError(f"boards {options.boards}: {MIN_BOARD} to {MAX_BOARD}, with commas")
    if options.games < 0 or options.nodes < 10:
        raise SettingsError("--games takes 0 or more, --nodes 10 or more")
    if options.branches:
        if options.search != ALPHABETA:
            raise SettingsError(f"--branches are searched by {ALPHABETA}")
        return BranchPlan(options.seed, options.nodes, tuple(options.branches), options.weights)
    if options.search == ALPHABETA:
        return Plan(options.seed, options.nodes, tuple(rules), tuple(boards), options.weights)
    if options.visits < 2:
        raise SettingsError("--visits takes 2 or more")
    games = Plan(options.seed, OPENING_VISITS, tuple(rules), tuple(boards), options.weights)
    return TreePlan(games, options.visits, options.root)


def about(plan: AnyPlan) -> dict[str, str]:
    """Return the head of a file: all that its games depend on but their numbers."""
    if isinstance(plan, TreePlan):
        return {**about(plan.games), "visits": str(plan.visits), "root": plan.root}
    if isinstance(plan, BranchPlan):
        played = plan.about()
    else:
        rules = " ".join(rule.name.lower() for rule in plan.rules)
        played = {"rules": rules, "boards": " ".join(map(str, plan.boards))}
    how = {"seed": str(plan.seed), "nodes": str(plan.nodes)}
    return {**how, **played, "weights": load_weights(plan.weights).key}


def play_batch(plan: AnyPlan, told: dict[str, str], numbers: Sequence[int]) -> list[AnyGame]:
    """Play some games on this thread's engine, which stays for the next batch.

    A worker of a cluster lives longer than a run: it may know weights of before, or have others.

    Raises:
        GamesError: what is here under the names in the plan is not what the file's head tells.
    """
    if getattr(_engines, "told", None) != told:
        games_of.cache_clear()
        here = about(plan)
        for key, wanted in told.items():
            if here.get(key) != wanted:
                raise GamesError(f"a worker has {key} {here.get(key)}, not {wanted}")
        _engines.engine = plan.make_engine()
        _engines.told = told
    engine: Engine = _engines.engine
    if isinstance(plan, TreePlan):
        return [play_taught_game(engine, plan, number) for number in numbers]
    if isinstance(plan, BranchPlan):
        return [grow_branch(engine, plan, number) for number in numbers]
    return [play_game(engine, plan, number) for number in numbers]


def played_on_cluster(
    address: str, play: Play, batches: Sequence[Sequence[int]]
) -> Iterator[list[AnyGame]]:
    """Yield the games of each batch, played by the workers of a Dask scheduler.

    Raises:
        SettingsError: Dask is not installed, or the scheduler does not answer.
        LostHelper: the scheduler, or worker after worker, has died.
    """
    with connect(address) as client:
        executor = client.get_executor(pure=False)
        workers = max(1, sum(client.nthreads().values()))
        lost = LostHelper(f"the cluster at {address} has lost its games; the same command goes on")

        def check() -> None:
            if not answers(client):
                raise lost

        try:
            yield from in_order(executor, workers, play, batches, check)
        except Exception as error:
            if not is_lost(error):
                raise
            raise lost from None
        finally:
            executor.shutdown(wait=False)


def produce(
    plan: AnyPlan, numbers: range, processes: int, cluster: str | None = None
) -> Iterator[AnyGame]:
    """Yield the games with these numbers in their order, played at the same time.

    Raises:
        LostHelper: who plays was killed.
    """
    batches = [numbers[i : i + BATCH] for i in range(0, len(numbers), BATCH)]
    play: Play = partial(play_batch, plan, about(plan))
    if cluster is not None:
        played = played_on_cluster(cluster, play, batches)
    elif processes > 1:
        played = helped(min(processes, max(1, len(batches))), play, batches)
    else:
        played = map(play, batches)
    return chain.from_iterable(played)


class Progress:
    """Lines on stderr about how far a file is: one that is overwritten where a person watches."""

    def __init__(self, file: GameFile, wanted: int) -> None:
        """Begin to count from what the file holds."""
        self._file = file
        self._wanted = wanted
        self._games = file.games
        self._positions = file.positions
        self._start = self._shown = time.perf_counter()
        self._live = sys.stderr.isatty()

    def show(self, last: bool = False) -> None:
        """Show how far it is, now and then and at the end."""
        now = time.perf_counter()
        if not last and now - self._shown < REPORT_SECONDS[self._live]:
            return
        self._shown = now
        seconds = max(now - self._start, 1e-9)
        games = self._file.games - self._games
        speed = (self._file.positions - self._positions) / seconds
        text = f"{self._file.games:,} of {self._wanted:,} games, {self._file.positions:,} positions"
        if games:
            left = (self._wanted - self._file.games) / (games / seconds)
            text += f", {speed:,.0f} positions/s, {left:,.0f} s left"
        end = "\r" if self._live and not last else "\n"
        print(text.ljust(78 if self._live else 0), end=end, file=sys.stderr, flush=True)


def generate(
    path: Path, plan: AnyPlan, games: int, processes: int, cluster: str | None = None
) -> GameFile:
    """Make or continue a file until it holds so many games; return it, closed.

    Raises:
        GamesError: the file was made in another way or cannot be written.
    """
    file = GameFile(path, about(plan))
    policies = PolicyFile(path, about(plan), file.games) if isinstance(plan, TreePlan) else None
    progress = Progress(file, games)
    try:
        for game in produce(plan, range(file.games, games), processes, cluster):
            if isinstance(game, TaughtGame):
                assert policies is not None, "only a plan of a tree search teaches"
                policies.append(game.lessons)
                game = game.record
            file.append(game)
            progress.show()
    finally:
        progress.show(last=True)
        if policies is not None:
            policies.close()
        file.close()
    return file


def main(arguments: Sequence[str]) -> int:
    """Play the games; return 0, or 2 where the options make no sense."""
    options = make_parser().parse_args(arguments)
    processes = options.processes or os.cpu_count() or 1
    try:
        generate(options.file, plan_of(options), options.games, processes, options.cluster)
    except SettingsError as error:
        print(f"numoku datagen: {error}", file=sys.stderr)
        return 2
    return 0
