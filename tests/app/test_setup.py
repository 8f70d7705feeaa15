"""Positions as a command line gives them, from random games in every form that is read."""

from __future__ import annotations

import argparse
import io
import random
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pbrain_engine.app import setup, view
from pbrain_engine.app.setup import chosen_setup, cut
from pbrain_engine.game.cells import NotationError, cell_name, format_moves
from pbrain_engine.game.diagram import format_diagram
from pbrain_engine.game.game import Game
from pbrain_engine.game.opening_rules import name_opening, opening_of
from pbrain_engine.game.record import GameRecord
from pbrain_engine.game.tree import main_line
from pbrain_engine.notation.files import format_psq, read_game, read_games
from pbrain_engine.notation.sgf import format_sgf
from pbrain_engine.options import board_size
from pbrain_engine.position.geometry import MAX_BOARD, MIN_BOARD
from pbrain_engine.position.rules import Rule, Side
from tests.played import game_after

SIDES = st.integers(MIN_BOARD, MAX_BOARD)


def random_game(seed: int, width: int, height: int, rule: Rule = Rule.FREESTYLE) -> Game:
    """Return a game of up to 30 legal moves without a winner."""
    chance = random.Random(seed)
    game = Game(width, height, rule)
    for _ in range(chance.randrange(1, min(30, width * height))):
        game.play(*chance.choice(list(game.legal_moves())))
        if game.winner is not None:
            game.undo()
            break
    return game


def state_of(game: Game) -> object:
    cells = [game.at(x, y) for y in range(game.height) for x in range(game.width)]
    return game.width, game.height, game.rule, game.to_move, cells


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.integers(), SIDES, SIDES, st.sampled_from(Rule), st.booleans(), st.data())
def test_a_position_is_the_same_in_every_form_and_from_every_place(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
    width: int,
    height: int,
    rule: Rule,
    from_below: bool,
    data: st.DataObject,
) -> None:
    game = random_game(seed, width, height, rule)
    form = data.draw(st.sampled_from(["moves", "sgf", "psq", "diagram"]))
    names = ("first", "second") if form in ("sgf", "psq") else ("", "")
    known = GameRecord(width, height, rule, tuple(game.moves), black=names[0], white=names[1])
    if form == "moves":
        rows = [(x, height - 1 - y if from_below else y) for x, y in game.moves]
        text = format_moves(rows)
    elif form == "diagram":
        text = format_diagram(view.diagram_of(game, game.last), mover=False)
    else:
        text = (format_sgf if form == "sgf" else format_psq)(known)
    place = data.draw(st.sampled_from(["bytes", "text", "file"] + ["itself"] * (form == "moves")))
    if place == "file":
        (tmp_path / "a").write_text(text, encoding="utf-8")
        position = str(tmp_path / "a")
    else:
        raw = io.BytesIO(text.encode("utf-16" if text else "ascii"))
        stdin = io.TextIOWrapper(raw, "ascii") if place == "bytes" else io.StringIO(text)
        monkeypatch.setattr(sys, "stdin", stdin)
        position = text if place == "itself" else "-"
    size = (
        (width, height) if form == "moves" else data.draw(st.sampled_from([(width, height), None]))
    )
    options = argparse.Namespace(rule=rule, size=size, from_below=from_below)
    read = chosen_setup(options, position)
    if form != "diagram":
        assert read == known
    assert read.last == known.last
    built = Game(width, height, rule)
    built.become(read)
    assert state_of(built) == state_of(game)
    if size is not None and form != "moves":
        with pytest.raises(NotationError, match=f"has a {width}x{height} board, not"):
            options.size = (width + 1, height)
            chosen_setup(options, position if place == "file" else text)


@given(st.integers(), st.integers(-40, 40), st.sets(st.integers(0, 30), max_size=3))
def test_a_game_that_is_cut_is_the_game_up_to_there(seed: int, ply: int, passes: set[int]) -> None:
    moves = tuple(random_game(seed, 9, 7).moves)
    whole = GameRecord(9, 7, Rule.FREESTYLE, moves, passes=tuple(sorted(passes)))
    if abs(ply) > len(moves):
        many = "move" if len(moves) == 1 else "moves"
        with pytest.raises(NotationError, match=f"only {len(moves)} {many},.* at {ply}$"):
            cut(whole, ply)
        return
    kept = range(len(moves) + 1)[ply if ply >= 0 else ply - 1]
    part = cut(whole, ply)
    assert part.moves == moves[:kept]
    assert part.passes == tuple(sorted(after for after in passes if after <= kept))
    built, walked = Game(9, 7), Game(9, 7)
    built.become(part)
    walked.become(whole)
    for _ in moves[kept:]:
        walked.undo()
    assert [built.at(*move) for move in moves] == [walked.at(*move) for move in moves]


def test_sizes_are_those_of_boards() -> None:
    for width in range(30):
        for height in (width, *range(30)):
            text = f"{width}" if height == width else f"{width}x{height}"
            if all(MIN_BOARD <= side <= MAX_BOARD for side in (width, height)):
                assert board_size(text) == board_size(text.upper()) == (width, height)
            else:
                with pytest.raises(ValueError, match="5 to 22"):
                    board_size(text)
    for text in ("", "x", "15x", "x15", "15x15x15", "1.5", "-15", "15 x 15", "9" * 5000):
        with pytest.raises(ValueError):
            board_size(text)


