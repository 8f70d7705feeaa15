"""What the commands say, whole: ``python -m tests.golden.commands``.

They run in this process, in an empty folder with a few files. Searches end by nodes or depth, also
where a command knows times alone; what differs from one run or machine to the next is replaced by
a sign. What is typed at a prompt is shown behind it.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
import tempfile
from argparse import ArgumentParser, ArgumentTypeError, _SubParsersAction
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pbrain_engine import cli, progress
from pbrain_engine.commands import dialogue, play
from pbrain_engine.commands.dialogue import Dialogue
from pbrain_engine.engine import review, swap2
from pbrain_engine.engine.engine import Limit
from pbrain_engine.engine.swap2 import OpeningChoice
from pbrain_engine.solver.solver import Solver

FILE = Path(__file__).with_suffix(".txt")
OPTIONS = Path(__file__).with_name("options.txt")
TRIED = ("-1", "0", "0.5", "1", "1.5", "3-7", "7-3", "15x20", "renju", "nan", "inf")
NODES, STONES = 2000, 20_000  # of a search, and of one by the solver, that would take its time

EMPTY_ROW = re.compile(r"(?m)^ ?\d+(?: [.+])+ ?\n")  # of a board, of which there are many
VARIED = (  # what is no two times the same, and what stands for it
    (r'"(time|ms|nps|pairs|visits_per_second)": [\d.]+', r'"\1": T'),
    (r'"(level|kernel)": "\w+"', r'"\1": "K"'),
    (r"\d+\.\d+ ms", "T ms"),
    (r"only of .*;", "only of V;"),
    (r": \d+ bytes", ": N bytes"),
    (r"time +\d+\.\d+", "time T"),
    (r", \d+:\d\d left", ", T left"),
    (r" +\d+\.\d+ s +[\d.]+[kM]?/s", " T s N/s"),
    (r"\d+\.\d+ s\b", "T s"),
    (r"[\d.]+[kM]?/s", "N/s"),
    (r"(?m)^(nps|pairs|time|level|kernel|visits_per_second) +\S+$", r"\1 T"),
    (r"([+-]?M?\d+/\d+)/\d+", r"\1/T"),
    (r"Numoku \d+\.\d+\.\d+\w*", "Numoku V"),
)

PUZZLE: dict[str, Any] = {
    "id": "good", "size": 15, "rule": "freestyle", "to_move": "black", "kind": "vcf",
    "black": [[4, 7], [5, 7], [6, 7]], "white": [[0, 0], [2, 2], [14, 14]],
}  # fmt: skip
RENJU = {
    **PUZZLE, "rule": "renju", "kind": "forbidden",
    "black": [[6, 7], [7, 6], [8, 7], [7, 8]], "white": [[0, 0], [14, 0], [0, 14], [14, 14]],
}  # fmt: skip
THREE = [[4, 4], [5, 4], [4, 5], [5, 6]]
PUZZLES = [
    PUZZLE,
    {**PUZZLE, "id": "has fours", "kind": "no-vcf", "verified": True},
    {**PUZZLE, "id": "by threats", "kind": "vct", "black": THREE},
    {**PUZZLE, "id": "any", "kind": "win", "black": THREE},
    {**PUZZLE, "id": "none", "black": [[4, 7]], "verified": True},
    {**PUZZLE, "id": "quiet", "kind": "vct", "black": [[4, 7]]},
    {**PUZZLE, "id": "stop it", "kind": "defend", "to_move": "white", "best": [[3, 7]]},
    {**PUZZLE, "id": "stop them", "kind": "defend", "to_move": "white", "best": [[3, 7]],
     "best_complete": True},
    {**PUZZLE, "id": "nothing to stop", "kind": "defend", "white": []},
    {**RENJU, "id": "fouls", "best": [[7, 7]]},
    {**RENJU, "id": "no foul", "best": []},
]  # fmt: skip

FAULTY = [
    "x", "[1, 2]", '{"id": "x", "to_move": "black", "kind": "vcf"}', "[" * 100_000,
    *(
        json.dumps({**PUZZLE, **fault})
        for fault in (
            {"kind": "mate"}, {"black": [[7, 7]], "white": [[7, 7]]}, {"black": ["h8"]},
            {"white": "h8"}, {"black": [[15, 0]]}, {"rule": "chess"}, {"to_move": "red"},
            {"size": 99}, {"size": "15"}, {"id": ["x"]}, {"black": [[x, 7] for x in range(5)]},
            {"kind": "forbidden", "best": 5}, {"kind": "forbidden", "best": [7, 7]},
        )
    ),
]  # fmt: skip

FILES = {
    "drawn.txt": " .......\n .XXX...\n .OOOO..\n .......\n ....X..\n .......\n .......\n"
    "white to move\n",
    "full.txt": " X X O O X\n O O X X O\n X X O O X\n O O X X O\n X X O O(X)\n",
    "walls.txt": " .....\n .#...\n ..X..\n .....\n .....\nwhite to move\n",
    "game.sgf": "(;GM[4]FF[4]SZ[15]RU[renju]PB[Li]PW[Wu]RE[B+]DT[2026-11-01];B[hh]C[my comment]"
    ";W[hg](;B[ig]C[main])(;B[gg];W[ff]C[side line]))",
    "saved.sgf": "(;GM[4]FF[4]SZ[15]PB[Numoku level 3]PW[you];B[hh];W[ii])",
    "stones.sgf": "\ufeff(;GM[4]SZ[10:12]RU[renju]AB[aa]PL[W];W[bb];B[cc])",
    "played.sgf": "(;GM[4]SZ[15]PB[Black]PW[White]DT[2026-11-01];B[hh]C[well];W[aa];B[ih])",
    "passes.sgf": "(;GM[4]SZ[15];B[hh];W[];B[ii])",
    "chess.sgf": "(;GM[1])",
    "puzzles.jsonl": "\n".join(map(json.dumps, PUZZLES)),
    "faulty.jsonl": "\n".join(
        [json.dumps(PUZZLE), "", *FAULTY, json.dumps({**PUZZLE, "id": "last"})]
    ),
}
FULL = "a1c1b1d1e1b2a2c2d2e2b3a3c3d3e3a4b4c4d4e4b5a5c5d5"
OPEN, LOST, WON = "h8a1i8a3j8a5", "h8a1i8a3j8a5k8", "a1a3b1b3c1c3d1d3e1"

# A command with what is typed, line by line, where ^C is an interrupt; ``cat`` shows a file, and a
# ``screen`` is where the errors of a command go, as progress does.
SESSIONS: tuple[tuple[str, str], ...] = (
    ("", ""),
    ("help me", ""),
    ("anlayse", ""),
    ("analyse --rule chess", ""),
    ("analyse --size 4", ""),
    ("analyse --size 9" + "9" * 20, ""),
    ("analyse --time -1", ""),
    ("analyse --depth x", ""),
    ("play --level 11", ""),
    ("db x", ""),
    ("db x query --stones 7-3", ""),
    ("board --linger nan", ""),
    ("analyse h8h8", ""),
    ("analyse z99", ""),
    ("analyse none.sgf", ""),
    ("analyse chess.sgf", ""),
    ("bench --level v9", ""),
    ("analyse h8i9 --nodes 2000 --time 1e300 --multipv 3 --policy", ""),
    ("analyse h8i9 --depth 3 --json --policy", ""),
    ("analyse - --depth 4", FILES["drawn.txt"]),
    ("analyse - --depth 4 --multipv 2 --json --db c.db", FILES["drawn.txt"]),
    ("analyse full.txt", ""),
    ("analyse full.txt --json", ""),
    ("analyse walls.txt --depth 2", ""),
    (f"analyse {OPEN} --depth 6 --tree --db a.db", ""),
    (f"analyse {OPEN} --depth 2 --db a.db", ""),
    (f"analyse {OPEN} --tree --json --db a.db", ""),
    (f"analyse {OPEN} --depth 2 --multipv 2 --db a.db --json", ""),
    (f"analyse {LOST} --depth 6 --tree", ""),
    (f"analyse {LOST} --depth 6 --json", ""),
    (f"analyse {WON} --tree", ""),
    (f"analyse {WON} --json", ""),
    ("analyse h7a1h9a3g8a5i8a7 --depth 2 --rule 4", ""),
    ("analyse h7a1h9a3g8a5i8a7 --depth 2 --rule renju --json", ""),
    ("analyse game.sgf --depth 2 --ply 2 --json", ""),
    ("analyse game.sgf --depth 2 --ply -1", ""),
    ("analyse game.sgf --ply 9", ""),
    ("analyse game.sgf --depth 2 --rule freestyle", ""),
    ("analyse game.sgf --depth 2 --json", ""),
    ("analyse game.sgf --size 9", ""),
    ("analyse stones.sgf --depth 2 --json", ""),
    ("analyse passes.sgf --depth 2 --json --db passes.db", ""),
    ("db passes.db check", ""),
    ("analyse h8 i9x8 --size 20x19 --from-below --depth 2", ""),
    ("analyse h8 i9t8 --size 20x19 --from-below --depth 2", ""),
    ("analyse h8i9 --search mcts --nodes 60", ""),
    ("analyse h8i9 --depth 2 --weights hand --memory 20 --json --policy", ""),
    ("solve puzzles.jsonl --time 60 --nodes 3000 --memory 20", ""),
    ("solve puzzles.jsonl --time 60 --nodes 3000 --memory 20 --json", ""),
    ("solve puzzles.jsonl --time 60 --nodes 3000 --threats-only --tree --memory 20", ""),
    ("solve faulty.jsonl --time 60 --threats-only --json --tree --memory 20", ""),
    ("solve game.sgf --memory 20", ""),
    ("solve - --threats-only --prove --memory 20", json.dumps(PUZZLE)),
    ("solve - --memory 20", "\n"),
    ("screen review h8a1i8a3j8a5k8a7l8 --time 60 --sgf out.sgf --db a.db", ""),
    ("cat out.sgf", ""),
    ("db a.db show", ""),
    (f"db a.db show {OPEN}", ""),
    (f"db a.db show {OPEN} --json", ""),
    ("review game.sgf --time 60 --json", ""),
    ("review passes.sgf --time 60 --sgf passes.out --db passes.db", ""),
    ("db passes.db check", ""),
    ("cat passes.out", ""),
    ("review h8c3i8k12j8c12 --time 60 --sgf out.sgf", ""),
    ("cat out.sgf", ""),
    ("review played.sgf --time 60 --db played.db", ""),
    ("db played.db add played.sgf", ""),
    ("review walls.txt", ""),
    ("review h8a1i8a3j8a5k8a7l8m8", ""),
    ("play --resume", ""),
    (
        "play --level 3 --time 60 --rule renju",
        "help\nh8\nhint\nundo\nundo\nh8\n7,7\nz99\nbanana\n\nforbidden\nlevel\nlevel 12\nlevel 2\n"
        "save\nsave a.txt\nsave a.sgf\nsave a.psq\nsave a.sgf\nsave game.sgf\nno\nsave game.sgf\n"
        "level 2\nyes\nload\nload none.sgf\nload chess.sgf\nblack\nswap\nboard\nswap\nresign\n"
        "resign\nhint\nc3\nundo\nnew\nload a.psq\nload saved.sgf\nquit\nh1",
    ),
    ("cat a.sgf", ""),
    ("cat a.psq", ""),
    ("play --resume", "level 1\nsave b.sgf"),
    ("cat b.sgf", ""),
    ("play --resume --rule renju", ""),
    ("play --resume h8", ""),
    ("play --level 1 --time 60", "h8\n^C\nundo\n^C\nc3\n^C\n^C\nh1"),
    (f"play {LOST}a7 --level 1 --time 60 --db a.db", "l8\nundo\nl8\nm8\nnew\nquit"),
    (f"db a.db show {LOST}a7", ""),
    ("play --level 1 --time 60", "d4\nnew\nc3\nresign"),
    ("play --resume", "new\nquit"),
    ("play --resume --level 2 --side white --time 60", ""),
    ("play --level 1 --time 60 --side white --size 9", "undo\nhint"),
    ("play walls.txt --level 1 --time 60", "save a.sgf\na1\nquit"),
    ("play game.sgf --level 1 --time 60", "undo\nsave a.sgf\nyes\nc3\nsave a.sgf\nundo"),
    ("cat a.sgf", ""),
    ("play --resume", "save c.sgf\nresign\nsave c.sgf"),
    ("cat c.sgf", ""),
    ("play h7a1h9a3g8a5i8a7 --rule renju --level 1", "h8\nforbidden"),
    ("play h7a1h9a3g8a5i8a7h6a9k8a11 --rule renju --level 1", "h8\nforbidden"),
    ("play d8a1e8a3f8a5h8a7i8a9 --rule renju --level 1", "g8\nforbidden"),
    ("play h8i9 --side white --method minimax --time 1e9 --size 9", "save m.sgf\nlevel 1"),
    ("cat m.sgf", ""),
    (
        "play --level 1 --time 60 --size 9",
        "swap2\nhint\nswap\nresign\ne5\nundo\ne5\na1\nblack\nf5\nsave s.sgf",
    ),
    ("play --time 60 --size 9", "level 1\nswap2 numoku\nhint\nundo\nh1\nundo\nh1\ni2\nquit"),
    ("play --level 1 --time 60 --size 9", "swap2 Numoku\nwhite\nundo"),
    ("play --level 1 --time 60 --size 9", "swap2 numoku\nblack\nwhite"),
    ("demo --size 5 --time 60 --total 3600 --opening " + FULL, ""),
    ("weights hand", ""),
    ("weights hand hand --json", ""),
    ("weights none", ""),
    ("bench --short", ""),
    ("bench --short --json --search mcts", ""),
    ("bench --short --json --search mcts --visits 20", ""),
    ("bench --short --json --depth 2 --weights hand", ""),
    ("db b.db show", ""),
    ("screen db b.db add game.sgf h8h9i9 game.sgf chess.sgf none.sgf", ""),
    ("db b.db add h8h9i9 --rule renju --size 15", ""),
    ("db below.db add h8h9i9 --from-below --size 9x10", ""),
    ("db below.db export below.jsonl", ""),
    ("cat below.jsonl", ""),
    ("db b.db show h8h7", ""),
    ("db b.db show h8h7 --rule renju", ""),
    ("db b.db show h8h7 --json --rule renju", ""),
    ("db b.db query --stones 2-3", ""),
    ("db b.db query --opening D4 --json", ""),
    ("db b.db query --opening D99", ""),
    ("db b.db query --text comment --limit 1", ""),
    ("db b.db query --games 1 --limit 2 --json", ""),
    ("db a.db query --proven --value 1 40000 --json", ""),
    ("db a.db query --depth 1 --stones 0-4", ""),
    ("db b.db export b.sgf", ""),
    ("cat b.sgf", ""),
    ("db b.db export b.lib --values", ""),
    ("db b.db export b.jsonl --rule renju", ""),
    ("cat b.jsonl", ""),
    ("db b.db export b.xml", ""),
    ("db c.db merge a.db b.db", ""),
    ("db c.db check", ""),
    ("db none.db check", ""),
    ("db gone.db add none.sgf", ""),
    ("db gone.db check", ""),
    ("db b.db add b.lib --encoding utf-16", ""),
    ("db b.db add b.lib --encoding klingon", ""),
    ("book show b.db", ""),
    ("book show b.db h8h7 --rule renju --json", ""),
    ("book openings b.db out.txt", ""),
    ("book openings b.db b.sgf", ""),
)


class Typed(io.StringIO):
    """Input that is shown as it is read."""

    def readline(self, *_: Any) -> str:  # type: ignore[override]
        line = super().readline()
        sys.stdout.write(line)
        if line == "^C\n":
            raise KeyboardInterrupt
        return line


class Screen(io.StringIO):
    """A terminal, for what looks whether it writes to one."""

    def isatty(self) -> bool:
        return True


def plain(text: str) -> str:
    """Return a text without what varies."""
    for pattern, sign in VARIED:
        text = re.sub(pattern, sign, text)
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def run(words: str, typed: str = "") -> str:
    """Return what a command says, and with which status it ends."""
    command, *rest = words.split() or [""]
    if command == "cat":
        return plain(Path(rest[0]).read_text(encoding="utf-8"))
    out, err = io.StringIO(), io.StringIO()
    if command == "screen":
        err, (command, *rest) = Screen(), rest
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(
            sys, "stdin", Typed(typed + "\n") if command == "play" else io.StringIO(typed)
        )
        try:
            status: object = cli.main([command, *rest] if command else [])
        except SystemExit as leaving:
            status = leaving.code
    said = out.getvalue() + "".join(f"! {line}\n" for line in err.getvalue().splitlines())
    said = plain(said)
    if command != "analyse":
        said = EMPTY_ROW.sub("", said)
    return said + (f"status {status}\n" if status else "")


def limit_searches(patch: pytest.MonkeyPatch) -> None:
    """Let searches that take a time end by nodes."""
    by_fours, by_threats = Solver.fours, Solver.threats
    patch.setattr(Solver, "fours", lambda self, *a, **k: by_fours(self, *a, nodes=STONES))
    patch.setattr(Solver, "threats", lambda self, *a, **k: by_threats(self, *a, nodes=STONES))
    for module in (review, swap2, dialogue):
        patch.setattr(module, "Limit", lambda time: Limit(nodes=NODES))
    patch.setattr(swap2, "first_three", lambda *_: OpeningChoice(stones=((0, 0), (8, 8), (0, 8))))
    patch.setattr(play, "Dialogue", partial(Dialogue, seed=1))


def transcript() -> str:
    """Return the record of all commands."""
    here = Path.cwd()
    said = []
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setenv("XDG_STATE_HOME", folder)
        patch.setenv("LOCALAPPDATA", folder)
        for name in ("NUMOKU_DB", "FORCE_COLOR"):
            patch.delenv(name, raising=False)
        patch.setattr(progress, "SCREEN_SECONDS", 0.0)
        os.chdir(folder)
        try:
            for name, content in FILES.items():
                Path(name).write_text(content, encoding="utf-8")
            for words, typed in SESSIONS:
                with pytest.MonkeyPatch.context() as limits:
                    if "review" in words or words.startswith("play"):
                        limit_searches(limits)
                    said.append(f"$ {words}".rstrip() + f"\n{run(words, typed)}")
        finally:
            os.chdir(here)
    return "\n".join(said)


class Found(Exception):
    """A parser is about to read a command line."""

    def __init__(self, parser: ArgumentParser) -> None:
        super().__init__()
        self.parser = parser


def options() -> str:
    """Return what each command takes: names, values that it accepts, defaults, what is said."""
    lines: list[str] = []

    def found(parser: ArgumentParser, *_: object, **__: object) -> None:
        raise Found(parser)

    for name in cli.COMMANDS:
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv("NUMOKU_DB", raising=False)
            patch.setattr(ArgumentParser, "parse_known_args", found)
            with pytest.raises(Found) as caught:
                cli.main([name])
        lines += described(caught.value.parser)
    return "\n".join([*lines[1:], ""])


def described(parser: ArgumentParser) -> list[str]:
    """Return what a parser takes, and those of its actions."""
    lines = ["", f"{parser.prog}: {parser.description}", f"  {parser.epilog}"]
    below: list[str] = []
    for action in parser._actions[1:]:
        if isinstance(action, _SubParsersAction):
            for made in action.choices.values():
                below += described(made)
            continue
        facts = {"default": action.default, "nargs": action.nargs, "metavar": action.metavar}
        facts["choices"] = list(action.choices or ())
        words = [" ".join(action.option_strings) or action.dest]
        words += [f"{key} {value!r}" for key, value in facts.items() if value not in (None, [], "")]
        if callable(action.type):
            words.append(f"takes {' '.join(value for value in TRIED if takes(action.type, value))}")
        lines.append(f"  {', '.join(words)}: {action.help}")
    return lines + below


def takes(kind: Callable[[str], object], text: str) -> bool:
    """Return whether the type of an option accepts a text."""
    try:
        kind(text)
    except (ValueError, TypeError, ArgumentTypeError):
        return False
    return True


if __name__ == "__main__":
    FILE.write_text(transcript(), encoding="utf-8")
    OPTIONS.write_text(options(), encoding="utf-8")
