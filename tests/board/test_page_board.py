"""The board's page as people use it: any window, fingers, walls, names, sounds."""

from __future__ import annotations

import pytest

from tests.board.board_page import PHONE, Again, Open, Page

pytestmark = pytest.mark.slow

BOX = "(({left, top, right, bottom}) => [left, top, right, bottom])(%s.getBoundingClientRect())"


def box(page: Page, name: str) -> list[float]:
    """Return left, top, right and bottom of a piece of the page."""
    found: list[float] = page.do(BOX % f"document.querySelector('{name}')")
    return found


def slide(page: Page, *cells: str, stay: int = 200, until: str = "true") -> None:
    """Slide a finger over cells, and stay on each; on the first one until something is true."""
    touch = page.context.new_cdp_session(page.raw)
    for number, (x, y) in enumerate([page.point(cell) for cell in cells]):
        kind = "touchMove" if number else "touchStart"
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
        page.raw.wait_for_timeout(stay)
        page.wait(until)
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


WINDOWS = [(320, 568), (400, 860), (740, 360), (800, 600), (2560, 1440), (3840, 2160), (1280, 800)]


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
        assert page.do("document.documentElement.scrollWidth") <= wide
    page.show("h3", size="22x6")  # a wide one leaves room for the tools
    edge = "document.querySelector('.controls').getBoundingClientRect().right"
    assert page.do(edge) <= 1280 and page.do("document.documentElement.scrollWidth") <= 1280


def test_a_first_touch_shows_the_cell_and_a_second_one_plays(opened: Open) -> None:
    page = opened(**PHONE)
    page.tab("analyse")
    for cell in ("j10", "k10"):  # not this one, but its neighbour
        page.raw.touchscreen.tap(*page.point(cell))
        page.wait("document.querySelector('#board .lens > g')")
        assert page.stones() == 0
    page.says("state", "k10 empty; touch again")
    left, top, right, bottom = box(page, "#board .lens > circle:last-child")
    seen = page.do("[...document.querySelectorAll('#board .lens circle.stone')].length")
    assert seen == 1 and right - left < 0.5 * (box(page, "#board")[2] - box(page, "#board")[0])
    beside = f"document.elementFromPoint({right + 4}, {(top + bottom) / 2})"  # nothing sticks out
    assert page.do(f"!{beside}.closest('.lens')")
    page.raw.touchscreen.tap(*page.point("k10"))
    page.wait("app.node.ply === 1")
    assert page.moves() == "k10" and not page.raw.locator("#board .lens > g").count()
    page.raw.touchscreen.tap(*page.point("c3"))
    middle = page.do("app.board.finger.middle")  # the cell in the lens is a large target
    at = page.do(
        f"(({{x, y}}) => [x, y])(new DOMPoint({middle[0] + 20}, {middle[1]})"
        ".matrixTransform(document.querySelector('#board').getScreenCTM()))"
    )
    page.raw.touchscreen.tap(*at)
    page.wait("app.node.ply === 2")
    assert page.moves() == "k10c3"
    slide(page, "e5", "f5", "g6")
    page.wait("app.node.ply === 3")
    assert page.moves() == "k10c3g6"


def test_sides_stand_two_by_two_on_a_telephone_and_in_a_row_elsewhere(again: Again) -> None:
    page = again()
    tops = "[...document.querySelectorAll('#person label')].map((one) => one.offsetTop)"
    page.press("new-game")
    for wide, high, rows in ((390, 844, [2, 2]), (1280, 800, [4])):
        page.resize(wide, high)
        found = page.do(tops)
        assert [found.count(top) for top in sorted(set(found))] == rows


def test_no_preset_stands_alone_in_its_row(again: Again) -> None:
    page = again()
    tops = "[...document.querySelectorAll('%s .presets button')].map((one) => one.offsetTop)"
    for wide, high in ((320, 640), (390, 844), (768, 1024), (1024, 768), (1280, 800)):
        page.resize(wide, high)
        page.press("new-game")
        for place in ("#invitation", "#setup"):
            found = page.do(tops % place)
            assert len(found) == 10
            assert all(found.count(top) > 1 for top in found), (wide, place, found)
        page.press("setup-cancel")


