"""Opening rules, step by step, and the 26 openings of renju by name.

A rule is a table of steps: who puts which stones where, who may change sides, who chooses the fifth
stone. ``OpeningPlay`` walks through one. There are two players: the first starts, the second
answers; *black* and *white* are the players who currently have that colour. Stones alternate in
colour, whichever player puts them.

A named opening has black in the centre, white next to it, straight (direct, D) or diagonally
(indirect, I), and black's second stone; up to symmetry there are 13 cells for that in each case.
Names and numbers are those of the Renju International Federation.

Sources: the rules of the Renju International Federation for RIF, Yamaguchi (2009), Soosorv-8 (2017)
and Taraguchi-10 (2017); Gomocup's page on swap2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from functools import cache, partial, reduce
from itertools import islice
from typing import NamedTuple

from ..position.geometry import Coordinates, transform
from ..position.rules import Rule, Side
from .cells import NotationError, cell_name, parse_cell
from .position import Position, image_of, own_symmetries
from .record import GameRecord


class Act(Enum):
    """What a step asks for."""

    PUT = "put"  # one stone
    SWAP = "swap"  # change sides, or keep them
    COUNT = "count"  # say how many fifth stones will be offered
    OFFER = "offer"  # put that many fifth stones, no two symmetric
    CHOOSE = "choose"  # choose one of them
    BRANCH = "branch"  # choose how the opening continues


class Aim(Enum):
    """What a stone is for."""

    THREE = "three"  # one of three after which a choice of colours is even
    NAMED = "named"  # one of a fairly even one of the 26 openings
    PAIR = "pair"  # one of two after which a choice of colours is even
    EVEN = "even"  # even by itself: the other player may change sides next
    BEST = "best"  # the best for the side that puts it


class Step(NamedTuple):
    """One step of an opening rule.

    ``who`` acts: first, second, black or white. ``reach``: a stone's greatest distance from the
    centre, None: anywhere. ``low`` and ``high``: the range of a count; for an offer, both are the
    number of stones, 0: as declared. ``branches``: names, and the steps that follow. ``aim``: the
    purpose of the stone, a hint for players and not part of the rule.
    """

    act: Act
    who: str
    reach: int | None = None
    low: int = 0
    high: int = 0
    branches: tuple[tuple[str, tuple[Step, ...]], ...] = ()
    aim: Aim = Aim.BEST


class OpeningRule(NamedTuple):
    """A named table of steps, with the rule and board size it requires."""

    name: str
    title: str
    steps: tuple[Step, ...]
    rule: Rule | None = None  # None: any
    size: int | None = None  # None: any
    summary: str = ""


_put, _swap = partial(Step, Act.PUT), partial(Step, Act.SWAP)
_OFFER = Step(Act.OFFER, "black")  # as many as declared
THREE_NAMED = tuple(_put("first", reach, aim=Aim.NAMED) for reach in range(3))
THREE_FREE = (_put("first", aim=Aim.THREE),) * 3
CHOICE = (Step(Act.CHOOSE, "white"), _put("white"))  # of the fifth stone, and the sixth

BRANCHES = {  # in words
    "keep": "keep the sides",
    "swap": "change sides",
    "two": "put two more stones",
    "one": "put one fifth stone",
    "ten": "offer ten fifth stones",
}

RULES: dict[str, OpeningRule] = {
    rule.name: rule
    for rule in (
        OpeningRule(
            "swap", "Swap", (*THREE_FREE, _swap("second")),
            summary="Three stones anywhere, then the other player chooses a colour.",
        ),
        OpeningRule(
            "swap2", "Swap2",
            (*THREE_FREE, Step(Act.BRANCH, "second", branches=(
                ("keep", ()),
                ("swap", ()),
                ("two", (*(_put("second", aim=Aim.PAIR),) * 2, _swap("first"))),
            ))),
            summary="Three stones anywhere; the other player takes a colour, or puts two more "
            "and leaves the choice to the first.",
        ),
        OpeningRule(
            "rif", "RIF",
            (*THREE_NAMED, _swap("second"), _put("white"), _OFFER._replace(low=2, high=2), *CHOICE),
            Rule.RENJU, 15,
            "One of the 26 openings, then a choice of colours; black offers two fifth stones.",
        ),
        OpeningRule(
            "yamaguchi", "Yamaguchi",
            (*THREE_NAMED, Step(Act.COUNT, "first", low=1, high=10), _swap("second"),
             _put("white"), _OFFER, *CHOICE), Rule.RENJU, 15,
            "One of the 26 openings and how many fifth stones black will offer, then a choice of "
            "colours.",
        ),
        OpeningRule(
            "soosorv-8", "Soosorv-8",
            (*THREE_NAMED, _swap("second"), _put("white", aim=Aim.EVEN),
             Step(Act.COUNT, "white", low=1, high=8), _swap("black"), _OFFER, *CHOICE),
            Rule.RENJU, 15,
            "One of the 26 openings, then a choice of colours; white puts the fourth stone and "
            "says how many fifth stones black will offer, one to eight; black may change sides.",
        ),
        OpeningRule(
            "taraguchi-10", "Taraguchi-10",
            (_put("black", 0), _swap("white"), _put("white", 1, aim=Aim.EVEN), _swap("black"),
             _put("black", 2, aim=Aim.EVEN), _swap("white"), _put("white", 3, aim=Aim.EVEN),
             Step(Act.BRANCH, "black", branches=(
                 ("one", (_swap("black"), _put("black", 4, aim=Aim.EVEN), _swap("white"),
                          _put("white"))),
                 ("ten", (_OFFER._replace(low=10, high=10), *CHOICE)),
             ))), Rule.RENJU, 15,
            "After each of the first four stones, in growing squares, the other player may change "
            "sides; then black puts one fifth stone, or offers ten.",
        ),
    )
}  # fmt: skip


class OpeningPlay:
    """An opening in progress, from the empty board to its last step.

    >>> opening = OpeningPlay(RULES["soosorv-8"])
    >>> opening.play("h8 i9 j10")
    >>> opening.ask()
    'The second player may change sides.'
    >>> opening.play("swap")
    >>> opening.black, opening.player
    (1, 0)
    """

    def __init__(self, rule: OpeningRule, width: int = 15, height: int | None = None) -> None:
        """Start on an empty board; NotationError if the rule requires another size."""
        height = width if height is None else height
        if rule.size is not None and (width, height) != (rule.size, rule.size):
            board = width if width == height else f"{width}x{height}"
            raise NotationError(f"{rule.title} is played on {rule.size}x{rule.size}, not {board}")
        self.rule, self.width, self.height = rule, width, height
        self.stones: list[Coordinates] = []
        self.black = 0  # the player who has black: 0 the first, 1 the second
        self.count = 0  # fifth stones that black will offer, 0: not declared yet
        self.offered: tuple[Coordinates, ...] = ()
        self.actions: list[str] = []  # as words: h8, h8+i9, swap, keep, 5, or a branch
        self.history: list[tuple[int, int]] = []  # for each action its player and prior stones
        self._left = list(rule.steps)

    @classmethod
    def named(
        cls, name: str, width: int = 15, height: int | None = None, actions: str = ""
    ) -> OpeningPlay:
        """Return an opening by its rule's name, after actions; NotationError if impossible."""
        if name not in RULES:
            raise NotationError(f"{name}: no opening rule; there are {', '.join(RULES)}")
        opening = cls(RULES[name], width, height)
        opening.play(actions)
        return opening

    def after(self, words: Iterable[str]) -> OpeningPlay:
        """Return a copy of the opening, continued by these actions."""
        actions = " ".join([*self.actions, *words])
        return self.named(self.rule.name, self.width, self.height, actions)

    def taken_back(self, player: int) -> OpeningPlay | None:
        """Return the opening before the last action of a player, or None if there is none."""
        own = [at for at, (who, _) in enumerate(self.history) if who == player]
        return self._before(own[-1]) if own else None

    def back_at(self, moves: Sequence[Coordinates]) -> OpeningPlay | None:
        """Return the opening before the stone that came after these, or None if none did."""
        if list(moves) != self.stones[: len(moves)]:
            return None
        puts = [at for at, (_, stones) in enumerate(self.history) if stones == len(moves)]
        return self._before(puts[-1]) if puts else None

    def _before(self, action: int) -> OpeningPlay:
        words = " ".join(self.actions[:action])
        return self.named(self.rule.name, self.width, self.height, words)

    def colour_of(self, player: int) -> Side:
        """Return a player's current colour."""
        return Side.BLACK if player == self.black else Side.WHITE

    def taking(self, side: Side) -> str:
        """Return the word with which the acting player takes a colour at a swap."""
        return "keep" if self.colour_of(self.player) is side else "swap"

    @property
    def step(self) -> Step | None:
        """The current step, None at the end."""
        return self._left[0] if self._left else None

    @property
    def ahead(self) -> list[Step]:
        """The known steps after the current one."""
        return self._left[1:]

    @property
    def player(self) -> int:
        """The player who acts, 0 the first; at the end, the player to move."""
        step = self.step
        if step is not None and step.who in ("first", "second"):
            return int(step.who == "second")
        colour = len(self.stones) % 2 if step is None else int(step.who == "white")
        return self.black if colour == 0 else 1 - self.black

    def cells(self) -> list[Coordinates]:
        """Return the cells allowed for a stone, or the offered ones at a choice."""
        step = self.step
        if step is None or step.act not in (Act.PUT, Act.OFFER, Act.CHOOSE):
            return []
        if step.act is Act.CHOOSE:
            return list(self.offered)
        centre = self.width // 2, self.height // 2
        reach = max(self.width, self.height) if step.reach is None else step.reach
        return [
            (x, y)
            for y in range(self.height)
            for x in range(self.width)
            if max(abs(x - centre[0]), abs(y - centre[1])) <= reach and (x, y) not in self.stones
        ]

    def wanted(self) -> int:
        """Return the number of stones the step asks for."""
        step = self.step
        if step is None or step.act not in (Act.PUT, Act.OFFER, Act.CHOOSE):
            return 0
        return (step.low or self.count) if step.act is Act.OFFER else 1

    def plain(self) -> str:
        """Return a default action: stones as near to the centre as allowed.

        Sides are kept; of counts and branches, the first is taken.
        """
        step = self.step
        if step is None or step.act is Act.SWAP:
            return "keep"
        if step.act is Act.COUNT:
            return str(step.low)
        if step.act is Act.BRANCH:
            return step.branches[0][0]
        x, y = self.width // 2, self.height // 2
        cells = sorted(self.cells(), key=lambda at: abs(at[0] - x) + abs(at[1] - y))
        chosen = islice(self.unlike(cells), self.wanted())
        return "+".join(cell_name(*cell) for cell in chosen)

    def ask(self) -> str:
        """Return the request of the step in one sentence."""
        step = self.step
        if step is None:
            return f"The opening is over; {'white' if len(self.stones) % 2 else 'black'} moves."
        is_colour = step.who in ("black", "white")
        who = step.who.capitalize() if is_colour else f"The {step.who} player"
        number = ("first", "second", "third", "fourth", "fifth", "sixth")[len(self.stones) % 6]
        match step.act:
            case Act.PUT:
                where = "anywhere"
                if step.reach is not None:
                    side = 2 * step.reach + 1
                    where = f"in the central {side}x{side}" if step.reach else "in the centre"
                return f"{who} puts the {number} stone {where}."
            case Act.SWAP:
                return f"{who} may change sides."
            case Act.COUNT:
                return f"{who} says how many fifth stones black offers, {step.low} to {step.high}."
            case Act.OFFER:
                plural = "" if self.wanted() == 1 else "s, no two of them symmetric"
                return f"{who} offers {self.wanted()} fifth stone{plural}."
            case Act.CHOOSE:
                names = [cell_name(*cell) for cell in self.offered]
                either = " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
                return f"{who} chooses one of the fifth stones: {either}."
            case Act.BRANCH:
                ways = [f"{name} ({BRANCHES[name]})" for name, _ in step.branches]
                return f"{who} chooses: {', '.join(ways[:-1])} or {ways[-1]}."

    def play(self, words: str) -> None:
        """Perform actions, separated by blanks; NotationError at the first not allowed."""
        for word in words.split():
            now = self.player, len(self.stones)
            self._do(word.lower())
            self.actions.append(word.lower())
            self.history.append(now)

    def _do(self, word: str) -> None:
        step = self.step
        if step is None:
            raise NotationError(f"{word}: the opening is over")
        if step.act in (Act.PUT, Act.OFFER, Act.CHOOSE):
            self._take([parse_cell(part, self.width, self.height) for part in word.split("+")])
        elif step.act is Act.SWAP:
            if word not in ("swap", "keep"):
                raise NotationError(f"{word}: say swap or keep")
            if word == "swap":
                self.black = 1 - self.black
        elif step.act is Act.COUNT:
            if not word.isdecimal() or not step.low <= int(word) <= step.high:
                raise NotationError(f"{word}: a number from {step.low} to {step.high} is asked for")
            self.count = int(word)
        else:
            branches = dict(step.branches)
            if word not in branches:
                raise NotationError(f"{word}: choose {', '.join(branches)}")
            self._left[1:1] = branches[word]
            if word == "swap":
                self.black = 1 - self.black
        del self._left[0]

    def _take(self, cells: Sequence[Coordinates]) -> None:
        step, allowed = self.step, set(self.cells())
        assert step is not None
        for cell in cells:
            if cell not in allowed:
                what = "is taken" if cell in self.stones else "is not allowed there"
                if step.act is Act.CHOOSE:
                    what = "was not offered"
                raise NotationError(f"{cell_name(*cell)} {what}. {self.ask()}")
        if len(cells) != self.wanted():
            raise NotationError(f"{len(cells)} offered, not {self.wanted()}. {self.ask()}")
        if step.act is not Act.OFFER:
            self.stones.append(cells[0])
            return
        for index, cell in enumerate(cells):
            if cell in self.twins(cells[:index]):
                raise NotationError(f"{cell_name(*cell)} is symmetric to another one, or the same")
        self.offered = tuple(cells)

    def unlike(
        self, cells: Iterable[Coordinates], stones: Sequence[Coordinates] | None = None
    ) -> Iterator[Coordinates]:
        """Yield the cells that are not symmetric to an earlier one, by ``twins``."""
        seen: set[Coordinates] = set()
        for cell in cells:
            if cell not in seen:
                yield cell
                seen |= self.twins([cell], stones)

    def twins(
        self, cells: Iterable[Coordinates], stones: Sequence[Coordinates] | None = None
    ) -> set[Coordinates]:
        """Return these cells and their images under the symmetries of the position.

        ``stones``: a position to use instead of the board's, stones in turn, black first.
        """
        board, stones = (self.width, self.height), self.stones if stones is None else stones
        kept, cells = own_symmetries((stones[::2], stones[1::2]), *board), list(cells)
        return {cell for number in kept for cell in transform(cells, number, *board)}


