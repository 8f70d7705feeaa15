"""What readers make of texts and files, and writers of that: ``python -m tests.golden.readings``.

Every text is recorded with all that is read from it, or with the error; what was read is then
written in every format. So it is with moves, drawings, and what can be added to a database.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import chdir
from dataclasses import fields
from functools import partial, reduce
from pathlib import Path
from typing import Any

from pbrain_engine.arena.journal import Journal, Played
from pbrain_engine.arena.settings import MatchSettings, parse_engine
from pbrain_engine.database.exports import ExportFilter, export
from pbrain_engine.database.finding import Asked, Finding, entry_document, following_document
from pbrain_engine.database.integrity import find_faults
from pbrain_engine.database.lines import list_next_moves, look_up
from pbrain_engine.database.sources import Item, Wish, add_items, read_source
from pbrain_engine.database.store import Database, StoredGame
from pbrain_engine.learn.records import NO_VALUE, Ending, GameFile, Record
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

HEADER = bytes.fromhex("ff 52 65 6e 4c 69 62 ff 03 00" + "ff" * 10)
BRANCHED = """(;GM[4]FF[4]SZ[15]RU[renju]PB[A]PW[B\\]]RE[B+R]DT[2026-01-31]C[a game]
;B[hh]LB[ii:1][gi:two\\]]
(;W[ii]N[usual]C[best];B[jj](;W[aa])(;W[ab]HO[1]))
(;W[hi];B[]))
(;GM[4]SZ[20:15]AB[aa][bb]AW[cc]PL[W]RE[0];W[dd])
"""
SGF = (
    BRANCHED, "", "()", "hello", "(;GM[1]SZ[19])", "(;SZ[40])", "(;SZ[22];B[vv])",
    "(;SZ[4];B[aa])", "(;SZ[big])", "(; SZ [ 9 : 7 ] ;B [ if ])", "(;SZ[9:7];B[ig];W[ih])",
    "(;B[hh];B[ii])", "(;B[hh];W[hh])", "(;SZ[15];B[zz])", "(;AB[hh];AW[hh])", "(;B[h])",
    "(;B[hhh])", "(;B[h1])", "(;B[hh", "(;B[hh]", "(;B)", "(;SZ[15]!)", "(;B[hh]))", ")(;B[hh])",
    "(;RU[nonsense]RE[W+F];B[aa])", "(;RU[Standard]RE[Draw];B[aa])", "(;RE[?]C[one\\]\\\ntwo])",
    "(;SiZe[9]B[ii])", "(;SZ[];B[])", "x(;B[hh];W[ii])y(;B[aa])z", "(B[hh])",
    *(f"(;SZ[{size}];B[hh];W[{word}];B[ii])" for size in (15, "19:20", 19)
      for word in ("", " ", "tt", " Tt ")),
    "(;C[puzzle];AB[hh][hi]AW[ii]PL[W])", "(;AB[hh];C[puzzle];AB[hi]AW[ii];PL[W])",
    "(;AB[hh]AB[hi];AW[ii][aa]AB[bb];AE[aa][bb];W[jj])", "(;AB[hh];AB[hi]W[jj]AW[ii])",
    "(;AB[hh];C[x];AB[hi]AW[ii](;W[jj])(;W[jk];B[aa]))", "(;C[1];C[2]N[t];B[hh]C[3]C[4]HO[1])",
    "(;(;AB[hh]AW[ii];B[jj])(;B[jk];AW[aa];W[bb]))", "(;B[hh];PL[W]C[x];W[ii])",
    "(;B[hh];PL[B];W[ii])", "(;B[hh];W[ii]PL[B])", "(;B[hh];W[];AB[ii])", "(;B[hh];W[ii]AE[hh])",
    "(;LB[hh:a:b][ii];B[hh](;W[aa]LB[bb:x][bb:y])(;W[]LB[cc:z]))",
)  # fmt: skip
PSQ = (
    "Piskvorky 15x20, 11:11, 0\n8,8,35\n9,20,0\nme\nplayer-2\n0\n",
    "Piskvorky 15x15, 11:11, 1\r\n8,8,0\r\n\r\nfirst\r\nsecond\r\n0\r\n",
    "Piskvorky  22x5 , x , 0 , y\n 22 , 5 \n1,1\n", "Piskvorky 5x5, 0:0, 0\n1,1,1,1\nb",
    "Piskvorky 5x5, 11:11, 0\n5,5,9\n2,2,9\nonly", "", "Piskvorky 15, 11:11, 0", "Piskvorky 15x15",
    "Piskvorky 4x4, 11:11, 0", "Piskvorky 15x15, 11:11, 0\n16,1,0",
    "Piskvorky 15x15, 11:11, 0\n1,16,0", "Piskvorky 15x15, 11:11, 0\n0,1,0",
    "Piskvorky 15x15, 11:11, 0\n1,0,0", "Piskvorky 15x15, 11:11, 0\n99,8,0",
    "Piskvorky 15x15, 11:11, 0\n1,1,0\n1,1,0",
)  # fmt: skip
LIBRARIES = (
    "44 40", "78 00", "78 00 79 40", "78 00 68 00 79", "78 00 68 40", "78 00 79 40 68 00 66 40",
    "78 00 68 80 66 00 49 00 58 00 79 00 69 00 7a 00 59 00 4a 80 5a 40 5a 40 69 c0 8a 00"
    "69 00 8b 00 68 00 7b 00 7a 00 6b 00 58 40",
    "78 08 08 54 68 69 73 20 63 6f 6d 6d 65 6e 74 00 87 48 08 49 6d 20 66 72 6f 6d 20 38 37 00 0a",
    "78 00 68 c3 00 01 44 00 77 c3 00 01 42 00 79 c3 00 01 41 00 88 43 00 01 43 00",
    "78 48 61 08 62 0d 0a 63 00 00", "78 60 7b 7d 5c 5b 5d 7c 00 00", "78 48 7b 7d 00 00",
    "78 48 c4 20 00 00", "78 48 ff 81 00 00", "00 08 61 00 78 80 68 40 68 40", "00 40",
    "78 10 68 54 61 00", "78 04 00 40", "78 41 00 02", "78 01 01 00 68 41 00 03 61 00",
    "78 80 68 40", "78 40", "01 40", "ef 40", "f1 40", "70 40", "78 48 61 61", "78 00 68 00 78 40",
    "78 02 68 40",
)  # fmt: skip
GBK = HEADER + bytes.fromhex("78 48") + "五子棋".encode("gbk") + bytes(2)
HEADS = (
    b"", b"PK\x03\x04" + bytes(40), HEADER[:17], HEADER[:18], HEADER[:9] + b"\x04" + HEADER[10:],
    HEADER[:8] + b"\x04" + HEADER[9:], HEADER[:9] + b"\x01" + HEADER[10:],
)  # fmt: skip
MOVES = (
    "h8i9h9", "H8 I9 H9", "h8,i9,h9", "h8-i9-h9", "h8 – i9 – h9", "h8->i9->h9", "h8→i9→h9",
    "1. h8 i9 2. h9", "1.h8 i9 2.h9", "1... h8; i9 | h9", "(h8)(i9)(h9)", "[h8][i9][h9]",
    "[7,7] [8,8] [7,8]", "(7,7)(8,8)(7,8)", "7,7 8,8 7,8", "7,7\r\n8,8\r\n7,8", "7, 7; 8, 8; 7, 8",
    "", "a1 o9", "a1 p9", "a1 o10", "[3,2]", "+3,8", "15,0", "14,8", "14,9", "-1,0", "h8 i9 z9",
    "1. h8 i9\n2. h8", "h8 and i9", "h8.i9", "7,7-8,8", "[7,7 8,8", "h8 - ", "8h", "h", "hh", "h²",
    "h0", "h8h8", "h" + "1" * 5000, "h0000000008", "7,7,7", "7," + "1" * 5000, "(h8]", "7", "1234.",
    "h8 a_word_that_is_longer_than_what_is_shown",
)  # fmt: skip
OFFSETS = ("0,0, -1,2", "7,4 -7,-4", "8,0", "0,5", "1,2,3", "one,two", "1,2, 1,2", "")
DRAWN = """\
   a b c d e
 1 . . . . .
 2 . X . # .
 3 . .(O). .
 4 . . . . X
 5 . . . . .
