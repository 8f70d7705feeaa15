"""The board's page as people use it: any window, fingers, the mouse, keys, stones set up."""

from __future__ import annotations

import pytest

from tests.board.board_page import PHONE, Again, Open, Page

pytestmark = pytest.mark.slow

BOX = """(({ left, top, right, bottom }) => [left, top, right, bottom])(
  document.querySelector('%s').getBoundingClientRect())"""


def box(page: Page, name: str) -> list[float]:
    """Return left, top, right and bottom of a piece of the page."""
    found: list[float] = page.do(BOX % name)
    return found


def tap(page: Page, *cells: str) -> None:
    for cell in cells:
        page.raw.touchscreen.tap(*page.point(cell))


def slide(page: Page, *cells: str, until: str = "true") -> None:
    """Slide a finger over cells, and stay on each; on the first one until something is true."""
    touch = page.context.new_cdp_session(page.raw)
    for number, (x, y) in enumerate([page.point(cell) for cell in cells]):
        kind = "touchMove" if number else "touchStart"
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
        page.raw.wait_for_timeout(200)
        page.wait(until)
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def draw(page: Page, start: str, end: str) -> None:
    """Draw with the right button of the mouse."""
    page.raw.mouse.move(*page.point(start))
    page.raw.mouse.down(button="right")
    page.raw.mouse.move(*page.point(end))
    page.raw.mouse.up(button="right")


# Windows ------------------------------------------------------------------------------

WINDOWS = [(320, 568), (390, 844), (667, 375), (800, 600), (1280, 720), (3840, 2160)]
TOPS = "[...document.querySelectorAll('%s')].map((one) => one.offsetTop)"
SIDEWAYS = "document.documentElement.scrollWidth > innerWidth"
DOWN = "document.documentElement.scrollHeight > innerHeight"  # the wheel would step no moves
AT_START = """(({ left, top, width, height }) =>
  document.elementFromPoint(left + width / 2, top + height / 2)?.id
)(document.querySelector('#start').getBoundingClientRect())"""


def test_the_board_is_the_largest_square_that_fits(again: Again) -> None:
    page = again()
    page.begin(person="both")  # a game, which can be taken back
    for wide, high in WINDOWS:
        page.resize(wide, high)
        left, top, right, bottom = box(page, "#board")
        assert right - left == pytest.approx(bottom - top, abs=1)
        assert 0 <= left and 0 <= top and right <= wide and bottom <= high
        # A side bar needs 300 pixels in a wide window, and the bars of the players their rows.
        rows = 270 if wide < high else 112 if high < 520 else 168
        assert right - left >= min(wide - (390 if wide > high else 40), high - rows)
        assert box(page, "#new-game")[3] <= high and box(page, "#tabs")[3] <= high
        for tab in ("puzzle", "file", "play"):
            page.tab(tab)
            assert not page.do(SIDEWAYS), wide
            assert wide < high or not page.do(DOWN), (wide, tab)
    page.resize(1280, 800)
    page.show("h3", size="22x6")  # a wide one leaves room for the tools
    assert box(page, ".controls")[2] <= 1280 and not page.do(SIDEWAYS)


def test_the_dialog_of_a_new_game_and_decisions_fit_every_window(again: Again) -> None:
    page = again()
    for wide, high in WINDOWS:
        page.resize(wide, high)
        page.press("new-game")
        for place in ("#invitation", "#setup"):  # no preset stands alone in its row
            tops = page.do(TOPS % f"{place} .presets button")
            assert len(tops) == 10 and all(tops.count(top) > 1 for top in tops), (wide, place)
        tops = page.do(TOPS % "#person label")
        assert [tops.count(top) for top in sorted({*tops})] in ([2, 2], [4]), wide
        page.do("document.querySelector('#more').open = true")
        assert page.do(AT_START) == "start", wide
        page.press("setup-cancel")
        page.do("app.choose([...'ABC'].map((name) => [name, () => 0]), 'What to do? '.repeat(5))")
        top, bottom = box(page, "#choices")[1], box(page, "#choices button:last-child")[3]
        assert bottom <= high and not page.raw.is_visible("#state"), wide
        assert top >= box(page, "#board")[3] or high < 700, wide  # a board of 15 rows is seen whole
        page.do("app.choose([])")
        assert page.raw.is_visible("#state")


