"""One game between two players: rules, clocks, and the search reports of engines.

Only the referee decides what is legal and who has won. A player that breaks a rule or fails loses
the game, with the cause.

Engines report on a move in two common dialects, ``depth 12-21 ev 35 n 1203K tm 1480 pv H8 I9`` and
``Depth 12-21 | Eval 35 | Node 1203K | Time 1480ms``; both are parsed by words, not by positions.

Time is kept like the tournament judge's: an answer is due within the turn and the time left of the
match, and the game is lost only after a tolerance; so ``time_left`` may be negative.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from random import Random
from typing import NamedTuple

from ..errors import NumokuError
from ..game.cells import NotationError, cell_name
from ..game.game import Game
from ..game.opening_rules import OpeningPlay
from ..game.record import (
    BLACK,
    DRAW,
    FIVE,
    FORBIDDEN,
    FULL,
    ILLEGAL,
    LIMIT,
    RESULTS,
    SCORE,
    WHITE,
    GameRecord,
)
from ..position.geometry import Coordinates
from ..position.rules import Side
from ..values import loss_in, win_in
from .process import EngineFault
from .settings import UNLIMITED_MS, Adjudication, EngineSpec, MatchSettings

# White space has been collapsed to single spaces, and no space can match two parts of a pattern;
# otherwise long runs would take seconds.
_WORDS = re.IGNORECASE | re.ASCII  # digits are 0 to 9 here
_DEPTH = re.compile(r"\bdepth(?: ?[:=])? ?(\d{1,9})(?!\d)", _WORDS)
_VALUE = re.compile(
    r"\b(?:ev|eval|value|score)(?: ?[:=])? ?((?:[+-] ?)?(?:M ?)?-?\d+(?:\.\d+)*)", _WORDS
)
_NODES = re.compile(r"\b(?:n|nodes?)(?: ?[:=])? ?(\d{1,15}(?:\.\d+)?) ?([KMG]?)\b(?!/)", _WORDS)
_MULTIPV = re.compile(r"\bmultipv (\d+)|^\((\d+)\)", _WORDS)
_COUNT = re.compile(r"\d{1,15}", re.ASCII)
_NUMBER = re.compile(r"[+-]?\d{1,9}(?:\.\d+)?", re.ASCII)
_MATE = re.compile(r"([+-]?)M(-?)(\d{1,3})", re.ASCII)
_SCALE = {"": 1, "K": 1_000, "M": 1_000_000, "G": 1_000_000_000}


@dataclass(slots=True)
class Thinking:
    """The last report on one move; None for figures that the engine did not report."""

    depth: int | None = None
    value: int | None = None
    nodes: int | None = None
    line: int = 0  # the rank of the line in INFO reports, 0 for the best

    def read_message(self, text: str) -> None:
        """Read depth, value and nodes of the best line from a MESSAGE."""
        text = " ".join(text.split())
        other_line = _MULTIPV.search(text)
        if other_line and (other_line[1] or other_line[2]).lstrip("0") != "1":
            return
        if depth := _DEPTH.search(text):
            self.depth = int(depth[1])
        if value := _VALUE.search(text):
            self.value = read_value(value[1])
        if nodes := _NODES.search(text):
            self.nodes = int(float(nodes[1]) * _SCALE[nodes[2].upper()])

    def read_info(self, key: str, text: str) -> None:
        """Read one ``INFO`` line of an engine with ``show_detail 2``."""
        if key == "PV":
            self.line = int(text) if _COUNT.fullmatch(text) else 0
        elif self.line or key not in ("DEPTH", "EVAL", "NODES"):
            return
        elif key == "EVAL":
            self.value = read_value(text)
        elif _COUNT.fullmatch(text):
            setattr(self, key.lower(), int(text))


def read_value(text: str) -> int | None:
    """Return a reported value such as ``35``, ``+M9`` or ``-M8`` on our scale; None for others."""
    compact = text.replace(" ", "").upper()
    if _NUMBER.fullmatch(compact):
        return round(float(compact))
    mate = _MATE.fullmatch(compact)
    if mate is None:
        return None
    plies = int(mate[3])
    return loss_in(plies) if "-" in (mate[1], mate[2]) else win_in(plies)


JUDGE_ALLOWANCE = 0.010  # the judge polls every 10 ms and refunds this


class Clock:
    """The clock of one player, in seconds; 0 means no limit."""

    def __init__(self, settings: MatchSettings, engine: EngineSpec) -> None:
        self.turn = engine.number("turn", settings.turn)
        self.match = self.left = settings.match
        self.turn_ms = round(self.turn * 1000) or UNLIMITED_MS  # for INFO timeout_turn
        self.match_ms = round(self.match * 1000) or UNLIMITED_MS
        self.increment = settings.increment
        self._tolerance, self._patience = settings.tolerance, settings.patience
        self._allowance = JUDGE_ALLOWANCE if settings.judge else 0.0

    @property
    def deadline(self) -> float:
        """Seconds after which the game is lost."""
        limit = min(self.turn or inf, self.left if self.match else inf)
        return self._patience if limit == inf else max(0.0, limit) + self._tolerance

    @property
    def left_ms(self) -> int:
        """The milliseconds for ``INFO time_left``."""
        return round(self.left * 1000) if self.match else UNLIMITED_MS

    def charge(self, seconds: float) -> None:
        """Subtract the time of a move, and add the increment."""
        if self.match:
            self.left += self.increment - max(0.0, seconds - self._allowance)


class PlayedMove(NamedTuple):
    """An unchecked move with its time in seconds."""

    x: int
    y: int
    seconds: float
    thinking: Thinking


class ChosenStep(NamedTuple):
    """A step of an opening: words for ``OpeningPlay``, time, and a move made at once after it."""

    words: str
    seconds: float = 0.0
    move: PlayedMove | None = None


@dataclass
class Player:
    """A player in one game; every method may raise EngineFault."""

    spec: EngineSpec
    settings: MatchSettings
    is_aborted: Callable[[], bool] = lambda: False
    title: str = "game"
    parameters: Mapping[str, int] = field(default_factory=dict)  # of our search, from this game on
    peak_memory: int = 0  # most private bytes observed, 0 if unknown

    def launch(self) -> None:
        """Start, without waiting until ready."""

    def await_ready(self) -> None:
        """Wait until ready for the first move."""

    def choose(self, opening: OpeningPlay, clock: Clock, chance: Random) -> ChosenStep | None:
        """Return this player's step of an opening, None if the judge must decide."""
        return None

    def move(self, game: Game, clock: Clock) -> PlayedMove:
        """Return the move in this position, within the clock's deadline."""
        raise NotImplementedError

    def stop(self) -> None:
        """Stop a running search, if ``is_aborted`` alone does not."""

    def finish(self) -> None:
        """Ask the engine to end, without waiting."""

    def close(self) -> None:
        """Release all resources; may wait a little."""


