"""Openings by a rule on the board's page: every step of every rule, by clicks."""

from __future__ import annotations

from itertools import product
from typing import Any

from pbrain_engine.app.saved import FILE, SavedGames
from pbrain_engine.commands.play import begun_of, is_resumable
from pbrain_engine.game.opening_rules import RULES
from tests.board.board_page import Page
from tests.board.board_server import BoardServer, until

SEEN = "app.play.opening === null || (app.play.opening.isPersons && app.play.opening.step)"
OFFERED = "[...document.querySelector('#opening').options].map(({ value, text }) => [value, text])"


def step(page: Page) -> dict[str, Any] | None:
    """Wait for the person's next step and return it, None when the opening is over."""
    page.wait(SEEN)
    found: dict[str, Any] | None = page.do("app.play.opening?.step ?? null")
    return found


def do(page: Page, what: dict[str, Any], choice: int = 0) -> None:
    """Do a step by clicks: the first allowed stones, or a button."""
    done = f"!app.play.opening || app.play.opening.step?.actions.length > {len(what['actions'])}"
    if not what["cells"]:
        page.raw.locator("#choices button").nth(choice).click()
    for number in range(what["wanted"]):
        cells = page.do("app.play.opening.step.cells")
        x, y = min(cells, key=lambda cell: abs(cell[0] - 7) + abs(cell[1] - 7))
        page.click(f"{chr(97 + x)}{y + 1}")
        page.wait(f"app.play.opening?.picked.length === {number + 1} || {done}")
    page.wait(done)


def test_every_step_of_every_rule_is_done_by_clicks(page: Page) -> None:
    assert page.do(OFFERED)[1:] == [[rule.name, rule.title] for rule in RULES.values()]
    for rule, person in product(RULES, ("black", "white")):
        page.begin(opening=rule, person=person, seconds=0.1)
        acts = []
        while (what := step(page)) is not None:
            assert page.text("state").strip(), what
            names = page.do("app.tree.names")
            assert names.pop(page.do("app.play.human")) == "You"
            assert list(names.values()) == ["Numoku level 1"]
            acts.append(what["act"])
            do(page, what, choice=len(acts) % 2)
        assert len(acts) >= (1 if rule in ("swap", "swap2") else 2), (rule, person)
        page.wait("app.tree.toMove(app.node) === +(app.play.human === 'white') && app.node.facts")
        assert page.do("app.node.ply") >= 3
        assert page.do("app.tree.start.rule") == ("renju" if RULES[rule].rule else "freestyle")


# The server's answers to steps of the opening take a while.
SLOWLY = """void (app.play.opening.ask = async function (...words) {
  await new Promise((resolve) => setTimeout(resolve, 300));
  return Object.getPrototypeOf(this).ask.apply(this, words);
})"""


def test_offers_and_steps_are_taken_back_and_twins_refused(page: Page) -> None:
    page.begin(opening="rif", person="both")
    page.play("h8", "h9", "h10")
    page.wait("app.play.opening.step?.actions.length === 3")
    page.press("take-back")
    page.wait("app.play.opening?.step?.actions.length === 2")
    assert page.stones() == 2
    page.play("h10")
    page.raw.locator("#choices button").first.click()
    page.play("h6")
    page.wait("app.play.opening.step?.act === 'offer'")
    page.says("state", "Offer 2 fifth stones")
    page.click("g8")
    page.says("state", "1 chosen")
    page.click("i8")
    page.says("state", "Symmetric")
    page.click("g8")
    page.wait("app.play.opening.picked.length === 0")
    page.do(SLOWLY)
    for cell in ("i8", "i9"):
        page.click(cell)
    page.wait("app.play.opening.step?.act === 'choose'")


def test_steps_that_are_not_answered_yet_are_taken_back_too(page: Page) -> None:
    page.begin(opening="rif", person="both")
    page.play("h8", "h9")
    page.wait("app.play.opening.step?.actions.length === 2")
    page.do(SLOWLY)
    page.click("h10")
    page.wait("app.node.ply === 3")
    page.press("take-back", "take-back")
    page.wait("app.play.opening.step?.actions.length === 1")
    assert page.stones() == 1 and page.text("state").startswith("Put stone 2")


