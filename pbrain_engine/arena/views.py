"""A match as plain text: its tables, the lines that a view writes, and what a view hears."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from ..notation.cells import cell_name
from ..progress import Progress
from ..values import format_value
from .elo import ELO_CAP, Estimate
from .journal import Played
from .settings import MatchSettings, total_games
from .standings import Standings

PAIR_RESULTS = ("both lost", "lost and drawn", "even", "won and drawn", "both won")


def format_estimate(estimate: Estimate) -> str:
    """Return ``+12.3 [-4.5, +29.1]``, with words where a bound is missing."""
    value, low, high = estimate
    if abs(value) >= ELO_CAP:
        known = f"above {low:+.0f}" if value > 0 else f"below {high:+.0f}"
        return f"all {'won' if value > 0 else 'lost'}, {known}"
    if low <= -ELO_CAP and high >= ELO_CAP:
        return f"{value:+.1f}, nothing is sure yet"
    if high >= ELO_CAP:
        return f"{value:+.1f}, above {low:+.1f}"
    if low <= -ELO_CAP:
        return f"{value:+.1f}, below {high:+.1f}"
    return f"{value:+.1f} [{low:+.1f}, {high:+.1f}]"


def table(rows: list[list[str]], right_from: int = 1) -> list[str]:
    """Return rows in columns, the first ones to the left and the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if i < right_from else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def conditions(settings: MatchSettings) -> str:
    """Return the conditions of a match in a line."""
    rule = settings.rule.name.lower().replace("_", "-")
    words = [f"{rule} on {settings.width}x{settings.height}"]
    for value, text in (
        (settings.turn, "{:g} s a move"),
        (settings.match, "{:g} s a game"),
        (settings.increment, "{:g} s increment"),
        (settings.nodes, "{} nodes a move"),
        (settings.depth, "depth {}"),
    ):
        if value:
            words.append(text.format(value))
    words.append(f"openings: {Path(settings.openings).name}")
    if settings.judge:
        words.append("judged as in tournaments")
    return ", ".join(words)


def labels(settings: MatchSettings) -> dict[str, str]:
    """Return short names for tables, by name."""
    short = {engine.name: engine.label for engine in settings.engines}
    counts = Counter(short.values())
    return {name: label if counts[label] == 1 else name for name, label in short.items()}


def pair_rows(standings: Standings) -> list[list[str]]:
    """Return the table of the pairs, with its head."""
    short = labels(standings.settings)
    rows = [["pair", "games", "won", "drawn", "lost", "score", "Elo [95 %]", "LOS"]]
    for pair in standings.pairs:
        row = [f"{short[pair.a]} - {short[pair.b]}"]
        row += [str(count) for count in (pair.games, pair.wins, pair.draws, pair.losses)]
        if pair.games:
            share, los = pair.points / pair.games, pair.superiority
            row += [f"{100 * share:.1f} %", format_estimate(pair.elo), f"{100 * los:.1f} %"]
        rows.append(row + [""] * (len(rows[0]) - len(row)))
    return rows


def ladder_rows(standings: Standings, anchors: dict[str, float] | None = None) -> list[list[str]]:
    """Return the table of the ratings, with its head."""
    short = labels(standings.settings)
    rows = [["engine", "Elo", "+-", "games", "points"]]
    for r in standings.ladder(anchors):
        rows.append(
            [short[r.name], f"{r.elo:+.0f}", f"{r.error:.0f}", str(r.games), f"{r.points:g}"]
        )
    return rows


def time_rows(settings: MatchSettings, games: Iterable[Played]) -> list[list[str]]:
    """Return the table of what the engines used, with its head."""
    short = labels(settings)
    times: dict[str, list[int]] = {name: [] for name in short}
    depths: dict[str, list[int]] = {name: [] for name in short}
    nodes = dict.fromkeys(short, 0)
    memory = dict.fromkeys(short, 0)
    for played in games:
        columns = zip(played.movers, played.ms, played.depth, played.nodes, strict=True)
        for mover, ms, depth, count in columns:
            times[mover].append(ms)
            nodes[mover] += count or 0
            if depth is not None:
                depths[mover].append(depth)
        for name, peak in zip((played.black, played.white), played.memory, strict=False):
            memory[name] = max(memory[name], peak)
    rows = [["engine", "moves", "mean s", "longest s", "mean depth", "nodes/s", "memory MB"]]
    for name, label in short.items():
        spent = times[name]
        total = sum(spent) / 1000
        rows.append(
            [
                label,
                str(len(spent)),
                f"{total / len(spent):.3f}" if spent else "",
                f"{max(spent) / 1000:.3f}" if spent else "",
                f"{sum(depths[name]) / len(depths[name]):.1f}" if depths[name] else "",
                f"{nodes[name] / total:,.0f}" if nodes[name] and total else "",
                f"{memory[name] / 1e6:.1f}" if memory[name] else "",
            ]
        )
    return rows


