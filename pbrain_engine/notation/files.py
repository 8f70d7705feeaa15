"""Game files of all formats, recognised by content for reading and by suffix for writing.

SGF and RenLib have modules of their own. Of the other formats only PSQ is also written.

PSQ (Gomocup's manager): a head with the board size, then ``x,y,ms`` per move, from 1, the names of
both players unless a person played, and a number for the result.

RIF (RenjuNet, the archive of the Renju International Federation): XML with lists of countries,
players, tournaments, opening rules, each entry with an ``id``, and games that name them:
``<game tournament="43" round="1" rule="6" black="64" white="115" bresult="1" opening="12" alt="h5"
swap="-"><move>h8 h9 ...</move><info/></game>``. Boards are 15x15, rows are numbered from below,
``alt`` are the fifth moves not chosen.

``.pos`` (Yixin-Board, RenLib, ZjRenju): a byte for the number of moves, then a byte per move,
``15 * row + column`` from the top left, on a 15x15 board.

``.sav`` (Yixin-Board): numbers as text: height, width, number of moves, then row and column of
each move, from 0.

``.rec`` (Piskvork, Gomotur): the names of both players, the starting one first, then
``column,row,ms`` per move, from 0, and a number for the result. The board is not stored; it is
taken as 20x20, or larger if the moves require it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import zip_longest
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import Remark, counted
from ..files import decode, decodings, in_place_of, read_whole, write_whole
from ..game.cells import NotationError, begins_with_move, parse_moves
from ..game.diagram import animated_svg
from ..game.record import GameRecord
from ..game.tree import GameTree, main_line, tree_of, without_bad
from ..position.geometry import MAX_BOARD, Coordinates
from ..position.rules import Rule, Side
from .games import MAGIC as SELF_PLAY
from .renlib import ENCODING, format_renlib, is_renlib, parse_renlib
from .sgf import format_sgf, parse_sgf, parse_sgf_trees, read_rule

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


# .pos, .sav and .rec --------------------------------------------------------------------

SIZE = 15  # of .pos and RIF
REC_SIZE = 20

_NUMBERS = re.compile(r"\s*(?:[0-9]{1,6}\s+)*[0-9]{1,6}\s*")
_LEAST = 3  # numbers of a .sav before its moves: height, width and number of moves
_TIMED = re.compile(r"\s*([0-9]{1,6})\s*,\s*([0-9]{1,6})\s*(?:,\s*-?[0-9]{1,18}\s*)?")
_NAMES = 2  # lines of a .rec before its moves


def is_pos(data: bytes) -> bool:
    """Return whether bytes are a ``.pos`` file: distinct moves, as many as announced, no text."""
    if not data or len(data) != 1 + data[0] or len({*data[1:]}) != data[0]:
        return False
    return data[0] < ord(" ") or not data.isascii()


def parse_pos(data: bytes) -> GameTree:
    """Parse a ``.pos`` file; NotationError if it is cut off or a move is impossible."""
    if not data or len(data) < 1 + data[0]:
        there, wanted = max(len(data) - 1, 0), data[0] if data else 1
        raise NotationError(
            f"the .pos file is cut off: it has {there} of {counted(wanted, 'move')}"
        )
    moves = []
    for number, byte in enumerate(data[1 : 1 + data[0]], 1):
        if byte >= SIZE**2:
            raise NotationError(f"move {number} of the .pos file, {byte}, is off the 15x15 board")
        moves.append((byte % SIZE, byte // SIZE))
    return tree_of(GameRecord(SIZE, SIZE, moves=tuple(moves))).check()


def parse_sav(text: str) -> GameTree:
    """Parse a ``.sav`` file; NotationError if its length or a move is invalid."""
    words = text.split()
    for number, word in enumerate(words, 1):
        if not _NUMBERS.fullmatch(word):
            raise NotationError(f"word {number} of the .sav file is not a number: {word[:40]!r}")
    if len(words) < _LEAST:
        raise NotationError("the .sav file is cut off before its number of moves")
    height, width, count, *cells = map(int, words)
    if len(cells) != 2 * count:
        announced = counted(count, "move")
        raise NotationError(f"the .sav file announces {announced} but has {len(cells) / 2:g}")
    moves = []
    for number, (y, x) in enumerate(zip(cells[::2], cells[1::2], strict=True), 1):
        if x >= width or y >= height:
            where = f"row {y}, column {x}"
            raise NotationError(f"move {number} of the .sav file ({where}) is off the board")
        moves.append((x, y))
    return tree_of(GameRecord(width, height, moves=tuple(moves))).check()


def is_rec(text: str) -> bool:
    """Return whether a text is a ``.rec`` file: two lines of names, then a move with its time."""
    lines = text.strip().split("\n", 3)
    return (
        len(lines) > _NAMES
        and _TIMED.fullmatch(lines[_NAMES]) is not None
        and not any(map(_TIMED.fullmatch, lines[:_NAMES]))
    )


def parse_rec(text: str, size: Coordinates | None) -> GameTree:
    """Parse a ``.rec`` file, on a board of ``size`` if known; NotationError if damaged."""
    lines = text.rstrip().split("\n")
    if len(lines) <= _NAMES:
        raise NotationError("the .rec file is cut off: it ends before the first move")
    moves: list[Coordinates] = []
    for number, line in enumerate(lines[_NAMES:], _NAMES + 1):
        found = _TIMED.fullmatch(line)
        if found is None:
            if number < len(lines) or not line.strip().lstrip("-").isdecimal():
                raise NotationError(f"line {number} of the .rec file is not a move: {line[:40]!r}")
            break
        moves.append((int(found[1]), int(found[2])))
    farthest = [max([REC_SIZE, *(cell[way] + 1 for cell in moves)]) for way in (0, 1)]
    width, height = size or farthest
    for number, (x, y) in enumerate(moves, 1):
        if x >= min(width, MAX_BOARD) or y >= min(height, MAX_BOARD):
            raise NotationError(f"move {number} of the .rec file ({x},{y}) is off the board")
    black, white = (line.strip() for line in lines[:_NAMES])
    record = GameRecord(width, height, moves=tuple(moves), black=black, white=white)
    return tree_of(record).check()


# PSQ ------------------------------------------------------------------------------------

# Two computer players at the highest level in the manager; the first starts.
_HEAD = "Piskvorky {}x{}, 11:11, 0"
_NUMBER = "(-?[0-9]{1,18})"
_START = re.compile(rf"Piskvorky\s+{_NUMBER}x{_NUMBER}\s*(?:,[^,]*(?:,\s*{_NUMBER}\s*(?:,.*)?)?)?")
_MOVE = re.compile(rf"{_NUMBER}\s*,\s*{_NUMBER}(?:\s*,\s*{_NUMBER})?")


def format_psq(record: GameRecord) -> str:
    """Return the game as a PSQ file; NotationError with set-up stones, passes or white first."""
    if record.placed or record.first != Side.BLACK:
        reason = "a PSQ file begins with the empty board and black's move"
        raise NotationError(reason).coded("only-empty", format="PSQ")
    if record.passes:
        raise NotationError("a PSQ file cannot keep passes")
    lines = [_HEAD.format(record.width, record.height)]
    moves = zip_longest(record.moves, (0,) * record.given + record.times)
    lines += [f"{x + 1},{y + 1},{spent or 0}" for (x, y), spent in moves]
    for number, name in enumerate((record.black, record.white), 1):
        words = name.replace(",", " ").split()  # with a comma it could be read as a move
        lines.append(" ".join(words) or f"player-{number}")
    return "\n".join([*lines, "0", ""])  # the result, which no program reads


def parse_psq(text: str) -> GameRecord:
    """Parse a PSQ file; NotationError if it is not one or the game is impossible."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    start = _START.fullmatch(lines[0]) if lines else None
    if start is None:
        raise NotationError(f"a PSQ file begins like {_HEAD.format(15, 15)!r}")
    width, height, first_player = map(int, start.groups("0"))
    moves: list[Coordinates] = []
    times: list[int] = []
    for line in lines[1:]:
        found = _MOVE.fullmatch(line)
        if found is None:
            break
        x, y = int(found[1]), int(found[2])
        if not (0 < x <= width and 0 < y <= height):
            raise NotationError(f"{line} is off the {width}x{height} board; PSQ counts from 1")
        moves.append((x - 1, y - 1))
        times.append(int(found[3] or 0))
    names = lines[1 + len(moves) : 4 + len(moves)]
    if len(names) <= _NAMES and re.fullmatch(_NUMBER, "".join(names[:1])):
        names = []  # a person's game has a result only
    names = [*names, "", ""][:_NAMES]
    if first_player:
        names.reverse()
    record = GameRecord(
        width, height, moves=tuple(moves), times=tuple(times), black=names[0], white=names[1]
    )
    tree_of(record).check()
    return record


