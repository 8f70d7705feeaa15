"""What readers make of texts and files, and writers of that: ``python -m tests.golden.readings``.

In ``readings.txt`` and ``sources.txt`` a line with ``>`` is a text that is read, written as Python
writes its values (``⟨a×500⟩`` stands for 500 times a). All others are recorded: what is read from
it, or the error, and what was read in every format. ``sources.txt`` is of what can be added to a
database: the files themselves, and what comes out of it.
"""

from __future__ import annotations

import ast
import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import chdir
from dataclasses import fields
from functools import partial, reduce
from pathlib import Path
from typing import Any

from pbrain_engine.app.setup import read_setup
from pbrain_engine.database.exports import ExportFilter, export
from pbrain_engine.database.finding import Asked, Finding, entry_document, following_document
from pbrain_engine.database.integrity import find_faults
from pbrain_engine.database.lines import list_next_moves, look_up
from pbrain_engine.database.sources import Item, Wish, add_items, read_source
from pbrain_engine.database.store import Database, StoredGame
from pbrain_engine.notation.canonical import Position, read_key
from pbrain_engine.notation.cells import cell_name, parse_moves, parse_offsets
from pbrain_engine.notation.diagram import (
    Drawn,
    board_svg,
    colour_rows,
    format_diagram,
    parse_diagram,
    star_points,
    winning_row,
)
from pbrain_engine.notation.game_tree import GameTree, RecordedMove, TreeNode, main_line
from pbrain_engine.notation.psq import format_psq, parse_psq
from pbrain_engine.notation.renlib import format_renlib, parse_renlib
from pbrain_engine.notation.sgf import format_sgf, format_sgf_trees, parse_sgf, parse_sgf_trees
from pbrain_engine.position.rules import Rule, Side

FILE = Path(__file__).with_suffix(".txt")
SOURCES = Path(__file__).with_name("sources.txt")

HEADER = bytes.fromhex("ff 52 65 6e 4c 69 62 ff 03 00" + "ff" * 10)  # of a library
ANALYSIS: dict[str, Any] = {
    "rule": "freestyle", "size": [15, 15], "to_move": "black", "black": [[7, 7]],
    "white": [[8, 8]], "played": [[7, 7], [8, 8]], "value": 30, "depth": 9, "nodes": 100,
    "move": [6, 6], "pv": [[6, 6], [9, 9]],
}  # fmt: skip


def tried(work: Callable[[], Iterable[str]]) -> list[str]:
    """Return lines, or the error that came in place of them."""
    try:
        return list(work())
    except (ValueError, OSError) as error:
        return [f"{type(error).__name__}: {error}"]


def said_of(value: Any) -> str:
    """Return what of a record, node or finding differs from what it is without being told."""
    plain = Finding(0) if isinstance(value, Finding) else type(value)()
    parts = []
    for each in fields(value):
        found = getattr(value, each.name)
        if found != getattr(plain, each.name) and each.name not in ("children", "remarks"):
            if found and isinstance(found, tuple) and isinstance(found[0], RecordedMove):
                found = [
                    f"{cell_name(move.x, move.y)} {move.milliseconds} {ascii(move.comment)}"
                    for move in found
                ]
                parts.append(f"{each.name}={', '.join(found)}".replace(" None ''", ""))
            else:
                parts.append(f"{each.name}={ascii(found)}")
    return " ".join(parts) or "-"


def nodes_of(tree: GameTree) -> Iterator[str]:
    """Yield what a tree holds."""
    yield said_of(tree.record)
    yield from (f"remark: {remark}" for remark in tree.remarks)
    for node, depth in tree.walk():
        name = "pass" if node.cell is None and depth else ""
        yield "  " * depth + f". {name or (cell_name(*node.cell) if node.cell else 'root')} " + (
            said_of(TreeNode(None, node.is_move, node.title, node.comment, node.text,
                             node.is_marked, node.is_start))
        )  # fmt: skip


def written(tree: GameTree) -> Iterator[str]:
    """Yield a tree and its main line in every format."""

    def library() -> Iterator[str]:
        for encoding in ("utf-8", "cp1252"):
            data, losses = format_renlib(tree, encoding)
            yield f"{data[len(HEADER) :].hex(' ')} {losses or ''}"

    text, losses = format_sgf_trees([tree])
    record = main_line(tree)
    yield f"sgf {ascii(text)} {losses or ''}"
    yield f"main line {ascii(format_sgf(record))}"
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
    yield from tried(lambda: [board.side_to_move().name])
    if board.width < 8:
        for letters in (False, True):
            shown = colour_rows(board, winning_row(board), [(0, 1)], letters)
            yield ascii(shown.plain)
            yield " ".join(f"{span.start}-{span.end}:{span.style}" for span in shown.spans)


