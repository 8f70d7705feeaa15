"""A game on paper: its board, what stood there, the moves in order, players and result.

And games with their variations, and what people wrote on them, as trees. A node is a move, or a
text drawn on a cell without a move. Readers and writers of the formats do not recurse: a line may
be as long as the board, a library has a million nodes.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import NamedTuple

from ..position.geometry import Coordinates
from ..position.rules import Rule, Side
from .cells import NotationError, cell_name, check_on_board, check_size
from .position import Held, Image, Position, images_of

BLACK, WHITE, DRAW = "black", "white", "draw"

FIVE = "five"
FULL = "full"  # no empty cell
LIMIT = "limit"  # as many stones as the match allows
SCORE = "score"  # both engines agreed on the outcome for long enough

# Faults: what the loser did.
CRASH = "crash"  # it died of a signal or with an error code
EXIT = "exit"  # it left, or closed its output, unasked
TIME = "time"  # its answer came late, or not at all though it had spoken before
MUTE = "mute"  # it never said anything at all
GARBAGE = "garbage"  # it said things, none of them a move
FLOOD = "flood"  # it said far too much
MEMORY = "memory"  # it held more memory than allowed
ILLEGAL = "illegal"  # its move was off the board or on a stone
FORBIDDEN = "forbidden"  # its move was a foul of black's in renju
REFUSED = "refused"  # it declined the board or the rule with ERROR or UNKNOWN
START = "start"  # it could not be started
FAULTS = (CRASH, EXIT, TIME, MUTE, GARBAGE, FLOOD, MEMORY, ILLEGAL, FORBIDDEN, REFUSED, START)

RESULTS = {BLACK: "1-0", WHITE: "0-1", DRAW: "1/2-1/2"}  # by who has won


class GameRecord(NamedTuple):
    """A game: board, rule, players, moves in order.

    ``first`` plays the first move, the sides alternate. ``placed`` is what stood on the board
    before that; blocked cells can only be drawn, and PSQ cannot keep stones either, nor ``passes``:
    how many moves had been made each time that a side gave up its turn.
    """

    width: int = 15
    height: int = 15
    rule: Rule | None = None  # None: the file does not say
    moves: tuple[Coordinates, ...] = ()
    first: Side = Side.BLACK
    placed: tuple[Held, ...] = ()
    passes: tuple[int, ...] = ()
    times: tuple[int, ...] = ()  # milliseconds of the moves that were not given; not in SGF
    comments: tuple[str, ...] = ()  # on the moves; PSQ does not keep them
    marked: Coordinates | None = None  # what a drawing marks as the last stone
    black: str = ""  # names of the players
    white: str = ""
    result: str = ""  # "1-0" black won, "0-1" white won, "1/2-1/2", or "" where open
    date: str = ""
    comment: str = ""  # about the game as a whole
    number: int = 0  # of the game in its match, from 0
    round: int = 0  # games of one opening have the same
    reason: str = ""  # why it ended: FIVE, FULL, LIMIT, SCORE or a fault of the loser's
    detail: str = ""
    given: int = 0  # how many of the moves are an opening that no player chose
    depths: tuple[int | None, ...] = ()  # of the searches for the moves after that, as far as known
    values: tuple[int | None, ...] = ()  # for the side that moves
    nodes: tuple[int | None, ...] = ()
    memory: tuple[int, ...] = ()  # peak bytes of black and white
    seconds: float = 0.0  # that the whole game took
    steps: str = ""  # by which an opening rule was gone through, as ``OpeningPlay.actions``
    remarks: tuple[str, ...] = ()  # what of a file is not in it; two games may differ in it

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GameRecord) and self[:-1] == other[:-1]

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self[:-1])

    @classmethod
    def of(cls, position: Position) -> GameRecord:
        """Return the record of a position without the moves that led to it."""
        rule, width, height, to_move, *_ = position
        return cls(width, height, rule, first=to_move, placed=tuple(position.held))

    @property
    def board(self) -> tuple[int, int, Rule]:
        """Width, height and rule, free style where the file does not say."""
        return self.width, self.height, self.rule or Rule.FREESTYLE

    @property
    def opening(self) -> tuple[Coordinates, ...]:
        """The moves that were given."""
        return self.moves[: self.given]

    @property
    def chosen(self) -> tuple[Coordinates, ...]:
        """The moves after the opening."""
        return self.moves[self.given :]

    @property
    def movers(self) -> list[str]:
        """Who made each of the moves after the opening."""
        sides = self.black, self.white
        return [sides[(self.first + ply) % 2] for ply in range(self.given, len(self.moves))]

    @property
    def winner(self) -> str:
        """``black``, ``white`` or ``draw``; empty where the result is open."""
        return next((side for side, result in RESULTS.items() if result == self.result), "")

    @property
    def loser(self) -> str:
        """The loser's name; empty after a draw."""
        return {BLACK: self.white, WHITE: self.black}.get(self.winner, "")

    @property
    def fault(self) -> str:
        """The cause for which the loser lost, or an empty string."""
        return self.reason if self.reason in FAULTS else ""

    @property
    def ending(self) -> str:
        """The reason for which it ended, with its detail."""
        return f"{self.reason}: {self.detail}" if self.detail else self.reason

    def points(self, name: str) -> int:
        """Half points of a player: 2 for a win, 1 for a draw."""
        return 1 if self.winner == DRAW else 2 * (self.loser != name)

    @property
    def turns(self) -> list[Coordinates | None]:
        """The moves in order, with None for each pass."""
        turns: list[Coordinates | None] = list(self.moves)
        for after in sorted(self.passes, reverse=True):
            turns.insert(after, None)
        return turns

    @property
    def last(self) -> Coordinates | None:
        """The last stone, as far as it is known."""
        return self.moves[-1] if self.moves else self.marked

    @property
    def to_move(self) -> Side:
        """Who moves at the end."""
        return Side((self.first + len(self.moves) + len(self.passes)) % 2)

    @property
    def stones(self) -> dict[Coordinates, Side]:
        """What stands on the cells at the end, in the order in which it came there."""
        stones, side = dict(self.placed), self.first
        for cell in self.turns:
            if cell is not None:
                stones[cell] = side
            side = side.opponent
        return stones

    @property
    def beginning(self) -> GameRecord:
        """Board and rule, and what stood there before the first move; nothing else."""
        return GameRecord(self.width, self.height, self.rule, first=self.first, placed=self.placed)

    @property
    def start(self) -> Position:
        """The position before the first move."""
        width, height, rule = self.board
        return Position.of(rule, width, height, self.first, self.placed)

    @property
    def position(self) -> Position:
        """What stands on the board after the moves, whether that can arise or not."""
        return reduce(Position.after, self.turns, self.start)

    def images(self) -> Iterator[Image]:
        """Yield the images of all positions, that before the first move first."""
        return images_of(self.start, self.turns)


