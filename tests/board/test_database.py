"""The board's server with a database: what it tells of it, and what it keeps in it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pbrain_engine.board.proofs import shipped_puzzles
from pbrain_engine.commands import db
from pbrain_engine.database import integrity
from pbrain_engine.database.store import Database
from tests.board.board_server import PATIENCE, ROOT, BoardServer, Tab, position, position_of_puzzle

OPEN_THREE = "h8a1i8c1j8e1"  # black wins by fours
FIVE = "h8a1i8c1j8e1k8g1l8"
THREATS = next(
    puzzle for puzzle in shipped_puzzles() if puzzle["kind"] == "vct" and puzzle["size"] == 15
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "a.db"


@pytest.fixture
def server(tmp_path: Path, file: Path) -> Iterator[BoardServer]:
    server = BoardServer(tmp_path, "--db", str(file))
    yield server
    assert server.stop() == ""
    with Database(file) as database:
        assert list(integrity.find_faults(database)) == []


@pytest.fixture
def tab(server: BoardServer) -> Iterator[Tab]:
    tab = Tab(server)
    yield tab
    tab.close()


def known(tab: Tab, where: Any) -> dict[str, Any]:
    """Return what is known of a position, or after moves."""
    return tab.ask("known", position=position(where) if isinstance(where, str) else where)


def known_soon(tab: Tab, where: Any, field: str) -> dict[str, Any]:
    """Return what is known as soon as a field of it is: searches are written behind."""
    end = time.monotonic() + PATIENCE
    while not (found := known(tab, where)).get(field):
        assert time.monotonic() < end
        time.sleep(0.02)
    return found


def rows_of(moves: str) -> list[dict[str, Any]]:
    """Return a line as a message holds a tree."""
    cells = position(moves)["moves"]
    return [{"parent": at - 1, "x": x, "y": y} for at, (x, y) in enumerate(cells)]


def store(tab: Tab, rows: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return tab.ask("store", position=position(), tree=rows, **more)


def test_what_commands_have_stored_is_told_in_the_orientation_asked(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.sgf").write_text("(;GM[4]SZ[15]RE[B+];B[hh];W[ig]C[well known])")
    words = ["analyse", "h8i7", "--depth", "4", "--db", str(file), "--json"]
    command = [sys.executable, "-m", "pbrain_engine.cli", *words]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    analysis = json.loads(run.stdout)
    assert db.main([str(file), "add", str(tmp_path / "a.sgf")]) == 0
    capsys.readouterr()
    assert db.main([str(file), "show", "h8g7", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    server = BoardServer(tmp_path, "--db", str(file))
    tab = Tab(server)
    assert tab.ask("engine")["database"] is True
    found = known(tab, "h8g7")  # turned
    assert found.pop("trouble") == ""
    assert found == shown
    assert found["value"] == analysis["value"] and found["depth"] == 4
    assert found["games"]["black_wins"] == 1
    assert [note["comment"] for note in found["notes"]] == ["well known"]
    first = known(tab, "h8")["next"]
    assert [6, 6] in [after["move"] for after in first]
    tab.close()
    assert server.stop() == ""


def test_an_analysis_is_kept_when_it_is_stopped_and_while_it_runs(tab: Tab) -> None:
    number = tab.send("analyse", position=position("h8i9"))
    while "event" not in tab.receive():
        pass
    tab.send("stop", target=number)
    while (message := tab.receive())["id"] != number or "result" not in message:
        pass
    depth = message["result"]["depth"]
    found = known_soon(tab, "h8i9", "depth")
    assert found["depth"] >= min(depth, 1) and found["version"].startswith("Numoku")
    tab.ask("analyse", position=position("h8g7"), depth=found["depth"] + 1)
    end = time.monotonic() + PATIENCE
    while known(tab, "h8i9")["depth"] <= found["depth"]:  # the deeper one stands
        assert time.monotonic() < end


def test_a_long_analysis_outlives_a_killed_server(tmp_path: Path, file: Path) -> None:
    server = BoardServer(tmp_path, "--db", str(file))
    tab = Tab(server)
    number = tab.send("analyse", position=position("h8i9"))
    end = time.monotonic() + PATIENCE
    found: dict[str, Any] = {}
    while not found.get("depth"):  # it is never stopped
        assert time.monotonic() < end
        asked = tab.send("known", position=position("h8i9"))
        while (message := tab.receive())["id"] != asked:
            assert message["id"] == number
        found = message["result"]
        time.sleep(0.2)
    server.kill()
    with Database(file) as database:
        ((depth,),) = database.connection.rows("SELECT MAX(depth) FROM position")
    assert depth >= found["depth"]


def test_proofs_are_kept_and_taken_from_there(tab: Tab, file: Path) -> None:
    proof = tab.ask("prove", position=position(OPEN_THREE))
    assert proof["claim"] == "vcf"
    found = known_soon(tab, OPEN_THREE, "proof")
    assert found["proof"] == "vcf" and found["mate"] == 3
    where = position_of_puzzle(THREATS)
    threats = tab.ask("prove", position=where)
    assert threats["claim"] == "vct"
    tree = known_soon(tab, where, "tree")["tree"]
    assert tree["move"] == threats["move"] and tree["answers"]
    # The same position turned by half a turn: so is the proof.
    placed = [{**stone, "x": 14 - stone["x"], "y": 14 - stone["y"]} for stone in where["placed"]]
    turned = known(tab, {**where, "placed": placed})["tree"]
    assert turned["move"] == [14 - cell for cell in tree["move"]]
    assert turned["answers"][0]["reply"] == [14 - cell for cell in tree["answers"][0]["reply"]]


def test_a_known_proof_needs_no_search(tab: Tab, file: Path) -> None:
    where = position_of_puzzle(THREATS)
    tab.ask("prove", position=where)
    tree = known_soon(tab, where, "tree")["tree"]
    with Database(file) as database, database.writing():
        names = "proof = :proof WHERE tree <> ''"
        database.connection.run(f"UPDATE position SET {names}", {"proof": "told"})
    again = tab.ask("prove", position=where)
    assert again["claim"] == "told" and again["move"] == tree["move"]  # that is no search's word
    with Database(file) as database, database.writing():
        database.connection.run(f"UPDATE position SET {names}", {"proof": "vct"})


def test_a_comment_is_stored_changed_and_deleted(tab: Tab) -> None:
    where = position("h8i9")
    assert tab.ask("comment", position=where, after="a nise idea") == {"stored": True}
    assert known(tab, "h8i9")["notes"][0]["comment"] == "a nise idea"
    tab.ask("comment", position=where, before="a nise idea", after="a nice idea")
    tab.ask("comment", position=position("h8g9"), after="from the other side")
    comments = [note["comment"] for note in known(tab, "h8i9")["notes"]]
    assert sorted(comments) == ["a nice idea", "from the other side"]
    tab.ask("comment", position=where, before="a nice idea", after="")
    assert [n["comment"] for n in known(tab, "h8i9")["notes"]] == ["from the other side"]
    tab.ask("comment", position=where, before="never written", after="new")
    assert len(known(tab, "h8i9")["notes"]) == 2


def test_a_game_is_stored_once_with_its_variations(tab: Tab) -> None:
    rows = rows_of(FIVE)
    rows.append({"parent": 0, "x": 0, "y": 14, "comment": "or here"})
    first = store(tab, rows, comment="about it all")
    assert (first["games"], first["known_games"]) == (1, 0)
    rows[2]["comment"] = "an afterthought"
    assert store(tab, rows)["games"] == 0  # the same game with another comment
    found = known(tab, FIVE[:12])
    assert found["games"] == {"black_wins": 1, "draws": 0, "white_wins": 0}
    assert known(tab, "h8a15")["notes"][0]["comment"] == "or here"
    assert known(tab, "")["notes"][0]["comment"] == "about it all"
    assert known(tab, "h8a1i8")["notes"][0]["comment"] == "an afterthought"


def test_the_moves_of_a_strong_level_are_kept(tab: Tab) -> None:
    tab.ask("move", position=position("h8"), level=1, seconds=0.1)
    tab.ask("move", position=position("h8i9"), level=7, seconds=0.2)
    found = known_soon(tab, "h8i9", "depth")
    assert found["value"] is not None
    assert not known(tab, "h8")["depth"]


def test_a_review_reads_and_feeds(tab: Tab, server: BoardServer, file: Path) -> None:
    deep = tab.ask("analyse", position=position("h8i9"), depth=12)
    known_soon(tab, "h8i9", "depth")
    tab.close()
    assert server.stop() == ""
    again = BoardServer(server.folder, "--db", str(file))  # whose engine has searched nothing
    tab = Tab(again)
    review = tab.ask("review", position=position("h8i9g9"), seconds=0.02)
    (third,) = (move for move in review["moves"] if move["ply"] == 3)
    assert third["depth"] == deep["depth"] and third["value"] >= deep["value"]
    assert known_soon(tab, "h8", "depth")["value"] == review["moves"][1]["value"]
    tab.close()
    assert again.stop() == ""


def test_without_a_database_nothing_is_kept(tmp_path: Path) -> None:
    server = BoardServer(tmp_path)
    tab = Tab(server)
    assert tab.ask("engine")["database"] is False
    assert "no database" in known(tab, "h8")["error"]
    assert "no database" in tab.ask("comment", position=position("h8"), after="x")["error"]
    assert "no database" in store(tab, rows_of("h8"))["error"]
    tab.close()
    assert server.stop() == ""


@pytest.mark.parametrize("content", [b"hello" * 500, None])
def test_a_database_that_cannot_be_opened_is_one_line(tmp_path: Path, content: Any) -> None:
    file = tmp_path / "b.db"
    if content is None:
        file.mkdir()
    else:
        file.write_bytes(content)
    words = ["board", "--no-open", "--db", str(file)]
    command = [sys.executable, "-m", "pbrain_engine.cli", *words]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=PATIENCE)
    assert run.returncode == 1 and run.stdout == ""
    assert run.stderr.startswith("numoku: ") and run.stderr.count("\n") == 1


def test_what_cannot_be_written_is_refused_with_the_reason(tmp_path: Path, file: Path) -> None:
    server = BoardServer(tmp_path, "--db", str(file))
    tab = Tab(server)
    with Database(file) as other:
        other.connection.run("DROP TABLE node")
        answer = tab.ask("comment", position=position("h8"), after="lost")
    assert "no such table" in answer["error"]
    assert tab.ask("look", position=position("h8"))["to_move"] == "white"
    tab.close()
    server.stop()
