"""A connection to an SQLite file or a PostgreSQL server, behind one interface.

A file needs only the standard library; a server needs SQLAlchemy (the extra ``database``). Both
run the same statements, in the SQL they share, with parameters written ``:name``. There is one
writer at a time; others wait.

``position``: a key (``game/position.py``) with the black wins, draws and white wins of the games
that passed through it, and the best search result: ``rank`` orders results for one position,
``moves`` and ``line`` are cells in the orientation of the key, ``crc`` covers the result.
``author``: the version and weights that found it.

``game``: each game once, as SGF; ``digest`` covers that text.

``node``: lines entered by people and programs, in their original orientation:
a start position (kind 0, ``cell`` is its number), a move (1), or a text on a cell (2) below its
``parent``; ``cell`` is ``y * width + x``, -1 for a pass. Notes belong to a node.

``book``: the positions of a book: the moves that its search compared, packed with their values.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..engine.book import open_unwritable
from ..engine.engine import EngineError
from ..files import user_path

APPLICATION_ID = 0x4E554D4B  # "NUMK", in the file header
LEAST_SQLITE = (3, 35)  # for INSERT ... RETURNING
WAIT_SECONDS = 60.0  # for another writer
ANYTHING = "SELECT 1 FROM sqlite_master LIMIT 1"
WRITERS_LOCK = 0x4E554D4B  # an advisory lock of PostgreSQL, held while writing

Row = tuple[Any, ...]
Parameters = Mapping[str, Any]
_NONE: Parameters = {}


class DatabaseConnection:
    """Statements and transactions on a file; ``ServerConnection`` overrides them for a server.

    Committed changes survive a crash or a power failure.
    """

    types: Mapping[str, str] = {"id": "INTEGER PRIMARY KEY", "bytes": "BLOB"}  # in a schema
    _error: type[Exception] = sqlite3.Error  # raised by the driver
    _link: Any  # the connection of `sqlite3` or of SQLAlchemy
    _is_writing = False

    def __init__(self, path: Path, create: bool) -> None:
        """Open a file; EngineError if it is missing, unless ``create``, or not one of ours."""
        self.name = str(path)  # of the database, in messages
        if sqlite3.sqlite_version_info < LEAST_SQLITE:
            raise EngineError(f"this Python has SQLite {sqlite3.sqlite_version}; 3.35 is needed")
        if not create and not path.is_file():
            raise EngineError(f"there is no database {path}")
        try:
            self._link = sqlite3.connect(  # absolute, as :memory: and file:a have other meanings
                path.absolute(), timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise EngineError(f"{path}: {error}") from None
        with self._errors_explained():
            try:
                self._link.execute(ANYTHING)
            except sqlite3.OperationalError as error:
                self._link = open_unwritable(path, error)
            is_new = not self._link.execute(ANYTHING).fetchall()
            (mark,) = self._link.execute("PRAGMA application_id").fetchone()
            if not is_new and mark != APPLICATION_ID:
                raise EngineError(f"{path} is a database of another program")
            if is_new and create:
                self._link.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            if create or not is_new:  # reading leaves an empty file empty
                with suppress(sqlite3.OperationalError):  # a read-only medium
                    self._link.execute("PRAGMA journal_mode = WAL")
            self._link.execute("PRAGMA synchronous = FULL")

    @contextmanager
    def _errors_explained(self) -> Iterator[None]:
        try:
            yield
        except (self._error, UnicodeDecodeError) as error:  # of a damaged schema
            raise EngineError(f"{self.name}{self._explain(error)}") from None

    def _explain(self, error: Exception) -> str:
        """Return the message for an error, to follow the name of the database."""
        text = str(error)
        if "not a database" in text and "encrypted" not in text:
            return " is not a database"
        if "malformed" in text or isinstance(error, UnicodeDecodeError):
            return f" is damaged ({text}); `numoku db FILE rescue NEW` saves what can be read"
        if "locked" in text or "busy" in text:
            return f": another program has been writing for more than {WAIT_SECONDS:.0f} s"
        if "full" in text or "disk I/O" in text:
            return f" cannot be written ({text}); everything stored earlier is intact"
        return f": {text}"

    def _execute(self, sql: str, parameters: Parameters | Sequence[Parameters]) -> Any:
        is_one = isinstance(parameters, Mapping)
        return (self._link.execute if is_one else self._link.executemany)(sql, parameters)

    def rows(self, sql: str, parameters: Parameters = _NONE) -> list[Row]:
        """Return all rows of a query."""
        with self._errors_explained():
            return [tuple(row) for row in self._execute(sql, parameters)]

    def stream(self, sql: str, parameters: Parameters = _NONE) -> Iterator[Row]:
        """Yield the rows of a query, if possible without reading all of them into memory."""
        with self._errors_explained():
            yield from self._execute(sql, parameters)

    def run(self, sql: str, parameters: Parameters | Sequence[Parameters] = _NONE) -> int:
        """Execute a statement once per set of parameters; return the number of changed rows."""
        if not parameters and parameters is not _NONE:
            return 0
        with self._errors_explained():
            return int(self._execute(sql, parameters).rowcount)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all or nothing, as the only writer; the changes are on disk afterwards."""
        self._is_writing = True
        try:
            with self._errors_explained():
                self._begin()
            yield
            with self._errors_explained():
                self._link.commit()
        except BaseException:
            with suppress(EngineError), self._errors_explained():
                self._link.rollback()
            raise
        finally:
            self._is_writing = False

    def _begin(self) -> None:
        self._link.execute("BEGIN IMMEDIATE")

    def faults(self, quick: bool = False) -> list[str]:
        """Return the damage that SQLite finds in the file; ``quick`` skips its indices."""
        pragma = "quick_check(1)" if quick else "integrity_check(20)"
        try:
            found = self._link.execute(f"PRAGMA {pragma}").fetchall()
        except sqlite3.Error as error:
            return [str(error)]
        lines = [line for (text,) in found for line in text.splitlines()]
        return [line for line in lines if line != "ok" and not line.startswith("*** ")]

    def close(self) -> None:
        """Close the connection; the last one to close merges the journal into the file."""
        with suppress(self._error):
            self._link.close()


