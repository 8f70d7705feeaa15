"""The ablation: every switch exists and switches something, and the table says what was played."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from pbrain_engine.commands.bench_positions import POSITIONS, BenchPosition
from pbrain_engine.engine.engine import Engine, Limit, Thought
from pbrain_engine.notation.cells import parse_moves
from pbrain_engine.protocol.configured import OPTIONS, engine_arguments
from pbrain_engine.search.alphabeta.params import PARAMETERS
from pbrain_engine.tuning import ablation
from pbrain_engine.tuning.items import ITEMS
from tests.test_strength import positions

DEPTH, NODES = 10, 20_000
FAST = ["--nodes", "300", "--board", "10", "--openings", "random:4", "--view", "quiet",
        "--engine", "numoku:hash=1024"]  # fmt: skip


@cache
def tree_of(position: BenchPosition, options: tuple[tuple[str, str], ...]) -> Thought:
    """Return what a search with these options thinks of a position, but for its time."""
    with Engine(hash_size=4 << 20, **engine_arguments(options)) as engine:
        engine.new_game(position.size, rule=position.rule)
        for x, y in parse_moves(position.moves, position.size):
            engine.play(x, y)
        return engine.think(Limit(depth=DEPTH, nodes=NODES))._replace(time=0)


@pytest.mark.parametrize("name", ITEMS)
def test_every_item_is_switched_off_by_its_options(name: str) -> None:
    off = ITEMS[name].off
    assert all(key in PARAMETERS or key in OPTIONS for key in off)
    without = tuple((key, str(value)) for key, value in off.items())
    more = [BenchPosition(p.rule, p.size, p.moves) for p in positions()]
    assert any(tree_of(p, without) != tree_of(p, ()) for p in [*POSITIONS, *more])


def test_the_table_is_made_of_the_games_and_goes_on(tmp_path: Path) -> None:
    path, page = tmp_path / "run.jsonl", tmp_path / "table.md"
    words = [str(path), *FAST, "--items", "futility,reductions", "--write", str(page)]
    assert ablation.main([*words, "--games", "2"]) == 0
    assert "4 games, 0 ended by a fault" in page.read_text(encoding="utf-8")
    assert ablation.main([*words, "--games", "4", "--concurrency", "2"]) == 0
    text = page.read_text(encoding="utf-8")
    assert "8 games, 0 ended by a fault" in text
    for name in ("futility", "reductions"):
        (row,) = [line for line in text.splitlines() if line.startswith(f"| {name} |")]
        assert row.endswith("| 4 |")
    assert "300 nodes a move" in text
    assert f"numoku ablate {path} " in text and f"--games 4 --write {page}\n" in text


def test_an_item_that_is_named_twice_counts_once(tmp_path: Path) -> None:
    options = ablation.make_parser().parse_args([str(tmp_path), "--items", "delta,futility,delta"])
    assert [engine.name for engine in ablation.settings_of(options).engines] == [
        "whole", "delta", "futility"
    ]  # fmt: skip


def test_what_is_shown_names_the_command_that_made_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.jsonl"
    words = [str(path), "--items", "futility,delta", "--engine", "numoku:hash=1024", "--nodes",
             "50", "--rule", "renju", "--board", "10x9", "--openings", "random:4", "--seed", "7",
             "--games", "2"]  # fmt: skip
    assert ablation.main([*words, "--view", "quiet"]) == 0
    capsys.readouterr()
    assert ablation.main([str(path), "--show"]) == 0
    assert f"numoku ablate {' '.join(words)}\n" in capsys.readouterr().out


def test_other_settings_and_items_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.jsonl"
    assert ablation.main([str(path), *FAST, "--items", "luck"]) == 2
    assert "no item luck" in capsys.readouterr().err
    assert ablation.main([str(path), *FAST, "--items", "delta", "--games", "2"]) == 0
    assert ablation.main([str(path), *FAST, "--items", "futility", "--games", "2"]) == 2
    assert "other settings" in capsys.readouterr().err


def test_the_switch_wins_over_the_engine_s_own_options() -> None:
    engine = ablation.without("futility", "numoku:futility_depth=300,aspiration=20")
    assert engine.name == "futility"
    assert dict(engine.options) == {"aspiration": "20", "futility_depth": "0"}