def fault_lines(standings: Standings) -> list[str]:
    """Return a line for each kind of fault of each engine, with an example."""
    short = labels(standings.settings)
    kinds: dict[tuple[str, str], list[Played]] = {}
    for played in standings.faults:
        kinds.setdefault((played.loser, played.fault), []).append(played)
    lines = []
    for (name, cause), games in kinds.items():
        first = games[0]
        example = f" (game {first.game + 1}: {first.detail})" if first.detail else ""
        lines.append(f"{short[name]}: {cause} in {len(games)} of {standings.games} games{example}")
    return lines


def test_lines(standings: Standings) -> list[str]:
    """Return where the match's sequential test stands, in a line; none if it has no test."""
    verdict, test = standings.verdict, standings.settings.sprt
    if not verdict or not test:
        return []
    hypotheses = f"{test.model} [{test.elo0:g}, {test.elo1:g}]"
    return [f"SPRT {hypotheses}: {verdict} {verdict.decision or 'undecided'}"]


def summary(standings: Standings, anchors: dict[str, float] | None = None) -> str:
    """Return the whole result of a match."""
    lines = table(pair_rows(standings))
    pair = standings.pairs[0]
    if len(standings.pairs) == 1 and pair.games:
        counts = ", ".join(
            f"{words} {count}" for words, count in zip(PAIR_RESULTS, pair.openings, strict=True)
        )
        normalised = pair.normalised_elo
        known = format_estimate(normalised) if normalised else "not known, all results are alike"
        lines += [f"the two games of an opening: {counts}", f"normalised Elo {known}"]
    lines += test_lines(standings)
    if len(standings.names) > 2:
        lines += ["", *table(ladder_rows(standings, anchors))]
    faults = fault_lines(standings)
    if faults:
        lines += ["", "games lost by a fault:", *(f"  {line}" for line in faults)]
    return "\n".join(lines)


def result_line(played: Played, short: dict[str, str]) -> str:
    """Return one finished game in one line."""
    detail = f": {played.detail}" if played.detail else ""
    moves = len(played.all_moves)
    return (
        f"game {played.game + 1}: {short[played.black]} - {short[played.white]} "
        f"{played.result} ({played.reason}{detail}), {moves} stones"
    )


def last_move(played: Played) -> str:
    """Return the last move with what its engine said, ``h8  depth 12  value +35``."""
    if not played.moves:
        return ""
    words = [cell_name(*played.moves[-1])]
    depth, value = played.depth[-1], played.value[-1]
    if depth is not None:
        words.append(f"depth {depth}")
    if value is not None:
        words.append(f"value {format_value(value)}")
    words.append(f"{played.ms[-1] / 1000:.2f} s")
    return "  ".join(words)


TABLE_EVERY = 10  # games between two tables of the plain view


class View:
    """What is shown of a match; this one shows only what must be said."""

    def __init__(self) -> None:
        """Begin with nothing to say."""
        self._lock = threading.Lock()

    def moved(self, slot: int, played: Played) -> None:
        """Take note of a new stone in the game of a slot; called from its thread."""

    def finished(self, played: Played, standings: Standings) -> None:
        """Take note of a finished game."""

    def say(self, text: str) -> None:
        """Tell the user something that matters."""
        with self._lock:
            print(text, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Take note that nothing more will come."""


class PlainView(View):
    """One line for each game, and the score from time to time."""

    def __init__(self, settings: MatchSettings, done: int = 0) -> None:
        """Begin with this many games done."""
        super().__init__()
        self._short = labels(settings)
        self._progress = Progress(total_games(settings), "games", done)

    def finished(self, played: Played, standings: Standings) -> None:
        """Write the game, and now and then the table."""
        self._progress.done = standings.games
        self.say(f"{result_line(played, self._short)}  [{self._progress}]")
        last = self._progress.done == self._progress.total
        if self._progress.done % TABLE_EVERY == 0 and not last:
            for pair in standings.pairs:
                if pair.games:
                    self.say(
                        f"  {self._short[pair.a]} - {self._short[pair.b]}: "
                        f"+{pair.wins} ={pair.draws} -{pair.losses}, "
                        f"Elo {format_estimate(pair.elo)}"
                    )
            if standings.verdict:
                self.say(f"  {standings.verdict}")
