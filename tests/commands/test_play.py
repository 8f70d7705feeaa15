"""Games in the terminal: none is lost, and a file keeps what it held."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pbrain_engine import Engine, Game, Rule
from pbrain_engine.app.thinking import DEFAULT_LEVEL
from pbrain_engine.commands import play
from pbrain_engine.commands.dialogue import Dialogue, GameStart
from pbrain_engine.game.record import GameRecord
from pbrain_engine.game.tree import GameTree, TreeNode
from pbrain_engine.notation.renlib import format_renlib
from pbrain_engine.notation.sgf import format_sgf_trees, parse_sgf_trees

FORM = Path(play.__file__).parent.parent / "board" / "static" / "setup.js"


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


def test_whatever_is_played_on_a_file_nothing_of_it_is_lost(
    dialogue: Dialogue, tmp_path: Path
) -> None:
    chance = random.Random(35)
    for number in range(25):
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


def test_games_are_saved_in_every_kind(dialogue: Dialogue, tmp_path: Path) -> None:
    for cell in ("h8", "i9", "j10"):
        dialogue.engine.play(cell)
    for kind in ("sgf", "psq", "lib"):
        path = tmp_path / f"game.{kind}"
        assert dialogue.answer(f"save {path}") == f"saved {path}"
        assert Game.from_file(path).moves == dialogue.engine.game.moves
    dialogue.answer(f"save {tmp_path / 'game.svg'}")
    assert "<animate" in (tmp_path / "game.svg").read_text(encoding="utf-8")
    assert dialogue.answer("save game.xml").startswith("games are saved as .sgf")


def test_games_of_other_programs_are_loaded(dialogue: Dialogue, tmp_path: Path) -> None:
    path = tmp_path / "game.pos"
    path.write_bytes(bytes([2, 112, 128]))  # h8 and i9
    assert dialogue.answer(f"load {path}").startswith(f"loaded {path}")
    assert dialogue.engine.game.moves == [(7, 7), (8, 8)]
    library, tree = tmp_path / "game.lib", GameTree(GameRecord())
    first = tree.root.child((7, 7))
    library.write_bytes(format_renlib(tree)[0])
    assert dialogue.answer(f"load {library}") == f"loaded {library}", "there is only one line"
    for cell in ((7, 8), (8, 8)):
        first.child(cell)
    library.write_bytes(format_renlib(tree)[0])
    said = dialogue.answer(f"load {library}")
    used = "only the first line of the library is used, not all its 3 moves"
    assert said == f"loaded {library}; {used}"
    assert dialogue.engine.game.moves == [(7, 7), (7, 8)]
    games = tmp_path / "games.rif"
    games.write_text("<games><game><move>h8 h9</move></game><game/></games>", encoding="utf-8")
    assert dialogue.answer(f"load {games}").startswith(
        f"loaded {games}; only the first of 2 games is used"
    )


def test_what_a_file_cannot_hold_is_said_when_it_is_saved(
    dialogue: Dialogue, tmp_path: Path
) -> None:
    path = tmp_path / "noted.sgf"
    path.write_text("(;GM[4]SZ[15];B[hh]C[mine](;W[ii])(;W[gg]))", encoding="utf-8")
    dialogue.answer(f"load {path}")
    for kind in ("lib", "psq"):
        said = dialogue.answer(f"save {tmp_path / f'a.{kind}'}")
        assert said.endswith("; comments, side lines and other games are left out")


def test_a_file_without_a_game_is_named_for_what_it_is(dialogue: Dialogue, tmp_path: Path) -> None:
    path = tmp_path / "match.jsonl"
    path.write_text('{"type": "match"}\n', encoding="utf-8")
    assert dialogue.answer(f"load {path}").startswith(f"{path} is a journal")


def test_a_level_that_changes_in_mid_game_is_written_down(dialogue: Dialogue) -> None:
    assert dialogue.record().white == "Numoku level 1"
    dialogue.answer("level 2")
    assert dialogue.record().white == "Numoku level 2"  # it has not moved yet
    dialogue.answer("h8")
    dialogue.engine_turn()
    dialogue.answer("level 4")
    assert dialogue.record().white == "Numoku levels 2 and 4"
    dialogue.answer("level 2")
    assert dialogue.record().white == "Numoku level 2"
    dialogue.answer("new")
    assert dialogue.record().white == "Numoku level 2"


# Small things ---------------------------------------------------------------------------


def test_terminal_and_page_begin_with_the_same_level() -> None:
    (level,) = re.findall(r"fill\(\{ level: (\d+),", FORM.read_text(encoding="utf-8"))
    assert int(level) == DEFAULT_LEVEL
