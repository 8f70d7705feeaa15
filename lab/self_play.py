"""The real program against itself, judged by the oracle: ``python -m lab.self_play --help``.

Each rule has a match on each board, with a journal, so that a run can be continued. Every move must
be legal for the oracle, and a game must end exactly when the oracle sees a winning row or a full
board. Announced wins that come late or never are counted, too, but are not errors.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

from pbrain_engine.arena import match
from pbrain_engine.arena.match import read_journal
from pbrain_engine.game.record import BLACK, DRAW, WHITE, GameRecord
from pbrain_engine.values import mate_distance
from tests.oracle import rules
from tests.oracle.rules import Board, Cell

BOARDS = ((15, 15), (20, 20), (17, 12))
MEMORY = 70  # megabytes of each program
OPENINGS = "random:5"


def may_play(board: Board, cell: Cell, side: int) -> bool:
    """Return whether the oracle allows a move; a foul is allowed if all moves are fouls."""
    if rules.is_legal(board, cell, side):
        return True
    return board.at(cell) == rules.EMPTY and set(board.empties()) == rules.forbidden_cells(board)


def complaint_about(played: GameRecord, board: Board) -> str:
    """Return the oracle's objection to a game on this empty board, or an empty string."""
    if played.fault:
        return f"{played.loser}: {played.fault} {played.detail}"
    winner = DRAW
    for ply, cell in enumerate(played.moves):
        if winner != DRAW or not may_play(board, cell, ply % 2):
            return f"{cell} is illegal, or {winner} has won before it\n{board.drawing()}"
        board.put(cell, ply % 2)
        if rules.is_win(board, cell):
            winner = (BLACK, WHITE)[ply % 2]
    if played.winner != winner or (winner == DRAW and board.empties()):
        return f"the result is {played.winner}, for the oracle {winner}\n{board.drawing()}"
    return ""


def announced(played: GameRecord) -> dict[str, int]:
    """Return the earliest ply by which each side announced that it would win, if it did."""
    found: dict[str, int] = {}
    for ply, value in enumerate(played.values, len(played.opening)):
        if value is not None and (plies := mate_distance(value) or 0) > 0:
            side = (BLACK, WHITE)[ply % 2]
            found[side] = min(ply + plies, found.get(side, ply + plies))
    return found


def broken_words(played: GameRecord) -> list[str]:
    """Return a description of each announced win that came late or never."""
    plies = len(played.moves)
    return [
        f"{side} announced a win by ply {by}; {played.winner} after {plies}"
        for side, by in announced(played).items()
        if played.winner != side or plies > by
    ]


def play(rule: str, board: Cell, games: int, turn: float, journal: Path) -> list[GameRecord]:
    """Play the games missing in the journal; return all of its games.

    Raises:
        RuntimeError: the match cannot be played.
    """
    words = ["--games", str(games), "--view", "quiet"]
    if journal.exists():
        words += ["--resume", str(journal)]
    else:
        words += ["numoku", "numoku", "--rule", rule.replace("_", "-"), "--turn", str(turn)]
        words += ["--board", "{}x{}".format(*board), "--memory", str(MEMORY), "--keep"]
        words += ["--openings", OPENINGS, "--journal", str(journal)]
    if match.main(words) != 0:
        raise RuntimeError(f"numoku match {' '.join(words)}")
    return read_journal(journal)[1]


def run(
    games: int, turn: float, folder: Path, boards: tuple[Cell, ...] = BOARDS
) -> tuple[int, list[str]]:
    """Play with journals in a folder and print a table; return the count and the failures."""
    count, failures, lines = 0, list[str](), []
    for rule in rules.RULES:
        for board in boards:
            name = "{} {}x{}".format(rule, *board)
            of = play(rule, board, games, turn, folder / f"{name.replace(' ', '-')}.jsonl")
            wrong = [(each.number, complaint_about(each, Board(*board, rule))) for each in of]
            failures += [f"{name} game {number}: {text}" for number, text in wrong if text]
            count += len(of)
            results = dict(Counter(each.winner for each in of))
            wins = sum(len(announced(each)) for each in of)
            broken = [word for each in of for word in broken_words(each)]
            slowest = max((ms for each in of for ms in each.times), default=0)
            lines.append(
                f"{name}: {len(of)} games {results}, {wins} wins announced ({len(broken)} late or "
                f"never {broken[:3]}), slowest move {slowest} ms"
            )
    print("\n".join(lines))
    return count, failures


def main(arguments: list[str] | None = None) -> int:
    """Play and print the table; return 1 if anything was wrong, else 0."""
    parser = argparse.ArgumentParser(prog="python -m lab.self_play", description=__doc__)
    parser.add_argument("--games", type=int, default=100, help="of each rule on each board")
    parser.add_argument("--turn", type=float, default=0.05, help="seconds per move")
    parser.add_argument("--journals", type=Path, required=True, help="folder of the journals")
    options = parser.parse_args(arguments)
    began = time.perf_counter()
    count, failures = run(options.games, options.turn, options.journals)
    print(f"{count} games, {len(failures)} wrong, {time.perf_counter() - began:.0f} s")
    for text in failures:
        print(text)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
