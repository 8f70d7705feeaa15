"""The database: positions, findings about them, and games."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from ..game.documents import BOUNDS, claim_of, proof_of, read_tree, tree_document
from ..game.game import Move
from ..game.position import Image
from ..game.record import GameRecord
from ..game.result import Author, Entry, Known, Result, Tree
from ..notation.sgf import format_sgf, parse_sgf
from ..position.geometry import Coordinates
from .connection import connect

_FINDING = "rank, value, bound, depth, nodes, moves, line, proof, tree"
FINDING_COLUMNS = f"{_FINDING}, author, crc"
_NAMES = FINDING_COLUMNS.split(", ")
FOUND = f"{_FINDING}, version, weights"
POSITIONS = "position LEFT JOIN author ON author.id = position.author"  # which have these columns

ADD_COUNTS = """INSERT INTO position (key, black_wins, draws, white_wins)
    VALUES (:key, :black_wins, :draws, :white_wins)
    ON CONFLICT (key) DO UPDATE SET black_wins = position.black_wins + excluded.black_wins,
    draws = position.draws + excluded.draws, white_wins = position.white_wins + excluded.white_wins
"""
ADD_FINDING = f"""INSERT INTO position (key, {FINDING_COLUMNS})
    VALUES (:key, {", ".join(":" + name for name in _NAMES)})
    ON CONFLICT (key) DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in _NAMES)}
    WHERE position.rank IS NULL OR excluded.rank > position.rank
    OR (excluded.rank = position.rank AND excluded.nodes > position.nodes)"""
ADD_POSITION = """INSERT INTO position (key) VALUES (:key)
    ON CONFLICT (key) DO UPDATE SET draws = position.draws RETURNING id"""
ADD_AUTHOR = """INSERT INTO author (version, weights) VALUES (:version, :weights)
    ON CONFLICT (version, weights) DO UPDATE SET weights = excluded.weights RETURNING id"""
GAME = "SELECT 1 FROM game WHERE digest = :digest"
ADD_GAME = """INSERT INTO game (digest, result, record) VALUES (:digest, :result, :record)
    ON CONFLICT (digest) DO NOTHING"""

RESULTS = {"1-0": "black_wins", "0-1": "white_wins", "1/2-1/2": "draws"}
PROVEN = 1_000_000  # the least rank of a proof; shorter wins rank higher
OPEN = "*"  # the result of a game that does not count


class StoredGame(NamedTuple):
    """A game with its players' findings, each under the ply before the move."""

    record: GameRecord
    findings: dict[int, Result] = {}  # noqa: RUF012
    counts: bool = True  # whether its result counts for its positions


class Added(NamedTuple):
    """Counts of newly stored items."""

    games: int = 0
    positions: int = 0  # of these games, or with a better finding
    nodes: int = 0  # moves of lines: new ones, and old ones with new notes
    known_games: int = 0  # skipped because they were stored already
    pages: int = 0  # of the book

    def __add__(self, other: object) -> Added:
        assert isinstance(other, Added)
        return Added(*(a + b for a, b in zip(self, other, strict=True)))


