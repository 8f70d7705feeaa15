"""Reviews of games: what a move was worth, and wins that the oracle confirms."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from itertools import pairwise
from threading import Event, Timer
from time import perf_counter

import pytest

from pbrain_engine import Engine, Limit, Move, Result, Rule, Solver, Thought
from pbrain_engine.engine.review import Reviewer
from pbrain_engine.game.cells import format_moves
from pbrain_engine.game.result import Reviewed
from pbrain_engine.values import WIN_BAND, loss_in, win_in
from tests.claims import Claims
from tests.oracle import rules
from tests.oracle.replay import illegal_move
from tests.oracle.rules import Board, board_of
from tests.played import moves_of
from tests.puzzles import DATA

MISSED = "h8a1i8c1j8e1a15h1"  # black has an open three and plays elsewhere, white does not see it
FOLLOWED = (  # a win by threats that goes on for 29 plies, of which each search sees a part
    "d6c6c7d10b6e9e7f8g7e5g5d7f6d8g6g4i7d9d11c11b12h6g8g9h7f7f9e10i6j5i3h4i5i4i8i9f5e4j9"
)
RENJU_GAMES = DATA / "games_renju.jsonl"
PARTS, PART = 10, 20  # of the games of others
NODES = 200
SLIPS = 0.3  # of the moves
SECONDS = 0.04  # for a position
QUICK_GAMES, GAMES = 2, 20


def test_the_listener_gets_the_last_move_first_until_a_stop_in_the_middle_of_a_search(
    engine, solver, monkeypatch
):
    engine.new_game(15)
    seen: list[int] = []
    stopped = Event()

    def stop(limit: Limit, **more: object) -> Thought:
        if len(seen) == 2:
            stopped.set()
            engine.stop()
        return think(limit, **more)

    think = engine.think
    monkeypatch.setattr(engine, "think", stop)
    moves = moves_of(MISSED)
    reviewer = Reviewer(engine, solver, 0.02)
    found = reviewer.review(moves, lambda item: seen.append(item.ply), stopped.is_set)
    assert seen == [8, 7] == [item.ply for item in found][::-1] and engine.game.ply == 0


def test_a_stopped_review_begins_no_other_search(engine, solver):
    engine.new_game(15)
    stopped = Event()

    def stop() -> None:
        stopped.set()
        solver.stop()
        engine.stop()

    Timer(0.2, stop).start()
    began = perf_counter()
    Reviewer(engine, solver, 20.0).review(moves_of("h8i9"), is_stopped=stopped.is_set)
    solver.release()
    assert perf_counter() - began < 10


def contradictions(found: list[Reviewed]) -> list[str]:
    """Return where a review blames a move that it would have played, or forgets a forced end."""
    wrong = []
    for item in found:
        blamed = item.loss > 0 or item.missed is not None or item.allowed is not None
        if item.found.move == item.move and blamed:
            wrong.append(f"{item.ply}: the best move is blamed")
        if item.found.move != item.found.line[0] or not 0.0 <= item.loss <= item.found.chance:
            wrong.append(f"{item.ply}: best {item.found.move}, loss {item.loss}")
        if item.missed is not None and item.found.value < WIN_BAND:
            wrong.append(f"{item.ply}: missed a win at {item.found.value}")
        if item.allowed is not None and item.found.value <= -WIN_BAND:
            wrong.append(f"{item.ply}: allowed a win at {item.found.value}")
    for item, after in pairwise(found):
        followed = item.found.move == item.move and item.found.value >= WIN_BAND
        if followed and after.found.value > -WIN_BAND:
            wrong.append(f"{item.ply}: {item.found.value} was followed by {after.found.value}")
        if item.found.value <= -WIN_BAND and after.found.value < WIN_BAND:
            wrong.append(
                f"{item.ply}: after {item.found.value} the other side has {after.found.value}"
            )
    return wrong


def test_a_proof_of_one_position_serves_the_next(engine, solver):
    found = reviewed_with(engine, solver, FOLLOWED, {})
    assert contradictions(found) == []
    assert all(item.found.value >= WIN_BAND for item in found[22::2])


def test_no_review_contradicts_itself(engine, solver):
    for number in range(3):
        rule = (Rule.FREESTYLE, Rule.RENJU, Rule.STANDARD)[number % 3]
        moves = careless_game(engine, rule, random.Random(f"agreement {number}"))
        engine.new_game(15, rule=rule)
        found = Reviewer(engine, solver, 0.02).review(moves)
        assert contradictions(found) == [], format_moves(moves)


@pytest.mark.long
@pytest.mark.skipif(not RENJU_GAMES.exists(), reason="no games of others")
@pytest.mark.parametrize("part", range(PARTS))
def test_no_review_of_games_of_others_contradicts_itself(engine, solver, part):
    games = RENJU_GAMES.read_text(encoding="utf-8").splitlines()[part::PARTS][:PART]
    for game in map(json.loads, games):
        moves = [Move(*move) for move in game["moves"]]
        engine.new_game(15, rule=Rule.RENJU)
        assert contradictions(Reviewer(engine, solver, SECONDS).review(moves)) == [], game["id"]


QUIET = "h8i9j8g7"
AROUND = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]


def reviewed_with(
    engine: Engine, solver: Solver, moves: str, known: dict[int, Thought]
) -> list[Reviewed]:
    """Review with what is known of positions, by their number of stones."""
    engine.new_game(15)
    line = moves_of(moves)
    return Reviewer(engine, solver, 0.02, lambda game: known.get(game.ply)).review(line)


def thought_of(line: str, value: int) -> Thought:
    moves = tuple(moves_of(line))
    return Thought(value, moves, 99, 99, 1, claim="vct" if value > WIN_BAND else "")


def test_a_win_that_no_search_shows_again_still_stands(engine, solver):
    known = {4: thought_of("h8h9i6j6k9", win_in(9))}  # in truth there is none
    found = reviewed_with(engine, solver, "a1c15o15m1h8d4e5", known)[4:]
    assert [item.found.value for item in found] == [win_in(9), loss_in(8), win_in(7)]
    assert contradictions(found) == [] and found[2].found.move == found[2].move


def test_the_win_that_a_known_loss_shows_is_missed_by_who_plays_elsewhere(engine, solver):
    """Neither the solver nor a search finds it: the loser of that line only helps."""
    known = {4: thought_of("c15a2e15a3g15a4i15a5", loss_in(8))}
    found = reviewed_with(engine, solver, "h8a1i8o15" + "c15h1", known)[4:]
    missed = found[1].missed
    assert missed is not None and format_moves(missed.line) == "a2e15a3g15a4i15a5"
    assert [item.found.value for item in found] == [loss_in(8), win_in(7)]


def test_a_move_that_loses_is_held_against_one_that_does_not(engine, solver):
    known = {4: thought_of("h6h9", 50), 5: thought_of("g8h9", win_in(9))}
    found = reviewed_with(engine, solver, QUIET + "h6", known)[4]
    assert found.move == (7, 5) != found.found.move
    assert found.allowed is not None and 0 < found.loss < 1


def test_a_move_is_not_held_against_one_that_loses_as_well(engine, solver):
    """White has to answer the three at once, so neither a1 nor o15 is better than the other."""
    before = "h8i7i8h9j8"  # after a block neither side wins by force
    known = {5: thought_of("a1", 50)}
    found = reviewed_with(engine, solver, before + "o15", known)[5]
    assert found.found.move in [(6, 7), (10, 7), (5, 7), (11, 7)] and found.allowed is not None


def test_a_move_is_as_good_as_its_mirror_image(engine, solver):
    known = {1: thought_of("i8i9i10", 30), 2: thought_of("g9", 10)}
    found = reviewed_with(engine, solver, "h8h7", known)[1]
    assert format_moves(found.found.line) in ("h7g7f7", "h7i7j7")
    assert found.found.move == found.move and found.loss == 0.0


def careless_game(engine: Engine, rule: Rule, chance: random.Random) -> list[Move]:
    """Return a game of two who now and then play any move beside a stone."""
    engine.new_game(15, rule=rule)
    engine.play(7, 7)
    while not engine.game.is_over:
        if engine.game.ply < 4 or chance.random() < SLIPS:
            beside = {(x + dx, y + dy) for x, y in engine.game.moves for dx, dy in AROUND}
            engine.play(*chance.choice([m for m in engine.game.legal_moves() if m in beside]))
        else:
            engine.play(*engine.think(Limit(nodes=NODES)).move)
    return list(engine.game.moves)


@pytest.fixture(scope="module")
def claims() -> Iterator[Claims]:
    claims = Claims(2.0)
    yield claims
    claims.close()


def complaint_about(win: Result, before: list[Move], rule: Rule, claims: Claims) -> str:
    """Return what the oracle has against a win after some moves: its line, and its proof."""
    board, *whole = (
        board_of(15, rule.name.lower(), moves[::2], moves[1::2])
        for moves in (before, [*before, *win.line])
    )
    if win.claim != "vcf" and not rules.is_win(whole[0], tuple(win.line[-1])):
        return "the line does not end in a five"
    illegal = illegal_move(board, len(before) % 2, win.line)
    return illegal or claims.examine(board, [tuple(cell) for cell in before], win)[1]


def wins_that_hold(
    engine: Engine, solver: Solver, rule: Rule, moves: list[Move], claims: Claims
) -> tuple[int, int]:
    """Review a game; return how many missed and allowed wins the oracle has confirmed."""
    engine.new_game(15, rule=rule)
    found = Reviewer(engine, solver, SECONDS).review(moves)
    assert all(0.0 <= item.loss <= 1.0 and 0.0 <= item.found.chance <= 1.0 for item in found)
    board = Board(15, 15, rule.name.lower())
    for ply, item in enumerate(found):
        assert illegal_move(board, ply % 2, item.found.line) == ""
        board.put(tuple(item.move), ply % 2)
    missed = [(item.ply - 1, item.missed) for item in found if item.missed]
    allowed = [(item.ply, item.allowed) for item in found if item.allowed]
    for before, win in {*missed, *allowed}:  # what one side allows the other often misses
        assert complaint_about(win, moves[:before], rule, claims) == ""
    return len(missed), len(allowed)


def test_missed_and_allowed_wins_hold(engine, solver, claims):
    missed, allowed = wins_that_hold(engine, solver, Rule.FREESTYLE, moves_of(MISSED), claims)
    assert missed and allowed


@pytest.mark.parametrize(
    "number",
    [n if n < QUICK_GAMES else pytest.param(n, marks=pytest.mark.long) for n in range(GAMES)],
)
def test_missed_and_allowed_wins_of_careless_games_hold(engine, solver, claims, number):
    rule = (Rule.FREESTYLE, Rule.RENJU, Rule.STANDARD, Rule.CARO)[number % 4]
    moves = careless_game(engine, rule, random.Random(f"review {number}"))
    wins_that_hold(engine, solver, rule, moves, claims)
