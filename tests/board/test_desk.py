"""What the server answers is what was recorded, whole: ``python -m tests.golden.board``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pbrain_engine.app.setup import parse_setup
from pbrain_engine.board import desk, proofs, searches
from pbrain_engine.board.desk import Archive
from pbrain_engine.database.lines import read_trees
from pbrain_engine.database.store import Database
from pbrain_engine.engine.engine import EngineError
from pbrain_engine.game.game import Game, Move
from pbrain_engine.game.result import Result, Tree
from tests.board.board_server import until
from tests.golden import board
from tests.played import position

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


# What is kept in a database --------------------------------------------------------------


@pytest.mark.parametrize("gap", [0.05, 1e9])
def test_an_analysis_is_kept_while_it_goes_on_and_when_it_is_stopped(
    gap: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searches, "KEEPING_GAP", gap)
    page = board.Page(desk.Desks(1, Archive(str(tmp_path / "b.db"))))
    page.take(json.dumps({"do": "analyse", "position": position("h8i9")}))
    with Database(tmp_path / "b.db") as database:

        def kept() -> list[Any]:
            return database.connection.rows("SELECT depth FROM position WHERE depth > 2")

        until(lambda: kept() if gap < 1 else page.heard and page.heard[-1]["event"]["depth"] > 2)
        page.close()
        page.archive.close()
        assert kept()


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
