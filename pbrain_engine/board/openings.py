"""What a desk is asked while an opening is played by a rule: how far it is, and Numoku's step.

The page keeps the rule, the actions done so far and which player the person is; of a
position only the board counts.
"""

from __future__ import annotations

import random

from ..engine.opening_choices import decide
from ..errors import Refused
from ..files import Document
from ..game.cells import parse_moves
from ..game.documents import pairs
from ..game.opening_rules import RULES, OpeningPlay
from ..position.rules import Side
from .desk import Desk, Job
from .messages import POSITION, one_of, operation, seconds, text
from .searches import opening_search

MOST_ACTIONS = 400  # characters; the longest opening has 20 words, one of them of ten cells
RULE = one_of(tuple(RULES), "the rule of the opening")
ACTIONS = text(MOST_ACTIONS, "what was done: h8, h8+i9 for fifth stones, swap, keep, 5, two ...")


def state_of(opening: OpeningPlay) -> Document:
    """Return whose step it is and what it asks for; ``act`` is null at the end."""
    step = opening.step
    state: Document = {
        "rule": opening.rule.name,
        "actions": list(opening.actions),
        "done": [{"player": who, "stones": stones} for who, stones in opening.history],
        "stones": pairs(opening.stones),
        "black": opening.black,
        "player": opening.player,
        "act": None if step is None else step.act.value,
        "wanted": opening.wanted(),
        "cells": pairs(opening.cells()),
    }
    if step is None:
        return state
    return state | {
        "reach": step.reach,
        "low": step.low,
        "high": step.high,
        "branches": [name for name, _ in step.branches],
        "takes": {side.name.lower(): opening.taking(side) for side in (Side.BLACK, Side.WHITE)},
    }


@operation(
    named="opening",
    at_once=True,
    position=POSITION,
    rule=RULE,
    actions=ACTIONS,
    picked=text(MOST_ACTIONS, "fifth stones that are going to be offered", default=""),
)
def opening_state(desk: Desk, job: Job) -> Document:
    """Say whose step of an opening it is, and what it asks for.

    `cells` are where a stone may be put, without those that are symmetric to what is picked.
    """
    opening = _opening(job)
    state = state_of(opening)
    twins = opening.twins(parse_moves(job.fields["picked"].replace("+", "")))
    state["cells"] = pairs([cell for cell in opening.cells() if cell not in twins])
    return state


@operation(position=POSITION, rule=RULE, actions=ACTIONS, seconds=seconds(5.0))
def opening_step(desk: Desk, job: Job) -> Document:
    """Do the next step of an opening for its player; `words` are what was done."""
    opening = _opening(job)
    if opening.step is None:
        raise Refused("the opening is over")
    before = len(opening.actions)
    opening.play(decide(opening_search(desk, job), opening, random.Random()))
    return state_of(opening) | {"words": opening.actions[before:]}


def _opening(job: Job) -> OpeningPlay:
    setup, fields = job.setup, job.fields
    opening = OpeningPlay.named(fields["rule"], setup.width, setup.height, fields["actions"])
    wanted = opening.rule.rule
    if wanted not in (None, setup.rule):
        raise Refused(f"{opening.rule.title} is played by the rule {wanted.name.lower()}")
    return opening
