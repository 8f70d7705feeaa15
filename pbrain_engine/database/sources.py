"""What goes into a database, and what comes out of it.

Sources are game files, libraries, journals, self-play, analyses and other databases.
"""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import reduce
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from ..engine.engine import EngineError
from ..errors import SettingsError
from ..files import decode, in_place_of, read_lines, read_object, read_whole, user_path
from ..game.cells import NotationError, begins_with_move, parse_moves
from ..game.documents import position_document, read_analysis, read_text, result_document
from ..game.game import Game, Move
from ..game.position import BOARD, Position, image_of, read_key
from ..game.record import GameRecord
from ..game.result import Author, Known, Result
from ..game.tree import GameTree, main_line, tree_of
from ..native.load.library import KernelError
from ..notation import games as selfplay
from ..notation.files import SQLITE, read_games, refuse_others
from ..notation.games import NodePlan
from ..notation.journal import GameLog, annotated
from ..notation.renlib import ENCODING, SIZE, format_renlib, is_renlib
from ..notation.sgf import format_sgf_trees, parse_sgf, parse_sgf_trees
from ..position.geometry import Coordinates
from ..position.rules import Rule
from ..values import format_value
from .book import ADD_PAGE, page_row, settle
from .lines import Filter, add_tree, images, join_texts, read_trees
from .store import OPEN, Added, Database, StoredGame

DEFAULT_SIZE = (15, 15)


class SourceOptions(NamedTuple):
    """How to read files that leave something open."""

    rule: Rule | None = None  # overrides the rule of a file
    size: tuple[int, int] | None = None
    encoding: str = ENCODING
    from_below: bool = False  # rows of moves such as h8 count from the bottom


Item = StoredGame | GameTree | Known
Say = Callable[[str], None]  # receives remarks about a file


def read_source(
    name: str, options: SourceOptions, say: Say = lambda remark: None
) -> Iterator[Item]:
    """Yield the contents of a file, or the line given as a string of moves.

    ``say`` receives remarks about what is left out, also for games without moves. ValueError if the
    source cannot be understood.
    """
    path = user_path(name)
    if not path.is_file():
        if name and path.exists() and not begins_with_move(name):
            reason = "this is a folder" if path.is_dir() else "this is not a regular file"
            raise NotationError(reason)
        if any(sign in name for sign in "./\\"):
            raise NotationError("there is no such file")
        width, height = options.size or DEFAULT_SIZE
        moves = parse_moves(name, width, height, from_below=options.from_below)
        if not moves:
            raise NotationError("this is neither a file nor moves such as h8i9")
        yield tree_of(GameRecord(width, height, options.rule or Rule.FREESTYLE, tuple(moves)))
        return
    with path.open("rb") as file:
        head = file.read(64)
    if head.startswith(SQLITE.encode()):
        raise NotationError(f"this is a database; `numoku db FILE merge {name}` copies it")
    if head.startswith(selfplay.MAGIC.encode()):
        yield from _selfplay(path)
    elif head.removeprefix(BOM_UTF8).lstrip().startswith(b"{"):
        yield from _json(path, say)
    else:
        data = read_whole(path)
        trees = _told(read_games(data, name, options.encoding, options.size), say)
        if not trees:
            refuse_others(decode(data))
            kinds = "SGF, PSQ, RenLib, RIF, .pos, .sav or .rec"
            raise NotationError(f"this is not a game file ({kinds}), journal or analysis")
        for tree in trees:
            rule = tree.record.board[2] if options.rule is None else options.rule
            tree.record = tree.record._replace(rule=rule)
        yield from trees if is_renlib(head, name) else _games(trees)


def _told(trees: list[GameTree], say: Say) -> list[GameTree]:
    for tree in trees:
        for remark in tree.remarks:
            say(remark)
    return trees


def _games(trees: Iterable[GameTree]) -> Iterator[Item]:
    for tree in trees:
        record = add_result(main_line(tree))
        if record.moves:
            yield StoredGame(record)
        bare = replace(tree.root, comment="")  # the game's comment is in its record
        if not GameTree(tree.record, bare).is_plain():
            yield tree


def add_result(record: GameRecord) -> GameRecord:
    """Return a game with the result of its final position, if its file gives none."""
    if record.result:
        return record
    try:
        game = Game(*record.board)
    except KernelError:
        return record
    game.become(record)
    return record._replace(result=game.result)


def _json(path: Path, say: Say) -> Iterator[Item]:
    with path.open("rb") as file:
        try:
            entry = read_object(next(read_lines(file, path.name)))
        except ValueError:  # one document on many lines
            yield from _entry(read_whole(path), say)
            return
        if entry.get("type") == "match":
            yield from _journal(path)
            return
        file.seek(0)
        for number, line in enumerate(read_lines(file, path.name), 1):
            if line.strip():
                try:
                    yield from _entry(line, say)
                except ValueError as error:
                    raise NotationError(f"line {number}: {error}") from None


