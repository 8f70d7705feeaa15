"""Games of the API as files: what ``Game.from_file`` reads and ``Game.save`` writes."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path

from ..files import in_place_of, read_whole, write_whole
from ..game.animation import animated_svg
from ..game.cells import NotationError
from ..game.record import GameRecord
from ..game.tree import main_line, tree_of
from ..position.rules import Rule
from .files import read_games, refuse_others
from .psq import format_psq
from .renlib import MAGIC, format_renlib
from .sgf import format_sgf

Writer = Callable[[GameRecord], str]
WRITERS: dict[str, Writer] = {".sgf": format_sgf, ".psq": format_psq, ".svg": animated_svg}
LIBRARY = ".lib"
KINDS = (*WRITERS, LIBRARY)


def read_game(path: str | PathLike[str], rule: Rule | None = None) -> GameRecord:
    """Return the main line of the first game of a file, by what it holds before its name.

    Raises:
        OSError: it cannot be read.
        NotationError: it holds no game.
    """
    place = Path(path)
    data = read_whole(place)
    refuse_others(data, str(path))
    trees = read_games(data, place.name)
    if not trees:
        raise NotationError(f"{path} is no file of games")
    record = main_line(trees[0])
    usual = Rule.RENJU if data.startswith(MAGIC) else None
    return record._replace(rule=rule or record.rule or usual)


def write_game(path: str | PathLike[str], record: GameRecord) -> None:
    """Write a game to a file, of the kind that its name ends with.

    Raises:
        ValueError: there is no such kind.
        NotationError: such a file cannot keep it.
        OSError: it cannot be written.
    """
    place = Path(path)
    kind = place.suffix.lower()
    if record.start.walls and kind != ".svg":
        raise NotationError("blocked cells cannot be saved")
    if kind == LIBRARY:
        data, _ = format_renlib(tree_of(record))
        with in_place_of(place) as part:
            part.write_bytes(data)
    elif kind in WRITERS:
        write_whole(place, WRITERS[kind](record))
    else:
        raise ValueError(f"{place.name}: games are written as {', '.join(KINDS)}")
