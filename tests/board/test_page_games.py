"""No game gets lost on the board's page: puzzles, other games, reloads, the list of games."""

from __future__ import annotations

import pytest

from tests.board.board_page import Open, wait
from tests.board.board_server import BoardServer

pytestmark = pytest.mark.slow

SGF = "(;GM[4]FF[4]SZ[15];B[hh]C[my comment];W[ii](;B[ji]C[main])(;B[gg];W[ff]C[side line]))"
TREE = "(({ tree, comment }) => JSON.stringify([tree, comment]))(app.tree.document(app.node))"
MISSED = "h8a1i8c1j8e1a15h1"  # black has missed a win


def test_a_new_users_hour_loses_no_stone_and_no_comment(opened: Open, server: BoardServer) -> None:
    page = opened()
    page.read(SGF)
    page.wait("app.tree.nodes().length === 6")
    loaded = page.do(TREE)
    assert "side line" in loaded

    page.puzzle()  # a puzzle, and its solution
    page.reload("app.guide?.name === 'puzzle'")  # in the middle of it
    page.press("puzzle-leave")
    assert page.do(TREE) == loaded and page.do("app.node.ply") == 3
    page.press("next-puzzle", "puzzle-solution")
    page.wait("app.node.ply === 1")
    page.tab("puzzle")
    page.press("puzzle-leave")
    assert page.do(TREE) == loaded

    page.tab("play")  # a game against Numoku, over a reload, a puzzle and another game
    page.begin(level=2, minutes=30)
    page.play("h8")
    page.answered()
    page.raw.wait_for_timeout(300)
    spent = page.do("app.play.clocks.spent(0)")
    page.reload("app.guide?.name === 'play'")
    assert page.do("[app.play.match.level, app.play.match.minutes]") == ["2", "30"]
    assert spent <= page.do("app.play.clocks.spent(0)") < spent + 30
    page.says("state", "Your move, Black")
    page.tab("puzzle")
    page.press("next-puzzle", "puzzle-leave")
    page.tab("play")
    page.play("a1")
    page.wait("app.node.ply === 4")
    game = page.moves()
    page.begin()
    assert page.stones() == 0
    page.press("former")
    assert page.moves() == game
    page.says("state", "Your move")

    page.raw.goto("about:blank")  # a link: the game and the file are in the list
    page.raw.goto(f"{server.base}/#b=15x15&r=freestyle&m={MISSED}")
    page.wait("window.app?.node.ply === 8 && app.node.facts")
    page.tab("review")
    page.set(review_seconds=0.1)
    page.press("review")
    page.says("mistakes", "missed a win")
    page.wait("app.review.done")
    assert page.do("app.tree.nodes().length") > 9  # the better lines are variations
    reviewed = page.do(TREE)
    page.raw.locator("#mistakes button.small").first.click()
    page.wait("app.guide?.name === 'puzzle'")
    assert page.do("app.puzzle.own.length") == 1
    page.press("puzzle-leave")
    assert page.do(TREE) == reviewed and page.raw.is_visible("#mistakes")

    page.tab("games")
    page.wait("document.querySelector('#game-list li').textContent.includes('8 moves')")
    shown = page.raw.locator("#game-list li").all_text_contents()
    assert "4 moves · in progress" in shown[1] and "3 moves" in shown[2]
    page.raw.locator("#game-list button.line").nth(1).click()
    page.wait("app.guide?.name === 'play'")
    assert page.moves() == game and page.do("app.play.match.minutes") == "30"
    page.raw.locator("#game-list button.line").nth(2).click()
    page.wait("app.tree.nodes().length === 6")
    assert page.do(TREE) == loaded


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


def test_games_are_found_named_and_deleted_and_what_is_looked_at_is_none(opened: Open) -> None:
    page = opened()
    page.hurry(20)
    page.begin()
    page.play("h8")
    page.answered()
    page.resign()
    page.begin(rule="renju")
    page.play("h8")
    page.answered()
    page.tab("games")
    page.has("#game-list li", 2)
    row = page.raw.locator("#game-list li:has([aria-current])")
    for key in ("Enter", "Escape"):  # the second name is not taken
        row.locator("button[title=Rename]").click()
        page.raw.keyboard.type("my first renju" + key[5:])
        page.raw.keyboard.press(key)
        page.wait("document.activeElement.matches('.line[aria-current]')")
        page.says("game-list", "my first renju")
    assert "my first renjue" not in page.text("game-list")
    page.raw.fill("#games-search", "renju first")
    page.count("#game-list li", 1)
    page.raw.fill("#games-search", "")
    row.locator("[title=Delete]").click()
    page.press("yes")
    page.wait("!document.querySelector('#game-list').textContent.includes('my first renju')")
    page.raw.wait_for_timeout(200)  # what is on the board is not kept again
    page.set(games_result="0-1")
    page.says("game-list", "White won")
    assert "my first renju" not in page.text("game-list")
    # A position that is only looked at is no game.
    page.do("location.hash = '#b=9x17&r=caro&m=a1b2c3'")
    page.wait("app.node.ply === 3 && app.node.facts")
    page.raw.wait_for_timeout(200)
    page.set(games_result="looked")
    page.says("game-list", "9×17")
    page.set(games_result="")
    page.wait("!document.querySelector('#game-list').textContent.includes('9×17')")
    page.says("game-list", "White won")
    assert "my first renju" not in page.text("game-list")  # nor kept when another took its place