black to move"""
ROWS = ".....\n" * 4
DRAWINGS = (
    DRAWN, ".....\n.x.#.\n..o..\n....x\n.....\nWhite  to move", ".....\n.x.#.\n..o..\n....x\n.....",
    "1.....1\n2.+...\n.....\n.....\n.....", "XX...\n" + ROWS, "O....\n" + ROWS, "XO...\n" + ROWS,
    "." * 9 + "\n" + ("." * 9 + "\n") * 8, ("." * 13 + "\n") * 10,
    "(X)XXXXX\nX......\nX......\nX......\nX......\n", 
    "...(O)OOOO\nXXXXXXX.\n........\n.......o\n.......o\n",
    "....X\n...X.\n..(X)..\n.X...\nX....", "O....\n.O...\n..O..\n...O.\n....(O)",
    "", "....\n" * 4, ROWS + "......", ROWS + "..?..", "2 .....\n" + ROWS, "(X)(X)...\n" + ROWS,
    "(X)....\n(X)....\n" + ROWS, "(X....\n" + ROWS, "(.)....\n" + ROWS, "1\n.....\n" + ROWS,
)  # fmt: skip


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


def picture() -> str:
    """Return a picture of a board with every kind of stone."""
    stones = [
        Drawn((2, 1), Side.BLACK, "1"), Drawn((8, 8), Side.WHITE, "2"), Drawn((0, 9), Side.WALL),
        Drawn((3, 1), Side.WHITE), Drawn((5, 6), Side.BLACK, "<", is_there=False),
    ]  # fmt: skip
    return board_svg(9, 13, stones, [(8, 8), (5, 6)], "two & stones")


def entries(kind: str, texts: Iterable[Any], read: Callable[[Any], Iterable[str]]) -> list[str]:
    """Return for each text what is read from it."""
    lines = []
    for text in texts:
        shown = text.hex(" ") if isinstance(text, bytes) else ascii(text)
        lines += ["", f"{kind} {shown[:200]}"]
        lines += [f"  {line}".rstrip() for line in tried(lambda text=text: read(text))]  # type: ignore[misc]
    return lines


def moves_read(text: str) -> Iterator[str]:
    yield str(parse_moves(text, 15, 9))
    yield f"from below {parse_moves(text, 15, 9, from_below=True)}"


def notation() -> str:
    """Return the record of the formats of games and positions."""
    raw = [HEADER + bytes.fromhex(text) for text in LIBRARIES]
    lines = [
        *entries("sgf", SGF, lambda text: trees_of(parse_sgf_trees(text))),
        *entries("sgf game", SGF, lambda text: [said_of(parse_sgf(text))]),
        *entries("psq", PSQ, lambda text: [said_of(parse_psq(text)), *tried(
            lambda: [ascii(format_psq(parse_psq(text)))])]),
        *entries("lib", LIBRARIES, lambda text: trees_of(
            [parse_renlib(HEADER + bytes.fromhex(text))])),
        *entries("lib gbk", [*raw[7:14], GBK], lambda data: nodes_of(parse_renlib(data, "gbk"))),
        *entries("lib", HEADS, lambda data: nodes_of(parse_renlib(data + b"\x78\x40"))),
        *entries("moves", MOVES, moves_read),
        *entries("offsets", OFFSETS, lambda text: [str(parse_offsets(text, 15, 9))]),
        *entries("drawing", DRAWINGS, drawing),
    ]  # fmt: skip
    lines += [f"stars {size} {sorted(star_points(size, 9))}" for size in range(8, 23)]
    return "\n".join([*lines[1:], "", picture()])


# What can be added to a database ----------------------------------------------------------

ANALYSIS: dict[str, Any] = {
    "rule": "freestyle", "size": [15, 15], "to_move": "black", "black": [[7, 7]],
    "white": [[8, 8]], "played": [[7, 7], [8, 8]], "value": 30, "depth": 9, "nodes": 100,
    "move": [6, 6], "pv": [[6, 6], [9, 9]],
}  # fmt: skip
PROOF = {"move": [9, 9], "answers": [{"reply": [0, 0], "move": [1, 1], "answers": []}]}
SMALL = {"size": [5, 9], "played": None}
CHANGED: tuple[dict[str, Any], ...] = (
    {}, {"value": -29990, "bound": "Lower", "version": "v", "weights": "w", "played": None},
    {"value": 29990, "tree": PROOF, "win": {"line": [[5, 5]], "proof": "vct"}, "moves": [[4, 4]]},
    {"value": -29000, "proof": "", "nodes": (1 << 63) - 1, "depth": 500, "walls": [[0, 14]],
     "played": [], "best": [2, 3]},
    {"type": "position"}, {"played": None, "black": [], "white": [[8, 8]]},
    {"played": None, "black": [[7, 7], [0, 0]], "to_move": "white"}, {"pv": None}, {"move": None},
    {"best": [3, 3], "move": None}, {"pv": None, "move": None, "value": -30000, "nodes": None},
    SMALL | {"black": [[4, 8]], "white": [], "to_move": "white", "move": [0, 1], "pv": []},
    {"played": [[7, 7], [7, 7]]}, {"played": [[7, 7], [9, 9]]}, {"to_move": "white"},
    {"played": [[7, 7], [8, 8], [9, 9]]}, {"played": [[30, 30]]}, {"played": "h8i9"},
    {"pv": [[6, 6], [30, 30]]}, {"pv": [[7, 7]]}, {"move": [7, 7]}, {"move": 7},
    {"win": {"line": [[-1, 0]]}}, {"win": [1]}, {"black": [[7, 7], [7, 7]]}, {"white": 5},
    {"walls": [[8, 8]]}, {"walls": [[6, 6]], "played": None}, {"walls": [[15, 0]]},
    {"size": [3, 3]}, {"size": [1000, 1000]}, {"size": 15}, {"value": 30001}, {"value": -30001},
    {"value": 10**20}, {"value": 1.5}, {"value": True}, {"value": None}, {"nodes": 1 << 63},
    {"nodes": -1}, {"depth": -1}, {"depth": 501}, {"to_move": "empty"}, {"to_move": [1]},
    {"rule": "chess"}, {"rule": None}, {"bound": "high"}, {"proof": 12}, {"win": {"proof": "x"}},
    {"version": {"a": 1}}, {"weights": "\ud800"}, {"tree": []}, {"tree": [1]},
    {"tree": 7}, {"tree": "x"}, {"tree": {"move": [0, 0]}},
    *({"tree": PROOF | change} for change in (
        {"move": [15, 0]}, {"move": [0, 15]}, {"move": [-1, 0]}, {"move": [0, "a"]}, {"answers": 1},
        {"answers": [*PROOF["answers"], {"move": [1, 1], "answers": []}]},
        {"answers": [{"reply": [0, 0], "answers": []}, *PROOF["answers"]]})),
    {"type": "game", "sgf": "(;SZ[15];B[hh];W[ii])"}, {"type": "game", "sgf": 12},
    {"type": "game", "sgf": "(;SZ[15]RE[B+];B[hh](;W[ii])(;W[aa]))", "result": "1-0"},
    {"type": "game", "sgf": "(;SZ[15]RE[B+];B[hh])", "result": "*"},
    {"type": "tree", "sgf": "(;SZ[15];B[hh](;W[ii])(;W[aa]))(;SZ[5])"}, {"type": "tree"},
    {"type": "tree", "sgf": "(;GM[4]SZ[15];B[hh]C[\ud800])"},
)  # fmt: skip
WORDS = ("h8i9", "h8 z9", "", "h8/i9", "nofile.txt", "nothing", "a\\b")
FIVE = "hh", "aa", "ii", "ca", "jj", "ea", "kk", "ga", "ll"


def played(cells: Iterable[str]) -> str:
    return "".join(f";{'BW'[number % 2]}[{cell}]" for number, cell in enumerate(cells))


FILES = {
    "two.sgf": BRANCHED, "won.sgf": f"(;SZ[15]{played(FIVE)})",
    "white.sgf": f"(;SZ[15]{played(('oa', *FIVE))})", "odd.sgf": f"(;SZ[22]RE[W+]{played(FIVE)})",
    "put.sgf": "(;SZ[15]AB[hh][ii][jj]AW[aa][ab][ac]AB[kk];W[cc];B[ll])",
    "full.sgf": f"(;SZ[5]{played(x + y for x in 'acbde' for y in 'abcde')})",
    "pass.sgf": "(;SZ[15]C[g];B[hh]C[m];W[];B[ii];W[jj])", "bare.sgf": "(;SZ[15]C[g])",
    "crlf.sgf": "(;SZ[15];B[hh]C[one\r\ntwo\\\r\nthree])\r\n", "a.psq": PSQ[0],
    "text": "nothing of that kind", "empty": "", "broken": "{broken", "object": '{"type": "x"}',
    "lines": json.dumps(ANALYSIS) + "\n\n" + json.dumps(ANALYSIS | {"depth": -5}) + "\n",
    "over lines": json.dumps(ANALYSIS | {"depth": -5}, indent=1),
    "list": json.dumps(ANALYSIS) + "\n[1]", "number": json.dumps(ANALYSIS) + "\n7",
    "deep": json.dumps(ANALYSIS) + '\n{"a": ' + "[" * 100_000, "base": "SQLite format 3\0x",
}  # fmt: skip
WISHES = (
    Wish(), Wish(Rule.CARO), Wish(size=(9, 7), from_below=True), Wish(encoding="gbk"),
)  # fmt: skip


def make_files() -> None:
    """Write what other parts of the program write: libraries, a journal, games of self-play."""
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8", newline="")
    Path("a.lib").write_bytes(HEADER + bytes.fromhex("78 08 ce e5 00 00 68 40"))
    settings = MatchSettings(
        (parse_engine("numoku:nodes=100,weights=hand"), parse_engine("other=python3 x.py")),
        rule=Rule.RENJU,
    )
    journal = Journal.create(Path("a.jsonl"), settings)
    start, ours = parse_moves("h8i9"), settings.engines[0].name
    journal.append(Played(
        0, 0, ours, "other", "black", "five", opening=start, moves=parse_moves("h9i10j11"),
        ms=[5, 6, 7], depth=[7, 9, None], value=[35, 99, 29990], nodes=[100, 900, None],
    ))  # fmt: skip
    journal.append(Played(
        1, 0, "other", ours, "white", "time", opening=start, moves=parse_moves("h7i7"),
        ms=[5, 5], depth=[None, 3], value=[None, -29990], nodes=[None, 4],
    ))  # fmt: skip
    journal.close()
    cells = tuple((ord(cell[1]) - 97) * 15 + ord(cell[0]) - 97 for cell in FIVE)
    games = GameFile(Path("a.games"), {"seed": "1", "nodes": "500", "weights": "w"})
    values = (NO_VALUE, NO_VALUE, 20, -20, 30, -30, 29997, -29998, 29999)
    branch = Record(0, Rule.RENJU, 15, 15, 2, 0, Ending.BRANCH, cells[:3], values[:3])
    games.append(Record(0, Rule.STANDARD, 15, 15, 2, 1, Ending.FIVE, cells, values), [branch])
    games.append(Record(1, Rule.FREESTYLE, 15, 15, 2, -1, Ending.CALM, cells[:3], values[:3]), [])
    games.append(Record(2, Rule.FREESTYLE, 9, 15, 2, 0, Ending.CALM, (8, 9), values[:2]), [])
    games.close()


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


def sources() -> str:
    """Return the record of what can be added to a database."""
    lines = []
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        make_files()
        for wish in WISHES:
            known = ["two.sgf", "a.lib", "a.psq", "h8i9"] if wish != Wish() else [
                *sorted(os.listdir()), *WORDS]  # fmt: skip
            lines += entries(f"with {said_of_wish(wish)}", known, partial(read, wish))
        for change in CHANGED:
            Path("changed").write_text(json.dumps(ANALYSIS | change), encoding="utf-8")
            lines += entries(f"analysis {ascii(change)} of", ["changed"], partial(read, Wish()))
        Path("changed").write_text(json.dumps(ANALYSIS), encoding="utf-8")
        lines += ["", *stored([name for name in FILES if "." in name] + ["a.games", "a.jsonl"])]
    return "\n".join([*lines[1:], ""])


def stored(names: Iterable[str]) -> Iterator[str]:
    """Yield what is said of files that go into a database twice, and of what comes out of it."""
    with Database("made.db", create=True) as database:
        for name in [*names, "changed", *names]:
            yield f"{name}: {add_items(database, read_source(name, Wish()))}"
        yield "\n".join(find_faults(database))
        for moves in ((), (7, 7), (7, 7, 8, 8), (7, 7, 6, 6), (7, 7, 8, 8, 7, 8)):
            cells = list(zip(moves[::2], moves[1::2], strict=True))
            for rule in (Rule.FREESTYLE, Rule.RENJU):
                start = Position(rule, 15, 15, Side.BLACK, (), ())
                where = Asked(reduce(Position.after, cells, start), tuple(cells))
                yield json.dumps(entry_document(where, look_up(database, where)))
                yield f"  {json.dumps(following_document(list_next_moves(database, where)))}"
        for choice in (ExportFilter(), ExportFilter(values=True), ExportFilter(rule=Rule.RENJU)):
            for kind in ("lib", "sgf", "jsonl"):
                losses = export(database, Path(f"made.{kind}"), choice)
                text = Path(f"made.{kind}").read_bytes()
                yield f"{choice} {kind}: {losses}"
                yield text.hex(" ") if kind == "lib" else text.decode()


def read(wish: Wish, name: str) -> Iterator[str]:
    return items_of(read_source(name, wish))


def said_of_wish(wish: Wish) -> str:
    pairs = zip(wish._fields, wish, Wish(), strict=True)
    return " ".join(f"{name}={found!r}" for name, found, plain in pairs if found != plain) or "-"


if __name__ == "__main__":
    FILE.write_text(notation(), encoding="utf-8")
    SOURCES.write_text(sources(), encoding="utf-8")
