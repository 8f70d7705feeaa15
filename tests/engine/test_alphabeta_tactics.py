"""The engine asks for proven wins while it thinks, and stays as obedient as without."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import pytest

from pbrain_engine import Engine, Limit, Move, Result, Side, Solver
from pbrain_engine.engine.alphabeta import Tactics
from pbrain_engine.game.result import BY_FOURS, OPEN
from pbrain_engine.values import loss_in
from tests.played import game_after, moves_of, set_up

pytestmark = pytest.mark.slow

WON = "i10f5e9g11i6k5f6j6h9j11h7g9"  # black wins by threats, not by fours alone
WILD = "i6j7h7e5k9k8h5g9h10h6"  # not decided by threats for very long
OPEN_THREE = "h8a1i8c1j8"  # black threatens a winning four, white to move
PROMPT = 0.25


def test_a_proven_win_is_played_at_once_and_through(engine):
    set_up(engine, WON)
    thought = engine.think(Limit(nodes=100_000))
    assert thought.proof == "vct" and thought.nodes < 1000
    left = thought.mate
    assert left == 2 * ((len(thought.pv) + 1) // 2) - 1 and thought.move == thought.pv[0]
    with Engine(hash_size=1 << 20, parameters={"threat_share": 0}) as other:
        while engine.game.winner is None:
            move = engine.think(Limit(nodes=100_000)).move
            engine.play(*move)
            if engine.game.winner is None:
                other.new_game(15)
                other.game.set_up(engine.game.history, engine.game.to_move)
                answer = other.think(Limit(nodes=2_000)).move
                engine.play(*answer)
    assert engine.game.winner is Side.BLACK


def test_a_move_that_loses_to_threats_is_refuted():
    *_, blunder = moves_of(WON)
    game = game_after(WON)
    game.undo()
    with Solver(8_000_000) as solver:
        tactics = Tactics(solver, game, 10, 0)
        loss = tactics.refutes(blunder, 1_000_000)
        assert loss is not None and loss.length > 3
        assert not tactics.refutes(Move(14, 14), 100)  # no share of so few nodes


def test_a_move_that_was_not_judged_is_not_dropped():
    game = game_after(OPEN_THREE)
    safe, unknown = Move(6, 7), Move(0, 14)
    found = Result(loss_in(4), claim=BY_FOURS, moves=(safe,), unknown=(unknown,))
    solver = SimpleNamespace(
        threatens_fours=lambda game, nodes: True, rescues=lambda game, nodes: found
    )
    losing = Tactics(solver, game, 10, 0).losing_moves()
    assert set(losing) == set(game.legal_moves()) - {safe, unknown}


@pytest.mark.timed
def test_a_stop_ends_the_solver_too(engine):
    set_up(engine, WILD)
    engine.set_parameter("threat_share", 200)
    threading.Timer(0.3, engine.stop).start()
    began = time.perf_counter()
    assert engine.think(Limit()).move in engine.game.legal_moves()
    assert time.perf_counter() - began < 0.3 + PROMPT
    with Solver(8_000_000) as solver:
        threading.Timer(0.1, solver.stop).start()
        began = time.perf_counter()
        claim = solver.threats(game_after(WILD)).claim
        assert claim == OPEN and time.perf_counter() - began < 0.1 + PROMPT
        assert solver.threats(game_after(WILD)).nodes < 1000  # until it is released
        solver.release()
        assert solver.threats(game_after(WON)).wins
