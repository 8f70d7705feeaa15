"""Reviews and puzzles on the board's page."""

from __future__ import annotations

import pytest

from tests.board.board_page import Open, Page

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
    for _ in range(2):  # the second one writes nothing twice
        page.press("review")
        page.wait("!app.review.running && app.review.done")
    for name in ("#board .badge", "#curve .tick", "#variations .sign"):
        page.has(name)
    page.count("#marks strong", 8)
    comments = page.do("app.tree.nodes().map((node) => node.comment)")
    assert "" in comments[1:9]  # a move that is no mistake has none
    assert all(text.count("chance ") <= 1 for text in comments)
    page.press("first")
    page.raw.keyboard.press("m")
    page.wait("app.node.review?.kind && app.node.ply > 0")
    page.says("board", "✓")  # what was better
    page.press("learn")
    page.wait("app.guide?.name === 'lesson'")
    assert not page.raw.is_visible("#mistakes")  # which say what is better
    while not page.do("app.guide.move.missed_win"):
        page.choose("Next")
    page.click("o15")
    page.says("choices", "Try again")
    page.choose("Show")
    page.has("#board g.marks g.shown")
    while page.do("app.guide?.name === 'lesson'"):
        page.raw.click("#choices button:text-is('Next'), #choices button:text-is('Done')")
    assert page.do("app.tree === app.review.tree") and page.do("app.tab") == "review"
    page.press("last")
    assert len(page.do(COMMENTS)) > 1
    page.do(ALL_GOOD)  # a later review takes back what it no longer finds
    assert page.do(COMMENTS) == ["my own words"]


def test_lists_of_a_review_keep_clicks_and_focus_and_outlive_a_reload(opened: Open) -> None:
    page = opened(MISSED)
    page.tab("review")
    page.set(review_seconds=0)
    page.press("review")
    page.wait("app.review.done")
    assert page.raw.input_value("#review-seconds") == "0.05"  # the least that there is
    # A click on a list counts while it is drawn anew.
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
    # What stays of a list keeps the focus.
    page.do(
        "for (const node of app.review.line.slice(0, -3)) node.review = null; app.review.show()"
    )
    page.has("#mistakes li")
    page.raw.locator("#mistakes .node").last.focus()
    page.do("window.kept = document.activeElement, window.words = kept.textContent")
    page.do("app.review.take(app.review.done.moves)")  # with others before it
    page.wait("document.querySelectorAll('#mistakes .node').length > 1")
    assert page.do("document.activeElement === kept && kept.textContent === words")
    # A review is still there after a reload, and so is a lesson.
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
    # On a telephone mistakes are walked through next to the board.
    page.resize(400, 800)
    page.raw.locator("#mistakes li button").first.click()
    page.wait("app.node.review?.kind && scrollY === 0")
    for _ in range(page.do("app.review.slips.length")):
        page.press("next-mistake")
    page.wait("scrollY === 0 && app.node.review?.kind")
    page.show("h8")
    page.wait("document.querySelector('#next-mistake').hidden")


def test_the_first_click_is_answered_and_a_review_waits_for_the_end(page: Page) -> None:
    page.click("h8")
    page.answered()
    assert page.moves().startswith("h8") and page.do("app.guide === app.play")
    page.says("white-player", "level 5")
    assert page.raw.locator("#board .label").count() == 0  # no help in a game
    page.tab("review")
    page.press("review")
    page.says("review-status", "No help")
    page.tab("play")
    page.resign()
    assert not page.raw.is_visible("#hint") and not page.raw.is_visible("#resign")
    page.press("review-it")
    page.has("#marks strong")


# Puzzles ------------------------------------------------------------------------------


def test_a_puzzle_is_solved_against_the_longest_defence_and_a_wrong_move_refuted(
    page: Page,
) -> None:
    page.wait("!app.server.questions.size")
    assert page.do("app.puzzle.shipped.length") == 0  # they come when they are looked at
    page.tab("puzzle")
    page.has("#puzzle-list option", 100)
    page.set(difficulty=3)
    page.do("app.puzzle.shipped = [], app.puzzle.next(), app.puzzle.onopen()")
    page.wait("app.guide?.name === 'puzzle'")  # which begins when the list has come
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
    page.reload()
    page.has("#puzzle-list option", 20)
    # A wrong move is answered with its refutation.
    page.puzzle("3")
    position, side = "{position: app.tree.position(app.node)}", "app.guide.puzzle.to_move"
    shapes = page.do(f"app.server.ask('threats', {position}).then((a) => a.shapes[{side}])")
    best = page.do("app.guide.puzzle.best[0]")
    wrong = next(one["cell"] for one in shapes if "four" in one["makes"] and one["cell"] != best)
    for x, y in (wrong, (0, 0)):
        page.play(f"{chr(97 + x)}{y + 1}")
        page.wait("app.node.ply === 2 && !app.guide.busy")
        words = page.text("puzzle-status")
        assert any(word in words for word in ("Still won", "Refuted by", "No win found"))
        assert "Still won" in words or page.raw.locator("#board g.marks g.shown").count() > 0
        page.press("take-back")
        assert page.do("app.tree.nodes().length") == 1
        page.says("puzzle-status", "wins in")


def test_puzzles_have_a_difficulty_a_streak_and_the_tree_of_their_proof(page: Page) -> None:
    page.puzzle("2")
    page.says("puzzle-status", "wins in 2 moves by fours")
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
    # A win in one move is called a five.
    page.puzzle("1")
    side = page.do("app.puzzle.puzzle.to_move").capitalize()
    page.wait(f"document.querySelector('#state').textContent === '{side} makes five'")
    # A defence is found or refuted.
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
