"""What a search tells of its values: complete, of one depth and ranked, or else called a bound."""

from __future__ import annotations

import pytest

from pbrain_engine import Engine, Limit, Move, Rule, Thought
from pbrain_engine.engine.ending import forced_end, winner_after
from pbrain_engine.game.cells import parse_moves
from pbrain_engine.values import WIN_BAND
from tests.golden import thoughts
from tests.played import set_up

POSITIONS = ("h8i9h9", "h8i9i7g9", "h8h9j8g7")


def test_engines_think_and_tell_what_is_recorded():
    thoughts.thoughts.check()


@pytest.mark.parametrize("position", POSITIONS)
def test_the_final_value_is_complete_or_called_a_bound(engine, position):
    for nodes in range(12_000, 60_000, 16_000):
        engine.clear_hash()
        set_up(engine, position)
        seen: list[Thought] = []
        final = engine.think(Limit(nodes=nodes), on_iteration=seen.append)
        complete = seen[-1]
        assert final.depth == complete.depth
        if abs(final.value) >= WIN_BAND:
            continue
        if final.move == complete.move:
            assert (final.value, final.pv, final.bound) == (complete.value, complete.pv, "")
        else:
            assert final.bound == "lower"


# Ends that come later than the search says, by fours of the defender, and lines that go astray.
ENDS = [(9, "e4f2f7b8h3f3g5d6e5e8h7c4b5b7e7b6g8", 8000), (11, "c4i9f4i7e3e9d4c8d7", 8000)]


@pytest.mark.parametrize("size, moves, nodes", ENDS)
def test_the_line_of_an_end_goes_on_up_to_the_five(size, moves, nodes):
    with Engine(hash_size=4_000_000) as engine:
        set_up(engine, moves, Rule.CARO_EXACT, size)
        side = engine.game.to_move
        thought = engine.think(Limit(nodes=nodes))
        form = forced_end(engine, thought)
        assert form is not None and len(form["line"]) <= form["plies"] >= abs(thought.mate)
        winner = side if thought.mate > 0 else side.opponent
        assert winner_after(engine.game, [Move(*cell) for cell in form["line"]]) is winner
        assert engine.game.moves == parse_moves(moves)
