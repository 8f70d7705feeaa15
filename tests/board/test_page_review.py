"""Reviews and puzzles on the board's page."""

from __future__ import annotations

import time

import pytest

from tests.board.board_page import PHONE, Open, Page

pytestmark = pytest.mark.slow

MISSED = "h8c3i8d3j8e3a15f3"  # black has missed a win, and loses
COMMENTS = "app.node.path.map((node) => node.comment).filter(Boolean)"
ALL_GOOD = """(() => {
  const good = { kind: "good", loss: 0, missed_win: null, allowed_win: null, decisive: false };
  for (const node of app.review.line) Object.assign(node.review, good);
  app.review.annotate();
})()"""


def test_a_review_marks_mistakes_and_lets_one_try_again(opened: Open) -> None:
    page = opened(MISSED)
    page.raw.fill("#comment", "my own words")
    page.tab("review")
    page.set(review_seconds=0.1)
    page.press("review")
    page.says("review-status", "to look at")
    for name in ("#board .badge", "#curve .tick", "#variations .sign"):
        page.has(name)
    page.count("#marks strong", 8)
    comments = page.do("app.tree.nodes().map((node) => node.comment)")
    assert "" in comments[1:9]  # a move that is no mistake has none
    page.press("review")  # again
    page.wait("!app.review.running && app.review.done")
    again = page.do("app.tree.nodes().map((node) => node.comment)")
    assert all(text.count("chance ") <= 1 for text in again)
    page.press("first")
    page.raw.keyboard.press("m")
    seventh = "app.review.mistakes.find(({ review }) => review.missed_win).ply"
    page.wait("app.node.review?.kind && app.node.ply > 0")
    assert page.do("app.node.ply") <= page.do(seventh)
    page.says("board", "✓")  # what was better
    page.count("#board .label.best", 1)
    page.press("learn")
    page.wait("app.guide?.name === 'lesson'")
    assert not page.raw.is_visible("#mistakes")  # which say what is better
    while not page.do("app.guide.move.missed_win"):
        page.choose("Next")
    page.click("o15")
    page.says("choices", "Try again")
    page.choose("Show")
    page.has("#board g.marks g.shown")
    page.raw.click("#choices button")
    while page.do("app.guide?.name === 'lesson'"):
        page.raw.click("#choices button:text-is('Next'), #choices button:text-is('Done')")
    assert page.do("app.tree === app.review.tree") and page.do("app.tab") == "review"
    page.press("last")
    assert len(page.do(COMMENTS)) > 1
    page.do(ALL_GOOD)  # a later review takes back what it no longer finds
    assert page.do(COMMENTS) == ["my own words"]


def reviewed(opened: Open) -> Page:
    """Return a page with the quick review of a game that has mistakes."""
    page = opened(MISSED)
    page.tab("review")
    page.set(review_seconds=0.05)
    page.press("review")
    page.wait("app.review.done")
    return page


def test_a_click_on_a_list_counts_while_it_is_drawn_anew(opened: Open) -> None:
    page = reviewed(opened)
    for piece, change in (
        ("#mistakes .node", "app.review.mistakes[0].review.loss = 0.7, app.review.show()"),
        ("#variations .node", "app.node.comment = 'new', app.moves.show()"),
    ):
        page.do("app.visit(app.tree.root)")
        first = page.raw.locator(piece).first
        ply = int((first.text_content() or "").split(".")[0])
        first.hover()
        page.raw.mouse.down()
        page.do(change)
        page.raw.mouse.up()
        page.wait(f"app.node.ply === {ply}")


def test_what_stays_of_a_list_keeps_the_focus(opened: Open) -> None:
    page = reviewed(opened)
    page.do(
        "for (const node of app.review.line.slice(0, -3)) node.review = null; app.review.show()"
    )
    page.has("#mistakes li")
    last = page.raw.locator("#mistakes .node").last
    last.focus()
    name = last.text_content()
    page.do("window.kept = document.activeElement")
    page.do("app.review.take(app.review.done.moves)")  # with others before it
    page.wait("document.querySelectorAll('#mistakes .node').length > 1")
    assert page.do("document.activeElement === window.kept")
    assert page.do("window.kept.textContent") == name