def test_names_and_hints_fit_a_small_telephone(opened: Open) -> None:
    size = {"width": 360, "height": 640}
    page = opened(**{**PHONE, "viewport": size, "locale": "ru"})
    cut = "[...document.querySelectorAll('%s')].filter((one) => one.scrollWidth > one.clientWidth)"
    page.raw.touchscreen.tap(*page.point("h8"))
    page.says("state", "h8")
    assert page.do(cut % "#state") == []
    page.raw.touchscreen.tap(*page.point("h8"))
    page.answered()
    assert page.do(cut % ".player b") == []
    page.press("new-game")
    ends = page.raw.locator("#setup .ends button").all()
    assert len({end.evaluate("(one) => one.offsetTop") for end in ends}) == 1


def test_the_lines_of_an_analysis_are_seen_on_a_small_telephone(opened: Open) -> None:
    page = opened("h8", **{**PHONE, "viewport": {"width": 360, "height": 640}})
    bottom, top = (
        f"document.querySelector('{name}').getBoundingClientRect()"
        for name in ("#lines-found", "#tabs")
    )
    for piece, is_seen in (("tab-analyse", True), ("analysis-on", False), ("analysis-on", True)):
        page.do(f"scrollTo(0, 0); document.querySelector('#{piece}').click()")
        assert page.do(f"{bottom}.bottom <= {top}.top") == is_seen


def test_arrow_keys_step_through_the_moves_after_a_click_on_the_board(again: Again) -> None:
    page = again()
    page.tab("file")
    page.raw.focus("#comment")
    page.play("h8", "i9")
    page.raw.keyboard.press("ArrowLeft")
    assert page.do("app.node.ply") == 1 and page.do("app.board.cursor") is None


def test_keys_are_those_of_the_page_after_a_click_on_a_tab_and_its_own_after_a_key(
    again: Again,
) -> None:
    page = again("h8i9")
    page.tab("analyse")
    page.raw.keyboard.press("ArrowLeft")
    assert page.do("[app.node.ply, app.tab]") == [1, "analyse"]
    page.raw.focus("#tab-file")
    page.raw.keyboard.press("Enter")
    page.raw.keyboard.press("ArrowLeft")
    assert page.do("[app.node.ply, app.tab]") == [1, "games"]


def test_one_of_the_moves_is_reached_by_tab_and_arrow_keys_go_on_from_it(again: Again) -> None:
    page = again("h8i9g7h9")
    page.count("#variations .node", 4)
    page.count("#variations .node:not([tabindex='-1'])", 1)
    page.raw.focus("#variations [tabindex='0']")
    for ply in (3, 2, 3):
        page.raw.keyboard.press("ArrowRight" if page.do("app.node.ply") < ply else "ArrowLeft")
        assert page.do("app.node.ply") == ply
        assert page.do("document.activeElement.textContent.split('.')[0]") == str(ply)


def test_a_hint_goes_away(page: Page) -> None:
    page.begin(level=1, seconds=30)
    page.play("h8")
    page.answered()
    page.hurry(4)
    page.press("hint")  # is looked for in less time than a move
    page.says("state", "Looking")
    page.count("#board g.marks g.shown", 1)
    page.count("#board g.marks g.shown", 0)
    page.says("state", "Your move")


def test_cells_are_blocked_and_keep_numoku_away(opened: Open) -> None:
    page = opened(hash_="#b=5x5&r=freestyle&x=e1&o=e2&m=")
    page.tab("file")
    page.set(puts="wall")
    for cell in ("c3", "c4", "c3"):  # and one is free again
        page.click(cell)
    page.wait("app.tree.start.placed.length === 3 && app.node.facts")
    assert page.raw.locator("#board .stones rect.wall").count() == 1 and "w=c4" in page.do(
        "app.keep(), location.hash"
    )
    page.begin("resume", level=1)
    page.play("c3")
    page.answered()
    page.click("c4")
    page.says("state", "taken")


def test_a_position_is_set_up_played_and_analysed(opened: Open) -> None:
    page = opened("h8h9i8")
    page.tab("file")
    page.set(puts="white")
    page.click("i8")  # in place of black's stone
    page.click("h9")  # away
    page.set(puts="black")
    page.raw.mouse.move(*page.point("c3"))  # where black's stone is shown, though white is to move
    page.count("#board .ghost .stone0", 1)
    for cell in ("h7", "h6", "h5"):
        page.click(cell)
    page.wait("app.tree.start.placed.length === 5 && app.node.facts")
    assert page.do("app.node.ply") == 0 and page.stones() == 5
    page.says("state", "White to move")
    page.press("pass-turn")
    page.says("state", "Black to move")
    page.wait("app.node.facts")
    assert page.do("app.games.former.tree.nodes().length") == 4
    page.tab("analyse")
    page.wait("app.node.found?.mate > 0")
    page.reload("app.tree.start.placed.length === 5")
    page.tab("file")
    page.set(puts="")
    page.play("h9")
    page.says("state", "Black wins")
    page.press("empty-board")
    page.wait("app.tree.isEmpty && app.node.facts")
    page.says("state", "Black to move")


