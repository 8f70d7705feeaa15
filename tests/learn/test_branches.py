"""Branches: positions beside those of games, each with a search of its own and no result."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from pbrain_engine import cli
from pbrain_engine.engine.alphabeta import Glance
from pbrain_engine.engine.engine import Engine
from pbrain_engine.game.game import Game, Move
from pbrain_engine.learn.branches import STEPS, grow
from pbrain_engine.learn.features import read_features, replay
from pbrain_engine.learn.records import NO_VALUE, Ending, Record, decode, encode, read_games
from pbrain_engine.learn.selfplay import Plan, SelfPlayed, play_game
from pbrain_engine.position.rules import Rule

SHARE = 0.4
PLAN = Plan(3, 150, (Rule.FREESTYLE, Rule.RENJU), (15, 9), "network", SHARE)
GAMES = 12


@pytest.fixture(scope="module")
def played() -> list[SelfPlayed]:
    engine = PLAN.make_engine()
    return [PLAN.play(engine, number) for number in range(GAMES)]


def common(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    """Return how many first moves two games share."""
    pairs = zip(one, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def test_branches_leave_their_game_by_a_few_moves_or_stand_in_its_trees(
    played: list[SelfPlayed],
) -> None:
    beside = []
    for game, branches, _ in played:
        for branch in branches:
            assert branch.number == game.number
            assert branch[1:4] == game[1:4], "rule and size"
            shared = common(branch.moves[:-1], game.moves)
            assert shared >= game.opening
            beside.append(len(branch.moves) - 1 - shared)
    assert {0, 1, 2, 3} < set(beside), "the odd moves, some of which the game has made, too"
    assert max(beside) > max(STEPS), "those of trees"


def test_branches_are_so_large_a_share_of_the_positions(played: list[SelfPlayed]) -> None:
    positions = sum(len(game.moves) - game.opening for game, _, _ in played)
    branches = sum(len(branches) for _, branches, _ in played)
    assert branches / (positions + branches) == pytest.approx(SHARE, abs=0.02)


def test_a_branch_is_legal_undecided_and_has_one_value(played: list[SelfPlayed]) -> None:
    branches = [branch for each in played for branch in each.branches]
    for branch in branches:
        assert branch.ending is Ending.BRANCH and branch.result == 0
        assert branch.opening == len(branch.moves) - 1
        assert [value == NO_VALUE for value in branch.values] == [True] * branch.opening + [False]
        game = Game(branch.width, branch.height, branch.rule)
        for cell in branch.moves:
            x, y = cell % branch.width, cell // branch.width
            assert not game.is_over and not game.is_forbidden(x, y)
            game.play(x, y)
    _, choices = read_features(branches)
    assert len(choices) == len(branches) == sum(1 for _ in replay(branches)), "all teach a move"


def test_branches_depend_on_plan_and_number_alone_and_change_no_game(
    played: list[SelfPlayed],
) -> None:
    engine = PLAN.make_engine()
    assert [PLAN.play(engine, n) for n in (7, 2)] == [played[7], played[2]]
    assert play_game(engine, PLAN, 5) == played[5].record
    assert PLAN._replace(seed=4).play(engine, 2).branches != played[2].branches


def test_a_file_has_the_branches_of_a_game_before_it(
    tmp_path: Path, played: list[SelfPlayed]
) -> None:
    path = tmp_path / "some.games"
    words = ["--nodes", "150", "--seed", "3", "--rules", "freestyle,renju", "--boards", "15,9"]
    words += ["--branch-share", str(SHARE), "--games", "4"]
    assert cli.main(["datagen", str(path), *words, "--processes", "1"]) == 0
    wanted = [record for game, branches, _ in played[:4] for record in (*branches, game)]
    assert list(read_games(path)) == wanted


def test_a_long_game_on_a_large_board_has_branches_that_can_be_written() -> None:
    """A file counts the stones before a branch in one byte; draws on 20x20 are longer."""
    cells = [(x, y) for y in range(20) for x in range(20)]
    black = [cell for cell in cells if (cell[0] + 2 * cell[1]) % 4 < 2]  # no five in any line
    white = [cell for cell in cells if (cell[0] + 2 * cell[1]) % 4 >= 2]
    moves = tuple(y * 20 + x for pair in zip(black, white, strict=True) for x, y in pair)[:300]
    record = Record(9, Rule.FREESTYLE, 20, 20, 200, 0, Ending.CALM, moves, (0,) * 300)
    with Engine(hash_size=1 << 20) as engine:
        engine.new_game(20)
        found = Glance(value=0, move=Move(19, 19), choices=2, end=None)
        branches = grow(engine, random.Random(1), record, (), 0.5, lambda: found)
    assert branches and all(decode(encode(branch)) for branch in branches)


def test_branches_teach_linear_weights_moves_alone(played: list[SelfPlayed]) -> None:
    positions, choices = read_features(b for each in played for b in each.branches)
    assert len(positions) == 0 and len(choices) > 20


def test_a_search_that_met_its_limit_tells_where(played: list[SelfPlayed]) -> None:
    """The position is one of the tree: it follows the root by legal moves, and limits differ."""
    with Engine(hash_size=1 << 20) as engine:
        ends = set()
        for nodes in range(100, 400):
            engine.new_game(15)
            for x, y in ((7, 7), (8, 8), (6, 8)):
                engine.play(x, y)
            engine.clear_hash()
            glance = engine.glance(nodes)
            assert glance is not None and glance.end is not None
            ends.add(glance.end)
            for x, y in glance.end:
                assert not engine.game.is_over
                engine.play(x, y)
    assert len(ends) > 100 and {len(end) for end in ends} >= {1, 2, 3, 4, 5}


@pytest.mark.parametrize("words", [["--branch-share", "1"], ["--branch-share", "-0.1"],
                                   ["--branch-share", "0.2", "--search", "mcts"]])  # fmt: skip
def test_what_makes_no_sense_is_refused(words: list[str], tmp_path: Path) -> None:
    assert cli.main(["datagen", str(tmp_path / "a"), "--games", "1", *words]) == 2
    assert not (tmp_path / "a").exists()