def finding_of(finding: Finding) -> str:
    return f"{said_of(finding)} certain={finding.is_certain} rank={finding.rank}"


def items_of(items: Iterable[Item]) -> Iterator[str]:
    """Yield what a source brings."""
    for item in items:
        if isinstance(item, StoredGame):
            yield f"game {said_of(item.record)}" + ", does not count" * (not item.counts)
            yield from (f"  {ply}: {finding_of(each)}" for ply, each in item.findings.items())
        elif isinstance(item, GameTree):
            yield from nodes_of(item)
        else:
            yield ascii(tuple(read_key(item.image.key)))
            yield f"  {finding_of(item.finding)}"
            yield f"  way {'-' if item.way is None else said_of(item.way)}"


def answers(kind: str, *given: Any) -> Iterator[str]:
    """Yield what is recorded of a line."""
    match kind, *given:
        case "sgf", text:
            yield from tried(lambda: trees_of(parse_sgf_trees(text)))
            yield from tried(lambda: [f"game {said_of(parse_sgf(text))}"])
        case "psq", text:
            yield said_of(parse_psq(text))
            yield from tried(lambda: [ascii(format_psq(parse_psq(text)))])
        case "lib", text:
            yield from trees_of([parse_renlib(HEADER + bytes.fromhex(text))])
        case "lib", text, encoding:
            yield from nodes_of(parse_renlib(HEADER + bytes.fromhex(text), encoding))
        case "head", text:
            yield from nodes_of(parse_renlib(bytes.fromhex(text) + b"\x78\x40"))
        case "moves", text:
            yield str(parse_moves(text, 15, 9))
            yield f"from below {parse_moves(text, 15, 9, from_below=True)}"
            yield from tried(lambda: [f"setup {read_setup(text).moves}"])
        case "offsets", text:
            yield str(parse_offsets(text, 15, 9))
        case "drawing", text:
            yield from drawing(text)
        case "stars", width:
            yield str(sorted(star_points(width, 9)))
        case "picture", title:  # with every kind of stone
            stones = [
                Drawn((2, 1), Side.BLACK, "1"), Drawn((8, 8), Side.WHITE, "2"),
                Drawn((0, 9), Side.WALL), Drawn((3, 1), Side.WHITE),
                Drawn((5, 6), Side.BLACK, "<", is_there=False),
            ]  # fmt: skip
            yield from board_svg(9, 13, stones, [(8, 8), (5, 6)], title).splitlines()
        case _:
            yield from answers_of_database(kind, *given)


def answers_of_database(kind: str, *given: Any) -> Iterator[str]:
    """Yield what is recorded of files, and of a database of them, in the folder of now."""
    match kind, *given:
        case "file", name, content:
            Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
            yield from items_of(read_source(name, Wish()))
        case "read", name, *wishes:
            wish = wishes[0] if wishes else {}
            if "rule" in wish:
                wish["rule"] = Rule(wish["rule"])
            yield from items_of(read_source(name, Wish(**wish)))
        case "analysis", changes:
            Path("changed").write_text(json.dumps(ANALYSIS | changes), encoding="utf-8")
            yield from items_of(read_source("changed", Wish()))
        case "add", name:
            with Database("made.db", create=True) as database:
                yield str(add_items(database, read_source(name, Wish())))
                yield from find_faults(database)
        case "known", moves, rule:
            cells = parse_moves(moves)
            start = Position(Rule(rule), 15, 15, Side.BLACK, (), ())
            where = Asked(reduce(Position.after, cells, start), tuple(cells))
            with Database("made.db") as database:
                yield json.dumps(entry_document(where, look_up(database, where)))
                yield json.dumps(following_document(list_next_moves(database, where)))
        case "export", form, choice:
            if "rule" in choice:
                choice["rule"] = Rule(choice["rule"])
            with Database("made.db") as database:
                yield str(export(database, Path(f"made.{form}"), ExportFilter(**choice)))
            data = Path(f"made.{form}").read_bytes()
            yield from [data.hex(" ")] if form == "lib" else data.decode().splitlines()


def readings(record: str) -> str:
    """Return the record of all that is read, of which another one has the texts."""
    lines = []
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for line in record.splitlines():
            if line.startswith("> "):
                kind, _, given = line[2:].partition(" ")
                given = re.sub("⟨(.+?)×(\\d+)⟩", lambda found: found[1] * int(found[2]), given)
                values = ast.literal_eval(f"[{given}]")
                said = tried(partial(answers, kind, *values))
                lines += ["", line, *(f"  {each}".rstrip() for each in said)]
    return "\n".join([*lines[1:], ""])


if __name__ == "__main__":
    for path in (FILE, SOURCES):
        path.write_text(readings(path.read_text(encoding="utf-8")), encoding="utf-8")
