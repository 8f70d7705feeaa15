"""What games say of themselves, step by step: ``python -m tests.golden.boards`` records it anew.

``boards.txt`` holds the steps (``>``) and what comes of each: the error, or what is seen then.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from pbrain_engine.game.documents import game_document
from pbrain_engine.game.game import Game, Move
from pbrain_engine.native.load.memory import Block
from pbrain_engine.position.rules import Side
from tests.golden import texts
from tests.golden.commands import BOARD, stones
from tests.golden.records import Record, stage


def step(game: Game | None, words: list[str]) -> Game:
    """Return the game after a step."""
    match words:
        case ["new", width, height, rule]:
            return Game(int(width), int(height), rule)
        case ["new", width]:
            return Game(int(width) if width.isdigit() else width)  # type: ignore[arg-type]
    assert game is not None
    match words:
        case ["play", "move", x, y]:
            game.play(Move(int(x), int(y)))
        case ["play", "none"]:
            game.play(None)  # type: ignore[arg-type]
        case ["play", "half", x, y]:
            game.play(float(x), int(y))  # type: ignore[arg-type]
        case ["play", "half", y]:
            game.play(1, float(y))  # type: ignore[arg-type]
        case ["play", x, y]:
            game.play(int(x), int(y))
        case ["play", *cells]:
            for cell in "".join(cells).split("+"):
                game.play(cell)
        case ["place", x, y, side]:
            game.place(int(x), int(y), Side[side])
        case ["undo"]:
            game.undo()
        case ["move", side]:
            game.set_to_move(Side[side])
        case ["save", name, *names]:
            game.save(name, *names)
        case ["load", name, *rule]:
            return Game.from_file(name, *rule)
        case ["write", name, text]:
            Path(name).write_text(text, encoding="utf-8")
        case ["apart"]:
            other = game.copy()
            game.undo()
            return other
        case ["worker"]:
            game.move(Block(game.library.sizes["worker"]))
        case _:
            raise ValueError(words)
    return game


def seen(game: Game) -> list[str]:
    """Return what is to be seen of a game."""
    number = [len(game.legal_moves()), len(game.empty_cells()), game.ply]
    is_so = [name for name in ("is_full", "is_over", "is_in_turn", "foul") if getattr(game, name)]
    corners = [
        (-1, 0),
        (0, -1),
        (game.width - 1, game.height - 1),
        (game.width, 0),
        (0, game.height),
    ]
    at = [game.at(*cell).name for cell in corners]
    assert game.check() == 0
    form = json.dumps(game_document(game))
    board = f"<{game.width}x{game.height}, {len(game.record().stones)} stones>"
    drawn = BOARD.sub(stones, f"{game}\n").splitlines()
    return [f"{form} {number} {is_so} {at} {board}", *drawn]


def steps(record: str) -> Iterator[str]:
    """Yield the record of all games, of which another one has the steps."""
    game: Game | None = None
    for line in record.splitlines():
        if not line.startswith("> "):
            continue
        yield line
        for words in line[2:].split("; "):
            try:
                if words == "draw":
                    assert game is not None
                    yield from texts.brief_page(game._repr_svg_()).splitlines()
                elif words.startswith("show "):
                    yield Path(words[5:]).read_text(encoding="utf-8").rstrip()
                else:
                    game = step(game, words.split())
            except (ValueError, TypeError, OSError) as error:
                yield f"{words}: {type(error).__name__}: {error}"
        if game is not None:
            yield from seen(game)
    yield ""


@Record("boards")
def boards(record: str) -> str:
    with stage():
        return "\n".join(steps(record))
