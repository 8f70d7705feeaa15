"""A PostgreSQL server of Debian's, started for the tests where it is installed."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep

import pytest

DEBIAN = Path("/usr/lib/postgresql")
USER = "postgres"  # who may run it, where the tests run as root
PATIENCE = 120.0


def program(name: str) -> str | None:
    """Return the path of one of the server's programs."""
    found = sorted(DEBIAN.glob(f"*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name)


def _as_user(name: str, *words: str) -> list[str]:
    """Return the command that runs one of the server's programs as a user who may.

    It ends at once when the tests do, also where they are cut off.
    """
    path = program(name)
    assert path is not None
    switch = [f"--reuid={USER}", f"--regid={USER}", "--clear-groups"] if os.geteuid() == 0 else []
    return ["setpriv", *switch, "--pdeathsig=QUIT", path, *words]


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
        listening = ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="]
        listening += ["-c", "fsync=off"]
        command = _as_user("postgres", "-D", str(data), "-p", str(self.port), *listening)
        with (folder / "log").open("wb") as log:
            self._process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
        until = perf_counter() + PATIENCE
        while not self._is_ready():
            assert self._process.poll() is None, (folder / "log").read_text()
            assert perf_counter() < until, "the server does not start"
            sleep(0.05)

    def _call(self, name: str, *words: str) -> None:
        command = _as_user(name, *words)
        done = subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE
        )
        assert done.returncode == 0, done.stderr

    def _is_ready(self) -> bool:
        command = _as_user("pg_isready", "-h", "127.0.0.1", "-p", str(self.port))
        return subprocess.run(command, cwd=self.folder, capture_output=True).returncode == 0

    def new_database(self) -> str:
        """Return the URL of a new, empty database."""
        name = f"numoku{next(self._numbers)}"
        self._run(f"CREATE DATABASE {name}")
        return self.url(name)

    def break_connections(self) -> None:
        """End all connections but the one that says so."""
        own = "pid <> pg_backend_pid() AND backend_type = 'client backend'"
        self._run(f"SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE {own}")

    def _run(self, sql: str) -> None:
        import psycopg

        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(sql)

    def url(self, name: str) -> str:
        return f"postgresql://{USER}@127.0.0.1:{self.port}/{name}"

    def stop(self) -> None:
        self._process.send_signal(signal.SIGQUIT)
        self._process.wait(PATIENCE)


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
