"""The board's page in a real browser: every part of it, as a person uses it."""

from __future__ import annotations

import json
import statistics
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pbrain_engine.engine.engine import Engine
from pbrain_engine.game.cells import parse_moves
from tests.board.axe import axe, serious_findings
from tests.board.board_page import Open, Page, wait
from tests.board.board_server import BoardServer

OPEN_THREE = "h8a1i8c1j8e1"
GAME = "h8i9g9g7i8g8h7h9f7j9f9"


# Play -------------------------------------------------------------------------------


def test_a_person_plays_takes_back_and_resigns(page: Page) -> None:
    page.begin(level=1)
    page.play("h8")
    page.wait("app.node.ply === 2")
    assert page.stones() == 2 and page.moves().startswith("h8")
    assert "Your move" in page.text("state")
    page.raw.click("#undo")
    page.raw.click("#undo")
    assert page.stones() == 0
    page.play("j10")
    page.wait("app.node.ply === 2")
    page.raw.click("#undo")
    page.raw.click("#redo")
    assert page.stones() == 2
    assert page.do("app.tree.root.children.length") == 2  # what was taken back is a variation
    page.resign()
    assert "White wins, Black resigned" in page.text("play-report")


def test_a_game_ends_with_its_row_marked(opened: Open) -> None:
    page = opened(OPEN_THREE + "g8c3")
    page.play("k8")
    page.wait("document.querySelector('#board .winning')")
    assert "Black has won" in page.text("state")
    page.raw.mouse.click(*page.point("a15"))
    page.says("state", "Begin a new game")
    assert page.stones() == 9


def test_any_rule_and_board_can_be_played(page: Page) -> None:
    for rule, width, height in (("caro", 20, 9), ("standard", 5, 22)):
        page.begin(level=1, person="white", rule=rule, width=width, height=height)
        page.wait("app.node.ply === 1")
        assert page.text("about") == f"{rule.title()} {width}×{height}"


def test_renju_crosses_out_forbidden_cells_and_names_openings(opened: Open) -> None:
    page = opened("g8a1i8c1h7o15h9e1", "renju")
    assert page.raw.locator("#board .foul title").all_text_contents() == ["double three"]
    page.raw.mouse.click(*page.point("h8"))
    page.says("state", "double three")
    page.do("app.draw()")  # as an analysis does again and again
    assert "double three" in page.text("state")
    assert page.stones() == 8
    page.show("h8h9i9j10", "renju")
    page.wait("document.querySelector('#about').textContent === 'Renju 15×15 · D4 Kagetsu'")
    page.raw.click("#first")
    page.wait("document.querySelector('#about').textContent === 'Renju 15×15'")


def test_the_clock_runs_out(page: Page) -> None:
    page.begin(minutes=0.01)
    page.says("play-report", "White wins on time")
    assert "0:00" in page.text("black-clock")


def test_swap2_with_its_three_options(page: Page) -> None:
    for option in ("Play Black", "Play White", "Put two more"):
        page.begin(opening="swap2", person="white", level=1, seconds=0.5)
        page.wait("app.node.ply === 3 && !document.querySelector('#choices').hidden")
        page.raw.click(f"#choices button:text-is('{option}')")
        if option == "Play Black":
            page.wait("app.node.ply === 4")  # Numoku plays white
        elif option == "Play White":
            assert "Your move, White" in page.text("state")
        else:
            free = page.do("[...Array(15).keys()].map((x) => [x, 14]).filter((c) => app.isFree(c))")
            for x, _ in free[:2]:
                page.play(f"{chr(97 + x)}15")
            page.wait("!app.guide.stage || !document.querySelector('#choices').hidden")
            assert page.do("app.node.ply") >= 5


# Analysis ---------------------------------------------------------------------------


def test_analysis_gets_deeper_until_a_move_is_made(opened: Open) -> None:
    page = opened(GAME)
    page.tab("analyse")
    page.wait("app.node.found?.depth >= 6")
    page.count("#lines-found li", 3)  # at the end of a depth
    page.count("#board .label", 3)
    assert page.raw.locator("#board .label.best").count() == 1
    assert "%" in page.text("summary") and "/s" in page.text("summary")
    assert page.raw.get_attribute("#bar", "aria-label").startswith("Evaluation: Black")
    page.raw.hover("#lines-found li")
    page.wait("document.querySelector('#board g.marks g.shown')")
    page.raw.mouse.move(5, 5)
    page.raw.locator("#lines-found button").first.click()
    page.wait("app.node.ply === 12 && app.node.found?.depth >= 2")