def test_a_new_game_begins_from_a_position_that_is_set_up(opened: Open) -> None:
    page = opened("h8h9", **PHONE)
    for button, main in (("#new-game", "start"), ("#editor .main", "resume")):
        page.tab("file")
        page.raw.click(button)
        page.wait(f"document.querySelector('#setup[open] .ends .main').id === '{main}'")
        page.press("setup-cancel")
    page.press("new-game", "set-up")
    page.wait("app.tab === 'file' && app.tree.isEmpty && app.node.facts")
    for side, cell in (("black", "h8"), ("white", "h10"), ("white", "c3")):
        page.do(f"document.querySelector('#puts [value={side}]').click()")
        stones = page.stones()
        page.raw.touchscreen.tap(*page.point(cell))
        page.raw.touchscreen.tap(*page.point(cell))  # as the first touch only enlarges
        page.wait(f"app.tree.start.placed.length === {stones + 1}")
    page.raw.touchscreen.tap(*page.point("c3"))  # a stone goes with the first touch
    page.wait("app.tree.start.placed.length === 2")
    assert box(page, "#board")[3] < box(page, "#puts")[1] < box(page, "#tabs")[1]
    page.raw.click("#editor .main")
    assert page.raw.get_attribute("#resume", "class") == "main"
    page.set(level=1)
    page.press("resume")
    page.wait("app.guide?.name === 'play' && app.node.ply === 0 && app.node.facts")
    assert page.stones() == 2
    page.do("app.click([0, 0])")
    page.answered()
    assert page.do("app.games.former.tree.nodes().length") == 3


def test_the_enter_key_starts_a_new_game(page: Page) -> None:
    page.press("new-game")
    page.set(width=20)
    page.raw.press("#width", "Enter")
    page.wait("app.play.begun === 1")
    assert page.do("app.tree.start.width") == 20


def test_the_right_button_draws_circles_and_arrows_that_are_kept(page: Page) -> None:
    page.tab("file")
    page.play("h8")

    def draw(start: str, end: str) -> None:
        page.raw.mouse.move(*page.point(start))
        page.raw.mouse.down(button="right")
        page.raw.mouse.move(*page.point(end))
        page.raw.mouse.up(button="right")

    draw("c3", "c3")
    draw("d4", "d4")
    draw("d4", "d4")  # and away again
    draw("h8", "k10")
    page.count("#board .marks .drawn", 2)
    assert page.do("app.node.notes.drawn") == "c3 h8k10" and page.stones() == 1
    text = page.save("sgf").decode()
    assert "CR[cc]" in text and "AR[hh:kj]" in text
    page.raw.click("[data-what=rotate]")
    assert page.do("app.node.notes.drawn") == "m3 h8f11"
    page.press("undo")
    page.count("#board .marks .drawn", 0)
    page.reload("app.tree.nodes().length === 2")
    page.press("redo")
    page.count("#board .marks .drawn", 2)
    page.click("h8")  # a stone
    page.count("#board .marks .drawn", 0)
    page.read(text)
    page.count("#board .marks .drawn", 2)


def test_a_finger_that_stays_draws(opened: Open) -> None:
    page = opened("h8", **PHONE)
    page.tab("file")
    slide(page, "h8", until="app.board.from")  # a stone
    page.wait("app.node.notes.drawn === 'h8'")
    page.raw.touchscreen.tap(*page.point("c3"))  # a cell that is shown
    page.says("state", "hold: draw")
    slide(page, "c3", "d4", "f6", until="app.board.from")
    page.wait("app.node.notes.drawn === 'h8 c3f6'")
    page.count("#board .marks .drawn", 2)
    slide(page, "h8", until="app.board.from")  # and away again
    page.wait("app.node.notes.drawn === 'c3f6'")
    assert page.stones() == 1 and not page.do("app.board.from || app.board.ghost.firstChild")
    slide(page, "e5", "f5", stay=800)  # a cell that was not shown before
    page.wait("app.node.ply === 2")


