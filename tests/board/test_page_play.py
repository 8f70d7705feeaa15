"""Games on the board's page: turns, clocks, results, swap2, colours."""

from __future__ import annotations

import pytest

from tests.board.board_page import CHOOSING, CLOCK, Open, Page

pytestmark = pytest.mark.slow


# Turns --------------------------------------------------------------------------------


def test_a_person_plays_takes_back_resigns_and_plays_again(page: Page) -> None:
    page.hurry(4)
    page.press("new-game")
    page.set(width=20)
    page.raw.press("#width", "Enter")
    page.wait("app.play.begun === 1")
    assert page.do("app.tree.start.width") == 20
    # What is played after steps back is a variation, what is taken back leaves none.
    page.begin(width=15, seconds=0.3)
    page.play("h8")
    page.answered()
    assert page.stones() == 2 and page.moves().startswith("h8")
    page.press("undo", "undo")
    page.play("j10")
    page.answered()
    page.press("undo", "redo")
    assert page.stones() == 2 and page.do("app.tree.root.children.length") == 2
    page.play("a1")
    page.answered(4)
    page.press("take-back")
    assert page.do("[app.node.ply, app.tree.nodes().length]") == [2, 5]
    page.press("take-back", "take-back")
    assert page.do("app.tree.nodes().length") == 3  # with the game before
    page.says("state", "nothing")
    # A hint goes away.
    page.play("h8")
    page.answered()
    page.press("hint")
    page.count("#board g.marks g.shown", 1)
    page.count("#board g.marks g.shown", 0)
    page.says("state", "Your move")
    # Resigning asks first; what is over can be taken back, or played again, also after a reload.
    page.press("resign")
    page.raw.keyboard.press("Escape")
    page.wait("!document.querySelector('dialog[open]')")
    assert page.text("play-report") == ""
    page.resign()
    page.says("play-report", "White wins, Black resigned")
    page.raw.keyboard.press("t")
    page.wait("app.node.ply === 0 && app.play.isOn")
    page.play("h8")
    page.answered()
    page.resign()
    page.reload("app.node.ply === 2")
    page.press("again")
    page.wait("app.node.ply === 0 && app.play.isOn && app.tree.match.level === '1'")


def test_a_game_goes_on_from_a_position_that_is_not_over(opened: Open) -> None:
    page = opened("h8i9g9")
    page.press("from-here")
    page.set(level=1)
    page.press("resume")
    page.answered(4)
    # With the rule and the board that were chosen, if they have room for it.
    page.show("h8i9o15")
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
    page.show("h8a1i8c1j8e1k8g1l8")  # black has won
    page.press("new-game")
    assert not page.raw.is_visible("#resume")
    page.press("setup-cancel", "undo", "new-game")
    assert page.raw.is_visible("#resume")


def test_any_rule_board_and_side_can_be_played(page: Page) -> None:
    for rule, width, height in (("caro", 20, 9), ("standard", 5, 22)):
        page.begin(person="white", rule=rule, width=width, height=height)
        page.answered(1)
        page.says("about", f"{rule.title()} {width}×{height}")
    page.show("h8i9", "renju", size="20x18")
    page.press("new-game")  # whose form follows the board
    form = "Object.fromEntries(new FormData(document.querySelector('#setup-form')))"
    assert page.do(form) | {"rule": "renju", "width": "20", "height": "18"} == page.do(form)
    page.set(rule="freestyle", opening="rif")  # which brings its board
    assert page.do(form) | {"rule": "renju", "width": "15", "height": "15"} == page.do(form)
    page.set(width=40)
    page.raw.press("#width", "Tab")
    assert page.do(form) | {"opening": "none", "width": "22"} == page.do(form)  # at most
    page.press("setup-cancel")
    # The person sits below the board, and nobody is to move after the end.
    top = "document.querySelector('{}').getBoundingClientRect().top"
    for side, other in (("white", "black"), ("black", "white")):
        page.begin(person=side, width=15)
        page.wait(f"document.body.dataset.bottom === '{side}'")
        names = (f"#{other}-player", "#board", f"#{side}-player", "#state")
        places = [page.do(top.format(name)) for name in names]
        assert places == sorted(places)
    page.count(".player.turn", 1)
    page.resign()
    page.count(".player.turn", 0)


def test_numoku_plays_both_sides_and_can_pause(page: Page) -> None:
    def rests() -> bool:
        ply = page.do("app.node.ply")
        page.raw.wait_for_timeout(300)
        return bool(page.do("app.node.ply") == ply)

    page.begin(opening="swap", person="none", seconds=0.5)
    page.wait("app.play.thinking")
    page.press("pause")
    page.wait("!app.server.questions.size")
    page.says("state", "Numoku to move")
    page.press("pause")
    page.wait("!app.play.opening && app.node.ply >= 4")
    assert page.text("black-player").startswith("Numoku")
    page.press("pause")
    page.wait("!app.play.thinking")
    assert rests()
    page.press("pause")
    page.wait(f"app.node.ply > {page.do('app.node.ply')}")
    page.press("undo")
    page.says("pause", "Go on")  # as after a reload
    page.reload("app.play.isOn")
    assert rests()


