"""Games against Numoku on the board's page: clocks, results, swap2."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.board.board_page import CLOCK, Open, Page
from tests.board.board_server import BoardServer

pytestmark = pytest.mark.slow

CHOOSING = "app.node.ply === 3 && !document.querySelector('#choices').hidden"


@pytest.fixture
def page(page: Page) -> Page:
    page.do("document.querySelector('#level').value = '1'")
    return page


# Clocks -------------------------------------------------------------------------------


def used(page: Page) -> list[int]:
    """Return the seconds that black and white have used, as far as they are charged."""
    return [round(seconds) for seconds in page.do("app.play.clocks.used")]


def test_each_side_is_charged_for_its_own_moves_until_the_end(page: Page) -> None:
    page.do(CLOCK)
    page.begin(person="white")
    page.answered(1)
    assert used(page) == [7, 0]
    page.begin(person="black", minutes=10)
    page.do("pass(3)")
    page.play("h8")
    page.answered()
    assert used(page) == [3, 7]
    page.do("pass(2)")
    page.press("undo", "undo")
    page.do("pass(1)")
    page.play("j10")
    page.answered()
    assert used(page) == [6, 14]
    page.do("pass(4)")
    page.resign()
    assert used(page) == [10, 14]
    page.do("pass(1000)")  # while the game is over
    page.begin()
    page.play("h8")
    page.answered()
    page.do("pass(601)")
    page.says("play-report", "White wins on time")
    page.says("black-clock", "0:00")


def test_clocks_add_time_and_count_periods_of_byoyomi(page: Page) -> None:
    page.do(CLOCK)
    page.begin(person="both", minutes=1, increment=5)
    page.do("pass(20)")
    page.play("h8")
    page.says("black-clock", "0:45")
    page.begin(person="both", minutes=1, byoyomi=10, periods=3, increment=0)
    page.says("black-clock", "1:00 ×3")
    page.do("pass(62)")
    page.says("black-clock", "0:08 ×3")
    page.do("app.save()")
    page.reload()
    page.do(CLOCK)
    page.do("app.play.clocks.since = 0")
    page.says("black-clock", "0:08 ×3")
    page.play("h8", "i8")
    page.do("pass(25)")
    page.says("black-clock", "0:05 ×1")  # two periods are gone, as a move took all of them
    assert page.do("app.play.clocks.limit(0).clock") == {"left": 0, "increment": 0, "byoyomi": 5}
    page.play("h9", "i9")
    page.says("black-clock", "0:10 ×1")
    page.do("pass(9)")
    page.play("h10", "i10")
    page.do("pass(11)")
    page.says("play-report", "White wins on time")


# Results ------------------------------------------------------------------------------


def test_the_person_sits_below_the_board_and_nobody_is_to_move_after_the_end(page: Page) -> None:
    top = "document.querySelector('{}').getBoundingClientRect().top"
    for side, other in (("white", "black"), ("black", "white")):
        page.begin(person=side)
        page.wait(f"document.body.dataset.bottom === '{side}'")
        names = (f"#{other}-player", "#board", f"#{side}-player", "#state")
        places = [page.do(top.format(name)) for name in names]
        assert places[:3] == sorted(places[:3]) and places[2] < places[3]
    page.count(".player.turn", 1)
    page.resign()
    page.count(".player.turn", 0)


def test_a_result_belongs_to_the_end_of_a_game_and_goes_with_another_move(opened: Open) -> None:
    page = opened("h8a1i8c1j8e1k8g1")
    page.begin("resume", person="both")
    assert page.do("app.isQuiet")  # no help for two people, either
    for _ in range(2):
        page.play("l8")
        page.wait("app.tree.names.result === '1-0'")
        page.press("undo")
    page.begin(person="black", level=1)
    page.play("h8")
    page.answered()
    page.resign()
    assert "RE[W+]" in page.do("app.file.write('sgf')")["text"]
    page.press("undo", "undo")
    page.says("state", "Black to move")
    assert "RE[W+]" in page.do("app.file.write('sgf')")["text"]  # looking back changes nothing
    page.press("last")
    page.says("state", "White wins, Black resigned")
    page.press("first")
    page.play("j10")
    assert "RE[" not in page.do("app.file.write('sgf')")["text"]


def test_a_game_that_is_over_can_be_played_again_after_a_reload(page: Page) -> None:
    page.begin(person="black")
    page.play("h8")
    page.answered()
    page.resign()
    page.reload("app.node.ply === 2")
    page.press("again")
    page.wait("app.play.isOn && !app.node.ply")


def test_a_game_from_a_position_has_the_rule_and_board_that_were_chosen(opened: Open) -> None:
    page = opened("h8i9o15")
    page.begin("resume", person="both", rule="renju", width=20, height=17)
    assert page.do("app.play.isOn && app.tree.start.rule") == "renju"
    assert page.text("about").endswith("20×17") and page.moves() == "h8i9o15"
    page.press("former")
    page.wait("app.tree.start.rule === 'freestyle' && app.node.ply === 3")
    page.press("new-game")
    page.set(width=10)
    page.press("resume")
    page.says("state", "no room")
    assert page.do("app.tree.start.width") == 15 and page.do("app.guide === null")


def test_no_game_goes_on_from_a_position_that_is_over(opened: Open) -> None:
    page = opened("h8a1i8c1j8e1k8g1l8")
    page.press("new-game")
    assert not page.raw.is_visible("#resume")
    page.press("setup-cancel", "undo", "new-game")
    assert page.raw.is_visible("#resume")


def test_numoku_plays_both_sides_and_can_pause(page: Page) -> None:
    page.begin(person="none", level=1)
    page.wait("app.node.ply >= 4")
    assert page.text("black-player").startswith("Numoku")
    page.press("pause")
    page.wait("!app.play.thinking")
    ply = page.do("app.node.ply")
    page.raw.wait_for_timeout(400)
    assert page.do("app.node.ply") == ply
    page.press("pause")
    page.wait(f"app.node.ply > {ply}")
    page.press("undo")
    page.says("pause", "Go on")  # as after a reload
    ply = page.do("app.node.ply")
    page.reload("app.play.isOn")
    page.raw.wait_for_timeout(400)
    assert page.do("app.node.ply") == ply
    page.press("pause")
    page.wait(f"app.node.ply > {ply}")


def test_a_mistake_is_said_before_numoku_answers(opened: Open) -> None:
    page = opened("g8h8f7i8f9j8h10k8")
    page.begin("resume", level=1, person="black")
    page.raw.check("#careful")
    for answer, ply in (("Take back", 8), ("Play on", 10)):
        page.click("o15")  # the four is not stopped
        page.says("choices", "gives away")
        assert page.do("app.node.ply") == 9
        page.choose(answer)
        page.wait(f"app.node.ply === {ply}")


def test_numoku_thinks_in_the_time_of_the_person_where_that_is_wanted(page: Page) -> None:
    page.begin(person="black", level=1)
    for wanted, cell, ply in ((False, "a1", 2), (True, "o1", 4), (False, "o15", 6)):
        page.raw.set_checked("#ponder", wanted)
        page.click(cell)
        page.answered(ply)
        page.raw.wait_for_timeout(200)
        page.wait(f"app.server.questions.has(app.play.pondering) === {str(wanted).lower()}")
        assert page.raw.locator("#board .label").count() == 0  # it is no help
    page.raw.check("#ponder")
    page.press("undo", "redo")
    page.wait("app.server.questions.has(app.play.pondering)")
    page.resign()
    page.wait("!app.server.questions.size")


# Swap2 --------------------------------------------------------------------------------


def test_swap2_has_three_options_and_clocks_begin_when_the_sides_are_settled(page: Page) -> None:
    page.do(CLOCK)
    for option in ("Play Black", "Play White", "Put two more"):
        page.begin(opening="swap2", person="white", seconds=0.5)
        page.wait(CHOOSING)
        page.do("pass(100)")
        page.choose(option)
        if option == "Play Black":
            page.answered(4)
            assert used(page) == [0, 7]
        elif option == "Play White":
            page.says("state", "Your move, White")
        else:
            free = page.do("[...Array(15).keys()].map((x) => [x, 14]).filter((c) => app.isFree(c))")
            page.play(*(f"{chr(97 + x)}15" for x, _ in free[:2]))
            page.wait("!app.play.opening || app.play.opening.isPersons")
            assert page.do("app.node.ply") >= 5


def test_a_decision_of_swap2_that_comes_too_late_is_dropped(page: Page) -> None:
    page.begin(opening="swap2", person="white", seconds=1.5)
    page.wait("app.server.questions.size")
    page.do("window.asked = app.server.number")
    page.puzzle()
    page.wait("![...app.server.questions.keys()].some((id) => id <= window.asked)")
    assert page.do("app.node.ply") == 0 and not page.raw.is_visible("#choices")


def test_the_choices_of_swap2_stand_in_one_row(opened: Open) -> None:
    page = opened(viewport={"width": 1280, "height": 800})
    page.begin(opening="swap2", person="white", seconds=0.5)
    page.wait(CHOOSING)
    choices = page.raw.locator("#choices button").all()
    assert len({choice.evaluate("(one) => one.offsetTop") for choice in choices}) == 1
    page.do("app.play.opening.step = null, app.draw()")  # as until the server has answered
    assert page.text("state") == "Looking…"


def test_swap2_is_left_by_stepping_back_and_by_a_choice_that_fails(page: Page) -> None:
    page.begin(opening="swap2", person="white", seconds=0.5)
    page.wait(CHOOSING)
    page.press("undo")
    assert not page.raw.is_visible("#choices")
    page.says("play-report", "The opening was broken off; you play White.")
    free = page.do("app.nameOf([0, 1, 2].map((x) => [x, 14]).find((cell) => app.isFree(cell)))")
    page.play(free)  # in the place of Numoku's stone
    page.says("state", "Your move, White")
    page.do("""(() => {
      const ask = app.server.ask.bind(app.server);
      app.server.ask = (what, ...more) => ask(what === "opening_step" ? "fly" : what, ...more);
    })()""")
    page.begin()
    page.says("play-report", "The opening was broken off")
    page.says("play-report", "there is no operation")
    page.answered(1)  # as in other games


def test_going_elsewhere_while_numoku_chooses_is_no_dead_end(page: Page) -> None:
    for way, ply in (("#undo", 2), ("#variations button", 1)):
        page.begin(opening="swap2", seconds=1)
        page.play("h8", "i8", "h9")
        page.wait("app.play.opening?.isPersons === false")
        page.raw.locator(way).first.click()
        page.wait("!app.server.questions.size")
        page.raw.wait_for_timeout(200)
        assert page.stones() == ply and not page.raw.is_visible("#choices")
        assert "choos" not in page.text("state").lower()


def test_a_stone_of_the_opening_can_be_put_elsewhere(page: Page) -> None:
    page.begin(opening="swap2", seconds=0.5)
    page.says("state", "Put stone 1")
    page.play("h8", "i8")
    page.press("undo")
    page.says("state", "Put stone 2 (White)")
    page.play("j8", "h9")
    page.wait("app.play.opening?.isPersons !== false")
    assert page.moves().startswith("h8j8h9")
    assert "you play" in page.text("play-report") or page.do("app.node.ply") == 5


def test_numoku_chooses_again_when_the_server_is_back(browser: Any, tmp_path: Path) -> None:
    server = BoardServer(tmp_path)
    page = Page(browser, server)
    page.begin(opening="swap2", person="white", seconds=1)
    page.wait("app.play.opening?.isPersons === false && app.server.questions.size")
    page.lose()
    again = BoardServer(tmp_path, port=server.port)
    page.wait(CHOOSING)
    page.close()
    again.stop()


# What is seen -------------------------------------------------------------------------

IN_VIEW = """[...document.querySelectorAll('#choices button')].every(
  (one) => one.getBoundingClientRect().bottom <= innerHeight)"""
AT_START = """(({ left, top, width, height }) =>
  document.elementFromPoint(left + width / 2, top + height / 2)?.id
)(document.querySelector('#start').getBoundingClientRect())"""
BELOW = """(([board, choices]) => choices.top >= board.bottom)(
  ["#board", "#choices"].map((name) => document.querySelector(name).getBoundingClientRect()))"""
SEEN = "getComputedStyle(document.querySelector('#state')).visibility"


def test_in_every_window_decisions_are_in_view_and_lie_over_no_words(page: Page) -> None:
    for size in ((1280, 720), (800, 600), (667, 375), (390, 844), (320, 640)):
        page.resize(*size)
        page.press("new-game")
        page.do("document.querySelector('#more').open = true")
        assert page.do(AT_START) == "start", size
        page.press("setup-cancel")
        page.do("app.choose([...'ABC'].map((name) => [name, () => 0]), 'What to do? '.repeat(5))")
        page.count("#choices button", 3)
        assert page.do(IN_VIEW) and page.do(SEEN) == "hidden", size
        assert page.do(BELOW) or size[1] < 700, size  # a board of 15 rows is seen whole
        page.do("app.choose([])")
        assert page.do(SEEN) == "visible"


def test_one_point_is_no_curve(page: Page) -> None:
    drawn = page.do("""import('./moves.js').then(({ drawChances }) => {
      const chart = document.querySelector('#curve');
      return [[[5, 1]], [[4, 0.5], [5, 1]]].map((points) => {
        drawChances(chart, 5, points, 5);
        return chart.querySelectorAll('.area').length;
      });
    })""")
    assert drawn == [0, 1]


def test_a_chosen_theme_counts_more_than_that_of_the_system(opened: Open) -> None:
    page = opened(color_scheme="dark")
    papers = []
    for _ in range(4):
        papers.append(page.do("getComputedStyle(document.body).backgroundColor"))
        page.press("theme")
    dark, light, white = "rgb(23, 22, 20)", "rgb(243, 240, 233)", "rgb(255, 255, 255)"
    assert papers == [dark, light, dark, white]


def test_what_is_a_colour_alone_stays_with_the_forced_colours_of_a_system(opened: Open) -> None:
    page = opened("h8i8", forced_colors="active")
    page.tab("analyse")
    page.press("new-game")
    look = "((name) => { const style = getComputedStyle(document.querySelector(name));"
    look += " return style.backgroundColor + style.backgroundImage; })"
    names = (
        "#bar", "#bar-black", ".disc.black", ".disc.white", "#analysis-on", "#tab-analyse",
        "#variations [aria-selected=true]", "#presets [aria-pressed=true]",
        "#person label:has(:checked)",
    )  # fmt: skip
    papers = {page.do(f"{look}({name!r})") for name in ("main", "#undo", "textarea")}
    signs = [page.do(f"{look}({name!r})") for name in names]
    assert not papers.intersection(signs) and signs[0] != signs[1]
