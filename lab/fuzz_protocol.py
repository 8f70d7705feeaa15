"""Send nonsense to a program: ``python -m lab.fuzz_protocol [COMMAND] [--lines N]``.

Lines come from three sources: random bytes, commands with random arguments, and mutations of valid
lines. After each batch the program must answer a probe within a second, with nothing on stderr; at
the end it must play an ordinary game.
"""

from __future__ import annotations

import random
import sys
from contextlib import closing
from time import perf_counter

from pbrain_engine.arena.process import EngineFault, EngineProcess
from pbrain_engine.doctor.exam import FAIL, Exam, Options
from pbrain_engine.errors import problem_of
from pbrain_engine.options import Parser, positive, split_command
from pbrain_engine.progress import Progress
from pbrain_engine.protocol import replies
from pbrain_engine.protocol.commands import CommandReader

BATCH = 25  # lines between two probes
HANG = 1.0  # seconds for a batch and its probe
MOST_MEMORY = 400_000_000  # bytes; no line requests more, to protect the machine
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


class LineSource:
    """A seeded source of random lines; ``corpus`` has the lines to mutate."""

    def __init__(self, seed: int) -> None:
        """Fill the corpus with valid commands."""
        self.chance = random.Random(seed)
        self.corpus: list[bytes] = [b"START 15", b"BEGIN", b"TURN 7,7", b"INFO rule 4",
                                    b"BOARD 7,7,1 8,8,2 DONE", b"TAKEBACK 7,7"]  # fmt: skip

    def next(self) -> bytes:
        """Return a harmless line with its line end."""
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
        """Return a number, often one with a meaning in the protocol."""
        if self.chance.random() < 0.5:
            return self.chance.choice(NUMBERS)
        return str(self.chance.randint(0, 19)).encode()

    def cell(self) -> bytes:
        """Return a cell, mostly on the board."""
        parts = [self.number() for _ in range(self.chance.choice((2, 2, 2, 2, 1, 3)))]
        return self.chance.choice((b",", b",", b",", b", ", b" ")).join(parts)

    def command(self) -> bytes:
        """Return a command with arguments that may or may not be valid."""
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
        """Return a line with a few random changes."""
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
    """Return whether a line neither ends the program nor asks for too much memory."""
    for text in CommandReader().lines(line + b"\n"):
        words = text.upper().split()
        if words[:1] == ["END"]:
            return False
        if any("MEMORY" in word or "HASH_SIZE" in word for word in words):
            digits = "".join(c for c in text if c in "0123456789")
            if int(digits or "0") > MOST_MEMORY // (1024 if "HASH" in text.upper() else 1):
                return False
    return True


def probe(peer: EngineProcess, number: int, batch: list[bytes]) -> None:
    """Send a batch and a probe.

    Raises:
        EngineFault: the probe is not answered in time, or there is output on stderr.
    """
    mark = f"YXPROBE{number}"
    began = perf_counter()
    peer.write(b"".join(batch) + f"\nDONE\n{mark}\n".encode())
    while True:
        line = peer.line(max(began + HANG - perf_counter(), 0.0))
        if line is None:
            taken = perf_counter() - began
            status = peer.wait(0.5 if peer.has_ended else 0.0)
            state = "no answer" if status is None else f"ended ({status})"
            raise EngineFault(FAIL, f"{state} {taken:.2f} s after a batch")
        if line.text == f"UNKNOWN {mark}":
            break
        if line.text.startswith(f"DEBUG {replies.INTERNAL_ERROR}"):
            raise EngineFault(FAIL, line.text)
    if peer.stderr:
        raise EngineFault(FAIL, f"on stderr: {peer.stderr[:200]!r}")


def main(argv: list[str] | None = None) -> int:
    """Send nonsense to a program; return 0 if it survives, 1 if not, 2 if it does not start."""
    parser = Parser(description="Send nonsense to a pbrain until it breaks.")
    parser.add_argument("command", nargs="?", help="the program, quoted (default: this one)")
    parser.add_argument("--lines", type=positive, default=100_000, help="how many (default 100000)")
    parser.add_argument("--seed", type=int, default=1, help="of the random numbers (default 1)")
    arguments = parser.parse_args(argv)
    own = [sys.executable, "-m", "pbrain_engine"]
    try:
        command = split_command(arguments.command or "") or own
    except ValueError as error:
        parser.error(str(error))
    lines = LineSource(arguments.seed)
    progress = Progress(arguments.lines, "lines", every=PROGRESS)
    number = 0
    batch: list[bytes] = []
    try:
        with closing(Exam(Options(command, turn=0.05))) as exam:
            probe(exam.peer, 0, [])
            while progress.done < arguments.lines:
                number += 1
                batch = [lines.next() for _ in range(min(BATCH, arguments.lines - progress.done))]
                probe(exam.peer, number, batch)
                progress.done += len(batch)
                progress.show()
            exam.take(f"start {', '.join(SOUND)}")
            for _ in range(GAME_MOVES):  # an ordinary game
                exam.take("exchange")
    except OSError as error:
        print(f"fuzz_protocol: {problem_of(error)}", file=sys.stderr)
        return 2
    except EngineFault as fault:
        print(f"seed {arguments.seed}, batch {number} after {progress.done} lines: {fault.detail}")
        print("\n".join(repr(line) for line in batch))
        return 1
    print(
        f"seed {arguments.seed}: {progress.done} lines in {progress.seconds:.1f} s: "
        "no exit, no hang, nothing on stderr; played a game afterwards"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
