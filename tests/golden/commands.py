"""What the commands say, whole: ``python -m tests.golden.commands``.

They run in this process, in a folder of their own (see ``records``). Between the lines that are
typed in a game stands `` / ``; ``^C`` is an interrupt. ``cat`` shows a file, and a ``screen`` is
where the errors of a command go, as progress does. Of most boards a line names the stones. Searches
end by nodes or depth, also where a command knows times alone; what differs from one run or machine
to the next is replaced by a sign. What is typed at a prompt is shown behind it.
"""

from __future__ import annotations

import io
import re
import sys
from argparse import SUPPRESS, ArgumentParser, ArgumentTypeError, _SubParsersAction
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pbrain_engine import cli, progress
from pbrain_engine.commands import bench, dialogue, opening, play
from pbrain_engine.commands.dialogue import Dialogue
from pbrain_engine.engine import review, searcher, swap2
from pbrain_engine.engine.engine import Limit
from pbrain_engine.engine.opening_choices import decide
from pbrain_engine.engine.swap2 import OpeningChoice, OpeningSearch
from pbrain_engine.game.opening_rules import Act, OpeningPlay
from pbrain_engine.solver import Solver
from tests.golden import texts
from tests.golden.records import Record, session, stage

TRIED = (
    "-1", "0", "0.5", "1", "1.5", "3-7", "7-3", "3-", "4", " 15", "1_5", "15", "16", "23", "15x",
    "15x4", "15x20", "15x15x15", "200", "201", "65536", "65537", "9" * 20, "", "renju", "nan",
    "inf",
)  # fmt: skip
NODES, STONES = 2000, 20_000  # of a search, and of one by the solver, that would take its time
FOOTPRINT = 100_000_000  # bytes of this process: the size of a table leads to other searches