ASKED = """(() => { const ask = app.server.ask; app.asked = [];
  app.server.ask = function (what, ...rest) {
    app.asked.push(what); return ask.call(this, what, ...rest); }; })()"""


def test_a_move_that_is_pointed_at_shows_its_line(opened: Open) -> None:
    page = opened(GAME)
    page.tab("analyse")
    page.raw.click("#panel-analyse summary")
    page.set(memory=64, lines=2, nodes=5000)  # so that the first line stays what it is
    page.raw.press("#nodes", "Tab")
    page.wait("document.querySelector('#summary').dataset.state === 'done'")
    page.wait("!app.server.questions.size")
    assert page.raw.locator("#lines-found li").count() == 2
    page.do(ASKED)
    best = "app.node.found.lines[0]"
    line = page.do(f"({best}.win?.line || {best}.pv).map((cell) => app.nameOf(cell))")
    page.raw.hover("#lines-found li >> nth=1")  # from where the mouse comes
    page.raw.mouse.move(*page.point(line[0]))
    page.count("#board g.marks g.shown", len(line))
    page.raw.wait_for_timeout(300)
    assert "analyse" not in page.do("app.asked")  # a search with an end is not begun again


LATENCY = """(() => {
  const summary = document.querySelector("#summary");
  const note = (event) => Object.assign(window, { clicked: event.timeStamp, shown: 0 });
  document.addEventListener("click", note, true);
  new MutationObserver(() => {
    if (!window.shown && summary.textContent.includes("positions")) requestAnimationFrame(
      () => setTimeout(() => { window.shown = performance.now(); }));
  }).observe(summary, { childList: true });
})()"""


@pytest.mark.timed
def test_analysis_is_quick_to_begin(opened: Open) -> None:
    page = opened("h8")
    page.tab("analyse")
    page.wait("app.node.found")
    page.do(LATENCY)
    times: list[float] = []
    for cell in ("i9", "g9", "g7", "i8", "g8", "h7", "h9", "f7", "j9"):
        page.raw.mouse.click(*page.point(cell))
        page.raw.wait_for_timeout(250)  # no requests meanwhile
        page.wait("window.shown && app.node.found")
        times.append(page.do("window.shown - window.clicked"))
    print(f"milliseconds from a click to its analysis: {statistics.median(times):.0f}")
    assert statistics.median(times) < 1000  # 100 on an idle machine


def test_the_policy_of_the_network_is_shown_as_dots(browser: Any, tmp_path: Path) -> None:
    server = BoardServer(tmp_path, "--weights", "network")
    page = Open(browser, server)(GAME)
    page.tab("analyse")
    page.raw.click("#panel-analyse summary")
    page.raw.check("#policy")
    page.wait("document.querySelectorAll('#board circle.policy').length > 5")
    page.wait("app.node.found.network && app.node.found.depth > 2")
    shares = page.do("app.node.found.policy.map((dot) => dot.share)")
    with Engine(hash_size=1 << 20, weights="network") as engine:
        for cell in parse_moves(GAME):
            engine.play(*cell)
        assert shares == [round(share, 4) for _, share in engine.policy()[: len(shares)]]
    assert "network" in page.text("summary")
    page.close()
    assert server.stop() == ""


def test_threats_of_both_sides_are_shown(opened: Open) -> None:
    page = opened(OPEN_THREE)
    page.tab("analyse")
    page.raw.select_option("#overlay", "both")
    page.raw.check("#winning")
    page.count("#board circle.wins", 2)
    signs = page.raw.locator("#board text.shape-black").all_text_contents()
    assert sorted(signs) == ["4", "4", "4+", "4+"]
    page.play("a15")  # now white has to answer
    page.wait("document.querySelectorAll('#board circle.rescue').length >= 2")
    assert "stopped by" in page.text("threat-note")
    page.raw.uncheck("#winning")
    page.raw.uncheck("#analysis-on")
    page.tab("analyse")
    page.set(proof_seconds=1)
    page.press("prove")
    page.says("proof-status", "stopped by")
    assert "No forced win" in page.text("proof-status")
    assert page.raw.locator("#board circle.rescue").count() >= 2


# Proofs -----------------------------------------------------------------------------