def test_an_opening_of_two_persons_says_who_has_a_choice_and_looking_back_undoes_no_step(
    page: Page,
) -> None:
    def act(*words: str) -> None:
        before = page.do("app.play.opening?.step?.actions.length ?? 0")
        for number, word in enumerate(words, before + 1):
            page.choose(word) if " " in word or word.isdigit() else page.click(word)
            page.wait(f"app.play.opening.step?.actions.length === {number}")

    page.begin(opening="soosorv-8", person="both")
    act("h8", "h9", "i9")
    page.says("state", "White: Choose your side")
    page.has("#white-player.turn")
    act("Play White", "i10")
    page.says("state", "White: How many")
    page.has("#white-player.turn")
    act("3")
    for _ in range(2):
        page.says("state", "Black will offer 3 fifth stones. Black: Choose your side")
        page.has("#black-player.turn")
        page.reload("app.play.opening?.step")
    assert not page.raw.is_visible("#hint")
    act("Play Black")
    for number, cell in enumerate(("g8", "j9"), 1):
        page.click(cell)
        page.wait(f"app.play.opening.picked.length === {number}")
    page.click("a1")
    page.says("state", "White: Choose one of the fifth stones")
    page.press("undo")
    page.says("state", "Put stone 4 (White) anywhere")
    page.press("first")
    page.says("state", "Put stone 1 (Black) in the centre")
    page.reload("app.play.opening?.step")
    page.says("state", "Put stone 1 (Black) in the centre")
    page.press("last")
    page.says("state", "White: Choose one of the fifth stones")
    page.press("undo")
    page.play("g6")  # another fourth stone
    page.says("state", "White: How many fifth stones will Black offer?")
    page.press("undo", "redo")
    page.says("state", "White: How many fifth stones will Black offer?")
    assert page.moves() == "h8h9i9g6"
    page.raw.click("#variations [aria-label^='4. i10']")  # is none of the opening any more
    page.says("state", "Black to move · 4. i10")


def test_an_opening_is_played_by_keys_and_its_last_steps_are_taken_back(page: Page) -> None:
    keys = page.raw.keyboard
    page.begin(opening="swap", person="both")
    page.do("document.querySelector('#board').focus()")
    for number, way in enumerate(("ArrowUp", "ArrowLeft", "ArrowLeft"), 1):
        keys.press(way)
        keys.press("Enter")
        page.wait(f"app.play.opening?.step?.actions.length === {number}")
    keys.press("Tab")
    keys.press("Enter")  # the first choice, which goes away
    page.wait("!app.play.opening")
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        keys.press(key)
    page.wait("app.node.ply === 4")
    page.reload("!app.play.opening")
    page.press("take-back")
    page.says("state", "Your move, White")
    page.press("take-back")
    page.says("state", "White: Choose your side")
    page.choose("Play Black")
    page.says("state", "Your move, White")
    page.press("undo")
    page.says("state", "Put stone 3 (Black)")
    page.play("g7")
    page.says("state", "White: Choose your side")


def test_a_step_that_numoku_answers_is_taken_back_meanwhile(page: Page) -> None:
    page.begin(opening="yamaguchi", seconds=30, level=10)
    page.play("h8", "h9", "i9")
    page.says("state", "How many fifth stones")
    page.choose("4")
    page.wait("app.play.thinking")
    page.press("take-back")
    page.says("state", "How many fifth stones")
    page.wait("!app.server.questions.size")
    page.says("state", "How many fifth stones")
    assert page.do("app.play.opening.kept.actions") == "h8 h9 i9"


def test_an_opening_goes_on_after_a_reload_and_in_the_terminal(
    page: Page, server: BoardServer
) -> None:
    def kept() -> list[str]:
        """Return the actions of the last game that the server keeps."""
        shelf = SavedGames(server.folder / "numoku" / FILE)
        opening = next(
            (begun_of(game).opening for game in shelf.going_on() if is_resumable(game)), None
        )
        shelf.close()
        return opening.play.actions if opening else []

    page.begin(opening="soosorv-8", seconds=0.1)
    page.play("h8", "i9")
    until(lambda: kept() == ["h8", "i9"])
    page.reload("app.node.ply === 2 && app.play.opening?.step")
    page.says("state", "Put stone 3 (Black) in the central 5×5")
    page.play("j10")
    assert step(page) is not None
