"""The tables.

``position``: a key (``notation/canonical.py``) with the wins of black, draws and wins of white
of the games that passed through it, and the best that a search has found out: ``rank`` orders
findings of one position, ``moves`` and ``line`` are cells in the orientation of the key, ``crc``
is over the finding. ``author``: which version with which weights has found it out.

``game``: each game once, as SGF; ``digest`` is over that text.

``node``: the lines that people and programs have entered, in the orientation in which they came:
a start position (kind 0, ``cell`` is its number), a move (1), or a text on a cell (2) below its
``parent``; ``cell`` is ``y * width + x``, -1 for a pass. Notes belong to a node.

``book``: the positions of a book: the moves that its search compared, packed with their values.
"""

from __future__ import annotations

from .connection import Connection, DatabaseError

FORMAT = 1

TABLES = (
    "CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    """CREATE TABLE IF NOT EXISTS author (
        id {id}, version TEXT NOT NULL, weights TEXT NOT NULL, UNIQUE (version, weights))""",
    """CREATE TABLE IF NOT EXISTS position (
        id {id}, key {bytes} NOT NULL UNIQUE,
        black_wins BIGINT NOT NULL DEFAULT 0, draws BIGINT NOT NULL DEFAULT 0,
        white_wins BIGINT NOT NULL DEFAULT 0,
        rank BIGINT, value BIGINT, bound BIGINT, depth BIGINT, nodes BIGINT,
        moves {bytes}, line {bytes}, proof TEXT, tree TEXT, author BIGINT, crc BIGINT)""",
    """CREATE TABLE IF NOT EXISTS game (
        id {id}, digest {bytes} NOT NULL UNIQUE, result TEXT NOT NULL, record TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS node (
        id {id}, parent BIGINT NOT NULL, kind BIGINT NOT NULL, cell BIGINT NOT NULL,
        position BIGINT, marks BIGINT NOT NULL DEFAULT 0,
        title TEXT NOT NULL DEFAULT '', comment TEXT NOT NULL DEFAULT '',
        text TEXT NOT NULL DEFAULT '', crc BIGINT NOT NULL DEFAULT 0,
        UNIQUE (parent, kind, cell))""",
    "CREATE INDEX IF NOT EXISTS node_position ON node (position)",
    """CREATE TABLE IF NOT EXISTS book (
        position BIGINT PRIMARY KEY, value BIGINT NOT NULL, moves {bytes} NOT NULL,
        crc BIGINT NOT NULL)""",
)


def prepare(connection: Connection, create: bool) -> None:
    """Make the tables where they are missing; see that they are of this format.

    Raises:
        DatabaseError: there are none and none are to be made, or they are of another format.
    """
    if create and not _has_tables(connection):
        with connection.writing():
            for statement in TABLES:
                connection.run(statement.format(**connection.types))
            connection.run(
                "INSERT INTO meta (name, value) VALUES ('format', :format) "
                "ON CONFLICT (name) DO NOTHING",
                {"format": str(FORMAT)},
            )
    if not _has_tables(connection):
        raise DatabaseError(f"{connection.name} holds no positions")
    ((found,),) = connection.rows("SELECT value FROM meta WHERE name = 'format'") or [("none",)]
    if found != str(FORMAT):
        raise DatabaseError(f"{connection.name} has format {found}; this version reads {FORMAT}")


def _has_tables(connection: Connection) -> bool:
    try:
        return bool(connection.rows("SELECT 1 FROM meta WHERE name = 'format'"))
    except DatabaseError as error:
        if "meta" in str(error):  # there is no such table
            return False
        raise
