"""Positions that are searched again, and what weights say of them, as worked out by hand."""

from __future__ import annotations

import json
import random
from collections import Counter
from math import exp, isnan, log, nan, sqrt
from pathlib import Path
from statistics import mean, stdev

import pytest

from pbrain_engine import Engine, Game, Limit, Rule, cli
from pbrain_engine.arena.elo import average
from pbrain_engine.database.sources import SourceOptions, read_source
from pbrain_engine.eval.weights import load_weights
from pbrain_engine.game.record import stage_of
from pbrain_engine.game.result import Known
from pbrain_engine.learn.yardstick import FIGURES, Sources, measure
from pbrain_engine.notation.games import (
    NO_VALUE,
    SINGLE,
    Ending,
    NodePlan,
    Record,
    encode,
    header,
    read_about,
    read_games,
)
from pbrain_engine.values import WIN, WIN_BAND

SCALE = 200.0
STONES = [(7, 7), (8, 8), (7, 8), (6, 7), (7, 6), (7, 9), (6, 8), (8, 7), (5, 9), (9, 5), (8, 6)]


def a_position(number: int, stones: int, move: tuple[int, int], value: int, rule: Rule) -> Record:
    cells = [y * 15 + x for x, y in (*STONES[:stones], move)]
    values = (*[NO_VALUE] * stones, value)
    return Record(number, rule, 15, 15, stones, 0, Ending.SEARCHED, tuple(cells), values)


RECORDS = [
    a_position(0, 3, (6, 6), 120, Rule.FREESTYLE), a_position(0, 4, (8, 6), -40, Rule.FREESTYLE),
    a_position(1, 10, (8, 6), WIN - 9, Rule.FREESTYLE), a_position(2, 5, (0, 14), 3, Rule.RENJU),
]  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "yardstick"
    about = {"positions": "some", "scale freestyle": f"{SCALE:g}", "scale renju": f"{SCALE:g}"}
    found.write_bytes(header(about) + b"".join(map(encode, RECORDS)))
    return found


def by_hand(record: Record, weights: str) -> tuple[float, float, float]:
    """Return the three figures of a position."""
    with Engine(hash_size=1 << 20, weights=weights) as engine:
        engine.new_game(15, rule=record.rule)
        for cell in record.cells[:-1]:
            engine.play(cell)
        static = 1 / (1 + exp(-engine.value() / engine.weights.scale(record.rule)))
        policy = engine.policy()
    deep = 1.0 if record.values[-1] > 20000 else 1 / (1 + exp(-record.values[-1] / SCALE))
    pairs = ((deep, static), (1 - deep, 1 - static))
    excess = sum(p * (log(p) - log(q)) for p, q in pairs if p > 0)
    wanted = record.cells[-1]
    chances = dict(policy)
    entropy = -log(chances[wanted]) if wanted in chances else nan
    return excess, entropy, float(policy[0][0] == wanted)


@pytest.mark.parametrize("weights", ["network", "hand"])
def test_figures_are_those_that_are_worked_out_by_hand(path, weights):
    rows = {(row.family, row.stones): row for row in measure([path], [weights])}
    assert {key: row.positions for key, row in rows.items()} == {
        ("freestyle", "all"): 3, ("freestyle", "0-9"): 2, ("freestyle", "10-19"): 1,
        ("renju", "all"): 1, ("renju", "0-9"): 1,
    }  # fmt: skip
    for key, chosen in (
        (("freestyle", "all"), RECORDS[:3]), (("freestyle", "0-9"), RECORDS[:2]),
        (("renju", "0-9"), RECORDS[3:]),
    ):  # fmt: skip
        hand = [by_hand(record, weights) for record in chosen]
        for at, figure in enumerate(rows[key].figures):
            known = [each[at] for each in hand if each[at] == each[at]]
            assert figure.mean == pytest.approx(
                mean(known) if known else nan, abs=2e-3, nan_ok=True
            )


def test_errors_are_those_of_games():
    numbers = [0.1, 0.5, 0.3, 0.9]
    alone = average(numbers, [(0, n) for n in range(4)])
    assert alone.mean == pytest.approx(0.45)
    assert alone.error == pytest.approx(stdev(numbers) / 2)
    twice = average(
        [n for n in numbers for _ in range(3)], [(0, n) for n in range(4) for _ in "abc"]
    )
    assert twice == pytest.approx(alone), "what a game says three times counts once"
    files = average(numbers, [(n, 0) for n in range(4)])
    assert files == alone, "games of several files are different ones"
    assert average([0.2, nan, 0.4], [(0, 1), (0, 2), (0, 3)]) == pytest.approx((0.3, 0.1))
    assert isnan(average([0.2, 0.4], [(0, 1), (0, 1)]).error)
    assert sqrt(2) * average([0.0, 1.0], [(0, 1), (0, 2)]).error == pytest.approx(sqrt(0.5))


