"""Files of games of every kind: read by what they hold, written by the name."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path

from ..files import decode, in_place_of, read_whole, write_whole
from ..game.cells import NotationError, begins_with_move
from ..game.diagram import animated_svg
from ..game.record import GameRecord, GameTree, main_line, tree_of
from ..position.geometry import Coordinates
from ..position.rules import Rule
from . import foreign
from .games import MAGIC as SELF_PLAY
from .renlib import ENCODING, MAGIC, format_renlib, parse_renlib
from .sgf import format_sgf, parse_sgf_trees

SQLITE = b"SQLite format 3\0"
Reader = Callable[[str, Coordinates | None], list[GameTree]]

# What has games in it and is no position: how it begins, what it is, and who reads it.
_OTHERS = (
    (SQLITE, "a database; `numoku db FILE merge` takes it over, `numoku db {} show` asks it"),
    (SELF_PLAY.encode(), "a file of self-play; `numoku db FILE add` reads its games"),
    (b"{", "a journal, or what an analysis printed; `numoku db FILE add` reads its games"),
)


# Texts: how the names of files end, what tells them, and their games on boards of a size.
_TEXTS: tuple[tuple[str, Callable[[str], bool], Reader], ...] = (
    ("sgf", lambda text: text.startswith("(") and not begins_with_move(text),
     lambda text, size: parse_sgf_trees(text)),
    ("psq", lambda text: text.lower().startswith("piskvorky"),
     lambda text, size: [tree_of(foreign.parse_psq(text))]),
    ("rif", foreign.is_rif, lambda text, size: foreign.parse_rif(text)),
    ("sav", foreign.is_sav, lambda text, size: [tree_of(foreign.parse_sav(text))]),
    ("rec", foreign.is_rec, lambda text, size: [tree_of(foreign.parse_rec(text, size))]),
)  # fmt: skip


def refuse_others(data: bytes, name: str) -> None:
    """Raise NotationError, which says how it is read, for a file that holds no game to show."""
    for start, words in _OTHERS:
        if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(start):
            raise NotationError(f"{name or 'this'} is {words.format(name or 'FILE')}")


def read_games(
    data: bytes, name: str = "", encoding: str = ENCODING, size: Coordinates | None = None
) -> list[GameTree]:
    """Return the games of a file: a library, SGF, PSQ, RIF, ``.pos``, ``.sav`` or ``.rec``.

    There are none where neither its content nor its ``name`` says that it is one of these: a
    drawing, moves, or something else. The ``encoding`` is that of a library, the ``size`` for files
    that do not tell their board.

    Raises:
        NotationError: it is one of these, and damaged.
    """
    if data.startswith(MAGIC):
        return [parse_renlib(data, encoding)]
    if foreign.is_pos(data):
        return [tree_of(foreign.parse_pos(data))]
    text, ending = decode(data), name.rpartition(".")[2].lower()
    if games := read_text(text, size):
        return games
    if ending == "lib":  # it is damaged, or its content would tell; so are those that follow
        return [parse_renlib(data, encoding)]
    if ending == "pos":
        return [tree_of(foreign.parse_pos(data))]
    return next((read(text, size) for known, _, read in _TEXTS if known == ending), [])


def read_text(text: str, size: Coordinates | None = None) -> list[GameTree]:
    """Return the games of a text, as ``read_games`` does."""
    body = text.strip()
    return next((read(body, size) for _, fits, read in _TEXTS if fits(body)), [])


Writer = Callable[[GameRecord], str]
WRITERS: dict[str, Writer] = {".sgf": format_sgf, ".psq": foreign.format_psq, ".svg": animated_svg}
LIBRARY_KIND = ".lib"
KINDS = (*WRITERS, LIBRARY_KIND)


def read_game(path: str | PathLike[str], rule: Rule | None = None) -> GameRecord:
    """Return the main line of the first game of a file, by what it holds before its name.

    Raises:
        OSError: it cannot be read.
        NotationError: it holds no game.
    """
    place = Path(path)
    data = read_whole(place)
    refuse_others(data, str(path))
    trees = read_games(data, place.name)
    if not trees:
        raise NotationError(f"{path} is no file of games")
    record = main_line(trees[0])
    usual = Rule.RENJU if data.startswith(MAGIC) else None
    return record._replace(rule=rule or record.rule or usual)


def write_game(path: str | PathLike[str], record: GameRecord) -> None:
    """Write a game to a file, of the kind that its name ends with.

    Raises:
        ValueError: there is no such kind.
        NotationError: such a file cannot keep it.
        OSError: it cannot be written.
    """
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