COLOURS = (BLACK, WHITE)


@dataclass(frozen=True, slots=True)
class GameTask:
    """A game to play: the engines by index, and the opening."""

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
    on_move: Callable[[GameRecord], None],
    judge: Player | None = None,
) -> GameRecord:
    """Play a game between black and white and return its record.

    With an opening rule, the record has the colours at its end; ``judge`` is launched to decide
    for players that cannot. CancelledError if the game was aborted from outside.
    """
    began = time.perf_counter()
    engines = settings.engines[task.black], settings.engines[task.white]
    played = GameRecord(
        *settings.board, task.opening,
        black=engines[0].name, white=engines[1].name,
        number=task.game, round=task.round, given=len(task.opening),
    )  # fmt: skip
    game = Game(*settings.board)
    game.become(played)
    on_move(played)
    turn, begun = 0, None
    try:
        for turn in (0, 1):
            players[turn].launch()
        for turn in (0, 1):
            players[turn].await_ready()
        clocks = [Clock(settings, engine) for engine in engines]
        if settings.opening_rule is not None:
            assert judge is not None, "someone decides in openings"
            opening = OpeningPlay(settings.opening_rule, settings.width, settings.height)
            chance = Random(f"{settings.seed}:{task.round}")
            try:
                begun = _play_opening(opening, players, clocks, judge, chance)
            finally:
                turn = int(opening.colour_of(opening.player))
                played = played._replace(moves=tuple(opening.stones), given=len(opening.stones),
                                         steps=" ".join(opening.actions))  # fmt: skip
                if opening.black:
                    players, clocks = players[::-1], clocks[::-1]
                    played = played._replace(black=played.white, white=played.black)
            game.become(played)
            on_move(played)
        while (ended := _outcome(game, settings, played)) is None:
            turn = int(game.to_move)
            answer, begun = begun or players[turn].move(game, clocks[turn]), None
            clocks[turn].charge(answer.seconds)
            _check(game, answer)
            game.play(answer.x, answer.y)
            played = _with_move(played, answer)
            on_move(played)
        (winner, reason), detail = ended, ""
    except EngineFault as fault:
        winner, reason, detail = COLOURS[1 - turn], fault.cause, fault.detail
    return played._replace(
        result=RESULTS[winner], reason=reason, detail=detail,
        memory=tuple(player.peak_memory for player in players),
        seconds=time.perf_counter() - began,
    )  # fmt: skip


