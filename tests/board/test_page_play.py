"""Games against Numoku on the board's page: clocks, results, swap2."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.board.board_page import Open, Page
from tests.board.board_server import BoardServer

pytestmark = pytest.mark.slow

# Time goes on when a test says so, and by seven seconds for each move of Numoku.
CLOCK = """(() => {
  const ask = app.server.ask.bind(app.server);
  let now = 0;
  performance.now = () => now;
  window.pass = (seconds) => { now += 1000 * seconds; };
  app.server.ask = (what, ...more) => { if (what === "move") pass(7); return ask(what, ...more); };
})()"""


@pytest.fixture
def page(page: Page) -> Page:
    page.do("document.querySelector('#level').value = '1'")
    return page


# Clocks -------------------------------------------------------------------------------


def used(page: Page) -> list[int]:
    """Return the seconds that black and white have used, as far as they are charged."""
    return [round(seconds) for seconds in page.do("app.play.clocks.used")]


def test_each_side_is_charged_for_its_own_moves(page: Page) -> None:
    page.do(CLOCK)
    page.begin()
    page.do("pass(3)")
    page.play("h8")
    page.wait("app.node.ply === 2")
    assert used(page) == [3, 7]
    page.do("pass(2)")
    page.raw.click("#undo")
    page.raw.click("#undo")
    page.do("pass(1)")
    page.play("j10")
    page.wait("app.node.ply === 2")
    assert used(page) == [6, 14]


def test_the_first_move_of_numoku_is_charged_to_it(page: Page) -> None:
    page.do(CLOCK)
    page.begin(person="white")
    page.wait("app.node.ply === 1")
    assert used(page) == [7, 0]


def test_the_time_before_the_end_of_a_game_is_charged(page: Page) -> None:
    page.do(CLOCK)
    page.begin(minutes=10)
    page.do("pass(3)")
    page.resign()
    assert used(page) == [3, 0]
    page.do("pass(1000)")  # while the game is over
    page.begin()
    page.play("h8")
    page.wait("app.node.ply === 2")
    page.do("pass(601)")
    page.says("play-report", "White wins on time")
    page.says("black-clock", "0:00")


def test_the_clocks_begin_when_the_sides_of_swap2_are_settled(page: Page) -> None:
    page.do(CLOCK)
    page.begin(opening="swap2", person="white", seconds=0.5)
    page.wait("app.node.ply === 3 && !document.querySelector('#choices').hidden")
    page.do("pass(100)")
    page.raw.click("#choices button:text-is('Play Black')")
    page.wait("app.node.ply === 4")
    assert used(page) == [0, 7]


@pytest.mark.parametrize("side", ["black", "white"])
def test_the_person_sits_below_the_board(page: Page, side: str) -> None:
    page.begin(person=side, level=1)
    page.wait(f"document.body.dataset.bottom === '{side}'")
    top = "document.querySelector('{}').getBoundingClientRect().top"
    other = "white" if side == "black" else "black"
    places = [
        page.do(top.format(name)) for name in (f"#{other}-player", "#board", f"#{side}-player")
    ]
    assert places == sorted(places)
    assert places[-1] < page.do(top.format("#state"))


# What is kept -------------------------------------------------------------------------


def test_a_win_that_is_played_again_has_its_result(opened: Open) -> None:
    page = opened("h8a1i8c1j8e1k8g1")
    page.begin("resume", person="both")
    for _ in range(2):
        page.play("l8")
        page.wait("app.tree.names.result === '1-0'")
        page.raw.click("#undo")


def test_a_game_that_goes_on_has_no_result(page: Page) -> None:
    page.begin()
    page.play("h8")
    page.wait("app.node.ply === 2")
    page.resign()
    assert "RE[W+]" in page.do("app.file.write('sgf')")["text"]
    page.raw.click("#undo")
    page.raw.click("#undo")
    assert "RE[W+]" in page.do("app.file.write('sgf')")["text"]  # looking back changes nothing
    page.play("j10")
    assert "RE[" not in page.do("app.file.write('sgf')")["text"]


# Swap2 --------------------------------------------------------------------------------


def test_a_decision_of_swap2_that_comes_too_late_is_dropped(page: Page) -> None:
    page.begin(opening="swap2", person="white", seconds=1.5)
    page.wait("app.server.questions.size")
    page.do("window.asked = app.server.number")
    page.tab("puzzle")
    page.press("next-puzzle")
    page.wait("app.guide?.name === 'puzzle' && app.node.facts")
    page.wait("![...app.server.questions.keys()].some((id) => id <= window.asked)")
    assert page.do("app.node.ply") == 0 and not page.raw.is_visible("#choices")


def test_stepping_back_leaves_swap2(page: Page) -> None:
    page.begin(opening="swap2", person="white", seconds=0.5)
    page.wait("app.node.ply === 3 && !document.querySelector('#choices').hidden")
    page.raw.click("#undo")
    assert not page.raw.is_visible("#choices")
    assert page.text("play-report") == "The opening is left; you play White."
    free = page.do("app.nameOf([0, 1, 2].map((x) => [x, 14]).find((cell) => app.isFree(cell)))")
    page.play(free)  # in the place of Numoku's stone
    assert "Your move, White" in page.text("state")


@pytest.mark.parametrize("way", ["#undo", "#variations button"])
def test_going_elsewhere_while_numoku_chooses_is_no_dead_end(page: Page, way: str) -> None:
    page.begin(opening="swap2", seconds=1)
    for cell in ("h8", "i8", "h9"):
        page.play(cell)
    page.wait("app.play.opening?.isPersons === false")
    page.raw.locator(way).first.click()
    page.wait("!app.server.questions.size")
    page.raw.wait_for_timeout(200)
    ply = 2 if way == "#undo" else 1
    assert page.stones() == ply and not page.raw.is_visible("#choices")
    assert "choos" not in page.text("state").lower()


def test_a_stone_of_the_opening_can_be_put_elsewhere(page: Page) -> None:
    page.begin(opening="swap2", seconds=0.5)
    page.play("h8")
    page.play("i8")
    page.raw.click("#undo")
    page.says("state", "Put stone 2 (White)")
    page.play("j8")
    page.play("h9")
    page.wait("app.play.opening?.isPersons !== false")
    assert page.moves().startswith("h8j8h9")
    assert "you play" in page.text("play-report") or page.do("app.node.ply") == 5


def test_a_choice_that_fails_says_why_and_leaves_swap2(page: Page) -> None:
    page.do("""(() => {
      const ask = app.server.ask.bind(app.server);
      app.server.ask = (what, ...more) => ask(what === "opening_step" ? "fly" : what, ...more);
    })()""")
    page.begin(opening="swap2", person="white", seconds=0.5)
    page.says("play-report", "The opening is left")
    assert "there is no operation" in page.text("play-report")
    page.wait("app.node.ply === 1")  # Numoku's move, as in other games


def test_numoku_chooses_again_when_the_server_is_back(browser: Any, tmp_path: Path) -> None:
    server = BoardServer(tmp_path)
    page = Page(browser, server)
    page.begin(opening="swap2", person="white", seconds=1)
    page.wait("app.play.opening?.isPersons === false && app.server.questions.size")
    server.kill()
    page.wait("document.querySelector('#link').dataset.state === 'lost'")
    again = BoardServer(tmp_path, port=server.port)
    page.wait("app.node.ply === 3 && !document.querySelector('#choices').hidden")
    page.errors.clear()  # the tries in between
    page.close()
    again.stop()


# What is seen -------------------------------------------------------------------------


@pytest.mark.parametrize(("wide", "high"), [(1280, 720), (390, 844), (320, 640)])
def test_a_new_game_can_be_started_without_scrolling(page: Page, wide: int, high: int) -> None:
    page.raw.set_viewport_size({"width": wide, "height": high})
    page.press("new-game")
    page.do("document.querySelector('#more').open = true")
    middle = "({ left, top, width, height }) => [left + width / 2, top + height / 2]"
    at = page.do(f"({middle})(document.querySelector('#start').getBoundingClientRect())")
    assert page.do(f"document.elementFromPoint({at[0]}, {at[1]})?.id") == "start"


def test_a_click_leaves_no_frame_around_the_board(page: Page) -> None:
    page.begin(person="both")
    page.play("h8")
    shown = "getComputedStyle(document.querySelector('#board')).outlineStyle"
    assert page.do(shown) == "none"
    page.raw.keyboard.press("Tab")
    page.raw.keyboard.press("Shift+Tab")
    assert page.do(shown) == "solid"


def test_nobody_is_to_move_after_the_end(page: Page) -> None:
    page.begin(person="both")
    page.play("h8")
    page.count(".player.turn", 1)
    page.resign()
    page.count(".player.turn", 0)


def test_one_point_is_no_curve(page: Page) -> None:
    drawn = page.do("""import('./curve.js').then(({ drawChances }) => {
      const chart = document.querySelector('#curve');
      return [[[5, 1]], [[4, 0.5], [5, 1]]].map((points) => {
        drawChances(chart, 5, points, 5);
        return chart.querySelectorAll('.area').length;
      });
    })""")
    assert drawn == [0, 1]


@pytest.mark.parametrize(("wide", "high"), [(1280, 800), (800, 600), (667, 375), (390, 844)])
def test_choices_are_in_view_and_lie_over_no_words(page: Page, wide: int, high: int) -> None:
    page.raw.set_viewport_size({"width": wide, "height": high})
    page.do("app.choose([...'ABC'].map((name) => [name, () => {}]), 'What to do now? '.repeat(3))")
    places = "[...document.querySelectorAll('#choices button')].map((one) => "
    places += "one.getBoundingClientRect().bottom <= innerHeight)"
    assert page.do(places) == [True, True, True]
    assert page.do("getComputedStyle(document.querySelector('#state')).visibility") == "hidden"
    page.do("app.choose([])")
    assert page.do("getComputedStyle(document.querySelector('#state')).visibility") == "visible"


def test_a_chosen_theme_counts_more_than_that_of_the_system(opened: Open) -> None:
    page = opened(color_scheme="dark")
    papers = []
    for _ in range(4):
        papers.append(page.do("getComputedStyle(document.body).backgroundColor"))
        page.press("theme")
    dark, light, white = "rgb(23, 22, 20)", "rgb(243, 240, 233)", "rgb(255, 255, 255)"
    assert papers == [dark, light, dark, white]
