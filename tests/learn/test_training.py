"""Training a network: threads, checkpoints, games that are no good, interrupts."""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pbrain_engine import Rule, cli
from pbrain_engine.errors import FileError
from pbrain_engine.eval.weights import load_weights
from pbrain_engine.learn.network import dataset as reading
from pbrain_engine.learn.network.dataset import Dataset, read_datasets
from pbrain_engine.learn.network.layout import Widths
from pbrain_engine.learn.network.training import Run, TrainingSettings
from pbrain_engine.learn.train import stoppable
from pbrain_engine.notation.games import encode, header, read_about, read_games

pytestmark = pytest.mark.slow

SAMPLE = Path(__file__).parents[1] / "games" / "sample.games"
SMALL = Widths(32, 16, 16, 16, 16, 16)
SETTINGS = TrainingSettings("freestyle", steps=6, batch=64, widths=SMALL)


@pytest.fixture(scope="module")
def datasets() -> list[Dataset]:
    return read_datasets([SAMPLE], [], "freestyle", load_weights("learned"))


def run_of(
    datasets: list[Dataset], settings: TrainingSettings = SETTINGS, start: Any = None
) -> Run:
    return Run(settings, datasets, load_weights("learned"), start)


def test_threads_read_the_same_and_build_tables_one_at_a_time(datasets, monkeypatch):
    """Two that build the same free those of the other, which plays on them."""
    inside, most = 0, 0
    build = reading.tables_of

    def watched(*arguments: Any) -> Any:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        time.sleep(0.05)
        inside -= 1
        return build(*arguments)

    monkeypatch.setattr(reading, "AT_ONCE", 4)
    monkeypatch.setattr(reading, "tables_of", watched)
    seen: list[int] = []
    found = read_datasets([SAMPLE], [], "freestyle", load_weights("learned"), seen.append, 3)
    assert most == 1 and seen == sorted(set(seen))
    assert seen[-1] == sum(each.size for each in datasets)
    for one, other in zip(datasets, found, strict=True):
        for name, column in one._asdict().items():
            assert np.array_equal(column, getattr(other, name)), name


@pytest.mark.parametrize("threads", [1, 2])
def test_a_run_that_stops_and_goes_on_is_the_run_in_one_go(datasets, tmp_path, threads):
    settings = SETTINGS._replace(threads=threads)
    whole = run_of(datasets, settings)
    whole.go(tmp_path / "whole", 3)
    stopping = run_of(datasets, settings)
    with pytest.raises(KeyboardInterrupt):
        stopping.go(tmp_path / "part", 3, stopped=lambda: stopping.step == 4)
    going_on = run_of(datasets, settings)
    going_on.resume(tmp_path / "part")
    assert going_on.step == 4
    going_on.go(tmp_path / "part", 3)
    assert whole.step == going_on.step == 6
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "part").read_bytes()
    assert whole.learner.numbers.tobytes() == going_on.learner.numbers.tobytes()
    assert [each["step"] for each in going_on.history] == [3, 6]


def test_what_is_no_checkpoint_of_a_run_is_one_line(datasets, tmp_path):
    path = tmp_path / "one"
    one, other = run_of(datasets), run_of(datasets, SETTINGS._replace(seed=2))
    assert (one.learner.numbers != other.learner.numbers).any()
    one.save(path)
    with pytest.raises(FileError, match="seed 1, not 2"):
        other.resume(path)
    with pytest.raises(FileError, match="widths"):
        run_of(datasets, SETTINGS._replace(widths=SMALL._replace(trunk_units=32))).resume(path)
    whole = path.read_bytes()
    for damaged in (whole[:1000], b"", whole[: len(whole) // 2] + whole[len(whole) // 2 + 9 :]):
        path.write_bytes(damaged)
        with pytest.raises(FileError, match="not a readable checkpoint") as error:
            one.resume(path)
        assert "\n" not in str(error.value)


def test_games_that_cannot_be_learned_are_one_line_and_leave_all_as_it_was(tmp_path, capsys):
    record = next(r for r in read_games(SAMPLE) if r.rule is Rule.FREESTYLE)
    twice = record._replace(moves=(record.moves[0], *record.moves[:-1]))
    head, damaged = header(read_about(SAMPLE)), bytearray(SAMPLE.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    cases = {
        "damaged": damaged,
        "off the board or on a taken cell": head + encode(twice),
        "board of 3x200": head + encode(record._replace(width=3, height=200)),
        "not enough games": head + encode(record._replace(rule=Rule.RENJU)),
    }
    games, out = tmp_path / "games", tmp_path / "net.numoku"
    out.write_bytes(b"what was here")
    for words, content in cases.items():
        games.write_bytes(content)
        assert cli.main(["train", str(games), "--out", str(out), "--families", "freestyle"]) == 1
        error = capsys.readouterr().err
        assert words in error and error.count("\n") == 1, error
        assert out.read_bytes() == b"what was here"


@pytest.mark.parametrize("folder", [".", "/"])
def test_weights_do_not_take_the_place_of_a_folder(folder, run):
    status, _, err = run("train", str(SAMPLE), "--out", folder)
    assert status == 1 and err.endswith(": no file can be written there\n")


def test_a_missing_numba_is_one_line(monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "pbrain_engine.learn.train")
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert cli.main(["train", "some.games", "--out", "net.numoku"]) == 1
    error = capsys.readouterr().err
    assert "pbrain-numoku[training]" in error and error.count("\n") == 1


def test_an_interrupt_waits_for_the_end_of_a_step():
    with stoppable() as stopped:
        assert not stopped()
        signal.raise_signal(signal.SIGINT)
        assert stopped()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
