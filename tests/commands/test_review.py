"""What a review says: of moves, of each side, of the whole game; and what it writes to a file."""

from __future__ import annotations

import signal
import sys
import time
from math import exp, log

import pytest

from pbrain_engine.app import thinking
from pbrain_engine.commands import review
from pbrain_engine.engine.review import Reviewer
from pbrain_engine.errors import FileError
from pbrain_engine.game import result
from pbrain_engine.game.game import Game, Move
from pbrain_engine.game.record import GameRecord
from pbrain_engine.game.result import Result, Reviewed, win_by
from pbrain_engine.game.tree import main_line
from pbrain_engine.notation.sgf import parse_sgf_trees
from pbrain_engine.position.rules import Side
from pbrain_engine.values import WIN
from tests.golden.commands import limit_searches

GAME = "h8a1i8c1j8e1a15h1"
SCALE = 100.0


@pytest.fixture(autouse=True)
def nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let reviews be the same on every machine."""
    limit_searches(monkeypatch)


def moved(ply: int, chance: float, loss: float = 0.0, missed: bool = False) -> Reviewed:
    played, best = Move(ply, 0), Move(ply, 1 if loss or missed else 0)
    win = win_by("win", (best,)) if missed else None
    value = WIN if chance == 1 else SCALE * log(chance / (1 - chance))  # as exact as a float
    return Reviewed(ply, played, Result(value, (best,), 5, scale=SCALE), loss, win)


@pytest.mark.parametrize(
    ("loss", "missed", "kind"),
    [(0.0, False, "best"), (0.049, False, "good"), (0.05, False, "inaccuracy"),
     (0.099, False, "inaccuracy"), (0.1, False, "mistake"), (0.199, False, "mistake"),
     (0.2, False, "blunder"), (1.0, False, "blunder"),
     (0.01, True, "mistake"), (0.2, True, "blunder")],
)  # fmt: skip
def test_moves_are_judged_by_the_chance_that_they_lost(loss, missed, kind):
    assert moved(1, 1.0, loss, missed).kind == kind
    assert moved(1, 1.0, loss, missed).is_mistake is (kind in ("mistake", "blunder"))
    words = review.remarks(GameRecord(), moved(1, 1.0, loss, missed))
    assert ("missed a win in 1: b2" in words) is missed


def test_accuracy_is_a_mean_of_each_side():
    game = GameRecord(moves=((1, 0), (2, 0), (3, 0)))
    found = [moved(1, 0.5), moved(2, 0.5, 0.1), moved(3, 0.6, 0.2)]
    black = result.verdict(game, found, Side.BLACK)
    white = result.verdict(game, found, Side.WHITE)
    assert black.accuracy == pytest.approx((100 + 100 * exp(-0.9)) / 2)
    assert white.accuracy == pytest.approx(100 * exp(-0.45))
    assert black.counts == {"inaccuracy": 0, "mistake": 0, "blunder": 1}
    assert white.counts == {"inaccuracy": 0, "mistake": 1, "blunder": 0}
    assert result.verdict(game, found[:1], Side.WHITE).accuracy is None


def test_the_decisive_move_is_the_last_after_which_the_winner_kept_his_chance():
    game = GameRecord(moves=tuple((n, 0) for n in range(1, 7)))
    # Black's chance before each move: 0.5, 0.9, 0.6, 0.85, 0.9, 0.95, and 1 in the end.
    found = [moved(1, 0.5), moved(2, 0.1), moved(3, 0.6), moved(4, 0.15), moved(5, 0.9),
             moved(6, 0.05, 0.05)]  # fmt: skip
    assert result.chances(game, found) == pytest.approx([0.5, 0.9, 0.6, 0.85, 0.9, 0.95, 1.0])
    assert result.decisive(game, found) == 3
    assert result.decisive(game, found[:1]) is None and result.decisive(game, []) is None


def test_a_better_move_is_a_variation_also_where_it_ends_the_game():
    game = GameRecord(moves=((1, 0), (2, 0), (3, 0)))
    found = [moved(1, 1, 0.3, missed=True), moved(2, 1), moved(3, 1, 0.3)]
    tree = review.annotate(game, found, None)
    first = tree.root.children
    assert [(node.cell, node.comment) for node in first[1:]] == [((1, 1), "better")]
    assert [node.cell for node in first[0].children] == [(2, 0)]
    assert [node.cell for node in first[0].children[0].children] == [(3, 0), (3, 1)]


def test_a_second_review_writes_nothing_twice(tmp_path):
    path, out = tmp_path / "game.sgf", tmp_path / "out.sgf"
    path.write_text(
        "(;GM[4]SZ[15]PB[Ann]C[a good game];B[hh]C[mine];W[aa];B[ih];W[ca];B[jh](;W[ea];B[ao];"
        "W[ha])(;W[gh]C[better]))",
        encoding="utf-8",
    )
    texts = []
    for source in (path, out, out):
        assert review.main([str(source), "--sgf", str(out)]) == 0
        texts.append(out.read_text(encoding="utf-8"))
    assert texts[0].count("missed a win") == 1
    (tree,) = parse_sgf_trees(texts[2])
    assert tree.record.black == "Ann" and tree.root.comment == "a good game"
    node, notes = tree.root, []
    while node.children:
        node = node.children[0]
        notes.append(node.comment.splitlines())
    assert notes[0] == ["mine"]  # it was no mistake
    assert len(notes[6]) == len(set(notes[6])) and notes[6][0].startswith("value ")
    assert notes[6][1].startswith(("mistake: lost", "blunder: lost"))
    assert "better" in texts[2] and "1 mistakes" not in texts[2]


def test_what_a_review_is_written_over_loses_nothing(tmp_path, capsys):
    path, library = tmp_path / "two.sgf", tmp_path / "a.lib"
    path.write_text("(;GM[4]SZ[15];B[hh])(;GM[4]SZ[15];B[ii];W[aa])", encoding="utf-8")
    assert review.main([str(path), "--sgf", str(path)]) == 0
    assert capsys.readouterr().err == "numoku: only the first of 2 games is used\n"
    trees = parse_sgf_trees(path.read_text(encoding="utf-8"))
    assert [main_line(tree).moves for tree in trees] == [((7, 7),), ((8, 8), (0, 0))]
    out = tmp_path / "out.sgf"
    assert review.main([str(path), "--sgf", str(out)]) == 0
    assert len(parse_sgf_trees(out.read_text(encoding="utf-8"))) == 1, "that was reviewed"
    game = Game(15)
    game.play("h8")
    game.save(library)
    before = library.read_bytes()
    with pytest.raises(FileError, match="is read; name another file"):
        review.main([str(library), "--sgf", str(library)])
    assert library.read_bytes() == before


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent differently there")
def test_an_interrupt_shows_what_is_done(capsys, monkeypatch):
    judged: list[Reviewed] = []
    judge = Reviewer._judge

    def note(self: Reviewer, *about: object) -> Reviewed:
        judged.append(judge(self, *about))  # type: ignore[arg-type]
        if len(judged) == 4:
            signal.raise_signal(signal.SIGINT)
            time.sleep(1)  # until the main thread has heard it
        return judged[-1]

    monkeypatch.setattr(Reviewer, "_judge", note)
    assert review.main([GAME]) == 0
    said = capsys.readouterr()
    assert "8. h1" in said.out and "1. h8" not in said.out
    assert "moves of 8 were reviewed" in said.err


def test_an_interrupt_before_the_search_leaves_files_alone(tmp_path, monkeypatch):
    def interrupt(*works: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(thinking, "in_thread", interrupt)
    with pytest.raises(KeyboardInterrupt):
        review.main([GAME, "--sgf", str(tmp_path / "out.sgf")])
    assert not (tmp_path / "out.sgf").exists()
