"""RenLib libraries, ``.lib``: the trees in which renju players keep their work.

A file begins with twenty bytes: 0xFF, ``RenLib``, 0xFF, the version 3 and 0 (or 4), and ten
times 0xFF. Each node follows as two bytes, a cell and flags, in the order of a walk through the
tree in which a branch comes before its siblings. The low half of a cell is the column from 1,
the high half the row from 0 at the top; zero is no cell, a root or a pass. The board is 15x15.

Flags: 0x80 a sibling follows after the branch, 0x40 the node has no child, 0x20 a comment in the
old letters, 0x10 marked, 0x08 a comment, 0x04 where to start, 0x02 not a move (a text on a cell),
0x01 two more bytes of flags follow, of which 0x0001 says that there is a text for the board.
A text ends with a zero and is filled up to an even length; a comment is one line, then, after a
byte 8, further lines. The letters are those of whatever code page the writer's system had.
"""

from __future__ import annotations

from .cells import NotationError
from .game_tree import GameRecord, GameTree, TreeNode

SIZE = 15
MAGIC = b"\xffRenLib\xff"
VERSION = bytes((3, 0))
READABLE = ((3, 0), (3, 4))
HEADER_BYTES = 20

SIBLING = 0x80
CHILDLESS = 0x40
OLD_COMMENT = 0x20
MARK = 0x10
COMMENT = 0x08
START = 0x04
NO_MOVE = 0x02
EXTENSION = 0x01
BOARD_TEXT = 0x0001  # of the two bytes of the extension

SEPARATOR = "\b"  # between the first line of a comment and the others
NO_CELL = 0

ENCODING = "utf-8"
FALLBACK = "cp1252"  # of files that are not in the encoding that is asked for
OLD_LETTERS = str.maketrans("[\\]{|}", "ÄÖÅäöå")  # Swedish seven-bit letters


def parse_renlib(data: bytes, encoding: str = ENCODING) -> GameTree:
    """Return the tree of a library.

    Texts that are not all in the encoding are taken for those of a western Windows.

    Raises:
        NotationError: this is no library, it is cut off, or its moves are not possible.
    """
    if len(data) < HEADER_BYTES or not data.startswith(MAGIC):
        raise NotationError("this is no RenLib library")
    version = data[len(MAGIC)], data[len(MAGIC) + 1]
    if version not in READABLE:
        raise NotationError(f"a RenLib library of version {version[0]}.{version[1]} is unknown")
    reader = _Reader(data)
    tree = GameTree(GameRecord(SIZE, SIZE))
    parent, pending = tree.root, list[TreeNode]()
    is_first, is_owed, flags = True, False, 0
    while reader.at + 1 < len(data):
        node, flags = reader.node()
        if is_first and node.cell is None:
            tree.root = node
        else:
            parent.children.append(node)
            if flags & SIBLING:
                pending.append(parent)
        is_first, is_owed = False, False
        if not flags & CHILDLESS:
            parent = node
        elif pending:
            parent = pending.pop()
            is_owed = True
        else:
            break
    if pending or is_owed:
        raise NotationError("the library is cut off: a branch that it announces is not there")
    reader.decode(encoding)
    if not is_first and not flags & CHILDLESS:
        tree.remarks.append("the file ends where a further move is announced; it may be cut off")
    if reader.unknown:
        tree.remarks.append(f"{reader.unknown} nodes have undocumented flags")
    return tree.check()


def format_renlib(tree: GameTree, encoding: str = ENCODING) -> tuple[bytes, list[str]]:
    """Return a tree as a library, and in words what of it a library cannot hold.

    Raises:
        NotationError: the board is not 15x15, stones are set up before the first move, or white
            begins.
    """
    record = tree.record
    if (record.width, record.height) != (SIZE, SIZE):
        raise NotationError(f"a library has boards of 15x15, not {record.width}x{record.height}")
    if record.black_setup or record.white_setup or record.first:
        raise NotationError("a library begins with the empty board and black's move")
    writer = _Writer(encoding)
    root = tree.root
    out = bytearray(MAGIC + VERSION).ljust(HEADER_BYTES, b"\xff")
    stack = [(root, False)]
    if not root.has_notes and len(root.children) == 1 and root.children[0].is_move:
        stack = [(root.children[0], False)]
    while stack:
        node, has_sibling = stack.pop()
        writer.write(out, node, has_sibling)
        last = len(node.children) - 1
        stack.extend((child, at < last) for at, child in reversed([*enumerate(node.children)]))
    return bytes(out), writer.losses()