def test_a_proof_is_walked_through_to_the_five(opened: Open) -> None:
    page = opened(OPEN_THREE)
    page.tab("analyse")
    page.press("prove")
    page.wait("app.node.ply === 7 && document.querySelector('#proof-tree li')")
    assert "wins in 2 by fours" in page.text("proof-status")
    page.play("o15")  # a move far away
    page.says("proof-status", "Five")
    assert page.raw.locator("#board .winning").count() == 5
    page.press("proof-back")
    page.wait("app.node.ply === 7")
    page.press("defend")
    page.says("proof-status", "Five")


def test_the_tree_of_a_proof_says_what_every_branch_is(page: Page) -> None:
    page.wait("app.puzzle.shipped.length")
    page.tab("puzzle")
    page.raw.select_option("#difficulty", "3")
    page.press("next-puzzle")
    page.wait("app.guide?.name === 'puzzle'")
    page.press("puzzle-solution")
    page.wait("document.querySelector('#proof-tree ul li button')")
    text = page.text("proof-tree")
    assert "then" in text and "wins in" in text
    assert page.raw.locator("#board circle.defence").count() >= 1


def test_the_analysis_goes_on_after_other_questions(opened: Open, server: BoardServer) -> None:
    page = opened("h8")
    goes_on = "document.querySelector('#summary').dataset.state === 'running' && app.node.found"
    page.wait(goes_on)
    page.tab("analyse")
    page.set(proof_seconds=1)
    page.press("prove")
    page.says("proof-status", "No forced win")
    page.do("app.node.found = null")
    page.wait(goes_on)
    page.do("app.play.settings.seconds = 1, void app.play.hint()")
    page.says("state", "Numoku would play")
    page.do("app.node.found = null")
    page.wait(goes_on)
    page.tab("analyse")
    page.raw.check("#winning")
    page.says("threat-note", "No win by fours")
    page.do("app.node.found = null")
    page.wait(goes_on)
    page.raw.uncheck("#analysis-on")
    page.wait("!app.server.questions.size")
    page.do("app.node.found = null")
    page.tab("analyse")
    page.press("prove")
    page.says("proof-status", "No forced win")
    page.wait("!app.server.questions.size")
    page.raw.wait_for_timeout(200)
    assert page.do("app.node.found") is None


# Variations, files, links -------------------------------------------------------------


def test_variations_comments_and_transpositions(opened: Open) -> None:
    page = opened("h8i9j8")
    page.raw.click("#first")
    for cell in ("j8", "i9", "h8"):
        page.play(cell)
    assert page.raw.locator("#variations button").count() == 6
    assert "Also reached by" in page.text("transpositions")
    page.raw.fill("#comment", "a [nice] idea\\")
    page.tab("file")
    with page.raw.expect_download() as saved:
        page.press("save-sgf")
    text = Path(saved.value.path()).read_text(encoding="utf-8")
    assert text.count("(") == 3 and "a [nice\\] idea\\\\" in text
    page.raw.fill("#game-text", text)
    page.press("read-text")
    page.says("file-status", "6 moves")
    page.raw.locator("#variations button").nth(3).click()
    assert page.raw.input_value("#comment") == "a [nice] idea\\"
    page.press("promote")
    assert page.raw.locator("#variations button").first.text_content().startswith("1. j8")
    page.press("delete")
    assert page.raw.locator("#variations button").count() == 5


def test_games_go_out_as_psq_pictures_moves_and_links(opened: Open) -> None:
    page = opened("h8i9")
    page.tab("file")
    for name, start in (("psq", b"Piskvorky 15x15"), ("svg", b"<svg"), ("png", b"\x89PNG")):
        with page.raw.expect_download() as saved:
            page.press(f"save-{name}")
        assert Path(saved.value.path()).read_bytes().startswith(start)
    page.press("copy-moves")
    page.wait("document.querySelector('#file-status').textContent === 'Copied h8i9'")
    page.press("copy-link")
    page.says("file-status", "#b=15x15")
    link = page.text("file-status").removeprefix("Copied ")
    page.raw.goto("about:blank")
    page.raw.goto(link)
    page.wait("window.app?.node.ply === 2")


