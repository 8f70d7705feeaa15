"""What readers make of texts, and writers of that: ``python -m tests.golden.readings``.

A session (see ``records``): what is read from a file or a part of one, moves, a drawing, the words
of an opening, a command line, and what was read in every format.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any

from pbrain_engine.app.setup import chosen_setup
from pbrain_engine.files import decode
from pbrain_engine.game.cells import (
    NotationError,
    cell_name,
    format_moves,
    parse_moves,
)
from pbrain_engine.game.diagram import (
    format_diagram,
    parse_diagram,
    winning_row,
)
from pbrain_engine.game.opening_rules import RULES, OpeningPlay
from pbrain_engine.game.record import GameRecord
from pbrain_engine.game.tree import GameTree, TreeNode, main_line
from pbrain_engine.notation.colours import colour_rows
from pbrain_engine.notation.files import format_psq, parse_psq, read_games, refuse_others
from pbrain_engine.notation.renlib import format_renlib, parse_renlib
from pbrain_engine.notation.sgf import format_sgf, format_sgf_trees, parse_sgf, parse_sgf_trees
from pbrain_engine.options import split_command
from pbrain_engine.position.rules import Side
from tests.golden import texts
from tests.golden.records import Record, session, tried

HEADER = bytes.fromhex("ff 52 65 6e 4c 69 62 ff 03 00" + "ff" * 10)  # of a library


def said_of(value: Any) -> str:
    """Return what of a record, node or finding differs from what it is by default."""
    plain = type(value)()
    parts = []
    for name in getattr(value, "_fields", None) or [each.name for each in fields(value)]:
        found = getattr(value, name)
        if found != getattr(plain, name) and name not in ("children", "remarks"):
            is_game = isinstance(value, GameRecord) and name == "moves"
            shown = format_moves(found, ", ") if is_game else ascii(found)
            parts.append(f"{name}={shown}")
    return " ".join(parts) or "-"


def nodes_of(tree: GameTree) -> Iterator[str]:
    """Yield what a tree holds; a node stands in the line of the one before if it follows it."""
    yield said_of(tree.record)
    yield from (f"remark: {remark}" for remark in tree.remarks)
    lines, last = list[str](), 0
    for node, depth in tree.walk():
        name = cell_name(*node.cell) if node.cell else "pass" if depth else "root"
        said = said_of(TreeNode(None, node.is_move, node.title, node.comment, node.text,
                                node.is_marked, node.is_start))  # fmt: skip
        if depth or said != "-":  # of most roots there is nothing to say
            told = f". {name} {said}".removesuffix(" -")
            if lines and depth == last + 1:
                lines[-1] += f" {told}"
            else:
                lines.append("  " * depth + told)
        last = depth
    yield from lines


def written(tree: GameTree) -> Iterator[str]:
    """Yield a tree and its main line in every format."""

    def library() -> Iterator[str]:
        made = [format_renlib(tree, encoding) for encoding in ("utf-8", "cp1252")]
        for data, losses in made if made[0] != made[1] else made[:1]:
            yield f"{data[len(HEADER) :].hex(' ')} {losses or ''}"

    text, losses = format_sgf_trees([tree])
    record = main_line(tree)
    yield f"sgf {ascii(text)} {losses or ''}"
    if (line := format_sgf(record)) != text:
        yield f"main line {ascii(line)}"
    yield from (f"lib {line}" for line in tried(library))
    yield from (f"psq {line}" for line in tried(lambda: [ascii(format_psq(record))]))
    if tree.is_plain():
        yield "plain"


def trees_of(trees: Iterable[GameTree]) -> Iterator[str]:
    for tree in trees:
        yield from nodes_of(tree)
        yield from written(tree)


def drawing(text: str) -> Iterator[str]:
    """Yield what a drawing shows, drawn anew in every way."""
    board = parse_diagram(text)
    yield from format_diagram(board, stars=True).splitlines()
    yield f"last {board.last}, to move {board.to_move}, row {winning_row(board)}"
    if board.width < 8:
        for encoding in ("utf-8", "ascii"):
            shown = colour_rows(board, winning_row(board), encoding, [(0, 1)])
            yield ascii(shown.plain)
            yield " ".join(f"{span.start}-{span.end}:{span.style}" for span in shown.spans)


def opens(name: str, words: str, *size: int) -> Iterator[str]:
    """Yield who says each word of an opening, what is refused, and what comes next."""
    opening, players = OpeningPlay(RULES[name], *size), ""
    for word in words.split():
        player = opening.player
        try:
            opening.play(word)
            players += str(player)
        except NotationError as error:
            yield str(error)
    back = [opening.taken_back(player) for player in (0, 1)]
    left = " and ".join("nothing" if each is None else str(len(each.actions)) for each in back)
    yield f"{players}, {left} are left if they take back, {opening.taking(Side.BLACK)} for black"
    yield f"{opening.colour_of(0).name}, {len(opening.cells())} cells: {opening.ask()}"


def sgf(text: str) -> Iterator[str]:
    all_trees = tried(lambda: trees_of(parse_sgf_trees(text)))
    game = tried(lambda: [f"game {said_of(parse_sgf(text))}"])
    yield from all_trees if game == all_trees else all_trees + game


def command(text: str) -> Iterator[str]:
    """Yield a command line in words, by the rules of Windows and of a shell."""
    for windows in (True, False):
        yield from tried(lambda: [str(split_command(text, windows=windows))])  # noqa: B023


def field(*given: str) -> Iterator[str]:
    """Yield what fields of an SGF file say."""
    read = [parse_sgf(f"(;GM[4]SZ[15]{text};B[hh])")._replace(moves=()) for text in given]
    said = [" ".join([said_of(record), *record.remarks]) for record in read]
    yield from texts.joined((f"{text}: {what}" for text, what in zip(given, said, strict=True)), "")


def file(name: str, content: bytes, *size: int) -> Iterator[str]:
    """Yield the games of a file of any kind, which its content tells, or else its name."""
    refuse_others(decode(content), name)
    for tree in read_games(content, name, size=size or None):  # type: ignore[arg-type]
        yield " ".join([said_of(main_line(tree)), *tree.remarks])


def psq(text: str) -> Iterator[str]:
    yield said_of(parse_psq(text))
    yield from tried(lambda: [ascii(format_psq(parse_psq(text)))])


def lib(text: str, encoding: str = "") -> Iterator[str]:
    if not encoding:
        yield from trees_of([parse_renlib(HEADER + bytes.fromhex(text))])
        return
    tree = parse_renlib(HEADER + bytes.fromhex(text), encoding)
    yield from nodes_of(tree)
    data, losses = format_renlib(tree, encoding)
    yield f"lib {data[len(HEADER) :].hex(' ')} {losses or ''}"


def moves(text: str) -> Iterator[str]:
    yield str(parse_moves(text, 15, 9))
    yield f"from below {parse_moves(text, 15, 9, from_below=True)}"
    options = Namespace(rule=None, size=None, from_below=False)
    yield from tried(lambda: [f"setup {chosen_setup(options, text).moves}"])


@Record("readings")
def readings(record: str) -> str:
    return session(record, dict(globals()))
