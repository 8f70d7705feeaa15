"""The standings of a match: the results of every pair of engines, and their tables as text.

``numoku match --json`` and ``numoku report --json`` print one object:

- ``games``, ``engines`` (names as on the command line)
- ``pairs``: ``a``, ``b``, ``wins``, ``draws``, ``losses``, ``elo``, ``elo_low``, ``elo_high``
  (95 %; 2400 if all games were won), ``normalised_elo`` (null while all results are equal),
  ``los``, ``pentanomial``
- ``faults``: ``game``, ``engine``, ``cause``
- ``ladder`` (three engines or more): ratings; ``sprt`` (with a test): ``llr``, ``lower``,
  ``upper``, ``decision``
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from statistics import fmean

from ..errors import counted
from ..files import Document
from ..game.record import GameRecord
from ..progress import Progress
from .elo import ELO_CAP, Estimate, MeanScore, Rating, Verdict, judge, rate
from .settings import MatchSettings, pairs

PAIR_RESULTS = ("both lost", "lost and drawn", "even", "won and drawn", "both won")
TABLE_EVERY = 10  # games between two tables of the plain view


@dataclass(slots=True)
class PairScore:
    """All results between two engines, from the first one's side."""

    a: str
    b: str
    wins: int = 0
    draws: int = 0
    losses: int = 0
    openings: list[int] = field(default_factory=lambda: [0] * 5)  # pairs of games, by half points
    waiting: dict[int, int] = field(default_factory=dict)  # half points of lone games, by round

    @property
    def games(self) -> int:
        """The number of finished games."""
        return self.wins + self.draws + self.losses

    def add(self, played: GameRecord) -> None:
        """Count a game."""
        points = played.points(self.a)
        self.wins += points == 2
        self.draws += points == 1
        self.losses += points == 0
        if played.round in self.waiting:
            self.openings[points + self.waiting.pop(played.round)] += 1
        else:
            self.waiting[played.round] = points

    @property
    def score(self) -> MeanScore:
        """The mean score of the first engine."""
        lone = [sum(points == kind for points in self.waiting.values()) for kind in range(3)]
        return MeanScore.of(self.openings, lone)

    def to_json(self) -> Document:
        """Return the pair as an object for JSON."""
        score = self.score
        normalised = score.normalised_elo
        counts = {key: getattr(self, key) for key in ("a", "b", "wins", "draws", "losses")}
        bounds = zip(("elo", "elo_low", "elo_high"), score.elo, strict=True)
        return {
            **counts,
            **{key: round(value, 2) for key, value in bounds},
            "normalised_elo": normalised and round(normalised.value, 2),
            "los": round(score.superiority, 4),
            "pentanomial": list(self.openings),
        }


class Standings:
    """The results of a match, updated game by game.

    ``anchors`` fix the ratings of some engines in the ladder, by name.
    """

    def __init__(
        self,
        settings: MatchSettings,
        games: Iterable[GameRecord] = (),
        anchors: dict[str, float] | None = None,
    ) -> None:
        self.settings = settings
        self.anchors = anchors
        self.names = names = [engine.name for engine in settings.engines]
        self.pairs = [PairScore(names[a], names[b]) for a, b in pairs(settings)]
        self.total = settings.games * len(self.pairs)  # games of the whole match
        self._by_names = {frozenset((pair.a, pair.b)): pair for pair in self.pairs}
        self.faults: list[GameRecord] = []
        self.games = 0
        for played in games:
            self.add(played)

    def add(self, played: GameRecord) -> None:
        """Count a game."""
        self.games += 1
        self._by_names[frozenset((played.black, played.white))].add(played)
        if played.fault:
            self.faults.append(played)

    @property
    def verdict(self) -> Verdict | None:
        """The state of the match's sequential test, None without one.

        Only complete pairs of games count.
        """
        test = self.settings.sprt
        return judge(test, self.pairs[0].openings) if test else None

    @property
    def ladder(self) -> list[Rating]:
        """The ratings of all engines."""
        meetings = ((p.a, p.b, p.wins + p.draws / 2, p.games) for p in self.pairs)
        return rate(meetings, self.anchors)

    def to_json(self) -> Document:
        """Return the result document of the match."""
        document: Document = {
            "games": self.games,
            "engines": self.names,
            "pairs": [pair.to_json() for pair in self.pairs],
            "faults": [
                {"game": played.number, "engine": played.loser, "cause": played.fault}
                for played in sorted(self.faults, key=lambda played: played.number)
            ],
        }
        if len(self.names) > 2:
            document["ladder"] = [
                {**r._asdict(), "elo": round(r.elo, 2), "error": round(r.error, 2)}
                for r in self.ladder
            ]
        if verdict := self.verdict:
            numbers = {key: round(getattr(verdict, key), 4) for key in ("llr", "lower", "upper")}
            document["sprt"] = {**numbers, "decision": verdict.decision}
        return document


