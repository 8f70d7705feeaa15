"""SGF files with variations, labels and marks: every game of a file as a tree.

A comment's first line and the rest are N and C, a text on a cell is a label (LB) of the node
before, a mark is HO (a hotspot). Where a reader should begin has no property in SGF.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..position.geometry import Coordinates
from ..position.rules import Side
from . import sgf
from .cells import NotationError
from .game_record import GameRecord
from .game_tree import GameTree, TreeNode

Properties = dict[str, list[str]]


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
        out.append(_format_node(node, "BW"[(first + ply - 1) % 2]))
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

    text = sgf.format_sgf(replace(tree.record, moves=(), comment=tree.root.comment))
    inner = text.strip()[1:-1]  # without the brackets around the game
    return inner + _notes(tree.root, is_root=True)


def _format_node(node: TreeNode, colour: str) -> str:
    point = "" if node.cell is None else sgf.format_point(node.cell)
    return f"\n;{colour}[{point}]{_notes(node)}"


def _notes(node: TreeNode, is_root: bool = False) -> str:
    out = []
    if node.title:
        out.append(f"N[{sgf.escape(node.title)}]")
    if node.comment and not is_root:
        out.append(f"C[{sgf.escape(node.comment)}]")
    if node.is_marked:
        out.append("HO[1]")
    labels = [child for child in node.children if child.text and child.cell is not None]
    if labels:
        out.append("LB")
        for child in labels:
            assert child.cell is not None
            out.append(f"[{sgf.format_point(child.cell)}:{sgf.escape(child.text)}]")
    return "".join(out)


def _sequences(text: str) -> Iterable[tuple[list[sgf.Node], list[int]]]:
    """Yield the nodes of each game, with the index of the node that each one follows."""
    at = text.find("(")
    nodes: list[sgf.Node] = []
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
            at = sgf.read_property(text, at, nodes[last])
            continue
        elif not sign.isspace():
            raise NotationError(f"{sign!r} has no place in an SGF file there (character {at + 1})")
        at += 1
    if nodes:  # a file that lacks its last bracket
        yield nodes, parents


def _build(nodes: Sequence[sgf.Node], parents: Sequence[int]) -> GameTree:
    head: Properties = {name: values for name, values in nodes[0]}
    stem = _stem(nodes, parents)
    plain = [[pair for pair in node if pair[0] not in ("B", "W")] for node in nodes[:stem]]
    record = sgf.record_of(plain)
    tree = GameTree(record)
    first_colour = next((name for node in nodes for name, _ in node if name in ("B", "W")), None)
    if first_colour is not None:
        first = Side.BLACK if first_colour == "B" else Side.WHITE
        tree.record = record = replace(record, first=first)
    places: list[tuple[TreeNode, int]] = []  # node of the tree and its ply
    labels: list[tuple[TreeNode, str]] = []
    skipped = 0
    for index, (properties, parent) in enumerate(zip(nodes, parents, strict=True)):
        node, ply = places[parent] if parent >= 0 else (tree.root, 0)
        for name, values in properties:
            if name in ("B", "W"):
                due = "BW"[(record.first + ply) % 2]
                if name != due:
                    raise NotationError(f"move {ply + 1}: {due} is to move, not {name}")
                child = TreeNode(_read_point(values[0], record))
                node.children.append(child)
                node, ply = child, ply + 1
        _take_notes(node, properties, labels, parent < 0)
        if index >= stem:
            skipped += sum(len(values) for name, values in properties if name in sgf.SETUP)
        places.append((node, ply))
    for node, label in labels:
        point, _, words = label.partition(":")
        cell = _read_point(point, record)
        target = next((c for c in node.children if c.is_move and c.cell == cell), None)
        if target is None:
            target = TreeNode(cell, is_move=False)
            node.children.append(target)
        target.text = words
    tree.root.comment = head.get("C", [""])[0]
    tree.record = replace_comment(record)
    if skipped:
        tree.remarks.append(f"{skipped} stones put in the middle of a game are left out")
    return tree


def _stem(nodes: Sequence[sgf.Node], parents: Sequence[int]) -> int:
    """Return how many nodes come before the first branch, up to the first with a move."""
    children = Counter(parents)
    for index, node in enumerate(nodes):
        if any(name in ("B", "W") for name, _ in node) or children[index] != 1:
            return index + 1
    return len(nodes)


def replace_comment(record: GameRecord) -> GameRecord:
    """Return the record without its comment, which the root of the tree has."""
    return replace(record, comment="", moves=())


def _take_notes(
    node: TreeNode, properties: sgf.Node, labels: list[tuple[TreeNode, str]], is_root: bool
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
    if sgf.is_pass(text, record.width, record.height):
        return None
    return sgf.parse_point(text)
