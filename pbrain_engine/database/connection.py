"""A connection to a store: a file of SQLite, or a server with PostgreSQL, behind one interface.

A file needs the standard library alone. A server is reached through SQLAlchemy (the extra
``database``). The statements are the same for both: they keep to what both understand, with
parameters written ``:name``. One writer at a time; the others wait for it.
"""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..engine.book import open_unwritable

APPLICATION_ID = 0x4E554D4B  # "NUMK", in the head of the file
LEAST_SQLITE = (3, 35)  # which returns what it has inserted
WAIT_SECONDS = 60.0  # for another writer
ANYTHING = "SELECT 1 FROM sqlite_master LIMIT 1"
WRITERS_LOCK = 0x4E554D4B  # of PostgreSQL, held while one writes

Row = tuple[Any, ...]
Parameters = Mapping[str, Any]


class DatabaseError(Exception):
    """The database cannot be opened, read or written; the message says why in one line."""


class Connection(ABC):
    """Statements and transactions."""

    name: str  # how messages call the database
    types: Mapping[str, str]  # what a schema calls {id}, {bytes}

    @abstractmethod
    def rows(self, sql: str, parameters: Parameters | None = None) -> list[Row]:
        """Return all rows of a query."""

    @abstractmethod
    def stream(self, sql: str, parameters: Parameters | None = None) -> Iterator[Row]:
        """Yield the rows of a query without holding them all."""

    @abstractmethod
    def run(self, sql: str, parameters: Parameters | None = None) -> int:
        """Carry out a statement; return how many rows it has changed."""

    @abstractmethod
    def run_many(self, sql: str, parameters: Sequence[Parameters]) -> int:
        """Carry out a statement once for each set of parameters; return how many rows changed."""

    @abstractmethod
    def begin(self) -> None:
        """Begin to write, as the only one."""

    @abstractmethod
    def commit(self) -> None:
        """Put everything written since on the disk."""

    @abstractmethod
    def rollback(self) -> None:
        """Forget everything written since."""

    @abstractmethod
    def faults(self) -> list[str]:
        """Return what the store itself finds damaged."""

    @abstractmethod
    def close(self) -> None:
        """Leave."""

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Write all or nothing; what was written is on the disk afterwards."""
        try:
            self.begin()
            yield
            self.commit()
        except BaseException:
            with suppress(DatabaseError):
                self.rollback()
            raise


class FileConnection(Connection):
    """A file. What is committed stays, whatever happens to the program or the power."""

    types = {"id": "INTEGER PRIMARY KEY", "bytes": "BLOB"}

    def __init__(self, path: Path, create: bool) -> None:
        """Open a file.

        Raises:
            DatabaseError: it is not there and not to be created, or it is something else.
        """
        self.name = str(path)
        if sqlite3.sqlite_version_info < LEAST_SQLITE:
            raise DatabaseError(f"this Python has SQLite {sqlite3.sqlite_version}; 3.35 is needed")
        if not create and not path.is_file():
            raise DatabaseError(f"there is no database {path}")
        try:
            self._file = sqlite3.connect(
                path, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise DatabaseError(f"{path}: {error}") from None
        with self._told():
            try:
                self._file.execute(ANYTHING)
            except sqlite3.OperationalError as error:
                self._file = open_unwritable(path, error)
            is_new = not self._file.execute(ANYTHING).fetchall()
            (mark,) = self._file.execute("PRAGMA application_id").fetchone()
            if not is_new and mark != APPLICATION_ID:
                raise DatabaseError(f"{path} is a database of another program")
            if is_new and create:
                self._file.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            with suppress(sqlite3.OperationalError):  # on a medium that cannot be written
                self._file.execute("PRAGMA journal_mode = WAL")
            self._file.execute("PRAGMA synchronous = FULL")

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn what SQLite raises into words."""
        try:
            yield
        except sqlite3.Error as error:
            raise DatabaseError(f"{self.name}{_explain(str(error))}") from None

    def rows(self, sql: str, parameters: Parameters | None = None) -> list[Row]:
        """Return all rows of a query."""
        with self._told():
            return self._file.execute(sql, parameters or {}).fetchall()

    def stream(self, sql: str, parameters: Parameters | None = None) -> Iterator[Row]:
        """Yield the rows of a query without holding them all."""
        with self._told():
            yield from self._file.execute(sql, parameters or {})

    def run(self, sql: str, parameters: Parameters | None = None) -> int:
        """Carry out a statement; return how many rows it has changed."""
        with self._told():
            return self._file.execute(sql, parameters or {}).rowcount

    def run_many(self, sql: str, parameters: Sequence[Parameters]) -> int:
        """Carry out a statement once for each set of parameters; return how many rows changed."""
        with self._told():
            return self._file.executemany(sql, parameters).rowcount if parameters else 0

    def begin(self) -> None:
        """Begin to write, as the only one."""
        with self._told():
            self._file.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """Put everything written since on the disk."""
        with self._told():
            self._file.execute("COMMIT")

    def rollback(self) -> None:
        """Forget everything written since."""
        with self._told():
            if self._file.in_transaction:
                self._file.execute("ROLLBACK")

    def faults(self) -> list[str]:
        """Return what SQLite finds damaged in the file."""
        try:
            found = self._file.execute("PRAGMA integrity_check(20)").fetchall()
        except sqlite3.Error as error:
            return [str(error)]
        return [text for (text,) in found if text != "ok"]

    def close(self) -> None:
        """Leave; the last to do so brings everything into the one file."""
        with suppress(sqlite3.Error):
            self._file.close()