@given(st.lists(st.tuples(st.integers(0, 21), st.integers(0, 21))), st.integers(1, 30))
def test_a_line_shows_as_many_moves_as_it_may(moves: list[tuple[int, int]], most: int) -> None:
    names = [cell_name(*move) for move in moves]
    assert view.format_line(moves) == " ".join(names)
    words = view.format_line(moves, most).split()
    assert words == names if len(names) <= most else words == [*names[:most], "..."]


@given(
    st.integers(),
    st.sampled_from([Side.BLACK, Side.WHITE]),
    st.booleans(),
    st.sets(st.integers(0, 30)),
)
def test_only_moves_in_turn_from_an_empty_board_count_as_a_line(
    seed: int, first: Side, is_placed: bool, passes: set[int]
) -> None:
    moves = (7, 7), (7, 8), *({*random_game(seed, 14, 14).moves[:9]} - {(7, 7), (7, 8)})
    corner = (((14, 14), Side.WALL),) * is_placed
    whole = GameRecord(15, 15, Rule.RENJU, moves, first, corner, tuple(sorted(passes)))
    built = Game(15, 15, Rule.RENJU)
    built.become(whole)
    assert whole.position == built.position
    is_line = first is Side.BLACK and not corner and not passes
    if is_line:
        assert opening_of(whole) == name_opening(GameRecord(moves=moves[:3]).position)
    elif len(moves) > 3:  # three stones alone are an opening, in whatever order they came
        assert opening_of(whole) is None


def test_only_renju_names_openings_and_only_those_it_knows() -> None:
    assert str(game_after("h8h9h10", Rule.RENJU).opening) == "D1 Kansei"
    for moves, rule in (
        ("h8h9h10", Rule.FREESTYLE), ("a1h9h10", Rule.RENJU), ("h8h9", Rule.RENJU)
    ):  # fmt: skip
        assert game_after(moves, rule).opening is None


@given(st.integers(), st.integers(), st.integers(0, 30), st.sampled_from([Side.BLACK, Side.WHITE]))
def test_what_agrees_with_a_position_stays_on_the_board(
    seed: int, other: int, shared: int, first: Side
) -> None:
    before = GameRecord(9, 7, Rule.FREESTYLE, tuple(random_game(seed, 9, 7).moves))
    stem = before.moves[:shared]
    more = [move for move in random_game(other, 9, 7).moves if move not in stem]
    after = before._replace(moves=(*stem, *more), first=first)
    built, fresh = Game(9, 7), Game(9, 7)
    built.become(before)
    kept = built.history[: len(stem)]
    built.become(after)
    fresh.become(after)
    assert state_of(built) == state_of(fresh) and built.history == fresh.history
    assert built.check() == 0
    if first is Side.BLACK:
        assert all(stone is again for stone, again in zip(kept, built.history, strict=False))


BELOW = """
   a b c d e
 5 . . . . .
 4 . X . O .
 3 . . . . .
 2 . . . . .
 1 . . . . .
"""


def test_a_drawing_may_number_its_rows_from_below() -> None:
    plain = setup.parse_setup("\n".join(line[2:] for line in BELOW.splitlines()))
    assert set(plain.placed) == {((1, 1), Side.BLACK), ((3, 1), Side.WHITE)}
    assert setup.parse_setup(BELOW) == setup.parse_setup(BELOW, from_below=True) == plain
    with pytest.raises(NotationError, match="the row numbered 5 is row 1"):
        setup.parse_setup(BELOW.replace("\n 3", "\n 7"))


def test_what_is_pasted_wrongly_is_told_by_its_own_cause() -> None:
    moves = setup.parse_setup("https://example.org/#/h8i9j10")
    assert moves.moves == ((7, 7), (8, 8), (9, 9))
    assert setup.parse_setup("http://example.org/board?moves=h8i9").moves == ((7, 7), (8, 8))
    with pytest.raises(NotationError, match="a web address without moves"):
        setup.parse_setup("https://example.org/game/12345")
    with pytest.raises(NotationError, match="damaged or pasted RenLib library"):
        setup.parse_setup("\N{REPLACEMENT CHARACTER}RenLib\N{REPLACEMENT CHARACTER}\x03\x04")


def test_a_folder_is_no_position_unless_its_name_is_moves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options = argparse.Namespace(rule=None, size=None, from_below=False)
    for name in ("games", "Ünï ☃", "h8i9"):
        (tmp_path / name).mkdir()
    for name in ("games", "Ünï ☃", ".", str(tmp_path)):
        with pytest.raises(NotationError, match="is a folder, not a file"):
            chosen_setup(options, name)
    assert chosen_setup(options, "h8i9").moves == ((7, 7), (8, 8))


def test_a_damaged_variation_costs_a_game_its_variations_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.sgf"
    path.write_text("(;GM[4]SZ[15];B[hh]C[good](;W[ii])(;W[hh]))")
    (tree,) = read_games(path.read_bytes())
    assert read_game(path).moves == main_line(tree).moves == ((7, 7), (8, 8))
    assert main_line(tree).comments == ("good", "")
    assert tree.remarks == ["only the first line of the game is used: h8 is taken after h8"]
    assert not setup.read_trees(path)  # nothing to write the file anew from