def test_rows_can_be_counted_from_the_bottom(opened: Open) -> None:
    page = opened("h1")
    page.tab("file")
    page.raw.check("#from-bottom")
    assert "h15" in page.text("state")
    page.raw.reload()
    page.says("state", "h15")
    assert page.moves() == "h1"
    page.raw.fill("#game-text", "1. h8, i9 2. j1")  # moves that are pasted and copied, too
    page.press("read-text")
    page.wait("app.node.ply === 3")
    assert page.moves() == "h8i7j15"
    page.press("copy-moves")
    page.wait("document.querySelector('#file-status').textContent === 'Copied h8i9j1'")


def test_variations_and_comments_outlive_a_reload(opened: Open, server: BoardServer) -> None:
    page = opened("h8i9j8")
    page.raw.click("#undo")
    page.play("f6")
    page.raw.fill("#comment", "a variation")
    page.raw.click("#undo")
    page.raw.reload()
    page.wait("window.app?.node.ply === 2 && app.node.facts")
    assert page.moves() == "h8i9"
    assert page.do("app.node.children.map((node) => node.comment)") == ["", "a variation"]
    page.do("location.hash = '#b=15x15&r=renju&m=h8g7'")  # another game
    page.wait("document.querySelector('#about').textContent.startsWith('Renju')")
    page.raw.click("#undo")
    page.raw.reload()
    page.wait("window.app?.node.ply === 1 && app.node.facts")
    assert page.do("app.node.end.moves") == [[7, 7], [6, 6]]
    assert page.do("app.tree.nodes().length") == 3
    page.raw.goto("about:blank")
    page.raw.goto(f"{server.base}/#b=15x15&r=freestyle&m=h8i9")  # the address comes first
    page.wait("window.app?.node.ply === 2 && app.node.facts")
    assert page.do("app.tree.nodes().length") == 3


def test_a_new_address_counts_although_the_page_writes_its_own_before_it_reads_it(
    opened: Open,
) -> None:
    page = opened(moves="h8g7")
    page.do("location.hash = '#b=15x15&r=renju&m=h8g7i9'; app.keep()")
    page.wait("app.node.ply === 3 && app.tree.start.rule === 'renju'")


def test_what_is_no_game_is_refused_with_a_reason(opened: Open) -> None:
    page = opened(hash_="#b=15x15&r=freestyle&m=h8h8")
    assert page.stones() == 0
    assert "The address is wrong at h8" in page.text("state")
    page.tab("file")
    page.raw.fill("#game-text", "(;GM[1]SZ[19];B[dd])")
    page.press("read-text")
    page.says("file-status", "another game")


# Review and puzzles -------------------------------------------------------------------


def test_the_next_puzzle_begins_when_the_list_has_come(page: Page) -> None:
    page.wait("app.puzzle.shipped.length")
    page.tab("puzzle")
    page.do("app.puzzle.shipped = []")
    page.press("next-puzzle")
    assert page.text("puzzle-status") == "There is no puzzle yet."
    page.do("app.puzzle.onserver()")
    page.wait("app.guide?.name === 'puzzle'")


def test_a_puzzle_is_solved_against_the_longest_defence(page: Page) -> None:
    page.tab("puzzle")
    page.wait("app.puzzle.shipped.length")
    page.raw.select_option("#difficulty", "3")
    page.press("next-puzzle")
    page.wait("app.guide?.name === 'puzzle'")
    assert page.raw.locator("#board .label").count() == 0  # no help
    for _ in range(12):
        if "Solved" in page.text("puzzle-status"):
            break
        # A person who knows the answer: the first move of the proof.
        page.do(
            "app.server.ask('prove', {position: app.tree.position(app.node)})"
            ".then((found) => { window.answer = app.nameOf(found.move); })"
        )
        page.wait("window.answer")
        cell = page.do("window.answer")
        page.do("window.answer = null")
        page.raw.mouse.click(*page.point(cell))
        page.wait("app.guide.over || app.tree.toMove(app.node) === app.guide.attacker")
        page.wait("!app.guide.busy")
    assert page.text("puzzle-status") == "Solved!"
    assert page.raw.locator("#puzzle-list option").first.text_content().startswith("✓")


# The page itself ------------------------------------------------------------------------


def test_the_page_reconnects_and_says_so(browser: Any, tmp_path: Path) -> None:
    server = BoardServer(tmp_path)
    page = Open(browser, server)("h8i9")
    assert not page.raw.is_visible("#tab-known")  # without a database
    server.kill()
    page.wait("document.querySelector('#link').dataset.state === 'lost'")
    assert page.raw.is_visible("#banner")
    page.errors.clear()
    again = BoardServer(tmp_path, port=server.port)
    page.wait("document.querySelector('#link').dataset.state === 'back'")
    assert "connected again" in page.text("link") and page.moves() == "h8i9"
    page.wait("app.node.found?.depth >= 2")
    page.errors.clear()  # the tries in between
    page.close()
    again.stop()


