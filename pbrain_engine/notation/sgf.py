"""SGF files, game type 4 (Gomoku): one game, or every game of a file with its variations.

Cells are two letters, column and row from the top left. Rectangular boards are written
``SZ[15:20]``. A move without a cell, ``B[]``, is a pass; where there is no such cell, ``B[tt]``
is one too. Stones are set up before the first move, in the first node or in those that follow.
A comment's first line and the rest are N and C, a text on a cell is a label (LB) of the node
before, a mark is HO (a hotspot). Where a reader should begin has no property in SGF.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from ..position.geometry import Coordinates
from ..position.rules import Rule, Side
from .cells import NotationError, column_letter
from .game_tree import GameRecord, GameTree, TreeNode, main_line, tree_of

_RESULTS = {"1-0": "B+", "0-1": "W+", "1/2-1/2": "0"}
_COLOURS = {"B": Side.BLACK, "W": Side.WHITE}
SETUP = ("AB", "AW", "AE")  # stones that are put there or taken away without a move
_VALUE = re.compile(r"\s*\[(?P<body>(?:[^\]\\]|\\.)*+)\\?(?P<end>\]?)", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)  # an escaped line end is no line end
_OLD_PASS = "tt"  # of older files, on boards up to 19

Node = list[tuple[str, list[str]]]


def format_sgf(record: GameRecord) -> str:
    """Return the game as an SGF file, one move a line."""
    return _format_tree(tree_of(record))


def parse_sgf(text: str) -> GameRecord:
    """Return the main line of an SGF file.

    Raises:
        NotationError: this is no SGF file of a game of five in a row.
    """
    for nodes, parents in _sequences(text):  # the first game, and everywhere the first variation
        ends = (at for at, parent in enumerate(parents) if parent != at - 1)
        end = next(ends, len(nodes))
        return main_line(_build(nodes[:end], parents[:end], is_game=True)).check()
    raise NotationError("an SGF file begins with '(;'")


def _read_root(nodes: Sequence[Node]) -> GameRecord:
    """Return a game without its moves, from the nodes up to the first with a move.

    Raises:
        NotationError: this is no game of five in a row, or its stones are not possible.
    """
    root = dict(nodes[0])
    width, height = _parse_size(_first(root, "SZ"))
    if _first(root, "GM") not in ("", "4"):
        raise NotationError(f"GM[{_first(root, 'GM')}] is another game; five in a row is GM[4]")
    stones: dict[str, list[Coordinates]] = {"AB": [], "AW": []}
    first = Side.BLACK
    for node in nodes:
        for name, values in node:
            if name == "PL":
                first = _side_of(values[0])
            elif name in stones:
                stones[name] += map(parse_point, values)
            elif name == "AE":
                cleared = list(map(parse_point, values))
                for colour, held in stones.items():
                    stones[colour] = [cell for cell in held if cell not in cleared]
    rule = None
    with suppress(ValueError):  # rule names differ between programs; the reader decides
        rule = Rule.parse(_first(root, "RU"))
    return GameRecord(
        width, height, rule, first=first,
        black_setup=tuple(stones["AB"]), white_setup=tuple(stones["AW"]),
        black=_first(root, "PB"), white=_first(root, "PW"),
        result=_parse_result(_first(root, "RE")), date=_first(root, "DT"),
    ).check()  # fmt: skip


def _side_of(text: str) -> Side:
    return Side.WHITE if text.strip().upper().startswith("W") else Side.BLACK


def escape(text: str) -> str:
    """Return a text as the value of a property has it."""
    return text.replace("\\", "\\\\").replace("]", "\\]")


def format_point(cell: Coordinates) -> str:
    """Return a cell as two letters."""
    return column_letter(cell[0]) + column_letter(cell[1])


def parse_point(text: str) -> Coordinates:
    """Return the cell that two letters name; NotationError if they name none."""
    word = text.strip().lower()
    if len(word) != 2 or not (word.isascii() and word.isalpha()):
        raise NotationError(f"{text!r} is no SGF cell; cells are two letters such as hh")
    return ord(word[0]) - ord("a"), ord(word[1]) - ord("a")


def _parse_size(text: str) -> tuple[int, int]:
    words = text.split(":") if text else ["15"]
    try:
        numbers = [int(word) for word in words]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 2):
        raise NotationError(f"SZ[{text}] is no board size")
    return numbers[0], numbers[-1]


def _parse_result(text: str) -> str:
    word = text.strip().upper()
    if word.startswith("B+"):
        return "1-0"
    if word.startswith("W+"):
        return "0-1"
    return "1/2-1/2" if word in ("0", "DRAW") else ""


def _first(properties: dict[str, list[str]], name: str) -> str:
    return properties.get(name, [""])[0]


def read_property(text: str, start: int, node: Node) -> int:
    """Append the property that starts here to the node; return where it ends."""
    at = start
    while at < len(text) and text[at].isalpha():
        at += 1
    name, values = text[start:at], list[str]()
    while (value := _VALUE.match(text, at)) is not None:
        if not value["end"]:
            raise NotationError("an SGF value is not closed with ']'")
        values.append(_ESCAPED.sub(lambda sign: sign[1].strip("\n"), value["body"]))
        at = value.end()
    if not values:
        raise NotationError(f"the SGF property {name!r} has no value")
    node.append(("".join(filter(str.isupper, name)), values))
    return at


def format_sgf_trees(trees: Iterable[GameTree]) -> tuple[str, list[str]]:
    """Return trees as one SGF file, and in words what of them SGF cannot hold."""
    starts = labels = 0
    parts: list[str] = []
    for tree in trees:
        parts.append(_format_tree(tree))
        for node, _ in tree.walk():
            starts += node.is_start
            labels += not node.is_move and bool(node.title or node.comment or node.is_marked)
    losses = []
    if starts:
        losses.append(f"{starts} marks of where to start are not in SGF")
    if labels:
        losses.append(f"{labels} comments on a cell without a move are not in SGF")
    return "".join(parts), losses


def parse_sgf_trees(text: str) -> list[GameTree]:
    """Return every game of an SGF file with its variations.

    Raises:
        NotationError: this is no SGF file of games of five in a row.
    """
    trees: list[GameTree] = []
    for nodes, branches in _sequences(text):
        trees.append(_build(nodes, branches).check())
    if not trees:
        raise NotationError("an SGF file begins with '(;'")
    return trees


def _format_tree(tree: GameTree) -> str:
    out = ["(", _format_root(tree)]
    first = tree.record.first
    stack: list[tuple[TreeNode | None, int]] = []  # None closes a variation
    _push(stack, tree.root, 0)
    while stack:
        node, ply = stack.pop()
        if node is None:
            out.append(")")
            continue
        if ply < 0:  # one of several: a variation of its own
            out.append("(")
            ply = -ply
        point = "" if node.cell is None else format_point(node.cell)
        out.append(f"\n;{'BW'[(first + ply - 1) % 2]}[{point}]{_notes(node)}")
        _push(stack, node, ply)
    out.append(")\n")
    return "".join(out)


def _push(stack: list[tuple[TreeNode | None, int]], node: TreeNode, ply: int) -> None:
    """Put the moves after a node on the stack, each of several with its closing bracket."""
    moves = [child for child in node.children if child.is_move]
    if len(moves) == 1:
        stack.append((moves[0], ply + 1))
        return
    for child in reversed(moves):
        stack.append((None, 0))
        stack.append((child, -(ply + 1)))


def _format_root(tree: GameTree) -> str:
    record = tree.record
    size = f"{record.width}:{record.height}" if record.width != record.height else record.width
    root = ["GM[4]", "FF[4]", "CA[UTF-8]", "AP[Numoku]", f"SZ[{size}]"]
    if record.rule is not None:
        root.append(f"RU[{record.rule.name.lower()}]")
    properties = [
        ("PB", record.black),
        ("PW", record.white),
        ("DT", record.date),
        ("RE", _RESULTS.get(record.result, record.result)),
        ("C", tree.root.comment),
    ]
    root += [f"{name}[{escape(value)}]" for name, value in properties if value]
    for name, cells in (("AB", record.black_setup), ("AW", record.white_setup)):
        if cells:
            root.append(name + "".join(f"[{format_point(cell)}]" for cell in cells))
    if record.first == Side.WHITE:
        root.append("PL[W]")
    return ";" + "".join(root) + _notes(tree.root, is_root=True)


def _notes(node: TreeNode, is_root: bool = False) -> str:
    out = []
    if node.title:
        out.append(f"N[{escape(node.title)}]")
    if node.comment and not is_root:
        out.append(f"C[{escape(node.comment)}]")
    if node.is_marked:
        out.append("HO[1]")
    labels = [child for child in node.children if child.text and child.cell is not None]
    if labels:
        out.append("LB")
        for child in labels:
            assert child.cell is not None
            out.append(f"[{format_point(child.cell)}:{escape(child.text)}]")
    return "".join(out)


def _sequences(text: str) -> Iterable[tuple[list[Node], list[int]]]:
    """Yield the nodes of each game, with the index of the node that each one follows."""
    at = text.find("(")
    nodes: list[Node] = []
    parents: list[int] = []
    open_at: list[int] = []  # for each open bracket, the node before it
    last = -1
    while 0 <= at < len(text):
        sign = text[at]
        if sign == "(":
            open_at.append(last)
        elif sign == ")":
            if not open_at:
                raise NotationError("the SGF file closes a bracket that is not open")
            last = open_at.pop()
            if not open_at:
                if nodes:
                    yield nodes, parents
                nodes, parents, last = [], [], -1
                at = text.find("(", at)
                continue
        elif sign == ";" and open_at:
            parents.append(last)
            nodes.append([])
            last = len(nodes) - 1
        elif sign.isalpha() and last >= 0:
            at = read_property(text, at, nodes[last])
            continue
        elif not sign.isspace():
            raise NotationError(f"{sign!r} has no place in an SGF file there (character {at + 1})")
        at += 1
    if nodes:  # a file that lacks its last bracket
        yield nodes, parents


def _build(nodes: Sequence[Node], parents: Sequence[int], is_game: bool = False) -> GameTree:
    """Return the tree of some nodes; a game has no stones that are put in the middle of it."""
    stem = _stem(nodes, parents)
    record = _read_root(nodes[:stem])
    colour = next((name for node in nodes for name, _ in node if name in _COLOURS), None)
    if colour is not None:
        record = replace(record, first=_COLOURS[colour])
    tree = GameTree(record)
    places: list[tuple[TreeNode, int]] = []  # node of the tree and its ply
    labels: list[tuple[TreeNode, str]] = []
    skipped = 0
    for index, (properties, parent) in enumerate(zip(nodes, parents, strict=True)):
        node, ply = places[parent] if parent >= 0 else (tree.root, 0)
        if index >= stem:
            late = sum(len(values) for name, values in properties if name in SETUP)
            if late and is_game:
                when = f"after move {ply}; that is read before the first move only"
                raise NotationError(f"stones are set up {when}")
            skipped += late
        names = {name for name, _ in properties}
        for name, values in properties:
            due = Side((record.first + ply) % 2)
            if name in _COLOURS:
                if due is not _COLOURS[name]:
                    raise NotationError(f"move {ply + 1}: {_COLOURS[name].name} moves twice")
                child = TreeNode(_read_point(values[0], record))
                node.children.append(child)
                node, ply = child, ply + 1
            elif name == "PL" and ply and not _COLOURS.keys() & names:
                said = _side_of(values[0])
                if said is not due:
                    turn = f"it is {due.name.lower()}'s turn, not {said.name.lower()}'s"
                    raise NotationError(f"move {ply + 1}: {turn}")
        _take_notes(node, properties, labels, parent < 0)
        places.append((node, ply))
    for node, label in labels:
        point, _, words = label.partition(":")
        cell = _read_point(point, record)
        target = next((c for c in node.children if c.is_move and c.cell == cell), None)
        if target is None:
            target = TreeNode(cell, is_move=False)
            node.children.append(target)
        target.text = words
    tree.root.comment = _first(dict(nodes[0]), "C")
    if skipped:
        tree.remarks.append(f"{skipped} stones put in the middle of a game are left out")
    return tree


def _stem(nodes: Sequence[Node], parents: Sequence[int]) -> int:
    """Return how many nodes come before the first branch, up to the first with a move."""
    children = Counter(parents)
    for index, node in enumerate(nodes):
        if any(name in ("B", "W") for name, _ in node) or children[index] != 1:
            return index + 1
    return len(nodes)


def _take_notes(
    node: TreeNode, properties: Node, labels: list[tuple[TreeNode, str]], is_root: bool
) -> None:
    """Give a node its notes."""
    for name, values in properties:
        if name == "N":
            node.title = values[0]
        elif name == "C" and not is_root:
            node.comment = values[0]
        elif name == "HO":
            node.is_marked = True
        elif name == "LB":
            labels += [(node, value) for value in values]


def _read_point(text: str, record: GameRecord) -> Coordinates | None:
    """Return the cell of a move, None for a pass."""
    word = text.strip().lower()
    if not word or (word == _OLD_PASS and max(record.width, record.height) <= 19):
        return None
    return parse_point(text)
