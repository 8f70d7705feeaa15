"""Where games begin, and what textbooks answer: ``python -m tests.golden.openings``.

Openings are judged by a made-up engine; the record shows what it is asked, and all that comes of
it. A textbook's engine is recorded line by line, with the time that its method is given. Read back
are the words of matches, with ``>`` the lines of their file of openings ``f``, the commands, and
with ``>`` what the engine of a textbook reads.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pbrain_engine import cli
from pbrain_engine.arena import openings, textbook
from pbrain_engine.arena.arguments import parse, settings_of
from pbrain_engine.arena.openings import Openings
from pbrain_engine.errors import SettingsError, problem_of
from pbrain_engine.game.cells import format_moves
from pbrain_engine.position.geometry import Coordinates
from pbrain_engine.position.rules import Rule
from pbrain_engine.progress import Progress
from tests.golden import texts
from tests.golden.records import Record, printed, stage

ENGINES = ["a", "b"]


class Engine:
    """An engine that finds the sum of the x of all stones, less that of the y, worth this much."""

    said: list[str]

    def __init__(self, hash_size: int) -> None:
        self.said.append(f"  an engine of {hash_size} bytes")

    def new_game(self, width: int, height: int, rule: Rule) -> None:
        self.game, self.stones = f"{width}x{height} {rule.name}", []

    def clear_hash(self) -> None:
        self.game += " from nothing"

    def play(self, x: int, y: int) -> None:
        self.stones: list[Coordinates]
        self.stones.append((x, y))

    def think(self, limit: Any) -> Any:
        value = 11 * sum(x - y for x, y in self.stones)
        if len(self.said) < 40:
            words = f"{self.game}, {limit.nodes} nodes: {value}"
            self.said.append(f"  judges {format_moves(self.stones)} {words}")
        return SimpleNamespace(value=value)


def begun(words: str, given: str) -> Iterator[str]:
    """Yield how the first games of a match begin."""
    yield f"match {words}:"
    yield from (f"  > {line}" for line in given.splitlines())
    Path("f").write_text(given, encoding="utf-8")
    said = Engine.said = []
    try:
        shelf = Openings(settings_of(parse([*ENGINES, *words.split()])))
        games = (f"  {number}: {format_moves(shelf[number])}" for number in (0, 1, 2, 7, 1))
        yield from texts.joined(games, "  ")
        yield from (f"  not {line}" for line in shelf.skipped)
    except (SettingsError, OSError) as error:
        yield f"  refused: {problem_of(error)}"
    yield from texts.joined(said[:12], "  judges ")


def command_of(words: str) -> str:
    """Return what a command says and leaves."""
    judged = Engine.said = []
    said = printed(lambda: cli.main(["openings", *shlex.split(words)]))
    text = "".join(f"{line}\n" for line in judged[:4])  # other threads may be further
    for path in sorted(Path().iterdir()):
        text += f"-- {path}\n{path.read_text(encoding='utf-8')}"
        if path.name != "out.txt":
            path.unlink()
    return f"$ numoku openings {words}\n{said}{text}"


def textbook_of(patch: pytest.MonkeyPatch, name: str, reading: list[str]) -> str:
    """Return what the engine of a textbook answers."""
    lines = iter(reading)

    def read() -> str:
        line = next(lines, "END OF INPUT")
        print(f"> {line}")
        return line + "\n" if line != "END OF INPUT" else ""

    patch.setattr(textbook.sys, "argv", ["textbook", name])
    patch.setattr(textbook.sys, "stdin", SimpleNamespace(readline=read))
    return f"textbook {name}:\n{printed(textbook.main)}"


def method(name: str) -> Any:
    """Return a method that tells what it is asked."""

    def choose(game: Any, budget: Any, chance: Any) -> Any:
        where = f"{game.width}x{game.height} {game.rule.name}, {game.history}"
        known = [number if number is None else round(number, 5) for number in budget]
        print(f"  {name} on {where}, {known}, {chance.random():.3f}")
        return SimpleNamespace(move=len(game.history) + 7)

    return choose


@Record("openings")
def openings_of(record: str) -> str:
    """Return the record of all of it, of which another one has what is asked."""
    matches = re.findall(r"^match (.*):\n((?:  > .*\n)*)", record, re.MULTILINE)
    commands = re.findall(r"^\$ numoku openings (.*)$", record, re.MULTILINE)
    textbooks = re.findall(r"^textbook (\w+):\n((?:.+\n)*)", record, re.MULTILINE)
    with stage() as patch:
        patch.setattr(textbook, "method", method)
        patch.setattr(openings, "Engine", Engine)
        patch.setattr(openings, "HOPELESS", 60)
        parts = list[str]()
        for words, given in matches:
            parts += begun(words, given.replace("  > ", ""))
        Path("f").unlink()
        write, shown = Progress.show, []

        def show(progress: Progress) -> None:
            if progress.done == 2 and Path("stopped.txt").exists() and not shown:
                shown.append(1)
                raise KeyboardInterrupt
            write(progress)

        patch.setattr(Progress, "show", show)
        parts += [command_of(words) for words in commands]
        for name, lines in textbooks:
            parts.append(textbook_of(patch, name, re.findall(r"^> (.*)$", lines, re.MULTILINE)))
    return "\n".join(parts)
