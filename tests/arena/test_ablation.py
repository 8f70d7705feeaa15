"""The ablation: every switch exists and switches something, and a match plays without it."""

from __future__ import annotations

from functools import cache

import pytest

from pbrain_engine.arena import match
from pbrain_engine.arena.arguments import ITEMS, parse, settings_of, without
from pbrain_engine.arena.settings import parse_engine
from pbrain_engine.commands.bench import POSITIONS, BenchPosition
from pbrain_engine.engine.engine import Engine, Limit, Thought
from pbrain_engine.notation.cells import parse_moves
from pbrain_engine.protocol.serve import OPTIONS, engine_arguments
from pbrain_engine.search.parameters import PARAMETERS
from tests.search.test_strength import positions

DEPTH, NODES = 10, 20_000


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
    off = ITEMS[name]
    assert all(key in PARAMETERS or key in OPTIONS for key in off)
    without = tuple((key, str(value)) for key, value in off.items())
    more = [BenchPosition(p.rule, p.size, p.moves) for p in positions()]
    assert any(tree_of(p, without) != tree_of(p, ()) for p in [*POSITIONS, *more])


def names_of(*words: str) -> list[str]:
    """Return the names of the engines of a match with these words, the first the whole one."""
    settings = settings_of(parse([*words, "--in-process"]))
    assert settings.gauntlet
    return [engine.name for engine in settings.engines]


def test_an_engine_meets_itself_without_each_item() -> None:
    assert names_of("numoku", "--without", "all") == ["numoku", *ITEMS]
    assert names_of("numoku", "--without", "delta,futility,delta") == [
        "numoku",
        "delta",
        "futility",
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [(["numoku"], "no item luck"), (["numoku", "random"], "one engine"), ([], "")],
)
def test_other_items_and_more_engines_are_refused(
    capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    try:
        status = match.main([*words, "--without", "luck", "--no-journal"])
    except SystemExit as stop:
        status = stop.code  # type: ignore[assignment]
    assert status == 2 and said in capsys.readouterr().err


def test_the_switch_wins_over_the_engine_s_own_options() -> None:
    (engine,) = without(parse_engine("numoku:futility_depth=300,aspiration=20"), "futility")
    assert engine.name == "futility"
    assert dict(engine.options) == {"aspiration": "20", "futility_depth": "0"}
