"""A match on a Dask cluster, one of whose two workers dies on the way."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from pbrain_engine import cli
from pbrain_engine.arena import match as command
from tests.arena.test_process import wait_until
from tests.programs import NUMOKU, start_program

pytestmark = pytest.mark.slow

needs_dask = pytest.mark.skipif(
    find_spec("distributed") is None or sys.platform == "win32",
    reason="Dask is not installed, or workers cannot be killed by a signal",
)


class Cluster:
    """A scheduler and two workers of two threads each, on this machine."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        address = folder / "scheduler.json"
        self._scheduler = self._start(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
            "--scheduler-file", str(address),
        )  # fmt: skip
        wait_until(lambda: address.exists() and address.read_bytes().endswith(b"}"))
        self.address = json.loads(address.read_text(encoding="utf-8"))["address"]
        self.workers = [
            self._start(
                "worker", self.address, "--no-nanny", "--nthreads", "2", "--no-dashboard",
                "--name", f"w{number}", "--local-directory", str(folder),
            )
            for number in range(2)
        ]  # fmt: skip

    def _start(self, *words: str) -> subprocess.Popen[bytes]:
        with (self._folder / f"{words[0]}.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "distributed.cli.dask_" + words[0], *words[1:]],
                stdout=log, stderr=log,
            )  # fmt: skip

    @property
    def lives(self) -> bool:
        return self._scheduler.poll() is None

    def close(self) -> None:
        for process in (*self.workers, self._scheduler):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def clusters() -> Iterator[list[Cluster]]:
    made: list[Cluster] = []
    yield made
    for cluster in made:
        cluster.close()


@pytest.fixture
def cluster(clusters: list[Cluster], tmp_path_factory: pytest.TempPathFactory) -> Cluster:
    """Return a cluster that has a worker at least: the last one, unless a test has ended that."""
    if not clusters or not clusters[-1].lives:
        clusters.append(Cluster(tmp_path_factory.mktemp("cluster")))
    return clusters[-1]


def entries(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()[1:]]


def start(cluster: Cluster, *words: str, code: str = "") -> subprocess.Popen[str]:
    """Start a command on the cluster, in the program or in this code."""
    program = [sys.executable, "-c", code] if code else NUMOKU
    return start_program(*program, *words, "--cluster", cluster.address)


@needs_dask
def test_killed_worker_loses_and_doubles_no_game(cluster, tmp_path):
    words = [
        "numoku:nodes=2000", "numoku:nodes=1000", "--in-process", "--games", "12",
        "--openings", "random",
    ]  # fmt: skip
    path = tmp_path / "far.jsonl"
    runner = start(cluster, "match", *words, "--journal", str(path), "--view", "quiet")
    wait_until(lambda: path.exists() and path.read_bytes().count(b"\n") > 4, 300)
    cluster.workers[0].kill()
    err = runner.communicate(timeout=400)[1]
    assert runner.returncode == 0, err
    assert command.main([*words, "--journal", str(tmp_path / "near.jsonl"), "--json",
                         "--view", "quiet", "--concurrency", "2"]) == 0  # fmt: skip
    far = sorted(entries(path), key=lambda entry: entry["game"])
    near = sorted(entries(tmp_path / "near.jsonl"), key=lambda entry: entry["game"])
    assert [entry["game"] for entry in far] == list(range(12))
    assert [entry["moves"] for entry in far] == [entry["moves"] for entry in near]


# What Dask waits for a scheduler, and again for one that has gone: a user's 15 s are long.
IMPATIENT = """
import sys
from pbrain_engine import cli, workers
workers.CONNECT_TIMEOUT = 4
sys.exit(cli.main(sys.argv[1:]))
"""
MATCH = "match numoku numoku --in-process --nodes 500 --games 9998 --openings random --view quiet"
LOST = {
    "datagen FILE --games 9999 --nodes 500": "; the same command continues\n",
    f"{MATCH} --journal FILE": "\ncontinue with: numoku match --resume FILE\n",
}


@needs_dask
def test_a_cluster_that_dies_while_it_plays_is_an_error_in_a_line(cluster, tmp_path):
    paths = [tmp_path / f"games-{number}" for number in range(len(LOST))]
    runners = [
        start(cluster, *words.replace("FILE", str(path)).split(), code=IMPATIENT)
        for words, path in zip(LOST, paths, strict=True)
    ]
    wait_until(lambda: all(p.exists() and p.stat().st_size >= 2000 for p in paths), 300)
    cluster.close()
    for runner, path, goes_on in zip(runners, paths, LOST.values(), strict=True):
        said = runner.communicate(timeout=120)[1]
        assert runner.returncode == 1
        goes_on = goes_on.replace("FILE", str(path))
        assert said.endswith(f"has lost its work{goes_on}")  # Dask has its say, too


@needs_dask
def test_cluster_that_is_not_there_is_one_line(capsys, monkeypatch):
    monkeypatch.setattr("pbrain_engine.workers.CONNECT_TIMEOUT", 1)
    words = ["random", "random", "--cluster", "tcp://127.0.0.1:9", "--no-journal"]
    assert cli.main(["match", *words]) == 1
    assert "no cluster" in capsys.readouterr().err
