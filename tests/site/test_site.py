"""The site plays by itself in a browser: from any static host, and without one after a visit."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.board import board_page
from tests.board.board_page import Page
from tests.packaging.building import website
from tests.site.host import Quiet, Site

ROOT = Path(__file__).parents[2]
GAME = "h8i9g9g7i8g8h7h9f7"
OPEN_THREE = "h8a1i8c1j8e1"  # black wins by fours
HEARD = 10_000  # milliseconds; 100 on a machine that does nothing else
SIGNATURE = int((ROOT / "tests" / "signature.txt").read_text(encoding="ascii"))
# How long a search goes on after it was stopped, in milliseconds.
STOP = """(async () => {
  const position = app.tree.position(app.tree.root);
  const question = app.server.ask("analyse", { position }, () => {});
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const began = performance.now();
  app.server.stop(question.id);
  const found = await question;
  return { ms: performance.now() - began, depth: found.depth, error: found.error };
})()"""


def show(page: Page, moves: str) -> None:
    page.do(f"location.hash = '#b=15x15&r=freestyle&m={moves}'")
    page.wait(f"app.node.ply === {len(moves) // 2} && app.node.facts")


def stay(page: Page) -> None:
    """Wait until all files are kept for the next visit."""
    page.wait("navigator.serviceWorker.controller")
    page.wait("navigator.serviceWorker.controller.state === 'activated'")


def test_a_visit_plays_analyses_proves_reviews_and_goes_on_without_a_host(
    browser: Any, server: Site
) -> None:
    page = Page(browser, server)  # type: ignore[arg-type]
    assert not page.do("crossOriginIsolated")
    page.begin(level=1)
    page.play("h8")
    page.wait("app.node.ply === 2")
    show(page, GAME)
    page.tab("analyse")
    page.wait("app.node.found?.depth >= 6")
    assert page.raw.locator("#board .label.best").count() == 1
    page.tab("moves")
    stopped = page.do(STOP)
    assert stopped["ms"] < HEARD and stopped["depth"] >= 1, stopped
    show(page, OPEN_THREE)
    page.tab("proof")
    page.press("prove")
    page.wait("app.node.ply === 7 && document.querySelector('#proof-tree li')")
    page.play("o15")  # a defence far away
    page.says("proof-status", "five")
    show(page, OPEN_THREE + "a15h1")
    page.tab("review")
    page.raw.fill("#review-seconds", "0.1")
    page.press("review")
    page.says("review-status", "mistakes")
    assert page.raw.locator("#mistakes li").count() >= 1
    stay(page)
    moves = page.moves()
    page.raw.wait_for_timeout(4000)  # in which what was found out is kept

    page.context.set_offline(True)
    page.raw.reload()
    page.wait("document.querySelector('#link')?.dataset.state === 'open' && app.node.facts")
    assert page.do("crossOriginIsolated") and page.moves() == moves
    position = "{ position: app.tree.position(app.node.parent) }"
    known = page.do(f"app.server.ask('known', {position}).then((found) => found.known)")
    assert known  # what was found out before the reload
    stopped = page.do(STOP)
    assert stopped["ms"] < HEARD and stopped["depth"] >= 1, stopped
    page.close()


def test_the_engine_of_the_site_has_the_signature_of_all_others(browser: Any, server: Site) -> None:
    page = Page(browser, server, "#selftest")  # type: ignore[arg-type]
    page.wait("document.querySelector('#selftest')?.textContent")
    found = json.loads(page.text("selftest"))
    print(found)
    assert found["signature"] == SIGNATURE
    assert found["nps"] > 0 and found["ready_ms"] > 0
    page.close()


def test_an_engine_that_ends_is_started_again_and_the_game_stays(
    browser: Any, server: Site
) -> None:
    page = Page(browser, server, f"#b=15x15&r=freestyle&m={GAME}")  # type: ignore[arg-type]
    page.do("app.server.socket.hear({ dead: 'The engine has ended.' })")
    page.says("banner", "has ended")
    page.wait("document.querySelector('#link').dataset.state === 'back'")
    assert page.moves() == GAME and page.do("document.querySelector('#banner').hidden")
    with page.raw.expect_download() as download:
        page.raw.click("#storage summary")
        page.press("storage-save")
    with zipfile.ZipFile(download.value.path()) as archive:
        assert {"settings.json", "database.db", "games.db"} <= set(archive.namelist())
    page.close()


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