def test_a_review_is_still_there_after_a_reload(opened: Open) -> None:
    page = reviewed(opened)
    names = ("marks", "mistakes", "review-status", "variations")
    shown = [page.text(name) for name in names]
    page.press("first")
    page.reload("app.review.done")
    assert [page.text(name) for name in names] == shown
    page.has("#curve .tick")
    page.press("learn")
    page.wait("app.guide?.name === 'lesson'")
    page.choose("Next")
    asked = page.text("choices")
    page.wait("JSON.parse(sessionStorage['numoku.game']).guide.at === 1")
    page.reload("app.review.done && app.guide?.name === 'lesson'")
    assert page.text("choices") == asked
    page.choose("Leave")
    assert page.text("mistakes") == shown[1] and page.do("app.guide") is None


def test_mistakes_are_walked_through_next_to_the_board_of_a_telephone(opened: Open) -> None:
    page = opened(MISSED, **PHONE)
    assert not page.raw.is_visible("#next-mistake")
    page.tab("review")
    page.set(review_seconds=0.05)
    page.press("review")
    page.has("#mistakes li")
    page.wait("!app.review.running")
    page.raw.locator("#mistakes li button").first.tap()
    page.wait("app.node.review?.kind && scrollY === 0")
    slips = page.do("app.review.slips.length")
    for _ in range(slips):
        page.press("next-mistake")
    page.wait("scrollY === 0 && app.node.review?.kind")
    page.show("h8")
    page.wait("document.querySelector('#next-mistake').hidden")


def test_the_first_click_is_answered_and_a_review_waits_for_the_end(page: Page) -> None:
    page.click("h8")
    page.answered()
    assert page.moves().startswith("h8") and page.do("app.guide === app.play")
    assert page.text("black-player").startswith("You")
    page.says("white-player", "level 5")
    page.says("level", "5 · club player")
    assert page.raw.locator("#board .label").count() == 0  # no help in a game
    page.tab("review")
    page.press("review")
    page.says("review-status", "No help")
    page.tab("play")
    for shown in (True, False):
        assert page.raw.is_visible("#hint") == page.raw.is_visible("#resign") == shown
        if shown:
            page.resign()
    page.press("review-it")
    page.has("#marks strong")


# Puzzles ------------------------------------------------------------------------------


def test_a_puzzle_is_solved_against_the_longest_defence(page: Page) -> None:
    page.tab("puzzle")
    page.wait("app.puzzle.shipped.length")
    page.set(difficulty=3)
    page.do("app.puzzle.shipped = []")
    page.press("next-puzzle")
    assert page.text("puzzle-status") == "No puzzles yet."
    page.do("app.puzzle.onopen()")  # the next one begins when the list has come
    page.wait("app.guide?.name === 'puzzle'")
    assert page.raw.locator("#board .label").count() == 0  # no help
    for _ in range(12):
        if "Solved" in page.text("puzzle-status"):
            break
        # A person who knows the answer: the first move of the proof.
        prove = "app.server.ask('prove', {position: app.tree.position(app.node)})"
        page.click(page.do(f"{prove}.then((found) => app.nameOf(found.move))"))
        page.wait("app.guide.over || app.tree.toMove(app.node) === app.guide.attacker")
        page.wait("!app.guide.busy")
    page.says("puzzle-status", "Solved!")
    assert page.raw.locator("#puzzle-list option").first.text_content().startswith("✓")


def test_puzzles_come_when_they_are_looked_at(page: Page) -> None:
    page.wait("!app.server.questions.size")
    assert page.do("app.puzzle.shipped.length") == 0
    page.tab("puzzle")
    page.has("#puzzle-list option", 100)
    page.reload()
    page.has("#puzzle-list option", 100)


