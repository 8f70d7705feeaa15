"""Our own engine as a player inside the runner: no process, no pipe, no reserve for either.

For testing configurations against each other in masses. A player's engine is kept from game
to game and forgets everything in between, so that a game with a node limit is the same
whenever and wherever it is played.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..options import problem_of
from ..protocol.serve import OPTIONS, engine_arguments
from ..protocol.settings import FULL_STRENGTH, fewest_nodes
from .player import CRASH, START, Abandoned, Clock, EngineFault, IsAborted, PlayedMove, Thinking
from .settings import EngineSpec, MatchSettings, SettingsError

if TYPE_CHECKING:
    from ..engine.engine import Engine, Limit
    from ..game.game import Game

DEFAULT_HASH = 16_000_000  # bytes; clearing it for every game costs less than a large one would


@dataclass
class InprocessPlayer:
    """One configuration of our engine, for many games; it is made at the first one."""

    spec: EngineSpec
    settings: MatchSettings
    is_aborted: IsAborted = lambda: False
    peak_memory: int = 0  # unknown: all players share one process
    _engine: Engine | None = None
    _parameters: dict[str, int] = field(default_factory=dict)

    def set_parameters(self, parameters: Mapping[str, int]) -> None:
        """Give the engine these search parameters from its next game on."""
        self._parameters.update(parameters)

    def launch(self) -> None:
        """Make the engine, or make it forget."""
        settings = self.settings
        if self._engine is None:
            try:
                self._engine = make_engine(self.spec)
            except Exception as error:
                raise EngineFault(START, str(error)) from error
        for name, value in self._parameters.items():
            self._engine.set_parameter(name, value)
        self._engine.new_game(settings.width, settings.height, settings.rule)
        self._engine.clear_hash()

    def await_ready(self) -> None:
        """Nothing to wait for."""

    def move(self, game: Game, clock: Clock) -> PlayedMove:
        """Bring the engine's board up to date and think."""
        if self.is_aborted():
            raise Abandoned
        engine = self._engine
        assert engine is not None, "launch comes first"
        for x, y in game.moves[engine.game.ply :]:
            engine.play(x, y)
        began = time.perf_counter()
        try:
            thought = engine.think(self._limit(clock, game))
        except Exception as error:
            raise EngineFault(CRASH, str(error)) from error
        seconds = time.perf_counter() - began
        x, y = thought.move
        return PlayedMove(x, y, seconds, Thinking(thought.depth, thought.value, thought.nodes))

    def _limit(self, clock: Clock, game: Game) -> Limit:
        """Return the limits of one move: the whole turn, or a share of the match."""
        from ..engine.engine import Limit
        from ..engine.pacing import Limits, plan

        strength = int(self.spec.number("strength", FULL_STRENGTH))
        nodes = fewest_nodes(int(self.spec.number("nodes", self.settings.nodes)), strength)
        depth = int(self.spec.number("depth", self.settings.depth)) or None
        if not clock.match:
            return Limit(clock.turn or None, clock.turn or None, nodes, depth)
        increment = int(clock.increment * 1000)
        limits = Limits(clock.turn_ms, clock.match_ms, clock.left_ms, increment)
        planned = plan(limits, game.ply, game.width * game.height)
        return Limit(planned.hard, planned.optimum, nodes, depth)

    def stop(self) -> None:
        """End the search of the move that is being sought."""
        if self._engine is not None:
            self._engine.stop()

    def finish(self) -> None:
        """Nothing to say."""

    def close(self) -> None:
        """Give the engine's memory back."""
        if self._engine is not None:
            self._engine.clear_hash()
            self._engine = None


def check_options(engines: Iterable[EngineSpec]) -> None:
    """Make sure that our own engine can be had with the weights, book and level asked for.

    Raises:
        SettingsError: it cannot.
    """
    for spec in engines:
        if not any(spec.option(key) for key in OPTIONS):
            continue
        try:
            make_engine(spec).close()
        except Exception as error:
            raise SettingsError(f"{spec.name}: {problem_of(error)}") from None


def make_engine(spec: EngineSpec) -> Engine:
    """Return our engine with a contestant's options."""
    from ..engine.engine import Engine

    hash_kilobytes = int(spec.number("hash_size", spec.number("hash", 0)))
    memory = int(spec.number("memory", 0)) or None  # of the process, with all that is in it
    return Engine(
        threads=max(int(spec.number("threads", 1)), 1),
        memory=memory,
        hash_size=hash_kilobytes * 1024 or (DEFAULT_HASH if memory is None else None),
        **engine_arguments(spec.options),
    )
