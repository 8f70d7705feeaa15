"""The page of a match, as text and in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pbrain_engine import cli
from pbrain_engine.arena import report
from pbrain_engine.arena.match import Journal, read_journal
from tests.board.browser import chromium
from tests.golden.matches import DUEL, games_of


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    path = tmp_path / "m.jsonl"
    writer = Journal(path, "x+b", DUEL)
    for played in games_of(replace(DUEL, openings="none")):
        writer.append(played)
    writer.close()
    return path


@pytest.mark.parametrize("option", ["--html", "--pgn"])
def test_a_report_that_cannot_be_written_leaves_what_was_there(
    journal: Path, option: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path, games = journal.with_name("out"), journal.read_bytes()
    assert report.main([str(journal), option, str(path)]) == 0
    before = path.read_bytes()
    assert cli.main(["report", str(journal), option, str(journal.parent / "." / journal.name)]) == 1
    assert capsys.readouterr().err.endswith("m.jsonl is read; name another file to write\n")
    assert journal.read_bytes() == games

    def is_full(self: Path, text: str, **_: object) -> None:
        self.write_bytes(text.encode()[:20])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", is_full)
    assert cli.main(["report", str(journal), option, str(path)]) == 1
    assert capsys.readouterr().err.endswith("numoku: No space left on device\n")
    assert path.read_bytes() == before


def test_person_steps_through_the_games(journal: Path, browser: Any) -> None:
    report.main([str(journal)])
    page = browser.new_page(viewport={"width": 1200, "height": 1600})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: said.type == "error" and errors.append(said.text))
    page.goto(journal.with_suffix(".html").as_uri())
    stones, items = page.locator("#board circle.stone"), page.locator("#games li")
    games = read_journal(journal)[1]
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
