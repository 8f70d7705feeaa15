"""``numoku book``: an opening book that a search makes, in a database of positions."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from .. import __version__
from ..database.book import build
from ..database.book.graph import DROP, Graph
from ..database.book.workers import ClusterWorkers, LocalWorkers, Workers
from ..database.connection import DatabaseError
from ..database.document import position_document
from ..database.finding import Author
from ..database.store import Database
from ..engine.engine import DEFAULT_WEIGHTS
from ..eval.weights import load_weights
from ..files import write_whole
from ..notation.canonical import Symmetries, image_of, line_of, read_key
from ..notation.cells import NotationError, format_moves, format_offsets
from ..options import Parser, positive, span, whole
from ..position.geometry import Coordinates
from ..values import format_value
from . import setup
from .db import complain, position_lines
from .kept import asked_of

POSITIONS, LINES, NODES = 1000, 4, 1_000_000
BALANCE = 60


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command's options."""
    parser = Parser(
        prog="numoku book",
        description="Grow and show an opening book. The engine plays from it with the option "
        "book=FILE: `numoku match numoku:book=FILE ...`, `pbrain-numoku --book FILE`.",
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    def action(name: str, summary: str) -> argparse.ArgumentParser:
        made = actions.add_parser(name, help=summary, description=f"{summary.capitalize()}.")
        made.add_argument("file", metavar="FILE", help="a database, or its URL")
        return made

    grow = action("build", "search positions, the most promising first; goes on where it stopped")
    _add_position(grow)
    add = grow.add_argument
    add(
        "--positions",
        type=positive,
        default=POSITIONS,
        metavar="N",
        help=f"below the root, in the end ({POSITIONS})",
    )
    add("--lines", type=positive, default=LINES, metavar="N", help=f"moves of a position ({LINES})")
    add("--nodes", type=positive, default=NODES, metavar="N", help=f"of a search ({NODES})")
    add("--drop", type=positive, default=DROP, metavar="V",
        help=f"a move worse by so much is looked at a ply later ({DROP})")  # fmt: skip
    add("--weights", default=DEFAULT_WEIGHTS, metavar="W", help=f"name or file ({DEFAULT_WEIGHTS})")
    add("--processes", type=positive, metavar="N", help="searches at the same time (one a core)")
    add("--cluster", metavar="ADDRESS", help="search on the workers of this Dask scheduler")
    show = action("show", "what a book says of a position")
    _add_position(show)
    show.add_argument("--json", action="store_true", help="one JSON document on stdout")
    out = action("openings", "write positions of equal chances, as numoku match reads them")
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
    try:
        with Database(options.file, create=options.action == "build") as database:
            return ACTIONS[options.action](database, options)
    except (DatabaseError, NotationError) as error:
        return complain(str(error), name="book")


def grow_book(database: Database, options: argparse.Namespace) -> int:
    """Grow a book until it has its positions."""
    asked = asked_of(setup.read_setup(options.position, options.rule, options.size))
    root = image_of(asked.position).key
    weights = load_weights(options.weights).key
    author = Author(f"Numoku {__version__}", weights)
    plan = build.Plan(options.positions, options.lines, options.nodes, options.weights, author)
    with database.writing():
        graph = build.load_graph(database, root, options.drop)
    workers: Workers
    if options.cluster:
        workers = ClusterWorkers(options.cluster)
    else:
        workers = LocalWorkers(options.processes or os.cpu_count() or 1)
    progress = Progress(options.positions, len(graph.below))
    try:
        build.grow(database, graph, plan, workers, progress.show)
    except KeyboardInterrupt:
        print("\nthe same command goes on with it", file=sys.stderr)
        raise
    finally:
        workers.close()
    with database.writing():  # another one may have grown it at the same time
        build.settle(database, [root])
    if len(graph.below) < options.positions:
        print("everything that the book looks at is decided", file=sys.stderr)
    print(f"{database.connection.name}: a book of {len(graph.below):,} positions")
    if graph.root in graph.pages:
        print(f"best play: {best_line(graph)}")
    return 0


class Progress:
    """How far it is, on stderr."""

    def __init__(self, wanted: int, there: int) -> None:
        """Begin to count from what is there."""
        self._wanted = wanted
        self._there = there
        self._start = self._shown = time.perf_counter()

    def show(self, graph: Graph) -> None:
        """Show it, now and then."""
        now = time.perf_counter()
        live = sys.stderr.isatty()
        if now - self._shown < (1.0 if live else 30.0):
            return
        self._shown = now
        pages = len(graph.below)
        left = (self._wanted - pages) * (now - self._start) / max(pages - self._there, 1)
        root = graph.pages.get(graph.root)
        value = "" if root is None else f", value {format_value(root.value)}"
        text = f"{pages:,} of {self._wanted:,} positions{value}, {left:,.0f} s left"
        print(
            text.ljust(78 if live else 0), end="\r" if live else "\n", file=sys.stderr, flush=True
        )


def best_line(graph: Graph) -> str:
    """Return the line in which both sides play the best moves of the book, turned as the root."""
    line = line_of(read_key(graph.root))
    board = Symmetries.of(line.width, line.height)
    moves: list[Coordinates] = []
    while True:
        key, number = line.image()
        page = graph.pages.get(key)
        if page is None or not page.edges:
            return format_moves(moves, " ")
        (move,) = board.back([max(page.edges, key=graph.worth).move], number)
        line.play(*move)
        moves.append(move)


def show_book(database: Database, options: argparse.Namespace) -> int:
    """Show a position of a book."""
    asked = asked_of(setup.read_setup(options.position, options.rule, options.size))
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
    least, most = options.stones
    if options.out.exists():
        return complain(f"{options.out} exists", 2, "book")
    lines = []
    for key, value in database.connection.stream(
        "SELECT key, book.value FROM book JOIN position ON position.id = book.position "
        "ORDER BY position.id"
    ):
        position = read_key(bytes(key))
        fits = least <= position.stones <= most
        wanted = options.rule in (None, position.rule)
        size = options.size in (None, (position.width, position.height))
        cells = position.in_turn
        if fits and wanted and size and cells and abs(value) <= options.balance:
            lines.append(format_offsets(cells, position.width, position.height))
    if not lines:
        return complain("the book has no such position", name="book")
    write_whole(options.out, "".join(f"{line}\n" for line in lines))
    print(f"{options.out}: {len(lines)} openings")
    return 0


ACTIONS: dict[str, Callable[[Database, argparse.Namespace], int]] = {
    "build": grow_book,
    "show": show_book,
    "openings": write_openings,
}
