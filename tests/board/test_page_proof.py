"""Proofs on the board's page, and what other questions and a reload leave of them."""

from __future__ import annotations

from pbrain_engine.app.view import proof_lines
from pbrain_engine.game.cells import parse_moves
from pbrain_engine.game.game import Game
from pbrain_engine.game.result import Tree
from pbrain_engine.solver import Solver
from tests.board.board_page import GAME, OPEN_THREE, Again, Open, Page

FOURS = "g8a1h8o1j10a15j11o15"
PROOF = "app.guide?.name === 'proof' && document.querySelector('#proof-tree li')"


def test_a_proof_is_walked_through_to_the_five(again: Again) -> None:
    page = again(OPEN_THREE)
    page.tab("analyse")
    page.press("prove")
    page.wait("app.node.ply === 7 && document.querySelector('#proof-tree li')")
    page.says("proof-status", "wins in 2 moves by fours")
    page.play("o15")  # a move far away
    page.says("proof-status", "Five")
    assert page.raw.locator("#board .winning").count() == 5
    page.says("state", "Black wins")
    assert "choose" not in page.text("state")
    assert page.raw.get_attribute("#bar", "aria-label") == "Evaluation: Black wins"
    page.press("proof-back")
    page.wait("app.node.ply === 7")
    page.press("defend")
    page.says("proof-status", "Five")
    # It has the words of the terminal.
    page.show(FOURS)
    page.press("prove")
    page.wait("app.node.step?.answers")
    game = Game(15)
    for move in parse_moves(FOURS):
        game.play(*move)
    with Solver(8_000_000) as solver:
        tree = solver.tree(game)
        assert tree is not None and page.do("app.node.cell") == list(tree.move)
        lines = proof_lines(game, solver, Tree(tree.move, {}))
    words = page.raw.locator("#proof-tree .others").text_content()
    assert words == lines[1].strip()


def test_a_proof_goes_on_after_a_reload(opened: Open) -> None:
    page = opened(OPEN_THREE)
    page.begin("resume", person="both")
    page.tab("analyse")
    page.press("prove")
    page.wait(f"app.node.ply === 7 && {PROOF}")
    said, listed = page.text("proof-status"), page.text("proof-tree")
    page.reload(PROOF)
    assert page.text("proof-status") == said and page.text("proof-tree") == listed
    page.play("o15")
    page.says("proof-status", "Five")
    listed = page.text("proof-tree")
    page.reload(PROOF)
    assert page.text("proof-tree") == listed  # all steps of it
    page.raw.locator("#proof-tree button").first.click()
    page.says("proof-status", said)
    page.press("proof-stop")  # where the game goes on
    assert page.do("app.guide.name") == "play" and page.moves() == OPEN_THREE
    page.puzzle()
    page.press("puzzle-solution")  # which is a proof in the place of the game
    page.wait(PROOF)
    moves = page.moves()
    page.reload(PROOF)
    assert page.moves() == moves
    page.tab("puzzle")
    page.press("puzzle-leave")
    assert page.do("app.guide.name") == "play" and page.moves() == OPEN_THREE


def test_a_game_goes_on_after_a_search_for_a_win_and_before_the_end_of_others(page: Page) -> None:
    page.begin(seconds=0.2)
    page.play("h8")
    page.answered()
    page.tab("analyse")
    page.set(proof_seconds=1)
    page.press("prove")
    page.says("proof-status", "No forced win")
    page.play("a1")
    page.answered(4)
    # A search of minutes ends with another tab, another move, a review or a game.
    page.set(proof_seconds=600)
    page.press("prove")
    page.tab("play")
    page.play("c1")
    page.answered(6)
    page.tab("analyse")
    page.do("for (const name of ['prove', 'undo']) document.getElementById(name).click()")
    assert page.do("app.guide.name") == "play" and page.text("proof-status") == ""
    page.show("h8i9a1")
    page.tab("analyse")
    page.press("prove")
    page.tab("review")
    page.set(review_seconds=0.1)
    page.press("review")
    page.wait("app.review.done")
    page.show(GAME)
    page.set(review_seconds=60)
    page.press("review")
    page.says("review-status", "Looking")
    page.begin()
    page.play("h8")
    page.answered()
    assert "stopped" not in page.text("review-status")
