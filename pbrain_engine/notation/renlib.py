"""RenLib libraries, ``.lib``: renju players' trees of variations.

A file begins with twenty bytes: 0xFF, ``RenLib``, 0xFF, the version, up to 3 and 4, and ten times
0xFF; the oldest files begin with the node h8 at once. The nodes follow in depth-first order, each
as two bytes, a cell and flags. The low half of a cell is the column from 1, the high half the row
from 0 at the top; zero is no cell: a root or a pass. The board is 15x15.

Flags: 0x80 a sibling follows after the branch, 0x40 the node has no child, 0x20 an old comment,
0x10 marked, 0x08 a comment, 0x04 where to start, 0x02 not a move (a text on a cell), 0x01 two more
bytes of flags follow, of which 0x0001 announces a text for the board.
A text ends with a zero, an old comment, of seven-bit letters, with the letter that has the eighth
bit; both are padded to an even length. A comment is one line, then, after a byte 8, further lines.
The encoding is the code page of the writer's system.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

from ..errors import Remark, counted
from ..game.cells import NotationError
from ..game.record import GameRecord
from ..game.tree import GameTree, TreeNode

SIZE = 15
MAGIC = b"\xffRenLib\xff"
VERSION = bytes((3, 0))
NEWEST = bytes((3, 4))
HEADER_BYTES = 20
FIRST_CELL = b"\x78"  # h8, of a file without a header

SIBLING, CHILDLESS, OLD_COMMENT, MARK = 0x80, 0x40, 0x20, 0x10
COMMENT, START, NO_MOVE, EXTENSION = 0x08, 0x04, 0x02, 0x01
BOARD_TEXT = 0x0001  # of the two bytes of the extension

SEPARATOR = "\b"  # between the first line of a comment and the others
NO_CELL = 0
TEXT = re.compile(rb"[^\0]*\0")
OLD_TEXT = re.compile(rb"[\0-\x7f]*[\x80-\xff]")

ENCODING = "utf-8"
FALLBACK = "cp1252"  # for files not in the requested encoding
OLD_LETTERS = str.maketrans("[\\]{|}", "ÄÖÅäöå")  # Swedish seven-bit letters


def is_renlib(data: bytes, name: str) -> bool:
    """Return whether a file is a library: by its header, or its name and first cell."""
    return data.startswith(MAGIC) or (name.lower().endswith(".lib") and data.startswith(FIRST_CELL))


def parse_renlib(data: bytes, encoding: str = ENCODING) -> GameTree:
    """Parse a library; NotationError if it is none, or cut off, or its moves are impossible.

    If its texts are not all in ``encoding``, Western Windows is tried next.
    """
    start = 0 if data.startswith(FIRST_CELL) else HEADER_BYTES
    if len(data) < start or (start and not data.startswith(MAGIC)):
        raise NotationError("this is not a RenLib library")
    version = data[len(MAGIC) : len(MAGIC) + 2]
    if start and version > NEWEST:
        raise NotationError(f"RenLib version {version[0]}.{version[1]} is unknown")
    tree = GameTree(GameRecord(SIZE, SIZE))
    parent, pending = tree.root, list[TreeNode]()
    comments, labels = list[tuple[TreeNode, bytes, int]](), list[tuple[TreeNode, bytes]]()
    count, flags, unknown, is_owed, left = 0, CHILDLESS, 0, False, 0
    for node, flags, more, comment, label, end in _nodes(data, start):
        count += 1
        if flags & (COMMENT | OLD_COMMENT):
            comments.append((node, comment, flags))
        if more & BOARD_TEXT:
            labels.append((node, label))
        unknown += bool(more & ~BOARD_TEXT)
        if count == 1 and node.cell is None:
            tree.root = node
        else:
            parent.children.append(node)
            if flags & SIBLING:
                pending.append(parent)
        is_owed = bool(flags & CHILDLESS and pending)
        if not flags & CHILDLESS:
            parent = node
        elif pending:
            parent = pending.pop()
        else:
            left = len(data) - end
            break
    if pending or is_owed:
        raise NotationError("the library is cut off: an announced branch is missing")
    known = _encoding_of([text for _, text, _ in comments] + [text for _, text in labels], encoding)
    for node, raw, kind in comments:
        text = _decode(raw, known)
        if kind & OLD_COMMENT:
            text = text.translate(OLD_LETTERS)
        node.title, _, node.comment = text.partition(SEPARATOR)
    for node, raw in labels:
        node.text = _decode(raw, known)
    if not flags & CHILDLESS:
        text = "the file ends after announcing another move; it may be cut off"
        tree.remarks.append(Remark(text, "left-end"))
    if left:
        text = f"left out: {counted(left, 'byte')} after the last move"
        tree.remarks.append(Remark(text))
    if unknown:
        text = f"nodes with undocumented flags: {unknown}"
        tree.remarks.append(Remark(text, "left-flags", n=unknown))
    return tree.check()


def _nodes(data: bytes, at: int) -> Iterator[tuple[TreeNode, int, int, bytes, bytes, int]]:
    """Yield each node: flags, extension flags, bytes of comment and board text, and its end."""

    def take_text(is_old: bool = False) -> bytes:
        nonlocal at
        found = (OLD_TEXT if is_old else TEXT).match(data, at)
        if found is None or (found.end() - at) % 2 + found.end() > len(data):
            raise NotationError("the library is cut off in the middle of a text")
        at = found.end() + (found.end() - at) % 2
        return bytes(byte & 0x7F for byte in found[0]) if is_old else found[0][:-1]

    while at + 1 < len(data):
        place, flags, more = data[at], data[at + 1], 0
        at += 2
        if flags & EXTENSION:
            more = int.from_bytes(data[at : at + 2], "big")
            at += 2
        x, y = (place & 0x0F) - 1, place >> 4
        if place != NO_CELL and (x < 0 or y >= SIZE):
            raise NotationError(f"byte {at - 2} of the library is not a cell of its board")
        node = TreeNode(
            None if place == NO_CELL else (x, y), not flags & NO_MOVE,
            is_marked=bool(flags & MARK), is_start=bool(flags & START),
        )  # fmt: skip
        is_old = bool(flags & OLD_COMMENT)
        comment = take_text(is_old) if is_old or flags & COMMENT else b""
        yield node, flags, more, comment, take_text() if more & BOARD_TEXT else b"", at


def _encoding_of(texts: list[bytes], wanted: str) -> str:
    """Return an encoding that can decode all texts."""
    for name in (wanted, FALLBACK):
        with suppress(UnicodeDecodeError):
            for text in texts:
                text.decode(name)
            return name
    return "latin-1"


def _decode(text: bytes, encoding: str) -> str:
    return text.decode(encoding).replace("\r\n", "\n")


def format_renlib(tree: GameTree, encoding: str = ENCODING) -> tuple[bytes, list[Remark]]:
    """Return a tree as a library, and remarks on what the format cannot store.

    NotationError if the board is not 15x15, stones are set up first or white begins.
    """
    record = tree.record
    reason = ""
    if (record.width, record.height) != (SIZE, SIZE):
        reason = f"RenLib boards are 15x15, not {record.width}x{record.height}"
    elif record.placed or record.first:
        reason = "a library begins with the empty board and black's move"
    if reason:
        raise NotationError(reason).coded("only-empty", format="RenLib (15×15)")
    replaced = 0

    def encode(text: str) -> bytes:
        nonlocal replaced
        clean = text.replace(SEPARATOR, " ").replace("\0", " ")
        encoded = clean.replace("\n", "\r\n").encode(encoding, "replace")
        replaced += clean != text or _decode(encoded, encoding) != text.replace("\r\n", "\n")
        return encoded

    root = tree.root
    out = bytearray(MAGIC + VERSION).ljust(HEADER_BYTES, b"\xff")
    stack = [(root, False)]  # nodes, and whether a sibling follows
    if not root.has_notes and len(root.children) == 1 and root.children[0].is_move:
        stack = [(root.children[0], False)]
    while stack:
        node, has_sibling = stack.pop()
        flags = (
            SIBLING * has_sibling
            | CHILDLESS * (not node.children)
            | MARK * node.is_marked
            | COMMENT * bool(node.title or node.comment)
            | START * node.is_start
            | NO_MOVE * (not node.is_move)
            | EXTENSION * bool(node.text)
        )
        out += bytes(
            (NO_CELL if node.cell is None else node.cell[1] << 4 | node.cell[0] + 1, flags)
        )
        if node.text:
            out += BOARD_TEXT.to_bytes(2, "big")
        if node.title or node.comment:
            rest = SEPARATOR.encode() + encode(node.comment) if node.comment else b""
            out += _pad(encode(node.title) + rest)
        if node.text:
            out += _pad(encode(node.text))
        last = len(node.children) - 1
        stack.extend((child, at < last) for at, child in reversed([*enumerate(node.children)]))
    losses = []
    if replaced:
        texts = counted(replaced, "text")
        text = f"{encoding} or RenLib cannot store all characters of {texts}"
        losses.append(Remark(text, "lost-signs", n=replaced))
    if any(node.drawn for node, _ in tree.walk()):
        losses.append(Remark("RenLib cannot store circles and arrows", "lost-drawn"))
    return bytes(out), losses


def _pad(text: bytes) -> bytes:
    """Return a text terminated and padded to an even length."""
    return text + b"\0" * (2 - len(text) % 2)
