"""Games in other programs' formats: SGF, PSQ, and PGN for rating tools."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from ..files import write_whole
from ..notation.cells import format_moves
from ..notation.game_tree import GameRecord, RecordedMove
from ..notation.psq import format_psq
from ..notation.sgf import format_sgf
from ..values import format_value
from .played import Played
from .settings import MatchSettings

PGN = "pgn"
PGN_LINE = 79


def paper_record(played: Played, settings: MatchSettings) -> GameRecord:
    """Return a game as the record that SGF and PSQ share."""
    moves = [RecordedMove(x, y, 0) for x, y in played.opening]
    for number, (x, y) in enumerate(played.moves):
        moves.append(RecordedMove(x, y, played.ms[number], move_comment(played, number)))
    ended = f"{played.reason}: {played.detail}" if played.detail else played.reason
    return GameRecord(
        settings.width,
        settings.height,
        settings.rule,
        tuple(moves),
        black=played.black,
        white=played.white,
        result=played.result,
        date=played.date,
        comment=f"game {played.game + 1}, {len(played.opening)} given stones, ended by {ended}",
    )


def move_comment(played: Played, number: int) -> str:
    """Return value, depth and milliseconds of a move, ``+35/12 480ms``."""
    words = []
    value = played.value[number]
    if value is not None:
        depth = played.depth[number]
        words.append(format_value(value) + (f"/{depth}" if depth is not None else ""))
    words.append(f"{played.ms[number]}ms")
    return " ".join(words)


def pgn(played: Played, settings: MatchSettings) -> str:
    """Return a game as PGN; rating tools read its tags, people its moves.

    Names and result are those of the colours that were played, so the moves begin with black's.
    """
    result = "-".join(reversed(played.result.split("-")))  # PGN counts white's points first
    tags = {
        "Event": "Numoku match",
        "Site": "?",
        "Date": played.date.replace("-", ".") or "????.??.??",
        "Round": str(played.round + 1),
        "White": played.white,
        "Black": played.black,
        "Result": result,
        "Variant": f"gomoku {settings.rule.name.lower()} {settings.width}x{settings.height}",
        "Termination": played.reason,
    }
    quoted = {name: text.replace("\\", "\\\\").replace('"', '\\"') for name, text in tags.items()}
    lines = [f'[{name} "{text}"]' for name, text in quoted.items()]
    words = []
    for ply, move in enumerate(played.all_moves):
        if ply % 2:
            words.append(f"{ply // 2 + 2}.")
        elif ply == 0:
            words.append("1...")
        words.append(format_moves([move]))
    return "\n".join([*lines, "", *_wrap([*words, result]), "", ""])


def _wrap(words: Iterable[str]) -> Iterator[str]:
    line = ""
    for word in words:
        if line and len(line) + 1 + len(word) > PGN_LINE:
            yield line
            line = word
        else:
            line = f"{line} {word}" if line else word
    yield line


FILE_EACH: dict[str, Callable[[GameRecord], str]] = {"sgf": format_sgf, "psq": format_psq}


def export(kind: str, target: Path, games: Iterable[Played], settings: MatchSettings) -> list[Path]:
    """Write games in one format, into one file or a folder of files; return what was written."""
    ordered = sorted(games, key=lambda played: played.game)
    if kind == PGN:
        write_whole(target, "".join(pgn(played, settings) for played in ordered))
        return [target]
    target.mkdir(parents=True, exist_ok=True)
    written = []
    for played in ordered:
        names = "-".join(
            re.sub(r"[^\w.]+", "_", name)[:24] for name in (played.black, played.white)
        )
        path = target / f"{played.game + 1:05}-{names}.{kind}"
        write_whole(path, FILE_EACH[kind](paper_record(played, settings)))
        written.append(path)
    return written
