"""A visit of the site from end to end: by a host, and without one."""

from __future__ import annotations

import zipfile
from typing import Any

import psutil
import pytest

from tests.board.board_page import OPEN_THREE, Page
from tests.site.host import Site
from tests.site.test_site import GAME, OPEN, stay

pytestmark = pytest.mark.slow

MOST_MEMORY = 400e6  # bytes of the tab's process, what it shares counted in parts
HEARD = 10_000  # milliseconds; 100 on a machine that does nothing else
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


def memory_of_tab() -> int:
    """Return the bytes of the largest renderer among the browser's processes."""
    tabs = [
        process
        for process in psutil.Process().children(recursive=True)
        if "--type=renderer" in " ".join(process.cmdline())
    ]
    return max(int(process.memory_full_info().pss) for process in tabs)


def test_a_visit_plays_analyses_proves_reviews_and_goes_on_without_a_host(
    browser: Any, server: Site
) -> None:
    page = Page(browser, server)  # type: ignore[arg-type]
    assert not page.do("crossOriginIsolated")
    page.begin(level=1)
    page.play("h8")
    page.answered()
    page.show(GAME)
    page.tab("analyse")
    page.wait("app.node.found?.depth >= 10")
    assert page.raw.locator("#board .label.best").count() == 1
    assert memory_of_tab() < MOST_MEMORY
    page.tab("file")
    stopped = page.do(STOP)
    assert stopped["ms"] < HEARD and stopped["depth"] >= 1, stopped
    page.show(OPEN_THREE)
    page.tab("analyse")
    page.press("prove")
    page.wait("app.node.ply === 7 && document.querySelector('#proof-tree li')")
    page.play("o15")  # a defence far away
    page.says("proof-status", "Five")
    page.show(OPEN_THREE + "a15h1")
    page.tab("review")
    page.raw.fill("#review-seconds", "0.1")
    page.press("review")
    page.says("review-status", "to look at")
    assert page.raw.locator("#mistakes li").count() >= 1
    stay(page.raw)
    moves = page.moves()
    page.raw.wait_for_timeout(4000)  # in which what was found out is kept

    page.context.set_offline(True)
    page.reload(OPEN)
    assert page.do("crossOriginIsolated") and page.moves() == moves
    position = "{ position: app.tree.position(app.node.parent) }"
    known = page.do(f"app.server.ask('known', {position}).then((found) => found.known)")
    assert known  # what was found out before the reload
    stopped = page.do(STOP)
    assert stopped["ms"] < HEARD and stopped["depth"] >= 1, stopped
    page.puzzle()
    page.press("puzzle-leave")

    # An engine that ends is started again and the game stays; what is kept can be saved.
    page.do("app.server.socket.receive({ dead: 'engine-ended' })")
    page.says("banner", "has ended")
    page.wait("document.querySelector('#link').dataset.state === 'back'")
    assert page.moves() == moves and page.do("document.querySelector('#banner').hidden")
    with page.raw.expect_download() as download:
        page.tab("file")
        page.press("storage-save")
    with zipfile.ZipFile(download.value.path()) as archive:
        assert {"settings.json", "database.db", "games.db"} <= set(archive.namelist())
    page.do("localStorage.setItem('numoku.sign', '1')")
    page.press("storage-forget", "yes")
    page.wait("localStorage.getItem('numoku.sign') === null")
    page.close()