def test_a_small_telephone_shows_names_hints_lines_and_buttons_whole(opened: Open) -> None:
    page = opened(**{**PHONE, "viewport": {"width": 360, "height": 640}, "locale": "ru"})
    cut = "[...document.querySelectorAll('%s')].filter((one) => one.scrollWidth > one.clientWidth)"
    tap(page, "h8")
    page.says("state", "h8")
    assert page.do(cut % "#state") == []
    tap(page, "h8")
    page.answered()
    assert page.do(cut % ".player b") == []
    # The lines of an analysis are scrolled into view where it begins.
    for piece, is_seen in (("tab-analyse", True), ("analysis-on", False), ("analysis-on", True)):
        page.do(f"scrollTo(0, 0); document.querySelector('#{piece}').click()")
        assert (box(page, "#lines-found")[3] <= box(page, "#tabs")[1]) == is_seen
    # The choices of an opening cover no buttons.
    page.resize(400, 800)
    page.begin(opening="soosorv-8", person="both")
    page.play("h8", "h9", "i9")
    page.has("#choices button", 2)
    page.press("undo", "last", "take-back")
    page.wait("app.play.opening?.step?.wanted === 1")


SHIFTS = """(() => { window.shifts = [];
  const name = ({ node }) => node?.id || node?.className || node?.nodeName;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) shifts.push([entry.value, ...entry.sources.map(name)]);
  }).observe({ type: "layout-shift" }); })()"""


def test_the_page_is_first_seen_with_all_in_its_place(opened: Open) -> None:
    for context in ({}, PHONE):
        page = opened("h8i9g9", **context)
        page.do(SHIFTS.replace("{ type", "{ buffered: true, type"))
        page.raw.wait_for_timeout(200)
        assert page.do("shifts.reduce((sum, [value]) => sum + value, 0)") < 0.01


def test_while_lines_come_nothing_moves_and_every_click_counts(opened: Open) -> None:
    page = opened("h8i9g9")
    page.tab("analyse")
    page.raw.click("#settings summary")
    for size, moves in (((1280, 800), "h8i9g9"), ((390, 844), "h8i9g9g7")):
        page.resize(*size)
        page.show(moves)
        page.wait("app.node.found?.lines.length === 3")
        page.raw.wait_for_timeout(600)  # what a press moves does not count
        page.do(SHIFTS)
        at = box(page, "#settings")
        page.wait(f"app.node.found.depth >= {max(page.do('app.node.found.depth') + 2, 9)}")
        assert page.do("window.shifts") == [] and box(page, "#settings") == at
    page.resize(1280, 800)
    for moves in ("h8i9i8", "h8i9h9"):  # with the mouse over a line, then over a cell
        page.show(moves)
        page.has("#lines-found li", 3)
        if moves == "h8i9i8":
            page.raw.hover("#lines-found li:nth-child(2) button")
        else:
            page.raw.mouse.move(*page.point("a15"))
        page.raw.mouse.down()
        page.wait(f"app.node.found.depth > {page.do('app.node.found.depth')}")
        page.raw.mouse.up()
        page.wait("app.node.ply === 4")


# Fingers, the mouse, keys ----------------------------------------------------------------


def test_a_finger_shows_a_cell_plays_and_draws(opened: Open) -> None:
    page = opened(**PHONE)
    page.tab("file")
    # A first touch shows the cell, and a second one plays.
    for cell in ("j10", "k10"):  # not this one, but its neighbour
        tap(page, cell)
        page.wait("document.querySelector('#board .lens > g')")
        assert page.stones() == 0
    page.says("state", "k10 empty; touch again")
    tap(page, "k10")
    page.wait("app.node.ply === 1")
    assert page.moves() == "k10" and not page.raw.locator("#board .lens > g").count()
    # A finger that slides plays where it ends.
    slide(page, "e5", "f5", "g6")
    page.wait("app.node.ply === 2")
    assert page.moves() == "k10g6"
    # One that stays draws, on a stone or on a cell that is shown, and takes away again.
    slide(page, "g6", until="app.board.from")
    page.wait("app.node.notes.drawn === 'g6'")
    tap(page, "c4")
    page.says("state", "hold: draw")
    slide(page, "c4", "d4", "f7", until="app.board.from")
    page.wait("app.node.notes.drawn === 'g6 c4f7'")
    slide(page, "g6", until="app.board.from")
    page.wait("app.node.notes.drawn === 'c4f7'")
    assert page.stones() == 2 and not page.do("app.board.from || app.board.ghost.firstChild")


