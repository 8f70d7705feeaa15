"""Positions as a command line gives them, from random games in every form that is read."""

from __future__ import annotations

import argparse
import io
import random
import sys
from itertools import product
from pathlib import Path

import pytest

from pbrain_engine.app import setup, view
from pbrain_engine.app.setup import chosen_setup, cut
from pbrain_engine.game.cells import NotationError, format_moves
from pbrain_engine.game.diagram import format_diagram
from pbrain_engine.game.game import Game
from pbrain_engine.game.opening_rules import opening_of
from pbrain_engine.game.record import GameRecord
from pbrain_engine.game.tree import main_line
from pbrain_engine.notation.files import format_psq, read_game, read_games
from pbrain_engine.notation.renlib import MAGIC
from pbrain_engine.notation.sgf import format_sgf
from pbrain_engine.options import board_size
from pbrain_engine.position.rules import Rule, Side
from tests.played import game_after

RULES = list(Rule)


def random_game(chance: random.Random, width: int, height: int, rule: Rule) -> Game:
    """Return a game of up to 30 legal moves without a winner."""
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


@pytest.mark.parametrize("form", ["moves", "moves from below", "sgf", "psq", "diagram"])
def test_a_position_is_the_same_in_every_form_and_from_every_place(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(form)
    for rule, place in product(RULES, ("bytes", "text", "file", "itself")):
        width, height = chance.randint(5, 22), chance.randint(5, 22)
        game, from_below = random_game(chance, width, height, rule), form == "moves from below"
        players = {"black": "one", "white": "two"} if form in ("sgf", "psq") else {}
        known = GameRecord(width, height, rule, tuple(game.moves), **players)
        text = {
            "sgf": format_sgf(known), "psq": format_psq(known), "moves": format_moves(game.moves),
            "moves from below": format_moves((x, height - 1 - y) for x, y in game.moves),
            "diagram": format_diagram(view.diagram_of(game, game.last), mover=False),
        }[form]  # fmt: skip
        position = "-"
        if place == "itself" and form.startswith("moves"):
            position = text
        elif place == "file":
            position = str(tmp_path / "a")
            Path(position).write_text(text, encoding="utf-8")
        data = io.TextIOWrapper(io.BytesIO(text.encode("utf-16")), "ascii")
        monkeypatch.setattr(sys, "stdin", data if place == "bytes" else io.StringIO(text))
        options = argparse.Namespace(rule=rule, size=(width, height), from_below=from_below)
        read = chosen_setup(options, position)
        assert read.last == known.last and (form == "diagram" or read == known)
        built = Game(width, height, rule)
        built.become(read)
        assert state_of(built) == state_of(game)


def test_a_game_that_is_cut_is_the_game_up_to_there() -> None:
    moves, passes = tuple((x, 0) for x in range(5)), (0, 2, 4)
    whole = GameRecord(9, 7, Rule.FREESTYLE, moves, passes=passes)
    for ply in range(-5, 6):
        part, kept = cut(whole, ply), ply if ply >= 0 else 5 + ply
        assert part.moves == moves[:kept]
        assert part.passes == tuple(after for after in passes if after <= kept)
    for ply in (-6, 6):
        with pytest.raises(NotationError, match=f"only 5 moves,.* at {ply}$"):
            cut(whole, ply)


def test_sizes_are_those_of_boards() -> None:
    for text, size in (("5", (5, 5)), ("22", (22, 22)), ("5X22", (5, 22)), ("22x5", (22, 5))):
        assert board_size(text) == size
    for text in ("4", "23", "5x4", "4x5", "5x23", "23x5"):
        with pytest.raises(ValueError, match="5 to 22"):
            board_size(text)
    for text in ("", "x", "15x", "x15", "15x15x15", "1.5", "-15", "15 x 15", "9" * 5000):
        with pytest.raises(ValueError):
            board_size(text)


def test_only_renju_names_openings_and_only_those_it_knows() -> None:
    assert str(game_after("h8h9h10", Rule.RENJU).opening) == "D1 Kansei"
    for moves, rule in (
        ("h8h9h10", Rule.FREESTYLE), ("a1h9h10", Rule.RENJU), ("h8h9", Rule.RENJU)
    ):  # fmt: skip
        assert game_after(moves, rule).opening is None
    # Of longer games the first three stones count, which must be black's, white's and black's.
    line = GameRecord(rule=Rule.RENJU, moves=((7, 7), (7, 8), (7, 9), (0, 0)))
    assert str(opening_of(line)) == "D1 Kansei"
    for change in (
        {"first": Side.WHITE}, {"placed": (((14, 14), Side.WALL),)}, {"passes": (1,)}
    ):  # fmt: skip
        assert opening_of(line._replace(**change)) is None
    assert str(opening_of(line._replace(passes=(3,)))) == "D1 Kansei"


def test_what_agrees_with_a_position_stays_on_the_board() -> None:
    for seed, first in product(range(20), (Side.BLACK, Side.WHITE)):
        chance = random.Random(seed)
        before, other = (random_game(chance, 9, 7, Rule.FREESTYLE).moves for _ in range(2))
        stem = before[: chance.randrange(30)]
        moves = (*stem, *(move for move in other if move not in stem))
        built, fresh = Game(9, 7), Game(9, 7)
        built.become(GameRecord(9, 7, Rule.FREESTYLE, tuple(before)))
        kept = built.history[: len(stem)]
        for game in (built, fresh):
            game.become(GameRecord(9, 7, Rule.FREESTYLE, moves, first))
        assert state_of(built) == state_of(fresh) and built.history == fresh.history
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


def test_an_address_may_hold_moves() -> None:
    for place in ("s://example.org/#/h8i9j10", "://example.org/board?moves=h8i9j10"):
        assert setup.parse_setup(f"http{place}").moves == ((7, 7), (8, 8), (9, 9))


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


@pytest.mark.parametrize(
    ("nodes", "remarks"),
    [
        ("7840", ()),
        ("7800 7942", ()),  # a sign on a cell is no move
        ("7800 00c0 7940", ("only the first line of the library is used, not all its 3 moves",)),
    ],
)
def test_a_library_is_said_to_be_cut_if_it_has_more_moves_than_its_first_line(
    nodes: str, remarks: tuple[str, ...]
) -> None:
    data = MAGIC + bytes((3, 4)) + b"\xff" * 10 + bytes.fromhex(nodes)
    assert setup.read_setup(data, "a.lib").remarks == remarks