def test_games_of_a_second_file_are_numbered_after_those_of_the_first(path):
    sources = Sources([path, path])
    assert [sources[at].number for at in range(2 * len(RECORDS))] == [0, 0, 1, 2, 3, 3, 4, 5]


def test_the_difference_is_that_of_the_same_positions(path, capsys):
    assert cli.main(["weights", "network", "hand", "--games", str(path), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    first, second = rows[:2]
    assert (first["family"], first["stones"], first["positions"]) == ("freestyle", "all", 3)
    assert [row["weights"] for row in rows[:2]] == [load_weights("network").id, "hand-1"]
    for figure in FIGURES:
        assert {figure, f"{figure}_se"} <= first.keys()
        assert f"{figure}_difference" not in first
        less = second[figure] - first[figure]
        assert second[f"{figure}_difference"] == pytest.approx(less, abs=2e-6)
    hand, network = ([by_hand(r, w)[0] for r in RECORDS[:3]] for w in ("hand", "network"))
    games = [(0, record.number) for record in RECORDS[:3]]
    error = average([a - b for a, b in zip(hand, network, strict=True)], games).error
    assert second["value_above_least_difference_se"] == pytest.approx(error, abs=1e-4)
    alone = rows[4]
    assert alone["stones"] == "10-19" and alone["value_above_least_se"] is None
    assert cli.main(["weights", "network", "hand", "--games", str(path)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 1 + 3 * 5 and said[3].split()[0] == "difference"
    assert not any("nan" in line for line in said), "an error that is not known is a dash"
    assert any(" -" in line for line in said)


NODES = 300


def make(path: Path, *words: str) -> int:
    return cli.main(["datagen", str(path), "--weights", "hand", "--nodes", str(NODES), *words])


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("games") / "some.games"
    kinds = ["--rules", "freestyle,renju", "--boards", "15,9", "--branch-share", "0.2"]
    assert make(path, "--games", "8", "--processes", "1", *kinds) == 0
    return path


@pytest.fixture(scope="module")
def whole(games: Path) -> Path:
    path = games.with_name("whole")
    assert make(path, "--positions", str(games), "--processes", "1", "--multipv", "3") == 0
    return path


def key(record: Record) -> tuple[int, ...]:
    return record.number, *record.moves[: record.opening]


def test_every_position_with_a_value_is_searched_once(games, whole):
    wanted = {
        (record.number, *record.moves[:stones])
        for record in read_games(games)
        for stones in range(record.opening, len(record.moves))
    }
    found = list(read_games(whole))
    assert Counter(map(key, found)) == Counter(wanted)
    results = {game.number: game.result for game in read_games(games) if game.ending not in SINGLE}
    assert {record.ending for record in found} == {Ending.BRANCH, Ending.SEARCHED}
    for record in found:
        assert record.values[:-1] == (NO_VALUE,) * record.opening
        assert record.result == (results[record.number] if record.ending is Ending.SEARCHED else 0)


def test_the_first_line_is_what_a_fresh_search_finds_and_others_are_no_better(whole):
    several = 0
    for record in random.Random(3).sample(list(read_games(whole)), 30):
        with Engine(hash_size=1 << 20, weights="hand") as engine:
            engine.new_game(record.width, record.height, record.rule)
            for cell in record.cells[: record.opening]:
                engine.play(cell)
            thought = engine.think(Limit(nodes=NODES))
        best = thought.move.y * record.width + thought.move.x, thought.value
        assert (record.moves[-1], record.values[-1]) == best
        if record.lines:
            cells, values = zip(*record.lines, strict=True)
            assert record.lines[0] == best and len(set(cells)) == len(cells) <= 3
            assert list(values) == sorted(values, reverse=True)
            assert not set(cells) & set(record.moves[: record.opening])
            several += 1
    assert several > 8


def test_an_interrupted_file_goes_on_and_processes_change_nothing(games, whole, tmp_path):
    raw, parts = whole.read_bytes(), tmp_path / "parts"
    words = ["--positions", str(games), "--multipv", "3", "--processes"]
    start = raw.index(b"\n\n") + 2
    parts.write_bytes(raw[: random.Random(8).randrange(start, len(raw))])
    assert make(parts, *words, "1") == 0
    assert parts.read_bytes() == raw
    assert make(parts, *words, "1") == 0
    assert parts.read_bytes() == raw, "nothing is left to do"
    parts.unlink()
    assert make(parts, *words, "2") == 0
    assert parts.read_bytes() == raw


def test_a_file_of_other_positions_or_another_search_is_refused(games, whole, tmp_path, capsys):
    raw = whole.read_bytes()
    assert make(whole, "--positions", str(games), "--multipv", "2") == 1
    assert "was made with multipv 3, not 2" in capsys.readouterr().err
    other = tmp_path / games.name
    records = list(read_games(games))
    other.write_bytes(header(read_about(games)) + b"".join(map(encode, records[:-1])))
    assert make(whole, "--positions", str(other), "--multipv", "3") == 1
    assert "was made with positions some.games" in capsys.readouterr().err
    assert whole.read_bytes() == raw


def test_a_sample_has_as_many_positions_of_each_kind_and_open_ones_alone(games, tmp_path):
    path = tmp_path / "sample"
    assert make(path, "--positions", str(games), "--count", "48", "--open", "--processes", "1") == 0
    found = list(read_games(path))
    assert len(found) == 48
    assert [each.number for each in found] == sorted(each.number for each in found)
    kinds = Counter((each.rule, each.width, stage_of(each.opening)) for each in found)
    assert len({kind[:2] for kind in kinds}) == 4
    assert max(kinds.values()) <= 48 // 12 + 2, "hardly more than the mean of those that there are"
    known = {
        (record.number, *record.moves[:n]): record.values[n]
        for record in read_games(games)
        for n in range(record.opening, len(record.moves))
    }
    for record in found:
        assert abs(known[key(record)]) < WIN_BAND
        game = Game(record.width, record.height, record.rule)
        for cell in record.cells[: record.opening]:
            game.play(cell)
        assert not game.is_over
    more = tmp_path / "more"
    words = ["--positions", str(games), "--count", "48", "--open", "--processes", "1"]
    assert make(more, *words, "--seed", "2") == 0
    assert set(map(key, read_games(more))) != set(map(key, found))


def test_a_database_takes_their_values_and_no_game(games, tmp_path):
    path = tmp_path / "again"
    words = ["--positions", str(games), "--count", "20", "--nodes", "60@10,30", "--processes", "1"]
    assert make(path, *words) == 0
    known = list(read_source(str(path), SourceOptions()))
    for item, record in zip(known, read_games(path), strict=True):
        assert isinstance(item, Known)
        assert item.finding.value == record.values[-1]
        assert item.finding.nodes == (60 if record.opening < 10 else 30)


def test_nodes_are_read_as_they_are_written_and_hold_before_their_stones():
    for text in ("1200", "12000@20,4800@40,1200", "50@7,10"):
        assert str(NodePlan.parse(text)) == text
    budget = NodePlan.parse("12000@20, 4800@40, 1200")
    found = [budget.at(stones) for stones in (0, 19, 20, 39, 40, 400)]
    assert found == [12000, 12000, 4800, 4800, 1200, 1200]
    assert budget.most == 12000 and NodePlan(30).at(0) == 30


def test_searches_of_games_and_positions_have_the_nodes_of_their_stones(
    games, tmp_path, monkeypatch
):
    asked = list[tuple[int, int | None]]()
    think, glance = Engine.think, Engine.search_nodes

    def noting_think(engine: Engine, limit: Limit, **more: object) -> object:
        asked.append((engine.game.ply, limit.nodes))
        return think(engine, limit, **more)

    def noting_glance(engine: Engine, nodes: int) -> object:
        asked.append((engine.game.ply, nodes))
        return glance(engine, nodes)

    monkeypatch.setattr(Engine, "think", noting_think)
    monkeypatch.setattr(Engine, "search_nodes", noting_glance)
    words = ["--nodes", "400@12,100@14,50", "--processes", "1"]
    assert make(tmp_path / "again", "--positions", str(games), *words) == 0
    for stones, nodes in asked:
        assert nodes == (400 if stones < 12 else 100 if stones < 14 else 50)
    asked.clear()
    assert make(tmp_path / "games", "--games", "3", *words) == 0
    for stones, nodes in asked:
        usual = 400 if stones < 12 else 100 if stones < 14 else 50
        assert nodes == usual // 10 or 0.75 * usual - 1 <= nodes <= 1.25 * usual
    assert {stones < 12 for stones, _ in asked} == {True, False}
    assert read_about(tmp_path / "games")["nodes"] == "400@12,100@14,50"
    assert Rule.RENJU in {record.rule for record in read_games(tmp_path / "again")}
