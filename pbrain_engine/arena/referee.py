"""One game between two players, judged on our own rules.

The referee knows what is legal and who has won; the players only propose cells. A player
that breaks its duty, whichever way, loses the game with the cause, and nothing it does
reaches further than this one game.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..notation.cells import cell_name
from ..position.geometry import Coordinates
from ..position.rules import Side
from .journal import BLACK, DRAW, FIVE, FULL, LIMIT, SCORE, WHITE, Played
from .player import FORBIDDEN, ILLEGAL, Clock, EngineFault, PlayedMove, Player
from .settings import Adjudication, MatchSettings

if TYPE_CHECKING:
    from ..game.game import Game


def agreed_result(played: Played, terms: Adjudication) -> str | None:
    """Return the outcome on which the last values agree, or None."""
    first = len(played.opening)

    def all_of(count: int, accepts: Callable[[int], bool]) -> bool:
        """Return whether the last values, from black's side, are there and accepted."""
        start = len(played.value) - count
        return start >= 0 and all(
            value is not None and accepts(-value if ply % 2 else value)
            for ply, value in enumerate(played.value[start:], first + start)
        )

    if terms.win_value > 0:
        if all_of(terms.win_moves, lambda value: value >= terms.win_value):
            return BLACK
        if all_of(terms.win_moves, lambda value: value <= -terms.win_value):
            return WHITE
    if terms.draw_value < 0 or first + len(played.moves) < terms.draw_from:
        return None
    return DRAW if all_of(terms.draw_moves, lambda v: abs(v) <= terms.draw_value) else None


COLOURS = (BLACK, WHITE)


@dataclass(frozen=True, slots=True)
class GameTask:
    """One game to be played: engines by their index, and the stones that are given."""

    game: int
    round: int
    black: int
    white: int
    opening: tuple[Coordinates, ...] = ()
    parameters: tuple[Mapping[str, int], ...] = ()  # of the search, by engine, in this process


def play_game(
    task: GameTask,
    settings: MatchSettings,
    players: Sequence[Player],
    on_move: Callable[[Played], None] = lambda played: None,
) -> Played:
    """Play a game between black and white and return it; closes the players' dialogue.

    Raises:
        Abandoned: the game was broken off from outside.
    """
    began = time.perf_counter()
    engines = settings.engines[task.black], settings.engines[task.white]
    played = Played(
        task.game, task.round, engines[0].name, engines[1].name, DRAW, FULL, "", list(task.opening)
    )
    game = set_up(settings, task.opening)
    on_move(played)
    turn = 0
    try:
        for phase in ("launch", "await_ready"):
            for turn in (0, 1):
                getattr(players[turn], phase)()
        clocks = [Clock.of(settings, engine) for engine in engines]
        while not _is_over(game, settings, played):
            turn = int(game.to_move)
            answer = players[turn].move(game, clocks[turn])
            clocks[turn].charge(answer.seconds)
            _check(game, answer)
            game.play(answer.x, answer.y)
            thinking = answer.thinking
            played.ms.append(round(answer.seconds * 1000))
            played.depth.append(thinking.depth)
            played.value.append(thinking.value)
            played.nodes.append(thinking.nodes)
            played.moves.append((answer.x, answer.y))  # last: a live view may look at any moment
            on_move(played)
    except EngineFault as fault:
        played.winner, played.reason = COLOURS[1 - turn], fault.cause
        played.detail = fault.detail
    played.memory = [player.peak_memory for player in players]
    played.seconds = time.perf_counter() - began
    return played


def set_up(settings: MatchSettings, opening: Sequence[Coordinates]) -> Game:
    """Return a game on which the opening stands."""
    from ..game.game import Game

    game = Game(settings.width, settings.height, settings.rule)
    for x, y in opening:
        game.play(x, y)
    return game


def _is_over(game: Game, settings: MatchSettings, played: Played) -> bool:
    """Return whether the game has ended, and write down how."""
    if game.winner is not None:
        played.winner, played.reason = COLOURS[game.winner], FIVE
    elif game.is_full:
        played.winner, played.reason = DRAW, FULL
    elif game.ply >= settings.draw_stones:
        played.winner, played.reason = DRAW, LIMIT
    else:
        agreed = agreed_result(played, settings.adjudication)
        if agreed is None:
            return False
        played.winner, played.reason = agreed, SCORE
    return True


def _check(game: Game, answer: PlayedMove) -> None:
    """Refuse a move that the rules do not allow."""
    x, y = answer.x, answer.y
    if not (0 <= x < game.width and 0 <= y < game.height):
        raise EngineFault(ILLEGAL, f"{x},{y} is off the board")
    if game.at(x, y) != Side.EMPTY:
        raise EngineFault(ILLEGAL, f"{x},{y} ({cell_name(x, y)}) is occupied")
    if game.is_forbidden(x, y):
        raise EngineFault(FORBIDDEN, f"{x},{y} ({cell_name(x, y)}) is forbidden to black")