# The openings of renju by name --------------------------------------------------------

SIZE = 15
CENTRE = (7, 7)
SIDES = {"D": (0, 1), "I": (1, 1)}  # white from the centre, right and up

# By number: the name, and the third stone from the centre, right and up.
THIRDS = {
    "D": (
        ("Kansei", 0, 2), ("Keigetsu", 1, 2), ("Sosei", 2, 2), ("Kagetsu", 1, 1),
        ("Zangetsu", 2, 1), ("Ugetsu", 1, 0), ("Kinsei", 2, 0), ("Shogetsu", 0, -1),
        ("Kyugetsu", 1, -1), ("Shingetsu", 2, -1), ("Zuisei", 0, -2), ("Sangetsu", 1, -2),
        ("Yusei", 2, -2),
    ),
    "I": (
        ("Chosei", 2, 2), ("Kyogetsu", 2, 1), ("Kosei", 2, 0), ("Suigetsu", 2, -1),
        ("Ryusei", 2, -2), ("Ungetsu", 1, 0), ("Hogetsu", 1, -1), ("Rangetsu", 1, -2),
        ("Gingetsu", 0, -1), ("Myojo", 0, -2), ("Shagetsu", -1, -1), ("Meigetsu", -1, -2),
        ("Suisei", -2, -2),
    ),
}  # fmt: skip


