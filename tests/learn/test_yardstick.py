"""What weights say of positions with deep labels, against the same figures worked out by hand."""

from __future__ import annotations

import json
from math import exp, isnan, log, nan, sqrt
from pathlib import Path
from statistics import mean, stdev

import pytest

from pbrain_engine import Engine, Move, Rule, cli
from pbrain_engine.arena.calibration import average
from pbrain_engine.errors import FileError
from pbrain_engine.learn import yardstick
from pbrain_engine.learn.yardstick import FIGURES, measure
from pbrain_engine.notation.games import NO_VALUE, Ending, Record, encode, header, read_games
from pbrain_engine.values import WIN

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
        for cell in record.moves[:-1]:
            engine.play(cell % 15, cell // 15)
        static = 1 / (1 + exp(-engine.value() / engine.weights.scale(record.rule)))
        policy = engine.policy()
    deep = 1.0 if record.values[-1] > 20000 else 1 / (1 + exp(-record.values[-1] / SCALE))
    pairs = ((deep, static), (1 - deep, 1 - static))
    excess = sum(p * (log(p) - log(q)) for p, q in pairs if p > 0)
    wanted = Move(record.moves[-1] % 15, record.moves[-1] // 15)
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


def test_a_label_that_the_weights_say_themselves_costs_nothing(tmp_path):
    with Engine(hash_size=1 << 20) as engine:
        scale = engine.weights.scale(Rule.FREESTYLE)
        for x, y in STONES[:4]:
            engine.play(x, y)
        value, (best, _) = engine.value(), engine.policy()[0]
    found = tmp_path / "own"
    about = {"positions": "own", "scale freestyle": f"{scale:g}"}
    found.write_bytes(
        header(about) + encode(a_position(0, 4, (best.x, best.y), value, Rule.FREESTYLE))
    )
    row = measure([found], ["network"])[0]
    assert row.figures[0].mean == pytest.approx(0, abs=1e-9) and row.figures[2].mean == 1


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


def test_the_difference_is_that_of_the_same_positions(path, capsys):
    assert cli.main(["weights", "network", "hand", "--games", str(path), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    first, second = rows[:2]
    assert (first["family"], first["stones"], first["positions"]) == ("freestyle", "all", 3)
    assert [row["weights"] for row in rows[:2]] == ["net7", "hand-1"]
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


def test_games_and_positions_are_measured_apart(path, tmp_path):
    games = tmp_path / "games"
    games.write_bytes(header({"seed": "1"}))
    assert not yardstick.has_deep_labels([games]) and yardstick.has_deep_labels([path, path])
    with pytest.raises(FileError, match="measured apart"):
        yardstick.has_deep_labels([games, path])
    assert list(read_games(path)) == RECORDS
