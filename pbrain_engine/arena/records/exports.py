"""Games in other programs' formats: SGF, PSQ, PGN for rating tools, and training positions.

A training line is ``rule width height result moves | value/depth ...``: result 1, 0.5 or 0
from black's side, moves as ``h8i9``, then for each move after the opening its value from the
mover's side and its depth, ``-`` where the engine was silent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from ...files import write_whole
from ...notation.cells import format_moves
from ...notation.game_record import GameRecord, RecordedMove
from ...notation.psq import format_psq
from ...notation.sgf import format_sgf
from ...values import format_value
from ..game.played import BLACK, DRAW, Played
from ..settings import MatchSettings

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
    """Return a game as PGN; rating tools read its tags, people its moves."""
    tags = {
        "Event": "Numoku match",
        "Site": "?",
        "Date": "????.??.??",
        "Round": str(played.round + 1),
        "White": played.black,  # in PGN white begins; here black does
        "Black": played.white,
        "Result": played.result,
        "Variant": f"gomoku {settings.rule.name.lower()} {settings.width}x{settings.height}",
        "Termination": played.reason,
    }
    lines = [f'[{name} "{_quote(text)}"]' for name, text in tags.items()]
    words = []
    for ply, move in enumerate(played.all_moves):
        if ply % 2 == 0:
            words.append(f"{ply // 2 + 1}.")
        words.append(format_moves([move]))
    return "\n".join([*lines, "", *_wrap([*words, played.result]), "", ""])


def _quote(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _wrap(words: Iterable[str]) -> Iterator[str]:
    line = ""
    for word in words:
        if line and len(line) + 1 + len(word) > PGN_LINE:
            yield line
            line = word
        else:
            line = f"{line} {word}" if line else word
    yield line


def training(played: Played, settings: MatchSettings) -> str:
    """Return a game as one training line, empty if a fault ended it."""
    if played.fault:
        return ""
    result = "0.5" if played.winner == DRAW else "1" if played.winner == BLACK else "0"
    board = f"{int(settings.rule)} {settings.width} {settings.height}"
    notes = " ".join(
        f"{_or_dash(value)}/{_or_dash(depth)}"
        for value, depth in zip(played.value, played.depth, strict=True)
    )
    return f"{board} {result} {format_moves(played.all_moves)} | {notes}\n"


def _or_dash(number: int | None) -> str:
    return "-" if number is None else str(number)


ONE_FILE: dict[str, Callable[[Played, MatchSettings], str]] = {"pgn": pgn, "training": training}
FILE_EACH: dict[str, Callable[[GameRecord], str]] = {"sgf": format_sgf, "psq": format_psq}


def export(kind: str, target: Path, games: Iterable[Played], settings: MatchSettings) -> list[Path]:
    """Write games in one format, into one file or a folder of files; return what was written."""
    ordered = sorted(games, key=lambda played: played.game)
    if kind in ONE_FILE:
        text = "".join(ONE_FILE[kind](played, settings) for played in ordered)
        write_whole(target, text)
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
