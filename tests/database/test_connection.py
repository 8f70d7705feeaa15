"""Kills, full disks, second writers and damage: what was reported to be stored is there."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from pbrain_engine import EngineError, Result, Rule, cli
from pbrain_engine.database import connection, rescue, sources
from pbrain_engine.database.sources import add_items
from pbrain_engine.database.store import Database, StoredGame
from pbrain_engine.engine.book import Book
from pbrain_engine.errors import FileError
from pbrain_engine.game.record import GameRecord
from pbrain_engine.notation.sgf import format_sgf

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="signals and limits of POSIX"),
]

NOBODY = 65534
CELLS = [(x, y) for x in range(15) for y in range(15)]


def game(number: int, stones: int = 40) -> GameRecord:
    moves = random.Random(number).sample(CELLS, stones)
    comment = f"game {number}"
    return GameRecord(rule=Rule.FREESTYLE, moves=tuple(moves), result="1-0", comment=comment)


def write_games(folder: Path, numbers: range, each: int = 1) -> list[str]:
    """Write files of games; return their names."""
    folder.mkdir(exist_ok=True)
    names = []
    for number in numbers:
        path = folder / f"{number}.sgf"
        path.write_text(
            "".join(format_sgf(game(number * each + part)) for part in range(each)), "utf-8"
        )
        names.append(str(path))
    return names


def start(file: Path, *words: str, **options: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "pbrain_engine.cli", "db", str(file), *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options,
    )  # fmt: skip


def stored_comments(file: Path) -> set[str]:
    with Database(file) as database:
        assert list(rescue.find_faults(database)) == []
        texts = database.connection.rows("SELECT record FROM game")
    return {text.partition("C[")[2].partition("]")[0] for (text,) in texts}


@pytest.mark.parametrize("kills", [5, pytest.param(200, marks=pytest.mark.long)])
def test_a_writer_killed_at_any_moment_loses_nothing_that_it_told(tmp_path, kills):
    chance = random.Random(1)
    file = tmp_path / "a.db"
    names = write_games(tmp_path / "games", range(60), each=3)
    reported: set[str] = set()
    for _ in range(kills):
        chance.shuffle(names)
        writer = start(file, "add", *names)
        if chance.random() < 0.8:
            assert writer.stdout is not None
            reported.add(writer.stdout.readline())  # the first file is there
            time.sleep(chance.random() * 0.2)
        else:
            time.sleep(chance.random() * 0.3)
        writer.send_signal(signal.SIGKILL)
        reported |= set((writer.communicate()[0] or "").splitlines(keepends=True))
        if not file.exists():
            continue
        try:
            comments = stored_comments(file)
        except EngineError as error:  # killed before there was a table
            assert "holds no positions" in str(error) and not any(reported)
            continue
        for line in filter(str.strip, reported):
            if not line.endswith("\n"):
                continue  # cut off by the kill
            number = int(Path(line.partition(": stored")[0]).stem)
            assert {f"game {number * 3 + part}" for part in range(3)} <= comments, line
        if len(comments) == 180:
            file.unlink()
            for suffix in ("-wal", "-shm"):
                Path(f"{file}{suffix}").unlink(missing_ok=True)
            reported.clear()


def test_two_writers_at_once(tmp_path):
    file = tmp_path / "a.db"
    names = write_games(tmp_path / "games", range(20))
    assert cli.main(["db", str(file), "add", names[0]]) == 0
    writers = [start(file, "add", *names[:12]), start(file, "add", *names[8:])]
    for writer in writers:
        out, err = writer.communicate(timeout=120)
        assert (writer.returncode, err) == (0, ""), out
    assert stored_comments(file) == {f"game {number}" for number in range(20)}


def test_a_reader_reads_while_another_writes(tmp_path):
    file = tmp_path / "a.db"
    with Database(file, create=True) as writer:
        add_items(writer, [StoredGame(game(1))])
        with writer.transaction():
            writer.add_games([StoredGame(game(2))])
            with Database(file) as reader:
                assert reader.count("game") == 1
        assert writer.count("game") == 2


def test_a_writer_that_waits_too_long_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(connection, "WAIT_SECONDS", 0.1)
    file = tmp_path / "a.db"
    with Database(file, create=True) as first, first.transaction():
        assert cli.main(["db", str(file), "add", "h8"]) == 1
    assert "another program is writing" in capsys.readouterr().err
    assert cli.main(["db", str(file), "add", "h8"]) == 0


def test_a_full_disk_is_told_and_what_was_stored_stays(tmp_path):
    file = tmp_path / "a.db"
    names = write_games(tmp_path / "games", range(60), each=20)
    limit = 1_000_000

    resource = pytest.importorskip("resource")

    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    writer = start(file, "add", *names, preexec_fn=little_room)
    out, err = writer.communicate(timeout=300)
    assert writer.returncode == 1
    assert err.count("\n") == 1 and "cannot be written" in err and "Traceback" not in err
    reported = [int(Path(line.partition(":")[0]).stem) for line in out.splitlines()]
    assert reported
    comments = stored_comments(file)
    assert {f"game {number * 20 + part}" for number in reported for part in range(20)} <= comments


@pytest.fixture
def locked() -> Iterator[Path]:
    """A folder in which nothing can be written, not by root either, and a database in it."""
    own = os.geteuid()
    with TemporaryDirectory() as name:
        folder = Path(name)
        with Database(folder / "a.db", create=True) as database:
            add_items(database, [StoredGame(game(0))])
        folder.chmod(0o555)
        try:
            if own == 0:
                os.seteuid(NOBODY)
            yield folder / "a.db"
        finally:
            os.seteuid(own)
            folder.chmod(0o755)


def test_a_database_is_read_where_nothing_can_be_written(locked, capsys):
    assert cli.main(["db", str(locked), "check"]) == 0
    assert "41 positions, 1 games" in capsys.readouterr().out
    assert cli.main(["db", str(locked), "add", "h8"]) == 1
    assert capsys.readouterr().err.count("\n") == 1
    with pytest.raises(FileError, match="holds no positions"):
        Book(str(locked))


@pytest.mark.parametrize("words", ["db {} show", "db {} check", "book show {}"])
def test_an_empty_file_that_is_only_read_stays_empty(words, tmp_path, capsys):
    path = tmp_path / "empty"
    path.touch()
    assert cli.main(words.format(path).split()) == 1
    assert capsys.readouterr().err == f"numoku: {path} holds no positions\n"
    assert path.stat().st_size == 0 and list(tmp_path.iterdir()) == [path]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a database with something in every table."""
    file = tmp_path_factory.mktemp("whole") / "a.db"
    with Database(file, create=True) as database:
        add_items(
            database,
            [
                StoredGame(game(number), {ply: Result(ply, depth=9) for ply in range(30)})
                for number in range(40)
            ],
        )
    assert cli.main(["db", str(file), "add", *(f"h8i9{x}1{x}2" for x in "abcdefgh")]) == 0
    assert cli.main(["db", str(file), "check"]) == 0
    return file.read_bytes()