def test_puzzles_have_a_difficulty_a_streak_and_the_tree_of_their_proof(page: Page) -> None:
    page.puzzle("2")
    assert page.do("app.puzzle.puzzles.every(({ own_moves: n }) => n === 2)")
    page.set(difficulty="all")
    page.do("app.puzzle.streak = 4, app.puzzle.begin(0)")
    page.wait("app.guide?.name === 'puzzle'")
    page.do("app.puzzle.won()")
    assert page.text("streak") == "5"
    page.puzzle("3")
    page.tab("analyse")
    page.press("prove")  # no help
    assert page.text("proof-status") == "" and page.do("app.guide.name") == "puzzle"
    page.tab("puzzle")
    page.press("puzzle-solution")  # that ends it
    page.has("#proof-tree ul li button")
    text = page.text("proof-tree")
    assert "then" in text and "wins in" in text
    page.has("#board circle.defence")
    page.tab("puzzle")
    page.says("streak", "0")
    page.tab("play")
    page.raw.click("#panel-play [data-does=leave]")
    page.wait("!app.away")
    assert page.text("proof-tree") == "" and not page.raw.is_visible("#puzzle-leave")


# All that is said of a proof, also what does not stay.
NOTED = """app.proof.say = function (text) {
  window.noted = `${window.noted || ""} ${text}`;
  this.status.textContent = text;
}"""


def test_a_win_in_one_move_is_called_a_five(page: Page) -> None:
    page.puzzle("1")
    side = page.do("app.puzzle.puzzle.to_move").capitalize()
    page.wait(f"document.querySelector('#state').textContent === '{side} makes five'")
    page.do(NOTED)  # the end of the proof is said soon after
    page.press("puzzle-solution")
    page.wait(f"window.noted?.includes('{side} makes five: ')")
    page.puzzle("2")
    page.says("puzzle-status", "wins in 2 moves by fours")


def test_a_defence_is_found_or_refuted(page: Page) -> None:
    page.puzzle("defend")
    page.says("puzzle-status", "stops the win")
    best = page.do("app.guide.puzzle.best.map(String)")
    free = page.do("[0, 1, 2].map((x) => [x, 0]).find((cell) => app.isFree(cell))")
    assert str(free).strip("[]").replace(" ", "") not in best
    page.do(f"app.click({free})")
    page.wait("app.guide.failed && !app.guide.busy")
    assert "Refuted" in page.text("puzzle-status") or "not stop" in page.text("puzzle-status")
    assert page.text("state") == page.text("puzzle-status")
    page.press("take-back")
    page.do("app.click(app.guide.puzzle.best[0])")
    page.says("puzzle-status", "Solved")
    page.press("puzzle-solution")
    page.says("puzzle-status", "These hold")
    page.count("#board circle.rescue", len(best))


@pytest.mark.timed
def test_a_wrong_move_in_a_puzzle_is_answered_at_once_with_its_refutation(page: Page) -> None:
    page.puzzle("3")
    threats = page.do("app.server.ask('threats', {position: app.tree.position(app.node)})")
    side = page.do("app.guide.puzzle.to_move")
    best = page.do("app.guide.puzzle.best[0]")
    wrong = [
        made["cell"] for made in threats["shapes"][side]
        if "four" in made["makes"] and made["cell"] != best
    ]  # fmt: skip
    page.do("app.guide.proof.catch(() => 0)")  # it is found while a person thinks
    for cell in [*wrong[:2], [0, 0]]:
        before = time.monotonic()
        page.play(f"{chr(97 + cell[0])}{cell[1] + 1}")
        page.wait("app.node.ply === 2 && !app.guide.busy")
        spent = time.monotonic() - before
        words = page.text("puzzle-status")
        print(f"{spent:.1f} s: {words}")
        assert spent < 6  # 1 on an idle machine
        if "Still won" not in words:
            assert "Refuted by" in words or "No win found" in words
            assert page.raw.locator("#board g.marks g.shown").count() > 0
        page.press("take-back")
        assert page.do("app.tree.nodes().length") == 1
        page.says("puzzle-status", "wins in")