# RIF ------------------------------------------------------------------------------------

_RESULTS = {"1": "1-0", "0": "0-1", "0.5": "1/2-1/2", "1/2": "1/2-1/2"}
_LISTS = ("player", "tournament", "rule", "opening")  # referenced by games
_BEGINS = re.compile(r"\s*<(?:\?xml|!--|database\b|games?\b|renju)", re.IGNORECASE)


def parse_rif(text: str) -> list[GameTree]:
    """Parse the games of a RIF file, with a remark on invalid ones; NotationError if all are."""
    from xml.etree import ElementTree  # imported late: takes 10 ms

    if "<!ENTITY" in text:  # entities could expand a small file enormously
        raise NotationError("a RIF file defines no entities")
    text = re.sub(r"^\s*<\?xml[^>]*\?>", "", text)  # its encoding is obsolete after decoding
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise NotationError(f"the RIF file is damaged or cut off: {error}") from None
    known = {kind: {entry.get("id", ""): entry for entry in root.iter(kind)} for kind in _LISTS}
    trees, bad = [], []
    for number, entry in enumerate(root.iter("game"), 1):
        try:
            trees.append(_game(entry, number, known))
        except NotationError as error:
            bad.append(str(error))
    if not trees and not bad:
        raise NotationError("there are no games in this XML file")
    return without_bad(trees, bad)


