"""Every file of games that people have: which kind it is, by its content, and its games."""

from __future__ import annotations

from ..files import decode
from ..game.cells import NotationError, begins_with_move
from ..game.tree import GameTree, tree_of
from ..position.geometry import Coordinates
from .foreign import is_pos, is_rec, is_sav, parse_pos, parse_rec, parse_sav
from .games import MAGIC as SELF_PLAY
from .psq import parse_psq
from .renlib import ENCODING, parse_renlib
from .renlib import MAGIC as LIBRARY
from .rif import is_rif, parse_rif
from .sgf import parse_sgf_trees

SQLITE = b"SQLite format 3\0"

# What has games in it and is no position: how it begins, what it is, and who reads it.
_OTHERS = (
    (SQLITE, "a database; `numoku db FILE merge` takes it over, `numoku db {} show` asks it"),
    (SELF_PLAY.encode(), "a file of self-play; `numoku db FILE add` reads its games"),
    (b"{", "a journal, or what an analysis printed; `numoku db FILE add` reads its games"),
)


def refuse_others(data: bytes, name: str) -> None:
    """Refuse what is known and holds no game that can be shown as one; it may have no ``name``.

    Raises:
        NotationError: it says what the file is, and which command reads it.
    """
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
    if data.startswith(LIBRARY):
        return [parse_renlib(data, encoding)]
    if is_pos(data):
        return [tree_of(parse_pos(data))]
    text = decode(data)
    games = read_text(text, size)
    if games:
        return games
    match name.rpartition(".")[2].lower():  # it is damaged, or it would be known
        case "lib":
            return [parse_renlib(data, encoding)]
        case "pos":
            return [tree_of(parse_pos(data))]
        case "sgf":
            return parse_sgf_trees(text)
        case "psq":
            return [tree_of(parse_psq(text))]
        case "rif":
            return parse_rif(text)
        case "sav":
            return [tree_of(parse_sav(text))]
        case "rec":
            return [tree_of(parse_rec(text, size))]
    return []


def read_text(text: str, size: Coordinates | None = None) -> list[GameTree]:
    """Return the games of a text, as ``read_games`` does."""
    body = text.strip()
    if body.startswith("(") and not begins_with_move(body):
        return parse_sgf_trees(body)
    if body.lower().startswith("piskvorky"):
        return [tree_of(parse_psq(body))]
    if is_rif(body):
        return parse_rif(body)
    if is_sav(body):
        return [tree_of(parse_sav(body))]
    if is_rec(body):
        return [tree_of(parse_rec(body, size))]
    return []