# Stages of a game, by the stones on the board -------------------------------------------

STAGES = (0, 10, 20, 40)  # stones from which each begins


def stage_of(stones: int) -> int:
    """Return the stage of a position with ``stones`` stones, from 0."""
    return bisect(STAGES, stones) - 1


def stage_name(stage: int) -> str:
    """Return the stones of a stage: ``10-19``, ``40+``."""
    first, *later = STAGES[stage:]
    return f"{first}-{later[0] - 1}" if later else f"{first}+"


# Trees of variations --------------------------------------------------------------------

MOST_BAD = 3  # games that are named as impossible


@dataclass(slots=True)
class TreeNode:
    """A move and its notes; ``cell`` is None for the root and for a pass."""

    cell: Coordinates | None = None
    is_move: bool = True  # else only the text is drawn on the cell
    title: str = ""  # a comment of one line
    comment: str = ""
    text: str = ""  # drawn on the cell while the move before is shown
    is_marked: bool = False  # so that it can be found again
    is_start: bool = False  # where a reader of the file should begin
    drawn: str = ""  # circles and arrows, as "h8 a1b2": a circle and an arrow
    children: list[TreeNode] = field(default_factory=list)

    @property
    def has_notes(self) -> bool:
        """Whether it holds more than the move."""
        notes = self.title, self.comment, self.text, self.is_marked, self.is_start, self.drawn
        return any(notes) or not self.is_move

    def child(self, cell: Coordinates | None, is_move: bool = True) -> TreeNode:
        """Return the child with this move (or text), made if there is none."""
        for node in self.children:
            if node.cell == cell and node.is_move is is_move:
                return node
        node = TreeNode(cell, is_move)
        self.children.append(node)
        return node