class Database:
    """An open database; a context manager.

    Changes within one ``transaction()`` are stored together or not at all, durably once it ends.
    """

    def __init__(self, target: str | Path, *, create: bool = False) -> None:
        """Open a file or a URL, which ``create`` makes if missing; EngineError if that fails."""
        self.connection = connect(target, create)
        self.name, self.close = self.connection.name, self.connection.close
        self.transaction = self.connection.transaction

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Positions -----------------------------------------------------------------------

    def look_up(self, image: Image) -> Entry | None:
        """Return the entry of a position without its notes, or None."""
        found = self.connection.rows(
            f"SELECT position.id, black_wins, draws, white_wins, {FOUND} FROM {POSITIONS} "
            "WHERE key = :key",
            {"key": image.key},
        )
        if not found:
            return None
        number, black_wins, draws, white_wins, *columns = found[0]
        page = self.connection.rows("SELECT moves FROM book WHERE position = :id", {"id": number})
        book = tuple(image.unpack_book(page[0][0])) if page else ()
        finding = self.read_finding(image, columns)
        return Entry(number, finding, black_wins, draws, white_wins, book=book)

    def read_finding(self, image: Image, columns: Sequence[Any]) -> Result | None:
        """Return the finding in ``FOUND`` columns, turned back from the key's orientation."""
        rank, value, bound, depth, nodes, moves, line, proof, tree, version, weights = columns
        if rank is None:
            return None
        best, best_line = (tuple(map(Move._make, image.unpack(cells))) for cells in (moves, line))
        known = read_tree(json.loads(tree)) if tree else None
        return Result(
            value, best_line, depth, depth, nodes,
            claim=claim_of(proof, value), bound=BOUNDS[bound] if bound else "", moves=best,
            tree=known and turned_tree(known, image.back),
            author=Author(version or "", weights or ""),
        )  # fmt: skip

    def add_findings(self, known: Iterable[Known]) -> int:
        """Store findings that are better than those stored already; return how many were."""
        rows, authors = [], dict[Author, int]()
        for image, finding, _ in known:
            if (author := finding.author) not in authors:
                ((authors[author],),) = self.connection.rows(ADD_AUTHOR, author._asdict())
            tree = tree_document(finding.tree and turned_tree(finding.tree, image.turn))
            row: dict[str, Any] = {
                "key": image.key, "rank": rank_of(finding), "value": finding.value,
                "bound": BOUNDS.index(finding.bound or BOUNDS[0]), "depth": finding.depth,
                "nodes": finding.nodes,
                "moves": image.pack(finding.moves or finding.line[:1]),
                "line": image.pack(finding.line),
                "proof": proof_of(finding), "tree": "" if tree is None else json.dumps(tree),
                "author": authors[author],
            }  # fmt: skip
            row["crc"] = finding_checksum(image.key, [row[name] for name in _NAMES[:-1]])
            rows.append(row)
        return self.connection.run(ADD_FINDING, sorted(rows, key=lambda row: row["key"]))

    def position_number(self, key: bytes) -> int:
        """Return the number of a position's row, adding the row if it is missing."""
        return int(self.connection.rows(ADD_POSITION, {"key": key})[0][0])

    # Games ---------------------------------------------------------------------------

    def add_games(self, games: Iterable[StoredGame]) -> Added:
        """Store games without comments on moves, and their positions; skip those stored already."""
        counts = defaultdict[bytes, dict[str, int]](lambda: dict.fromkeys(RESULTS.values(), 0))
        known: list[Known] = []
        added = skipped = 0
        for game in games:
            record = game.record._replace(comments=())
            noted, text = (clean(format_sgf(each)) for each in (game.record, record))
            result = record.result if game.counts and record.result in RESULTS else OPEN
            row = {"digest": digest_of(text), "result": result, "record": text}
            images = list(record.images())
            known += [Known(images[ply], finding) for ply, finding in game.findings.items()]
            # earlier versions stored journals with comments on their moves
            is_known = noted != text and self.connection.rows(GAME, {"digest": digest_of(noted)})
            if is_known or not self.connection.run(ADD_GAME, row):
                skipped += 1
                continue
            added += 1
            for image in images:
                count = counts[image.key]
                if result != OPEN:
                    count[RESULTS[result]] += 1
        self.connection.run(ADD_COUNTS, [{"key": key, **counts[key]} for key in sorted(counts)])
        self.add_findings(known)
        return Added(added, len(counts), 0, skipped)

    def games(self) -> Iterator[StoredGame]:
        """Yield all games."""
        for result, text in self.connection.stream("SELECT result, record FROM game ORDER BY id"):
            yield StoredGame(parse_sgf(text), counts=result != OPEN)

    def findings(self) -> Iterator[Known]:
        """Yield all findings, in the orientation of their keys."""
        for key, *columns in self.connection.stream(
            f"SELECT key, {FOUND} FROM {POSITIONS} WHERE rank IS NOT NULL ORDER BY key"
        ):
            image = Image(bytes(key), 0)
            finding = self.read_finding(image, columns)
            assert finding is not None
            yield Known(image, finding)

    def pages(self) -> Iterator[tuple[bytes, int, bytes]]:
        """Yield the key, value and packed moves of each position of the book."""
        for key, value, moves in self.connection.stream(
            "SELECT key, book.value, book.moves FROM book "
            "JOIN position ON position.id = book.position ORDER BY position.id"
        ):
            yield bytes(key), value, bytes(moves)

    def count(self, table: str) -> int:
        """Return the number of rows of a table."""
        return int(self.connection.rows(f"SELECT COUNT(*) FROM {table}")[0][0])


def rank_of(finding: Result) -> int:
    """Return the rank of a finding: of two about one position, the higher is kept."""
    if finding.is_certain:
        return PROVEN + 2 * abs(finding.value) + (finding.tree is not None)
    return 2 * max(finding.depth, 0) + (not finding.bound)


def turned_tree(tree: Tree, turn: Callable[[list[Coordinates]], list[Coordinates]]) -> Tree:
    """Return a proof with all its cells turned."""
    replies = map(Move._make, turn([*tree.replies]))
    answers = (turned_tree(answer, turn) for answer in tree.replies.values())
    return Tree(Move(*turn([tree.move])[0]), dict(zip(replies, answers, strict=True)))


def checksum(*parts: object) -> int:
    """Return a checksum over all parts."""
    return crc32("\x1f".join(map(repr, parts)).encode("utf-8", "surrogatepass"))


def clean(text: str) -> str:
    """Return a text without NUL characters, which PostgreSQL refuses."""
    return text.replace("\0", " ")


def digest_of(text: str) -> bytes:
    """Return the digest that identifies a game, over its SGF text."""
    return sha256(text.encode()).digest()[:16]


def finding_checksum(key: bytes, columns: Sequence[Any]) -> int:
    """Return the checksum of a finding's columns, without its author, whose number may change."""
    *numbers, moves, line, proof, tree, _ = columns
    return checksum(key, *numbers, moves, line, proof, tree)
