"""The engine of a session: made when it is needed, kept in step, replaced when it fails."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import TYPE_CHECKING

from ..position.geometry import Coordinates
from ..position.rules import Rule
from .record import ScoreSheet
from .settings import Settings

if TYPE_CHECKING:
    from ..engine.engine import Engine
    from ..game.game import Move

REPLACEMENT_SHARE = 8  # a new engine gets this fraction while the old one may still run


class Keeper:
    """Holds one engine, with the settings and the position that the session wants."""

    def __init__(self, make_engine: Callable[[int], Engine]) -> None:
        """Keep nothing yet; ``make_engine(memory)`` is called at the first need."""
        self.engine: Engine | None = None
        self._make_engine = make_engine
        self._settled: tuple[object, ...] = ()  # memory, hash size, threads of the engine
        self._rule = Rule.FREESTYLE  # of the engine
        self._in_step = False  # the engine holds the position of the record
        self._divisor = 1

    def ready(self, settings: Settings) -> Engine:
        """Return the engine, with memory and threads as set.

        Raises:
            KernelError: there is no kernel to make one with.
            WeightsError: the weights cannot be read.
        """
        memory = max(settings.memory // self._divisor, 1)
        hash_size = settings.hash_size
        if hash_size is not None:
            hash_size = max(hash_size // self._divisor, 1)
        if self.engine is None:
            self.engine = self._make_engine(memory)
            self._settled = (memory, None, 1)
            self._in_step = False
        wanted = (memory, hash_size, settings.threads)
        if self._settled != wanted:
            self.engine.set_memory(memory)
            self.engine.set_hash_size(hash_size)
            self.engine.set_threads(settings.threads)
            self._settled = wanted
        return self.engine

    def catch_up(self, record: ScoreSheet, settings: Settings) -> Engine:
        """Return the engine, with the position of the record under the rule as set."""
        engine = self.ready(settings)
        rule = settings.rule
        if not self._in_step:
            record.set_up(engine, rule)
            self._in_step = True
        elif self._rule != rule:
            engine.set_rule(rule)
        self._rule = rule
        return engine

    def fall_out_of_step(self) -> None:
        """Note that the engine no longer holds the position of the record."""
        self._in_step = False

    @property
    def follower(self) -> Engine | None:
        """The engine, if it holds the position of the record."""
        return self.engine if self._in_step else None

    def play(self, x: int, y: int) -> None:
        """Follow a move of the record."""
        engine = self.follower
        if engine is not None:
            try:
                engine.play(x, y)
            except Exception:  # whatever it is, setting up the position cures it
                self._in_step = False

    def undo(self, record: ScoreSheet) -> None:
        """Follow a move that the record has taken back."""
        engine = self.follower
        if engine is not None:
            try:
                engine.undo()
                engine.set_to_move(record.to_move)
            except Exception:
                self._in_step = False

    def quick_move(self, record: ScoreSheet, exclude: Container[Move] = ()) -> Coordinates:
        """Return a move without a search, from the engine if it can give one."""
        try:
            assert self.engine is not None
            x, y = self.engine.quick_move(exclude)
        except Exception:
            self._in_step = False
            return record.first_free() or (0, 0)
        return x, y

    def abandon(self, gone: bool) -> None:
        """Let the engine go; it is ``gone`` at once, or its search still holds its memory."""
        self.engine = None
        self._in_step = False
        self._divisor = 1 if gone else REPLACEMENT_SHARE

    def memory_is_back(self) -> None:
        """Note that the search of an abandoned engine has ended after all."""
        self._divisor = 1
