"""`numoku solve` on files that hold more than puzzles, and proofs that people can follow."""

from __future__ import annotations

import io
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from pbrain_engine import Engine, Move, Thought, cli, threads
from pbrain_engine.commands import solve as command
from pbrain_engine.engine.ending import line_to_five
from pbrain_engine.game.cells import parse_moves
from tests.programs import NUMOKU, ROOT, run_program

GOOD: dict[str, Any] = {
    "id": "good", "size": 15, "rule": "freestyle", "to_move": "black", "kind": "vcf",
    "black": [[4, 7], [5, 7], [6, 7]], "white": [[0, 0], [2, 2], [14, 14]],
}  # fmt: skip


def solve(capsys: pytest.CaptureFixture[str], path: Path, *words: str) -> tuple[int, str, str]:
    status = cli.main(["solve", str(path), "--threats-only", "--memory", "16", *words])
    out, err = capsys.readouterr()
    return status, out, err


# A position that is open after ten million stones.
LONG = "j5k10g7m10o7h8f16f10e10m11k7f8i13l13j15h13g8g14o12o5n15e8m15k15"


@pytest.mark.parametrize("way", [["--time", "60"], ["--prove"]])
def test_an_interrupt_ends_a_search_at_once(tmp_path, capsys, monkeypatch, way):
    calls = iter([True, True])  # interrupts
    wait = threads.wait_for

    def interrupted(*about: Any) -> None:
        if next(calls, False):
            time.sleep(0.2)
            raise KeyboardInterrupt
        wait(*about)

    monkeypatch.setattr(threads, "wait_for", interrupted)
    cells = [list(cell) for cell in parse_moves(LONG, 20)]
    path = tmp_path / "puzzles.jsonl"
    long = {**GOOD, "kind": "vct", "size": 20, "black": cells[::2], "white": cells[1::2]}
    path.write_text(json.dumps(long) + "\n" + json.dumps(GOOD), encoding="utf-8")
    began = time.perf_counter()
    status, out, _ = solve(capsys, path, *way)
    assert (status, out) == (130, "")
    assert time.perf_counter() - began < 30  # of 60, or without end


# A win that a short search by threats does not see.
DEEP = (
    "h10j7j9i8h9h8g8i10g9i9i11f8g7g10i6j12k6g6j5h7l6h6f5i4h5k7e6g5f4l7i7f3e5d7e4e3g3d6d4c4h4g4"
    "c3f6k5j6"
)


@pytest.mark.parametrize("shown", [None, 3])
def test_a_win_of_the_main_search_is_claimed_with_its_whole_line_alone(
    tmp_path, capsys, monkeypatch, shown
):
    def line(engine: Engine, thought: Thought) -> list[Move]:
        return line_to_five(engine, thought)[:shown]

    monkeypatch.setattr(command, "line_to_five", line)
    cells = [list(cell) for cell in parse_moves(DEEP)]
    puzzle = {**GOOD, "kind": "win", "black": cells[::2], "white": cells[1::2]}
    path = tmp_path / "puzzles.jsonl"
    path.write_text(json.dumps(puzzle), encoding="utf-8")
    words = ["--json", "--nodes", "6000", "--time", "30", "--memory", "20"]
    assert cli.main(["solve", str(path), *words]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["claim"] == ("open" if shown else "win")
    assert bool(answer["line"]) == (shown is None)


@pytest.mark.skipif(sys.platform == "win32", reason="its pipes have another encoding")
@pytest.mark.parametrize("words", ["solve -", "play --level 1 --time 0.1"])
def test_bytes_that_are_no_text_are_lines_like_others(words):
    given = b"\xff\n" + json.dumps(GOOD).encode()
    strict = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    result = run_program(*NUMOKU, *words.split(), input=given, env=strict, text=False)
    assert b"Traceback" not in result.stderr
    if words == "solve -":
        assert result.returncode == 1 and b"line 1: this is not JSON" in result.stderr
        assert b"WIN by fours" in result.stdout
    else:
        assert result.returncode == 0 and b"is not a cell" in result.stdout


def test_the_mark_of_an_encoding_and_signs_in_a_name_hurt_no_puzzle(tmp_path, capsys):
    path = tmp_path / "puzzles.jsonl"
    path.write_text("\ufeff" + json.dumps({**GOOD, "id": "a\n\x1b[2Jb"}), encoding="utf-8")
    status, out, _ = solve(capsys, path)
    assert status == 0
    assert out.startswith("a\\n\\x1b[2Jb  vcf  ")


def test_input_without_a_puzzle_is_not_read_without_end(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n" * 11_000))
    status, out, err = solve(capsys, Path("-"))
    assert (status, out, err.count("\n")) == (1, "", 4)
    assert err.endswith("numoku: the standard input has no puzzle in its first 10,000 lines\n")


def test_the_sample_puzzles_are_solved(capsys):
    status, out, _ = solve(capsys, ROOT / "docs" / "puzzles.jsonl", "--json")
    assert status == 0
    claims = {answer["id"]: answer["claim"] for answer in map(json.loads, out.splitlines())}
    assert claims == {
        "four by four": "vcf",
        "no fours": "no-vcf",
        "two threes": "vct",
        "which answers": "defend",
        "double three": "forbidden",
    }
