"""What readers make of texts, and writers of that: ``python -m tests.golden.readings``.

In ``readings.txt`` a line with ``>`` is a text that is read, written as Python writes its values
(``⟨a×500⟩`` stands for 500 times a): a file or a part of one, moves, a drawing, the words of an
opening, a command line. All others are recorded: what is read from it, or the error, and what was
read in every format.
"""

from __future__ import annotations

import ast
import re
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from datetime import date
from functools import partial
from typing import Any

from pbrain_engine.app.setup import chosen_setup
from pbrain_engine.game.cells import (
    NotationError,
    cell_name,
    format_moves,
    parse_moves,
    parse_offsets,
)
from pbrain_engine.game.diagram import (
    Drawn,
    board_svg,
    file_stem,
    format_diagram,
    parse_diagram,
    star_points,
    winning_row,
)
from pbrain_engine.game.opening_rules import RULES, OpeningPlay, find_opening, opening_of
from pbrain_engine.game.record import GameRecord
from pbrain_engine.game.tree import GameTree, TreeNode, main_line
from pbrain_engine.notation.colours import colour_rows
from pbrain_engine.notation.files import format_psq, parse_psq, read_games, refuse_others
from pbrain_engine.notation.renlib import format_renlib, parse_renlib
from pbrain_engine.notation.sgf import format_sgf, format_sgf_trees, parse_sgf, parse_sgf_trees
from pbrain_engine.options import split_command
from pbrain_engine.position.rules import Side
from tests.golden import texts
from tests.golden.records import Record

HEADER = bytes.fromhex("ff 52 65 6e 4c 69 62 ff 03 00" + "ff" * 10)  # of a library


def tried(work: Callable[[], Iterable[str]]) -> list[str]:
    """Return lines, or the error that came in place of them."""
    try:
        return list(work())
    except Exception as error:
        return [f"{type(error).__name__}: {error}"]


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
    """Yield what a tree holds."""
    yield said_of(tree.record)
    yield from (f"remark: {remark}" for remark in tree.remarks)
    for node, depth in tree.walk():
        name = "pass" if node.cell is None and depth else ""
        said = said_of(TreeNode(None, node.is_move, node.title, node.comment, node.text,
                                node.is_marked, node.is_start))  # fmt: skip
        if depth or said != "-":  # of most roots there is nothing to say
            name = name or (cell_name(*node.cell) if node.cell else "root")
            yield f"{'  ' * depth}. {name} {said}"


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
            shown = colour_rows(board, winning_row(board), [(0, 1)], encoding)
            yield ascii(shown.plain)
            yield " ".join(f"{span.start}-{span.end}:{span.style}" for span in shown.spans)


def opened(opening: OpeningPlay, words: str) -> Iterator[str]:
    """Yield who says each word of an opening, what is refused, and what comes next."""
    players = ""
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


def answers(kind: str, *given: Any) -> Iterator[str]:
    """Yield what is recorded of a line."""
    match kind, *given:
        case "sgf", text:
            all_trees = tried(lambda: trees_of(parse_sgf_trees(text)))
            game = tried(lambda: [f"game {said_of(parse_sgf(text))}"])
            yield from all_trees if game == all_trees else all_trees + game
        case "command", text:  # in words, by the rules of Windows and of a shell
            for windows in (True, False):
                yield from tried(lambda: [str(split_command(text, windows=windows))])  # noqa: B023
        case "field", *given:  # of an SGF file
            read = [parse_sgf(f"(;GM[4]SZ[15]{text};B[hh])")._replace(moves=()) for text in given]
            said = [" ".join([said_of(record), *record.remarks]) for record in read]
            told = (f"{text}: {what}" for text, what in zip(given, said, strict=True))
            yield from texts.joined(told, "")
        case "file", name, content, *size:  # of any kind, which its content tells, or else its name
            refuse_others(content, name)
            for tree in read_games(content, name, size=tuple(size) or None):
                yield " ".join([said_of(main_line(tree)), *tree.remarks])
        case "opens", name, words, *size:
            yield from opened(OpeningPlay(RULES[name], *size), words)
        case "stem", black, white, day:
            yield file_stem(GameRecord(black=black, white=white, date=day), date(2001, 2, 3))
        case "psq", text:
            yield said_of(parse_psq(text))
            yield from tried(lambda: [ascii(format_psq(parse_psq(text)))])
        case "lib", text:
            yield from trees_of([parse_renlib(HEADER + bytes.fromhex(text))])
        case "lib", text, encoding:
            tree = parse_renlib(HEADER + bytes.fromhex(text), encoding)
            yield from nodes_of(tree)
            data, losses = format_renlib(tree, encoding)
            yield f"lib {data[len(HEADER) :].hex(' ')} {losses or ''}"
        case "head", text:
            yield from nodes_of(parse_renlib(bytes.fromhex(text) + b"\x78\x40"))
        case "moves", text:
            yield str(parse_moves(text, 15, 9))
            yield f"from below {parse_moves(text, 15, 9, from_below=True)}"
            options = Namespace(rule=None, size=None, from_below=False)
            yield from tried(lambda: [f"setup {chosen_setup(options, text).moves}"])
        case "offsets", text:
            yield str(parse_offsets(text, 15, 9))
        case "drawing", text:
            yield from drawing(text)
        case "stars", width:
            yield str(sorted(star_points(width, 9)))
        case "opening", text, size:
            yield f"found {find_opening(text)}"

            def named() -> list[str]:
                moves = tuple(parse_moves(text, size))
                game = GameRecord(size, size, moves=moves)
                return [f"after these moves {opening_of(game)}"]

            yield from tried(named)
        case "picture", title:  # with every kind of stone
            stones = [
                Drawn((2, 1), Side.BLACK, "1"), Drawn((8, 8), Side.WHITE, "2"),
                Drawn((0, 9), Side.WALL), Drawn((3, 1), Side.WHITE),
                Drawn((5, 6), Side.BLACK, "<", is_there=False),
            ]  # fmt: skip
            drawn = board_svg(9, 13, stones, [(8, 8), (5, 6)], title)
            yield from texts.brief_page(drawn).splitlines()


def values_of(text: str) -> list[Any]:
    """Return values as Python writes them, with commas between."""
    text = re.sub("⟨(.+?)×(\\d+)⟩", lambda found: found[1] * int(found[2]), text)
    return list(ast.literal_eval(f"[{text}]"))


def answered(record: str, answers: Callable[..., Iterator[str]]) -> str:
    """Return the record of all answers, of which another one has what is asked."""
    lines = []
    for line in record.splitlines():
        if line.startswith("> "):
            kind, _, given = line[2:].partition(" ")
            said = tried(partial(answers, kind, *values_of(given)))
            lines += [line, *(texts.brief(f"  {each}".rstrip()) for each in said)]
    return "\n".join([*lines, ""])


@Record("readings")
def readings(record: str) -> str:
    return answered(record, answers)
