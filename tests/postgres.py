"""A PostgreSQL server of Debian's, started for the tests where it is installed."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

DEBIAN = Path("/usr/lib/postgresql")
USER = "postgres"  # who may run it, where the tests run as root


def program(name: str) -> str | None:
    """Return the path of one of the server's programs."""
    found = sorted(DEBIAN.glob(f"*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name)


class Server:
    """A server with a folder of its own, on a free port of this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._numbers = count()
        data = folder / "data"
        if os.geteuid() == 0:
            shutil.chown(folder, USER)
        self._call("initdb", "-D", str(data), "-U", USER, "-A", "trust", "-E", "UTF8", "--no-sync")
        with socket.socket() as free:  # at the last moment: others look for ports, too
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories="
        self._call("pg_ctl", "-D", str(data), "-l", str(folder / "log"), "-o", options, "-w",
                   "start")  # fmt: skip

    def _call(self, name: str, *words: str) -> None:
        path = program(name)
        assert path is not None
        switch = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
        command = [*(switch if os.geteuid() == 0 else []), path, *words]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr

    def new_database(self) -> str:
        """Return the URL of a new, empty database."""
        name = f"numoku{next(self._numbers)}"
        self._run(f"CREATE DATABASE {name}")
        return self.url(name).replace("+psycopg", "")

    def break_connections(self) -> None:
        """End all connections but the one that says so."""
        own = "pid <> pg_backend_pid() AND backend_type = 'client backend'"
        self._run(f"SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE {own}")

    def _run(self, sql: str) -> None:
        import sqlalchemy

        engine = sqlalchemy.create_engine(self.url("postgres"), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(sqlalchemy.text(sql))
        engine.dispose()

    def url(self, name: str) -> str:
        return f"postgresql+psycopg://{USER}@127.0.0.1:{self.port}/{name}"

    def stop(self) -> None:
        self._call("pg_ctl", "-D", str(self.folder / "data"), "-m", "immediate", "stop")


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    if program("initdb") is None:
        pytest.skip("PostgreSQL is not installed")
    if find_spec("sqlalchemy") is None or find_spec("psycopg") is None:
        pytest.skip("SQLAlchemy or psycopg is not installed")
    with TemporaryDirectory(prefix="numoku-postgres-") as folder:  # which its user can reach
        made = Server(Path(folder))
        try:
            yield made
        finally:
            made.stop()