def _explain(text: str) -> str:
    """Return what to say after the name of a file."""
    if "malformed" in text or "not a database" in text and "encrypted" not in text:
        return f" is damaged or no database ({text}); `numoku db FILE check` says more"
    if "locked" in text or "busy" in text:
        return f": another program is writing for more than {WAIT_SECONDS:.0f} s"
    if "full" in text or "disk I/O" in text:
        return f" cannot be written ({text}); what was stored before is whole"
    return f": {text}"


class ServerConnection(Connection):
    """A database of a PostgreSQL server, named by a URL."""

    types = {"id": "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY", "bytes": "BYTEA"}

    def __init__(self, url: str) -> None:
        """Connect.

        Raises:
            DatabaseError: SQLAlchemy is not installed, or the server does not answer.
        """
        try:
            import sqlalchemy
            from sqlalchemy.exc import ArgumentError, SQLAlchemyError
        except ImportError:
            raise DatabaseError(
                "a database URL needs SQLAlchemy: pip install 'pbrain-numoku[database]'"
            ) from None
        self._text = sqlalchemy.text
        self._error = SQLAlchemyError
        try:
            address = sqlalchemy.make_url(url)
        except ArgumentError:
            raise DatabaseError(f"{url} is no database URL") from None
        if address.get_backend_name() != "postgresql":
            raise DatabaseError("a database is a file, or a URL that begins with postgresql://")
        if address.drivername == "postgresql":
            address = address.set(drivername="postgresql+psycopg")
        self.name = address.render_as_string(hide_password=True)
        with self._told():
            try:
                engine = sqlalchemy.create_engine(address)
            except ImportError as error:  # its driver
                raise DatabaseError(f"a database URL needs {error.name}") from None
            self._server = engine.connect()
        self._is_writing = False

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn what SQLAlchemy raises into words."""
        try:
            yield
        except self._error as error:
            reason = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
            raise DatabaseError(f"{getattr(self, 'name', 'database')}: {reason}") from None

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """End the transaction that a query outside of one has begun, also where it failed.

        A connection that broke is made anew after that, by the next statement.
        """
        with self._told():
            try:
                yield
            finally:
                if not self._is_writing:
                    self._server.rollback()

    def rows(self, sql: str, parameters: Parameters | None = None) -> list[Row]:
        """Return all rows of a query."""
        with self._reading():
            return [tuple(row) for row in self._server.execute(self._text(sql), parameters or {})]

    def stream(self, sql: str, parameters: Parameters | None = None) -> Iterator[Row]:
        """Yield the rows of a query; the driver holds them."""
        yield from self.rows(sql, parameters)

    def run(self, sql: str, parameters: Parameters | None = None) -> int:
        """Carry out a statement; return how many rows it has changed."""
        with self._told():
            return self._server.execute(self._text(sql), parameters or {}).rowcount

    def run_many(self, sql: str, parameters: Sequence[Parameters]) -> int:
        """Carry out a statement once for each set of parameters; return how many rows changed."""
        with self._told():
            rows = [dict(each) for each in parameters]
            return self._server.execute(self._text(sql), rows).rowcount if rows else 0

    def begin(self) -> None:
        """Begin to write, as the only one."""
        with self._told():
            self._server.rollback()
            self._is_writing = True
            self._server.execute(self._text(f"SELECT pg_advisory_xact_lock({WRITERS_LOCK})"))

    def commit(self) -> None:
        """Put everything written since on the disk."""
        with self._told():
            self._server.commit()
            self._is_writing = False

    def rollback(self) -> None:
        """Forget everything written since."""
        self._is_writing = False
        with self._told():
            self._server.rollback()

    def faults(self) -> list[str]:
        """Return nothing: a server looks after its own files."""
        return []

    def close(self) -> None:
        """Leave."""
        with suppress(self._error):
            self._server.close()
            self._server.engine.dispose()


def connect(target: str | Path, create: bool = False) -> Connection:
    """Return a connection to a file, or to the database that a URL names.

    Raises:
        DatabaseError: it cannot be opened.
    """
    text = str(target)
    if text.startswith("sqlite:///"):
        text = text.removeprefix("sqlite:///")
    if "://" in text:
        return ServerConnection(text)
    return FileConnection(Path(text).expanduser(), create)
