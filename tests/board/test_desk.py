"""What the server answers is what was recorded, whole: ``python -m tests.golden.board``."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pbrain_engine.app.setup import parse_setup
from pbrain_engine.board import desk, files, proofs, searches  # noqa: F401 - they register operations
from pbrain_engine.board.desk import Archive, Desk, Desks, Job
from pbrain_engine.board.messages import OPERATIONS
from pbrain_engine.database import rescue
from pbrain_engine.database.lines import read_trees
from pbrain_engine.database.store import Database
from pbrain_engine.engine.engine import EngineError
from pbrain_engine.game.game import Game, Move
from pbrain_engine.game.result import Result, Tree
from tests.board.board_server import PATIENCE, BoardServer, Tab, position, position_of_puzzle
from tests.golden import board

pytestmark = pytest.mark.slow


def test_every_operation_answers_as_recorded() -> None:
    board.conversations.check()


def test_every_request_is_answered_as_recorded() -> None:
    board.requests.check()


def test_a_question_whose_thread_does_not_start_is_out_of_the_way_of_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(works: Any) -> Any:
        raise MemoryError("can't start new thread")

    answers: list[Any] = []
    one, start = desk.Desk(desk.Desks(1, Archive()), answers.append), desk.start_deep
    for threads in (fail, start):
        monkeypatch.setattr(desk, "start_deep", threads)
        one.take('{"do":"review","position":{"width":15,"height":15,"rule":"renju","moves":[]}}')
    one.close()
    assert [answer["code"] for answer in answers] == ["memory", "no-moves"]


# The board's server with a database: what it tells of it, and what it keeps in it ------


OPEN_THREE = "h8a1i8c1j8e1"  # black wins by fours
SHIPPED = OPERATIONS["puzzles"].do(None, None)["puzzles"]
THREATS = next(p for p in SHIPPED if p["kind"] == "vct" and p["own_moves"] > 4)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("known") / "a.db"


@pytest.fixture(scope="module")
def server(file: Path) -> Iterator[BoardServer]:
    """A server whose tests have a rule each, so that none of them knows of the others."""
    server = BoardServer(file.parent, "--db", str(file))
    yield server
    assert server.stop() == ""
    with Database(file) as database:
        assert list(rescue.find_faults(database)) == []


@pytest.fixture
def tab(server: BoardServer) -> Iterator[Tab]:
    tab = Tab(server)
    yield tab
    tab.close()


def known_soon(tab: Tab, where: Any, field: str, above: int = 0) -> dict[str, Any]:
    """Return what is known as soon as a field of it is: searches are written behind."""
    end = time.monotonic() + PATIENCE
    while True:
        found = tab.ask("known", position=where)
        if (value := found.get(field)) and (not above or value > above):
            return found
        assert time.monotonic() < end
        time.sleep(0.02)


def test_an_analysis_is_kept_when_it_is_stopped_and_while_it_runs(tab: Tab) -> None:
    where, turned = (position(moves, "caro_exact") for moves in ("h8i9", "h8g7"))
    number = tab.send("analyse", position=where)
    while "event" not in tab.receive():
        pass
    tab.send("stop", target=number)
    while (message := tab.receive())["id"] != number or "result" not in message:
        pass
    found = known_soon(tab, where, "depth")
    assert found["depth"] >= min(message["result"]["depth"], 1)
    assert found["version"].startswith("Numoku")
    tab.ask("analyse", position=turned, depth=found["depth"] + 1)
    known_soon(tab, where, "depth", found["depth"])  # the deeper one stands


def test_a_long_analysis_is_written_while_it_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searches, "KEEPING_GAP", 0.05)
    archive = Archive(str(tmp_path / "b.db"))
    desk = Desk(Desks(1, archive))
    operation = OPERATIONS["analyse"]
    desk.submit(Job(operation, operation.read({"position": position("h8i9")})))
    end = time.monotonic() + PATIENCE
    with Database(tmp_path / "b.db") as database:  # it is never stopped
        while not database.connection.rows("SELECT depth FROM position WHERE depth > 2"):
            assert time.monotonic() < end and desk.jobs
    desk.close()
    archive.close()


def test_proofs_are_kept_and_taken_from_there(tab: Tab, file: Path) -> None:
    proof = tab.ask("prove", position=position(OPEN_THREE))
    assert proof["claim"] == "vcf"
    found = known_soon(tab, position(OPEN_THREE), "proof")
    assert found["proof"] == "vcf" and found["mate"] == 3
    where = position_of_puzzle(THREATS)
    threats = tab.ask("prove", position=where)
    assert threats["claim"] == "vct"
    tree = known_soon(tab, where, "tree")["tree"]
    assert tree["move"] == threats["move"] and tree["answers"]
    # The same position turned by half a turn: so is the proof.
    placed = [{**stone, "x": 14 - stone["x"], "y": 14 - stone["y"]} for stone in where["placed"]]
    turned = tab.ask("known", position={**where, "placed": placed})["tree"]
    assert turned["move"] == [14 - cell for cell in tree["move"]]
    assert turned["answers"][0]["reply"] == [14 - cell for cell in tree["answers"][0]["reply"]]
    with Database(file) as database, database.transaction():
        names = "proof = :proof WHERE tree <> ''"
        database.connection.run(f"UPDATE position SET {names}", {"proof": "vcf"})
    again = tab.ask("prove", position=where)  # needs no search
    assert again["claim"] == "vcf" and again["move"] == tree["move"]  # that is no search's word
    with Database(file) as database, database.transaction():
        database.connection.run(f"UPDATE position SET {names}", {"proof": "vct"})


def test_what_cannot_be_written_is_refused_with_the_reason(tmp_path: Path) -> None:
    archive = Archive(str(tmp_path / "b.db"))
    with Database(tmp_path / "b.db") as other:
        other.connection.run("DROP TABLE node")
    with pytest.raises(EngineError, match="no such table"):
        archive.store_comment(parse_setup("h8"), "", "lost")
    archive.close()


def test_a_comment_that_is_stored_again_is_stored_once(tmp_path: Path) -> None:
    archive = Archive(str(tmp_path / "b.db"))
    for before, after in (("", "one"), ("one", "one\ntwo"), ("two", "two\nthree")):
        for _ in range(2):  # the first answer was lost
            archive.store_comment(parse_setup("h8"), before, after)
    archive.close()
    with Database(tmp_path / "b.db") as database:
        (tree,) = read_trees(database)
    assert [node.comment for node, _ in tree.walk()] == ["", "one\ntwo\nthree"]


def test_a_proof_of_many_moves_is_not_kept_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, game, tree = Archive(str(tmp_path / "b.db")), Game(15), Tree(Move(0, 0), {})
    kept: list[Any] = []
    monkeypatch.setattr("pbrain_engine.board.desk.MOST_TREE", 2)
    monkeypatch.setattr(archive, "note_findings", kept.append)
    for x in range(3):
        archive.note_win(game, proofs.win_of(tree))
        tree = Tree(Move(x, 1), {Move(x, 2): tree})
    assert [found[game.position].tree is not None for found in kept] == [True, True, False]
    archive.close()


def test_what_waits_is_written_at_the_end(tmp_path: Path) -> None:
    archive, empty = Archive(str(tmp_path / "b.db")), parse_setup("").position
    for x in range(8):
        for y in range(x):
            archive.note_findings({empty.after((x, y)): Result(1, depth=1)})
    archive.close()
    assert [path.name for path in tmp_path.iterdir()] == ["b.db"]
    with Database(tmp_path / "b.db") as database:
        assert database.count("position") == 28
