"""Swap2 in a dialogue: one side puts three stones, the other chooses, or puts two more.

While this goes on, stones are put by the one who opens or chooses, whatever their colour.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from ..app import thinking, view
from ..engine import swap2
from ..engine.engine import Engine
from ..position.rules import Side

CHOICE = "choose `black` or `white`"
CHOICE_OR_TWO = CHOICE + ", or put two stones: white, black"


class Swap2:
    """An opening that goes on: who puts the next stones, and who chooses after them.

    ``take`` is called when the sides are known, with the person's.
    """

    def __init__(self, engine: Engine, person_opens: bool, take: Callable[[Side], None]) -> None:
        """Begin on the engine's empty board."""
        self._engine = engine
        self._person_opens = person_opens
        self._take = take

    def engine_turn(self, seconds: float) -> str:
        """Let the engine put stones or choose if that is its part; return what it did."""
        engine = self._engine
        game = engine.game
        if game.ply not in ((3,) if self._person_opens else (0, 5)):
            return ""
        stones = list(game.moves)
        shape = game.width, game.height, game.rule
        searcher = swap2.timed(engine, perf_counter() + seconds)

        def decide() -> swap2.OpeningChoice:
            if stones:
                return swap2.choose(searcher, *shape, stones)
            return swap2.first_three(searcher, *shape)

        choice = thinking.apart(decide, engine.stop, ends=False)
        swap2.set_up(engine, *shape, stones)
        if choice.swap:
            self._take(Side.WHITE)
            return "Numoku takes black"
        put = view.format_line(choice.stones)
        if len(choice.stones) == 1:
            self._take(Side.BLACK)
            return "Numoku takes white"
        for stone in choice.stones:
            engine.play(*stone)
        return f"Numoku puts {put}"

    @property
    def wish(self) -> str:
        """What the person is to do now."""
        ply = self._engine.game.ply
        if self._person_opens:
            return CHOICE if ply == 5 else "put three stones: black, white, black"
        return CHOICE_OR_TWO if ply == 3 else "put one more stone, black"

    def choose(self, side: Side) -> str:
        """Take a side as the person; return what is wrong with that, if anything."""
        if self._engine.game.ply != (5 if self._person_opens else 3):
            return self.wish
        self._take(side)
        return f"you play {side.name.lower()}"

    @property
    def may_undo(self) -> bool:
        """Whether the last stone is one of the person's."""
        return self._engine.game.ply in ((1, 2) if self._person_opens else (4,))

    @property
    def may_put(self) -> bool:
        """Whether the person may put a stone now."""
        return not (self._person_opens and self._engine.game.ply == 5)
