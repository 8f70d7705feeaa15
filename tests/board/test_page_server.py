"""The page and its server: connections that are lost and come back, and tokens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.board.board_page import CHOOSING, Page, wait
from tests.board.board_server import BoardServer, until

NO_SOCKET = """globalThis.openSocket = () => {
  delete globalThis.openSocket;
  const socket = new EventTarget();
  setTimeout(() => socket.dispatchEvent(Object.assign(new Event("close"), { reason: "" })));
  return socket;
}"""


def test_the_page_says_that_its_server_is_away_and_reconnects_and_no_game_is_lost(
    browser: Any, tmp_path: Path
) -> None:
    server = BoardServer(tmp_path)
    page = Page(browser, server, "#b=15x15&r=freestyle&m=h8i9")
    assert not page.raw.is_visible("#tab-known")  # without a database
    page.lose()
    assert page.raw.is_visible("#banner")
    page.press("undo", "redo")  # which it does not cover
    page.server = BoardServer(tmp_path, port=server.port)
    page.wait("document.querySelector('#link').dataset.state === 'back'")
    page.says("link", "connected again")
    assert page.moves() == "h8i9"
    page.wait("app.node.found?.depth >= 2")
    # Numoku chooses again where it was about to.
    page.begin(opening="swap2", person="white", seconds=1)
    page.wait("app.play.opening?.isPersons === false && app.server.questions.size")
    page.lose()
    page.server = BoardServer(tmp_path, port=server.port)
    page.wait(CHOOSING)
    # A click is no stone of Numoku.
    page.hurry(20)
    clock = {"minutes": 60, "byoyomi": 10, "periods": 3}
    page.begin(opening="none", person="black", level=10, **clock)
    page.do("app.play.match.used = [3610, 0]")
    page.play("h8")
    page.wait("app.play.thinking")
    page.raw.fill("#comment", "over a restart")
    kept = "app.server.ask('game', { game: app.tree.id })"
    until(lambda: "over a restart" in str(page.do(kept)))
    page.lose()
    page.click("i8")
    page.raw.wait_for_timeout(100)
    assert page.do("app.node.ply") == 1
    page.tab("puzzle")
    page.press("next-puzzle")
    page.says("puzzle-status", "The server does not answer.")
    page.close()
    page = Page(browser, BoardServer(tmp_path))
    page.tab("games")
    page.raw.locator("#game-list button").first.click()
    page.wait("app.node.comment === 'over a restart'")
    page.says("black-clock", " ×2")  # of its three periods
    assert page.moves() == "h8"
    page.close()
    assert page.server.stop() == ""


def test_what_was_asked_before_or_without_a_connection_is_answered(page: Page) -> None:
    page.tab("analyse")
    page.show("h8i9")
    page.wait("app.node.found?.depth >= 2")
    page.do(
        "(() => { const { socket } = app.server; socket.addEventListener('close', () => {"
        " app.visit(app.node.parent); app.visit(app.node.children[0]); app.node.found = null; });"
        " socket.close(); app.server.stop(app.server.ask('engine').id); })()"
    )
    page.wait("document.querySelector('#link').dataset.state === 'back'")
    page.wait("app.node.found?.depth >= 2")
    late = page.context.new_page()
    late.add_init_script(NO_SOCKET)
    late.goto(f"{page.server.base}/#b=15x15&r=freestyle&m=h8i9")
    wait(late, "app.server.about && app.node.found?.depth >= 2")
    late.close()
    # A question that ends every connection is given up, and all else goes on.
    page.do(
        "(() => { const { send } = WebSocket.prototype;"
        " WebSocket.prototype.send = function (text) {"
        " if (text.includes('fatal')) this.close(); else send.call(this, text); };"
        " app.server.ask('fatal').then(({ error }) => { app.fatal = error; }); })()"
    )
    page.wait("app.fatal === 'The connection was lost.'")
    page.play("j8")


def test_a_wrong_token_is_said_and_can_be_mended(browser: Any, server: BoardServer) -> None:
    context = browser.new_context(locale="zh-CN")
    page = context.new_page()
    page.goto(f"{server.base}/?token=wrong")
    wait(page, "document.querySelector('#link').dataset.state === 'refused'")
    wait(page, "document.querySelector('#banner').textContent.includes('令牌有误')")
    page.fill("#banner input", server.address)
    page.click("#banner button")
    wait(page, "document.querySelector('#link')?.dataset.state === 'open'")
    context.close()
