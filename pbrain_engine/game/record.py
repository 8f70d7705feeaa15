"""Records of games: board, stones set up, moves in order, players and result."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import NamedTuple

from ..position.geometry import Coordinates
from ..position.rules import Rule, Side
from ..values import chance, scale_at
from .position import Held, Image, Position, images_of

BLACK, WHITE, DRAW = "black", "white", "draw"

FIVE = "five"
FULL = "full"  # no empty cell
LIMIT = "limit"  # as many stones as the match allows
SCORE = "score"  # both engines agreed on the outcome for long enough

# Faults: what the loser did.
CRASH = "crash"  # it died of a signal or with an error code
EXIT = "exit"  # it exited or closed its output, unasked
TIME = "time"  # it answered late, or not at all though it had written before
MUTE = "mute"  # it never wrote anything
GARBAGE = "garbage"  # it wrote lines, but no move
FLOOD = "flood"  # it wrote far too much
MEMORY = "memory"  # it used more memory than allowed
ILLEGAL = "illegal"  # its move was off the board or on a stone
FORBIDDEN = "forbidden"  # its move was a foul (black in renju)
REFUSED = "refused"  # it declined the board or the rule with ERROR or UNKNOWN
START = "start"  # it could not be started
FAULTS = (CRASH, EXIT, TIME, MUTE, GARBAGE, FLOOD, MEMORY, ILLEGAL, FORBIDDEN, REFUSED, START)

RESULTS = {BLACK: "1-0", WHITE: "0-1", DRAW: "1/2-1/2"}  # by winner


class GameRecord(NamedTuple):
    """A game: board, rule, players, moves in order.

    ``first`` plays the first move, then the sides alternate. ``placed`` are stones and blocked
    cells set up before the first move. ``passes``: for each pass, the number of moves before it.
    Files cannot store blocked cells, and PSQ files neither set-up stones nor passes.
    """

    width: int = 15
    height: int = 15
    rule: Rule | None = None  # None: the file does not say
    moves: tuple[Coordinates, ...] = ()
    first: Side = Side.BLACK
    placed: tuple[Held, ...] = ()
    passes: tuple[int, ...] = ()
    times: tuple[int, ...] = ()  # milliseconds of the moves after the opening; not in SGF
    comments: tuple[str, ...] = ()  # on the moves; not in PSQ
    marked: Coordinates | None = None  # the last stone according to a drawing
    black: str = ""  # names of the players
    white: str = ""
    result: str = ""  # "1-0" black won, "0-1" white won, "1/2-1/2", or "" if open
    date: str = ""
    comment: str = ""  # about the game as a whole
    number: int = 0  # of the game in its match, from 0
    round: int = 0  # the same for all games of one opening
    reason: str = ""  # why it ended: FIVE, FULL, LIMIT, SCORE or a fault of the loser's
    detail: str = ""
    given: int = 0  # number of opening moves that no player chose
    depths: tuple[int | None, ...] = ()  # of the searches after the opening, as far as known
    values: tuple[int | None, ...] = ()  # for the side that moves
    nodes: tuple[int | None, ...] = ()
    memory: tuple[int, ...] = ()  # peak bytes of black and white
    seconds: float = 0.0  # duration of the whole game
    steps: str = ""  # actions under an opening rule, as in ``OpeningPlay.actions``
    remarks: tuple[str, ...] = ()  # what was not read from a file

    @classmethod
    def of(cls, position: Position) -> GameRecord:
        """Return the record of a position, without moves."""
        rule, width, height, to_move, *_ = position
        return cls(width, height, rule, first=to_move, placed=tuple(position.held))

    @property
    def board(self) -> tuple[int, int, Rule]:
        """Width, height and rule, freestyle if unknown."""
        return self.width, self.height, self.rule or Rule.FREESTYLE

    @property
    def opening(self) -> tuple[Coordinates, ...]:
        """The opening moves that no player chose."""
        return self.moves[: self.given]

    @property
    def chosen(self) -> tuple[Coordinates, ...]:
        """The moves after the opening."""
        return self.moves[self.given :]

    @property
    def movers(self) -> list[str]:
        """The player of each move after the opening."""
        sides = self.black, self.white
        return [sides[(self.first + ply) % 2] for ply in range(self.given, len(self.moves))]

    @property
    def winner(self) -> str:
        """``black``, ``white`` or ``draw``; empty if the result is open."""
        return next((side for side, result in RESULTS.items() if result == self.result), "")

    @property
    def loser(self) -> str:
        """The loser's name; empty after a draw."""
        return {BLACK: self.white, WHITE: self.black}.get(self.winner, "")

    @property
    def fault(self) -> str:
        """The loser's fault, or an empty string."""
        return self.reason if self.reason in FAULTS else ""

    @property
    def ending(self) -> str:
        """The reason for the end, with its detail."""
        return f"{self.reason}: {self.detail}" if self.detail else self.reason

    def points(self, name: str) -> int:
        """Half points of a player: 2 for a win, 1 for a draw."""
        return 1 if self.winner == DRAW else 2 * (self.loser != name)

    def chances(self, scale: float) -> list[float | None]:
        """Return the reported values as chances, 0 to 1, of the side to move; None without a value.

        ``scale``: that of the weights, in units of a value.
        """
        cells = self.width * self.height
        return [
            None if value is None else chance(value, scale_at(scale, stones, cells))
            for stones, value in enumerate(self.values, self.given)
        ]

    @property
    def turns(self) -> list[Coordinates | None]:
        """The moves in order, with None for each pass."""
        turns: list[Coordinates | None] = list(self.moves)
        for after in sorted(self.passes, reverse=True):
            turns.insert(after, None)
        return turns

    @property
    def is_in_turn(self) -> bool:
        """Whether all stones were played, by the sides in turn, without a pass."""
        return not (self.placed or self.passes)

    @property
    def last(self) -> Coordinates | None:
        """The last stone, if known."""
        return self.moves[-1] if self.moves else self.marked

    @property
    def to_move(self) -> Side:
        """The side to move at the end."""
        return Side((self.first + len(self.moves) + len(self.passes)) % 2)

    @property
    def stones(self) -> dict[Coordinates, Side]:
        """The stones and blocked cells at the end, in order."""
        stones, side = dict(self.placed), self.first
        for cell in self.turns:
            if cell is not None:
                stones[cell] = side
            side = side.opponent
        return stones

    @property
    def beginning(self) -> GameRecord:
        """A record of just board, rule and the stones before the first move."""
        return GameRecord(self.width, self.height, self.rule, first=self.first, placed=self.placed)

    @property
    def start(self) -> Position:
        """The position before the first move."""
        width, height, rule = self.board
        return Position.of(rule, width, height, self.first, self.placed)

    @property
    def position(self) -> Position:
        """The position after the moves, not checked for legality."""
        return reduce(Position.after, self.turns, self.start)

    def images(self) -> Iterator[Image]:
        """Yield the images of all positions, from the start on."""
        return images_of(self.start, self.turns)


# Stages of a game, by the stones on the board -------------------------------------------

STAGES = {0: "0-9", 10: "10-19", 20: "20-39", 40: "40+"}  # by the least stones of each
STAGE_NAMES: dict[int | None, str] = {None: "all", **dict(enumerate(STAGES.values()))}


def stage_of(stones: int) -> int:
    """Return the stage of a position with ``stones`` stones, from 0."""
    return sum(least <= stones for least in STAGES) - 1
