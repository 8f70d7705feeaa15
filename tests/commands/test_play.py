"""Games in the terminal: none is lost, and a file keeps what it held."""

from __future__ import annotations

import random

import pytest

from pbrain_engine import Move, Side
from pbrain_engine.commands.dialogue import Dialogue, GameStart
from pbrain_engine.game.record import GameRecord
from pbrain_engine.game.tree import GameTree, TreeNode, main_line, tree_of
from pbrain_engine.notation.sgf import format_sgf_trees, parse_sgf_trees
from tests.notation.test_renlib import grow


def notes_of(tree: GameTree) -> dict[tuple[object, ...], str]:
    """Return the comment of every line of a tree."""
    found: dict[tuple[object, ...], str] = {}

    def look(node: TreeNode, line: tuple[object, ...]) -> None:
        found[line] = node.comment
        for child in node.children:
            look(child, (*line, child.cell))

    look(tree.root, ())
    return found


def test_whatever_is_played_on_a_file_nothing_of_it_is_lost(engine, tmp_path):
    chance = random.Random(35)
    dialogue = Dialogue(engine, GameStart(GameRecord(), level=1, seconds=0.02), seed=1)
    for number in range(10):
        path = tmp_path / f"{number}.sgf"
        text, _ = format_sgf_trees([grow(2 * number, 30), grow(2 * number + 1, 30)])
        path.write_text(text, encoding="utf-8")
        before = [notes_of(tree) for tree in parse_sgf_trees(text)]
        dialogue.answer(f"load {path}")
        game = engine.game
        for _ in range(chance.randrange(8)):
            if chance.random() < 0.4 and game.ply:
                dialogue._take_back()
            elif not game.is_over:
                engine.play(*chance.choice(game.legal_moves()))
        dialogue.answer(f"save {path}")
        assert dialogue.answer("yes").startswith("saved")
        trees = parse_sgf_trees(path.read_text(encoding="utf-8"))
        after = [notes_of(tree) for tree in trees]
        assert before[0].items() <= after[0].items() and before[1] == after[1]
        assert list(main_line(trees[0]).moves)[: game.ply] == game.moves


@pytest.mark.parametrize("method", ["", "evaluation"])
def test_a_game_of_a_file_has_other_names_and_notes_while_a_move_of_the_engine_stands(
    engine, method
):
    record = GameRecord(moves=(Move(7, 7), Move(8, 8)), black="Ann", white="Bob", result="1-0")
    start = GameStart(record, [tree_of(record)], Side.BLACK, 1, 0.02, method)
    dialogue = Dialogue(engine, start, seed=1)
    for answer in ("a1", "undo", "a2", "undo"):
        dialogue.answer(answer)
        dialogue.engine_turn()
        text, _ = dialogue.sgf()
        assert ("PW[Bob]RE[B+]" in text) is (answer == "undo")
        assert any(dialogue.record().comments) is (answer != "undo" and not method)
