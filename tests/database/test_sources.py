"""Databases of random games, findings and lines: merged any way, they hold what a model does."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pbrain_engine import Move, Result, Rule, Side, Tree
from pbrain_engine.database import lines, sources
from pbrain_engine.database.lines import Filter, add_tree, join_texts, read_trees
from pbrain_engine.database.rescue import find_faults
from pbrain_engine.database.sources import SourceOptions, add_items, merge, read_source
from pbrain_engine.database.store import (
    ADD_GAME,
    Added,
    Database,
    StoredGame,
    digest_of,
    rank_of,
)
from pbrain_engine.game.cells import NotationError
from pbrain_engine.game.position import image_of
from pbrain_engine.game.record import GameRecord
from pbrain_engine.game.result import LOWER, UPPER, Author, Known
from pbrain_engine.game.tree import GameTree, TreeNode
from pbrain_engine.notation.files import write_game
from pbrain_engine.notation.sgf import format_sgf
from pbrain_engine.position.geometry import symmetries, transform
from tests.arena import test_journal

Cell = tuple[int, int]
Key = tuple[object, ...]
SIZES = ((6, 6), (7, 5), (17, 16))  # the last has numbers of two bytes


def documents(database: Database) -> list[str]:
    """Return all that a whole database holds."""
    assert list(find_faults(database)) == []
    return sorted(json.dumps(entry) for entry in sources.documents(database, Filter()))


def key_of(record: GameRecord, ply: int) -> Key:
    """Return what all images of a position of a game have in common, without the database."""
    size = record.width, record.height
    stones = list(record.placed)
    side = record.first
    for cell in record.turns[:ply]:
        stones += [] if cell is None else [(cell, side)]
        side = side.opponent
    images = [
        sorted((*transform([cell], number, *size)[0], owner) for cell, owner in stones)
        for number in range(symmetries(*size))
    ]
    return record.rule, size, side, tuple(min(images))


def random_game(chance: random.Random) -> GameRecord:
    size = chance.choice(SIZES)
    cells = chance.sample([(x, y) for x in range(3) for y in range(3)], chance.randint(1, 7))
    setup = chance.choice((0, 0, 1, 3))
    moves = tuple(cells[setup:])
    return GameRecord(
        *size, chance.choice((Rule.FREESTYLE, Rule.RENJU)), moves, chance.choice(list(Side)[:2]),
        tuple((cell, Side(number % 2)) for number, cell in enumerate(cells[:setup])),
        result=chance.choice(("1-0", "0-1", "1/2-1/2", "")),
        passes=chance.choice(((), (), (0,), (len(moves),))),
    )  # fmt: skip


class Items:
    """Games and findings; the same number is the same item, whichever database takes it."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.games = [random_game(self.chance) for _ in range(12)]
        self.counts = [self.chance.random() < 0.7 for _ in self.games]
        self.findings = []
        for number in range(30):
            game = self.chance.randrange(len(self.games))
            ply = self.chance.randrange(len(self.games[game].turns) + 1)
            self.findings.append((game, ply, self.finding(number)))

    def finding(self, number: int) -> Result:
        value = self.chance.choice((self.chance.randint(-900, 900), 29_990, -29_991))
        cells = self.chance.sample([Move(x, y) for x in range(3) for y in range(3, 5)], 3)
        bound, depth = self.chance.choice(("", LOWER, UPPER)), self.chance.randint(0, 4)
        return Result(
            value, tuple(cells), depth, depth, number, bound=bound, moves=tuple(cells[:1]),
            claim="vct" if abs(value) > 29_000 else "",
            tree=Tree(Move(3, 4), {}) if value == 29_990 else None,
            author=Author("1", str(number % 3)),
        )  # fmt: skip

    def game(self, number: int, findings: bool) -> StoredGame:
        found = {ply: f for game, ply, f in self.findings if game == number and findings}
        return StoredGame(self.games[number], found, self.counts[number])

    def known(self, number: int) -> Known:
        game, ply, finding = self.findings[number]
        return Known(list(self.games[game].images())[ply], finding)

    def model(self, games: set[int]) -> Counter[tuple[Key, str]]:
        """Return how often each position has each result."""
        found: Counter[tuple[Key, str]] = Counter()
        for number in games:
            record = self.games[number]
            if self.counts[number] and record.result:
                for ply in range(len(record.turns) + 1):
                    found[key_of(record, ply), record.result] += 1
        return found


