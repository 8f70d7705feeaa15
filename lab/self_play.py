"""Self-play through the real program, judged by the oracle: ``python -m lab.self_play --help``.

Two processes play game after game, on one board after the other under one rule after the
other, spoken to as managers do. Every move has to be legal for the oracle, and a game ends
exactly when the oracle sees a winning row or a full board. Wins that a process announced
and then made late, or never, are counted too: no breach of the rules, but of its word. A
journal of one line a game makes a run resumable.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab.fuzz_rules import game_of
from pbrain_engine.doctor.exam import Peer, read_move
from pbrain_engine.game.game import Game
from pbrain_engine.notation.cells import cell_name
from pbrain_engine.position.rules import Rule, Side
from tests.oracle import rules
from tests.oracle.rules import Board, Cell

PROGRAM = [sys.executable, "-m", "pbrain_engine"]
BOARDS = ((15, 15), (20, 20), (17, 12))
MEMORY = 70_000_000  # bytes of each process
ANSWER = 15.0  # seconds without an answer, after which a process counts as hanging
MOST_OPENING = 6  # stones put at random, close to the middle
ROUNDS = 15  # games of a pair of processes


class Wrong(Exception):
    """A process has broken the rules, or its word."""


class Program:
    """One side: a process, and what it has said in this game."""

    def __init__(self, turn: float) -> None:
        """Start the process."""
        self.peer = Peer(PROGRAM)
        self.turn = turn
        self.slowest = 0.0  # seconds of a move in this game
        self.wins_by: int | None = None  # the ply at which it will have won, by its own word
        self.announced = ""  # in which position, and with which line
        self._speaks_turn = False
        self._begun = False
        self._value = ""
        self._line = ""

    def new_game(self, board: Board, speaks_turn: bool) -> None:
        """Begin a game; ``speaks_turn``: TURN after the first move, not BOARD every time."""
        size = f"{board.width},{board.height}"
        square = board.width == board.height
        self.peer.send(
            f"START {board.width}" if square else f"RECTSTART {size}",
            f"INFO rule {int(Rule[board.rule.upper()])}",
            f"INFO timeout_turn {round(self.turn * 1000)}",
            f"INFO max_memory {MEMORY}",
            "INFO show_detail 2",
        )
        if self._answer() != "OK":
            raise Wrong("START is not answered with OK")
        self._speaks_turn = speaks_turn
        self._begun = False
        self.wins_by = None
        self.slowest = 0.0

    def move(self, moves: list[Cell]) -> Cell:
        """Return its move after these, black's first."""
        own = len(moves) % 2
        if not moves:
            self.peer.send("BEGIN")
        elif self._begun and self._speaks_turn:
            self.peer.send("TURN {},{}".format(*moves[-1]))
        else:
            stones = [f"{x},{y},{1 if ply % 2 == own else 2}" for ply, (x, y) in enumerate(moves)]
            self.peer.send("BOARD", *stones, "DONE")
        self._begun = True
        self._value = ""
        began = time.perf_counter()
        answer = self._answer()
        self.slowest = max(self.slowest, time.perf_counter() - began)
        cell = read_move(answer)
        if cell is None:
            raise Wrong(f"{answer!r} is no move")
        if self._value.startswith("+M"):
            by = len(moves) + int(self._value[2:])
            if self.wins_by is None or by < self.wins_by:
                self.wins_by = by
                position = "".join(cell_name(*cell) for cell in moves)
                self.announced = f"{self._value} after {position} by {self._line}"
        return cell

    def _answer(self) -> str:
        while True:
            line = self.peer.line(ANSWER)
            if line is None:
                raise Wrong(f"no answer; stderr: {self.peer.stderr[-300:]!r}")
            kind, _, rest = line.text.partition(" ")
            if kind == "INFO" and rest.startswith("EVAL "):
                self._value = rest[5:]
            elif kind == "INFO" and rest.startswith("BESTLINE "):
                self._line = rest[9:]
            elif kind == "DEBUG":
                raise Wrong(line.text)
            elif kind not in ("INFO", "MESSAGE"):
                return line.text


def opening(board: Board, index: int) -> list[Cell]:
    """Return some legal first stones that win nothing; none at all for every seventh game."""
    chance = random.Random(f"{board.rule} {board.width} {index}")
    middle = board.width // 2, board.height // 2
    near = [(middle[0] + dx, middle[1] + dy) for dx in range(-3, 4) for dy in range(-3, 4)]
    put: list[Cell] = []
    trial = Board(board.width, board.height, board.rule)
    while len(put) < index % (MOST_OPENING + 1):
        side = len(put) % 2
        put.append(chance.choice([c for c in near if rules.is_legal(trial, c, side)]))
        trial.put(put[-1], side)
    return put


def check_legal(board: Board, cell: Cell, side: int) -> None:
    """Refuse a move that the oracle forbids, unless there is no other."""
    if rules.is_legal(board, cell, side):
        return
    if board.at(cell) == rules.EMPTY and set(board.empties()) == rules.forbidden_cells(board):
        return
    raise Wrong(f"{cell} is illegal for {Side(side).name.lower()}")