@pytest.mark.parametrize("case", [*range(1, 9), "page", "text", 0, 10, 100, 5000, 30_000])
def test_a_file_that_is_damaged_cut_off_or_no_database_is_told(tmp_path, whole, case, capsys):
    """With noise in half a page by a seed, without its last page, or of fewer bytes."""
    file, page, chance = tmp_path / "a.db", 4096, random.Random(case)
    at = chance.randrange(1, len(whole) // page) * page + chance.choice([0, page // 2])
    noise = chance.choice([bytes(page // 2), chance.randbytes(page // 2)])
    content = {
        "page": whole[:-page], "text": b"hello, this is plain text\n" * 50,
        **{seed: whole[:at] + noise + whole[at + page // 2 :] for seed in range(1, 9)},
    }  # fmt: skip
    cut = whole[: int(case)] if str(case).isdigit() else b""
    file.write_bytes(content.get(case, cut))
    assert cli.main(["db", str(file), "check"]) == 1
    said = "".join(capsys.readouterr())
    assert said.strip() and "check` says more" not in said
    assert case != "text" or "no database" in said
    for words in (["show", "h8", "--json"], ["query"], ["add", "a1b2"],
                  ["export", str(tmp_path / "a.lib")]):  # fmt: skip
        assert cli.main(["db", str(file), *words]) in (0, 1)  # no traceback, whatever it says


@pytest.mark.parametrize("seed", range(4))
def test_what_is_left_of_a_damaged_file_is_rescued_and_nothing_is_added_to_it(
    tmp_path, whole, seed, capsys
):
    page = 4096
    at = random.Random(seed).randrange(2, len(whole) // page) * page
    file, new = tmp_path / "a.db", tmp_path / "new.db"
    file.write_bytes(whole)
    with Database(file) as database:
        before = {table: database.count(table) for table in ("game", "position", "node")}
    damaged = whole[:at] + bytes(page) + whole[at + page :]
    file.write_bytes(damaged)
    assert cli.main(["db", str(file), "add", "a1b2"]) == 1
    said = capsys.readouterr().err
    assert "is damaged" in said and "nothing was stored" in said and file.read_bytes() == damaged
    assert said.count("\n") == 1 and "***" not in said
    assert cli.main(["db", str(new), "merge", str(file)]) == 1 and not new.exists()
    said = capsys.readouterr().err
    assert "is damaged" in said and "nothing of it is taken" in said and said.count("\n") == 1
    assert cli.main(["db", str(file), "rescue", str(new)]) == 0
    said = capsys.readouterr().out
    assert cli.main(["db", str(new), "check"]) == 0
    with Database(new) as database:
        after = {table: database.count(table) for table in before}
        games = [game.record for game in database.games()]
    assert all(record == game(int(record.comment.split()[1])) for record in games)
    words = {"game": "games", "position": "positions", "node": "moves of lines"}
    kept, _, lost = said.partition("; lost: ")
    for table, word in words.items():
        assert f"{after[table]:,} {word}" in kept
        ((count, more),) = re.findall(rf"(\d+)( or more)? {word}", lost)
        assert int(count) == before[table] - after[table] or more
        assert after[table] >= before[table] // 3
    assert cli.main(["db", str(new), "add", "a1b2"]) == 0


def test_a_rescue_of_a_whole_file_loses_nothing(tmp_path, whole, capsys):
    file, new = tmp_path / "a.db", tmp_path / "new.db"
    file.write_bytes(whole)
    assert cli.main(["db", str(file), "rescue", str(new)]) == 0
    assert "lost: 0 games, 0 positions, 0 moves" in capsys.readouterr().out
    for name in (file, new):
        assert cli.main(["db", str(name), "export", str(tmp_path / f"{name.stem}.jsonl")]) == 0
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "new.jsonl").read_bytes()
    assert cli.main(["db", str(file), "rescue", str(new)]) == 1
    assert "is there already" in capsys.readouterr().err


def test_what_is_stored_of_a_file_before_its_damage_is_told(tmp_path, monkeypatch, capsys):
    file, lines = tmp_path / "a.db", tmp_path / "games.jsonl"
    with Database(tmp_path / "from.db", create=True) as database:
        add_items(database, [StoredGame(game(number, 5)) for number in range(6)])
    assert cli.main(["db", str(tmp_path / "from.db"), "export", str(lines)]) == 0
    whole = lines.read_text().splitlines(keepends=True)
    lines.write_text("".join([*whole[:4], "{\n", *whole[4:]]))
    monkeypatch.setattr(sources, "BATCH", 3)
    capsys.readouterr()
    assert cli.main(["db", str(file), "add", str(lines)]) == 1
    said = capsys.readouterr().err
    assert "line 5: this is no JSON" in said and "before that it stored 3 games" in said
    with Database(file) as database:
        assert database.count("game") == 3 and list(rescue.find_faults(database)) == []


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("position", "value", 77), ("position", "depth", 99), ("position", "moves", b"\x01"),
        ("position", "black_wins", 3), ("position", "author", 9), ("game", "record", "(;GM[4])"),
        ("game", "result", "0-1"), ("node", "comment", "x"), ("node", "parent", 2),
        ("node", "position", 1),
    ],
)  # fmt: skip
def test_a_changed_value_is_found(tmp_path, whole, table, column, value):
    file = tmp_path / "a.db"
    file.write_bytes(whole)
    with Database(file) as database:
        ((number,),) = database.connection.rows(
            f"SELECT id FROM {table} ORDER BY id LIMIT 1 OFFSET 5"
        )
        database.connection.run(
            f"UPDATE {table} SET {column} = :value WHERE id = :id", {"value": value, "id": number}
        )
        assert list(rescue.find_faults(database))


@pytest.mark.parametrize("kind", ["lib", "sgf", "jsonl"])
def test_an_export_that_fails_leaves_the_file_that_was_there(kind, tmp_path, monkeypatch, capsys):
    file, out = tmp_path / "a.db", tmp_path / f"out.{kind}"
    assert cli.main(["db", str(file), "add", "h8i9"]) == 0
    assert cli.main(["db", str(file), "export", str(out)]) == 0
    before = out.read_bytes()

    def is_full(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", is_full)
    assert cli.main(["db", str(file), "add", "h8i10"]) == 0
    assert cli.main(["db", str(file), "export", str(out)]) == 1
    assert "No space left" in capsys.readouterr().err
    assert out.read_bytes() == before and sorted(tmp_path.glob("out*")) == [out]
