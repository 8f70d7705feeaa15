"""Openings by a rule in the terminal: a person's steps and the engine's, then the game."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from pbrain_engine.commands import opening
from pbrain_engine.game.opening_rules import RULES
from tests.commands.conftest import Typed
from tests.conftest import Run

Talk = Callable[[str, str], list[str]]


@pytest.fixture
def talk(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> Talk:
    """Let lines be typed and the engine decide; return the prompts."""

    def talk(lines: str, decided: str) -> list[str]:
        plan = iter(decided.split("; "))
        monkeypatch.setattr(opening, "decide", lambda *_: next(plan))
        return typed(lines)

    return talk


def test_an_opening_is_played_by_steps_and_the_game_goes_on(run: Run, talk: Talk) -> None:
    prompts = talk("h8 i9 j10; g9; 2; h9; g8; quit", "swap; keep; h9+j9")
    status, out, _ = run("play", "--opening", "soosorv-8", "--time", "0.05", "--level", "1")
    assert status == 0
    for line in (
        "you are the first player; `quit` leaves",
        "The second player may change sides. Numoku: swap",
        "Black offers 2 fifth stones, no two of them symmetric. Numoku: h9+j9",
        "White chooses one of the fifth stones: h9 or j9.",
        "The opening is over; black moves. You play white.",
    ):
        assert out.splitlines().count(line) == 1
    assert "Numoku: " in out.split("You play white.")[1]  # black's seventh stone
    assert "`numoku play --resume` continues" in out
    assert prompts == [
        "you, black: a cell> ", "you, white: a cell> ", "you, white: a number> ",
        "you, white: one of these cells> ", "you, white: a cell> ", "your move, white> ",
    ]  # fmt: skip


def test_the_second_player_answers_numoku(run: Run, talk: Talk) -> None:
    prompts = talk("swap; h7+i6; quit", "h8 i9 j10; g9; h7; k3")
    status, out, _ = run("play", "--opening", "rif", "--side", "white", "--time", "0.05")
    assert status == 0 and "The first player puts the third stone in the central 5x5" in out
    assert prompts == [
        "you, white: `swap` or `keep`> ", "you, black: cells, as in g7+h9> ",
        "your move, black> ",
    ]  # fmt: skip
    assert "You play black." in out


def test_a_wrong_word_says_why_and_asks_again(run: Run, talk: Talk) -> None:
    prompts = talk("h9; h8 h8; i9 j10 keep; quit", "swap")
    status, out, _ = run("play", "--opening", "rif")
    assert status == 0 and len(prompts) == 4
    assert "h9 is not allowed there. The first player puts the first stone in the centre." in out
    assert "h8 is taken" in out
    assert "keep: it is no longer your turn" in out and "Numoku: swap" in out


@pytest.mark.parametrize("name", RULES)
def test_every_rule_asks_for_its_first_stone(
    name: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    status, out, _ = run("play", "--opening", name)
    assert status == 0 and out.startswith(f"{RULES[name].title}: {RULES[name].summary}\n")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("--opening rif --rule freestyle", "RIF is played by the rule renju"),
        ("--opening rif --size 19", "RIF is played on 15x15, not 19"),
        ("--opening rif --size 15x20", "RIF is played on 15x15, not 15x20"),
        ("--opening swap h8", "an opening rule begins on an empty board"),
        ("--opening swap --resume", "an opening rule begins on an empty board"),
        ("--method uct --level 3", "--method and --level exclude each other"),
    ],
)
def test_choices_that_exclude_each_other_are_refused(words: str, why: str, run: Run) -> None:
    status, _, err = run("play", *words.split())
    assert status != 0 and why in err


def test_steps_are_taken_back_in_an_opening_and_in_the_game_after_it(run: Run, talk: Talk) -> None:
    typed = "h8; i9 j10; undo; undo; i7 j6; g9; undo; g8; 2; h9; undo; undo; 1; h9; undo; quit"
    prompts = talk(typed, "swap; swap; keep; h9+j9; keep; h9")
    status, out, _ = run("play", "--opening", "soosorv-8", "--time", "0.05", "--level", "1")
    assert status == 0
    assert prompts == [
        f"you, {side}: {what}> " for side, what in (
            ("black", "a cell"), ("black", "a cell"),  # three stones, and Numoku takes black
            ("white", "a cell"), ("black", "a cell"),  # j10 is gone, then i9
            ("black", "a cell"), ("white", "a cell"), ("white", "a number"),  # g9
            ("white", "a cell"), ("white", "a number"),  # g8, 2
            ("white", "one of these cells"), ("white", "a cell"),  # the sixth is white's, too
            ("white", "one of these cells"),
            ("white", "a number"), ("white", "one of these cells"), ("white", "a cell"),
            ("white", "one of these cells"),
        )
    ]  # fmt: skip
    assert "there is no move to take back" not in out


def test_an_opening_that_was_left_goes_on(run: Run, talk: Talk) -> None:
    talk("h8 i9 j10; g9; 2; quit", "swap; keep; h9+j9")
    run("play", "--opening", "soosorv-8", "--time", "0.05", "--level", "1")
    prompts = talk("j9; g8; quit", "")
    status, out, _ = run("play", "--resume", "--time", "0.05", "--level", "1")
    assert status == 0 and "White chooses one of the fifth stones: h9 or j9." in out
    assert prompts[:2] == ["you, white: one of these cells> ", "you, white: a cell> "]
    assert "The opening is over; black moves. You play white." in out


def test_an_opening_begins_in_mid_dialogue(run: Run, talk: Talk) -> None:
    talk("opening; opening rif numoku; hint; black; quit", "h8 i9 j10; g9")
    status, out, _ = run("play", "--time", "0.05", "--level", "1")
    assert status == 0 and "name a rule, as in `opening rif`" in out
    assert "RIF: One of the 26 openings" in out and "you are the second player" in out
    assert out.count("The second player may change sides.\n") == 2  # also to the hint
    assert "White puts the fourth stone anywhere. Numoku: g9" in out
