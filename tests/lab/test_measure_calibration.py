"""What an engine's chances are worth, by the games of a journal."""

import pytest

from lab.measure_calibration import calibrate
from pbrain_engine.game.cells import parse_moves
from pbrain_engine.game.record import GameRecord

MOVES = tuple(parse_moves("h8a1i8a2j8a3"))


def game(black: str, result: str, values: tuple[int | None, ...]) -> GameRecord:
    return GameRecord(
        moves=MOVES, given=2, black=black, white="b" if black == "a" else "a",
        values=values, result=result, reason="five",
    )  # fmt: skip


def test_each_side_is_held_to_its_own_values() -> None:
    games = [
        game("a", "1-0", (0, 900, 0, 29999)),
        game("b", "1-0", (900, 0, 900, 0)),
        game("a", "1/2-1/2", (None, 900, 0, 900)),
    ]
    (row,) = calibrate(games, "a")
    assert row.stage == 0 and row.said == pytest.approx(0.5)
    assert row.positions == 5 and row.games == 3  # the fifth move of the last game has no value
    assert row.scored == pytest.approx((2 * 1 + 2 * 0 + 1 * 0.5) / 5)
    assert row.error == pytest.approx(0.28, abs=0.05)
