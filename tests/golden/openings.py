"""Where games begin, and what textbooks answer: ``python -m tests.golden.openings``.

Openings are judged by a made-up engine; the record (see ``records``) shows what it is asked, and
all that comes of it: how a match begins, what ``openings`` says, and the dialogue with a textbook's
engine, whose method tells what time it is given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pbrain_engine.arena import openings, textbook
from pbrain_engine.arena.arguments import parse, settings_of
from pbrain_engine.arena.openings import Openings
from pbrain_engine.errors import SettingsError, problem_of
from pbrain_engine.game.cells import format_moves
from pbrain_engine.position.geometry import Coordinates
from pbrain_engine.position.rules import Rule
from pbrain_engine.progress import Progress
from tests.golden import texts
from tests.golden.records import Record, numoku, printed, session, stage


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


def begun(words: str) -> Iterator[str]:
    """Yield how the first games of a match begin."""
    said = Engine.said = []
    try:
        shelf = Openings(settings_of(parse(["a", "b", *words.split()])))
        games = (f"  {number}: {format_moves(shelf[number])}" for number in (0, 1, 2, 7, 1))
        yield from texts.joined(games, "  ")
        yield from (f"  not {line}" for line in shelf.skipped)
    except (SettingsError, OSError) as error:
        yield f"  refused: {problem_of(error)}"
    yield from texts.joined(said[:12], "  judges ")


def read(lines: Iterator[str]) -> str:
    """Read the next of these lines, and print it."""
    line = next(lines, "END OF INPUT")
    print(f"  > {line}")
    return line + "\n" if line != "END OF INPUT" else ""


def run(words: str, typed: str) -> str:
    """Return what comes of a command, of a match, of the engine of a textbook."""
    kind, _, rest = words.partition(" ")
    if kind == "match":
        return "".join(f"{line}\n" for line in begun(rest))
    if kind != "textbook":
        judged = Engine.said = []
        said = numoku(words)
        return said + "".join(f"{line}\n" for line in judged[:4])  # other threads may be further
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(textbook.sys, "argv", ["textbook", rest])
        stdin = SimpleNamespace(readline=partial(read, iter(re.split(" / |\n", typed[:-1]))))
        patch.setattr(textbook.sys, "stdin", stdin)
        said = printed(textbook.main)
    return re.sub(r"(?m)^(  > .*)\n(?=\S)", r"\1 = ", said)


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
    with stage() as patch:
        patch.setattr(textbook, "method", method)
        patch.setattr(openings, "Engine", Engine)
        patch.setattr(openings, "HOPELESS", 60)
        write, seen = Progress.show, []

        def show(progress: Progress) -> None:
            if progress.done == 2 and Path("stopped.txt").exists() and not seen:
                seen.append(1)
                raise KeyboardInterrupt
            write(progress)

        patch.setattr(Progress, "show", show)
        return session(record, {}, run)
