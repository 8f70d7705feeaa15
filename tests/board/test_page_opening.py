"""Openings by a rule on the board's page: every step of every rule, by clicks."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pbrain_engine.app.saved import FILE, SavedGames
from pbrain_engine.board.app import STATIC
from pbrain_engine.commands.opening import TalkedOpening
from pbrain_engine.commands.play import begun_of
from pbrain_engine.game.opening_rules import RULES
from tests.board.board_page import Page
from tests.board.board_server import BoardServer

# In RIF Numoku keeps the sides, puts h6, takes the fifth stone i8, and puts a1.
NUMOKU_DOES = """(() => {
  const ask = app.server.ask.bind(app.server);
  const words = { 3: "keep", 4: "h6", 6: "i8", 7: "a1" };
  app.server.ask = (what, fields, ...more) => {
    if (what !== "opening_step") return ask(what, fields, ...more);
    const done = `${fields.actions} ${words[fields.actions.split(" ").length]}`;
    return ask("opening", { ...fields, actions: done }, ...more)
      .then((step) => ({ ...step, words: [step.actions.at(-1)] }));
  };
})()"""
SEEN = "app.play.opening === null || (app.play.opening.isPersons && app.play.opening.step)"


def step(page: Page) -> dict[str, Any] | None:
    """Wait for the person's next step and return it, None when the opening is over."""
    page.wait(SEEN)
    found: dict[str, Any] | None = page.do("app.play.opening?.step ?? null")
    return found


def name(cell: list[int]) -> str:
    return f"{chr(97 + cell[0])}{cell[1] + 1}"


def do(page: Page, what: dict[str, Any], choice: int = 0) -> None:
    """Do a step by clicks: the first allowed stones, or a button."""
    done = len(what["actions"])
    if not what["cells"]:
        page.raw.locator("#choices button").nth(choice).click()
    for number in range(what["wanted"]):
        cells = page.do("app.play.opening.step.cells")
        middle = min(cells, key=lambda cell: abs(cell[0] - 7) + abs(cell[1] - 7))
        page.click(name(middle))
        picked = f"app.play.opening?.picked.length === {number + 1}"
        page.wait(f"{picked} || !app.play.opening || app.play.opening.actions.length > {done}")
    page.wait(f"!app.play.opening || app.play.opening.actions.length > {done}")


@pytest.mark.parametrize("rule", RULES)
def test_every_step_of_every_rule_is_done_by_clicks(page: Page, rule: str) -> None:
    for person in ("black", "white"):
        page.begin(opening=rule, person=person, seconds=0.1, level=1)
        acts = []
        while (what := step(page)) is not None:
            assert page.text("state").strip(), what
            acts.append(what["act"])
            do(page, what, choice=len(acts) % 2)
        assert len(acts) >= (1 if rule in ("swap", "swap2") else 2)
        page.wait("app.tree.toMove(app.node) === +(app.play.human === 'white') && app.node.facts")
        assert page.do("app.node.ply") >= 3
        assert page.do("app.tree.start.rule") == ("renju" if RULES[rule].rule else "freestyle")
    assert page.do("app.play.begun") == 2


def test_an_offer_that_is_symmetric_to_another_one_is_refused(page: Page) -> None:
    page.do(NUMOKU_DOES)
    page.begin(opening="rif", seconds=0.1)
    page.play("h8", "h9", "h10")
    page.wait("app.play.opening.step?.act === 'offer'")
    page.says("state", "Offer 2 fifth stones")
    page.click("g8")
    page.wait("app.play.opening.picked.length === 1")
    page.says("state", "1 chosen")
    page.click("i8")
    page.says("state", "Symmetric")
    assert page.raw.locator("#board .label").count() == 1
    page.click("g8")  # taken back
    page.wait("app.play.opening.picked.length === 0")
    for number, cell in enumerate(("i8", "i9")):
        page.click(cell)
        page.wait(
            f"!app.play.opening || app.play.opening.picked.length === {number + 1}"
            " || app.play.opening.actions.length > 5"
        )
    page.wait("!app.play.opening && app.node.ply >= 6")
    assert page.moves().startswith("h8h9h10h6i8a1")


def opening_of_shelf(server: BoardServer) -> TalkedOpening | None:
    """Return the opening of the last game that the server keeps."""
    shelf = SavedGames(server.folder / "numoku" / FILE)
    begun = [begun_of(kept) for kept in shelf.going_on()[:1]]
    shelf.close()
    return begun[0].opening if begun else None


def test_an_opening_goes_on_after_a_reload_and_in_the_terminal(
    page: Page, server: BoardServer
) -> None:
    page.begin(opening="soosorv-8", seconds=0.1)
    page.play("h8", "i9")
    for _ in range(200):
        kept = opening_of_shelf(server)
        if kept is not None and kept.play.actions == ["h8", "i9"]:
            break
        page.raw.wait_for_timeout(50)
    assert kept is not None and kept.play.rule.name == "soosorv-8" and kept.person == 0
    page.reload("app.node.ply === 2 && app.play.opening?.step")
    page.says("state", "Put stone 3 (Black) in the central 5×5")
    page.play("j10")
    assert step(page) is not None


def test_a_step_is_taken_back(page: Page) -> None:
    page.begin(opening="taraguchi-10", seconds=0.1)
    first = step(page)
    assert first is not None and first["reach"] == 0
    do(page, first)
    later = step(page)
    assert later is not None and len(later["actions"]) > 1
    page.press("take-back")
    page.wait("app.play.opening?.step?.actions.length === 0")
    assert page.stones() == 0
    do(page, first)
    assert step(page) is not None


def test_the_page_offers_every_rule() -> None:
    source = (STATIC / "setup.js").read_text(encoding="utf-8")
    names = re.search(r"OPENINGS = \[(.*?)\];", source)
    words = (STATIC / "words-en.js").read_text(encoding="utf-8")
    assert names is not None
    offered = {
        name: title[1]
        for name in re.findall(r'"(.*?)"', names[1])
        if (title := re.search(rf'"opening-{name}": "(.*?)"', words))
    }
    assert offered == {rule.name: rule.title for rule in RULES.values()}