def test_a_mistake_is_said_before_numoku_answers(opened: Open) -> None:
    page = opened("g8h8f7i8f9j8h10k8")
    page.begin("resume", person="black")
    page.raw.check("#careful")
    for answer, ply in (("Take back", 8), ("Play on", 10)):
        page.click("o15")  # the four is not stopped
        page.says("choices", "gives away")
        assert page.do("app.node.ply") == 9
        page.choose(answer)
        page.wait(f"app.node.ply === {ply}")


def test_numoku_thinks_in_the_time_of_the_person_where_that_is_wanted(page: Page) -> None:
    page.begin(person="black")
    ponders = "app.server.questions.has(app.play.pondering)"
    page.play("a1")
    page.answered()
    assert not page.do(ponders)
    page.raw.check("#ponder")
    page.press("undo", "redo")
    page.wait(ponders)
    assert page.raw.locator("#board .label").count() == 0  # it is no help
    page.play("o1")
    page.answered(4)
    page.wait(ponders)
    page.resign()
    page.wait("!app.server.questions.size")


# Clocks and results -------------------------------------------------------------------


def used(page: Page) -> list[int]:
    """Return the seconds that black and white have used, as far as they are charged."""
    return [round(seconds) for seconds in page.do("app.play.clocks.used")]


def test_each_side_is_charged_for_its_own_moves_and_what_is_added_counts(page: Page) -> None:
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
    # Time that is added, and periods of byoyomi.
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


def test_a_result_belongs_to_the_end_of_a_game_and_goes_with_another_move(page: Page) -> None:
    page.begin(person="black")
    page.play("h8")
    page.answered()
    page.resign()
    written = "app.file.write('sgf').then(({ text }) => text.includes('RE[W+]'))"
    assert page.do(written)
    page.press("undo", "undo")
    page.says("state", "Black to move")
    assert page.do(written)  # looking back changes nothing
    page.press("last")
    page.says("state", "White wins, Black resigned")
    page.press("first")
    page.play("j10")
    assert not page.do(written)


# Swap2 --------------------------------------------------------------------------------


def test_swap2_has_three_options_and_clocks_begin_when_the_sides_are_settled(page: Page) -> None:
    page.resize(1280, 800)
    page.do(CLOCK)
    for option in ("Play Black", "Play White", "Put two more"):
        page.begin(opening="swap2", person="white", seconds=0.2)
        page.wait(CHOOSING)
        tops = page.do("[...document.querySelectorAll('#choices button')].map((b) => b.offsetTop)")
        assert len({*tops}) == 1  # in one row
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


SLOW = """(() => {
  const ask = app.server.ask.bind(app.server);
  app.server.ask = async (what, ...more) => {
    if (what === "opening") await new Promise((go) => setTimeout(go, 500));
    return ask(what, ...more);
  };
})()"""


def test_swap2_waits_for_its_steps_and_is_left_by_another_move_and_a_choice_that_fails(
    page: Page,
) -> None:
    page.do(SLOW)
    page.begin(opening="swap2", person="black", seconds=0.2)
    page.play("h8", "i8", "h9")  # before each step is known
    assert page.moves() == "h8i8h9"
    page.do("delete app.server.ask")
    # While the person chooses.
    page.begin(opening="swap2", person="white", seconds=0.2)
    page.wait(CHOOSING)
    page.press("undo")
    assert not page.raw.is_visible("#choices")
    page.says("state", "Numoku to move")
    page.play(page.do("[14, 15].map((row) => `a${row}`)[+!app.isFree([0, 13])]"))
    page.says("play-report", "The opening was broken off; you play White.")
    # While Numoku chooses, by the moves or by a puzzle: its decision comes too late.
    page.begin(person="black", seconds=1)
    page.play("h8", "i8", "h9")
    page.wait("app.play.opening?.isPersons === false")
    page.press("undo")
    page.wait("!app.server.questions.size")
    assert page.stones() == 2 and not page.raw.is_visible("#choices")
    assert "choos" not in page.text("state").lower()
    page.begin(person="white")
    page.wait("app.server.questions.size")
    page.do("window.asked = app.server.number")
    page.puzzle()
    page.wait("![...app.server.questions.keys()].some((id) => id <= window.asked)")
    assert page.do("app.node.ply") == 0 and not page.raw.is_visible("#choices")
    # Where its choice fails.
    page.do("""(() => {
      const ask = app.server.ask.bind(app.server);
      app.server.ask = (what, ...more) => ask(what === "opening_step" ? "fly" : what, ...more);
    })()""")
    page.begin()
    page.says("play-report", "The opening was broken off")
    page.says("play-report", "there is no operation")
    page.answered(1)  # as in other games


# What a system wants ------------------------------------------------------------------


def test_the_page_follows_forced_colours_a_chosen_theme_and_reduced_motion(opened: Open) -> None:
    page = opened("h8i8", color_scheme="dark", reduced_motion="reduce")
    page.raw.emulate_media(forced_colors="active")
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
    page.press("setup-cancel")
    page.raw.emulate_media(forced_colors="none")
    themes = []
    for _ in range(4):
        themes.append(page.do("getComputedStyle(document.body).backgroundColor"))
        page.press("theme")
    assert themes[0] == themes[2] and len({*themes}) == 3  # dark, light, dark, contrast
    page.begin(person="black", seconds=30, level=10)
    page.play("h8")
    page.has(".player.thinking")
    assert page.do("document.getAnimations().length") == 0
