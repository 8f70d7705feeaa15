"""Trees of variations with notes.

A node is a move, or a text on a cell without a move. Readers and writers of the formats do not
recurse: a line may be as long as the board, and a library may have a million nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ..errors import Remark
from ..position.geometry import Coordinates
from .cells import NotationError, cell_name, check_on_board, check_size
from .record import GameRecord

MOST_BAD = 3  # impossible games named in a remark


@dataclass(slots=True)
class TreeNode:
    """A move and its notes; ``cell`` is None for the root and for a pass."""

    cell: Coordinates | None = None
    is_move: bool = True  # False: just a text on the cell
    title: str = ""  # a comment of one line
    comment: str = ""
    text: str = ""  # drawn on the cell while the parent is shown
    is_marked: bool = False  # a bookmark
    is_start: bool = False  # where a reader of the file should start
    drawn: str = ""  # circles and arrows: "h8 a1b2" is a circle and an arrow
    children: list[TreeNode] = field(default_factory=list)

    @property
    def has_notes(self) -> bool:
        """Whether the node is more than a plain move."""
        notes = self.title, self.comment, self.text, self.is_marked, self.is_start, self.drawn
        return any(notes) or not self.is_move

    def child(self, cell: Coordinates | None, is_move: bool = True) -> TreeNode:
        """Return the child with this move (or text), created if missing."""
        for node in self.children:
            if node.cell == cell and node.is_move is is_move:
                return node
        node = TreeNode(cell, is_move)
        self.children.append(node)
        return node


@dataclass(slots=True)
class GameTree:
    """A tree of moves; ``record`` has its board, rule, players and set-up stones, no moves."""

    record: GameRecord = field(default_factory=GameRecord)
    root: TreeNode = field(default_factory=TreeNode)
    remarks: list[Remark] = field(default_factory=list)  # about what was not read from a file

    def walk(self) -> Iterator[tuple[TreeNode, int]]:
        """Yield every node with its depth, the root (0) first, a branch before its siblings."""
        stack = [(self.root, 0)]
        while stack:
            node, depth = stack.pop()
            yield node, depth
            stack.extend((child, depth + 1) for child in reversed(node.children))

    def add(self, cells: Iterable[Coordinates | None]) -> TreeNode:
        """Return the node at the end of a line of moves, creating missing nodes."""
        node = self.root
        for cell in cells:
            node = node.child(cell)
        return node

    def count(self) -> int:
        """Return the number of nodes below the root."""
        return sum(1 for _ in self.walk()) - 1

    def is_plain(self) -> bool:
        """Whether the tree is one line without notes."""
        return not any(node.has_notes or node.children[1:] for node, _ in self.walk())

    def check(self) -> GameTree:
        """Return the tree itself; NotationError if its board, stones or moves are impossible."""
        record = self.record
        size = record.width, record.height
        check_size("the board", *size)
        taken: set[Coordinates | None] = set()
        for cell, _ in record.placed:
            if check_on_board(*cell, *size) in taken:
                raise NotationError(f"{cell_name(*cell)} has two stones")
            taken.add(cell)
        way: list[Coordinates | None] = []  # the moves to a node
        for node, depth in self.walk():
            taken.difference_update(way[max(depth - 1, 0) :])
            del way[max(depth - 1, 0) :]
            if node.cell is not None:
                check_on_board(*node.cell, *size)
                if node.is_move and node.cell in taken:
                    where = " ".join(cell_name(*cell) for cell in way if cell is not None)
                    name = cell_name(*node.cell)
                    twice = NotationError(f"{name} is taken{' after ' * bool(where)}{where}")
                    raise twice.coded("wrong-twice", n=depth, cell=name)
            if not node.is_move and node.children:
                raise NotationError("a text on a cell is followed by moves")
            if depth:
                way.append(node.cell if node.is_move else None)
                taken.add(way[-1])
        return self


def without_bad(trees: list[GameTree], bad: Sequence[str]) -> list[GameTree]:
    """Return a file's valid games, with a remark on the others; NotationError if none is valid."""
    if bad and not trees:
        raise NotationError(bad[0])
    if bad:
        more = f"; and {len(bad) - MOST_BAD} more" if len(bad) > MOST_BAD else ""
        text = f"left out: {'; '.join(bad[:MOST_BAD])}{more}"
        trees[0].remarks.append(Remark(text, "left-games", n=len(bad)))
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
    """Return the main line of a tree, its first branch at every node."""
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