def counted(database: Database, items: Items) -> Counter[tuple[Key, str]]:
    """Return what the database says about every position of every game."""
    found: Counter[tuple[Key, str]] = Counter()
    for record in items.games:
        for ply, image in enumerate(record.images()):
            entry = database.look_up(image)
            if entry is not None:
                for count, result in ((entry.black_wins, "1-0"), (entry.draws, "1/2-1/2"),
                                      (entry.white_wins, "0-1")):  # fmt: skip
                    if count:
                        found[key_of(record, ply), result] = count
    return found


@pytest.mark.parametrize("seed", range(3))
def test_databases_merged_either_way_hold_what_one_database_of_all_holds(tmp_path, seed):
    items = Items(seed)
    chance = random.Random(seed)
    numbers = range(len(items.games))
    shares = [{n for n in numbers if chance.random() < 0.6} for _ in range(2)]
    known = [{n for n in range(len(items.findings)) if chance.random() < 0.5} for _ in range(2)]
    made = []
    for name, games, findings in (
        ("a", shares[0], known[0]), ("b", shares[1], known[1]),
        ("all", shares[0] | shares[1], known[0] | known[1]),
        ("a again", shares[0], known[0]),
    ):  # fmt: skip
        database = Database(tmp_path / name, create=True)
        made.append(database)
        with database.transaction():
            for number in sorted(games, key=lambda n: chance.random()):
                first = database.add_games([items.game(number, findings=False)])
                again = database.add_games([items.game(number, findings=True)])
                assert (first.games, again.games, again.known_games) in ((1, 0, 1), (0, 0, 1))
            rows = [items.known(n) for n in sorted(findings, key=lambda n: chance.random())]
            database.add_findings(rows)
        assert counted(database, items) == items.model(games)
        for game, ply, finding in items.findings:
            if game in games and finding is items.game(game, True).findings[ply]:
                entry = database.look_up(list(items.games[game].images())[ply])
                stands = rank_of(entry.finding), entry.finding.nodes
                assert stands >= (rank_of(finding), finding.nodes)
        assert database.count("game") == len({items.games[number] for number in games})
    one, two, whole, again = made
    done = merge(one, two)
    merge(two, again)
    assert documents(one) == documents(two) == documents(whole)
    assert done.games == whole.count("game") - again.count("game")
    assert merge(one, whole) == Added(known_games=whole.count("game"))
    sources.export(whole, tmp_path / "all.jsonl", Filter())
    with Database(tmp_path / "read", create=True) as read:
        add_items(read, read_source(str(tmp_path / "all.jsonl"), SourceOptions()))
        assert documents(read) == documents(whole)
    for database in made:
        database.close()


def turned(tree: GameTree, number: int) -> GameTree:
    """Return a tree in another orientation."""
    record = tree.record
    size = record.width, record.height

    def turn(node: TreeNode) -> TreeNode:
        cell = None if node.cell is None else transform([node.cell], number, *size)[0]
        return replace(node, cell=cell, children=[turn(child) for child in node.children])

    placed = tuple((transform([cell], number, *size)[0], side) for cell, side in record.placed)
    return GameTree(record._replace(placed=placed), turn(tree.root))


SETUP = [(0, 1), (4, 3), (1, 5)]  # stones that no symmetry leaves as they are


def random_tree(chance: random.Random, size: Cell, free: list[Cell]) -> GameTree:
    """Return a tree on stones that were set up, with notes on its moves and on its beginning."""
    placed = tuple(zip(SETUP, (Side.BLACK, Side.BLACK, Side.WHITE), strict=True))
    tree = GameTree(GameRecord(*size, Rule.RENJU, placed=placed, first=Side.WHITE))
    tree.root.comment = "a note"
    tree.root.child(free[0], is_move=False).text = "A"
    for number in range(6):
        node = tree.root
        for cell in chance.sample(free, 3):
            node = node.child(cell if chance.random() < 0.9 else None)
        node.comment = f"note {number}"
        free_here = chance.choice(free)
        node.child(free_here, is_move=False).text = "A"
    return tree


def images_of(tree: GameTree) -> set[bytes]:
    """Return the keys of all positions of a tree."""
    return {image.key for _, _, image in lines.images(tree)}


WORDS = st.text("ab \0", max_size=3)


@given(st.lists(WORDS, max_size=5))
def test_texts_that_are_joined_stand_there_once_each_however_often_they_come(texts):
    together = ""
    for text in [*texts, *texts, ""]:
        together = join_texts(together, text, "|")
    expected = dict.fromkeys(text.replace("\0", " ") for text in texts if text)
    assert together.split("|") == (list(expected) or [""])