@dataclass(slots=True)
class GameTree:
    """A tree, and board, rule, players and stones set up before (``record`` without moves)."""

    record: GameRecord = field(default_factory=GameRecord)
    root: TreeNode = field(default_factory=TreeNode)
    remarks: list[str] = field(default_factory=list)  # what of a file could not be taken over

    def walk(self) -> Iterator[tuple[TreeNode, int]]:
        """Yield every node with its depth, the root (0) first, a branch before its siblings."""
        stack = [(self.root, 0)]
        while stack:
            node, depth = stack.pop()
            yield node, depth
            stack.extend((child, depth + 1) for child in reversed(node.children))

    def add(self, cells: Iterable[Coordinates | None]) -> TreeNode:
        """Return the node at the end of a line of moves, made where it is not there."""
        node = self.root
        for cell in cells:
            node = node.child(cell)
        return node

    def count(self) -> int:
        """Return the number of nodes below the root."""
        return sum(1 for _ in self.walk()) - 1

    def is_plain(self) -> bool:
        """Whether it is one line without notes."""
        return not any(node.has_notes or node.children[1:] for node, _ in self.walk())

    def check(self) -> GameTree:
        """Return the tree itself; NotationError if its board, stones or moves are not possible."""
        record = self.record
        size = record.width, record.height
        check_size("the board", *size)
        setup: set[Coordinates] = set()
        for cell, _ in record.placed:
            if check_on_board(*cell, *size) in setup:
                raise NotationError(f"{cell_name(*cell)} holds two stones")
            setup.add(cell)
        way: list[Coordinates | None] = []  # the moves to a node
        for node, depth in self.walk():
            del way[max(depth - 1, 0) :]
            if node.cell is not None:
                check_on_board(*node.cell, *size)
                if node.is_move and (node.cell in setup or node.cell in way):
                    where = " ".join(cell_name(*cell) for cell in way if cell is not None)
                    raise NotationError(f"{cell_name(*node.cell)} is taken after {where}")
            if not node.is_move and node.children:
                raise NotationError("a text on a cell is followed by moves")
            if depth:
                way.append(node.cell if node.is_move else None)
        return self


def without_bad(trees: list[GameTree], bad: Sequence[str]) -> list[GameTree]:
    """Return the possible games of a file, a remark names others; NotationError if all are bad."""
    if bad and not trees:
        raise NotationError(bad[0])
    if bad:
        more = f"; and {len(bad) - MOST_BAD} more" if len(bad) > MOST_BAD else ""
        trees[0].remarks.append(f"left out: {'; '.join(bad[:MOST_BAD])}{more}")
    return trees


def tree_of(record: GameRecord) -> GameTree:
    """Return a game as a tree of one line."""
    tree = GameTree(record._replace(moves=(), passes=(), times=(), comments=(), comment=""))
    tree.root.comment = record.comment
    comments = iter(record.comments)
    node = tree.root
    for cell in record.turns:
        node = node.child(cell)
        node.comment = "" if cell is None else next(comments, "")
    return tree


def main_line(tree: GameTree) -> GameRecord:
    """Return the game that a tree tells: its first branch everywhere."""
    moves: list[Coordinates] = []
    comments: list[str] = []
    passes: list[int] = []
    node = tree.root
    while following := next((child for child in node.children if child.is_move), None):
        node = following
        if node.cell is None:
            passes.append(len(moves))
        else:
            moves.append(node.cell)
            comments.append(node.comment)
    return tree.record._replace(
        moves=tuple(moves), comments=tuple(comments) * any(comments),
        passes=tuple(passes), comment=tree.root.comment, remarks=tuple(tree.remarks),
    )  # fmt: skip
