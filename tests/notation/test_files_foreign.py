"""Files of other programs: their games, and what is said where they are damaged."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from pbrain_engine import NotationError, Rule, cli
from pbrain_engine.database import exports
from pbrain_engine.database.lines import Filter
from pbrain_engine.database.sources import SourceOptions, add_items, read_source
from pbrain_engine.database.store import Database, StoredGame
from pbrain_engine.game.cells import cell_name
from pbrain_engine.game.record import GameRecord
from pbrain_engine.game.tree import GameTree, main_line, tree_of
from pbrain_engine.notation import games
from pbrain_engine.notation.files import SQLITE, format_psq, read_games
from pbrain_engine.notation.renlib import format_renlib
from pbrain_engine.notation.sgf import format_sgf, parse_sgf_trees
from tests.arena import test_journal
from tests.notation.test_renlib import grow

GAME = [(7, 7), (8, 6), (9, 7), (6, 6), (0, 14)]
NAMES = ["h8", "i7", "j8", "g7", "a15"]

POS = bytes([5, *(15 * y + x for x, y in GAME)])
SAV = "15\n15\n5\n" + "".join(f"{y} {x}\n" for x, y in GAME)
REC = "pela\nhomo-1\n" + "".join(f"{x},{y},{9 * x}\n" for x, y in GAME) + "0\n"
RIF = """<?xml version="1.0" encoding="UTF-8"?>
<database>
<players>
<player id="4" name="Ada" surname="Lovelace" country="1"/><player id="5" name="Zo" surname="&amp;"/>
</players>
<tournaments><tournament id="2" name="Open Cup" year="1999" month="8" rule="6"/></tournaments>
<rules><rule id="6" name="RIF"/><rule id="7" name="Standard"/></rules>
<openings><opening id="12" name="i11" abbr="i11"/></openings>
<games>
<game id="31" tournament="2" round="3" rule="6" black="4" white="5" bresult="0.5" opening="12"
 alt="h5" swap="--"><move>h8 i9 j8 g9 a1</move><info>a fine game</info></game>