def _game(entry: Element, number: int, known: dict[str, dict[str, Element]]) -> GameTree:
    def named(field: str, kind: str) -> str:
        found = known[kind].get(entry.get(field, ""))
        names = () if found is None else (found.get("name", ""), found.get("surname", ""))
        return " ".join(filter(None, map(str.strip, names)))

    words = " ".join(child.text or "" for child in entry if child.tag in ("move", "moves"))
    try:
        cells = parse_moves(" ".join(words.split()), SIZE, SIZE, from_below=True)
        rule = named("rule", "rule")
        played = read_rule(rule)
        of_round = f"round {entry.get('round')}" if entry.get("round") else ""
        infos = (child.text.strip() for child in entry if child.tag == "info" and child.text)
        place = ", ".join(filter(None, (named("tournament", "tournament"), of_round)))
        notes = [place, _note("rule", rule), _note("opening", named("opening", "opening")),
                 _note("other fifth moves", entry.get("alt", "")),
                 _note("swap", entry.get("swap", "")), *infos]  # fmt: skip
        record = GameRecord(
            SIZE, SIZE, Rule.RENJU if played is None else played, tuple(cells),
            black=named("black", "player"), white=named("white", "player"),
            result=_RESULTS.get(entry.get("bresult", "").strip(), ""),
            date=_date(known["tournament"].get(entry.get("tournament", ""))),
            comment="\n".join(filter(None, notes)),
        )  # fmt: skip
        return tree_of(record).check()
    except NotationError as error:
        raise NotationError(f"game {number} (id {entry.get('id', '?')}): {error}") from None


def _note(what: str, text: str) -> str:
    return f"{what}: {text.strip()}" if text.strip(" -") else ""


def _date(tournament: Element | None) -> str:
    """Return the year of a tournament, with the month if it is a number."""
    year = "" if tournament is None else tournament.get("year", "").strip()
    month = "" if tournament is None else tournament.get("month", "").strip()
    return f"{year}-{int(month):02}" if year and month.isdecimal() else year


# All kinds ------------------------------------------------------------------------------

SQLITE = "SQLite format 3\0"
Reader = Callable[[str, Coordinates | None], list[GameTree]]

# Files that other commands read, or none: their beginning, and a description with the command.
_OTHERS = (
    (SQLITE, "a database; `numoku db FILE merge` imports it, `numoku db {} show` queries it"),
    (SELF_PLAY, "a file of self-play; `numoku db FILE add` reads its games"),
    ("{", "JSON: `numoku db FILE add` reads journals and analyses, `numoku solve` puzzles"),
    ("[Event ", "a PGN file, which is not read; SGF is"),
)


def _read_sgf(text: str) -> list[GameTree]:
    """Return the games of an SGF file, or the main line of the first if its variations are bad."""
    try:
        return parse_sgf_trees(text)
    except NotationError as error:
        if text.count("(") < 2:  # it has no variations
            raise
        tree = tree_of(parse_sgf(text))
        remark = f"only the first line of the game is used: {error}"
        tree.remarks.append(Remark(remark, "left-lines"))
        return [tree]