def random_proof(chance: random.Random, cells: list[Cell]) -> Tree:
    """Return a tree whose moves and answers are cells that no symmetry of the board shares."""
    move = Move(*cells.pop())
    answers = [Move(*cells.pop()) for _ in range(chance.randint(0, 2)) if len(cells) > 12]
    return Tree(move, {answer: random_proof(chance, cells) for answer in answers})


def turned_proof(tree: Tree, number: int, size: Cell) -> Tree:
    """Return a proof in another orientation, without the database."""
    move, *replies = transform([tree.move, *tree.replies], number, *size)
    answers = [turned_proof(answer, number, size) for answer in tree.replies.values()]
    at = [Move(*reply) for reply in replies]
    return Tree(Move(*move), dict(zip(at, answers, strict=True)))


@pytest.mark.parametrize("size", [(9, 9), (9, 7)])
@pytest.mark.parametrize("seed", range(2))
def test_what_is_stored_in_any_orientation_is_the_same_and_found_in_any(tmp_path, size, seed):
    """Lines with their notes, and findings: moves, line and proof."""
    chance = random.Random(seed)
    cells = [(x, y) for x in range(size[0]) for y in range(size[1]) if (x, y) not in SETUP]
    chance.shuffle(cells)
    tree = random_tree(chance, size, cells[:])
    label, *line = (cells.pop(0) for _ in range(4))
    proof = random_proof(chance, cells)
    seen = []

    def turn(given: Iterable[Cell], number: int) -> tuple[Move, ...]:
        return tuple(Move(*cell) for cell in transform(list(given), number, *size))

    with Database(tmp_path / "all", create=True) as whole:
        for into in range(symmetries(*size)):
            other = turned(tree, into)
            assert images_of(other) == images_of(tree)
            finding = Result(
                29_990, turn(line, into), 5, 5, 7, claim="vct", moves=turn(line[:2], into),
                tree=turned_proof(proof, into, size), author=Author("1", "w"),
            )  # fmt: skip
            with Database(tmp_path / str(into), create=True) as database:
                for target in (whole, database):
                    with target.transaction():
                        added = add_tree(target, other)
                        target.add_findings([Known(image_of(other.record.position), finding)])
                    assert target is database or (added.nodes == 0) is (into > 0)
                seen.append(documents(database))
                (back,) = read_trees(database)
                assert images_of(back) == images_of(tree) and back.count() == tree.count()
                for out in range(symmetries(*size)):
                    entry = lines.look_up(database, turned(tree, out).record.position)
                    assert entry.finding.line == turn(line, out)
                    assert entry.finding.moves == turn(line[:2], out)
                    assert entry.finding.tree == turned_proof(proof, out, size)
                    (note,) = entry.notes
                    assert note.comment == "a note"
                    assert note.labels == ((turn([label], out)[0], "A"),)
        assert documents(whole) == seen[0]
    assert all(content == seen[0] for content in seen)


@pytest.mark.parametrize("form", ["{}", "\ufeff{}", "\ufeff\n{}\n"])
def test_an_export_is_read_also_after_an_editor_has_marked_its_encoding(tmp_path, form):
    path = tmp_path / "export.jsonl"
    entry = json.dumps({"type": "game", "sgf": "(;GM[4]SZ[15];B[hh])", "result": "1-0"})
    path.write_text(form.format(entry), encoding="utf-8")
    (found,) = read_source(str(path), SourceOptions(), print)
    assert found.record.moves == ((7, 7),)


def test_a_file_of_games_that_is_only_written_is_named(tmp_path):
    path = tmp_path / "match.pgn"
    path.write_text('[Event "x"]\n\n1. h8 1-0\n', encoding="utf-8")
    with pytest.raises(NotationError, match="this is a PGN file, which is not read; SGF is"):
        list(read_source(str(path), SourceOptions()))


def test_a_game_of_a_journal_counts_once_with_its_file_and_as_earlier_versions_stored_it(tmp_path):
    path = test_journal.written(tmp_path, test_journal.game())
    (game,) = read_source(str(path), SourceOptions())
    assert isinstance(game, StoredGame) and any(game.record.comments)
    write_game(tmp_path / "game.sgf", game.record)
    noted = format_sgf(game.record)
    earlier = {"digest": digest_of(noted), "result": "*", "record": noted}
    for first in ("journal", "file", "earlier"):
        with Database(tmp_path / first, create=True) as database:
            if first == "earlier":
                database.connection.run(ADD_GAME, earlier)
            for name in (path, tmp_path / "game.sgf")[:: -1 if first == "file" else 1]:
                add_items(database, read_source(str(name), SourceOptions()))
            assert database.count("game") == 1 and list(find_faults(database)) == []
