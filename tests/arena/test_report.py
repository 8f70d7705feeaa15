"""The page of a match, as text and in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import isnan, log
from typing import Any

import pytest

from pbrain_engine.arena import report
from pbrain_engine.arena.match import Journal, read_journal
from pbrain_engine.arena.report import AHEAD, ALL, calibrate
from pbrain_engine.game.record import BLACK, DRAW, RESULTS, WHITE, GameRecord
from pbrain_engine.values import WIN, scale_at
from tests.board.browser import chromium
from tests.golden.matches import DUEL, games_of


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


def test_person_steps_through_the_games(tmp_path, browser):
    path = tmp_path / "m.jsonl"
    writer = Journal(path, "x+b", DUEL)
    for played in games_of(replace(DUEL, openings="none")):
        writer.append(played)
    writer.close()
    report.main([str(path)])
    page = browser.new_page(viewport={"width": 1200, "height": 1600})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: said.type == "error" and errors.append(said.text))
    page.goto(path.with_suffix(".html").as_uri())
    stones, items = page.locator("#board circle.stone"), page.locator("#games li")
    games = read_journal(path)[1]
    assert stones.count() == len(games[0].moves)
    page.click("#first")
    assert stones.count() == 0
    for _ in range(3):
        page.click("#next")
    assert stones.count() == 3
    assert page.inner_text("#move").startswith("3. k1")
    page.click("#back")
    assert "given" in page.inner_text("#move")
    assert items.count() == len(games)
    items.nth(4).click()
    assert "garbage" in page.inner_text("#ending")
    assert "</script> 4" in page.inner_text("#ending")
    assert stones.count() == len(games[4].moves)
    page.press("body", "ArrowLeft")
    assert stones.count() == len(games[4].moves) - 1
    page.fill("#filter", "garbage")
    assert [item.get_attribute("aria-selected") for item in items.all()] == ["true"]
    lines = page.locator("#value polyline").all()
    assert [line.get_attribute("points") != "" for line in lines] == [True, True]
    assert page.evaluate("document.documentElement.scrollWidth") <= 1200
    assert not errors
    page.close()


# What engines said of their chances and what they scored, from games made up for it ----


SCALE = 100.0


def odds(chance: float, stones: int) -> int:
    """Return the value that stands for a chance with so many stones."""
    return round(scale_at(SCALE, stones, 225) * log(chance / (1 - chance)))


def a_game(number: int, winner: str, given: int, said: list[float | None]) -> GameRecord:
    values = [None if each is None else odds(each, n) for n, each in enumerate(said, given)]
    cells = [(n % 15, n // 15) for n in range(given + len(said))]
    nothing = (None,) * len(said)
    return GameRecord(
        moves=tuple(cells), given=given, number=number, round=number, black="a", white="b",
        result=RESULTS[winner], reason="five", times=(1,) * len(said), depths=nothing,
        values=tuple(values), nodes=nothing,
    )  # fmt: skip


@pytest.fixture
def games() -> list[GameRecord]:
    return [
        a_game(0, BLACK, 4, [0.8, 0.4, 0.8, None, 0.95]),
        a_game(1, DRAW, 4, [0.8, 0.2]),
        a_game(2, WHITE, 18, [0.6, 0.75, 0.2, 0.95]),
    ]


def test_said_and_scored_stand_by_engine_stage_and_chance(games):
    rows = {(row.engine, row.stones, row.chances): row for row in calibrate(games, SCALE)}
    row = rows["a", "0-9", "0.7-0.9"]
    assert (row.positions, row.games) == (3, 2)
    assert row.said.mean == pytest.approx(0.8, abs=2e-3)
    assert row.scored.mean == pytest.approx((1 + 1 + 0.5) / 3)
    assert row.excess.mean == pytest.approx(0.8 - 2.5 / 3, abs=2e-3)
    ahead = rows["a", "all", AHEAD]
    assert (ahead.positions, ahead.games) == (5, 3)
    assert ahead.scored.mean == pytest.approx((3 + 0.5 + 0) / 5)
    assert rows["a", "all", ALL].positions == 6 and rows["b", "all", ALL].positions == 4
    late = rows["b", "10-19", "0.7-0.9"]
    assert (late.positions, late.scored.mean) == (1, 1.0) and isnan(late.excess.error)
    assert rows["b", "20-39", "0.9-1.0"].positions == 1, "with the 21st stone"
    assert ("a", "40+", ALL) not in rows


def test_what_is_proven_and_what_a_fault_ended_says_nothing(games):
    said = games[0].values
    games[0] = games[0]._replace(values=(WIN - 5, said[1], 5 - WIN, *said[3:]))
    games[2] = games[2]._replace(reason="time")
    rows = {(row.engine, row.stones, row.chances): row for row in calibrate(games, SCALE)}
    assert rows["a", "all", ALL].positions == 2
    assert not any(stones in ("10-19", "20-39") for _, stones, _ in rows)
