"""Training a network: what is held out stays so, a run goes on where it stopped, integers fit."""

from __future__ import annotations

import argparse
import re
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pbrain_engine import cli
from pbrain_engine.eval.network_block import PATTERNS
from pbrain_engine.eval.weights import load_weights
from pbrain_engine.game.game import Game
from pbrain_engine.learn import train
from pbrain_engine.learn.features import Reader, candidates_of, needs_order
from pbrain_engine.learn.network import pool as reading
from pbrain_engine.learn.network.learner import Widths
from pbrain_engine.learn.network.patterns import patterns
from pbrain_engine.learn.network.pool import PositionPool, judge, read_pools
from pbrain_engine.learn.network.quantise import make_codebook, pack, unpack
from pbrain_engine.learn.network.training import (
    Order,
    ResumeError,
    Run,
    Score,
    TrainingSettings,
    held_out,
)
from pbrain_engine.learn.records import (
    NO_VALUE,
    Ending,
    Record,
    encode,
    group_of,
    header,
    read_about,
    read_games,
)
from pbrain_engine.learn.train import (
    begin_of,
    best_network,
    compare_with_engine,
    stoppable,
    with_network,
    write_page,
)
from pbrain_engine.pages.html import Curve
from pbrain_engine.position.geometry import cell_of
from pbrain_engine.position.rules import Rule, Side
from pbrain_engine.values import WIN_BAND
from tests.oracle.network import BITS, DIRECTIONS, key_of, pattern_numbers
from tests.oracle.rules import BLACK, WHITE, Board

SAMPLE = Path(__file__).parents[1] / "games" / "sample.games"
SMALL = Widths(32, 16, 16, 16, 16, 16)
SETTINGS = TrainingSettings("freestyle", steps=6, batch=64, widths=SMALL)


@pytest.fixture(scope="module")
def pools() -> list[PositionPool]:
    return read_pools([SAMPLE], [], "freestyle", load_weights("learned"))


def run_of(
    pools: list[PositionPool], settings: TrainingSettings = SETTINGS, start: Any = None
) -> Run:
    return Run(settings, pools, load_weights("learned"), start)


def excited(run: Run, seed: int = 7) -> Run:
    """Give a run numbers large enough that all parts of its network matter."""
    chance = np.random.default_rng(seed)
    for name, part in run.form.views(run.learner.numbers).items():
        if not name.endswith("share"):
            part += chance.normal(0, 0.08, part.shape)
    run.best = run.learner.numbers.copy()
    return run


# Patterns -----------------------------------------------------------------------------------


@pytest.mark.parametrize("half", [4, 5])
def test_a_window_and_its_mirror_image_are_one_pattern(half: int) -> None:
    known = patterns(half)
    assert len(known) == PATTERNS[half]
    keys = np.random.default_rng(1).integers(0, 1 << (4 * half), 500)
    mirrored = np.zeros_like(keys)
    for place in range(2 * half):
        mirrored |= (keys >> (2 * place) & 3) << (2 * (2 * half - 1 - place))
    assert (known.number[keys] == known.number[mirrored]).all()
    assert (known.swapped[known.swapped] == np.arange(len(known))).all()
    assert len(known) - 1 == known.number[-1] == known.blank
    numbers = pattern_numbers(half)
    assert all(known.keys[number] == key_of(window) for window, number in numbers.items())


