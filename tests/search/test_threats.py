"""Forced wins, move for move: fours, proofs that are played through, lines and rescues."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pbrain_engine.eval.evaluator import evaluate
from pbrain_engine.game.cells import cell_name, parse_moves
from pbrain_engine.patterns.state import play, undo
from pbrain_engine.position.board import bit_of
from pbrain_engine.position.geometry import NO_CELL, PADDED_CELLS
from pbrain_engine.position.rules import Rule
from pbrain_engine.search.threats import proof, vct
from pbrain_engine.search.threats import replies as rescue
from pbrain_engine.search.threats.defence import static_result
from pbrain_engine.search.threats.memory import (
    DISPROVEN,
    NONE,
    PROVEN,
    STOPPED,
    copy_game,
    proof_key,
    settle,
    store_proof,
)
from pbrain_engine.search.threats.replies import PREPARES, find_rescues
from pbrain_engine.search.threats.vcf import (
    KNOWN_NONE,
    closeness,
    find_fours,
    kind_of,
    line_still_wins,
    list_attacks,
    probe_fours,
    solve_fours,
)
from pbrain_engine.values import win_in
from tests.kernels.memory import cell, cells, listed_moves, tables_of_rule, threats_after

pytestmark = pytest.mark.uncompiled

TABLES = tables_of_rule(Rule.FREESTYLE)
RENJU = tables_of_rule(Rule.RENJU)
OPEN_THREE = "h8a1i8c1j8"  # white to move
FOURS = "h8g8i8c1j8e1k9g1k10i1"  # k8: a four, and a three on the column


def test_that_there_is_no_win_is_remembered_and_a_bound_is_not_taken_for_it():
    threats = threats_after("h8g8i8c1j8e1")  # a closed three and nothing to go on with
    assert find_fours(threats, TABLES, 9, 0) == NONE
    data = probe_fours(threats, threats.state.position.key)
    assert kind_of(data) == KNOWN_NONE
    won = threats_after(FOURS)
    assert find_fours(won, TABLES, 2, 0) < 0 and find_fours(won, TABLES, 2, 0) != NONE
    assert find_fours(won, TABLES, 3, 0) == 3


@pytest.mark.parametrize(
    ("stones", "length", "spoilers"),
    [(FOURS, 3, "k8l8k11"), ("g5e7f6g7h9h5f8f10i10h7j9k5g6j11j6e11", 5, "f7")],  # h6, e6, f7, f5
)
def test_a_line_of_fours_is_held_against_the_board_to_its_end(stones, length, spoilers):
    threats = threats_after(stones)
    assert solve_fours(threats, TABLES, 0) == length
    assert line_still_wins(threats, TABLES)
    for place in parse_moves(f"o1{spoilers}"):
        spoiled = threats_after(stones, others={cell_name(*place): 1})
        spoiled.found[:], spoiled.found_end = threats.found, threats.found_end
        assert bool(line_still_wins(spoiled, TABLES)) == (place == (14, 0)), place
    assert threats.state.position.ply == len(parse_moves(stones))


def test_that_there_is_no_win_is_said_once_all_levels_are_through(monkeypatch):
    for nodes, result in ((100, STOPPED), (400, NONE)):
        threats = threats_after("h8", nodes=nodes)
        assert vct.solve_threats(threats, TABLES, 0) == result
        assert (threats.lowest == vct._LEVELS) == (result == NONE)
    monkeypatch.setattr(vct, "list_threats", None)
    assert vct.solve_threats(threats, TABLES, 0) == NONE, "what is known is not searched again"


@pytest.mark.parametrize(("nodes", "result"), [((0, 300), NONE), ((300, 0), STOPPED)])
def test_fours_cut_on_the_last_level_leave_it_open_whether_there_is_a_win(
    monkeypatch, nodes, result
):
    levels = [vct.LEVELS[0]._replace(four_nodes=number) for number in nodes]
    monkeypatch.setattr(vct, "LEVELS", levels)
    monkeypatch.setattr(vct, "_LEVELS", len(levels))
    assert vct.solve_threats(threats_after("h8g8i8c1j8e1"), TABLES, 0) == result


def test_a_win_by_threats_takes_the_stones_of_its_longest_line():
    threats = threats_after("h8a1i8b1j9c1j10o15")  # white may gain time with a four
    assert vct.solve_threats(threats, TABLES, 0) == 4
    assert len(written(threats, 0)) == 7


def test_an_entry_of_the_search_alone_does_not_count_as_played_through(monkeypatch):
    threats = threats_after("h8i9")
    threats.attacker = 0
    key = proof_key(threats, threats.state.position.key)
    settle(threats, key, True, cell("a1"), 5, 1)  # a claim that is not true
    monkeypatch.setattr(proof, "wins_by_fours", lambda *arguments: 0)
    assert proof.holds(threats, TABLES, 0) == 0
    store_proof(threats, key, 0, proof._REPLAYED, cell("a1"), 5, 1)
    assert proof.holds(threats, TABLES, 0) == 1
    assert int(PROVEN) >> 20 > proof._REPLAYED


def test_a_child_gets_what_its_siblings_leave_of_the_limits(monkeypatch):
    threats, prove, limits = threats_after("h8i9"), vct.prove, []

    def listed(threats: Any, tables: Any, first: int) -> int:
        threats.moves[:3], threats.disproofs[:3] = cells("j8k8l8"), 1
        threats.proofs[:3] = 5, 9, 20
        return 3

    def disproven(threats: Any, tables: Any, *numbers: int) -> np.int64:
        limits.append(numbers[:2])
        return DISPROVEN

    monkeypatch.setattr(vct, "list_threats", listed)
    monkeypatch.setattr(vct, "prove", disproven)
    assert prove(threats, TABLES, 100, 200, 0) == DISPROVEN
    assert limits == [(9 + 2 + 1, 200 - 2 * vct.SIBLING), (20 + 5 + 1, 200 - vct.SIBLING),
                      (100, 200)]  # fmt: skip


def test_against_a_five_only_the_fours_that_stop_it_are_tried():
    threats = threats_after("h8g8i8k9j8k10k13k11a1k12")
    assert list_attacks(threats, TABLES, 0) == 1
    assert listed_moves(threats.moves, 1) == cells("k8")
    caro = threats_after("h8c3i8d3j8e3o15f3", Rule.CARO)
    caro.marks[:] = ~np.uint64(0)  # of another question
    assert list_attacks(caro, tables_of_rule(Rule.CARO), 0) == 0


def test_cells_are_close_within_two_steps_or_four_on_a_line():
    near = {"i9": 3, "i10": 2, "j8": 2, "k8": 1, "l12": 1, "k9": 0, "l9": 0, "m8": 0}
    assert {name: closeness(cell("h8"), cell(name)) for name in near} == near


@pytest.mark.parametrize("after", [(1, 1), (0, 1), (1, 0)])
def test_a_proof_holds_if_it_does_after_every_reply(monkeypatch, after):
    threats, holds, results = threats_after("h8a1i8b3"), proof.holds, iter(after)
    monkeypatch.setattr(proof, "wins_by_fours", lambda *_: 0)
    monkeypatch.setattr(proof, "winning_move", lambda *_: cell("j8"))  # replies: g8, k8
    monkeypatch.setattr(proof, "holds", lambda *_: next(results))
    assert holds(threats, TABLES, 0) == min(after)


@pytest.mark.parametrize(
    ("white", "value"),
    [((), win_in(5)), (("a10", "b10", "c10"), win_in(5)), (("l5", "l6", "l7"), 0)],
)
def test_a_four_with_a_three_wins_unless_its_block_makes_a_four(white, value):
    threats = threats_after(FOURS, others=dict.fromkeys(white, 1))
    assert static_result(threats.state, TABLES, 0) == value


def test_what_is_known_of_a_win_comes_before_a_search_by_fours_and_this_before_a_proof(monkeypatch):
    threats, fours = threats_after("h8i9"), iter([4, 4, 0])
    threats.attacker = 0
    monkeypatch.setattr(proof, "wins_by_fours", lambda *_: next(fours))
    monkeypatch.setattr(proof, "first_of_fours", lambda *_: cell("b2"))
    monkeypatch.setattr(proof, "prove", lambda *_: STOPPED)
    assert proof.known_length(threats_after("h8a1i8c1j8e1"), TABLES, 0) == 2  # seen at once
    assert proof.known_length(threats, TABLES, 0) == 4
    assert [proof.winning_move(threats, TABLES, 0) for _ in "12"] == [cell("b2"), NO_CELL]
    store_proof(threats, proof_key(threats, threats.state.position.key), 0, 5, cell("a1"), 7, 1)
    assert proof.known_length(threats, TABLES, 0) == 7
    assert proof.winning_move(threats, TABLES, 0) == cell("a1")


@pytest.mark.parametrize(
    ("lengths", "longest"),
    [((3, 5, 4), 1), ((5, 3, 5), 0), ((0, 0, 0), 0), ((2, 2, 3), 2)],  # of equals the first
)
def test_a_line_goes_on_with_the_reply_that_holds_out_longest(monkeypatch, lengths, longest):
    threats, replies = threats_after(OPEN_THREE), sorted(cells("f8g8k8"))
    known = dict(zip(replies, lengths, strict=True))
    monkeypatch.setattr(
        proof,
        "known_length",
        lambda threats, tables, first: known[
            int(threats.state.position.moves[threats.state.position.ply - 1])
        ],
    )

    def mark(threats: Any, tables: Any, first: int) -> int:
        threats.marks[:] = np.uint64(0)
        for place in replies:
            threats.marks[place >> 6] |= bit_of(place)
        return PREPARES

    monkeypatch.setattr(proof, "mark_replies", mark)
    assert proof.longest_reply(threats, TABLES) == replies[longest]


def written(threats: Any, fours: int, room: int = 9) -> list[int]:
    """Return the cells of the line that is written; the board is as it was."""
    out, before = np.zeros(room, np.int16), int(threats.state.position.key)
    count = int(proof.write_line(threats, TABLES, fours, out, room))
    assert int(threats.state.position.key) == before
    return [int(place) for place in out[:count]]


def test_the_line_of_a_win_ends_with_its_five_and_is_none_if_it_is_not_found_again(monkeypatch):
    threats = threats_after(FOURS)
    stones = solve_fours(threats, TABLES, 0)
    line = written(threats, stones)
    assert line[:2] == cells("k8l8") and len(line) == 2 * stones - 1
    assert written(threats, stones, room=4) == []
    threats.found_end = 0
    assert written(threats, stones) == line, "from the table"
    moves = iter([cell("k8"), NO_CELL])
    monkeypatch.setattr(proof, "winning_move", lambda *_: next(moves))
    monkeypatch.setattr(proof, "longest_reply", lambda *_: cell("l8"))
    assert written(threats, 0) == []


@pytest.mark.parametrize(
    ("stones", "then", "marks"), [(2, STOPPED, {0, 2}), (1, 1, {0}), (3, 3, {0}), (7, 7, {0})]
)
def test_a_move_is_unsafe_after_any_win_of_the_enemy_and_open_after_a_stopped_search(
    monkeypatch, stones, then, marks
):
    results = iter([stones])
    monkeypatch.setattr(rescue, "search_fours", lambda *a: next(results, then))
    monkeypatch.setattr(rescue, "line_still_wins", lambda *a: False)
    out = np.zeros(PADDED_CELLS, np.uint8)
    assert find_rescues(threats_after(OPEN_THREE), TABLES, out) == stones
    assert set(out) == marks and out[cell("g8")] == max(marks)


def test_a_five_of_ones_own_saves_and_a_forbidden_move_does_not():
    threats = threats_after("h8a4i8a5j8a6o15a7o13")  # white has four on the edge
    threats.state.position.side = 1
    out = np.zeros(PADDED_CELLS, np.uint8)
    find_rescues(threats, TABLES, out)
    assert out[cell("a8")] == out[cell("a3")] == 1
    assert out[NO_CELL] == 0


@pytest.mark.parametrize("moves", ["h8i9i7g9j8", "h8i9i7g9"])
@pytest.mark.parametrize("others", [None, {"c3": 3}])
def test_the_search_s_own_game_is_a_true_copy(others, moves):
    source = threats_after(moves, others=others)
    copy = threats_after("a1b2c4")
    copy_game(copy, source.state)
    for name in ("listed", "entries", "counts", "shapes"):
        assert (getattr(copy.state, name) == getattr(source.state, name)).all(), name
    ply = source.state.position.ply
    assert copy.state.position.key == source.state.position.key
    assert copy.state.position.side == source.state.position.side
    assert (copy.state.near[ply] == source.state.near[ply]).all()
    assert evaluate(copy.state, TABLES) == evaluate(source.state, TABLES)  # the last two sums
    before = copy.state.entries.copy()
    play(copy.state, TABLES, cell("k8"))
    undo(copy.state, TABLES)
    assert (copy.state.entries == before).all()