class Opening(NamedTuple):
    """One of the 26 openings: its code such as ``D4``, its name, and its three stones in order."""

    code: str
    name: str
    stones: tuple[Coordinates, ...]

    def __str__(self) -> str:
        return f"{self.code} {self.name}"

    def leads_to(self, position: Position) -> bool:
        """Return whether a position contains the opening's stones in any orientation."""
        if (position.width, position.height) != (SIZE, SIZE):
            return False
        images = (transform(self.stones, number, SIZE, SIZE) for number in range(8))
        return any(
            {first, third}.issubset(position.black) and second in position.white
            for first, second, third in images
        )


@cache
def openings() -> dict[bytes, Opening]:
    """Return the 26 openings by the keys of their positions."""
    found = {}
    empty = Position(Rule.RENJU, SIZE, SIZE, Side.BLACK, (), ())
    for kind, (right, up) in SIDES.items():
        for number, (name, *third) in enumerate(THIRDS[kind], 1):
            ways = ((0, 0), (right, up), third)
            stones = tuple((CENTRE[0] + right, CENTRE[1] - up) for right, up in ways)
            key = image_of(reduce(Position.after, stones, empty)).key
            found[key] = Opening(f"{kind}{number}", name, stones)
    return found


def find_opening(text: str) -> Opening | None:
    """Return the opening with this code or name, or None."""
    word = text.strip().lower()
    known = (each for each in openings().values() if word in (each.code.lower(), each.name.lower()))
    return next(known, None)


def opening_of(record: GameRecord) -> Opening | None:
    """Return the opening of a game's first three stones, placed or played under any rule."""
    count = max(0, 3 - len(record.placed))
    passes = tuple(after for after in record.passes if after < count)
    position = record._replace(moves=record.moves[:count], passes=passes).position
    return openings().get(image_of(position._replace(rule=Rule.RENJU, to_move=Side.WHITE)).key)