def _with_move(played: GameRecord, answer: PlayedMove) -> GameRecord:
    """Return a game with one more move and its report."""
    thinking = answer.thinking
    return played._replace(
        moves=(*played.moves, (answer.x, answer.y)),
        times=(*played.times, round(answer.seconds * 1000)),
        depths=(*played.depths, thinking.depth),
        values=(*played.values, thinking.value),
        nodes=(*played.nodes, thinking.nodes),
    )


def _play_opening(
    opening: OpeningPlay,
    players: Sequence[Player],
    clocks: Sequence[Clock],
    judge: Player,
    chance: Random,
) -> PlayedMove | None:
    """Play an opening; return the next move if it came with the last step."""
    choice, is_judging = None, False
    while opening.step is not None:
        who = opening.player
        choice = players[who].choose(opening, clocks[who], chance)
        if choice is None and not is_judging:
            try:
                judge.launch()
            except EngineFault as fault:  # no player's fault
                raise NumokuError(f"no judge of openings: {fault.detail}") from fault
            is_judging = True
        choice = choice or judge.choose(opening, clocks[who], chance)
        assert choice is not None, "the judge always decides"
        if choice.move is None:
            clocks[who].charge(choice.seconds)
        try:
            opening.play(choice.words)
        except NotationError as error:
            raise EngineFault(ILLEGAL, str(error)) from None
    return choice and choice.move


def _outcome(game: Game, settings: MatchSettings, played: GameRecord) -> tuple[str, str] | None:
    """Return winner and reason if a game has ended, else None."""
    if game.winner is not None:
        return COLOURS[game.winner], FIVE
    if game.is_full:
        return DRAW, FULL
    if game.ply >= settings.draw_stones:
        return DRAW, LIMIT
    agreed = agreed_result(played, settings.adjudication)
    return (agreed, SCORE) if agreed else None


def _check(game: Game, answer: PlayedMove) -> None:
    """Raise EngineFault for an illegal move."""
    x, y = answer.x, answer.y
    if not (0 <= x < game.width and 0 <= y < game.height):
        raise EngineFault(ILLEGAL, f"{x},{y} is off the board")
    if game.at(x, y) != Side.EMPTY:
        raise EngineFault(ILLEGAL, f"{x},{y} ({cell_name(x, y)}) is occupied")
    if game.is_forbidden(x, y):
        raise EngineFault(FORBIDDEN, f"{x},{y} ({cell_name(x, y)}) is forbidden to black")


def agreed_result(played: GameRecord, terms: Adjudication) -> str | None:
    """Return the result on which the last values of both engines agree, or None."""
    first = played.given
    values = [  # from black's side
        -value if value and ply % 2 else value for ply, value in enumerate(played.values, first)
    ]

    def agree(count: int, low: float, high: float) -> bool:
        count = max(1, count)
        last = values[-count:]
        return len(last) == count and all(v is not None and low <= v <= high for v in last)

    if terms.win_value > 0:
        if agree(terms.win_moves, terms.win_value, inf):
            return BLACK
        if agree(terms.win_moves, -inf, -terms.win_value):
            return WHITE
    if terms.draw_value < 0 or len(played.moves) < terms.draw_from:
        return None
    return DRAW if agree(terms.draw_moves, -terms.draw_value, terms.draw_value) else None
