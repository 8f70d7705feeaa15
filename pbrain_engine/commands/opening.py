"""An opening by a rule between a person and the engine, as a part of the dialogue of a game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from random import Random
from time import perf_counter
from typing import Any

from ..app import thinking
from ..engine.engine import Engine
from ..engine.opening_choices import decide
from ..engine.swap2 import share_time
from ..game.cells import NotationError, cell_name
from ..game.opening_rules import RULES, Act, OpeningPlay
from ..game.record import GameRecord
from ..position.geometry import Coordinates
from ..position.rules import Rule, Side

ENGINE = "Numoku"
TYPED = {
    Act.PUT: "a cell",
    Act.SWAP: "`swap` or `keep`",
    Act.COUNT: "a number",
    Act.OFFER: "cells, as in g7+h9",
    Act.CHOOSE: "one of these cells",
    Act.BRANCH: "one of these words",
}  # of a person


class TalkedOpening:
    """An opening, and which of its two players is the person; the other one is the engine."""

    def __init__(self, play: OpeningPlay, person: int) -> None:
        """Go on with an opening as it is; ``person`` is 0 for the first player."""
        self.play, self.person = play, person
        self._asked = -1  # actions done when the person was last told what to do

    @property
    def goes_on(self) -> bool:
        """Whether a step is to be done."""
        return self.play.step is not None

    @property
    def side(self) -> Side:
        """The colour that the person has at the moment."""
        return self.play.colour_of(self.person)

    @property
    def prompt(self) -> str:
        """What the person is to type."""
        step = self.play.step
        assert step is not None, "the opening is over"
        return f"you, {self.side.name.lower()}: {TYPED[step.act]}"

    def greet(self) -> str:
        """Say which rule it is."""
        rule = self.play.rule
        number = ("first", "second")[self.person]
        return f"{rule.title}: {rule.summary}\nyou are the {number} player; `quit` leaves"

    def ask(self) -> str:
        """Say what is to be done, or nothing if that has been said."""
        if self._asked == len(self.play.actions):
            return ""
        self._asked = len(self.play.actions)
        return self.play.ask()

    def answer(self, words: Sequence[str]) -> None:
        """Do the steps of the person, and none of the engine's.

        Raises:
            NotationError: a word is none of them.
        """
        for word in words:
            if not self.goes_on or self.play.player != self.person:
                raise NotationError(f"{word}: it is not your turn any more")
            self.play.play(word)

    def engine_steps(self, engine: Engine, seconds: float, chance: Random) -> list[str]:
        """Do the steps of the engine; return what it did. An interrupt ends the search that runs.

        Its board has other stones afterwards.
        """
        said = []
        while self.goes_on and self.play.player != self.person:
            searcher = share_time(engine, perf_counter() + seconds)
            find = partial(decide, searcher, self.play, chance)
            words = thinking.in_thread(find, engine.stop, ends=False)
            for word in words.split():
                said.append(f"{self.play.ask()} {ENGINE}: {word}")
                self.play.play(word)
        return said

    def take_back(self) -> bool:
        """Take back what the person did last, and what followed; return whether there was any."""
        before = self.play.taken_back(self.person)
        if before is not None:
            self.play, self._asked = before, -1
        return before is not None

    def document(self) -> dict[str, Any]:
        """Return the opening as it is kept with a game."""
        return {
            "rule": self.play.rule.name,
            "actions": " ".join(self.play.actions),
            "person": self.person,
        }

    # The page's words for swap2, by which it goes on there.
    def stage(self) -> tuple[str, str]:
        """Return who is to do something in swap2, and what, in the words of the page."""
        play, step = self.play, self.play.step
        if step is None or play.rule.name != "swap2":
            return "", ""
        if play.player != self.person:
            return "engine", "numoku-chooses" if play.stones else "numoku-puts-three"
        if step.act is Act.PUT:
            return "person", "put-three" if len(play.stones) < 3 else "put-two"
        return "choice", "choose-three" if step.act is Act.BRANCH else "choose-two"


def opening_of(
    match: Mapping[str, Any], record: GameRecord, moves: Sequence[Coordinates]
) -> TalkedOpening | None:
    """Return the opening of a kept game with these moves, None if it has none.

    Games of earlier releases, and of the page, have a stage of swap2 only.

    Raises:
        NotationError: the rule does not allow it.
    """
    kept = match.get("opening")
    if kept and kept.get("rule"):
        play = OpeningPlay.named(kept["rule"], record.width, record.height, kept["actions"])
        if play.stones != list(moves[: len(play.stones)]):
            return None  # the game was looked at elsewhere
        return TalkedOpening(play, kept["person"])
    stage, ply = match.get("stage"), len(moves)
    if not stage or ply > 5:
        return None
    opens = {3: stage == "engine", 4: False, 5: stage == "choice"}.get(ply, stage != "engine")
    words = [cell_name(*cell) for cell in moves]
    if ply > 3 or (ply == 3 and stage == "person"):
        words.insert(3, "two")
    play = OpeningPlay.named("swap2", record.width, record.height, " ".join(words))
    return TalkedOpening(play, 0 if opens else 1)


def chosen_opening(
    name: str, record: GameRecord, person: int, chosen: Rule | None
) -> TalkedOpening:
    """Return an opening on the empty board of a record, under a rule if one was chosen.

    Raises:
        NotationError: it is played by another rule, or on another board.
    """
    rule = RULES.get(name)
    if rule is not None and rule.rule is not None and chosen not in (None, rule.rule):
        raise NotationError(f"{rule.title} is played by the rule {rule.rule.name.lower()}")
    return TalkedOpening(OpeningPlay.named(name, record.width, record.height), person)
