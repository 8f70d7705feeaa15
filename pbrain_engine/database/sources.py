"""Sources of a database: game files, libraries, journals, self-play, analyses, other databases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from ..files import read_lines, read_object, read_whole, user_path
from ..game.cells import NotationError, begins_with_move, parse_moves
from ..game.documents import read_analysis, read_text
from ..game.game import Game, Move
from ..game.record import GameRecord
from ..game.result import Author, Known, Result
from ..game.tree import GameTree, main_line, tree_of
from ..native.load.library import KernelError
from ..notation import games as selfplay
from ..notation.files import SQLITE, read_games
from ..notation.games import NodePlan
from ..notation.journal import GameLog, annotated
from ..notation.renlib import ENCODING, MAGIC
from ..notation.sgf import parse_sgf_trees
from ..position.rules import Rule
from .book import ADD_PAGE, page_row, settle
from .lines import add_tree, read_trees
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

    ``say`` receives remarks about what is left out, also for games without moves.

    Raises:
        ValueError: the source cannot be understood.
        OSError: it cannot be read.
    """
    path = user_path(name)
    if not path.is_file():
        if name and path.exists() and not begins_with_move(name):
            reason = "this is a folder" if path.is_dir() else "this is not a regular file"
            raise NotationError(reason)
        if any(sign in name for sign in "./\\"):
            raise NotationError(f"there is no file {name}")
        width, height = options.size or DEFAULT_SIZE
        moves = parse_moves(name, width, height, from_below=options.from_below)
        if not moves:
            raise NotationError(f"{name!r} is neither a file nor moves such as h8i9")
        yield tree_of(GameRecord(width, height, options.rule or Rule.FREESTYLE, tuple(moves)))
        return
    with path.open("rb") as file:
        head = file.read(64)
    if head.startswith(SQLITE):
        raise NotationError(f"{name} is a database; `numoku db FILE merge {name}` copies it")
    if head.startswith(MAGIC):
        (tree,) = _told(read_games(read_whole(path), name, options.encoding), say)
        yield replace(tree, record=_apply_rule(tree.record, options, Rule.RENJU))
    elif head.startswith(selfplay.MAGIC.encode()):
        yield from _selfplay(path)
    elif head.lstrip().startswith(b"{"):
        yield from _json(path, say)
    else:
        games = read_games(read_whole(path), name, options.encoding, options.size)
        yield from _games(_told(games, say), options)


def _told(trees: list[GameTree], say: Say) -> list[GameTree]:
    for tree in trees:
        for remark in tree.remarks:
            say(remark)
    return trees


def _games(trees: Sequence[GameTree], options: SourceOptions) -> Iterator[Item]:
    for tree in trees:
        tree.record = _apply_rule(tree.record, options)
        record = add_result(main_line(tree))
        if record.moves:
            yield StoredGame(record)
        bare = replace(tree.root, comment="")  # the game's comment is in its record
        if not GameTree(tree.record, bare).is_plain():
            yield tree
    if not trees:
        kinds = "SGF, PSQ, RenLib, RIF, .pos, .sav or .rec"
        raise NotationError(f"this is not a game file ({kinds}), journal or analysis")


def _apply_rule(
    record: GameRecord, options: SourceOptions, default: Rule = Rule.FREESTYLE
) -> GameRecord:
    rule = record.rule if options.rule is None else options.rule
    return record._replace(rule=default if rule is None else rule)


def add_result(record: GameRecord) -> GameRecord:
    """Return a game as the database stores it: without comments on its moves.

    If the file gives no result, it is taken from the final position.
    """
    record = record._replace(comments=())
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
