"""An opening by a rule between a person and the engine, as part of a dialogue."""

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
from ..game.opening_rules import Act, OpeningPlay
from ..position.rules import Side

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
    """An opening between a person and the engine."""

    def __init__(self, play: OpeningPlay, person: int) -> None:
        """Continue an opening; ``person`` is 0 if the person is the first player, else 1."""
        self.play, self.person = play, person
        self._asked = -1  # actions done when the person was last asked

    @property
    def goes_on(self) -> bool:
        """Whether the opening has another step."""
        return self.play.step is not None

    @property
    def side(self) -> Side:
        """The current colour of the person."""
        return self.play.colour_of(self.person)

    @property
    def prompt(self) -> str:
        """The prompt for the person's step."""
        step = self.play.step
        assert step is not None, "the opening is over"
        is_single = step.act is Act.OFFER and self.play.wanted() == 1
        return f"you, {self.side.name.lower()}: {TYPED[Act.PUT if is_single else step.act]}"

    def greet(self) -> str:
        """Return the title and the summary of the rule."""
        rule = self.play.rule
        number = ("first", "second")[self.person]
        return f"{rule.title}: {rule.summary}\nyou are the {number} player; `quit` leaves"

    def ask(self) -> str:
        """Return the instructions for the step, or nothing if they were just given."""
        if self._asked == len(self.play.actions):
            return ""
        self._asked = len(self.play.actions)
        return self.play.ask()

    def answer(self, words: Sequence[str]) -> None:
        """Do steps of the person; NotationError if a word is invalid or the engine's turn comes."""
        for word in words:
            if not self.goes_on or self.play.player != self.person:
                raise NotationError(f"{word}: it is no longer your turn")
            self.play.play(word)

    def engine_steps(self, engine: Engine, seconds: float, chance: Random) -> list[str]:
        """Do the engine's steps, and return a description of each; an interrupt ends a search.

        The stones on the engine's board are changed.
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
        """Take back the person's last step and all later ones; return whether there was one."""
        before = self.play.taken_back(self.person)
        if before is not None:
            self.play, self._asked = before, -1
        return before is not None

    def document(self) -> dict[str, Any]:
        """Return the opening as a saved game stores it."""
        actions = " ".join(self.play.actions)
        return {"rule": self.play.rule.name, "actions": actions, "person": self.person}
