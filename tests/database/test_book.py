"""Opening books: which position comes next, values that go up, workers that die, and playing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

from pbrain_engine.arena.openings import main as openings_command
from pbrain_engine.arena.openings import read_lines, read_opening
from pbrain_engine.arena.settings import parse_engine
from pbrain_engine.commands import book as command
from pbrain_engine.database import book as build
from pbrain_engine.database import exports, integrity
from pbrain_engine.database.book import BookJob, Graph, Result, doubles, search_position
from pbrain_engine.database.finding import Author
from pbrain_engine.database.sources import Wish, add_items, merge, read_source
from pbrain_engine.database.store import Added, Database
from pbrain_engine.engine.book import Book, BookError
from pbrain_engine.engine.engine import Engine, Limit
from pbrain_engine.engine.swap2 import OpeningSearch, first_three
from pbrain_engine.game.game import Game
from pbrain_engine.notation.canonical import Position, image_of
from pbrain_engine.notation.cells import cell_name, parse_moves
from pbrain_engine.position.geometry import transform
from pbrain_engine.position.rules import Rule, Side
from pbrain_engine.protocol.serve import engine_arguments
from pbrain_engine.workers import ProcessPool

posix = pytest.mark.skipif(sys.platform == "win32", reason="nothing kills like SIGKILL there")
NODES = "300"  # of a search: values do not matter here
WON = 30000 - 7

EMPTY = Position(Rule.FREESTYLE, 15, 15, Side.BLACK, (), ())


def key_of(moves: str) -> bytes:
    return image_of(reduce(Position.after, parse_moves(moves), EMPTY)).key


def job(moves: str, lines: int, nodes: int) -> BookJob:
    return BookJob(key_of(moves), build.BookPlan(1, lines, nodes, "learned", Author()))


def put(graph: Graph, moves: str, **values: int) -> None:
    """Add a page, its moves by name as they are after these moves."""
    image = image_of(reduce(Position.after, parse_moves(moves), EMPTY))
    cells = image.turn([parse_moves(name)[0] for name in values])
    graph.put(image.key, zip(cells, values.values(), strict=True))


def book_of(file: Path, pages: dict[str, dict[str, int]], **searched: int) -> Path:
    """Return the file, with a book of these pages and the nodes of the searches of some."""
    with Database(file, create=True) as database:
        graph = Graph(key_of(""))
        for moves, values in pages.items():
            put(graph, moves, **values)
        with database.transaction():
            build.save_pages(database, graph, graph.pages.values())
            for moves, count in searched.items():
                row = {"key": key_of(moves), "nodes": count}
                database.connection.run("UPDATE position SET nodes = :nodes WHERE key = :key", row)
    return file


def rows_of(file: Path, columns: str) -> list[tuple[Any, ...]]:
    """Return columns of the pages of a book, in the order of their keys."""
    with Database(file) as database:
        return database.connection.rows(
            f"SELECT {columns} FROM book JOIN position ON position.id = book.position ORDER BY key"
        )


# The graph ---------------------------------------------------------------------------


def test_values_go_up_to_the_root() -> None:
    graph = Graph(key_of(""))
    put(graph, "", h8=100, a1=20)
    assert graph.pages[graph.root].value == 100
    put(graph, "h8", i9=50, h9=30)  # for white: black's move was worth less than it seemed
    assert graph.pages[graph.root].value == 20 and graph.pages[key_of("h8")].value == 50
    put(graph, "h8i9", j10=60)
    assert graph.pages[key_of("h8")].value == 30  # h9 is better than i9 after all
    assert graph.pages[graph.root].value == 20
    put(graph, "a1", b2=-90)
    assert graph.pages[graph.root].value == 90
    assert [value for _, value in graph.moves(graph.pages[graph.root])] == [90, -30]


def test_a_forced_win_is_farther_off_each_ply_up() -> None:
    graph = Graph(key_of(""))
    put(graph, "", h8=0)
    put(graph, "h8", i9=0)
    put(graph, "h8i9", j10=WON)
    assert graph.pages[key_of("h8")].value == -(WON - 1)
    assert graph.pages[graph.root].value == WON - 2


def test_the_leaf_that_costs_the_least_comes_next() -> None:
    graph = Graph(key_of(""), drop=40)
    assert graph.next_leaf() == graph.root
    assert graph.next_leaf({graph.root}) is None
    put(graph, "", h8=0, a1=-40, b2=-200)
    assert graph.next_leaf() == key_of("h8")  # 1 step; a1 2, b2 6
    assert graph.next_leaf({key_of("h8")}) == key_of("a1")
    put(graph, "h8", i9=0, h9=-39)
    assert graph.next_leaf() in (key_of("h8i9"), key_of("a1"))  # both 2
    assert graph.next_leaf({key_of("h8i9"), key_of("a1")}) == key_of("h8h9")  # 2.975
    put(graph, "h8i9", j10=WON)
    assert graph.next_leaf({key_of("a1"), key_of("h8h9")}) == key_of("b2")  # nothing after a win


def test_a_position_that_is_reached_in_two_ways_is_one_page() -> None:
    graph = Graph(key_of(""))
    put(graph, "", h8=0, j10=-5)
    put(graph, "h8", i9=0)
    put(graph, "j10", i9=0)
    put(graph, "h8i9", j10=10)
    put(graph, "j10i9", h8=10)
    put(graph, "h8i9j10", a1=3)
    assert graph.pages[key_of("h8i9")].value == graph.pages[key_of("j10i9")].value == -3
    assert len(graph.pages) == 6


def test_of_moves_that_are_alike_one_is_left() -> None:
    assert 225 - len(doubles(key_of(""))) == 36  # the eighth part of the board with its edges
    assert 224 - len(doubles(key_of("h8"))) == 35
    assert 223 - len(doubles(key_of("h8i9"))) == (223 + 13) // 2  # 13 lie on the diagonal
    assert doubles(key_of("h8i10")) == []


def test_the_empty_board_is_searched_for_moves_that_differ() -> None:
    moves = search_position(job("h8", 4, 20_000)).moves
    keys = {image_of(EMPTY.after((7, 7)).after(move)).key for move, _ in moves}
    assert len(keys) == len(moves) == 4


# Building ----------------------------------------------------------------------------


def grow(file: Path, positions: int, *words: str) -> int:
    return command.main(
        ["build", str(file), "--positions", str(positions), "--nodes", NODES, *words]
    )


def pages(file: Path) -> int:
    with Database(file) as database:
        assert list(integrity.find_faults(database)) == []
        return database.count("book")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("book") / "a.db"
    assert grow(file, 12, "--processes", "1") == 0  # of two, the faster decides what comes next
    return file


def test_a_book_has_its_positions_and_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    assert grow(file, 5, "--processes", "1") == 0
    assert pages(file) == 5
    assert grow(file, 8, "--processes", "2") == 0
    assert pages(file) == 8
    with Database(file) as database, database.transaction():
        graph = build.load_graph(database, key_of(""), 40)
    stored = rows_of(file, "key, book.value, rank IS NOT NULL")
    assert stored == [(key, page.value, 1) for key, page in sorted(graph.pages.items())]


def test_a_file_holds_books_of_several_roots(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.db"
    for root, positions in (("h8i9", "4"), ("h8h9", "3")):
        words = ["--positions", positions, "--nodes", NODES, "--processes", "1"]
        assert command.main(["build", str(file), root, *words]) == 0
    assert pages(file) == 7
    assert capsys.readouterr().out.count("best play") == 2


def test_one_process_makes_the_same_book_at_once_and_in_two_goes(tmp_path: Path) -> None:
    for goes in ([6], [3, 6]):
        for positions in goes:
            assert grow(tmp_path / f"{len(goes)}.db", positions, "--processes", "1") == 0
    one, two = (rows_of(tmp_path / f"{n}.db", "key, book.value, book.moves") for n in (1, 2))
    assert one == two


def test_the_engine_leaves_a_book_where_it_does_not_apply(made: Path) -> None:
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


def test_a_move_of_the_book_is_turned_with_the_position(tmp_path: Path) -> None:
    file = book_of(tmp_path / "a.db", {"h8i10": {"k9": 10, "a1": 3}, "h8i10k9": {"b1": -10}})
    with Engine(memory=80_000_000, book=str(file)) as engine:
        for number in range(8):
            *stones, best = transform(parse_moves("h8i10k9"), number, 15, 15)
            engine.new_game(15)
            for x, y in stones:
                engine.play(x, y)
            thought = engine.think(Limit(nodes=1000))
            assert (thought.depth, tuple(thought.move)) == (0, best)
        engine.play(*thought.move)
        assert engine.think(Limit(nodes=1000)).depth > 0  # the edge of the book


def test_a_seed_chooses_among_moves_that_are_hardly_worse(tmp_path: Path) -> None:
    pages = {"h8i10": {"k9": 10, "j3": 3, "i3": 5, "a3": 0}}  # i3 ends the book, a3 is worse
    pages |= {"h8i10k9": {"b1": -10}, "h8i10j3": {"b1": -3}, "h8i10a3": {"b1": 0}}
    file = book_of(tmp_path / "a.db", pages)
    played = []
    for seed in (None, 1, 1, 2):
        with Engine(memory=80_000_000, book=str(file), book_seed=seed) as engine:
            for x, y in parse_moves("h8i10"):
                engine.play(x, y)
            thoughts = [engine.think(Limit(nodes=1000)) for _ in range(12)]
        assert {thought.depth for thought in thoughts} == {0}
        played.append([tuple(thought.move) for thought in thoughts])
    best, other = parse_moves("k9j3")
    assert set(played[0]) == {best}
    assert set(played[1]) == set(played[3]) == {best, other}
    assert played[1] == played[2] != played[3]


@pytest.mark.timed
def test_a_book_is_left_where_a_search_of_ones_own_sees_more(tmp_path: Path) -> None:
    pages = {"h8i10": {"k9": 10}, "h8i10k9": {"b1": -10, "b2": -20}}
    pages |= {"h8i10k9b1": {"c1": 10}, "h8i10k9b2": {"c1": 20}}
    nodes = {"h8i10": 10**9, "h8i10k9": 5000, "h8i10k9b1": 3000, "h8i10k9b2": 2000}
    file = book_of(tmp_path / "a.db", pages, **nodes)
    with Engine(memory=80_000_000, book=str(file)) as engine:
        for x, y in parse_moves("h8i10"):
            engine.play(x, y)
        assert engine.think(Limit(nodes=10_000)).depth == 0  # 5,000 and what comes after it
        assert engine.think(Limit(nodes=10_001)).depth > 0
        assert engine.think(Limit(time=0.005)).depth == 0  # with a million nodes a second
        assert engine.think(Limit(time=0.2)).depth > 0
        assert engine.think(Limit(depth=4)).depth == 0  # unknown


def test_what_is_no_book_is_told(tmp_path: Path) -> None:
    with pytest.raises(BookError, match="there is no book"):
        Book(str(tmp_path / "a.db"))
    (tmp_path / "b.db").write_text("hello" * 500)
    with pytest.raises(BookError, match="is no book"):
        Book(str(tmp_path / "b.db"))
    Database(tmp_path / "c.db", create=True).close()
    with pytest.raises(BookError, match="holds no positions of a book"):
        Book(str(tmp_path / "c.db"))


def test_a_book_is_shown(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["show", str(made), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["known"] and shown["best"] == shown["moves"][0]["move"]
    assert command.main(["show", str(made), "a1a2a3"]) == 0
    assert "does not have" in capsys.readouterr().out


def test_balanced_positions_become_openings(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def write(name: str, stones: str, *more: str) -> int:
        return command.main(
            ["openings", str(made), str(tmp_path / name), "--stones", stones, *more]
        )

    assert write("a", "1-9", "--balance", "30000") == 0
    openings = [read_opening(line, 15, 15) for line in read_lines(str(tmp_path / "a"))]
    assert len(openings) == 11  # all but the empty board
    assert write("a", "1-9") == 2  # it exists
    assert write("b", "1-", "--balance", "30000") == 0
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text()
    assert write("c", "99") == 1
    capsys.readouterr()


def test_openings_are_taken_from_a_book(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "openings.txt"
    words = ["--book", str(made), "--stones", "1-9", "--balance", "30000", "--count", "11"]
    assert openings_command([str(out), *words]) == 0
    found = {key_of_cells(read_opening(line, 15, 15)) for line in read_lines(str(out))}
    assert len(found) == 11 and found < {key for (key,) in rows_of(made, "key")}
    assert openings_command([str(tmp_path / "b"), *words, "--seed", "2"]) == 0
    assert (tmp_path / "b").read_text() != out.read_text()
    words[5] = "0"  # so even are few
    assert openings_command([str(tmp_path / "c"), *words]) == 1
    words = ["--book", str(made), "--rule", "renju"]
    for _ in range(2):  # no file is left that would be in the way
        assert openings_command([str(tmp_path / "e"), *words]) == 1
    assert openings_command([str(tmp_path / "d"), "--book", str(tmp_path / "no.db")]) == 1
    assert "there is no book" in capsys.readouterr().err


def key_of_cells(cells: Sequence[tuple[int, int]]) -> bytes:
    return image_of(reduce(Position.after, cells, EMPTY)).key


def test_a_book_is_exported_as_a_tree_but_not_as_json(made: Path, tmp_path: Path) -> None:
    with Database(made) as database:
        exports.export(database, tmp_path / "a.lib", exports.ExportFilter(values=True))
        (tree,) = exports.gather(database, exports.ExportFilter())
        losses = exports.export(database, tmp_path / "a.jsonl", exports.ExportFilter())
    assert tree.count() == 11 and losses == [exports.NO_BOOK]


def test_a_book_in_which_white_moves_out_of_turn(tmp_path: Path) -> None:
    file, start = tmp_path / "a.db", tmp_path / "a.sgf"
    start.write_text("(;GM[4]SZ[15]AB[hh]AW[ii]PL[W])")
    words = ["--positions", "3", "--nodes", NODES, "--processes", "1"]
    assert command.main(["build", str(file), str(start), *words]) == 0
    with Database(file) as database:
        with pytest.raises(exports.NothingToWrite):
            exports.export(database, tmp_path / "b.sgf", exports.ExportFilter())
        add_items(database, read_source("h8i9", Wish()))
        losses = exports.export(database, tmp_path / "b.sgf", exports.ExportFilter())
    assert "3 positions with a value are on no line of the file" in losses
    out = tmp_path / "openings.txt"
    words = ["openings", str(file), str(out), "--stones", "2-", "--balance", "30000"]
    assert command.main(words) == 1
    book = Book(str(file))
    assert not book.balanced(Game(15), 3, 30000)
    book.close()


def test_a_book_that_is_merged_again_brings_nothing_new(made: Path, tmp_path: Path) -> None:
    with Database(tmp_path / "a.db", create=True) as copy, Database(made) as database:
        assert merge(copy, database).pages == pages(made)
        assert merge(copy, database) == Added()


def store(file: Path, **after: dict[str, int]) -> None:
    """Store a book of the empty board and one move, as a user does who knows no other one."""
    book_of(file, {"": {"h8": 100, "a1": 20}, **after})


def values_of(file: Path) -> dict[str, int]:
    with Database(file) as database:
        entry = database.look_up(image_of(EMPTY))
        assert entry is not None
        return {cell_name(*move): value for move, value in entry.book}


def test_a_merged_book_is_worth_what_both_books_say(tmp_path: Path) -> None:
    store(tmp_path / "a.db", a1={"b2": 10})
    store(tmp_path / "b.db", h8={"i9": 50})
    with Database(tmp_path / "a.db") as database, Database(tmp_path / "b.db") as other:
        assert merge(database, other).pages == 1
    assert values_of(tmp_path / "a.db") == {"h8": -50, "a1": -10}


def test_a_book_that_two_have_grown_is_worth_what_both_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.db"
    store(file, a1={"b2": 10})
    store(file, h8={"i9": 50})
    assert values_of(file) == {"h8": -50, "a1": 20}
    assert grow(file, 3, "--processes", "1") == 0
    assert values_of(file) == {"h8": -50, "a1": -10}
    monkeypatch.setattr(command.Progress, "show", lambda *_: store(file, h8={"i9": 50}))
    assert grow(file, 4, "--processes", "1") == 0  # while the other one stores what it had
    assert values_of(file)["a1"] != 20


class Alone:
    """A worker in this thread, which does something else before each search."""

    capacity = 1

    def __init__(self, before: Callable[[], object]) -> None:
        self.running: list[BookJob] = []
        self.searched: list[bytes] = []
        self._before = before

    def submit(self, job: BookJob) -> None:
        self.running.append(job)

    def wait(self) -> Result:
        self._before()
        job = self.running.pop()
        self.searched.append(job.key)
        return search_position(job)


def test_two_who_grow_a_book_at_once_search_nothing_twice(tmp_path: Path) -> None:
    file = tmp_path / "a.db"

    def build_to(positions: int, workers: Alone) -> None:
        plan = build.BookPlan(positions, 3, int(NODES), "learned", Author())
        with Database(file, create=True) as database:
            build.grow(database, Graph(key_of("")), plan, workers, str)  # type: ignore[arg-type]

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


# Workers -----------------------------------------------------------------------------


@posix
def test_a_killed_process_loses_and_doubles_nothing(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    own = ProcessPool(search_position, 2)
    killed: list[int] = []

    def kill(graph: Graph) -> None:
        if len(graph.pages) in (3, 6):
            pid = next(iter(own.executor._processes))  # type: ignore[attr-defined]
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    plan = build.BookPlan(14, 4, 2000, "learned", Author())
    with Database(file, create=True) as database:
        build.grow(database, Graph(key_of("")), plan, own, kill)
    own.close()
    assert len(killed) == 2
    assert pages(file) == 14


@posix
def test_a_killed_builder_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    words = ["book", "build", str(file), "--positions", "10", "--nodes", "5000", "--processes", "1"]
    builder = subprocess.Popen([sys.executable, "-m", "pbrain_engine.cli", *words],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    end = time.monotonic() + 120
    while not (file.exists() and count_pages(file) >= 3):
        assert time.monotonic() < end and not builder.poll()  # it may be ready by now
        time.sleep(0.02)
    builder.kill()
    builder.wait()
    there = pages(file)
    assert there >= 3
    assert grow(file, 10, "--processes", "1") == 0
    assert pages(file) == 10


def count_pages(file: Path) -> int:
    try:
        with Database(file) as database:
            return database.count("book")
    except Exception:  # it is being made
        return 0


def test_a_cluster_that_is_not_there_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("pbrain_engine.workers.CONNECT_TIMEOUT", 1)
    assert grow(tmp_path / "a.db", 5, "--cluster", "tcp://127.0.0.1:9") == 1
    assert "no cluster" in capsys.readouterr().err


def test_a_search_depends_on_its_job_alone() -> None:
    first = search_position(job("h8i9", 3, 2000))
    search_position(job("h8h9", 3, 2000))
    assert search_position(job("h8i9", 3, 2000)) == first
    assert isinstance(first, Result) and len(first.moves) >= 3
    assert first.moves[0][1] == max(value for _, value in first.moves)


def test_swap2_begins_with_three_stones_of_the_book(tmp_path: Path) -> None:
    file = book_of(tmp_path / "a.db", {"h8i9j9": {"k9": 10}})
    with Engine(memory=80_000_000, book=str(file)) as engine:
        (known,) = engine.balanced(3)
        assert engine.balanced(4) == []
        engine.new_game(20)
        assert engine.balanced(3) == []
        searcher = OpeningSearch(
            engine, lambda share, count, listener: engine.think(Limit(depth=1)), known=[known]
        )
        assert first_three(searcher, 15, 15, Rule.FREESTYLE).stones == tuple(known)
    assert key_of_cells(known) == key_of("h8i9j9")


# The protocol ------------------------------------------------------------------------


def speak(option: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pbrain_engine", option],
        input="START 15\nINFO timeout_turn 500\nBEGIN\nEND\n", capture_output=True, text=True,
        timeout=60,
    )  # fmt: skip


def test_the_protocol_plays_from_a_book(made: Path, tmp_path: Path) -> None:
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


def test_a_seed_is_an_option_of_matches() -> None:
    spec = parse_engine("numoku:book=a.db,book_seed=7")
    assert engine_arguments(spec.options) == {"book": "a.db", "book_seed": 7}
