"""`numoku solve` on files that hold more than puzzles, and proofs that people can follow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pbrain_engine import Game, Side, cli
from pbrain_engine.commands.prooftext import ProofText
from pbrain_engine.commands.view import format_proof
from pbrain_engine.notation.cells import parse_moves
from pbrain_engine.solver.proofs import Tree
from pbrain_engine.solver.solver import Solver

GOOD: dict[str, Any] = {
    "id": "good", "size": 15, "rule": "freestyle", "to_move": "black", "kind": "vcf",
    "black": [[4, 7], [5, 7], [6, 7]], "white": [[0, 0], [2, 2], [14, 14]],
}  # fmt: skip
FIVE = [[x, 7] for x in range(5)]
FAULTS = {
    "no JSON": '{"id": "half',
    "a JSON object": "[1, 2]",
    "lacks size, rule, black, white": '{"id": "x", "to_move": "black", "kind": "vcf"}',
    "unknown kind 'mate'": json.dumps({**GOOD, "kind": "mate"}),
    "7,7 is not empty": json.dumps({**GOOD, "black": [[7, 7]], "white": [[7, 7]]}),
    "black is a list of cells": json.dumps({**GOOD, "black": ["h8"]}),
    "white is a list of cells": json.dumps({**GOOD, "white": "h8"}),
    "off the 15x15": json.dumps({**GOOD, "black": [[15, 0]]}),
    "unknown rule 'chess'": json.dumps({**GOOD, "rule": "chess"}),
    "to_move is": json.dumps({**GOOD, "to_move": "red"}),
    "sides are 5 to 22": json.dumps({**GOOD, "size": 99}),
    "size is": json.dumps({**GOOD, "size": "15"}),
    "id is a text": json.dumps({**GOOD, "id": ["x"]}),
    "the game is over": json.dumps({**GOOD, "black": FIVE}),
}


def solve(capsys: pytest.CaptureFixture[str], path: Path, *words: str) -> tuple[int, str, str]:
    status = cli.main(["solve", str(path), "--threats-only", "--memory", "10", *words])
    out, err = capsys.readouterr()
    return status, out, err


def test_every_faulty_line_is_told_and_the_others_are_answered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "puzzles.jsonl"
    lines = [json.dumps(GOOD), "", *FAULTS.values(), json.dumps({**GOOD, "id": "last"})]
    path.write_text("\n".join(lines), encoding="utf-8")
    status, out, err = solve(capsys, path, "--json")
    assert status == 1
    assert [json.loads(line)["id"] for line in out.splitlines()] == ["good", "last"]
    told = err.splitlines()
    assert f"{len(FAULTS)} lines left out" in told.pop()
    for number, (problem, line) in enumerate(zip(FAULTS, told, strict=True), 3):
        assert line.startswith(f"numoku solve: {path}, line {number}: ") and problem in line


def test_a_sound_file_is_no_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "puzzles.jsonl"
    path.write_text(json.dumps(GOOD), encoding="utf-8")
    status, out, err = solve(capsys, path)
    assert (status, err) == (0, "")
    assert "WIN by fours (VCF) in 2 moves: " in out


def test_half_a_line_of_answers_is_no_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out_path = tmp_path / "puzzles.jsonl", tmp_path / "answers.jsonl"
    path.write_text(json.dumps(GOOD), encoding="utf-8")
    out_path.write_text('{"id": "other"}\n{"id": "go', encoding="utf-8")
    assert "1 puzzles" in solve(capsys, path, "--out", str(out_path))[1]
    assert "no puzzles left" in solve(capsys, path, "--out", str(out_path))[1]


def test_the_sample_puzzles_are_solved(capsys: pytest.CaptureFixture[str]) -> None:
    sample = Path(__file__).parent.parent / "docs" / "puzzles.jsonl"
    status, out, _ = solve(capsys, sample, "--json")
    assert status == 0
    claims = {answer["id"]: answer["claim"] for answer in map(json.loads, out.splitlines())}
    assert claims == {
        "four by four": "vcf",
        "no fours": "no-vcf",
        "two threes": "vct",
        "which answers": "defend",
        "double three": "forbidden",
    }


# Words ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ("vcf", "WIN by fours (VCF) in 5 moves: h8"),
        ("vct", "WIN by threats of fours (VCT) in 5 moves: h8"),
        ("win", "WIN in 5 moves: h8"),
    ],
)
def test_a_win_is_told_in_words(claim: str, words: str) -> None:
    assert format_proof(claim, 5, [(7, 7)]) == words
    assert format_proof("win", 1, [(7, 7)]) == "WIN in 1 move: h8"


def proof_of(moves: str) -> tuple[Tree, list[str]]:
    game = Game(15)
    for move in parse_moves(moves):
        game.play(*move)
    before = game.moves
    with Solver(8_000_000) as solver:
        tree = solver.tree(game)
        assert tree is not None
        lines = ProofText(game, solver).lines(tree)
    assert game.moves == before and game.to_move is Side.BLACK
    return tree, lines


def test_a_leaf_says_where_the_five_comes() -> None:
    tree, lines = proof_of("g8a1h8a3i8a5")
    assert tree.replies == {}
    assert lines[0] in ("f8", "j8")
    assert lines[1].startswith("  any answer: five at ") and " or " in lines[1]


def test_free_answers_run_into_fours_that_are_shown() -> None:
    tree, lines = proof_of("h8a1i8a3h9a5i9a9")
    told = "\n".join(lines)
    assert "any other answer: black wins by fours, as with " in told
    named = {line.split()[0] for line in lines[1:] if not line.strip().startswith("any")}
    assert len(named) >= len(tree.replies) > 1
    assert all(line.endswith(", five") for line in lines if " as with " in line)