# Positions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("family", ["freestyle", "renju"])
def test_the_side_to_move_sees_the_patterns_of_its_board(family: str) -> None:
    pool = read_pools([SAMPLE], [], family, load_weights("learned"))[0]
    run = run_of([pool], SETTINGS._replace(family=family))
    half, area, chunk = run.form.known.half, pool.height * pool.width, pool.chunk
    places = [place for place in range(-half, half + 1) if place]
    chosen = np.arange(0, len(pool), max(1, len(pool) // 20))
    batch = run.batch(0, chosen)
    assert {int(i) & 1 for i in chunk.ply[chosen]} == {0, 1}
    assert sorted(batch.chosen) == chosen.tolist()
    for row, position in enumerate(batch.chosen.tolist()):
        board = Board(pool.width, pool.height, "freestyle")
        ply, at = int(chunk.ply[position]), int(chunk.at[position])
        for j, move in enumerate(chunk.moves[at - ply : at].tolist()):
            own = (ply - j) % 2 == 0
            board.put((move % pool.width, move // pool.width), BLACK if own else WHITE)
        wanted = {}
        for x, y in board.empties():
            keys = [
                key_of([BITS[board.at((x + p * dx, y + p * dy))] for p in places])
                for dx, dy in DIRECTIONS
            ]
            numbers = sorted(run.form.known.number[keys].tolist())
            if set(numbers) != {run.form.known.blank}:
                wanted[y * pool.width + x] = numbers
        begin, count = row * area, int(batch.seen.counts[row])
        found = {
            int(batch.seen.cells[begin + i]):
                sorted(batch.seen.codes[4 * (begin + i) : 4 * (begin + i) + 4].tolist())
            for i in range(count)
        }  # fmt: skip
        assert found == wanted
        side = 1 if len(batch.sides) == 2 and row >= batch.sides[1][0] else 0
        assert len(batch.sides) == 1 or ply & 1 == side


def test_positions_are_those_of_the_games(pools: list[PositionPool]) -> None:
    weights, reader, checked = load_weights("learned"), Reader(), 0
    games = list(read_games(SAMPLE))
    for pool in pools:
        chunk = pool.chunk
        tables = np.frombuffer(weights.block(Rule.FREESTYLE), np.int16)[-4 * 2380 :]
        scores = tables.reshape(2, 2, -1).astype(int)
        for i in range(0, len(pool), 37):
            record, ply = games[chunk.game[i]], int(chunk.ply[i])
            game = Game(record.width, record.height, record.rule, weights=weights)
            for cell in record.moves[:ply]:
                game.play(cell % record.width, cell // record.width)
            glance = reader.glance(game)
            near, own, enemy = candidates_of(glance, game.to_move)
            cells = np.flatnonzero(np.unpackbits(chunk.near[i], bitorder="little"))
            padded = [cell_of(int(c) % pool.width, int(c) // pool.width) for c in cells]
            assert padded == glance.cells[near].tolist()
            begin = chunk.score_at[i]
            side = int(game.to_move)
            wanted = scores[side, 0, own] + scores[side, 1, enemy]
            assert chunk.scores[begin : begin + len(cells)].tolist() == wanted.tolist()
            assert (game.value(), glance.mask) == (chunk.linear[i], chunk.mask[i])
            assert needs_order(glance.mask) and record.values[ply] == chunk.value[i]
            assert chunk.held[i] == (group_of(record.number) < 1)
            points = 1 + record.result * (1 if game.to_move is Side.BLACK else -1)
            assert chunk.points[i] == points == 2 * pool.results[i]
            assert chunk.moves[chunk.at[i]] == record.moves[ply]
            assert pool.picks[i] == (record.moves[ply] in cells)
            checked += 1
    assert checked > 20


def test_the_loss_of_a_move_is_its_cross_entropy(pools: list[PositionPool]) -> None:
    pool, run = pools[0], excited(run_of(pools))
    every = np.flatnonzero(pool.picks)
    batch = run.batch(0, every)
    said = run.learner.measure(run.best, batch)
    logits = said.logits.reshape(len(every), -1).astype(np.float64)
    counts, picked = pool.candidates(batch.chosen), pool.count_before(batch.chosen)
    for mine, count, place, loss in zip(logits, counts, picked, said.entropy, strict=True):
        wanted = np.logaddexp.reduce(mine[:count]) - mine[place]
        assert loss == pytest.approx(wanted, abs=1e-4)


def test_threads_read_the_same(pools: list[PositionPool]) -> None:
    again = read_pools([SAMPLE], [], "freestyle", load_weights("learned"), threads=3)
    for one, other in zip(pools, again, strict=True):
        for name, column in one.chunk._asdict().items():
            assert (column == getattr(other.chunk, name)).all(), name


def test_tables_are_built_for_one_thread_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
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
    assert read_pools([SAMPLE], [], "freestyle", load_weights("learned"), threads=3)
    assert most == 1


def test_held_out_games_are_never_learned_from(pools: list[PositionPool]) -> None:
    order, learned = Order(pools, 50, 1), set[tuple[int, int]]()
    for epoch in range(3):
        for number, chosen in order.epoch(epoch):
            learned |= {(number, int(game)) for game in pools[number].chunk.game[chosen]}
    batches = list(held_out(pools, 50))
    kept = {(n, int(game)) for n, chosen in batches for game in pools[n].chunk.game[chosen]}
    assert learned and kept and not learned & kept
    assert sum(len(chosen) for _, chosen in batches) == sum(pool.held.sum() for pool in pools)


def test_an_epoch_takes_every_position_once(pools: list[PositionPool]) -> None:
    order = Order(pools, 7, 3)
    taken = [(n, int(i)) for n, chosen in order.epoch(0) for i in chosen]
    assert len(taken) == len(set(taken)) > order.positions - 7 * len(pools)
    first, second = list(order.epoch(0)), list(order.epoch(1))
    assert [n for n, _ in first] != [n for n, _ in second]
    for wanted, found in zip(second[2:], order.after(order.batches + 2), strict=False):
        assert wanted[0] == found[0] and (wanted[1] == found[1]).all()


def test_fair_labels_keep_wins_as_they_keep_losses(tmp_path: Path) -> None:
    record = next(r for r in read_games(SAMPLE) if r.rule is Rule.FREESTYLE and r.result)
    far, values = len(record.moves) - 2, list(record.values)
    values[far], values[far + 1] = WIN_BAND + 500, -WIN_BAND - 500
    path = tmp_path / "games"
    path.write_bytes(header(read_about(SAMPLE)) + encode(record._replace(values=tuple(values))))
    (pool,) = read_pools([path], [], "freestyle", load_weights("learned"))
    won = int(np.flatnonzero(pool.chunk.value == WIN_BAND + 500)[0])
    lost = int(np.flatnonzero(pool.chunk.value == -WIN_BAND - 500)[0])
    assert not pool.opens("open")[won] and pool.opens("fair")[[won, lost]].all()
    assert pool.opens("open")[lost]
    for mix in (0.0, 0.3):
        targets = pool.targets(mix, 250.0)
        after = targets[lost]  # one ply later, for the other side
        chance = 1 / (1 + np.exp(-(WIN_BAND + 500) / 250.0))
        assert targets[won] == pytest.approx((1 - mix) * chance + mix * (1 - after), abs=1e-6)
    assert pool.targets(0.0, 250.0)[lost] < 1e-6


def test_branches_teach_without_a_result(pools: list[PositionPool], tmp_path: Path) -> None:
    branches = tmp_path / "branches"
    beside = []
    for record in read_games(SAMPLE):
        ply = min(record.opening + 4, len(record.moves) - 1)
        none = (NO_VALUE,) * ply
        beside.append(encode(record._replace(
            opening=ply, result=0, ending=Ending.BRANCH, moves=record.moves[: ply + 1],
            values=(*none, record.values[ply]),
        )))  # fmt: skip
    branches.write_bytes(header(read_about(SAMPLE)) + b"".join(beside))
    found = read_pools([SAMPLE, branches], [], "freestyle", load_weights("learned"))
    assert sum(map(len, found)) > sum(map(len, pools)) + 10
    for pool in found:
        unknown = np.isnan(pool.results)
        scale = pool.search_scale()
        wanted = 1 / (1 + np.exp(-pool.chunk.value[unknown].astype(np.float64) / scale))
        assert pool.targets(0.7)[unknown] == pytest.approx(wanted, abs=1e-4)
    run = run_of(found)
    for number, chosen in run.order.epoch(0):
        said = run.learn(run.batch(number, chosen))
        assert np.isfinite(said.target).all() and np.isfinite(run.learner.numbers).all()
        unknown = np.isnan(found[number].results[chosen])
        assert (np.isnan(said.result) == unknown).all()
    only = read_pools([branches], [], "freestyle", load_weights("learned"))
    with pytest.raises(OSError, match="no games with a result"):
        only[0].targets(0.7)


# Runs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2])
def test_a_run_that_stops_and_goes_on_is_the_run_in_one_go(
    pools: list[PositionPool], tmp_path: Path, threads: int
) -> None:
    settings = SETTINGS._replace(threads=threads)
    whole = run_of(pools, settings)
    whole.go(tmp_path / "whole", 3)
    stopping = run_of(pools, settings)
    with pytest.raises(KeyboardInterrupt):
        stopping.go(tmp_path / "part", 3, stopped=lambda: stopping.step == 4)
    going_on = run_of(pools, settings)
    going_on.resume(tmp_path / "part")
    assert going_on.step == 4
    going_on.go(tmp_path / "part", 3)
    assert whole.step == going_on.step == 6
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "part").read_bytes()
    assert whole.learner.numbers.tobytes() == going_on.learner.numbers.tobytes()
    assert [each["step"] for each in going_on.history] == [3, 6]


def test_the_network_that_did_best_on_held_out_positions_is_kept(
    pools: list[PositionPool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of(pools)
    scores = iter([Score(0.6, 0.6, entropy, 0.4) for entropy in (2.0, 1.8, 1.9)])
    means = []

    def evaluate(numbers: Any, most: int) -> Score:
        means.append(numbers.copy())
        return next(scores)

    monkeypatch.setattr(run, "evaluate", evaluate)
    run.go(tmp_path / "run", 2)
    assert run.step == 6 and len(means) == 3
    with np.load(tmp_path / "run") as found:
        assert float(found["least"]) == run.least == pytest.approx(2 * 0.6 + 1.8)
        assert (found["best"] == means[1]).all()
    assert (run.best == means[1]).all() and (run.best != run.adam.mean).any()


def test_what_is_no_checkpoint_of_a_run_is_one_line(
    pools: list[PositionPool], tmp_path: Path
) -> None:
    path = tmp_path / "one"
    one, other = run_of(pools), run_of(pools, SETTINGS._replace(seed=2))
    assert (one.learner.numbers != other.learner.numbers).any()
    one.save(path)
    with pytest.raises(ResumeError, match="seed 1, not 2"):
        other.resume(path)
    with pytest.raises(ResumeError, match="widths"):
        run_of(pools, SETTINGS._replace(widths=SMALL._replace(trunk_units=32))).resume(path)
    whole = path.read_bytes()
    for damaged in (whole[:1000], b"", whole[: len(whole) // 2] + whole[len(whole) // 2 + 9 :]):
        path.write_bytes(damaged)
        with pytest.raises(ResumeError, match="no checkpoint that can be read") as error:
            one.resume(path)
        assert "\n" not in str(error.value)


def test_a_network_learns_its_games(pools: list[PositionPool], tmp_path: Path) -> None:
    run = run_of(pools, SETTINGS._replace(steps=60, rate=0.01))
    run.go(tmp_path / "some", 20)
    first, last = (run.history[i]["learned"] for i in (0, -1))
    assert last.entropy < first.entropy - 0.1 and last.target < first.target


# Integers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("family", ["freestyle", "standard", "renju"])  # caro is like standard
def test_the_engine_says_what_the_real_numbers_say(family: str) -> None:
    pools = read_pools([SAMPLE], [SAMPLE], family, load_weights("learned"))
    run = excited(run_of(pools, SETTINGS._replace(family=family, widths=Widths())))
    real = run.evaluate(run.best)
    raw = pack(best_network(run))
    score, differences = compare_with_engine(
        run, with_network(load_weights("learned"), family, raw)
    )
    for name, number in real._asdict().items():
        assert getattr(score, name) == pytest.approx(number, rel=0.01, abs=0.01), differences
    assert abs(real.entropy - run.linear().entropy) > 0.05  # the network does say something
    assert len(unpack(raw).shared["book"]) <= 16384


@pytest.mark.parametrize("family", ["freestyle", "standard", "renju", "caro"])
def test_a_run_begins_where_what_ships_is(family: str) -> None:
    """Values and logits are those of the engine, but for what integers round."""
    pools = read_pools([SAMPLE], [SAMPLE], family, load_weights("learned"))
    weights = load_weights("network")
    of_family = weights.network(Rule.parse(family))
    block = unpack(of_family or weights.network(Rule.FREESTYLE) or b"")
    run = run_of(pools, SETTINGS._replace(family=family, widths=Widths()), block)
    score = run.evaluate(run.best)
    if of_family is None:  # it begins at freestyle's, which no engine plays under its rules
        assert score.target < run.linear().target + 0.01
        return
    assert score.entropy < run.linear().entropy - 0.3
    chosen = np.flatnonzero(pools[0].held)
    batch = run.batch(0, chosen)
    said = run.learner.measure(run.best, batch)
    place = np.argsort(batch.chosen)
    found = judge(weights, family, pools[0], chosen)
    assert np.abs(found.values - said.odds[place] * run.scale).max() < 25
    rows = said.logits.reshape(len(batch), -1)[place]
    counts = pools[0].candidates(chosen)
    logits = rows[np.arange(rows.shape[1]) < counts[:, None]]
    assert np.abs(found.logits - logits).mean() < 0.1 < np.abs(logits).mean()
    integers = compare_with_engine(run, weights)[
        0
    ]  # rounding was seen to move the entropy by 0.005
    for name in ("target", "entropy"):
        assert getattr(integers, name) == pytest.approx(getattr(score, name), abs=8e-3)


def test_a_family_begins_at_its_own_network_or_at_another_that_is_named() -> None:
    def begun(word: str) -> tuple[str, bytes]:
        name, block = begin_of(argparse.Namespace(begin=[word]), "renju")
        assert block is not None
        return name.split()[-1], pack(block)

    weights = load_weights("network")
    for word, family in (
        ("network", "renju"), ("network@freestyle", "freestyle"), ("renju=network@caro", "caro"),
    ):  # fmt: skip
        assert begun(word) == (family, pack(unpack(weights.network(Rule.parse(family)) or b"")))


def test_a_network_that_does_not_fit_is_not_begun_at(pools: list[PositionPool]) -> None:
    weights = load_weights("network")
    wide = unpack(weights.network(Rule.STANDARD) or b"")
    renju = unpack(weights.network(Rule.RENJU) or b"")
    with pytest.raises(ResumeError, match="wider windows"):
        run_of(pools, SETTINGS._replace(widths=Widths()), wide)
    with pytest.raises(ResumeError, match="units"):
        run_of(pools, SETTINGS, unpack(weights.network(Rule.FREESTYLE) or b""))
    standard = SETTINGS._replace(family="standard", widths=Widths())
    with pytest.raises(ResumeError, match="colours apart"):
        run_of(pools, standard, renju)


@pytest.mark.parametrize("alike", [False, True])
def test_codes_of_rare_patterns_keep_colours_apart(alike: bool) -> None:
    known = patterns(5)
    vectors = np.random.default_rng(4).normal(0, 1, (len(known), 16)) * (not alike)
    counts = np.zeros(len(known), np.int64)
    counts[::7] = np.arange(len(counts[::7])) + 1
    book = make_codebook([vectors], known, counts, 999)
    assert len(book.vectors) in (998, 999)
    assert (book.swap[book.swap] == np.arange(len(book.swap))).all()
    assert (book.codes[known.swapped] == book.swap[book.codes]).all()
    assert alike or len(np.unique(book.codes)) == len(book.vectors)


# The command --------------------------------------------------------------------------------


def command(path: Path, *more: str, games: Path = SAMPLE) -> int:
    words = ["train", str(games), "--out", str(path), "--batch", "64", "--steps", "2"]
    words += ["--families", "freestyle", "--test", str(SAMPLE)]
    return cli.main([*words, *more])


SAID = """\
freestyle: # positions, linear: value #, on results #, move #, first #%
freestyle: # positions, # steps of #
  linear value #, on results #, move #, first #%
  network value #, on results #, move #, first #%
  integers value #, on results #, move #, first #%
  value off by # (at most #), logit by # (at most #)
freestyle: # positions/s
FILE written
"""


def test_the_command_writes_a_network_and_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, kept = tmp_path / "net.numoku", ("--keep", "caro=network")
    assert command(path, *kept) == 0
    said = capsys.readouterr().out
    assert re.sub(r"[0-9]+([.,][0-9]+)*", "#", said.replace(str(path), "FILE")) == SAID
    first = path.read_bytes()
    weights = load_weights(str(path))
    weights.check_networks()
    network = load_weights("network")
    assert weights.network(Rule.FREESTYLE) and weights.network(Rule.RENJU) is None
    assert weights.network(Rule.CARO) == network.network(Rule.CARO)
    assert weights.about["network caro"] == f"as in {network.key}"
    assert "integers value" in weights.about["network freestyle"]
    learned = load_weights("learned")
    assert all(weights.block(rule) == learned.block(rule) for rule in Rule)
    assert all(weights.scale(rule) == learned.scale(rule) for rule in Rule)
    page = tmp_path / "net.numoku.training" / "freestyle" / "losses.html"
    assert "Cross-entropy of the move" in page.read_text(encoding="utf-8")
    assert command(path, *kept) == 0  # all steps are done
    assert path.read_bytes() == first
    capsys.readouterr()
    assert command(path, *kept, "--steps", "3") == 1
    assert "steps 2, not 3" in capsys.readouterr().err
    assert path.read_bytes() == first


def test_the_page_shows_what_was_learned_and_held_out_beside_the_linear_evaluation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    charts, tables = list[Any](), list[Any]()
    monkeypatch.setattr(train, "line_chart", lambda *facts: str(charts.append(facts)))
    monkeypatch.setattr(train, "html_table", lambda rows: str(tables.append(rows)))
    start, nan = Score(0.5, 0.6, 2.0, 0.25), float("nan")
    history = [
        {"step": 20, "learned": Score(0.4, nan, 1.9, 0.3), "held": Score(0.45, nan, 1.95, 0.28)},
        {"step": 30, "learned": Score(0.3, nan, nan, 0.4), "held": Score(0.35, nan, 1.85, 0.38)},
    ]
    page = tmp_path / "page.html"
    write_page(page, "A & B", history, start)
    value, move, first = (train.TITLES[name] for name in ("target", "entropy", "first"))

    def chart(title: str, learned: list[Any], held: list[Any], linear: float) -> Any:
        ends = [(20.0, linear), (30.0, linear)]
        return (
            title,
            "steps",
            title,
            [
                Curve("learned from", learned, "a"),
                Curve("held out", held, "b"),
                Curve("linear", ends, "c"),
            ],
        )

    assert charts == [
        chart(value, [(20.0, 0.4), (30.0, 0.3)], [(20.0, 0.45), (30.0, 0.35)], 0.5),
        chart(move, [(20.0, 1.9)], [(20.0, 1.95), (30.0, 1.85)], 2.0),
        chart(first, [(20.0, 0.3), (30.0, 0.4)], [(20.0, 0.28), (30.0, 0.38)], 0.25),
    ]
    head = ["", *train.TITLES.values()]
    linear = ["linear, held out", "0.5000", "0.6000", "2.0000", "0.2500"]
    network = ["network, held out", "0.3500", "nan", "1.8500", "0.3800"]
    assert tables == [[head, linear, network]]
    text = page.read_text(encoding="utf-8")
    assert "<h1>A &amp; B</h1>" in text and all(title in text for title, *_ in charts)
    write_page(page, "A", [], start)
    assert len(charts) == 3 and tables[1:] == [[head, linear]]


def test_a_file_that_is_still_written_is_read_to_its_last_whole_game(tmp_path: Path) -> None:
    path = tmp_path / "growing.games"
    path.write_bytes(SAMPLE.read_bytes()[:-20])
    learned = load_weights("learned")
    found, whole = (
        sum(map(len, read_pools([each], [], "caro", learned))) for each in (path, SAMPLE)
    )
    assert 0 < found <= whole
    assert len(list(read_games(path))) == len(list(read_games(SAMPLE))) - 1


def damaged(path: Path) -> Path:
    raw = bytearray(SAMPLE.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(bytes(raw))
    return path


def with_record(path: Path, **changes: Any) -> Path:
    record: Record = next(r for r in read_games(SAMPLE) if r.rule is Rule.FREESTYLE)
    path.write_bytes(header(read_about(SAMPLE)) + encode(record._replace(**changes)))
    return path


def test_games_that_cannot_be_learned_are_one_line_and_leave_all_as_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = next(r for r in read_games(SAMPLE) if r.rule is Rule.FREESTYLE)
    twice = (record.moves[0], *record.moves[:-1])
    cases = {
        "damaged": damaged(tmp_path / "damaged"),
        "cannot lie there": with_record(tmp_path / "twice", moves=twice),
        "board of 3x200": with_record(tmp_path / "board", width=3, height=200),
        "not enough games": with_record(tmp_path / "one", rule=Rule.RENJU),
    }
    out = tmp_path / "net.numoku"
    out.write_bytes(b"what was here")
    for words, games in cases.items():
        assert command(out, games=games) == 1
        error = capsys.readouterr().err
        assert words in error and error.count("\n") == 1, error
        assert out.read_bytes() == b"what was here"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("--families chess", "chess: there are freestyle"), ("--steps 0", "take 1 or more"),
        ("--mix 2", "takes 0 to 1"), ("--keep renju=hand", "no such network"),
        ("--keep renju", "it takes FAMILY=FILE"),
        ("--test nowhere.games", "cannot read games nowhere.games"),
        ("--start nowhere", "cannot read weights"),
        ("--from freestyle=nowhere", "cannot read weights"), ("--from hand", "has no network"),
        ("--from freestyle=network@nobody", "cannot read weights"),
        ("--from hand@renju", "it has no network for renju"),
        ("--from hand --from learned", "there can be one file"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: str, words: str
) -> None:
    assert command(tmp_path / "net.numoku", *more.split()) == 1
    error = capsys.readouterr().err
    assert words in error and error.count("\n") == 1
    assert not (tmp_path / "net.numoku").exists()


def test_a_missing_numba_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "pbrain_engine.learn.train")
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert cli.main(["train", "some.games", "--out", "net.numoku"]) == 1
    error = capsys.readouterr().err
    assert "pbrain-numoku[training]" in error and error.count("\n") == 1


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Have an interrupt raise, also where a shell has started the tests without it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_waits_for_the_end_of_a_step() -> None:
    with stoppable() as stopped:
        assert not stopped()
        signal.raise_signal(signal.SIGINT)
        assert stopped()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