# -- as text -----------------------------------------------------------------------------------


def format_estimate(estimate: Estimate) -> str:
    """Return an estimate such as ``+12.3 [-4.5, +29.1]``, with words for a missing bound."""
    value, low, high = estimate
    if abs(value) >= ELO_CAP:
        known = f"above {low:+.0f}" if value > 0 else f"below {high:+.0f}"
        return f"all {'won' if value > 0 else 'lost'}, {known}"
    if low <= -ELO_CAP and high >= ELO_CAP:
        return f"{value:+.1f}, nothing is certain yet"
    if high >= ELO_CAP:
        return f"{value:+.1f}, above {low:+.1f}"
    if low <= -ELO_CAP:
        return f"{value:+.1f}, below {high:+.1f}"
    return f"{value:+.1f} [{low:+.1f}, {high:+.1f}]"


def table(rows: list[list[str]]) -> list[str]:
    """Return rows in aligned columns, the first to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *cells]).rstrip())
    return lines


def conditions(settings: MatchSettings) -> str:
    """Return the conditions of a match in one line."""
    words = [f"{settings.rule.label} on {settings.width}x{settings.height}"]
    for known in fields(settings):
        if value := known.metadata.get("shown") and getattr(settings, known.name):
            words.append(known.metadata["shown"].format(value))
    return ", ".join([*words, f"openings: {Path(settings.openings).name}"])


def pair_rows(standings: Standings) -> list[list[str]]:
    """Return the table of the pairs, with a header."""
    short = standings.settings.labels
    rows = [["pair", "games", "won", "drawn", "lost", "score", "Elo [95 %]", "LOS"]]
    for pair in standings.pairs:
        row = [f"{short[pair.a]} - {short[pair.b]}"]
        row += [str(count) for count in (pair.games, pair.wins, pair.draws, pair.losses)]
        score = pair.score
        percents = [f"{100 * share:.1f} %" for share in (score.mean, score.superiority)]
        known = [percents[0], format_estimate(score.elo), percents[1]]
        rows.append(row + (known if pair.games else [""] * 3))
    return rows


def ladder_rows(standings: Standings) -> list[list[str]]:
    """Return the table of the ratings, with a header."""
    short = standings.settings.labels
    return [["engine", "Elo", "+-", "games", "points"]] + [
        [short[r.engine], f"{r.elo:+.0f}", f"{r.error:.0f}", str(r.games), f"{r.points:g}"]
        for r in standings.ladder
    ]


def time_rows(settings: MatchSettings, games: Sequence[GameRecord]) -> list[list[str]]:
    """Return the table of time, depth, nodes and memory of the engines, with a header."""
    moves: dict[str, list[tuple[int, int | None, int | None]]] = {n: [] for n in settings.labels}
    memory = dict.fromkeys(moves, 0)
    for played in games:
        columns = zip(played.times, played.depths, played.nodes, strict=True)
        for mover, used in zip(played.movers, columns, strict=True):
            moves[mover].append(used)
        for name, peak in zip((played.black, played.white), played.memory, strict=False):
            memory[name] = max(memory[name], peak)
    rows = [["engine", "moves", "mean s", "longest s", "mean depth", "nodes/s", "memory MB"]]
    for name, own in moves.items():
        times = [ms / 1000 for ms, _, _ in own]
        depths = [depth for _, depth, _ in own if depth is not None]
        total, nodes = sum(times), sum(count or 0 for _, _, count in own)
        row = [settings.labels[name], str(len(own))]
        row += [f"{total / len(own):.3f}", f"{max(times):.3f}"] if own else ["", ""]
        row.append(f"{fmean(depths):.1f}" if depths else "")
        row.append(f"{nodes / total:,.0f}" if nodes and total else "")
        row.append(f"{memory[name] / 1e6:.1f}" if memory[name] else "")
        rows.append(row)
    return rows


def fault_lines(standings: Standings) -> list[str]:
    """Return a line for each engine and kind of fault, with an example."""
    kinds: dict[tuple[str, str], list[GameRecord]] = {}
    for played in standings.faults:
        kinds.setdefault((played.loser, played.fault), []).append(played)
    lines = []
    for (name, cause), games in kinds.items():
        first, short = games[0], standings.settings.labels[name]
        example = f" (game {first.number + 1}: {first.detail})" if first.detail else ""
        lines.append(
            f"{short}: {cause} in {len(games)} of {counted(standings.games, 'game')}{example}"
        )
    return lines


def test_lines(standings: Standings) -> list[str]:
    """Return the state of the match's sequential test in one line; [] without a test."""
    verdict, test = standings.verdict, standings.settings.sprt
    if not verdict or not test:
        return []
    hypotheses = f"{test.model} [{test.elo0:g}, {test.elo1:g}]"
    return [f"SPRT {hypotheses}: {verdict} {verdict.decision or 'undecided'}"]


