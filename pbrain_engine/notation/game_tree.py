"""A tree of moves with what people wrote on them: what libraries and SGF files with variations are.

A node is a move, or a text drawn on a cell where nobody played. The readers and writers of the
formats have no recursion: a line may be as long as the board, a library has a million nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ..position.geometry import Coordinates
from .cells import NotationError, cell_name
from .game_record import GameRecord


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
    children: list[TreeNode] = field(default_factory=list)

    @property
    def has_notes(self) -> bool:
        """Whether it holds more than the move."""
        return bool(
            self.title or self.comment or self.text or self.is_marked or self.is_start
        ) or not (self.is_move)

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

    def count(self) -> int:
        """Return the number of nodes below the root."""
        return sum(1 for _ in self.walk()) - 1

    def is_plain(self) -> bool:
        """Whether it is one line without notes."""
        node = self.root
        while len(node.children) == 1 and not node.has_notes:
            node = node.children[0]
        return not node.children and not node.has_notes

    def check(self) -> GameTree:
        """Return the tree itself if its moves are possible.

        Raises:
            NotationError: a stone is off the board or on a cell that is taken.
        """
        self.record.check()
        width, height = self.record.width, self.record.height
        line: list[Coordinates | None] = []
        taken = {*self.record.black_setup, *self.record.white_setup}
        for node, depth in self.walk():
            while len(line) >= max(depth, 1):
                cell = line.pop()
                if cell is not None:
                    taken.discard(cell)
            if depth == 0:
                continue
            cell = node.cell
            if cell is not None:
                if not (0 <= cell[0] < width and 0 <= cell[1] < height):
                    raise NotationError(f"{cell[0]},{cell[1]} is off the {width}x{height} board")
                if node.is_move and cell in taken:
                    where = " ".join(cell_name(*at) for at in line if at is not None)
                    raise NotationError(f"{cell_name(*cell)} is taken after {where}")
            if not node.is_move and node.children:
                raise NotationError("a text on a cell is followed by moves")
            if node.is_move:
                line.append(cell)
                if cell is not None:
                    taken.add(cell)
            else:
                line.append(None)
        return self


def tree_of(record: GameRecord) -> GameTree:
    """Return a game as a tree of one line."""
    tree = GameTree(replace(record, moves=(), passes=(), comment=""))
    tree.root.comment = record.comment
    comments = iter(record.moves)
    node = tree.root
    for cell in record.turns:
        child = TreeNode(cell, comment="" if cell is None else next(comments).comment)
        node.children.append(child)
        node = child
    return tree