def test_a_key_draws_circles_and_arrows(page: Page) -> None:
    page.tab("analyse")
    page.raw.focus("#board")
    for key in ("ArrowLeft", "d", "ArrowRight", "ArrowDown"):
        page.raw.keyboard.press(key)
    page.count("#board .ghost .drawn", 1)
    for key in ("d", "d", "d", "d", "Escape"):
        page.raw.keyboard.press(key)
    page.wait("app.node.notes.drawn === 'h8i9 i9'")
    page.count("#board .ghost .drawn", 0)
    assert page.stones() == 0
    page.press("keys")
    page.says("shortcuts", "Begin a circle or an arrow")


def test_the_wheel_steps_through_the_moves(opened: Open) -> None:
    page = opened("h8i9g9")
    page.tab("analyse")
    page.raw.mouse.move(*page.point("c3"))
    for turn, ply in ((-60, 2), (-20, 2), (-40, 1), (100, 2)):  # a part of a notch is kept
        page.raw.mouse.wheel(0, turn)
        page.wait(f"app.node.ply === {ply}")
    page.begin("resume", person="both")
    page.raw.mouse.move(*page.point("c3"))
    page.raw.mouse.wheel(0, -100)  # not while a game goes on
    page.play("c3")
    assert page.moves() == "h8i9c3"


def test_stones_make_a_sound_if_wanted(page: Page) -> None:
    page.do("""(() => {
      const Plain = AudioContext;
      window.AudioContext = class extends Plain { constructor() { super(); window.heard = 1; } };
    })()""")
    page.tab("file")
    page.play("h8")
    assert not page.do("window.heard")
    page.raw.check("#sound")
    page.play("i8")
    assert page.do("window.heard") == 1


def test_names_and_numbers_stay_readable(opened: Open) -> None:
    page = opened("a10h1a11h2a12h3a13h4a14")
    every = "Array.from(document.querySelectorAll(name), (one) => " + BOX % "one" + ")"
    page.do(f"(() => {{ window.boxes = (name) => {every}; }})()")
    stones, names = (page.do(f"boxes('#board {name}')") for name in ("circle.stone", "text.edge"))
    for left, top, right, bottom in stones:
        for far, high, near, low in names:
            assert near <= left or far >= right or low <= top or high >= bottom
    assert page.raw.locator("#board circle.winning").count() == 5  # around the numbers


SHIFTS = """(() => { window.shifts = [];
  const name = ({ node }) => node?.id || node?.className || node?.nodeName;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) shifts.push([entry.value, ...entry.sources.map(name)]);
  }).observe({ type: "layout-shift" }); })()"""


def test_nothing_moves_while_lines_come(opened: Open) -> None:
    page = opened("h8i9g9")
    page.tab("analyse")
    page.raw.click("#settings summary")
    for size, moves in (((1280, 800), "h8i9g9"), ((390, 844), "h8i9g9g7")):
        page.resize(*size)
        page.show(moves)
        page.wait("app.node.found?.lines.length === 3")
        page.raw.wait_for_timeout(700)  # what a press moves does not count
        page.do(SHIFTS)
        at = box(page, "#settings")
        begun = page.do("app.node.found.depth")
        page.wait(f"app.node.found.depth >= {max(begun + 2, 10)}")
        assert page.do("window.shifts") == [] and box(page, "#settings") == at


def test_a_click_on_a_line_counts_while_lines_come(opened: Open) -> None:
    page = opened("h8i9g9")
    page.tab("analyse")
    page.has("#lines-found li", 3)
    page.raw.hover("#lines-found li:nth-child(2) button")
    page.raw.mouse.down()
    page.do("window.depth = app.node.found.depth")
    page.wait("app.node.found.depth > window.depth")
    page.raw.mouse.up()
    page.wait("app.node.ply === 4")


def test_a_click_on_the_board_counts_while_lines_come(opened: Open) -> None:
    page = opened("h8i9g9")
    page.tab("analyse")
    page.has("#lines-found li", 3)
    page.raw.mouse.move(*page.point("a15"))
    page.raw.mouse.down()
    page.do("window.depth = app.node.found.depth")
    page.wait("app.node.found.depth > window.depth")
    page.raw.mouse.up()
    page.wait("app.node.ply === 4")
