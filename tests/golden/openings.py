"""Where games begin, and what textbooks answer: ``python -m tests.golden.openings``.

Openings are judged by a made-up engine; the record shows what it is asked, and all that comes of
it. A textbook's engine is recorded line by line, with the time that its method is given.
"""

from __future__ import annotations

import contextlib
import io
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pbrain_engine.arena import openings, textbook
from pbrain_engine.arena.openings import Openings, engine_judge
from pbrain_engine.arena.settings import EngineSpec, MatchSettings, SettingsError
from pbrain_engine.engine import book, engine
from pbrain_engine.notation.cells import format_moves
from pbrain_engine.position.geometry import Coordinates
from pbrain_engine.position.rules import Rule
from pbrain_engine.progress import Progress

FILE = Path(__file__).with_suffix(".txt")
ENGINES = (EngineSpec("a", ("a",)), EngineSpec("b", ("b",)))
MATCHES: tuple[dict[str, Any], ...] = (
    {"openings": "none"},
    {"openings": "random"},
    {"openings": "random:3", "width": 7, "height": 12, "transform": True, "seed": 2},
    {"openings": "random:24", "width": 5, "height": 5, "rule": Rule.RENJU},
    {"openings": "random:24", "width": 5, "height": 5, "draw_after": 24},
    {"openings": "random:25"},
    {"openings": "random:-1"},
    {"openings": "balanced:4", "width": 20, "height": 20},
    {"openings": "balanced:0"},
    {"openings": "luck"},
    {"openings": "f", "opening_lines": ("h8i9", "0,0, 1,-1", "h8h8", "8,0", "h9"), "seed": 3},
    {"openings": "f", "opening_lines": ("h8", "h9i9"), "draw_after": 2, "transform": True},
    {"openings": "f", "opening_lines": ("a1a3b1b3c1c3d1d3e1", "-1,0"), "width": 9, "height": 6},
    {"openings": "f", "opening_lines": ("h8a1i9c1g9a3h10c3h9", "+0,0"), "rule": Rule.RENJU},
    {"openings": "f", "opening_lines": ("z9",)},
)
COMMANDS = (
    "--count 4 --nodes 9000",
    "--count 3 --board 9x7 --rule caro-exact --stones 2 --seed 5 --border 1 --nodes 3000",
    "out.txt --count 2 --balance 0 --border 0 --stones 2-2",
    "out.txt",
    "few.txt --count 9 --board 5 --stones 1 --balance 9999",
    "stopped.txt --count 9",
    "book.txt --book b.db --count 3 --stones 1-2 --balance 7",
    "none.txt --book b.db --stones 4",
    "--book missing --count 2",
    "--stones 0",
    "--stones 3-25",
    "--board 30",
)
ANSWERS = (
    "INFO seed x", "ABOUT", "START 4", "START 5", "BEGIN", "TURN 0,0", "TURN 0,0", "TURN 5,0",
    "TURN 0,5", "TURN 4,4", "TURN -1,0", "TAKEBACK 4,4", "TAKEBACK 4,4", "RECTSTART 6,5",
    "TURN 5,4", "RECTSTART 5,101", "RECTSTART 100,5", "start 101", "START 5", "RESTART", "BOARD",
    "WHAT 1", "INFO timeout_turn 3000", "INFO rule 4", "INFO rule chess", "INFO seed y", "",
    "BEGIN", "INFO time_left 1000", "BEGIN", "INFO timeout_match 60000", "BEGIN",
    "INFO max_node 70", "INFO max_depth 4", "INFO time_left -5", "BEGIN",
    "INFO timeout_turn 0", "BEGIN", "START", "INFO nonsense", "END", "BEGIN",
)  # fmt: skip
BODIES = ("0,0,1", "1,1,2", "done")


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


class Book:
    """A book of two openings for each number of stones."""

    def __init__(self, path: str) -> None:
        if path == "missing":
            raise book.BookError(f"{path} is no book")
        print(f"opens {path}")

    def balanced(self, game: Any, stones: int, balance: int) -> list[list[Coordinates]]:
        print(f"asked for {stones} stones within {balance} on {game.width}x{game.height}")
        found = [[(3 + n, 4) for n in range(stones)], [(9, n) for n in range(stones)]]
        return found if stones < 4 else []

    def close(self) -> None:
        print("closed")


def begun(changes: dict[str, Any]) -> Iterator[str]:
    """Yield how the first games of a match begin."""
    yield f"{changes}:"
    said = Engine.said = []
    try:
        shelf = Openings(MatchSettings(ENGINES, **changes))
        for number in (0, 1, 2, 7, 1):
            yield f"  {number}: {format_moves(shelf[number])}"
        yield from (f"  not {line}" for line in shelf.skipped)
    except SettingsError as error:
        yield f"  refused: {error}"
    yield from said[:12]


def judged() -> Iterator[str]:
    """Yield what an engine is asked of positions, far from balance and close to it."""
    said = Engine.said = []
    for nodes, balance in ((30_000, 60), (2000, 60), (3000, 60), (3001, 5)):
        judge = engine_judge(MatchSettings(ENGINES, width=9, height=8), nodes, balance)
        for stones in ([(3, 3)], [(8, 0)], [(0, 7), (1, 7)], [(1, 0)]):
            said.append(f"  {judge(stones)}")
    yield from ["judges:", *said]


def command_of(words: str) -> str:
    """Return what a command says and leaves."""
    out, said = io.StringIO(), []
    Engine.said = said
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        status = openings.main(shlex.split(words))
    text = "".join(f"{line}\n" for line in said[:4])  # other threads may be further
    for path in sorted(Path().iterdir()):
        text += f"-- {path}\n{path.read_text(encoding='utf-8')}"
        if path.name != "out.txt":
            path.unlink()
    return f"$ numoku openings {words}\n{out.getvalue()}status {status}\n{text}"


def textbook_of(name: str) -> Iterator[str]:
    """Yield what the engine of a textbook answers."""

    def method(name: str) -> Any:
        def choose(game: Any, budget: Any, chance: Any) -> Any:
            where = f"{game.width}x{game.height} {game.rule.name}, {game.history}"
            known = [number if number is None else round(number, 5) for number in budget]
            print(f"  {name} on {where}, {known}, {chance.random():.3f}")
            return SimpleNamespace(move=len(game.history) + 7)

        return choose

    out = io.StringIO()
    lines = iter([word for line in ANSWERS for word in (line, *BODIES * (line == "BOARD"))])
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out):
        patch.setattr(textbook, "method", method)
        patch.setattr(textbook.sys, "argv", ["textbook", name])

        def read() -> str:
            line = next(lines)
            print(f"> {line}")
            return line + "\n"

        patch.setattr(textbook.sys, "stdin", SimpleNamespace(readline=read))
        textbook.main()
    yield f"{name}:\n{out.getvalue()}"


def record() -> str:
    """Return the record of all of it."""
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(engine, "Engine", Engine)
        patch.setattr(book, "Book", Book)
        patch.setattr(openings, "HOPELESS", 60)
        parts = [line for changes in MATCHES for line in (*begun(changes), "")]
        parts += judged()
        write, shown = Progress.show, []

        def show(progress: Progress) -> None:
            if progress.done == 2 and Path("stopped.txt").exists() and not shown:
                shown.append(1)
                raise KeyboardInterrupt
            write(progress)

        patch.setattr(Progress, "show", show)
        parts += [command_of(words) for words in COMMANDS]
        parts += [line for name in ("random", "uct") for line in textbook_of(name)]
    return "\n".join(parts)


if __name__ == "__main__":
    FILE.write_text(record(), encoding="utf-8")
