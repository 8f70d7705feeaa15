"""``numoku db``: a database of positions, games and lines, in a file or on a server.

``show --json`` and ``query --json`` print objects with ``known``, ``rule``, ``size``, ``to_move``,
``black``, ``white``, ``walls``, ``opening``, ``value``, ``bound``, ``depth``, ``nodes``, ``mate``,
``best`` (``[x, y]``), ``moves``, ``pv``, ``proof``, ``tree``, ``version``, ``weights``, ``games``,
``notes``, ``book``; ``show`` adds ``next``, each known move with its value for the side that makes
it. Cells have the orientation of the given position; unknown values are null.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path

from ..app import setup
from ..app.view import format_worth
from ..database import sources
from ..database.lines import Filter, list_next_moves, look_up, look_up_any_rule, query
from ..database.rescue import damage_told, find_faults, rescue
from ..database.sources import SourceOptions, add_items, merge, read_source
from ..database.store import Added, Database
from ..errors import FileError, SettingsError, complain, counted, reason_of, say
from ..files import user_path
from ..game.cells import cell_name, format_moves
from ..game.diagram import format_diagram
from ..game.documents import entry_document, following_document, proof_of
from ..game.opening_rules import find_opening, opening_of
from ..game.record import GameRecord
from ..game.result import Entry, Result
from ..notation.renlib import ENCODING
from ..options import (
    JSON_LINES,
    POSITION,
    SHARED,
    Action,
    CommandLine,
    Option,
    integer,
    whole,
)
from ..position.rules import Rule, Side
from ..values import format_value

SIGNS = "a\b"  # must be single bytes in a library
LIMIT = 20  # positions that query shows

CHANGES = ("add", "merge")
CONTENTS = {  # the names of rows in messages
    "position": "position", "game": "game", "node": "move", "book": "book position",
}  # fmt: skip


def add_games(database: Database, options: argparse.Namespace) -> int:
    """Store the contents of the sources, reporting on each."""
    chosen = SourceOptions(options.rule, options.size, options.encoding, options.from_below)
    status = 0
    for name in options.games:
        stored = Added()

        def note(done: Added, name: str = name) -> None:
            nonlocal stored
            stored = done
            _tell(name, done)

        try:
            items = read_source(name, chosen, cache(partial(_remark, name)))  # each once
            done = add_items(database, items, note)
        except (OSError, ValueError) as error:
            before = f"; before that it {_stored_words(stored)}" if any(stored) else ""
            reason = reason_of(error)
            about = "" if reason.startswith(name) else f"{name}: "
            status = complain(f"{about}{reason}{before}")
            continue
        say(f"{name}: {_stored_words(done)}")
    return status


def _remark(name: str, text: str) -> None:
    say(f"{name}: {text}", sys.stderr)


def _tell(name: str, done: Added) -> None:
    if sys.stderr.isatty():
        say(f"{name}: {_stored_words(done)}", sys.stderr, end="\r")


def _stored_words(done: Added) -> str:
    counts = {"game": done.games, "position": done.positions, "move": done.nodes}
    counts["book position"] = done.pages
    words = [counted(count, word) for word, count in counts.items() if count]
    text = f"stored {', '.join(words)}" if words else "stored nothing new"
    if done.known_games:
        was = "were" if done.known_games != 1 else "was"
        text += f"; {counted(done.known_games, 'game')} {was} known"
    return text


def _show_position(database: Database, options: argparse.Namespace) -> int:
    asked = setup.chosen_setup(options, options.position)
    if options.rule is None:
        asked, entry = look_up_any_rule(database, asked)
    else:
        entry = look_up(database, asked.position)
    moves = list_next_moves(database, asked.position)
    if options.json:
        out = entry_document(asked, entry)
        out["next"] = following_document(moves)
        print(json.dumps(out))
        return 0
    print("\n".join([*position_lines(asked), *entry_lines(entry)]))
    to_move = asked.position.to_move
    for move, after in moves:
        print(f"  {cell_name(*move):4} {move_words(to_move, after)}")
    return 0


def position_lines(asked: GameRecord) -> list[str]:
    """Return the board, the rule, the side to move and the opening as text."""
    position = asked.position
    board = GameRecord.of(position)._replace(marked=asked.last)
    mover = position.to_move.name.lower()
    lines = [format_diagram(board, mover=False), f"{position.rule.label}, {mover} to move"]
    opening = opening_of(asked) if position.rule is Rule.RENJU else None
    return [*lines, f"opening {opening}"] if opening is not None else lines


def entry_lines(entry: Entry | None) -> list[str]:
    """Return the entry of a position as text."""
    if entry is None:
        return ["nothing is known about this position"]
    lines = finding_lines(entry.finding) if entry.finding is not None else []
    if entry.book:
        words = (f"{cell_name(*move)} {format_value(value)}" for move, value in entry.book)
        lines.append(f"book: {', '.join(words)}")
    if entry.games:
        lines.append(
            f"games: {entry.black_wins} won by black, {entry.draws} drawn, "
            f"{entry.white_wins} won by white"
        )
    for note in entry.notes:
        lines += [text for text in ("marked" * note.is_marked, note.title, note.comment) if text]
        if note.labels:
            lines.append(", ".join(f"{cell_name(*cell)}: {text}" for cell, text in note.labels))
    return lines or ["this position is known, nothing else about it"]


def finding_lines(finding: Result) -> list[str]:
    """Return a finding as text: its value, effort, author, moves and proof."""
    by = " ".join(word for word in (finding.author.version, finding.author.weights) if word)
    lines = [
        f"value {format_worth(finding)}, depth {finding.depth}, {counted(finding.nodes, 'node')}"
        + (f", by {by}" if by else "")
    ]
    if finding.moves:
        lines.append(f"best {format_moves(finding.moves, ' ')}")
    if len(finding.line) > 1:
        lines.append(f"line {format_moves(finding.line, ' ')}")
    if proof_of(finding):
        name = finding.proof.upper() or "the search"
        lines.append(f"{'won' if finding.value > 0 else 'lost'}, says {name}")
    return lines


def move_words(mover: Side, entry: Entry) -> str:
    """Return the entry after a move in a few words, the value for the side that makes it."""
    words = []
    if entry.finding is not None:
        words.append(f"{format_value(-entry.finding.value)}/{entry.finding.depth}")
    if entry.games:
        won = entry.black_wins if mover is Side.BLACK else entry.white_wins
        words.append(f"{counted(entry.games, 'game')}, {won} won, {entry.draws} drawn")
    return "  ".join(words) or "known"


def _query_positions(database: Database, options: argparse.Namespace) -> int:
    opening = None
    if options.opening:
        opening = find_opening(options.opening)
        if opening is None:
            raise SettingsError(
                f"{options.opening!r} is not one of renju's openings, D1-D13, I1-I13"
            )
    wanted = Filter(
        options.rule, options.size, options.stones, options.depth,
        tuple(options.value) if options.value else None, options.proven, options.games,
        options.text, opening,
    )  # fmt: skip
    for shown, (asked, entry) in enumerate(query(database, wanted)):
        if shown == options.limit:
            print(f"there are more; --limit {2 * options.limit} shows them", file=sys.stderr)
            break
        if options.json:
            print(json.dumps(entry_document(asked, entry)))
        else:
            print("\n".join([*position_lines(asked), *entry_lines(entry), ""]))
    return 0


def export(database: Database, options: argparse.Namespace) -> int:
    """Write a file; print what it leaves out."""
    wanted = Filter(options.rule, options.size)
    losses = sources.export(database, options.out, wanted, options.values, options.encoding)
    for loss in losses:
        complain(loss)
    if options.out.is_file():
        say(f"{options.out}: {counted(options.out.stat().st_size, 'byte')}")
    return 0


def _require_whole(database: Database, result: str) -> None:
    """Raise FileError if a database is damaged; ``result`` tells the consequence."""
    if damage := database.connection.faults(quick=True):
        saved = "`numoku db FILE rescue NEW` saves what can be read"
        raise FileError(f"{database.name} is damaged ({damage[0]}): {result}; {saved}")


def _merge_others(database: Database, options: argparse.Namespace) -> int:
    for name in options.others:
        with Database(name) as other:
            name = other.name  # without the password of a URL
            _require_whole(other, "nothing was copied")
            with damage_told(other):
                done = merge(database, other, partial(_tell, name))
        say(f"{name}: {_stored_words(done)}")
    return 0


def _rescue(options: argparse.Namespace) -> int:
    """Copy the readable rows of a damaged file, and report the losses."""
    found = rescue(user_path(options.database), options.new)
    kept, lost = [], []
    for table, rescued in found.items():
        kept.append(counted(rescued.kept, CONTENTS[table]))
        more = "" if rescued.knows_end else " or more"
        lost.append(counted(rescued.lost, CONTENTS[table]) + more)
    say(f"{options.new}: {', '.join(kept)}; lost: {', '.join(lost)}")
    return 0


def check(database: Database, options: argparse.Namespace) -> int:
    """Print all faults, or a summary if there are none; return 1 or 0."""
    status = 0
    for fault in find_faults(database):
        print(fault)
        status = 1
    if status == 0:
        counts = [counted(database.count(table), word) for table, word in CONTENTS.items()]
        say(f"{database.name} is intact: {', '.join(counts)}")
    return status


LETTERS = Option("--encoding", str, ENCODING, "E",
                 "of texts in a RenLib library, such as cp1252, gbk or shift_jis")  # fmt: skip
COMMAND = CommandLine(
    "numoku db",
    "A database of positions: values, best moves, proofs, results of games, comments. Positions "
    "are the same however they are turned, mirrored or reached.",
    (Option("database", metavar="FILE", about="the database"),),
    "FILE is a file, made by the first add, or the URL of a PostgreSQL database. GAME is a file of "
    "games (SGF, PSQ, RenLib, RIF, .pos, .sav, .rec), a journal of matches, recorded self-play, "
    "what `numoku analyse --json` or an export printed, or moves such as h8i9. POSITION is "
    "whatever `numoku analyse` takes.",
    {
        "add": Action(add_games, "store games, lines and analyses", (
            Option("games", metavar="GAME", more={"nargs": "+"}), *POSITION, LETTERS,
        )),
        "show": Action(
            _show_position, "show everything known about a position and each of its moves", (
            SHARED["position"]._replace(default="", more={"nargs": "?"}), *POSITION, "json",
        )),
        "query": Action(_query_positions, "find positions by conditions", (
            *POSITION,
            Option("--opening", str, None, "O", "one of renju's 26, such as D4 or Kagetsu"),
            SHARED["stones"]._replace(default="0-", about="number of stones"),
            SHARED["depth"]._replace(about="searched to this depth at least"),
            Option("--value", integer, None, ("LOW", "HIGH"), "for the side to move"),
            Option("--proven", None, False, None, "forced wins and losses only"),
            Option("--games", whole, 0, "N", "at least N games"),
            Option("--text", str, "", "T", "in the comments"),
            Option("--limit", whole, LIMIT, "N", "show at most N"),
            JSON_LINES,
        )),
        "export": Action(
            export, "write a RenLib library, an SGF file, or everything as JSON lines", (
            Option("out", user_path, None, "OUT", "named .lib, .sgf or .jsonl"), *POSITION,
            Option("--values", None, False, None, "also write the values of the moves"), LETTERS,
        )),
        "merge": Action(_merge_others, "copy the contents of other databases",
                        (Option("others", metavar="OTHER", more={"nargs": "+"}),)),
        "check": Action(check, "check for damage; exit status 1 if there is any", ()),
        "rescue": Action(_rescue, "copy what is readable in a damaged file to a new one",
                         (Option("new", user_path, metavar="NEW"),)),
    },
)  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    """Run an action on a database; return its exit status."""
    options = COMMAND.parse(arguments)
    encoding = getattr(options, "encoding", ENCODING)
    try:
        if SIGNS.encode(encoding) != SIGNS.encode():
            raise SettingsError(f"a library cannot be in {encoding}, which changes its end marks")
    except (LookupError, UnicodeError):
        raise SettingsError(f"there is no encoding {encoding}") from None
    if options.action == "rescue":
        return _rescue(options)
    path = user_path(options.database)
    was_there = path.exists()
    is_empty = False
    try:
        with Database(options.database, create=options.action in CHANGES) as database:
            try:
                if options.action in CHANGES:
                    _require_whole(database, "nothing was stored")
                with damage_told(database):
                    return int(options.run(database, options))
            finally:
                is_empty = not was_there and not any(map(database.count, CONTENTS))
    finally:
        for suffix in ("", "-wal", "-shm") if is_empty else ():  # on a full disk, these stay
            Path(f"{path}{suffix}").unlink(missing_ok=True)
