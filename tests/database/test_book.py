"""Opening books: which position comes next, values that go up, workers that die, and playing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pbrain_engine import Engine, Limit, Rule, cli
from pbrain_engine.database import book as build
from pbrain_engine.database import rescue
from pbrain_engine.database.book import BookPlan, Graph, Searched, search_position
from pbrain_engine.database.store import Database
from pbrain_engine.engine.book import Book
from pbrain_engine.game.cells import cell_name, parse_moves
from pbrain_engine.game.game import Game
from pbrain_engine.game.position import image_of
from pbrain_engine.game.result import Author
from pbrain_engine.progress import Progress
from pbrain_engine.workers import ProcessPool
from tests.golden import books
from tests.golden.books import EMPTY, key_of
from tests.played import set_up
from tests.programs import PROGRAM, run_program

pytestmark = pytest.mark.slow

posix = pytest.mark.skipif(sys.platform == "win32", reason="nothing kills like SIGKILL there")
NODES = "300"  # of a search: values do not matter here


def plan_of(positions: int, lines: int, nodes: int) -> BookPlan:
    return BookPlan(positions, lines, nodes, "learned", Author())


def book_of(file: Path, pages: dict[str, dict[str, int]], **searched: int) -> Path:
    """Return the file, with a book of these pages and the nodes of the searches of some."""
    with Database(file, create=True) as database, database.transaction():
        graph = Graph(key_of(""))
        for moves, values in pages.items():
            books.store(database, graph, moves, values, searched.get(moves))
    return file


def rows_of(file: Path, columns: str) -> list[tuple[Any, ...]]:
    """Return columns of the pages of a book, in the order of their keys."""
    with Database(file) as database:
        return database.connection.rows(
            f"SELECT {columns} FROM book JOIN position ON position.id = book.position ORDER BY key"
        )


def test_what_books_hold_play_and_say_is_as_recorded():
    books.books.check()


def grow(file: Path, positions: int, *words: str) -> int:
    asked = ["build", str(file), "--positions", str(positions), "--nodes", NODES]
    return cli.main(["book", *asked, *words])


def pages(file: Path) -> int:
    with Database(file) as database:
        assert list(rescue.find_faults(database)) == []
        return database.count("book")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("book") / "a.db"
    assert grow(file, 12, "--processes", "1") == 0  # of two, the faster decides what comes next
    return file


def test_a_book_has_its_positions_and_goes_on(tmp_path):
    file, other = tmp_path / "a.db", tmp_path / "b.db"
    for positions in (3, 6):
        assert grow(file, positions, "--processes", "1") == 0
        assert pages(file) == positions
    assert grow(other, 6, "--processes", "1") == 0  # at once, and the same
    columns = "key, book.value, book.moves"
    assert rows_of(file, columns) == rows_of(other, columns)
    assert grow(file, 8, "--processes", "2") == 0
    assert pages(file) == 8
    with Database(file) as database, database.transaction():
        graph = build.load_graph(database, key_of(""), 40)
    stored = rows_of(file, "key, book.value, rank IS NOT NULL")
    assert stored == [(key, page.value, 1) for key, page in sorted(graph.pages.items())]


def test_the_engine_leaves_a_book_where_it_does_not_apply(made):
    with Engine(memory=100_000_000, book=str(made)) as engine:
        first = engine.think(Limit(nodes=100))
        assert first.depth == 0  # no search
        assert engine.think(Limit(nodes=2000), multipv=2).depth > 0  # lines are asked for
        other = engine.think(Limit(nodes=100), exclude=[first.move])
        assert other.depth > 0 and other.move != first.move
        engine.play(0, 0)
        assert engine.think(Limit(nodes=2000)).depth > 0  # out of the book
        engine.new_game(15, rule=Rule.RENJU)
        assert engine.think(Limit(nodes=2000)).depth > 0  # another rule


def test_a_book_of_renju_offers_no_foul(tmp_path):
    start, moves = EMPTY._replace(rule=Rule.RENJU), "f10a1f11a3g9a5h9a7"
    with Database(tmp_path / "a.db", create=True) as database, database.transaction():
        graph = Graph(image_of(start).key)
        books.store(database, graph, moves, {"f9": 50, "i6": 10}, start=start)
    game = Game(rule=Rule.RENJU)
    for cell in parse_moves(moves):
        game.play(*cell)
    assert Book(str(tmp_path / "a.db")).moves(game) == [((8, 5), 10)]  # f9 makes two threes
    with Engine(memory=80_000_000, book=str(tmp_path / "a.db")) as engine:
        engine.new_game(15, rule=Rule.RENJU)
        assert [len(engine.balanced(stones)) for stones in (7, 8, 9)] == [0, 1, 0]


@pytest.mark.timed
def test_a_book_is_left_where_a_search_of_ones_own_sees_more(tmp_path):
    pages = {"h8i10": {"k9": 10}, "h8i10k9": {"b1": -10, "b2": -20}}
    pages |= {"h8i10k9b1": {"c1": 10}, "h8i10k9b2": {"c1": 20}}
    nodes = {"h8i10": 10**9, "h8i10k9": 5000, "h8i10k9b1": 3000, "h8i10k9b2": 2000}
    file = book_of(tmp_path / "a.db", pages, **nodes)
    with Engine(memory=80_000_000, book=str(file)) as engine:
        set_up(engine, "h8i10")
        assert engine.think(Limit(nodes=10_000)).depth == 0  # 5,000 and what comes after it
        assert engine.think(Limit(nodes=10_001)).depth > 0
        assert engine.think(Limit(time=0.005)).depth == 0  # with a million nodes a second
        assert engine.think(Limit(time=0.2)).depth > 0
        assert engine.think(Limit(depth=4)).depth == 0  # unknown


def store(file: Path, **after: dict[str, int]) -> None:
    """Store a book of the empty board and one move, as a user does who knows no other one."""
    book_of(file, {"": {"h8": 100, "a1": 20}, **after})


def values_of(file: Path) -> dict[str, int]:
    with Database(file) as database:
        entry = database.look_up(image_of(EMPTY))
    return {cell_name(*move): value for move, value in entry.book}


def test_a_book_that_two_have_grown_is_worth_what_both_found(tmp_path, monkeypatch):
    file = tmp_path / "a.db"
    store(file, a1={"b2": 10})
    store(file, h8={"i9": 50})
    assert values_of(file) == {"h8": -50, "a1": 20}
    assert grow(file, 3, "--processes", "1") == 0
    assert values_of(file) == {"h8": -50, "a1": -10}
    monkeypatch.setattr(Progress, "show", lambda *_: store(file, h8={"i9": 50}))
    assert grow(file, 4, "--processes", "1") == 0  # while the other one stores what it had
    assert values_of(file)["a1"] != 20


class Alone(books.Here):
    """A worker in this thread, which does something else before each search."""

    def __init__(self, before: Callable[[], object]) -> None:
        super().__init__(partial(search_position, plan_of(1, 3, int(NODES))), 1)
        self.searched: list[bytes] = []
        self._before = before

    def wait(self) -> Searched:
        self._before()
        self.searched.append(self.jobs[0])
        return super().wait()


def test_two_who_grow_a_book_at_once_search_nothing_twice(tmp_path):
    file = tmp_path / "a.db"

    def build_to(positions: int, workers: Alone) -> None:
        plan = plan_of(positions, 3, int(NODES))
        with Database(file, create=True) as database:
            build.grow(database, Graph(key_of("")), plan, workers, str)

    def grow_beside() -> None:
        if len(first.searched) > 2:  # else nothing but the other's is left
            build_to(len(first.searched) + len(second.searched) + 1, second)

    second = Alone(lambda: None)
    first = Alone(grow_beside)
    build_to(9, first)
    every = first.searched + second.searched
    assert len(second.searched) >= 3 and len(set(every)) == len(every) == pages(file)
    with Database(file) as database:
        assert database.connection.rows("SELECT name FROM meta") == [("format",)]


@posix
def test_a_killed_process_loses_and_doubles_nothing(tmp_path):
    file = tmp_path / "a.db"
    plan = plan_of(14, 4, 2000)
    own = ProcessPool(partial(search_position, plan), 2)
    killed: list[int] = []

    def kill(graph: Graph) -> None:
        if len(graph.pages) in (3, 6):
            pid = next(iter(own.executor._processes))
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    with Database(file, create=True) as database:
        build.grow(database, Graph(key_of("")), plan, own, kill)
    own.close()
    assert len(killed) == 2
    assert pages(file) == 14


def speak(option: str) -> subprocess.CompletedProcess[str]:
    asked = "START 15\nINFO timeout_turn 500\nBEGIN\nEND\n"
    return run_program(*PROGRAM, option, input=asked, timeout=60)


def test_the_protocol_plays_from_a_book(made, tmp_path):
    trusted = tmp_path / "a.db"
    trusted.write_bytes(made.read_bytes())
    with Database(trusted) as copy, copy.transaction():  # as if it had been searched for long
        copy.connection.run("UPDATE position SET nodes = 1000000000")
    with Engine(memory=80_000_000, book=str(made)) as engine:
        move = engine.think(Limit(nodes=100)).move
    done = speak(f"--book={trusted}")
    assert f"{move.x},{move.y}" in done.stdout.splitlines()
    assert "depth" not in done.stdout  # it did not search
    done = speak(f"book={tmp_path / 'no.db'}")
    assert done.returncode == 2 and "there is no book" in done.stderr
