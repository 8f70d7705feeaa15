"""An opening by a rule between a person and the engine, as a part of the dialogue of a game."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from random import Random
from time import perf_counter
from typing import Any

from ..app import thinking
from ..engine.engine import Engine
from ..engine.opening_choices import decide
from ..engine.swap2 import share_time
from ..game.cells import NotationError
from ..game.opening_rules import RULES, Act, OpeningPlay
from ..game.record import GameRecord
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
        """Do the person's steps, and none of the engine's; NotationError if a word is no step."""
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
        actions = " ".join(self.play.actions)
        return {"rule": self.play.rule.name, "actions": actions, "person": self.person}


def chosen_opening(
    name: str, record: GameRecord, person: int, chosen: Rule | None
) -> TalkedOpening:
    """Return an opening on the empty board of a record, under a rule if one was chosen.

    Raises:
        NotationError: it is played by another rule, or on another board.
    """
    rule = RULES.get(name)
    if rule is not None and rule.rule is not None and chosen not in (None, rule.rule):
        raise NotationError(f"{rule.title} is played by the rule {rule.rule.label}")
    return TalkedOpening(OpeningPlay.named(name, record.width, record.height), person)
