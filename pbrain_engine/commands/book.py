"""``numoku book``: opening books made by searches, in a database of positions."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from functools import partial

from ..app import setup
from ..database import book as growth
from ..database.book import DROP, Graph, Searched, search_position
from ..database.lines import Filter
from ..database.rescue import damage_told
from ..database.store import Database
from ..errors import FileError, SettingsError, counted, say
from ..eval.weights import load_weights
from ..files import user_path, write_whole
from ..game.cells import format_moves, format_offsets
from ..game.documents import author_of, position_document
from ..game.position import image_of, read_key
from ..options import POSITION, SHARED, Action, CommandLine, Option, positive
from ..position.geometry import Coordinates
from ..progress import Progress
from ..values import format_value
from ..workers import ClusterPool, Pool, ProcessPool
from .db import position_lines

POSITIONS, LINES, NODES = 1000, 4, 1_000_000
FILE = Option("file", metavar="FILE", about="a database, or its URL")
ROOT = SHARED["position"]._replace(
    default="", about="the root (the empty board)", more={"nargs": "?"}
)


def grow_book(database: Database, options: argparse.Namespace) -> int:
    """Grow a book until it has ``--positions``, or everything in it is decided."""
    asked = setup.chosen_setup(options, options.position)
    root = image_of(asked.position).key
    weights = load_weights(options.weights).key
    author = author_of(weights)
    plan = growth.BookPlan(options.positions, options.lines, options.nodes, options.weights, author)
    with database.transaction():
        graph = growth.load_graph(database, root, options.drop)
    workers: Pool[bytes, Searched]
    search = partial(search_position, plan)
    if options.cluster:
        workers = ClusterPool(search, options.cluster)
    else:
        workers = ProcessPool(search, options.processes or os.cpu_count() or 1)
    progress = Progress(options.positions, "positions", len(graph.below))

    def show(graph: Graph) -> None:
        progress.done = len(graph.below)
        root = graph.pages.get(graph.root)
        progress.show("" if root is None else f"value {format_value(root.value)}")

    try:
        growth.grow(database, graph, plan, workers, show)
    except KeyboardInterrupt:
        print("\nthe same command continues", file=sys.stderr)
        raise
    finally:
        workers.close()
    with database.transaction():  # another builder may have grown the book at the same time
        growth.settle(database, [root])
    if len(graph.below) < options.positions:
        print("everything in the book is decided", file=sys.stderr)
    say(f"{database.name}: a book of {counted(len(graph.below), 'position')}")
    if graph.root in graph.pages:
        print(f"best play: {best_line(graph)}")
    return 0


def best_line(graph: Graph) -> str:
    """Return the line of best moves in the book, in the orientation of the root's key."""
    position = read_key(graph.root)
    moves: list[Coordinates] = []
    while True:
        image = image_of(position)
        page = graph.pages.get(image.key)
        if page is None or not page.edges:
            return format_moves(moves, " ")
        moves += image.back([max(page.edges, key=graph.worth).move])
        position = position.after(moves[-1])


def _show_book(database: Database, options: argparse.Namespace) -> int:
    asked = setup.chosen_setup(options, options.position)
    entry = database.look_up(image_of(asked.position))
    moves = entry.book if entry is not None else ()
    if options.json:
        out = {
            "known": bool(moves),
            **position_document(asked),
            "best": list(moves[0][0]) if moves else None,
            "value": moves[0][1] if moves else None,
            "moves": [{"move": list(move), "value": value} for move, value in moves],
        }
        print(json.dumps(out))
        return 0
    print("\n".join(position_lines(asked)))
    if not moves:
        print("the book does not have this position")
    for move, value in moves:
        print(f"  {format_moves([move]):4} {format_value(value)}")
    return 0


def write_openings(database: Database, options: argparse.Namespace) -> int:
    """Write balanced positions of a book as openings."""
    wanted = Filter(options.rule, options.size, options.stones)
    if options.out.exists():
        raise SettingsError(f"{options.out} exists")
    lines = []
    for key, value, _ in database.pages():
        position = read_key(key)
        cells = position.in_turn if wanted.takes(position) else None
        if cells and abs(value) <= options.balance:
            lines.append(format_offsets(cells, position.width, position.height))
    if not lines:
        raise FileError("the book has no such position")
    write_whole(options.out, "".join(f"{line}\n" for line in lines))
    say(f"{options.out}: {counted(len(lines), 'opening')}")
    return 0


COMMAND = CommandLine(
    "numoku book",
    "Grow and show an opening book. The engine plays from it with the option book=FILE: "
    "`numoku match numoku:book=FILE ...`, `pbrain-numoku --book FILE`.",
    actions={
        "build": Action(
            grow_book,
            "search positions, most promising first; continues where it stopped",
            (
                FILE, ROOT, *POSITION,
                Option("--positions", positive, POSITIONS, "N", "positions to reach in total"),
                Option("--lines", positive, LINES, "N", "moves to compare per position"),
                SHARED["nodes"]._replace(default=NODES, about="nodes per search"),
                Option("--drop", positive, DROP, "V",
                       "search a move worse by V one ply later"),
                SHARED["processes"]._replace(about="searches at the same time (one per core)"),
                "cluster", "weights",
            ),
        ),
        "show": Action(_show_book, "show a position of a book",
                       (FILE, ROOT, *POSITION, "json")),
        "openings": Action(
            write_openings,
            "write balanced positions as openings for numoku match",
            (
                FILE, *POSITION,
                Option("out", user_path, None, "OUT", "a file that does not exist yet"),
                "stones", "balance",
            ),
        ),
    },
)  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    """Run an action on a book; return its exit status."""
    options = COMMAND.parse(arguments)
    with Database(options.file, create=options.action == "build") as database:
        with damage_told(database):
            return int(options.run(database, options))
