"""``numoku fuzz``: lines of nonsense for a program, until it breaks or the budget is used.

Lines come from three sources: random bytes, commands with random arguments, and mutations
of lines that were interesting before. With ``--guided`` a line is interesting if it makes
our own reader and session run code that no line has run; so the corpus grows into corners
that chance would not find. After each batch the program has to answer a probe within a
second, with nothing on stderr; at the end it has to play an ordinary game.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from time import perf_counter
from types import CodeType, FrameType
from typing import Any

from ..options import Parser, positive, problem_of
from ..protocol import replies
from ..protocol.commandline import split_command
from ..protocol.commands import Reader
from ..protocol.lines import LineBuffer
from ..protocol.session import Session
from .exam import Exam, Options, Violation
from .peer import Peer

BATCH = 25  # lines between two probes
HANG = 1.0  # seconds for a batch and its probe
MOST_MEMORY = 400_000_000  # no line asks for more, for the sake of the machine
PROGRESS = 5.0  # seconds between two lines of progress
GAME_MOVES = 4

WORDS = (
    b"START", b"RECTSTART", b"BEGIN", b"TURN", b"BOARD", b"DONE", b"RESTART", b"TAKEBACK",
    b"PLAY", b"ABOUT", b"INFO", b"STOP", b"SWAP2BOARD", b"YXSTOP", b"YXBOARD", b"YXSHOWFORBID",
    b"YXSHOWINFO", b"YXNBEST", b"YXBALANCEONE", b"YXBALANCETWO", b"YXBLOCK", b"YXBLOCKUNDO",
    b"YXBLOCKRESET", b"YXHASHCLEAR", b"YXSEARCHDEFEND", b"YXSWAP2STEP1", b"YXSWAP2STEP2",
    b"YXSWAP2STEP3", b"YXQUERYDATABASEALL", b"YXSETDATABASE", b"RELOADCONFIG", b"SUGGEST",
)  # fmt: skip
KEYS = (
    b"timeout_turn", b"timeout_match", b"time_left", b"time_increment", b"max_memory", b"rule",
    b"game_type", b"folder", b"evaluate", b"max_depth", b"max_node", b"thread_num",
    b"show_detail", b"caution_factor", b"pondering", b"strength", b"hash_size", b"row_first",
)  # fmt: skip
NUMBERS = (b"0", b"1", b"-1", b"2", b"3", b"4", b"5", b"8", b"9", b"15", b"20", b"22", b"23",
           b"100", b"1000", b"2147483647", b"-691", b"9223372036854775807", b"1" * 40)  # fmt: skip
SOUND = ("rule 0", "max_node -1", "max_depth 0", "strength 100", "row_first 0", "hash_size 0",
         "max_memory 350000000", "show_detail 0", "time_left 1000000")  # fmt: skip
ENDS = (b"\n", b"\n", b"\n", b"\r\n", b"\r")


class Lines:
    """A seeded source of lines, with a corpus that mutations start from."""

    def __init__(self, seed: int) -> None:
        """Start with commands that make sense."""
        self.chance = random.Random(seed)
        self.corpus: list[bytes] = [b"START 15", b"BEGIN", b"TURN 7,7", b"INFO rule 4",
                                    b"BOARD 7,7,1 8,8,2 DONE", b"TAKEBACK 7,7"]  # fmt: skip

    def next(self) -> bytes:
        """Return a line with its end, that does not end the program or fill the machine."""
        while True:
            source = self.chance.random()
            if source < 0.1:
                line = self.chance.randbytes(self.chance.randint(0, 60))
            elif source < 0.7:
                line = self.command()
            else:
                line = self.mutation(self.chance.choice(self.corpus))
            if is_harmless(line):
                return line + self.chance.choice(ENDS)

    def number(self) -> bytes:
        """Return a number, mostly one that means something."""
        if self.chance.random() < 0.5:
            return self.chance.choice(NUMBERS)
        return str(self.chance.randint(0, 19)).encode()

    def cell(self) -> bytes:
        """Return a cell, mostly on the board."""
        parts = [self.number() for _ in range(self.chance.choice((2, 2, 2, 2, 1, 3)))]
        return self.chance.choice((b",", b",", b",", b", ", b" ")).join(parts)

    def command(self) -> bytes:
        """Return a command with arguments that may or may not fit."""
        word = self.chance.choice(WORDS)
        if self.chance.random() < 0.2:
            word = word.lower()
        kind = self.chance.random()
        if word == b"INFO":
            return b" ".join((word, self.chance.choice(KEYS), self.number()))
        if kind < 0.25:
            return word
        if kind < 0.75:
            return word + b" " + self.cell()
        stones = [self.cell() + b"," + self.number() for _ in range(self.chance.randint(0, 30))]
        return b" ".join((word, *stones, b"DONE"))

    def mutation(self, line: bytes) -> bytes:
        """Return a line that differs a little."""
        data = bytearray(line)
        for _ in range(self.chance.randint(1, 4)):
            place = self.chance.randint(0, len(data))
            kind = self.chance.random()
            if kind < 0.3:
                data[place:place] = self.chance.randbytes(1)
            elif kind < 0.5:
                del data[place : place + self.chance.randint(1, 4)]
            elif kind < 0.7:
                data[place:place] = self.number()
            elif kind < 0.8:
                data[place:place] = self.chance.choice(self.corpus)
            elif kind < 0.9:
                data += b" " + self.cell()
            else:
                data *= self.chance.randint(1, 3)
        return bytes(data[:20_000])


def is_harmless(line: bytes) -> bool:
    """Say whether a line neither ends the program nor asks for too much memory."""
    for text in LineBuffer().feed(line + b"\n"):
        words = text.upper().split()
        if words[:1] == ["END"]:
            return False
        if any("MEMORY" in word or "HASH_SIZE" in word for word in words):
            digits = "".join(c for c in text if c in "0123456789")
            if int(digits or "0") > MOST_MEMORY // (1024 if "HASH" in text.upper() else 1):
                return False
    return True


class Guide:
    """Finds out which lines run new code of our own reader and session."""

    def __init__(self) -> None:
        """Start with nothing seen."""
        self.seen: set[tuple[CodeType, int]] = set()
        self._new = False
        self._reader = Reader()
        self._session = Session(self._make_engine)

    @staticmethod
    def _make_engine(memory: int) -> Any:
        from ..engine.engine import Engine

        return Engine(memory=min(memory, MOST_MEMORY))

    def is_new(self, line: bytes) -> bool:
        """Run a line and say whether it reached something new; errors are real ones."""
        self._new = False
        sys.settrace(self._trace)
        try:
            for text in LineBuffer().feed(line):
                for command in self._reader.read(text):
                    response = self._session.handle(command, perf_counter())
                    if response.task is not None:
                        response.task.stop()
                        self._session.conclude(response.task, response.task.run())
        finally:
            sys.settrace(None)
        return self._new

    def _trace(self, frame: FrameType, event: str, argument: object) -> Any:
        if "protocol" not in frame.f_code.co_filename:
            return None
        place = (frame.f_code, frame.f_lineno)
        if place not in self.seen:
            self.seen.add(place)
            self._new = True
        return self._trace


def batches(lines: Lines, count: int, guide: Guide | None) -> Iterator[list[bytes]]:
    """Yield so many lines in batches, letting the corpus grow."""
    made = 0
    while made < count:
        batch = [lines.next() for _ in range(min(BATCH, count - made))]
        made += len(batch)
        if guide is not None:
            lines.corpus += [line.strip() for line in batch if guide.is_new(line)]
        yield batch


def probe(peer: Peer, number: int, batch: list[bytes]) -> None:
    """Send a batch, and a question that has to be answered in time.

    Raises:
        Violation: it is not, or something came on stderr.
    """
    mark = f"YXPROBE{number}"
    began = perf_counter()
    peer.send_bytes(b"".join(batch) + f"\nDONE\n{mark}\n".encode())
    while True:
        line = peer.line(max(began + HANG - perf_counter(), 0.0))
        if line is None:
            taken = perf_counter() - began
            status = peer.wait(0.5 if peer.closed_at is not None else 0.0)
            state = "no answer" if status is None else f"ended ({status})"
            raise Violation(f"{state} {taken:.2f} s after a batch")
        if line.text == f"UNKNOWN {mark}":
            break
        if line.text.startswith(replies.INTERNAL_ERROR):
            raise Violation(line.text)
    if peer.stderr:
        raise Violation(f"on stderr: {peer.stderr[:200]!r}")


def play_a_game(peer: Peer, command: list[str]) -> None:
    """Play some moves, as if nothing had happened.

    Raises:
        Violation: that does not work.
    """
    exam = Exam(peer, Options(command, turn=0.05))
    exam.start(*SOUND)
    for _ in range(GAME_MOVES):
        exam.exchange()


def main(argv: list[str] | None = None) -> int:
    """Feed a program nonsense; 0: it survives, 1: it does not, 2: it cannot be started."""
    parser = Parser(prog="numoku fuzz", description="Feed a pbrain nonsense.")
    parser.add_argument("command", nargs="?", help="the program (default: this one), quoted")
    parser.add_argument("--lines", type=positive, default=100_000, help="how many (default 100000)")
    parser.add_argument("--seed", type=int, default=1, help="of the random numbers (default 1)")
    parser.add_argument("--guided", action="store_true", help="let the coverage choose lines")
    arguments = parser.parse_args(argv)
    own = [sys.executable, "-m", "pbrain_engine"]
    try:
        command = split_command(arguments.command or "") or own
    except ValueError as error:
        parser.error(str(error))
    lines = Lines(arguments.seed)
    guide = Guide() if arguments.guided else None
    began = shown_at = perf_counter()
    sent = number = 0
    batch: list[bytes] = []
    try:
        with Peer(command) as peer:
            probe(peer, 0, [])
            for number, batch in enumerate(batches(lines, arguments.lines, guide), 1):
                probe(peer, number, batch)
                sent += len(batch)
                if perf_counter() - shown_at > PROGRESS:
                    shown_at = perf_counter()
                    print(f"{sent} lines, {shown_at - began:.0f} s", file=sys.stderr, flush=True)
            play_a_game(peer, command)
    except OSError as error:
        print(f"numoku fuzz: {problem_of(error)}", file=sys.stderr)
        return 2
    except Violation as violation:
        print(f"seed {arguments.seed}, batch {number} after {sent} lines: {violation}")
        print("\n".join(repr(line) for line in batch))
        return 1
    corpus = f", corpus {len(lines.corpus)}" if guide else ""
    print(
        f"seed {arguments.seed}: {sent} lines in {perf_counter() - began:.1f} s{corpus}: "
        "no exit, no hang, nothing on stderr; a game after it was played"
    )
    return 0
