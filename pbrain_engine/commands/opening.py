"""An opening by a rule between a person and the engine, step by step: ``numoku play --opening``."""

from __future__ import annotations

from random import Random
from time import perf_counter

from ..app import thinking, view
from ..engine.engine import Engine
from ..engine.opening_choices import decide
from ..engine.swap2 import set_up, share_time
from ..game.cells import NotationError
from ..game.opening_rules import Act, OpeningPlay
from ..position.rules import Side
from .dialogue import ENGINE, GameStart

TYPED = {
    Act.PUT: "a cell",
    Act.SWAP: "`swap` or `keep`",
    Act.COUNT: "a number",
    Act.OFFER: "cells, as in g7+h9",
    Act.CHOOSE: "one of these cells",
    Act.BRANCH: "one of these words",
}  # of a person


def play_opening(engine: Engine, start: GameStart, opening: OpeningPlay) -> GameStart | None:
    """Play an opening to its end; return how the game goes on, None if the person leaves before.

    A person who is to have black begins, and the engine has its seconds for each of its steps.
    """
    person, rule = int(start.person is Side.WHITE), opening.rule.rule or start.record.board[-1]
    engine.new_game(opening.size, opening.size, rule)
    print(f"{opening.rule.title}: {opening.rule.summary}")
    print(f"you are the {('first', 'second')[person]} player; `quit` leaves")
    shown = asked = -1  # stones of the board, and steps done when a step was asked for
    try:
        while (step := opening.step) is not None:
            if opening.player != person:
                for word in _decided(engine, opening, start.seconds):
                    print(f"{opening.ask()} {ENGINE}: {word}")
                    opening.play(word)
                continue
            if len(opening.stones) != shown:
                set_up(engine, opening.stones)
                view.show_board(engine.game, engine.game.last)
                shown = len(opening.stones)
            if len(opening.actions) != asked:
                print(opening.ask())
                asked = len(opening.actions)
            colour = "black" if opening.black == person else "white"
            words = input(f"you, {colour}: {TYPED[step.act]}> ").split()
            if words == ["quit"]:
                return None
            try:
                _play(opening, words)
            except NotationError as error:
                print(error)
    except (EOFError, KeyboardInterrupt):
        print()
        return None
    side = Side.BLACK if opening.black == person else Side.WHITE
    print(f"{opening.ask()} You play {side.name.lower()}.")
    record = start.record._replace(rule=rule, moves=tuple(opening.stones))
    return start._replace(record=record, person=side)


def _decided(engine: Engine, opening: OpeningPlay, seconds: float) -> list[str]:
    """Return what the engine does; an interrupt ends the search that runs."""
    searcher = share_time(engine, perf_counter() + seconds)
    return thinking.in_thread(
        lambda: decide(searcher, opening, Random()), engine.stop, ends=False
    ).split()


def _play(opening: OpeningPlay, words: list[str]) -> None:
    """Do the steps of the player whose turn it is, and none of the other's."""
    player = opening.player
    for word in words:
        if opening.step is None or opening.player != player:
            raise NotationError(f"{word}: it is not your turn any more")
        opening.play(word)
