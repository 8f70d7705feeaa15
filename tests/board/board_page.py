"""The board's page in a browser, with the actions of tests."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.board.board_server import BoardServer

PATIENCE = 60_000  # milliseconds
# Opens what a field is in, and returns its kind.
OPEN = """(field) => {
  for (let at = field; at = at.closest("details:not([open])"); ) at.open = true;
  return field.getAttribute("role") || field.localName;
}"""
OPEN_THREE = "h8a1i8c1j8e1"  # black wins by fours
GAME = "h8i9g9g7i8g8h7h9f7j9f9"
CHOOSING = "app.node.ply === 3 && !document.querySelector('#choices').hidden"  # by swap2
CELL, EDGE = 30, 32  # of the drawing, as in draw.js
POINT = """(() => {
  const board = document.querySelector("#board");
  board.scrollIntoViewIfNeeded();
  return new DOMPoint(%d, %d).matrixTransform(board.getScreenCTM());
})()"""
PHONE = {"viewport": {"width": 400, "height": 800}, "has_touch": True, "is_mobile": True}
# Time advances when a test says so, and by seven seconds for each move of Numoku.
CLOCK = """(() => {
  const ask = app.server.ask.bind(app.server);
  let now = 0;
  performance.now = () => now;
  window.pass = (seconds) => { now += 1000 * seconds; };
  app.server.ask = (what, ...more) => { if (what === "move") pass(7); return ask(what, ...more); };
})()"""


# Polls within the page, whose security policy forbids injected scripts.
LOOK = """new Promise((done) => {
  const end = Date.now() + %d;
  const look = () => {
    let isSo = false;
    try { isSo = Boolean(%s); } catch { }  // the page is still loading
    if (isSo || Date.now() > end) done(isSo); else setTimeout(look, 10);
  };
  look();
})"""


def wait(page: Any, condition: str) -> None:
    """Wait until an expression is true on a page."""
    end = time.monotonic() + PATIENCE / 1000
    while True:
        with contextlib.suppress(Exception):  # the page is being replaced
            if page.evaluate(LOOK % (1000 * (end - time.monotonic()), condition)):
                return
        assert time.monotonic() < end, condition
        page.wait_for_timeout(25)


class Page:
    """A page with the actions of tests; any error on it is a failure."""

    def __init__(self, browser: Any, server: BoardServer, hash_: str = "", **context: Any) -> None:
        self.server = server
        self.context = browser.new_context(**{"accept_downloads": True, **context})
        self.raw = self.context.new_page()
        self.raw.set_default_timeout(PATIENCE)
        self.is_alone = False  # its server is away
        self.errors: list[str] = []
        self.hosts: set[str] = set()
        self.raw.on("pageerror", lambda error: self.errors.append(str(error)))
        self.raw.on("console", self._note)
        self.raw.on("request", lambda request: self.hosts.add(request.url.split("/")[2][:60]))
        self.raw.goto(server.address + hash_)
        self.wait("document.querySelector('#link').dataset.state === 'open' && app.node.facts")

    def _note(self, message: Any) -> None:
        is_ours = not self.is_alone or "ERR_CONNECTION" not in message.text
        if message.type == "error" and is_ours:
            self.errors.append(message.text)

    def close(self) -> None:
        self.context.close()
        assert not self.errors, self.errors
        assert {host for host in self.hosts if host} <= {f"127.0.0.1:{self.server.port}"}

    def wait(self, condition: str) -> None:
        wait(self.raw, condition)

    def has(self, selector: str, number: int = 1) -> None:
        """Wait until there are at least this many elements."""
        self.wait(f"document.querySelectorAll({json.dumps(selector)}).length >= {number}")

    def answered(self, ply: int = 2) -> None:
        """Wait until Numoku has put this stone."""
        self.wait(f"app.node.ply === {ply} && app.node.facts && !app.play.thinking")

    def lose(self) -> None:
        """End the server, and wait until the page knows."""
        self.is_alone = True
        self.server.kill()
        self.wait("document.querySelector('#link').dataset.state === 'lost'")

    def reload(self, condition: str = "true") -> None:
        self.raw.reload()
        self.wait(f"window.app?.node.facts && {condition}")

    def puzzle(self, difficulty: str = "all") -> None:
        """Begin a puzzle."""
        self.tab("puzzle")
        self.wait("app.puzzle.shipped.length")
        self.set(difficulty=difficulty)
        self.press("next-puzzle")
        self.wait("app.guide?.name === 'puzzle' && app.node.facts")

    def save(self, form: str) -> bytes:
        """Return the contents of a saved file."""
        self.tab("file")
        with self.raw.expect_download() as saved:
            self.press(f"save-{form}")
        return Path(saved.value.path()).read_bytes()

    def read(self, text: str) -> None:
        """Read a game from a text."""
        self.tab("file")
        self.raw.fill("#game-text", text)
        self.press("read-text")

    def do(self, script: str) -> Any:
        return self.raw.evaluate(script)

    def show(self, moves: str, rule: str = "freestyle", size: str = "15x15") -> None:
        """Go to a position by its address."""
        self.do(f"location.hash = '#b={size}&r={rule}&m={moves}'")
        plies = sum(sign.isalpha() for sign in moves)
        self.wait(f"app.node.ply === {plies} && app.tree.start.rule === '{rule}' && app.node.facts")

    def again(self, moves: str = "", rule: str = "freestyle") -> Page:
        """Return the page itself as new, for a test that needs no settings of its own."""
        self.resize(1280, 720)
        self.do("document.querySelectorAll('dialog[open]').forEach((one) => one.close())")
        self.tab("play")
        self.do(f"app.begin('#b=15x15&r={rule}&m={moves}')")
        self.wait("app.node.facts && !app.guide")
        return self

    def says(self, name: str, text: str) -> None:
        """Wait until an element of the page contains a text."""
        self.wait(f"document.querySelector('#{name}')?.textContent.includes({json.dumps(text)})")

    def count(self, selector: str, number: int) -> None:
        """Wait until there are exactly this many elements."""
        self.wait(f"document.querySelectorAll({json.dumps(selector)}).length === {number}")

    def hurry(self, times: int) -> None:
        """Speed up all timers of the page by a factor."""
        self.do(
            "(() => { const plain = window.setTimeout; window.setTimeout ="
            f" (what, time, ...more) => plain(what, time / {times}, ...more); }})()"
        )

    def tab(self, name: str) -> None:
        self.raw.click(f"#tab-{name}")

    def press(self, *names: str) -> None:
        for name in names:
            self.raw.click(f"#{name}")

    def choose(self, label: str) -> None:
        """Press one of the offered buttons."""
        self.raw.click(f"#choices button:text-is('{label}')")

    def resize(self, wide: int, high: int) -> None:
        self.raw.set_viewport_size({"width": wide, "height": high})

    def set(self, **fields: object) -> None:
        """Fill in fields of forms, by their names with an underscore for each dash."""
        for name, value in fields.items():
            field = self.raw.locator(f"#{name.replace('_', '-')}")
            kind = field.evaluate(OPEN)
            if kind == "radiogroup":
                field.locator(f"input[value='{value}']").check(force=True)
            elif kind == "select":
                field.select_option(str(value))
            else:
                field.fill(str(value))

    def begin(self, button: str = "start", **fields: object) -> None:
        """Begin or resume a game with these fields of the form, against the weakest level."""
        self.press("new-game")
        self.set(**{"level": 1, **fields})
        self.do("window.begun = app.play.begun")
        self.press(button)
        self.wait("app.play.begun > window.begun")

    def resign(self) -> None:
        """Resign, and say yes to the question."""
        self.press("resign")
        self.press("yes")
        self.wait("app.play.over")

    def text(self, name: str) -> str:
        return str(self.raw.text_content(f"#{name}"))

    def point(self, cell: str) -> tuple[float, float]:
        """Return where a cell is on the screen."""
        x, y = ord(cell[0]) - ord("a"), int(cell[1:]) - 1
        at = self.do(POINT % (EDGE + x * CELL, EDGE + y * CELL))
        return at["x"], at["y"]

    def click(self, cell: str) -> None:
        """Click on a cell without waiting for a stone."""
        self.raw.mouse.click(*self.point(cell))

    def play(self, *cells: str) -> None:
        """Click on cells and wait for each stone."""
        for cell in cells:
            before = self.do("app.node.ply")
            self.click(cell)
            self.wait(f"app.node.ply > {before} && app.node.facts")

    def moves(self) -> str:
        return str(
            self.do(
                "app.node.moves.map((c) => String.fromCharCode(97 + c[0]) + (c[1] + 1)).join('')"
            )
        )

    def stones(self) -> int:
        return int(self.raw.locator("#board g.stones circle.stone").count())


Again = Callable[..., Page]


class Open:
    """Opens pages with a position, and closes them in the end."""

    def __init__(self, browser: Any, server: BoardServer) -> None:
        self._browser, self._server = browser, server
        self._pages: list[Page] = []

    def __call__(self, moves: str = "", rule: str = "freestyle", **context: Any) -> Page:
        hash_ = f"#b=15x15&r={rule}&m={moves}" if moves else ""
        self._pages.append(Page(self._browser, self._server, hash_, **context))
        return self._pages[-1]

    def close(self) -> None:
        for page in self._pages:
            page.close()
