"""Branches: positions beside those of games, each with a search of its own and no result."""

from __future__ import annotations

from pathlib import Path

import pytest

from pbrain_engine import cli
from pbrain_engine.game.game import Game
from pbrain_engine.learn.branches import STEPS, BranchPlan, games_of, grow_branch
from pbrain_engine.learn.features import read_features
from pbrain_engine.learn.records import (
    NO_VALUE,
    Ending,
    GamesError,
    Record,
    is_held_out,
    read_about,
    read_games,
)

SAMPLE = Path(__file__).parent / "games" / "sample.games"
PLAN = BranchPlan(3, 60, (str(SAMPLE),), "hand")


@pytest.fixture(scope="module")
def branches() -> list[Record]:
    engine = PLAN.make_engine()
    return [grow_branch(engine, PLAN, number) for number in range(60)]


def test_a_branch_leaves_a_game_by_a_few_moves(branches: list[Record]) -> None:
    games = [record for part in games_of(PLAN.games) for record in part]
    lengths, odd = set(), 0
    for branch in branches:
        kind = branch.rule, branch.width, branch.height
        same = [g for g in games if (g.rule, g.width, g.height) == kind]
        shared = max(common(branch.moves[:-1], game.moves) for game in same)
        steps = len(branch.moves) - 1 - shared
        assert 0 <= steps <= max(STEPS)
        lengths.add(steps)
        odd += steps > 0
    assert len(lengths) > 3 and odd > 40


def common(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    """Return how many first moves two games share."""
    pairs = zip(one, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def test_a_branch_is_legal_and_has_one_value(branches: list[Record]) -> None:
    for branch in branches:
        assert branch.ending is Ending.BRANCH and branch.result == 0
        assert branch.opening == len(branch.moves) - 1
        assert [value == NO_VALUE for value in branch.values] == [True] * branch.opening + [False]
        game = Game(branch.width, branch.height, branch.rule)
        for cell in branch.moves:
            x, y = cell % branch.width, cell // branch.width
            assert not game.is_over
            assert cell == branch.moves[-1] or not game.is_forbidden(x, y)
            game.play(x, y)


def test_a_branch_depends_on_plan_and_number_alone(branches: list[Record]) -> None:
    engine = PLAN.make_engine()
    assert [grow_branch(engine, PLAN, n) for n in (7, 2)] == [branches[7], branches[2]]
    assert grow_branch(engine, PLAN._replace(seed=4), 2) != branches[2]


def test_held_out_branches_leave_held_out_games() -> None:
    learned, held = games_of(PLAN.games)
    assert learned and held
    assert all(is_held_out(game.number) for game in held)
    assert not any(is_held_out(game.number) for game in learned)
    engine, starts = PLAN.make_engine(), {game.moves[: game.opening + 1] for game in learned}
    starts -= {game.moves[: game.opening + 1] for game in held}
    for number in [n for n in range(400) if is_held_out(n)][:12]:
        branch = grow_branch(engine, PLAN, number)
        assert not any(branch.moves[: len(start)] == start for start in starts)


def test_a_file_of_branches_is_made_by_a_command(tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    words = ["--nodes", "60", "--seed", "3", "--processes", "1", "--branches", str(SAMPLE)]
    assert cli.main(["datagen", str(whole), "--games", "9", *words]) == 0
    assert cli.main(["datagen", str(parts), "--games", "4", *words]) == 0
    assert cli.main(["datagen", str(parts), "--games", "9", *words]) == 0
    assert whole.read_bytes() == parts.read_bytes()
    assert "games, seed" in read_about(whole)["branches of 1"]
    assert all(record.ending is Ending.BRANCH for record in read_games(whole))


def test_branches_teach_linear_weights_moves_alone(branches: list[Record]) -> None:
    positions, choices = read_features(branches)
    assert len(positions) == 0 and len(choices) > 20


def test_what_makes_no_sense_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "some.games"
    words = ["datagen", str(path), "--games", "1"]
    assert cli.main([*words, "--branches", str(tmp_path / "nowhere")]) == 1
    assert "cannot read games" in capsys.readouterr().err
    assert cli.main([*words, "--branches", str(SAMPLE), "--search", "mcts"]) == 2
    assert "--branches" in capsys.readouterr().err
    assert not path.exists()
    of_branches = tmp_path / "branches"
    assert cli.main(["datagen", str(of_branches), "--games", "3", "--nodes", "20",
                     "--processes", "1", "--branches", str(SAMPLE)]) == 0  # fmt: skip
    with pytest.raises(GamesError, match="too few games"):
        PLAN._replace(games=(str(of_branches),)).about()
