"""No game gets lost on the board's page: puzzles, other games, reloads, the list of games."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.board.board_page import Open, Page, wait
from tests.board.board_server import BoardServer

pytestmark = pytest.mark.slow

SGF = "(;GM[4]FF[4]SZ[15];B[hh]C[my comment];W[ii](;B[ji]C[main])(;B[gg];W[ff]C[side line]))"
TREE = "(({ tree, comment }) => JSON.stringify([tree, comment]))(app.tree.document(app.node))"
MISSED = "h8a1i8c1j8e1a15h1"  # black has missed a win


def test_a_new_users_hour_loses_no_stone_and_no_comment(opened: Open, server: BoardServer) -> None:
    page = opened()
    page.tab("file")
    page.raw.fill("#game-text", SGF)
    page.press("read-text")
    page.wait("app.tree.nodes().length === 6")
    loaded = page.do(TREE)
    assert "side line" in loaded

    page.tab("puzzle")  # a puzzle, and another one
    page.press("next-puzzle")
    page.wait("app.guide?.name === 'puzzle'")
    page.press("next-puzzle")
    page.raw.reload()  # in the middle of it
    page.wait("window.app?.guide?.name === 'puzzle' && app.node.facts")
    page.press("puzzle-leave")
    assert page.do(TREE) == loaded and page.do("app.node.ply") == 3
    page.press("next-puzzle")
    page.press("puzzle-solution")
    page.wait("app.node.ply === 1")
    page.tab("puzzle")
    page.press("puzzle-leave")
    assert page.do(TREE) == loaded

    page.tab("play")  # a game against Numoku, over a reload, a puzzle and another game
    page.begin(level=2, minutes=30)
    page.play("h8")
    page.wait("app.node.ply === 2 && !app.play.thinking")
    page.raw.wait_for_timeout(400)
    spent = page.do("app.play.clocks.spent(0)")
    page.raw.reload()
    page.wait("window.app?.guide?.name === 'play' && app.node.facts")
    assert page.do("[app.play.settings.level, app.play.settings.minutes]") == ["2", "30"]
    assert spent <= page.do("app.play.clocks.spent(0)") < spent + 30
    assert "Your move, Black" in page.text("state")
    page.raw.wait_for_timeout(300)
    page.wait("!app.server.questions.size && !document.querySelector('#bar-text').textContent")
    page.tab("puzzle")
    page.press("next-puzzle")
    page.press("puzzle-leave")
    page.tab("play")
    page.play("a1")
    page.wait("app.node.ply === 4")
    game = page.moves()
    page.begin()
    assert page.stones() == 0
    page.press("former")
    assert page.moves() == game and "Your move" in page.text("state")

    page.raw.goto("about:blank")  # a link: the game and the file are in the list
    page.raw.goto(f"{server.base}/#b=15x15&r=freestyle&m={MISSED}")
    page.wait("window.app?.node.ply === 8 && app.node.facts")
    page.tab("review")
    page.raw.fill("#review-seconds", "0.1")
    page.press("review")
    page.says("review-status", "to look at")
    assert "missed a win" in page.text("mistakes")
    assert page.do("document.querySelector('#curve .area').getAttribute('d')").count("L") > 8
    assert page.do("app.tree.nodes().length") > 9  # the better lines are variations
    reviewed = page.do(TREE)
    page.raw.locator("#mistakes button.small").first.click()
    page.wait("app.guide?.name === 'puzzle'")
    own = page.do("app.puzzle.own.length")
    listed = page.raw.locator("#puzzle-list option").count()
    assert own == 1 and listed == page.do("app.puzzle.shipped.length") + 1 > 100
    page.press("puzzle-leave")
    assert page.do(TREE) == reviewed and page.raw.is_visible("#mistakes")

    page.tab("games")
    page.wait("document.querySelector('#game-list li').textContent.includes('8 moves')")
    shown = page.raw.locator("#game-list li").all_text_contents()
    assert "8 moves" in shown[0] and "4 moves · goes on" in shown[1] and "3 moves" in shown[2]
    page.raw.locator("#game-list button.line").nth(1).click()
    page.wait("app.guide?.name === 'play'")
    assert page.moves() == game and page.do("app.play.settings.minutes") == "30"
    page.raw.locator("#game-list button.line").nth(2).click()
    page.wait("app.tree.nodes().length === 6")
    assert page.do(TREE) == loaded


def test_resigning_asks_first(page: Page) -> None:
    page.begin(level=1)
    page.press("resign")
    page.raw.keyboard.press("Escape")
    page.wait("!document.querySelector('dialog[open]')")
    assert page.text("play-report") == "" and "Your move" in page.text("state")
    page.resign()
    assert "Black resigned" in page.text("play-report")


def test_take_back_leaves_no_variation(page: Page) -> None:
    page.begin(level=1)
    for ply, cell in ((2, "h8"), (4, "a1")):
        page.play(cell)
        page.wait(f"app.node.ply === {ply} && !app.play.thinking")
    page.press("take-back")
    assert page.do("app.node.ply") == 2 and page.do("app.tree.nodes().length") == 3
    page.press("take-back")
    page.press("take-back")
    assert page.do("app.tree.nodes().length") == 1 and "nothing" in page.text("state")
    page.tab("puzzle")
    page.wait("app.puzzle.shipped.length")
    page.raw.select_option("#difficulty", "3")
    page.press("next-puzzle")
    page.raw.mouse.click(*page.point("a1"))
    page.wait("app.node.ply === 2 && !app.guide.busy")
    page.press("take-back")
    assert page.do("app.tree.nodes().length") == 1 and "wins in" in page.text("puzzle-status")


def test_a_tab_that_comes_back_goes_on_with_its_game(opened: Open) -> None:
    page = opened("h8i9")
    game = page.do("app.tree.id")
    page.raw.goto("about:blank")
    page.raw.go_back()
    page.wait("window.app?.node.facts")
    assert page.do("app.tree.id") == game
    with page.context.expect_page() as opened:  # has a copy of the session
        page.do("void window.open(location.href)")
    wait(opened.value, "window.app?.node.facts")
    assert opened.value.evaluate("app.node.ply") == 2
    assert opened.value.evaluate("app.tree.id") != game


def test_games_are_kept_by_the_server(browser: Any, tmp_path: Path) -> None:
    server = BoardServer(tmp_path)
    page = Open(browser, server)("h8i9j8")
    page.hurry(20)
    page.begin("resume", person="both", minutes=1, byoyomi=10, periods=3)
    page.do("app.play.clocks.used = [70, 0]")
    page.raw.fill("#comment", "over a restart")
    game = {"game": page.do("app.tree.id")}
    while "over a restart" not in str(server.post("game", game)[1]):
        page.raw.wait_for_timeout(20)
    page.close()
    assert server.stop() == ""
    server = BoardServer(tmp_path)
    page = Page(browser, server)
    page.tab("games")
    page.raw.locator("#game-list button").first.click()
    page.wait("app.node.comment === 'over a restart'")
    assert page.moves() == "h8i9j8" and page.text("black-clock") == "0:10 ×2"
    page.close()
    server.stop()


def test_the_bar_says_who_has_won(opened: Open, server: BoardServer) -> None:
    page = opened("h8a1h9b1h10c1h11e1h12")
    page.wait("document.querySelector('#bar').getAttribute('aria-label').includes('Black has won')")
    assert page.do("document.querySelector('#bar-black').style.transform") == "scaleY(1)"
    page.raw.goto("about:blank")
    page.raw.goto(f"{server.base}/#b=15x15&r=freestyle&m=g8a1h8a3i8a5")
    page.wait("window.app?.node.facts")
    page.tab("analyse")
    page.press("prove")
    page.wait("app.node.branches")
    page.play("k8" if page.do("app.isFree([9, 7])") else "o15")
    page.says("state", "Black has won")
    assert "choose" not in page.text("state")
    assert page.raw.get_attribute("#bar", "aria-label") == "Evaluation: Black has won"


def test_the_form_follows_the_board(opened: Open) -> None:
    page = opened(hash_="#b=20x18&r=renju&m=h8i9")
    page.begin(person="both")
    page.wait("app.node.ply === 0")
    assert page.text("about") == "Renju 20×18"
    page.raw.evaluate("sessionStorage.clear()")


def test_a_proof_has_the_words_of_the_terminal(opened: Open) -> None:
    from pbrain_engine.app.view import proof_lines
    from pbrain_engine.game.cells import parse_moves
    from pbrain_engine.game.game import Game
    from pbrain_engine.game.result import Tree
    from pbrain_engine.solver.solver import Solver

    moves = "g8a1h8o1j10a15j11o15"
    page = opened(moves)
    page.tab("analyse")
    page.press("prove")
    page.wait("app.node.others")
    game = Game(15)
    for move in parse_moves(moves):
        game.play(*move)
    with Solver(8_000_000) as solver:
        tree = solver.tree(game)
        assert tree is not None and page.do("app.node.cell") == list(tree.move)
        lines = proof_lines(game, solver, Tree(tree.move, {}))
    words = page.raw.locator("#proof-tree .others").text_content()
    assert words == lines[1].strip()
