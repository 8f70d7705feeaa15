"""The site plays by itself in a browser: from any static host, and without one after a visit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.board.board_page import wait
from tests.build.building import website
from tests.site.host import Quiet, Site

GAME = "h8i9g9g7i8g8h7h9f7"
STONES = "document.querySelectorAll('#board g.stones circle.stone').length"
OPEN = "document.querySelector('#link')?.dataset.state === 'open'"
NOTE = "document.querySelector('#site-note').textContent"


@pytest.fixture
def context(browser: Any) -> Iterator[Any]:
    context = browser.new_context()
    yield context
    context.close()


def stay(page: Any) -> None:
    """Wait until all files are kept for the next visit."""
    wait(page, "navigator.serviceWorker.controller?.state === 'activated'")


@pytest.mark.parametrize(
    "trouble", ["WebAssembly.validate = () => false", "delete globalThis.Worker"]
)
def test_a_browser_that_cannot_run_it_is_told_so(context: Any, server: Site, trouble: str) -> None:
    raw = context.new_page()
    raw.add_init_script(trouble)
    raw.goto(f"{server.address}#b=15x15&r=freestyle&m={GAME}")
    said = "document.querySelector('#banner').textContent"
    wait(raw, f"{said}.includes('no WebAssembly with SIMD')")
    assert raw.evaluate(STONES) == len(GAME) // 2


def test_a_browser_that_keeps_nothing_says_so(context: Any, server: Site) -> None:
    full = "IDBObjectStore.prototype.put = () => { throw new DOMException('', 'QuotaExceeded'); };"

    def spoil(route: Any) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, body=f"{answer.text()}\n{full}\n")

    raw = context.new_page()
    context.route("**/worker.js", spoil)
    raw.goto(f"{server.address}#b=15x15&r=freestyle&m={GAME}")
    wait(raw, OPEN)
    wait(raw, f"{NOTE}.includes('keeps nothing')")
    assert raw.evaluate(STONES) == len(GAME) // 2


def test_a_game_is_kept_while_questions_come_without_end(context: Any, server: Site) -> None:
    first, second = context.new_page(), context.new_page()
    first.goto(server.address)
    wait(first, f"{OPEN} && app.node.facts")
    first.evaluate("void setInterval(() => app.ask('known'), 250)")
    read = f"read('#b=15x15&r=freestyle&m={GAME}')"
    first.evaluate(f"import('./address.js').then(({{ read }}) => app.games.keep({read}))")
    first.wait_for_timeout(4000)
    first.close()
    second.goto(server.address)
    wait(second, OPEN)
    kept = second.evaluate("app.server.ask('games', { all: true })")["games"]
    assert [game["moves"] for game in kept] == [len(GAME) // 2]


def test_a_click_before_the_engine_is_there_is_answered_when_it_is_and_a_second_tab_keeps_nothing(
    context: Any, server: Site
) -> None:
    before = Quiet.sent
    first, second = context.new_page(), context.new_page()
    first.goto(server.address)
    wait(first, "window.app && document.querySelector('#board .point')")
    wait(first, "document.querySelector('#link').textContent.includes('%')")
    middle = first.locator("#board").bounding_box()
    first.mouse.click(middle["x"] + middle["width"] / 2, middle["y"] + middle["height"] / 2)
    assert first.evaluate("[app.node.ply, app.server.about || null]") == [1, None]
    assert "getting ready" in str(first.text_content("#state"))
    assert first.locator("#tab-known").is_visible()  # no other tab makes room for it later
    wait(first, "app.node.ply === 2")
    assert first.evaluate("app.play.clocks.spent(1)") < 60  # what the engine needed, not its start
    stay(first)
    visit = Quiet.sent - before
    assert visit < 1.2 * website.MOST_BYTES  # this host compresses nothing

    second.goto(server.address)
    wait(second, OPEN)
    assert first.evaluate(NOTE) == ""
    wait(second, f"{NOTE}.includes('another tab')")
    first.close()
    second.reload()
    wait(second, f"{OPEN} && app.node.facts")
    assert second.evaluate(NOTE) == ""
    assert Quiet.sent - before - visit < 20_000  # whether there is a newer version
