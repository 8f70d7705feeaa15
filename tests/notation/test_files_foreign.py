"""Files of other programs: their games, and what is said where they are damaged."""

from __future__ import annotations

import random
import re
from ast import literal_eval
from pathlib import Path

import pytest

from pbrain_engine import NotationError, Rule, cli
from pbrain_engine.database import sources
from pbrain_engine.database.lines import Filter
from pbrain_engine.database.sources import SourceOptions, add_items, read_source
from pbrain_engine.database.store import Database, StoredGame
from pbrain_engine.game.record import GameRecord
from pbrain_engine.game.tree import GameTree, tree_of
from pbrain_engine.notation import games
from pbrain_engine.notation.files import format_psq, read_games
from pbrain_engine.notation.renlib import format_renlib
from pbrain_engine.notation.sgf import format_sgf
from tests.arena import test_journal
from tests.golden import readings
from tests.notation.test_renlib import grow

GAME = [(7, 7), (8, 6), (9, 7), (6, 6), (0, 14)]

# Of what Numoku does not write: the whole files that a record has.
WRITTEN = {
    kind: literal_eval(data)
    for kind, data in re.findall(r"(?m)^> file\('whole\.(\w+)', (.*)\)$", readings.readings.read())
}


def readable() -> dict[str, bytes]:
    """Return a whole file of each kind."""
    record = GameRecord(rule=Rule.RENJU, moves=tuple(GAME), black="Ada", comment="c")
    library, _ = format_renlib(grow(3, 40), "utf-8")
    texts = {"sgf": format_sgf(record), "psq": format_psq(record)}
    return {**WRITTEN, "lib": library, **{kind: text.encode() for kind, text in texts.items()}}


@pytest.mark.parametrize("kind", readable())
@pytest.mark.parametrize("seed", range(2))
def test_a_damaged_file_is_read_as_games_or_refused_in_a_sentence(kind, seed):
    """Cut off anywhere, doubled, with bytes changed, put in or taken out: nothing else happens."""
    chance = random.Random(seed)
    whole = readable()[kind]

    def changed() -> bytes:
        data = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(data))
            put = [chance.randrange(256) for _ in range(chance.choice((0, 1, 1, 1, 2)))]
            data[at : at + chance.choice((0, 1, 1, 5))] = bytes(put)
            data = data or bytearray(b"\0")
        return bytes(data)

    damaged = [whole[: chance.randrange(len(whole))] for _ in range(60)]
    damaged += [whole + whole, whole + whole[:7], *(changed() for _ in range(300))]
    for data in damaged:
        try:
            trees = read_games(data, f"x.{kind}")
        except NotationError as error:
            said = str(error)
            assert 8 < len(said) < 300 and "\n" not in said and "Traceback" not in said
        else:
            assert all(isinstance(tree.check(), GameTree) for tree in trees)


@pytest.mark.parametrize("kind", readable())
def test_games_of_every_kind_are_shown_and_stored(kind, tmp_path, capsys):
    path = tmp_path / f"game.{kind}"
    path.write_bytes(readable()[kind])
    assert list(read_source(str(path), SourceOptions()))
    assert cli.main(["db", str(tmp_path / "a.db"), "add", str(path)]) == 0
    assert cli.main(["analyse", str(path), "--nodes", "10"]) == 0
    assert "to move" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["analyse", "review"])
def test_files_that_are_no_positions_are_named_for_what_they_are(command, tmp_path, capsys):
    path = tmp_path / "file"
    for content in (bytes(range(256)), b"PK\3\4zzzz", b"\x89PNG\r\n\x1a\n"):
        path.write_bytes(content)
        assert cli.main([command, str(path)]) == 1
        said = capsys.readouterr().err
        assert "not a known kind of game or position file" in said and said.count("\n") == 1


@pytest.mark.parametrize(
    ("moves", "reason"),
    [("a1a1b2", "a1 is taken after"), ("a1p1b2", "15,0 is off the 15x15 board")],
)
def test_impossible_moves_of_a_journal_damage_no_database(moves, reason, tmp_path):
    path = test_journal.written(tmp_path, test_journal.game(0, moves=moves))
    with Database(tmp_path / "a.db", create=True) as database:
        with pytest.raises(NotationError, match=reason):
            add_items(database, read_source(str(path), SourceOptions()))
        assert not database.count("game")


def sources_of(folder: Path) -> dict[str, bytes]:
    """Return a whole file of each kind that a database takes and that holds no position."""
    with Database(folder / "made.db", create=True) as database:
        record = GameRecord(rule=Rule.RENJU, moves=tuple(GAME), result="1-0")
        add_items(database, [StoredGame(record), tree_of(record._replace(comment="c"))])
        sources.export(database, folder / "made.jsonl", Filter())
    cells = tuple(15 * y + x for x, y in GAME)
    played = games.Record(0, Rule.RENJU, 15, 15, 1, 1, games.Ending.FIVE, cells, (3,) * len(cells))
    self_play = games.header({"weights": "net1", "nodes": "50", "seed": "1"}) + games.encode(played)
    (folder / "journal").mkdir(exist_ok=True)
    journal = test_journal.written(folder / "journal", test_journal.game(0), test_journal.game(1))
    return {
        "jsonl": (folder / "made.jsonl").read_bytes(),
        "games": self_play,
        "journal": journal.read_bytes(),
    }


@pytest.mark.parametrize("kind", ["jsonl", "games", "journal"])
def test_damaged_sources_of_a_database_are_refused_in_a_sentence(kind, tmp_path):
    chance = random.Random(5)
    whole = sources_of(tmp_path)[kind]
    path = tmp_path / "source"
    path.write_bytes(whole)
    assert list(read_source(str(path), SourceOptions()))
    damaged = [whole[: chance.randrange(1, len(whole))] for _ in range(30)] + [whole + whole]
    for _ in range(80):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(data))
            data[at : at + chance.choice((0, 1, 1))] = bytes([chance.randrange(256)])
        damaged.append(bytes(data))
    for data in damaged:
        path.write_bytes(data)
        try:
            list(read_source(str(path), SourceOptions()))
        except (ValueError, OSError) as error:
            said = str(error)
            assert 8 < len(said) < 400 and said.isprintable(), said


@pytest.mark.parametrize(
    ("kind", "old", "new", "reason"),
    [
        ("jsonl", b'"sgf"', b'"sg\xff"', r"not JSON: byte [0-9]+ is not UTF-8"),
        ("journal", b'"game"', b'"gam\xff"', r"line 2: this is not JSON: byte [0-9]+ is not UTF-8"),
        ("games", b"nodes: 50", b"nodes: 5\0", r"nodes '5\\x00': a number such as"),
    ],
)
def test_bytes_that_are_no_text_are_named_with_their_place(kind, old, new, reason, tmp_path):
    path, whole = tmp_path / "source", sources_of(tmp_path)[kind]
    assert old in whole
    path.write_bytes(whole.replace(old, new))
    with pytest.raises((ValueError, OSError), match=reason):
        list(read_source(str(path), SourceOptions()))