# Text formats: suffix, test of the content, and reader.
_TEXTS: tuple[tuple[str, Callable[[str], bool], Reader], ...] = (
    ("sgf", lambda text: text.startswith("(") and not begins_with_move(text),
     lambda text, size: _read_sgf(text)),
    ("psq", lambda text: text.lower().startswith("piskvorky"),
     lambda text, size: [tree_of(parse_psq(text))]),
    ("rif", lambda text: _BEGINS.match(text) is not None, lambda text, size: parse_rif(text)),
    ("sav", lambda text: _NUMBERS.fullmatch(text) is not None and len(text.split()) >= _LEAST,
     lambda text, size: [parse_sav(text)]),
    ("rec", is_rec, lambda text, size: [parse_rec(text, size)]),
)  # fmt: skip


def refuse_others(text: str, name: str = "") -> None:
    """Raise NotationError for a file that another command reads, or none, and say so."""
    for start, words in _OTHERS:
        if text.lstrip("\ufeff \t\r\n").startswith(start):
            reason = f"{name or 'this'} is {words.format(name or 'FILE')}"
            raise NotationError(reason).coded("no-game")


def read_games(
    data: bytes, name: str = "", encoding: str = ENCODING, size: Coordinates | None = None
) -> list[GameTree]:
    """Return the games of a RenLib, SGF, PSQ, RIF, ``.pos``, ``.sav`` or ``.rec`` file.

    Empty if neither content nor ``name`` suggests one of these formats: a drawing, moves or
    something else. ``encoding`` applies to RenLib, ``size`` to files that do not store their board.
    NotationError if the file has one of these formats but is damaged.
    """
    ending = name.rpartition(".")[2].lower()
    if is_renlib(data, name):
        ending = "lib"
    elif is_pos(data):
        ending = "pos"
    else:
        faults = []
        for text in decodings(data):
            try:
                if games := read_text(text, size):
                    return games
            except NotationError as error:
                faults.append(error)
        if faults:
            raise faults[0]
    with _named("RenLib" if ending == "lib" else ending.upper()):
        if ending == "lib":
            tree = parse_renlib(data, encoding)
            tree.record = tree.record._replace(rule=Rule.RENJU)  # of those who write libraries
            return [tree]
        if ending == "pos":
            return [parse_pos(data)]
        text = decode(data)  # damaged, for its format was not recognised
        return next((read(text, size) for known, _, read in _TEXTS if known == ending), [])


def read_text(text: str, size: Coordinates | None = None) -> list[GameTree]:
    """Return the games of a text, like ``read_games``."""
    body = text.strip()
    for known, fits, read in _TEXTS:
        if fits(body):
            with _named(known.upper()):
                return read(body, size)
    return []


@contextmanager
def _named(form: str) -> Iterator[None]:
    """Give errors without a code one that names the format."""
    try:
        yield
    except NotationError as error:
        raise error if error.code else error.coded("damaged", format=form) from None


Writer = Callable[[GameRecord], str]
WRITERS: dict[str, Writer] = {".sgf": format_sgf, ".psq": format_psq, ".svg": animated_svg}
LIBRARY_KIND = ".lib"
KINDS = (*WRITERS, LIBRARY_KIND)


def read_game(path: str | PathLike[str], rule: Rule | None = None) -> GameRecord:
    """Return the main line of a file's first game; NotationError if it contains none."""
    place = Path(path)
    data = read_whole(place)
    refuse_others(decode(data), str(path))
    trees = read_games(data, place.name)
    if not trees:
        raise NotationError(f"{path} is not a game file")
    record = main_line(trees[0])
    return record if rule is None else record._replace(rule=rule)


def write_game(path: str | PathLike[str], record: GameRecord) -> None:
    """Write a game in the format of a suffix; ValueError or NotationError if that cannot be."""
    place = Path(path)
    kind = place.suffix.lower()
    if record.start.walls and kind != ".svg":
        raise NotationError("blocked cells cannot be saved")
    if kind == LIBRARY_KIND:
        data, _ = format_renlib(tree_of(record))
        with in_place_of(place) as part:
            part.write_bytes(data)
    elif kind in WRITERS:
        write_whole(place, WRITERS[kind](record))
    else:
        raise ValueError(f"{place.name}: games are written as {', '.join(KINDS)}")
