"""The kernel with its asserts and bounds checks searches, solves and plays under every rule.

The contracts are asserts in the kernels: windows, counts, cells on the board, what an entry of a
table can hold. A release build leaves them out, so a build that keeps them is run here.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from pbrain_engine import Engine, Game, KernelError, Limit, Rule, Side, Solver
from pbrain_engine.commands.bench import SHORT
from pbrain_engine.native.load.library import Library
from pbrain_engine.position.geometry import cell_of
from tests.boards import game_of
from tests.checked import VARIANT
from tests.golden.claims import middle_game
from tests.oracle.rules import RULES

pytestmark = pytest.mark.slow

DEPTH = 6
GAME_NODES = 200
SOLVER_NODES = 3_000


@pytest.fixture
def checked(checked_library: Library, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """Return an engine on the kernel with checks."""
    monkeypatch.setenv("NUMOKU_VARIANT", VARIANT)
    with Engine(hash_size=1 << 20) as engine:
        assert engine.library is checked_library
        yield engine


def test_the_checked_kernel_refuses_what_breaks_a_contract(checked):
    checked.play(7, 7)
    with pytest.raises(KernelError, match=r"AssertionError.* in put, line \d+ of .*board"):
        game = checked.game
        game.library.game_place(game.address, game.tables, cell_of(7, 7), int(Side.WHITE))


@pytest.mark.parametrize("position", SHORT, ids=lambda position: position.rule.name.lower())
def test_a_search_with_checks_is_the_search_without(checked, position, monkeypatch):
    thoughts = []
    monkeypatch.delenv("NUMOKU_VARIANT")
    with Engine(hash_size=1 << 20) as other:
        assert other.library is not checked.library
        for engine in (checked, other):
            engine.new_game(*position.board)
            engine.game.become(position)
            thoughts.append(engine.think(Limit(depth=DEPTH)))
    first, second = thoughts
    assert (first.nodes, first.value, first.pv) == (second.nodes, second.value, second.pv)


@pytest.mark.parametrize("rule", Rule)
def test_games_with_checks_keep_every_contract(checked, rule):
    chance = random.Random(9)
    checked.new_game(9, rule=rule)
    while not checked.game.is_over and checked.game.ply < 40:
        if checked.game.ply < 4:
            move = chance.choice(checked.game.legal_moves())
        else:
            move = checked.think(Limit(nodes=GAME_NODES)).move
        checked.play(*move)


@pytest.mark.parametrize("rule", RULES)
def test_the_solver_with_checks_keeps_every_contract(checked, rule):
    with Solver(4_000_000, checked.library) as solver:
        seen = 0
        for seed in range(25):
            board, side = middle_game(random.Random(seed))
            if board.rule != rule:
                continue
            game = game_of(board, side)
            copy = Game(game.width, game.height, game.rule, library=checked.library)
            copy.set_up(game.history, game.to_move)
            for ask in (solver.fours, solver.threats, solver.rescues):
                ask(copy, nodes=SOLVER_NODES)
            if solver.threats(copy, nodes=SOLVER_NODES).wins:
                assert solver.tree(copy) is not None
            seen += 1
        assert seen > 1
