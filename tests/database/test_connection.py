"""Kills, full disks, second writers and damage: what was reported to be stored is there."""

from __future__ import annotations

import os
import random
import re
import signal
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from pbrain_engine import EngineError, Game, Move, Result, Rule, cli
from pbrain_engine.app.saved import OptionalDatabase
from pbrain_engine.board.desk import Archive
from pbrain_engine.database import connection, rescue, sources
from pbrain_engine.database.book import SET_PAGE, page_row
from pbrain_engine.database.sources import add_items
from pbrain_engine.database.store import Database, StoredGame, digest_of
from pbrain_engine.engine.book import Book
from pbrain_engine.errors import FileError, counted
from pbrain_engine.game.position import image_of, pack_book
from pbrain_engine.game.record import GameRecord
from pbrain_engine.game.result import Author
from pbrain_engine.notation.sgf import format_sgf, parse_sgf_trees
from tests.programs import NUMOKU, run_on_small_disk, start_program

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
        writer = start_program(*NUMOKU, "db", str(file), "add", *names)
        if chance.random() < 0.8:
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
    add = [*NUMOKU, "db", str(file), "add"]
    writers = [start_program(*add, *some) for some in (names[:12], names[8:])]
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
    assert "another program has been writing" in capsys.readouterr().err
    assert cli.main(["db", str(file), "add", "h8"]) == 0


def test_a_full_disk_is_told_and_what_was_stored_stays(tmp_path):
    file = tmp_path / "a.db"
    names = write_games(tmp_path / "games", range(60), each=20)
    done = run_on_small_disk(1_000_000, *NUMOKU, "db", str(file), "add", *names)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1 and "cannot be written" in done.stderr
    reported = [int(Path(line.partition(":")[0]).stem) for line in done.stdout.splitlines()]
    assert reported
    comments = stored_comments(file)
    assert {f"game {number * 20 + part}" for number in reported for part in range(20)} <= comments


def test_nothing_is_left_of_a_new_file_that_stays_empty(tmp_path, monkeypatch, capsys):
    with monkeypatch.context() as full:  # a full disk: closing does not merge the journal
        full.setattr(connection.DatabaseConnection, "close", lambda self: None)
        assert cli.main(["db", str(tmp_path / "a.db"), "add", "none.sgf"]) == 1
    assert not [*tmp_path.iterdir()]


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
    assert "41 positions, 1 game," in capsys.readouterr().out
    assert cli.main(["db", str(locked), "add", "h8"]) == 1
    assert capsys.readouterr().err.count("\n") == 1
    with pytest.raises(FileError, match="has no book positions"):
        Book(str(locked))


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