<game id="32" tournament="2" rule="7" black="5" white="99" bresult="1"><move>h8 h9</move></game>
<game id="33" bresult="" ><move></move><info/></game>
</games>
</database>
"""

WRITTEN = {"pos": POS, "sav": SAV.encode(), "rec": REC.encode(), "rif": RIF.encode()}


def names_of(record: GameRecord) -> list[str]:
    return [cell_name(*cell) for cell in record.moves]


@pytest.mark.parametrize("kind", WRITTEN)
def test_the_moves_of_every_format_are_the_same(kind):
    for name in (f"x.{kind}", ""):  # its content tells the kind
        game = main_line(read_games(WRITTEN[kind], name)[0])
        assert names_of(game) == NAMES
        side = 20 if kind == "rec" else 15
        assert (game.width, game.height) == (side, side)


def test_a_pos_file_is_told_from_a_text_of_the_same_length():
    for moves in (GAME[:4], GAME):  # the bytes of the first four are letters
        data = bytes([len(moves), *(15 * y + x for x, y in moves)])
        assert main_line(read_games(data)[0]).moves == tuple(moves)
    text = b"h" + bytes(range(0x20, 0x7F)) + b"\t\n\r\v\f" + bytes(range(1, 5))
    assert text[0] == len(text) - 1 and read_games(text) == []


def test_a_rec_file_has_names_and_times_and_a_board_that_its_moves_fit_on():
    game = main_line(read_games(REC.encode())[0])
    assert (game.black, game.white) == ("pela", "homo-1")
    (given,) = read_games(REC.encode(), size=(15, 16))
    assert (given.record.width, given.record.height) == (15, 16)
    (large,) = read_games(b"a\nb\n21,3,0\n")
    assert (large.record.width, large.record.height) == (22, 20)
    with pytest.raises(NotationError, match=r"move 1 of the .rec file \(22,3\) is off the board"):
        read_games(b"a\nb\n22,3,0\n")


def test_a_sav_file_may_be_of_any_board():
    (tree,) = read_games(b"10 12 2  9 11  0 0")
    assert (tree.record.width, tree.record.height) == (12, 10)
    assert main_line(tree).moves == ((11, 9), (0, 0))
    with pytest.raises(NotationError, match=r"move 1 .*\(row 10, column 0\) is off the board"):
        read_games(b"10 12 1 10 0")


def test_a_rif_file_has_games_with_what_its_lists_say_of_them():
    first, second, third = map(main_line, read_games(RIF.encode()))
    assert (first.black, first.white) == ("Ada Lovelace", "Zo &")
    assert (first.result, first.date, first.rule) == ("1/2-1/2", "1999-08", Rule.RENJU)
    assert first.comment.splitlines() == [
        "Open Cup, round 3", "rule: RIF", "opening: i11", "other fifth moves: h5", "a fine game",
    ]  # fmt: skip
    assert names_of(second) == ["h8", "h7"]  # rows count from below
    assert (second.rule, second.result, second.white) == (Rule.STANDARD, "1-0", "")
    assert (third.moves, third.result, third.rule) == ((), "", Rule.RENJU)


def test_an_impossible_game_of_a_rif_file_is_left_out_and_named_once(tmp_path, capsys):
    path = tmp_path / "x.rif"
    path.write_text(RIF.replace("h8 h9", "h8 h8"), encoding="utf-8")  # the second game
    first, third = read_games(path.read_bytes())
    said = "left out: game 2 (id 32): move 2 (character 4): h8 is played twice"
    assert (first.remarks, third.remarks) == ([said], [])
    assert names_of(main_line(first)) == ["h8", "i7", "j8", "g7", "a15"]
    assert cli.main(["db", str(tmp_path / "a.db"), "add", str(path)]) == 0
    out, err = capsys.readouterr()
    assert "stored 1 game" in out and err == f"{path}: {said}\n"
    assert cli.main(["analyse", str(path), "--nodes", "10"]) == 0
    assert said in capsys.readouterr().err


def test_an_impossible_game_among_many_of_an_sgf_file_is_left_out():
    text = "(;GM[4]SZ[15];B[hh])(;GM[4]SZ[15];B[hh];W[hh])(;GM[2])(;GM[4]SZ[15];B[aa])"
    first, last = parse_sgf_trees(text)
    assert first.remarks == [
        "left out: game 2: h8 is taken after h8; "
        "game 3: GM[2] is another game; five in a row is GM[4]"
    ]
    assert main_line(last).moves == ((0, 0),) and not last.remarks
    for count, more in ((3, ""), (5, "; and 2 more")):  # few of many are named
        (tree,) = parse_sgf_trees("(;GM[4]SZ[15];B[hh])" + "(;GM[2])" * count)
        assert tree.remarks[0].count(": GM[2]") == 3 and tree.remarks[0].endswith(f"GM[4]{more}")
    with pytest.raises(NotationError, match="^h8 is taken after h8$"):
        parse_sgf_trees("(;GM[4]SZ[15];B[hh];W[hh])")


@pytest.mark.parametrize(
    ("content", "name", "reason"),
    [
        (POS[:-1], "x.pos", "cut off: it has 4 of 5 moves"),
        (b"", "x.pos", "cut off"),
        (bytes([1, 225]), "x.pos", "move 1 of the .pos file, 225, is off the 15x15 board"),
        (bytes([2, 7, 7]), "x.pos", "h1 is taken after h1"),
        (SAV[:-4].encode(), "x.sav", "the .sav file has 4.5 moves but announces 5"),
        (SAV.encode() * 2, "x.sav", "has 11.5 moves but announces 5"),
        (b"15 15", "x.sav", "cut off"),
        (b"15 15 1 x 3", "x.sav", "word 4 of the .sav file is not a number: 'x'"),
        (REC.replace("9,7,", "9;7,").encode(), "x.rec", "line 5 of the .rec file is not a move"),
        (b"a\nb\n", "x.rec", "cut off"),
        (RIF[: len(RIF) // 2].encode(), "x.rif", "damaged or cut off: .* line [0-9]+, column"),
        (
            RIF.replace("<move>", "<move>z9 ").replace('id="33"', "").encode(),
            "x.rif",
            r"game 1 \(id 31\): .*z9",
        ),
        (b"<database/>", "x.rif", "no games"),
        (b"<!DOCTYPE d [<!ENTITY a 'b'>]><database>&a;</database>", "x.rif", "defines no entities"),
        (b"\xffRenLib", "x.lib", "not a RenLib library"),
        (b"hello", "x.sgf", "an SGF file begins with"),
        (b"hello", "x.psq", "a PSQ file begins like"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_place(content, name, reason):
    with pytest.raises(NotationError, match=reason):
        read_games(content, name)


def readable() -> dict[str, bytes]:
    """Return a whole file of each kind."""
    record = GameRecord(rule=Rule.RENJU, moves=tuple(GAME), black="Ada", comment="c")
    library, _ = format_renlib(grow(3, 40), "utf-8")
    texts = {"sgf": format_sgf(record), "psq": format_psq(record)}
    return {**WRITTEN, "lib": library, **{kind: text.encode() for kind, text in texts.items()}}


@pytest.mark.parametrize("kind", readable())
@pytest.mark.parametrize("seed", range(3))
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


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (SQLITE + bytes(100), ["is a database", "merge"]),
        (b'{"type": "match"}\n', ["is a journal", "numoku db FILE add"]),
        (b"numoku games 1\n\n", ["is a file of self-play", "numoku db FILE add"]),
        (bytes(range(256)), ["not a known kind of game or position file"]),
    ],
)
@pytest.mark.parametrize("command", [["analyse"], ["review"]])
def test_files_that_are_no_positions_are_named_for_what_they_are(
    content, words, command, tmp_path, capsys
):
    path = tmp_path / "file"
    path.write_bytes(content)
    assert cli.main([*command, str(path)]) in (1, 2)
    said = capsys.readouterr().err
    assert all(word in said for word in words) and said.count("\n") == 1


@pytest.mark.parametrize("place", ["add", "analyse"])
def test_nothing_half_written_is_left_of_a_damaged_file(place, tmp_path):
    path, database = tmp_path / "x.rif", tmp_path / "a.db"
    path.write_text(RIF.replace("h8 h9</move>", "h8 h9"), encoding="utf-8")  # the second game
    words = ["db", str(database), "add"] if place == "add" else ["analyse"]
    assert cli.main([*words, str(path)]) != 0
    assert [file.name for file in tmp_path.iterdir()] == ["x.rif"]


def sources_of(folder: Path) -> dict[str, bytes]:
    """Return a whole file of each kind that a database takes and that holds no position."""
    with Database(folder / "made.db", create=True) as database:
        record = GameRecord(rule=Rule.RENJU, moves=tuple(GAME), result="1-0")
        add_items(database, [StoredGame(record), tree_of(record._replace(comment="c"))])
        exports.export(database, folder / "made.jsonl", Filter())
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
    for _ in range(150):
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
