"""``numoku book``: an opening book that a search makes, in a database of positions."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from .. import __version__
from ..app import setup
from ..database import book as growth
from ..database.book import DROP, BookJob, Graph, Result, search_position
from ..database.finding import Author, position_document
from ..database.lines import Filter
from ..database.store import Database
from ..eval.weights import load_weights
from ..files import write_whole
from ..game.cells import format_moves, format_offsets
from ..game.position import image_of, read_key
from ..options import Parser, positive, span, whole
from ..position.geometry import Coordinates
from ..progress import Progress
from ..values import format_value
from ..workers import ClusterPool, Pool, ProcessPool
from .db import actions_of, complain, position_lines

POSITIONS, LINES, NODES = 1000, 4, 1_000_000
BALANCE = 60


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command's options."""
    parser = Parser(
        prog="numoku book",
        description="Grow and show an opening book. The engine plays from it with the option "
        "book=FILE: `numoku match numoku:book=FILE ...`, `pbrain-numoku --book FILE`.",
    )
    action = actions_of(parser, "a database, or its URL")
    grow = action(
        "build", grow_book, "search positions, the most promising first; goes on where it stopped"
    )
    _add_position(grow)
    add = grow.add_argument
    below = f"below the root, in the end ({POSITIONS})"
    add("--positions", type=positive, default=POSITIONS, metavar="N", help=below)
    add("--lines", type=positive, default=LINES, metavar="N", help=f"moves of a position ({LINES})")
    add("--nodes", type=positive, default=NODES, metavar="N", help=f"of a search ({NODES})")
    drop = f"a move worse by so much is looked at a ply later ({DROP})"
    add("--drop", type=positive, default=DROP, metavar="V", help=drop)
    add("--processes", type=positive, metavar="N", help="searches at the same time (one a core)")
    add("--cluster", metavar="ADDRESS", help="search on the workers of this Dask scheduler")
    setup.add_options(grow, "weights")
    show = action("show", _show_book, "what a book says of a position")
    _add_position(show)
    setup.add_options(show, "json")
    out = action(
        "openings", write_openings, "write positions of equal chances, as numoku match reads them"
    )
    setup.add_position_options(out)
    out.add_argument("out", metavar="OUT", type=Path, help="a file that does not exist yet")
    out.add_argument("--stones", type=span, default="3-7", metavar="N-M", help="(3-7)")
    out.add_argument("--balance", type=whole, default=BALANCE, metavar="V",
                     help=f"the greatest value for either side ({BALANCE})")  # fmt: skip
    return parser


def _add_position(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "position", metavar="POSITION", nargs="?", default="", help="the root (the empty board)"
    )
    setup.add_position_options(parser)


def main(arguments: Sequence[str]) -> int:
    """Do one thing with a book; return 0, 1 if that failed, or 2 if it makes no sense."""
    options = make_parser().parse_args(arguments)
    with Database(options.file, create=options.action == "build") as database:
        return int(options.run(database, options))


def grow_book(database: Database, options: argparse.Namespace) -> int:
    """Grow a book until it has its positions."""
    asked = setup.chosen_setup(options, options.position)
    root = image_of(asked.position).key
    weights = load_weights(options.weights).key
    author = Author(f"Numoku {__version__}", weights)
    plan = growth.BookPlan(options.positions, options.lines, options.nodes, options.weights, author)
    with database.transaction():
        graph = growth.load_graph(database, root, options.drop)
    workers: Pool[BookJob, Result]
    if options.cluster:
        workers = ClusterPool(search_position, options.cluster)
    else:
        workers = ProcessPool(search_position, options.processes or os.cpu_count() or 1)
    progress = Progress(options.positions, "positions", len(graph.below))

    def show(graph: Graph) -> None:
        progress.done = len(graph.below)
        root = graph.pages.get(graph.root)
        progress.show("" if root is None else f"value {format_value(root.value)}")

    try:
        growth.grow(database, graph, plan, workers, show)
    except KeyboardInterrupt:
        print("\nthe same command goes on with it", file=sys.stderr)
        raise
    finally:
        workers.close()
    with database.transaction():  # another one may have grown it at the same time
        growth.settle(database, [root])
    if len(graph.below) < options.positions:
        print("everything that the book looks at is decided", file=sys.stderr)
    print(f"{database.name}: a book of {len(graph.below):,} positions")
    if graph.root in graph.pages:
        print(f"best play: {best_line(graph)}")
    return 0


def best_line(graph: Graph) -> str:
    """Return the line in which both sides play the best moves of the book, turned as the root."""
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
        return complain(f"{options.out} exists", 2, "book")
    lines = []
    for key, value, _ in database.pages():
        position = read_key(key)
        cells = position.in_turn if wanted.takes(position) else None
        if cells and abs(value) <= options.balance:
            lines.append(format_offsets(cells, position.width, position.height))
    if not lines:
        return complain("the book has no such position", name="book")
    write_whole(options.out, "".join(f"{line}\n" for line in lines))
    print(f"{options.out}: {len(lines)} openings")
    return 0