@pytest.mark.parametrize(
    "case", [*range(1, 9), "page", "text", "schema", "id", 0, 10, 100, 5000, 30_000]
)
def test_a_file_that_is_damaged_cut_off_or_no_database_is_told(tmp_path, whole, case, capsys):
    """With noise in half a page by a seed, without its last page, or of fewer bytes."""
    file, page, chance = tmp_path / "a.db", 4096, random.Random(case)
    at = chance.randrange(1, len(whole) // page) * page + chance.choice([0, page // 2])
    noise = chance.choice([bytes(page // 2), chance.randbytes(page // 2)])
    content = {
        "schema": whole.replace(b"key BLOB", b"k\xeay BLO("),
        "id": whole.replace(b"id INTEGER PRIMARY", b"id INTEGER primarx"),
        "page": whole[:-page], "text": b"hello, this is plain text\n" * 50,
        **{seed: whole[:at] + noise + whole[at + page // 2 :] for seed in range(1, 9)},
    }  # fmt: skip
    cut = whole[: int(case)] if str(case).isdigit() else b""
    file.write_bytes(content.get(case, cut))
    assert cli.main(["db", str(file), "check"]) == 1
    said = "".join(capsys.readouterr())
    assert said.strip() and "check` says more" not in said
    assert case != "text" or "not a database" in said
    for words in (["show", "h8", "--json"], ["query"], ["add", "a1b2"],
                  ["export", str(tmp_path / "a.lib")]):  # fmt: skip
        assert cli.main(["db", str(file), *words]) in (0, 1)  # no traceback, whatever it says
    assert cli.main(["analyse", "h8", "--depth", "2", "--db", str(file)]) in (0, 1)


@pytest.mark.parametrize("seed", [*range(4), "cut"])
def test_what_is_left_of_a_damaged_file_is_rescued_and_nothing_is_added_to_it(
    tmp_path, whole, seed, capsys
):
    page = 4096
    at = random.Random(seed).randrange(2, len(whole) // page) * page
    file, new = tmp_path / "a.db", tmp_path / "new.db"
    file.write_bytes(whole)
    with Database(file) as database:
        before = {table: database.count(table) for table in ("game", "position", "node")}
    is_cut = seed == "cut"
    damaged = whole[: -3 * page] if is_cut else whole[:at] + bytes(page) + whole[at + page :]
    file.write_bytes(damaged)
    assert cli.main(["db", str(file), "add", "a1b2"]) == 1
    said = capsys.readouterr().err
    assert "is damaged" in said and file.read_bytes() == damaged
    assert is_cut or "nothing was stored" in said
    assert said.count("\n") == 1 and "***" not in said
    assert cli.main(["db", str(new), "merge", str(file)]) == 1 and not new.exists()
    said = capsys.readouterr().err
    assert "is damaged" in said and said.count("\n") == 1
    assert is_cut or "nothing was copied" in said
    assert cli.main(["db", str(file), "rescue", str(new)]) == 0
    said = capsys.readouterr().out
    assert cli.main(["db", str(new), "check"]) == 0
    with Database(new) as database:
        after = {table: database.count(table) for table in before}
        games = [game.record for game in database.games()]
    assert all(record == game(int(record.comment.split()[1])) for record in games)
    words = {"game": "game", "position": "position", "node": "move"}
    kept, _, lost = said.partition("; lost: ")
    for table, word in words.items():
        assert counted(after[table], word) in kept
        ((count, more),) = re.findall(rf"(\d+) \b{word}s?( or more)?", lost)
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
    assert "already exists" in capsys.readouterr().err


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
    assert "line 5: this is not JSON" in said and "before that it stored 3 games" in said
    with Database(file) as database:
        assert database.count("game") == 3 and list(rescue.find_faults(database)) == []


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a database of three games, a finding, a line and a page of a book."""
    file = tmp_path_factory.mktemp("small") / "a.db"
    first, second = (7, 7), (8, 8)
    finding = Result(30, (Move(*second),), 9, 9, 100, author=Author("1", "w"))
    played = [((first, second), "1-0"), ((first, (8, 9)), "0-1"), ((first,), "*")]
    games = [GameRecord(rule=Rule.FREESTYLE, moves=cells, result=end) for cells, end in played]
    with Database(file, create=True) as database:
        add_items(database, [StoredGame(games[0], {1: finding}), *map(StoredGame, games[1:])])
        add_items(database, parse_sgf_trees("(;GM[4]SZ[15];B[hh]C[good];W[hg]LB[aa:A])"))
        with database.transaction():
            key = image_of(games[0].position).key
            page = page_row(database, key, 12, pack_book([((9, 9), 12), ((6, 6), -5)], 15))
            database.connection.run(SET_PAGE, page)
    return file.read_bytes()


COUNTS = "position {} has result counts that differ from its games"
FINDING = "the finding about position {} does not match its checksum"
PAGE = "the book's entry for position {} does not match its checksum"
NODE, NOWHERE = "node {} does not match its checksum", "node {} has no start position"
LEADS, HANGING = "node {} does not lead to its position", "nodes that no line reaches: {}"
GAME, MISSING = "game {} does not match its checksum", "positions of games that are missing: {}"
KEYLESS = [COUNTS.format(1), MISSING.format(1), NOWHERE.format(1), HANGING.format(3)]
TWICE = "(;GM[4]SZ[15];B[hh];W[hh])"
DAMAGES: list[tuple[str, list[str], str]] = [
    # what is changed; what is found; how many games, positions, nodes, findings and pages are lost
    ("book SET value = 12", [], "00000"),  # nothing
    ("game SET record = '(;GM[4])' WHERE id = 2",
     [GAME.format(2), *map(COUNTS.format, (1, 2, 4))], "11000"),
    ("game SET record = 7 WHERE id = 3", [GAME.format(3)], "10000"),
    ("game SET digest = 1000000000000 WHERE id = 3", [GAME.format(3)], "10000"),
    (f"game SET record = '{TWICE}', digest = x'{digest_of(TWICE).hex()}' WHERE id = 3",
     ["game 3 cannot be read: h8 is taken after h8"], "10000"),
    ("game SET result = '0-1' WHERE id = 1", [*map(COUNTS.format, (1, 3, 4))], "00000"),
    ("game SET result = '?' WHERE id = 3", ["game 3 has the result '?'"], "00000"),
    ("game SET id = 1125899906842624 WHERE id = 3", [], "?0000"),
    *((f"position SET {wins} = 7 WHERE id = 2", [COUNTS.format(2)], "00000")
      for wins in ("black_wins", "white_wins", "draws")),
    ("position SET key = x'00' WHERE id = 1", ["position 1 has a key that is too short", *KEYLESS],
     "01400"),
    ("position SET key = 7 WHERE id = 1", ["position 1 has no key", *KEYLESS], "01400"),
    ("position SET key = x'000f0f0001017071' WHERE id = 5",
     ["position 5 is not in its least orientation", LEADS.format(3)], "00000"),
    *((f"position SET {part} WHERE id = 4", [FINDING.format(4)], "00010")
      for part in ("value = 31", "depth = 8", "crc = 1", "rank = NULL", "moves = x'00'",
                   "moves = 1000000000000", "tree = '{}'")),
    ("position SET author = 9 WHERE id = 4", ["position 4: unknown author"], "00000"),
    ("position SET rank = 3 WHERE id = 1", [FINDING.format(1), "position 1: unknown author"],
     "00000"),
    *((f"node SET {part} WHERE id = 2", [NODE.format(2), HANGING.format(2)], "01300")
      for part in ("comment = 'bad'", "title = 'x'", "text = 'x'", "marks = 1", "cell = 111",
                   "cell = 'x'", "kind = 2", "crc = 1")),
    ("node SET kind = 1 WHERE id = 1", [NODE.format(1), HANGING.format(3)], "01400"),
    ("node SET position = NULL WHERE id = 1", [NOWHERE.format(1), HANGING.format(3)], "01400"),
    ("node SET position = 2 WHERE id = 1", [LEADS.format(2), LEADS.format(3)], "01400"),
    ("node SET position = 1 WHERE id = 3", [LEADS.format(3)], "00000"),
    ("node SET parent = 1 WHERE id = 3", [LEADS.format(3)], "00000"),
    ("node SET parent = 9 WHERE id = 1", [HANGING.format(4)], "01400"),
    ("node SET parent = 2 WHERE id = 2", [HANGING.format(3)], "01300"),
    ("node SET parent = 0 WHERE id = 2", [NOWHERE.format(2), HANGING.format(2)], "01300"),
    ("node SET parent = 0 WHERE id = 4", [NOWHERE.format(4)], "00100"),
    ("book SET value = 13", [PAGE.format(3)], "00001"),
    ("book SET moves = 7", [PAGE.format(3)], "00001"),
    ("book SET position = 1", [PAGE.format(1)], "00001"),
    *((f"book SET position = {number}", [f"the book has a missing position {name}"],
       "00001") for number, name in (("99", 99), ("'x'", "x"))),
]  # fmt: skip


@pytest.mark.parametrize(("change", "found", "lost"), DAMAGES)
def test_a_changed_value_is_found_and_what_else_there_is_rescued(
    change, found, lost, tmp_path, small
):
    old, new = tmp_path / "a.db", tmp_path / "new.db"
    old.write_bytes(small)
    with Database(old) as database:
        database.connection.run(f"UPDATE {change}")
        assert list(rescue.find_faults(database)) == found
    rescued = rescue.rescue(old, new)
    with Database(new) as database:
        assert list(rescue.find_faults(database)) == []
        kept = [*map(database.count, ("game", "position", "node")), len([*database.findings()])]
        kept.append(database.count("book"))
    for words in (f"db {tmp_path}/other.db merge {old}", f"db {old} export {tmp_path}/a.jsonl",
                  f"book show {old} h8h7", f"book openings {old} {tmp_path}/a.txt"):  # fmt: skip
        assert cli.main(words.split()) in (0, 1)  # no traceback
    asked = Game(15, 15, Rule.FREESTYLE)
    archive = Archive(str(old))
    for cell in ((7, 7), (7, 6)):
        asked.play(*cell)
        with suppress(EngineError), OptionalDatabase(str(old)) as known:
            known.finding(asked)
            known.note_findings({asked.position: Result(31, (Move(0, 0),), 20)})
        with suppress(EngineError):
            archive.document(asked.record())
    archive.close()
    assert [each.kept for each in rescued.values()] == kept[:3]
    assert [each.lost if each.knows_end else "?" for each in rescued.values()] == [
        letter if letter == "?" else int(letter) for letter in lost[:3]
    ]
    assert kept[3:] == [1 - int(letter) for letter in lost[3:]]


@pytest.mark.parametrize(
    ("change", "said"),
    [("PRAGMA application_id = 1", "is a database of another program"),
     ("UPDATE meta SET value = 9", f"has format 9; this version reads {connection.FORMAT}"),
     ("DROP TABLE meta", "holds no positions")],
)  # fmt: skip
def test_a_database_of_another_form_is_refused(change, said, tmp_path, small, capsys):
    (tmp_path / "a.db").write_bytes(small)
    with closing(sqlite3.connect(tmp_path / "a.db")) as link, link:
        link.execute(change)
    assert cli.main(["db", str(tmp_path / "a.db"), "show"]) == 1
    assert f"a.db {said}" in capsys.readouterr().err


MOST = 3 * rescue.BLOCK + rescue.EMPTY_BLOCKS * rescue.BLOCK  # where a row is still looked for


@pytest.mark.parametrize(
    ("knows_end", "far", "end"),
    [(True, MOST, MOST), (True, MOST + 1, MOST + 1), (False, MOST, MOST), (False, MOST + 1, 2999)],
)
def test_all_rows_are_read_but_those_that_cannot_be(knows_end, far, end):
    bad = {1, 2, *range(1000, 1030), 2 * rescue.BLOCK, 3000}
    numbers = [*range(1, 3001), far]

    class Damaged:
        def execute(self, sql: str, limits: tuple[int, ...] = ()) -> Damaged:
            if "MAX" in sql and not knows_end:
                raise sqlite3.DatabaseError
            if limits and any(limits[0] <= number <= limits[1] for number in bad):
                raise sqlite3.DatabaseError
            asked = [far] if "MAX" in sql else [9 * 4096] if "pragma" in sql else numbers
            self.rows = [(n,) for n in asked if not limits or limits[0] <= n <= limits[1]]
            return self

        def fetchall(self) -> list[tuple[int]]:
            return self.rows

    rows, found = rescue._read(Damaged(), "game", "id, record")
    assert found == (end, knows_end)
    assert [n for (n,) in rows] == [n for n in numbers if n not in bad and n <= end]


@pytest.mark.parametrize("name", [":memory:", "file:x.db", "x.db?mode=ro", " "])
def test_a_database_is_in_the_file_of_its_name(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Database(name, create=True).close()
    assert [path.name for path in tmp_path.iterdir()] == [name]
