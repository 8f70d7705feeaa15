"""Games in the terminal: none is lost, and a file keeps what it held."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from pbrain_engine import Engine, Rule
from pbrain_engine.commands.dialogue import Dialogue, GameStart
from pbrain_engine.game.record import GameRecord
from pbrain_engine.game.tree import GameTree, TreeNode
from pbrain_engine.notation.sgf import format_sgf_trees, parse_sgf_trees


@pytest.fixture
def dialogue() -> Iterator[Dialogue]:
    with Engine(memory=60_000_000) as engine:
        yield Dialogue(engine, GameStart(GameRecord(), level=1, seconds=0.02), seed=1)


def notes_of(tree: GameTree) -> dict[tuple[object, ...], str]:
    """Return the comment of every line of a tree."""
    found: dict[tuple[object, ...], str] = {}

    def look(node: TreeNode, line: tuple[object, ...]) -> None:
        found[line] = node.comment
        for child in node.children:
            look(child, (*line, child.cell))

    look(tree.root, ())
    return found


# Files ----------------------------------------------------------------------------------


def random_tree(chance: random.Random) -> GameTree:
    tree = GameTree(GameRecord(9, 9, Rule.STANDARD))
    cells = [(x, y) for x in range(9) for y in range(9)]

    def grow(node: TreeNode, free: list[tuple[int, int]], depth: int) -> None:
        for cell in chance.sample(free, chance.choice((1, 1, 2, 3)) if depth else 0):
            child = node.child(cell)
            child.comment = chance.choice(("", "good", "a [bracket] \\ and a back stroke"))
            grow(child, [other for other in free if other != cell], depth - 1)

    grow(tree.root, cells, 4)
    return tree


def test_whatever_is_played_on_a_file_nothing_of_it_is_lost(dialogue, tmp_path):
    chance = random.Random(35)
    for number in range(10):
        path = tmp_path / f"{number}.sgf"
        text, _ = format_sgf_trees([random_tree(chance), random_tree(chance)])
        path.write_text(text, encoding="utf-8")
        before = [notes_of(tree) for tree in parse_sgf_trees(text)]
        dialogue.answer(f"load {path}")
        game = dialogue.engine.game
        for _ in range(chance.randrange(8)):
            if chance.random() < 0.4 and game.ply:
                dialogue._take_back()
            elif not game.is_over:
                dialogue.engine.play(*chance.choice(game.legal_moves()))
        dialogue.answer(f"save {path}")
        assert dialogue.answer("yes").startswith("saved")
        trees = parse_sgf_trees(path.read_text(encoding="utf-8"))
        after = [notes_of(tree) for tree in trees]
        assert before[0].items() <= after[0].items() and before[1] == after[1]
        node, main = trees[0].root, []
        while node.children:
            node = node.children[0]
            main.append(node.cell)
        assert main[: game.ply] == game.moves


# Small things ---------------------------------------------------------------------------