def _entry(text: bytes, say: Say) -> Iterator[Item]:
    """Yield the contents of a JSON object; raises ValueError."""
    entry = read_object(text)
    kind = entry.get("type")
    if kind == "game":
        (tree,) = _told(parse_sgf_trees(read_text(entry, "sgf")), say)
        yield StoredGame(main_line(tree), counts=entry.get("result", OPEN) != OPEN)
    elif kind == "tree":
        yield from _told(parse_sgf_trees(read_text(entry, "sgf")), say)
    else:
        yield read_analysis(entry)


def _journal(path: Path) -> Iterator[Item]:
    journal = GameLog(path, "rb")
    journal.close()
    known = journal.conditions
    authors = {
        engine["name"]: Author(
            engine.get("title") or "Numoku", dict(engine["options"]).get("weights") or ""
        )
        for engine in known["engines"]
        if engine.get("builtin") == "numoku"  # other programs have value scales of their own
    }
    for played in journal.games:
        findings: dict[int, Result] = {}
        searches = zip(played.chosen, played.values, played.depths, played.nodes, strict=True)
        for ply, (move, value, depth, nodes) in enumerate(searches, played.given):
            author = authors.get(played.white if ply % 2 else played.black)
            if author is not None and value is not None:
                depth = depth or 0
                findings[ply] = Result(
                    value, (Move(*move),), depth, depth, nodes or 0, author=author
                )
        tree_of(played).check()
        yield StoredGame(annotated(played), findings, counts=not played.fault)