class ServerConnection(DatabaseConnection):
    """A database of a PostgreSQL server, named by a URL."""

    types = {"id": "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY", "bytes": "BYTEA"}

    def __init__(self, url: str) -> None:
        """Connect; EngineError if SQLAlchemy is not installed, or the server does not answer."""
        try:
            import sqlalchemy
            from sqlalchemy.exc import ArgumentError, SQLAlchemyError
        except ImportError:
            raise EngineError(
                "a database URL needs SQLAlchemy: pip install 'pbrain-numoku[database]'"
            ) from None
        self._text = sqlalchemy.text
        self._error = SQLAlchemyError
        try:
            address = sqlalchemy.make_url(url)
        except ArgumentError:
            raise EngineError(f"{url} is not a database URL") from None
        if address.get_backend_name() != "postgresql":
            raise EngineError("a database is a file or a URL that begins with postgresql://")
        if address.drivername == "postgresql":
            address = address.set(drivername="postgresql+psycopg")
        self.name = address.render_as_string(hide_password=True)
        with self._errors_explained():
            try:
                engine = sqlalchemy.create_engine(address)
            except ImportError as error:  # its driver
                raise EngineError(f"a database URL needs {error.name}") from None
            self._link = engine.connect()

    def _explain(self, error: Exception) -> str:
        return f": {str(getattr(error, 'orig', None) or error).strip().splitlines()[0]}"

    def _execute(self, sql: str, parameters: Parameters | Sequence[Parameters]) -> Any:
        return self._link.execute(self._text(sql), parameters)

    def rows(self, sql: str, parameters: Parameters = _NONE) -> list[Row]:
        """Return all rows of a query; outside a transaction, end the implicit one afterwards.

        The next statement reconnects a broken connection.
        """
        try:
            return super().rows(sql, parameters)
        finally:
            if not self._is_writing:
                with self._errors_explained():
                    self._link.rollback()

    def stream(self, sql: str, parameters: Parameters = _NONE) -> Iterator[Row]:
        """Yield the rows of a query, all read into memory first."""
        yield from self.rows(sql, parameters)

    def _begin(self) -> None:
        self._link.rollback()
        self._link.execute(self._text(f"SELECT pg_advisory_xact_lock({WRITERS_LOCK})"))

    def faults(self, quick: bool = False) -> list[str]:
        """Return no faults: a server checks its own files."""
        return []

    def close(self) -> None:
        """Close the connection."""
        with suppress(self._error):
            self._link.close()
            self._link.engine.dispose()


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


def _format_of(connection: DatabaseConnection) -> str | None:
    """Return the format of the tables, or None without tables."""
    try:
        rows = connection.rows("SELECT value FROM meta WHERE name = 'format'")
    except EngineError as error:
        if "meta" in str(error):  # there is no such table
            return None
        raise
    return rows[0][0] if rows else None


def connect(target: str | Path, create: bool = False) -> DatabaseConnection:
    """Return a connection to a file or URL, with its tables; EngineError if it cannot be opened."""
    text = str(target).removeprefix("sqlite:///")
    file = user_path(text)
    connection = ServerConnection(text) if "://" in text else DatabaseConnection(file, create)
    try:
        found = _format_of(connection)
        if found is None and create:
            with connection.transaction():
                for statement in TABLES:
                    connection.run(statement.format(**connection.types))
                connection.run(
                    "INSERT INTO meta (name, value) VALUES ('format', :format) "
                    "ON CONFLICT (name) DO NOTHING",
                    {"format": str(FORMAT)},
                )
            found = _format_of(connection)
        if found is None:
            raise EngineError(f"{connection.name} holds no positions")
        if found != str(FORMAT):
            raise EngineError(f"{connection.name} has format {found}; this version reads {FORMAT}")
    except BaseException:
        connection.close()
        raise
    return connection
