"""The site plays by itself in a browser: from any static host, and without one after a visit."""

from __future__ import annotations

import zipfile
from typing import Any

import pytest

from tests.board import board_page
from tests.board.board_page import Page
from tests.build.building import website
from tests.site.host import Quiet, Site

GAME = "h8i9g9g7i8g8h7h9f7"


def stay(page: Page) -> None:
    """Wait until all files are kept for the next visit."""
    page.wait("navigator.serviceWorker.controller")
    page.wait("navigator.serviceWorker.controller.state === 'activated'")


def test_an_engine_that_ends_is_started_again_and_the_game_stays(
    browser: Any, server: Site
) -> None:
    page = Page(browser, server, f"#b=15x15&r=freestyle&m={GAME}")  # type: ignore[arg-type]
    page.do("app.server.socket.receive({ dead: 'engine-ended' })")
    page.says("banner", "has ended")
    page.wait("document.querySelector('#link').dataset.state === 'back'")
    assert page.moves() == GAME and page.do("document.querySelector('#banner').hidden")
    with page.raw.expect_download() as download:
        page.tab("file")
        page.press("storage-save")
    with zipfile.ZipFile(download.value.path()) as archive:
        assert {"settings.json", "database.db", "games.db"} <= set(archive.namelist())
    page.close()


CHARGED = """new Promise((done) => {
  const since = performance.now(), timer = setInterval(() => {
    if (!app.server.about) return;
    clearInterval(timer);
    done([app.play.clocks.spent(1), (performance.now() - since) / 1000]);
  }, 5);
})"""


def test_a_click_before_the_engine_is_there_is_answered_when_it_is(
    browser: Any, server: Site
) -> None:
    context = browser.new_context()
    raw = context.new_page()
    raw.goto(server.address)
    board_page.wait(raw, "window.app && document.querySelector('#board .point')")
    board_page.wait(raw, "document.querySelector('#link').textContent.includes('%')")
    middle = raw.locator("#board").bounding_box()
    raw.mouse.click(middle["x"] + middle["width"] / 2, middle["y"] + middle["height"] / 2)
    assert raw.evaluate("[app.node.ply, app.server.about || null]") == [1, None]
    assert "getting ready" in str(raw.text_content("#state"))
    charged, waited = raw.evaluate(CHARGED)
    assert charged < waited / 2  # the start of the engine is not on its clock
    board_page.wait(raw, "app.node.ply === 2")
    context.close()


@pytest.mark.parametrize(
    ("trouble", "sentence"),
    [
        ("WebAssembly.validate = () => false", "no WebAssembly with SIMD"),
        ("delete globalThis.Worker", "no WebAssembly with SIMD"),
    ],
)
def test_a_browser_that_cannot_run_it_is_told_so(
    browser: Any, server: Site, trouble: str, sentence: str
) -> None:
    context = browser.new_context()
    raw = context.new_page()
    raw.add_init_script(trouble)
    raw.goto(f"{server.address}#b=15x15&r=freestyle&m={GAME}")
    board_page.wait(raw, f"document.querySelector('#banner').textContent.includes('{sentence}')")
    assert raw.locator("#board g.stones circle.stone").count() == len(GAME) // 2
    context.close()


@pytest.mark.parametrize(
    "trouble",
    [
        "indexedDB.open = () => { throw new DOMException('refused', 'SecurityError'); };",
        "IDBObjectStore.prototype.put = () => { throw new DOMException('', 'QuotaExceeded'); };",
    ],
    ids=["refused", "full"],
)
def test_a_browser_that_keeps_nothing_says_so(browser: Any, server: Site, trouble: str) -> None:
    def spoil(route: Any) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, body=f"{answer.text()}\n{trouble}\n")

    context = browser.new_context()
    raw = context.new_page()
    context.route("**/worker.js", spoil)
    raw.goto(f"{server.address}#b=15x15&r=freestyle&m={GAME}")
    board_page.wait(raw, "document.querySelector('#link').dataset.state === 'open'")
    board_page.wait(
        raw, "document.querySelector('#site-note').textContent.includes('keeps nothing')"
    )
    assert raw.locator("#board g.stones circle.stone").count() == len(GAME) // 2
    context.close()


def test_of_two_tabs_one_keeps_the_games_and_the_other_says_so(browser: Any, server: Site) -> None:
    context = browser.new_context()
    first, second = context.new_page(), context.new_page()
    note = "document.querySelector('#site-note').textContent"
    for tab in (first, second):
        tab.goto(server.address)
        board_page.wait(tab, "document.querySelector('#link').dataset.state === 'open'")
    assert first.evaluate(note) == ""
    board_page.wait(second, f"{note}.includes('another tab')")
    first.close()
    second.reload()
    board_page.wait(second, "document.querySelector('#link')?.dataset.state === 'open'")
    assert second.evaluate(note) == ""
    context.close()


def test_the_site_asks_for_nothing_that_it_does_not_have(server: Site, browser: Any) -> None:
    before = Quiet.sent
    page = Page(browser, server)  # type: ignore[arg-type]
    stay(page)
    first = Quiet.sent - before
    page.raw.reload()
    page.wait("document.querySelector('#link')?.dataset.state === 'open' && app.node.facts")
    assert first < 1.2 * website.MOST_BYTES  # this host compresses nothing
    assert Quiet.sent - before - first < 20_000  # whether there is a newer version
    page.close()