def _selfplay(path: Path) -> Iterator[Item]:
    about = selfplay.read_about(path)
    author = Author("Numoku", about.get("weights", ""))
    budget = NodePlan.parse(about["nodes"]) if "nodes" in about else NodePlan(0)
    results = {1: "1-0", 0: "1/2-1/2", -1: "0-1"}
    for game in selfplay.read_games(path):
        cells = [Move(cell % game.width, cell // game.width) for cell in game.moves]
        record = GameRecord(
            game.width, game.height, game.rule, tuple(cells),
            black="Numoku", white="Numoku", result=results[game.result],
            comment=f"self-play game {game.number} of seed {about.get('seed', '?')}",
        )  # fmt: skip
        findings = {
            ply: Result(value, (cells[ply],), nodes=budget.at(ply), author=author)
            for ply, value in enumerate(game.values)
            if value != selfplay.NO_VALUE
        }
        if game.ending in selfplay.SINGLE:  # its last move was not played
            images = list(record.images())
            for ply, finding in findings.items():
                yield Known(images[ply], finding)
        else:
            yield StoredGame(record, findings)


# Storing --------------------------------------------------------------------------------

BATCH = 500  # items per transaction

Tell = Callable[[Added], None]  # receives the counts so far


def add_items(database: Database, items: Iterable[Item], tell: Tell = lambda done: None) -> Added:
    """Store everything; ``tell`` is called after every batch."""
    done = Added()
    source = iter(items)
    while batch := list(islice(source, BATCH)):
        with database.transaction():
            done += database.add_games(item for item in batch if isinstance(item, StoredGame))
            findings = [item for item in batch if isinstance(item, Known)]
            done += Added(positions=database.add_findings(findings))
            for item in batch:
                if isinstance(item, GameTree):
                    done += add_tree(database, item)
                elif isinstance(item, Known) and item.way is not None:
                    done += add_tree(database, tree_of(item.way))
        tell(done)
    return done


def merge(into: Database, other: Database, tell: Tell = lambda done: None) -> Added:
    """Copy everything from another database; ``tell`` is called after every batch."""
    done = add_items(into, chain(other.games(), other.findings(), read_trees(other)), tell)
    taken = []  # positions new to this book
    with into.transaction():
        for key, value, moves in other.pages():
            row = page_row(into, key, value, moves)
            if into.connection.run(f"{ADD_PAGE} DO NOTHING", row):
                taken.append(key)
        settle(into, taken)  # propagates their values
    return done + Added(pages=len(taken))


# Exports: all lines as one tree (RenLib or SGF), or everything as JSON lines ----------

NO_BOOK = "the moves of the book are not in the file; `numoku db FILE merge` copies them"


def export(
    database: Database, path: Path, wanted: Filter, values: bool = False, encoding: str = ENCODING
) -> list[str]:
    """Write a file in the format of its suffix; return messages about what the file leaves out.

    Of ``wanted``, rule and size count; ``values`` writes values with the moves; ``encoding`` is
    that of a library. An existing file is replaced as a whole or left as it was. EngineError if
    there is nothing to export, SettingsError if the format is unknown.
    """
    kind = path.suffix.lower()
    if kind not in (".lib", ".sgf", ".jsonl"):
        raise SettingsError(f"{path}: exports are called .lib, .sgf or .jsonl")
    with in_place_of(path) as part:
        if kind == ".lib":
            data, losses = library(database, wanted, values, encoding)
            part.write_bytes(data)
        elif kind == ".sgf":
            trees = gather(database, wanted, values)
            if not trees:
                raise EngineError("no games or lines match")
            text, remarks = format_sgf_trees(trees)
            losses = remarks + _lost_findings(database, trees, values)
            part.write_text(text, encoding="utf-8")
        else:
            with part.open("w", encoding="utf-8") as file:
                file.writelines(json.dumps(entry) + "\n" for entry in documents(database, wanted))
            losses = [NO_BOOK] if database.count("book") else []
    return losses


def library(
    database: Database, wanted: Filter, values: bool, encoding: str
) -> tuple[bytes, list[str]]:
    """Return all lines from the empty 15x15 board as one RenLib library."""
    losses: list[str] = []
    fitting = []
    for tree in gather(database, wanted, values):
        record = tree.record
        if (record.width, record.height) != (SIZE, SIZE):
            losses.append(f"moves on {record.width}x{record.height} are left out: {tree.count()}")
        elif record.placed or record.first:
            losses.append(f"moves after set-up stones are left out: {tree.count()}")
        else:
            fitting.append(tree)
    if not fitting:
        raise EngineError("no line starts from the empty 15x15 board")
    losses += _lost_findings(database, fitting, values)
    rules = sorted({(tree.record.rule or Rule.FREESTYLE).name.lower() for tree in fitting})
    if len(rules) > 1:
        losses.append(f"a library has no rule: this one mixes {' and '.join(rules)}")
    whole = fitting[0]
    stack = [(whole.root, tree.root) for tree in reversed(fitting[1:])]
    while stack:
        target, source = stack.pop()
        target.title = join_texts(target.title, source.title, " / ")
        target.comment = join_texts(target.comment, source.comment, "\n")
        target.text = join_texts(target.text, source.text, " ")
        target.is_marked |= source.is_marked
        target.is_start |= source.is_start
        stack += [(target.child(node.cell, node.is_move), node) for node in source.children]
    data, more = format_renlib(whole, encoding)
    return data, losses + more


def gather(database: Database, wanted: Filter, values: bool) -> list[GameTree]:
    """Return all lines and games, one tree per rule, board size and start position."""
    found: dict[GameRecord, GameTree] = {}
    for tree in read_trees(database):
        if wanted.takes(tree.record.start):
            found[tree.record.beginning] = tree
    for game in database.games():
        if wanted.takes(game.record.start):
            start = game.record.beginning
            found.setdefault(start, GameTree(start)).add(game.record.turns)
    for start, way in _book_ways(database, wanted):
        found.setdefault(start, GameTree(start)).add(way)
    if values:
        known = _values(database)
        for tree in found.values():
            for node, _, image in images(tree):  # each move's value for the side that makes it
                value = known.get(image.key)
                if value is not None and node.is_move and not node.text and node is not tree.root:
                    node.text = format_value(-value)
    return list(found.values())


def _book_ways(
    database: Database, wanted: Filter
) -> Iterator[tuple[GameRecord, list[Coordinates]]]:
    """Yield an empty board and the moves to a position, for every position of the book.

    The moves follow the book from its positions with the fewest stones.
    """
    pages = {key: moves for key, _, moves in database.pages()}
    left = dict.fromkeys(sorted(pages, key=lambda key: (key[:BOARD], len(key), key)))
    while left:
        first = next(iter(left))
        del left[first]
        root = read_key(first)
        way = root.in_turn
        start = GameRecord(root.width, root.height, root.rule)
        if way is None or not wanted.takes(root):
            continue
        yield start, way
        stack = [(way, reduce(Position.after, way, start.start))]
        while stack:
            way, before = stack.pop()
            image = image_of(before)
            for cell, _ in image.unpack_book(pages[image.key]):
                position = before.after(cell)
                if (key := image_of(position).key) in left:
                    del left[key]
                    stack.append(([*way, cell], position))
                    yield start, stack[-1][0]


def _values(database: Database) -> dict[bytes, int]:
    rows = database.connection.stream("SELECT key, value FROM position WHERE rank IS NOT NULL")
    return {bytes(key): value for key, value in rows}


def _lost_findings(database: Database, trees: Iterable[GameTree], are_written: bool) -> list[str]:
    """Return messages about values left out, and values of positions on no written line."""
    values = _values(database)
    if not values:
        return []
    on_lines = {image.key for tree in trees for _, _, image in images(tree)}
    losses = []
    if not are_written:
        losses.append(f"values left out: {len(values)}; --values writes them")
    apart = sum(1 for key in values if key not in on_lines)
    if apart:
        losses.append(f"positions with a value but on no line of the file: {apart}")
    return losses


def documents(database: Database, wanted: Filter) -> Iterator[dict[str, object]]:
    """Yield everything in the database except the book, as JSON documents that ``add`` reads."""
    for result, text in database.connection.stream("SELECT result, record FROM game ORDER BY id"):
        if wanted.takes(parse_sgf(text).start):
            yield {"type": "game", "result": result, "sgf": text}
    for tree in read_trees(database):
        if wanted.takes(tree.record.start):
            text, _ = format_sgf_trees([tree])
            yield {"type": "tree", "sgf": text}
    for known in database.findings():
        position = read_key(known.image.key)
        if wanted.takes(position):
            about = position_document(GameRecord.of(position))
            yield {"type": "position", **about, **result_document(known.finding)}