BOARD = re.compile(r"(?m)^ +((?: [a-v])+)\n((?: ?\d+[ (][.+XO#() ]+\n)*)")
VARIED = (  # what is no two times the same, and what stands for it
    (r'"(time|ms|nps|pairs)": [\d.]+', r'"\1": T'),
    (r'"(level|kernel)": "\w+"', r'"\1": "K"'),
    (r"\d+\.\d+ ms", "T ms"),
    (r"only of .*;", "only of V;"),
    (r": \d+ bytes", ": N bytes"),
    (r"time +\d+\.\d+", "time T"),
    (r", \d+:\d\d:\d\d left", ", T left"),
    (r" +\d+\.\d+ s +[\d.]+[kM]?/s", " T s N/s"),
    (r"\d+\.\d+ s\b", "T s"),
    (r"[\d.]+[kM]?/s", "N/s"),
    (r"(?m)^(nps|pairs|time|level|kernel) +\S+$", r"\1 T"),
    (r"([+-]?M?\d+/\d+)/\d+", r"\1/T"),
    (r"(?m)^(numoku|numba|Python|kernel)(?= +\S+[ .]).+$", r"\1 V"),
    (r"Numoku \d+\.\d+\.\d+\w*", "Numoku V"),
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


def stones(drawn: re.Match[str]) -> str:
    """Return a board, of which there are many, in a line: its width, and each row with stones."""
    rows = (
        " ".join(
            f"{chr(97 + held.start() // 2)}{row[:2].strip()} {held[0]}"
            for held in re.finditer(r"\([XO#]\)|[XO#]", row[2:])
        )
        for row in drawn[2].splitlines()
    )
    return f"   {drawn[1].replace(' ', '')}: {', '.join(filter(None, rows))}".rstrip() + "\n"


def run(words: str, typed: str) -> str:
    """Return what a command says, and with which status it ends."""
    command, *rest = words.split() or [""]
    if command == "cat":
        return plain(Path(rest[0]).read_text(encoding="utf-8"))
    out, err = io.StringIO(), io.StringIO()
    if command == "screen":
        err, (command, *rest) = Screen(), rest
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        if words.startswith(("play", "review", "screen review")):
            limit_searches(patch)
        if words.startswith("play"):
            typed = typed.replace(" / ", "\n")
        patch.setattr(sys, "stdin", (Typed if command == "play" else io.StringIO)(typed))
        try:
            status: object = cli.main([command, *rest] if command else [])
        except SystemExit as leaving:
            status = leaving.code
    said = out.getvalue() + "".join(f"! {line}\n" for line in err.getvalue().splitlines())
    said = texts.brief(plain(said))
    if "--from-below" not in words:  # whose board is shown whole
        said = BOARD.sub(stones, said)
    return said + (f"status {status}\n" if status else "")


def limit_searches(patch: pytest.MonkeyPatch) -> None:
    """Let searches that take a time end by nodes."""
    by_fours, by_threats = Solver.fours, Solver.threats
    patch.setattr(Solver, "fours", lambda self, *a, **k: by_fours(self, *a, nodes=STONES))
    patch.setattr(Solver, "threats", lambda self, *a, **k: by_threats(self, *a, nodes=STONES))
    for module in (review, swap2, dialogue):
        patch.setattr(module, "Limit", lambda time: Limit(nodes=NODES))
    patch.setattr(swap2, "first_three", lambda *_: OpeningChoice(stones=((0, 0), (8, 8), (0, 8))))
    patch.setattr(opening, "decide", decided)
    patch.setattr(play, "Dialogue", partial(Dialogue, seed=1))


def decided(searcher: OpeningSearch, played: OpeningPlay, chance: Random) -> str:
    """Return the step of the engine in an opening; searches decide those of swap2 alone."""
    if played.rule.name == "swap2":
        return decide(searcher, played, chance)
    step = played.step
    swaps = step is not None and (step.act, step.who) == (Act.SWAP, "second")
    return "swap" if swaps else played.plain()


@Record("commands")
def transcript(record: str) -> str:
    """Return the record of all commands, of which another one has what is asked."""
    with stage() as patch:
        here = str(Path.cwd())
        patch.setenv("XDG_STATE_HOME", here)
        patch.setenv("LOCALAPPDATA", here)
        for name in ("NUMOKU_DB", "FORCE_COLOR"):
            patch.delenv(name, raising=False)
        patch.setattr(searcher, "footprint", lambda: FOOTPRINT)
        patch.setattr(progress, "SCREEN_SECONDS", 0.0)
        patch.setattr(bench, "POSITIONS", bench.SHORT[:1])
        patch.setattr(bench, "DEPTH", 9)
        patch.setattr(bench, "kernel_folder", lambda: here)
        return session(record, {}, run).replace(here, "HERE")


def described(parser: ArgumentParser, kinds: dict[str, str]) -> list[str]:
    """Return what a parser takes, and those of its actions; ``kinds``: letters for many values."""
    lines = [f"{parser.prog}:"]
    below: list[str] = []
    for action in parser._actions[1:]:
        if isinstance(action, _SubParsersAction):
            for made in action.choices.values():
                below += described(made, kinds)
            continue
        facts = {"default": action.default, "nargs": action.nargs, "metavar": action.metavar}
        facts["choices"] = list(action.choices or ())
        words = [" ".join(action.option_strings) or action.dest]
        words += [
            f"{key} {value!r}"
            for key, value in facts.items()
            if value not in (None, [], "", SUPPRESS)
        ]
        if callable(action.type) and action.type not in (str, Path):
            taken = " ".join(repr(value) for value in TRIED if takes(action.type, value))
            words.append(f"takes {kinds.setdefault(taken, chr(65 + len(kinds)))}")
        lines.append(f"  {', '.join(words)}")
    return [*texts.joined(lines, "  "), *below]


def takes(kind: Callable[[str], object], text: str) -> bool:
    """Return whether the type of an option accepts a text."""
    try:
        kind(text)
    except (ValueError, TypeError, ArgumentTypeError):
        return False
    return True


@Record("options")
def options(_: str) -> str:
    """Return what each command takes: names, values that it accepts, defaults."""
    parsers: list[ArgumentParser] = []

    def found(parser: ArgumentParser, *_: object, **__: object) -> None:
        parsers.append(parser)
        raise SystemExit

    for name in cli.COMMANDS:
        with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit):
            patch.delenv("NUMOKU_DB", raising=False)
            patch.setattr(ArgumentParser, "parse_known_args", found)
            cli.main([name])
    kinds: dict[str, str] = {}
    lines = [line for parser in parsers for line in described(parser, kinds)]
    return "\n".join([*lines, *(f"{letter}: {taken}" for taken, letter in kinds.items()), ""])
