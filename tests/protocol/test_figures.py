"""What the protocol promises in figures: stopping, time use, memory, order.

The short versions run in the suite, with bounds for a busy machine. The long ones measure:
``pytest -m long -s tests/protocol/test_figures.py`` on a machine that is otherwise idle.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from time import perf_counter

import psutil
import pytest

from tests.programs import PROGRAM
from tests.protocol.test_serve import ANSWER, Brain

Launch = Callable[..., Brain]
long = pytest.mark.long
pytestmark = pytest.mark.timed


def position(chance: random.Random, stones: int = 8) -> list[str]:
    """Scattered stones on 20x20, with nothing to decide at once."""
    cells = chance.sample([(x, y) for x in range(3, 17, 2) for y in range(3, 17, 3)], stones)
    lines = [f"{x},{y},{1 + number % 2}" for number, (x, y) in enumerate(cells)]
    return ["BOARD", *lines, "DONE"]


@pytest.fixture
def launch() -> Iterator[Launch]:
    peers: list[Brain] = []

    def start(*infos: str) -> Brain:
        peers.append(Brain(PROGRAM))
        peers[-1].send("START 20", *(f"INFO {info}" for info in infos))
        assert peers[-1].reply().text == "OK"
        return peers[-1]

    yield start
    for peer in peers:
        peer.close(0.0)


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


@pytest.mark.parametrize(
    "tries, limit", [(5, 2.0), pytest.param(500, 0.1, marks=long)], ids=["short", "long"]
)
@pytest.mark.parametrize("how", ["INFO timeout_turn 0", "STOP", "END", "EOF"])
def test_a_search_of_two_threads_stops_or_ends_at_once(launch, how, tries, limit):
    chance, is_end = random.Random(1), how in ("END", "EOF")
    peer, delays = launch("thread_num 2"), list[float]()
    while len(delays) < tries:
        peer.send("INFO timeout_turn 60000", *position(chance))
        time.sleep(chance.uniform(0, 0.2))
        if any(not line.text.startswith("MESSAGE") for line in peer.lines(0.0)):
            continue  # it was decided at once
        sent_at = perf_counter()
        if how == "EOF":
            peer.write(None)
        else:
            peer.send(how)
        if is_end:
            assert peer.wait(ANSWER) == 0
        delays.append((perf_counter() if is_end else peer.reply().time) - sent_at)
        if is_end:
            peer.close(0.0)
            peer = launch("thread_num 2")
    report(f"{how}: {tries} times", delays)
    assert percentile(delays, 0.99) < limit


@pytest.mark.parametrize(
    "turn, moves, late",
    [(0.1, 10, 0.3), *(pytest.param(t, 500, 0.0, marks=long) for t in (0.1, 0.5, 2.0))],
)
def test_the_turn_is_used_and_never_exceeded(launch, turn, moves, late):
    chance = random.Random(2)
    peer = launch(f"timeout_turn {round(turn * 1000)}")
    used = []
    for _ in range(moves):
        peer.send(*position(chance))
        sent_at = perf_counter()
        used.append(peer.reply().time - sent_at)
    report(f"turn {turn:g} s: {moves} moves", used)
    assert max(used) < turn + late
    full = [seconds for seconds in used if seconds > max(turn / 2, turn - 0.1)]  # others: decided
    if not late:
        assert sum(turn - seconds for seconds in full) / len(full) < 0.03


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize(
    "tries, late", [(3, 0.3), pytest.param(50, 0.0, marks=long)], ids=["short", "long"]
)
def test_a_start_in_suspension_is_taken_off_the_first_move(tries, late):
    used = []
    for _ in range(tries):
        with closing(Brain(PROGRAM)) as peer:
            peer.suspend()
            peer.send("START 15", "INFO timeout_turn 500", "INFO timeout_match 100000")
            time.sleep(0.3)
            peer.send("INFO time_left 100000", "BOARD", "7,7,2", "8,8,1", "3,9,2", "DONE")
            resumed_at = perf_counter()
            peer.suspend(resumes=True)
            assert peer.reply().text == "OK"
            used.append(peer.reply().time - resumed_at)
    report(f"first move from the resume, limit 500 ms: {tries} starts", used)
    assert percentile(used, 0.9) < 0.5 + late
    assert max(used) < 1.5  # what judges forgive
    assert percentile(used, 0.5) > 0.2


@pytest.mark.parametrize("tries", [300, pytest.param(10_000, marks=long)])
def test_every_command_is_answered_once_however_close_it_comes(launch, tries):
    chance = random.Random(3)
    peer = launch("timeout_turn 3")
    for number in range(tries):
        if number % 4 == 0:
            peer.send("START 20")
            assert peer.reply().text == "OK"
        # The first answer is due after about 3 ms; the second command comes before, with
        # or after it.
        peer.send(f"TURN {2 * (number % 4)},0")
        wait = perf_counter() + chance.choice((0.0, chance.uniform(0, 0.006)))
        while perf_counter() < wait:
            pass
        probe = f"PROBE{number}"
        peer.send(probe)
        first, second = peer.reply().text, peer.reply().text
        assert "," in first and second == f"UNKNOWN {probe}"
    assert [line for line in peer.lines() if not line.text.startswith("MESSAGE")] == []


@pytest.mark.skipif(sys.platform == "win32", reason="the package's tests read more there")
@pytest.mark.parametrize("memory", [30_000_000, 350_000_000])
def test_private_memory_stays_below_the_limit(launch, memory):
    most = f"hash_size {memory >> 10}"  # the table fills the memory, however short the turns are
    peer = launch(f"max_memory {memory}", most, "timeout_turn 300")
    process = psutil.Process(peer.process.pid)
    assert process.memory_full_info().uss < 30_000_000
    chance = random.Random(4)
    for _ in range(3):
        peer.send(*position(chance))
        peer.reply()
        used = process.memory_full_info().uss
        assert min(memory - 15_000_000, 40_000_000) < used < memory


def report(what: str, delays: list[float]) -> None:
    """Print the figures, for pytest -s."""
    p50, p99, worst = (percentile(delays, share) * 1000 for share in (0.5, 0.99, 1.0))
    print(f"\n{what}: median {p50:.1f} ms, 99th percentile {p99:.1f} ms, worst {worst:.1f} ms")