def test_a_wrong_token_is_said_and_can_be_mended(browser: Any, server: BoardServer) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{server.base}/?token=wrong")
    wait(page, "document.querySelector('#link').dataset.state === 'refused'")
    assert "token" in str(page.text_content("#banner"))
    colours = page.evaluate(
        "(({ color, backgroundColor }) => [color, backgroundColor])"
        "(getComputedStyle(document.querySelector('#banner button')))"
    )
    assert colours[0] != colours[1]
    page.fill("#banner input", server.address)
    page.click("#banner button")
    wait(page, "document.querySelector('#link')?.dataset.state === 'open'")
    context.close()


def test_the_board_is_played_with_keys_and_spoken(page: Page) -> None:
    page.tab("analyse")
    page.raw.focus("#board")
    for key in ("ArrowRight", "ArrowRight", "ArrowUp"):
        page.raw.keyboard.press(key)
    assert page.text("spoken") == "i7 empty"
    page.raw.keyboard.press("Enter")
    page.wait("app.node.ply === 1")
    assert page.text("spoken") == "Black i7"
    page.raw.keyboard.press("Escape")
    page.raw.focus("#first")
    page.raw.keyboard.press("ArrowLeft")
    page.wait("app.node.ply === 0")


def test_every_tab_fits_a_telephone(opened: Open) -> None:
    phone = {"viewport": {"width": 400, "height": 800}, "has_touch": True, "is_mobile": True}
    page = opened(**phone)
    for name in ("play", "analyse", "review", "puzzle", "games", "file"):
        page.tab(name)
        assert page.do("document.documentElement.scrollWidth") <= 400, name


def test_a_report_links_its_games_to_the_board(
    browser: Any, server: BoardServer, tmp_path: Path
) -> None:
    from pbrain_engine.arena.report import html_page
    from pbrain_engine.arena.standings import Standings
    from tests.golden.matches import DUEL, games_of

    report = tmp_path / "match.html"
    games = games_of(replace(DUEL, openings="none"))
    report.write_text(html_page(Standings(DUEL, games), games), encoding="utf-8")
    context = browser.new_context()
    page = context.new_page()
    page.goto(report.as_uri())
    page.click("#first")
    page.click("#next")
    link = page.get_attribute("#analyse", "href")
    assert link == "http://127.0.0.1:8421/#b=15x15&r=freestyle&m=o15a7k1a2f2k2a3&n=1"
    page.fill("#board-address", server.address)  # at another port, with its token
    wait(page, f"localStorage.getItem('numoku.board') === {json.dumps(server.address)}")
    page.wait_for_timeout(300)  # a browser writes it down a little later
    page.reload()
    assert page.input_value("#board-address") == server.address
    page.click("#first")
    page.click("#next")
    with context.expect_page() as opened:
        page.click("#analyse")
    there = opened.value
    wait(there, "window.app?.node.ply === 1 && app.server.about")
    assert there.url.startswith(server.base)
    assert there.evaluate("app.node.moves") == [[14, 14]]
    context.close()


def test_axe_finds_nothing_serious(opened: Open) -> None:
    source = axe()
    page = opened(hash_=f"#b=15x15&r=renju&m={GAME}")
    page.do(source + ";0")  # as the page's own policy forbids other scripts
    for name in ("play", "analyse", "review", "puzzle", "games", "file"):
        page.tab(name)
        for scheme in ("light", "dark"):
            page.raw.emulate_media(color_scheme=scheme)
            assert not serious_findings(page), (name, scheme)
    page.begin(level=1, minutes=5)
    page.play("h8")
    page.wait("app.node.ply === 2 && !app.play.thinking")
    page.press("new-game")
    for theme in ("light", "dark", "contrast"):
        page.do(f"document.documentElement.dataset.theme = '{theme}'")
        assert not serious_findings(page), (theme, "dialog")
    page.press("setup-cancel")
    for theme in ("light", "dark", "contrast"):
        page.do(f"document.documentElement.dataset.theme = '{theme}'")
        assert not serious_findings(page), theme
