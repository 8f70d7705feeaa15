"""Files and the database on the board's page: RenLib libraries, what is known, what is kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pbrain_engine.board.files import MOST_FILE
from pbrain_engine.board.messages import MOST_CHARACTERS
from pbrain_engine.commands import analyse, db
from pbrain_engine.database.store import Database
from pbrain_engine.notation.renlib import format_renlib, parse_renlib
from tests.board.axe import COLOURS, serious_findings
from tests.board.board_page import PHONE, Open, wait
from tests.board.board_server import BoardServer
from tests.notation.test_renlib import grow

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("known") / "a.db"


@pytest.fixture(scope="module")
def server(file: Path) -> Iterator[BoardServer]:
    """A server whose database knows a game and an analysis."""
    game = file.parent / "a.sgf"
    game.write_text("(;GM[4]SZ[15]RE[W+];B[hh];W[ih]C[a famous answer];B[jj])")
    assert db.main([str(file), "add", str(game)]) == 0
    assert analyse.main(["h8i8", "--depth", "4", "--db", str(file), "--json"]) == 0
    server = BoardServer(file.parent, "--db", str(file))
    yield server
    assert server.stop() == ""


# Libraries ----------------------------------------------------------------------------


def test_a_library_is_opened_and_saved(opened: Open, tmp_path: Path) -> None:
    tree = grow(3, 300)
    data, _ = format_renlib(tree)
    (tmp_path / "a.lib").write_bytes(data)
    page = opened()
    page.tab("file")
    page.raw.set_input_files("#game-file", tmp_path / "a.lib")
    moves = sum(node.is_move for node, depth in tree.walk() if depth)
    page.says("file-status", f"a.lib: {moves} moves")
    assert page.raw.input_value("#game-file") == ""  # so that it can be chosen again
    page.says("about", "Renju 15×15")
    page.do("document.querySelector('#variations button').id = 'same'")  # none is made anew
    page.press("first", "redo")
    assert page.raw.get_attribute("#same", "aria-selected") == "true"
    page.count("#variations [aria-selected=true]", 1)
    assert page.raw.locator("#variations button").count() == moves
    assert parse_renlib(page.save("lib")).count() == parse_renlib(data).count()


# The file of the command line -----------------------------------------------------------

SLOW = """(() => {
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (text) { setTimeout(() => send.call(this, text), 300); };
})()"""  # milliseconds; the page writes its address after 150


CHINESE = "(;GM[4]SZ[15]CA[GBK]PB[棋手];B[hh]C[五子棋](;W[ii])(;W[gg]))"
LATIN = "(;GM[4]SZ[15]PB[José];B[hh]C[à];W[ii])"


def test_a_file_of_the_command_line_is_shown_once_and_any_encoding_is_read(
    browser: Any, tmp_path: Path
) -> None:
    (tmp_path / "gbk.sgf").write_bytes(CHINESE.encode("gbk"))
    (tmp_path / "latin-1.sgf").write_bytes(LATIN.encode("latin-1"))
    server = BoardServer(tmp_path, str(tmp_path / "gbk.sgf"))
    context = browser.new_context()
    context.add_init_script(SLOW)
    page = context.new_page()
    page.goto(server.address)
    wait(page, "window.app?.node.ply === 2")
    assert page.evaluate("[app.tree.nodes().length, app.tree.names.black]") == [4, "棋手"]
    page.click("#undo")
    page.reload()
    wait(page, "window.app?.server.about && app.node.facts")
    page.wait_for_timeout(400)
    assert page.evaluate("app.node.ply") == 1
    other = context.new_page()
    other.goto(server.base + "/#b=15x15&r=freestyle&m=a1")  # a link comes first
    wait(other, "window.app?.server.about && app.node.facts")
    other.wait_for_timeout(400)
    assert other.evaluate("app.node.moves") == [[0, 0]]
    for name, player, comment in (("gbk", "棋手", "五子棋"), ("latin-1", "José", "à")):
        other.set_input_files("#game-file", tmp_path / f"{name}.sgf")
        wait(other, f"app.tree.names.black === '{player}' && app.node.ply === 2")
        assert other.evaluate("app.node.parent.comment") == comment
    context.close()
    assert server.stop() == ""


# Large files -----------------------------------------------------------------------------


def large_game() -> str:
    """Return a game almost as large as one may be: first moves, and answers with comments."""
    cells = [chr(97 + x) + chr(97 + y) for y in range(15) for x in range(15)]
    words = "\n" * 110  # each is two characters of a message
    answers = "".join(f"(;W[{cell}]C[{words}])" for cell in cells[90:])
    return f"(;GM[4]SZ[15]{''.join(f'(;B[{cell}]{answers})' for cell in cells[:90])})"


def test_a_file_that_can_be_read_can_be_saved_and_what_is_too_large_is_refused(
    opened: Open, tmp_path: Path
) -> None:
    game = tmp_path / "large.sgf"
    game.write_text(large_game())
    assert 1_400_000 < game.stat().st_size < MOST_FILE
    page = opened()
    page.tab("file")
    page.raw.set_input_files("#game-file", game)
    page.says("file-status", " moves")
    page.says("file-status", "large.sgf")
    assert len(page.save("sgf")) > 1_400_000
    page.show("a1", size="19x19")
    page.press("save-lib")
    page.says("file-status", "15x15, not 19x19")
    (tmp_path / "larger.sgf").write_bytes(bytes(MOST_FILE + 1))
    page.raw.set_input_files("#game-file", tmp_path / "larger.sgf")
    page.says("file-status", "larger.sgf is too large")
    page.do(f"app.tree.root.comment = 'x'.repeat({MOST_CHARACTERS})")
    page.press("save-sgf")
    page.says("file-status", "too large")
    assert page.do("document.querySelector('#link').dataset.state") == "open"


# The database -------------------------------------------------------------------------


def test_what_is_known_is_shown_on_a_telephone_too(opened: Open) -> None:
    page = opened("h8h9", **PHONE)  # as h8i8, turned
    page.tab("known")
    page.says("known-found", "depth 4")
    for scheme, rules in (("light", ()), ("dark", COLOURS)):
        page.raw.emulate_media(color_scheme=scheme)
        assert not serious_findings(page, *rules), scheme
    assert page.do("document.documentElement.scrollWidth") <= 400
    text = page.text("known-found")
    assert "1 game: Black won 0 (0%), drawn 0, White won 1" in text
    assert "a famous answer" in text and "Numoku" in text
    assert page.raw.input_value("#comment") == "a famous answer"
    assert page.do("app.tree.document(app.node).looked")  # nobody has written it here
    page.press("undo")
    page.tab("known")
    page.has("#known-next tr")
    row = page.raw.locator("#known-next tr").first
    assert int(row.locator("td").nth(2).text_content()) >= 4  # the depth
    assert page.raw.locator("#board .label").count() == page.raw.locator("#known-next tr").count()
    assert row.locator(".results").get_attribute("title").startswith("1 game: Black won 0 (0%)")
    row.locator("button").click()
    page.wait("app.node.ply === 2")


def test_an_analysis_and_comments_are_stored(opened: Open) -> None:
    page = opened("h8j8")
    page.raw.fill("#comment", "I wonder")
    page.wait("app.node.found?.depth >= 3")
    page.press("undo")
    page.tab("known")
    page.has("#known-next tr", 2)
    page.press("redo")
    page.says("known-found", "I wonder")
    while "depth " not in page.text("known-found"):  # a value is stored behind its search
        page.raw.wait_for_timeout(200)
        page.press("undo", "redo")
    # A comment is changed after a reload.
    page.reload("app.node.known?.notes.length === 1")
    assert page.raw.input_value("#comment") == "I wonder"
    page.raw.fill("#comment", "at last")
    page.raw.press("#comment", "Tab")
    page.wait("app.node.known.notes[0].comment === 'at last'")
    page.raw.fill("#comment", "or later")  # a reload in the middle of it
    page.reload("app.node.known?.notes.length === 1")
    page.raw.fill("#comment", "or never")
    page.raw.press("#comment", "Tab")
    page.wait("app.node.known.notes.some(({ comment }) => comment === 'or never')")
    assert page.do("app.node.known.notes.length") == 1
    page.show("h8f8")  # turned
    page.says("known-found", "or never")


LOSES_ANSWER = """(() => {
  const { server } = app, { take } = server;
  server.take = function (message) {
    if (!message.result?.stored) return take.call(this, message);
    server.take = take;
    return this.socket.close();
  };
})()"""


def test_an_empty_board_has_nothing_to_store(opened: Open) -> None:
    page = opened("")
    page.tab("known")
    page.press("store-game")
    page.says("known-status", "the board is empty")


def test_a_game_is_stored_by_the_button_and_at_its_end(opened: Open, file: Path) -> None:
    page = opened("a1a2b1b2c1c2d1d2e1")
    page.tab("known")
    # What was stored before a lost connection is not said to be old.
    page.do(LOSES_ANSWER)
    page.press("store-game")
    page.wait("document.querySelector('#link').dataset.state === 'back'")
    page.wait("app.known.status.textContent === 'Stored.'")
    page.press("undo")
    page.wait("app.known.status.textContent === ''")  # it was of the position before
    page.press("redo")
    page.says("known-found", "Black won 1 (100%)")
    page.press("store-game")
    page.says("known-status", "there already")
    for comment in ("lost 9%", "lost 8%"):  # of two reviews
        page.do(f"app.node.comment = '{comment}'")
        page.press("store-game")
        page.wait(f"app.node.known.notes[0]?.comment === '{comment}'")
    page.begin()
    page.play("h8")
    page.answered()
    page.resign()
    page.wait("app.known.status.textContent === 'Stored.'")
    with Database(file) as database:
        results = database.connection.rows("SELECT result FROM game ORDER BY id")
    assert [result for (result,) in results] == ["0-1", "1-0", "0-1"]


def test_nothing_known_helps_in_a_game_until_its_end(opened: Open) -> None:
    page = opened("h8")
    page.begin("resume", person="white")
    page.play("i8")
    page.answered(3)
    page.wait("app.node.known")
    assert page.text("known-line") == ""
    page.press("undo")
    page.wait("app.node.known?.notes.length === 1")
    assert page.raw.input_value("#comment") == page.text("known-line") == ""
    page.tab("analyse")  # that ends it
    page.says("known-line", "Database: Black")
    assert page.raw.input_value("#comment") == "a famous answer"