def summary(standings: Standings) -> str:
    """Return the whole result of a match."""
    lines = table(pair_rows(standings))
    pair = standings.pairs[0]
    if len(standings.pairs) == 1 and pair.games:
        kinds = zip(PAIR_RESULTS, pair.openings, strict=True)
        counts = ", ".join(f"{words} {count}" for words, count in kinds)
        normalised = pair.score.normalised_elo
        known = format_estimate(normalised) if normalised else "unknown, all results are equal"
        lines += [f"the two games of an opening: {counts}", f"normalised Elo {known}"]
    lines += test_lines(standings)
    if len(standings.names) > 2:
        lines += ["", *table(ladder_rows(standings))]
    if faults := fault_lines(standings):
        lines += ["", "games lost by a fault:", *(f"  {line}" for line in faults)]
    return "\n".join(lines)


def result_line(played: GameRecord, short: dict[str, str]) -> str:
    """Return a finished game in one line."""
    names = f"{short[played.black]} - {short[played.white]}"
    ended = f"{played.result} ({played.ending}), {counted(len(played.moves), 'stone')}"
    return f"game {played.number + 1}: {names} {ended}"


class View:
    """The display of a running match: a line per game, and the score from time to time."""

    def __init__(self, standings: Standings, is_quiet: bool = False) -> None:
        """Show the match; a quiet view shows only messages."""
        self.standings, self._is_quiet = standings, is_quiet
        self._short = standings.settings.labels
        self._progress = Progress(standings.total, "games", standings.games)
        self._lock = threading.Lock()

    def on_move(self, slot: int, played: GameRecord) -> None:
        """Handle a new move in the game of a slot; called from its thread."""

    def on_result(self, played: GameRecord) -> None:
        """Show a finished game, already counted in the standings."""
        if self._is_quiet:
            return
        standings = self.standings
        self._progress.done = standings.games
        self.say(f"{result_line(played, self._short)}  [{self._progress}]")
        last = self._progress.done == self._progress.total
        if self._progress.done % TABLE_EVERY == 0 and not last:
            for pair in filter(lambda pair: pair.games, standings.pairs):
                names = f"{self._short[pair.a]} - {self._short[pair.b]}"
                counts = f"+{pair.wins} ={pair.draws} -{pair.losses}"
                self.say(f"  {names}: {counts}, Elo {format_estimate(pair.score.elo)}")
            if standings.verdict:
                self.say(f"  {standings.verdict}")

    def say(self, text: str) -> None:
        """Print a message for the user."""
        with self._lock:
            print(text, file=sys.stderr, flush=True)

    def close(self) -> None:
        """End the display."""
