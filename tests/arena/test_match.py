"""``numoku match`` as its users see it."""

from __future__ import annotations

import json
import shutil
from functools import cache
from pathlib import Path

import pytest

from pbrain_engine import cli
from pbrain_engine.arena import match as command
from pbrain_engine.arena.arguments import ITEMS
from pbrain_engine.arena.match import read_journal
from pbrain_engine.commands.bench import POSITIONS
from pbrain_engine.engine.engine import Engine, Limit, Thought
from pbrain_engine.eval.weights import weights_file
from pbrain_engine.game.record import GameRecord
from pbrain_engine.protocol.serve import OPTIONS, engine_arguments
from pbrain_engine.search.parameters import PARAMETERS
from tests.search.test_strength import positions

pytestmark = pytest.mark.slow

FAST = ["--openings", "random", "--turn", "0.1", "--view", "quiet", "--no-journal"]


@pytest.fixture(autouse=True)
def own_journals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMOKU_MATCHES", str(tmp_path))


@pytest.mark.parametrize(
    ("words", "wins"),
    [("random --rule 8 --board 12x9", 2),
     pytest.param("random --judge --rule renju", 2, marks=pytest.mark.timed),
     ("numoku:weights=hand --nodes 300 --tolerance 5 --concurrency 2 --rule renju", None)],
)  # fmt: skip
def test_games_by_any_rule_and_board_end_without_a_fault(capsys, words, wins):
    assert command.main(["numoku", *words.split(), "--games", "2", *FAST, "--json"]) == 0
    out, _ = capsys.readouterr()
    result = json.loads(out)
    assert out.count("\n") == 1
    assert (result["games"], result["faults"]) == (2, [])
    assert wins in (None, result["pairs"][0]["wins"])


@pytest.mark.parametrize("kind", [[], ["--in-process"]])
def test_a_strength_is_that_of_both_kinds_of_player(tmp_path, kind):
    path = tmp_path / "match.jsonl"
    engines = ["weak=numoku:strength=0", "full=numoku:strength=100,weights=hand,futility_depth=0"]
    words = [*engines, "--nodes", "2000", *kind]
    openings = ["--openings", "random:3", "--games", "2", "--journal", str(path)]
    assert command.main([*words, *openings, "--view", "quiet"]) == 0
    most = {"weak": 0, "full": 0}
    for played in read_journal(path)[1]:
        for name, nodes in zip(played.movers, played.nodes, strict=True):
            most[name] = max(most[name], nodes or 0)
    assert most["weak"] < 200 < 1500 < most["full"]


def test_weights_that_are_lost_end_the_match_before_it_goes_on(tmp_path, capsys):
    weights, journal = tmp_path / "w.numoku", tmp_path / "m.jsonl"
    shutil.copy(weights_file("hand"), weights)
    words = ["random", f"numoku:weights={weights},nodes=10", "--games", "2", "--view", "quiet"]
    assert command.main([*words, "--openings", "none", "--journal", str(journal)]) == 0
    weights.unlink()
    capsys.readouterr()
    assert cli.main(["match", "--resume", str(journal), "--games", "4", "--view", "quiet"]) == 2
    assert str(weights) in capsys.readouterr().err


def test_where_the_own_folder_cannot_be_written_the_options_without_it_are_named(
    tmp_path, monkeypatch, run
):
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMOKU_MATCHES", str(tmp_path / "file" / "below"))
    status, _, err = run("match", "random", "random", "--games", "2", "--view", "quiet")
    assert status == 1 and "--no-journal" in err and err.count("\n") == 1
    named = str(tmp_path / "file" / "a.jsonl")
    assert "--no-journal" not in run("match", "random", "random", "--journal", named)[2]


@cache
def tree_of(position: GameRecord, options: tuple[tuple[str, str], ...]) -> Thought:
    """Return what a search with these options thinks of a position, but for its time."""
    with Engine(hash_size=4 << 20, **engine_arguments(options)) as engine:
        engine.new_game(*position.board)
        engine.game.become(position)
        return engine.think(Limit(depth=10, nodes=20_000))._replace(time=0)


@pytest.mark.parametrize("name", ITEMS)
def test_every_item_is_switched_off_by_its_options(name):
    assert all(key in PARAMETERS or key in OPTIONS for key in ITEMS[name])
    off = tuple((key, str(value)) for key, value in ITEMS[name].items())
    more = (position.record for position in positions())
    assert any(tree_of(p, off) != tree_of(p, ()) for p in (*POSITIONS, *more))