def test_the_mouse_draws_and_steps_and_stones_sound_if_wanted(page: Page) -> None:
    page.tab("file")
    page.do("void (AudioContext = class extends AudioContext { is = (window.heard = true); })")
    page.play("h8")
    # The right button draws circles and arrows, which files, turns and a reload keep.
    for start, end in (("c3", "c3"), ("d4", "d4"), ("d4", "d4"), ("h8", "k10")):
        draw(page, start, end)  # a circle twice: it is away again
    page.count("#board .marks .drawn", 2)
    assert page.do("app.node.notes.drawn") == "c3 h8k10" and page.stones() == 1
    text = page.save("sgf").decode()
    assert "CR[cc]" in text and "AR[hh:kj]" in text
    page.raw.click("[data-what=rotate]")
    assert page.do("app.node.notes.drawn") == "m3 h8f11"
    assert not page.do("window.heard")
    page.raw.check("#sound")
    page.play("i8")
    assert page.do("window.heard")
    page.press("undo")
    page.reload("app.node.ply === 1")
    page.count("#board .marks .drawn", 2)
    page.click("h8")  # a stone
    page.count("#board .marks .drawn", 0)
    page.read(text)
    page.count("#board .marks .drawn", 2)
    # The wheel steps, but not while a game goes on.
    page.show("h8i9g9")
    page.raw.mouse.move(*page.point("c3"))
    for turn, ply in ((-60, 2), (-20, 2), (-40, 1), (100, 2)):  # a part of a notch is kept
        page.raw.mouse.wheel(0, turn)
        page.wait(f"app.node.ply === {ply}")
    page.begin("resume", person="both")
    page.raw.mouse.move(*page.point("c3"))
    page.raw.mouse.wheel(0, -100)
    page.play("c3")
    assert page.moves() == "h8i9c3"


def test_keys_play_speak_draw_and_step_through_moves_and_tabs(page: Page) -> None:
    keys = page.raw.keyboard
    page.raw.focus("#invitation .presets button:nth-child(3)")
    keys.press("Enter")
    page.says("about", "Renju")
    assert page.do("document.activeElement.textContent") == "Renju"  # the focus stays
    page.tab("analyse")
    page.raw.focus("#board")
    for key in ("Tab", "Shift+Tab", "ArrowRight", "ArrowRight", "ArrowUp"):
        keys.press(key)
    page.says("spoken", "i7 empty")
    assert page.do("getComputedStyle(app.board.svg).outlineStyle") == "solid"
    for key in ("Enter", "ArrowDown", "d", "ArrowRight", "d", "d", "d", "Escape"):
        keys.press(key)
    page.wait("app.node.ply === 1 && app.node.notes.drawn === 'i8j8 j8'")
    assert page.do("app.tree.root.children[0].cell") == [8, 6]
    keys.press("?")
    page.says("shortcuts", "Play the best move")
    keys.press("Escape")
    # One of the moves is reached by Tab, and arrow keys go on from it.
    page.show("h8i9g7h9")
    page.count("#variations .node", 4)
    page.count("#variations .node:not([tabindex='-1'])", 1)
    page.raw.focus("#variations [tabindex='0']")
    for key, ply in (("ArrowLeft", 3), ("ArrowLeft", 2), ("ArrowRight", 3)):
        keys.press(key)
        assert page.do("[app.node.ply, document.activeElement.textContent[0]]") == [ply, str(ply)]
    # After a click on a tab they step through the moves, after a key there through the tabs.
    page.tab("review")
    keys.press("ArrowLeft")
    assert page.do("[app.node.ply, app.tab]") == [2, "review"]
    page.raw.focus("#tab-file")
    for key in ("Enter", "ArrowLeft"):
        keys.press(key)
    assert page.do("[app.node.ply, app.tab]") == [2, "games"]
    # After a click on the board, too, also where a field had the focus.
    page.tab("file")
    page.raw.focus("#comment")
    page.play("a1")
    keys.press("ArrowLeft")
    assert page.do("[app.node.ply, app.board.cursor]") == [2, None]


# Stones that are set up ------------------------------------------------------------------


def test_a_position_is_set_up_played_and_analysed(opened: Open) -> None:
    page = opened("h8h9i8")
    page.press("new-game", "set-up")
    page.wait("app.tab === 'file' && app.tree.isEmpty && app.node.facts")
    page.tab("play")
    page.press("former")
    page.tab("file")
    for side, cells in (("white", ("i8", "h9")), ("black", ("h7", "h6", "h5")), ("wall", ("a1",))):
        page.set(puts=side)
        for cell in cells:  # i8 takes the place of black's stone, h9 goes away
            page.click(cell)
    page.wait("app.tree.start.placed.length === 6 && app.node.facts")
    assert page.do("app.node.ply") == 0 and page.stones() == 5
    assert page.raw.locator("#board .stones rect.wall").count() == 1
    assert "w=a1" in page.do("app.keep(), location.hash")
    page.says("state", "White to move")
    page.press("pass-turn")
    page.says("state", "Black to move")
    assert page.do("app.games.former.tree.nodes().length") == 4
    page.tab("analyse")
    page.wait("app.node.found?.mate > 0")
    page.reload("app.tree.start.placed.length === 6")
    page.click("a1")
    page.says("state", "taken")
    page.play("h9")
    page.says("state", "Black wins")
    page.tab("file")
    page.press("empty-board")
    page.wait("app.tree.isEmpty && app.node.facts")
    page.says("state", "Black to move")