class _Reader:
    """Nodes one after the other; texts stay bytes until all are read."""

    def __init__(self, data: bytes) -> None:
        self.at = HEADER_BYTES
        self.unknown = 0
        self._data = data
        self._comments: list[tuple[TreeNode, bytes, bool]] = []
        self._texts: list[tuple[TreeNode, bytes]] = []

    def node(self) -> tuple[TreeNode, int]:
        """Return the next node and its flags."""
        place, flags = self._data[self.at], self._data[self.at + 1]
        self.at += 2
        more = 0
        if flags & EXTENSION:
            more = int.from_bytes(self._data[self.at : self.at + 2], "big")
            self.at += 2
        x, y = (place & 0x0F) - 1, place >> 4
        if place != NO_CELL and (x < 0 or y >= SIZE):
            raise NotationError(f"byte {self.at - 2} of the library is no cell of its board")
        node = TreeNode(
            None if place == NO_CELL else (x, y),
            not flags & NO_MOVE,
            is_marked=bool(flags & MARK),
            is_start=bool(flags & START),
        )
        if flags & (COMMENT | OLD_COMMENT):
            self._comments.append((node, self._text(), not flags & COMMENT))
        if more & BOARD_TEXT:
            self._texts.append((node, self._text()))
        self.unknown += bool(more & ~BOARD_TEXT)
        return node, flags

    def _text(self) -> bytes:
        start = self.at
        while self.at + 1 < len(self._data):
            pair = self._data[self.at : self.at + 2]
            self.at += 2
            if 0 in pair:
                return self._data[start : self.at].partition(b"\0")[0]
        raise NotationError("the library is cut off in the middle of a text")

    def decode(self, encoding: str) -> None:
        """Give the nodes their texts."""
        raw = [text for _, text, _ in self._comments] + [text for _, text in self._texts]
        for name in (encoding, FALLBACK, "latin-1"):
            try:
                for words in raw:
                    words.decode(name)
            except UnicodeDecodeError:
                continue
            break
        for node, comment, is_old in self._comments:
            text = _lines(comment.decode(name))
            if is_old:
                text = text.translate(OLD_LETTERS)
            node.title, _, node.comment = text.partition(SEPARATOR)
        for node, label in self._texts:
            node.text = _lines(label.decode(name))


class _Writer:
    """Nodes as bytes, and a count of what was lost."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding
        self._replaced = 0

    def write(self, out: bytearray, node: TreeNode, has_sibling: bool) -> None:
        """Append a node."""
        flags = (
            SIBLING * has_sibling
            | CHILDLESS * (not node.children)
            | MARK * node.is_marked
            | COMMENT * bool(node.title or node.comment)
            | START * node.is_start
            | NO_MOVE * (not node.is_move)
            | EXTENSION * bool(node.text)
        )
        cell = NO_CELL if node.cell is None else node.cell[1] << 4 | (node.cell[0] + 1)
        out += bytes((cell, flags))
        if node.text:
            out += BOARD_TEXT.to_bytes(2, "big")
        if node.title or node.comment:
            rest = [self._text(node.comment)] if node.comment else []
            out += _fill(SEPARATOR.encode().join([self._text(node.title), *rest]))
        if node.text:
            out += _fill(self._text(node.text))

    def _text(self, text: str) -> bytes:
        clean = text.replace(SEPARATOR, " ").replace("\0", " ").replace("\n", "\r\n")
        try:
            encoded = clean.encode(self._encoding)
        except UnicodeEncodeError:
            encoded = clean.encode(self._encoding, "replace")
            self._replaced += 1
        else:
            self._replaced += clean != text.replace("\n", "\r\n")
        return encoded

    def losses(self) -> list[str]:
        """Return in words what could not be written."""
        if not self._replaced:
            return []
        return [f"{self._replaced} texts have letters that {self._encoding} or the format has not"]


def _lines(text: str) -> str:
    """Return a text with the ends of lines that it has here; they are longer in a library."""
    return text.replace("\r\n", "\n")


def _fill(text: bytes) -> bytes:
    """Return a text with its end, of even length."""
    return text + b"\0" * (2 - len(text) % 2)
