"""What players ask of the page beyond a game: reviews, clocks, other sides, turned boards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pbrain_engine.board.app import STATIC
from pbrain_engine.pages.html import FOLDER
from tests.board.board_page import Open, Page
from tests.board.board_server import BoardServer

pytestmark = pytest.mark.slow

MOST_WEIGHT = 260_000  # bytes of the page with one language, as they lie on the disk
MISSED = "h8c3i8d3j8e3a15f3"  # black has missed a win, and loses
CLOCK = """(() => {
  let now = 0;
  performance.now = () => now;
  window.pass = (seconds) => { now += 1000 * seconds; };
})()"""


def test_the_page_is_light() -> None:
    files = [path for path in STATIC.iterdir() if not path.name.startswith("words-")]
    files += [FOLDER / "draw.js", FOLDER / "page.css"]
    tables = [path.stat().st_size for path in STATIC.glob("words-*.js")]
    assert sum(path.stat().st_size for path in files) + max(tables) < MOST_WEIGHT


def test_a_wide_board_leaves_room_for_the_tools(opened: Open) -> None:
    page = opened(hash_="#b=22x6&r=freestyle&m=h3")
    page.raw.set_viewport_size({"width": 1280, "height": 800})
    edge = "document.querySelector('.controls').getBoundingClientRect().right"
    assert page.do(edge) <= 1280 and page.do("document.documentElement.scrollWidth") <= 1280


# Review -------------------------------------------------------------------------------


def test_a_review_marks_mistakes_and_lets_one_try_again(opened: Open) -> None:
    page = opened(MISSED)
    page.tab("review")
    page.set(review_seconds=0.1)
    page.press("review")
    page.says("review-status", "to look at")
    assert page.raw.locator("#board .badge").count() >= 1
    assert page.raw.locator("#curve .tick").count() >= 1
    assert page.raw.locator("#variations .sign").count() >= 1
    assert page.raw.locator("#marks strong").count() == 8
    comments = page.do("app.tree.nodes().map((node) => node.comment)")
    assert "" in comments[1:9]  # a move that is no mistake has none
    page.press("review")  # again
    page.wait("!app.review.running && app.review.done")
    again = page.do("app.tree.nodes().map((node) => node.comment)")
    assert all(text.count("chance ") <= 1 for text in again)
    page.press("first")
    page.raw.keyboard.press("m")
    seventh = "app.review.node(app.review.mistakes.find((move) => move.missed_win)).ply"
    page.wait("app.node.review?.kind && app.node.ply > 0")
    assert page.do("app.node.ply") <= page.do(seventh)
    page.press("learn")
    page.wait("app.guide?.name === 'lesson'")
    while not page.do("app.guide.move.missed_win"):
        page.raw.click("#choices button:text-is('Next')")
    page.play_wrong("o15")
    page.says("choices", "Try again")
    page.raw.click("#choices button:text-is('Show')")
    assert page.raw.locator("#board g.marks g.shown").count() >= 1
    page.raw.click("#choices button")
    while page.do("app.guide?.name === 'lesson'"):
        page.raw.click("#choices button:text-is('Next'), #choices button:text-is('Done')")
    assert page.do("app.tree === app.review.tree") and page.do("app.tab") == "review"


def test_a_later_review_takes_back_what_it_no_longer_finds(opened: Open) -> None:
    page = opened(MISSED)
    page.raw.fill("#comment", "my own words")
    page.tab("review")
    page.set(review_seconds=0.1)
    page.press("review")
    page.wait("document.querySelector('#marks strong')")
    comments = "app.node.path.map((node) => node.comment).filter(Boolean)"
    page.wait(f"{comments}.length > 1")
    page.do("""(() => {
      const good = { kind: "good", loss: 0, missed_win: null, allowed_win: null };
      for (const move of app.review.moves) Object.assign(move, good);
      app.review.done.decisive = null;
      app.review.annotate();
    })()""")
    assert page.do(comments) == ["my own words"]


def test_a_review_waits_for_the_end_of_the_game(page: Page) -> None:
    page.begin(level=1)
    page.play("h8")
    page.wait("app.node.ply === 2 && !app.play.thinking")
    page.tab("review")
    page.press("review")
    page.says("review-status", "No help")
    page.tab("play")
    page.resign()
    page.press("review-it")
    page.wait("document.querySelector('#marks strong')")


# Games ---------------------------------------------------------------------------------


def test_clocks_add_time_and_count_byoyomi(page: Page) -> None:
    page.do(CLOCK)
    page.begin(person="both", minutes=1, increment=5)
    page.do("pass(20)")
    page.play("h8")
    page.says("black-clock", "0:45")
    page.begin(person="both", minutes=1, byoyomi=10, increment=0)
    page.do("pass(65)")
    page.says("black-clock", "0:05")
    page.play("h8")
    page.play("i8")
    page.do("pass(9)")
    page.says("black-clock", "0:01")  # ten seconds for each move from now on
    page.do("pass(2)")
    page.says("play-report", "White wins on time")


def test_a_period_of_byoyomi_is_lost_only_where_a_move_takes_all_of_it(page: Page) -> None:
    page.do(CLOCK)
    page.begin(person="both", minutes=1, byoyomi=10, periods=3, increment=0)
    page.says("black-clock", "1:00 ×3")
    page.do("pass(62)")
    page.says("black-clock", "0:08 ×3")
    page.do("app.save()")
    page.raw.reload()
    page.wait("window.app?.node.facts")
    page.do(CLOCK)
    page.do("app.play.clocks.since = 0")
    page.says("black-clock", "0:08 ×3")
    page.play("h8")
    page.play("i8")
    page.do("pass(25)")
    page.says("black-clock", "0:05 ×1")  # two periods are gone
    assert page.do("app.play.clocks.limit(0).clock") == {"left": 0, "increment": 0, "byoyomi": 5}
    page.play("h9")
    page.play("i9")
    page.says("black-clock", "0:10 ×1")
    page.do("pass(9)")
    page.play("h10")
    page.play("i10")
    page.do("pass(11)")
    page.says("play-report", "White wins on time")


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


def test_a_mistake_is_said_before_numoku_answers(opened: Open) -> None:
    page = opened("g8h8f7i8f9j8h10k8")
    page.begin("resume", level=1, person="black")
    page.raw.check("#careful")
    page.play_wrong("o15")  # the four is not stopped
    page.says("choices", "gives away")
    assert page.do("app.node.ply") == 9
    page.raw.click("#choices button:text-is('Take back')")
    page.wait("app.node.ply === 8")
    page.play_wrong("o15")
    page.says("choices", "gives away")
    page.raw.click("#choices button:text-is('Play on')")
    page.wait("app.node.ply === 10")


def test_a_click_is_no_stone_of_numoku_while_its_server_is_away(
    browser: Any, tmp_path: Path
) -> None:
    server = BoardServer(tmp_path)
    page = Open(browser, server)()
    page.begin(level=10, seconds=30)
    page.play("h8")
    page.wait("app.play.thinking")
    server.kill()
    page.wait("document.querySelector('#link').dataset.state === 'lost'")
    page.raw.mouse.click(*page.point("i8"))
    page.raw.wait_for_timeout(200)
    assert page.do("app.node.ply") == 1
    page.errors.clear()
    page.close()


def test_lines_are_numbered_on_from_the_game(opened: Open) -> None:
    page = opened("h8i9g9")
    page.tab("analyse")
    page.wait("app.node.found?.lines.length === 3")
    page.raw.hover("#lines-found li")
    page.wait("document.querySelector('#board g.marks g.shown')")
    numbers = page.raw.locator("#board g.marks g.shown text").all_text_contents()
    assert numbers[:2] == ["4", "5"][: len(numbers)]


def test_games_are_found_named_and_deleted(opened: Open) -> None:
    page = opened()
    page.begin(level=1)
    page.play("h8")
    page.wait("app.node.ply === 2 && !app.play.thinking")
    page.resign()
    page.begin(level=1, rule="renju")
    page.play("h8")
    page.wait("app.node.ply === 2 && !app.play.thinking")
    page.tab("games")
    page.wait("document.querySelectorAll('#game-list li').length >= 2")
    row = page.raw.locator("#game-list li:has([aria-current])")
    row.locator("button[title=Rename]").click()
    page.raw.locator("#game-list input").fill("my first renju")
    page.raw.keyboard.press("Enter")
    page.says("game-list", "my first renju")
    page.raw.fill("#games-search", "first renju")
    page.count("#game-list li", 1)
    page.raw.fill("#games-search", "")
    page.raw.select_option("#games-rule", "renju")
    page.raw.select_option("#games-result", "open")
    page.wait("document.querySelector('#game-list').textContent.includes('my first renju')")
    page.raw.locator("#game-list li", has_text="my first renju").locator("[title=Delete]").click()
    page.press("yes")
    page.wait("!document.querySelector('#game-list').textContent.includes('my first renju')")
    page.raw.wait_for_timeout(1300)  # what is on the board is not kept again
    page.raw.select_option("#games-rule", "")
    page.raw.select_option("#games-result", "0-1")
    page.says("game-list", "White won")
    assert "my first renju" not in page.text("game-list")


def test_a_position_that_is_looked_at_is_no_game(opened: Open) -> None:
    page = opened(hash_="#b=9x17&r=caro&m=a1b2c3")
    page.raw.wait_for_timeout(1300)
    page.tab("games")
    page.raw.select_option("#games-result", "looked")
    page.says("game-list", "9×17")
    page.raw.select_option("#games-result", "")
    page.wait("!document.querySelector('#game-list').textContent.includes('9×17')")


# The board -----------------------------------------------------------------------------


def test_positions_turn_and_shift(opened: Open) -> None:
    page = opened("a1b1")
    page.tab("file")
    turn = "#turns [data-what={}]"
    page.raw.click(turn.format("up"))
    page.says("file-status", "no room")
    page.raw.click(turn.format("right"))
    assert page.moves() == "b1c1"
    page.raw.click(turn.format("rotate"))
    assert page.moves() == "o2o3"
    page.raw.click(turn.format("mirror"))
    assert page.moves() == "a2a3" and page.stones() == 2
    page.wait("app.node.facts")


def test_a_game_is_animated(opened: Open) -> None:
    page = opened("h8i9g9")
    page.tab("file")
    page.press("first")
    with page.raw.expect_download() as saved:
        page.press("save-film")
    text = Path(saved.value.path()).read_text(encoding="utf-8")
    assert text.startswith("<svg") and text.count("<animate") == 3
    assert page.do("app.node.ply") == 0


def test_puzzles_have_a_difficulty_and_a_streak(page: Page) -> None:
    page.wait("app.puzzle.shipped.length")
    page.tab("puzzle")
    page.raw.select_option("#difficulty", "2")
    assert page.do("app.puzzle.puzzles.every(({ own_moves: n }) => n === 2)")
    page.raw.select_option("#difficulty", "all")
    page.do("app.puzzle.streak = 4, app.puzzle.begin(0)")
    page.wait("app.guide?.name === 'puzzle'")
    page.do("app.puzzle.won()")
    assert page.text("streak") == "5"
    page.press("next-puzzle")
    page.press("puzzle-solution")  # that ends it
    page.tab("puzzle")
    page.says("streak", "0")


def test_a_defence_is_found_or_refuted(page: Page) -> None:
    page.wait("app.puzzle.shipped.length")
    page.tab("puzzle")
    page.raw.select_option("#difficulty", "defend")
    page.press("next-puzzle")
    page.wait("app.guide?.name === 'puzzle' && app.node.facts")
    assert "stops the win" in page.text("puzzle-status")
    best = page.do("app.guide.puzzle.best.map(String)")
    free = page.do("[0, 1, 2].map((x) => [x, 0]).find((cell) => app.isFree(cell))")
    assert str(free).strip("[]").replace(" ", "") not in best
    page.do(f"app.click({free})")
    page.wait("app.guide.failed && !app.guide.busy")
    assert "Refuted" in page.text("puzzle-status") or "not stop" in page.text("puzzle-status")
    page.press("take-back")
    page.do("app.click(app.guide.puzzle.best[0])")
    page.says("puzzle-status", "Solved")
    page.press("puzzle-solution")
    page.says("puzzle-status", "These hold")