def play(board: Board, index: int, programs: tuple[Program, Program]) -> dict[str, Any]:
    """Play one game and return its record.

    Raises:
        Wrong: something is not as it should be.
    """
    for program in programs:
        program.new_game(board, speaks_turn=index % 3 != 0)
    game = game_of(board, Side.BLACK)
    moves: list[Cell] = []
    given = opening(board, index)
    winner = "draw"
    while board.empties():
        side = len(moves) % 2
        cell = given[len(moves)] if len(moves) < len(given) else programs[side].move(moves)
        check_legal(board, cell, side)
        board.put(cell, side)
        game.play(*cell)
        moves.append(cell)
        won = rules.is_win(board, cell)
        if game.winner != (Side(side) if won else None):
            raise Wrong(f"the winner is {game.winner}, for the oracle {side if won else None}")
        if won:
            winner = Side(side).name.lower()
            break
    check_end(board, game, winner)
    words = [
        broken_word(side, programs[side], winner, len(moves)) for side in (Side.BLACK, Side.WHITE)
    ]
    return {
        "rule": board.rule,
        "board": [board.width, board.height],
        "index": index,
        "winner": winner,
        "plies": len(moves),
        "slowest": round(max(program.slowest for program in programs), 4),
        "announced": sum(program.wins_by is not None for program in programs),
        "broken": [word for word in words if word is not None],
        "moves": moves,
    }


def check_end(board: Board, game: Game, winner: str) -> None:
    """Hold the result against the oracle's view of the whole board."""
    winners = {Side(side).name.lower() for side in rules.winners(board)}
    if winners != ({winner} - {"draw"}) or (winner == "draw" and not game.is_full):
        raise Wrong(f"the result is {winner}, for the oracle {winners}")


def broken_word(side: Side, program: Program, winner: str, plies: int) -> str | None:
    """Return how an announced win came late or never, or None."""
    if program.wins_by is None or (winner == side.name.lower() and plies <= program.wins_by):
        return None
    return (
        f"{side.name.lower()} announced a win by ply {program.wins_by}; "
        f"{winner} after {plies}; {program.announced}"
    )


def tasks(games: int, boards: tuple[Cell, ...] = BOARDS) -> Iterator[tuple[str, Cell, int]]:
    """Yield all games in an order in which an unfinished run has something of everything."""
    for index in range(games):
        for rule in rules.RULES:
            for board in boards:
                yield rule, board, index


def run(
    games: int, turn: float, journal: Path | None = None, boards: tuple[Cell, ...] = BOARDS
) -> tuple[int, list[str]]:
    """Play what the journal does not hold yet; return the games now played and the failures."""
    done = read(journal)
    programs: tuple[Program, Program] | None = None
    failures = [entry["wrong"] for entry in done.values() if "wrong" in entry]
    try:
        for number, (rule, (width, height), index) in enumerate(tasks(games, boards)):
            key = (rule, width, height, index)
            if key in done:
                continue
            if programs is not None and number % ROUNDS == 0:
                close(programs)
                programs = None
            programs = programs or (Program(turn), Program(turn))
            board = Board(width, height, rule)
            try:
                entry = play(board, index, programs)
            except Wrong as wrong:
                text = f"{rule} {width}x{height} game {index}: {wrong}\n{board.drawing()}"
                entry = {"rule": rule, "board": [width, height], "index": index, "wrong": text}
                failures.append(text)
                close(programs)
                programs = None
            done[key] = entry
            if journal is not None:
                with journal.open("a") as file:
                    file.write(json.dumps(entry, separators=(",", ":")) + "\n")
    finally:
        if programs is not None:
            close(programs)
    return len(done), failures


def read(journal: Path | None) -> dict[tuple[str, int, int, int], dict[str, Any]]:
    """Return the games of a journal by what they are."""
    found = {}
    if journal is not None and journal.exists():
        for line in journal.read_text().splitlines():
            entry = json.loads(line)
            found[(entry["rule"], *entry["board"], entry["index"])] = entry
    return found


def close(programs: tuple[Program, Program]) -> None:
    """End both processes."""
    for program in programs:
        program.peer.send("END")
        program.peer.wait(1.0)
        program.peer.kill()


def table(entries: list[dict[str, Any]]) -> str:
    """Return the results by rule and board."""
    lines = []
    kinds = sorted({(e["rule"], *e["board"]) for e in entries})
    for rule, width, height in kinds:
        of = [e for e in entries if (e["rule"], *e["board"]) == (rule, width, height)]
        fine = [e for e in of if "wrong" not in e]
        results = [sum(e["winner"] == w for e in fine) for w in ("black", "white", "draw")]
        plies = sum(e["plies"] for e in fine) / max(len(fine), 1)
        announced = sum(e["announced"] for e in fine)
        broken = sum(len(e.get("broken", ())) for e in fine)
        slowest = max((e["slowest"] for e in fine), default=0.0)
        lines.append(
            f"{rule:<11} {width}x{height}: {len(of):4} games, black/white/draw "
            f"{results[0]}/{results[1]}/{results[2]}, {plies:.0f} plies, {announced} wins "
            f"announced ({broken} late or never), slowest move {slowest * 1000:.0f} ms, "
            f"wrong {len(of) - len(fine)}"
        )
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Play, and print the table; the exit status is 1 if anything was wrong."""
    parser = argparse.ArgumentParser(prog="python -m lab.self_play", description=__doc__)
    parser.add_argument("--games", type=int, default=100, help="of each rule on each board")
    parser.add_argument("--turn", type=float, default=0.05, help="seconds a move")
    parser.add_argument("--journal", type=Path, help="to continue a run later")
    options = parser.parse_args(arguments)
    began = time.perf_counter()
    played, failures = run(options.games, options.turn, options.journal)
    if options.journal is not None:
        print(table(list(read(options.journal).values())))
    print(f"{played} games, {len(failures)} wrong, {time.perf_counter() - began:.0f} s")
    for text in failures:
        print(text)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
