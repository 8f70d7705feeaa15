"""What the program says to managers, and when: ``python -m tests.golden.talks`` records it anew.

The loop, its threads and its session run on a clock that moves only when all of them wait, with an
engine that says what it is asked. ``talks.txt`` holds both sides. A line with ``>`` is what a
manager sends at that moment, in one packet (lines as Python writes strings; ``END OF INPUT``
closes the pipe), and all others are recorded: ``<`` is written, ``|`` is the engine's, ``!`` is
logged. After a title stand the faults of the engine (see ``tests/fake_engine.py``); with ``once``
the first engine alone has them. ``nokernel`` and ``noweights`` let there be no engine; the client
does not read (``unread``) or is ``gone``; the program is ``suspended`` whenever it writes. Of a
position the record has what is new: no size and rule where they are those of the last one, and
``...`` for the stones of the last search. A long text that was said before ends in ``…``; of lines
that begin with the same word, which ``;`` parts, the first alone has it. A talk without END ends
when all is silent.
"""

from __future__ import annotations

import random
from types import SimpleNamespace

import pytest

from pbrain_engine import __version__
from pbrain_engine.engine import pacing, swap2
from pbrain_engine.errors import WeightsError
from pbrain_engine.native.load.library import KernelError
from pbrain_engine.protocol import commands, loop, replies, searches, session
from tests import fake_engine
from tests.golden import texts
from tests.golden.records import Record
from tests.turns import TurnQueue, Turns

STEP = 0.03  # seconds of the first iteration
CPU, QUEUED = 0.15, 0.05  # seconds that the program took to start
EOF = "END OF INPUT"
SILENCE = 1000.0  # seconds after which a talk ends by itself
DEPTH = "MESSAGE depth "  # begins what is told of an iteration; of many at once, two are recorded
SEEDED = random.Random


class Talk:
    """One conversation, and its record."""

    def __init__(
        self, faults: set[str], script: list[tuple[float, str]], known: dict[str, str]
    ) -> None:
        self.turns, self.faults, self.script, self.lines = Turns(), faults, script, list[str]()
        self.engines, self.known, self.word = 0, known, ""
        self.is_silent = False

    def note(self, mark: str, text: str) -> None:
        """Add to the record; what happens at one moment stands in one line."""
        text, moment = text.replace(__version__, "VERSION"), f"{self.turns.now:.3f}"
        last = self.lines[-1] if self.lines else " >"
        if text.startswith(DEPTH) and last.partition(" < ")[2].startswith(DEPTH):
            first, *more = last.split("; ")
            count = int(more[0].split()[0]) + 1 if more[1:] else len(more)
            told = [f"{count} more"] if count else []
            self.lines[-1] = "; ".join([first, *told, f"{moment} {text.removeprefix(DEPTH)}"])
            return
        if mark != "|" and not text.startswith(DEPTH):
            text = texts.again(text, self.known)
        word, _, rest = text.partition(": " if mark == "|" else " ")
        before, self.word = self.word, f"{mark} {word}"
        if not last.startswith(f"{moment} ") or last.split(" ", 2)[1] == ">":
            self.lines.append(f"{moment} {mark} {text}")
        elif mark == "<" and rest and before == self.word:
            self.lines[-1] += f"; {rest}"
        else:
            is_known = word.startswith("engine ") and f" {word}: " in last
            self.lines[-1] += f" {mark} {rest if is_known else text}"

    def make_engine(self, memory: int) -> fake_engine.FakeEngine:
        if "nokernel" in self.faults:
            raise KernelError("no kernel\nfor this machine; run `make setup`")
        if "noweights" in self.faults:
            raise WeightsError("learned.numoku is damaged")
        self.engines += 1
        faults = set() if "once" in self.faults and self.engines > 1 else self.faults
        name = f"engine {self.engines}: " if self.engines > 1 else ""
        tell = lambda text: self.note("|", f"{name}{text}")  # noqa: E731
        return fake_engine.FakeEngine(memory, faults, tell)

    def read(self) -> bytes:
        """Return what is sent next, or the end of the input when all has been silent for long."""
        if not self.script:
            self.turns.wait(self.turns.now + SILENCE)
            self.is_silent = True
            return b""
        moment, text = self.script.pop(0)
        self.turns.wait(max(moment, self.turns.now))
        self.lines.append(f"{moment:.3f} > {text}")
        lines = [line.encode("latin-1").decode("unicode_escape") for line in text.split("; ")]
        return b"" if text == EOF else "".join(line + "\n" for line in lines).encode("latin-1")

    def write(self, line: str) -> None:
        self.note("<", line)
        if "unread" in self.faults:
            self.turns.sleep(5)
        if "suspended" in self.faults:
            self.turns.now += 5
        if "gone" in self.faults:
            raise BrokenPipeError

    def log(self, mark: str, text: str) -> None:
        if mark == "!":
            self.note("!", text.splitlines()[-1])

    def leave(self) -> None:
        if not self.is_silent:
            self.note("!", "the program ends")
        self.turns.end()

    def run(self) -> list[str]:
        turns = self.turns
        with pytest.MonkeyPatch.context() as patch:
            for module in (loop, searches, replies, pacing, fake_engine):
                patch.setattr(module, "perf_counter", turns.read)
            for module in (loop, pacing, fake_engine):
                patch.setattr(module, "threading", turns.threading)
            lag = pacing.Lag()  # not what real threads of other tests have left
            for module in (loop, pacing):
                patch.setattr(module, "LAG", lag)
            clock = SimpleNamespace(perf_counter=turns.read, process_time=lambda: CPU)
            patch.setattr(session, "time", clock)
            patch.setattr(session, "queued_time", lambda: QUEUED)
            patch.setattr(fake_engine, "time", SimpleNamespace(sleep=turns.sleep))
            patch.setattr(fake_engine, "STEP", STEP)
            for module in (session, commands):
                patch.setattr(module, "MAX_THREADS", 4)
            patch.setattr(swap2, "OPENINGS", 3)
            patch.setattr(searches, "start_deep", lambda works: [*map(turns.start, works)])
            patch.setattr(random, "Random", lambda seed=7: SEEDED(seed))
            for name in ("read", "write", "leave", "log"):
                patch.setattr(loop, name, getattr(self, name))
            patch.setattr(loop, "sleep", turns.sleep)
            patch.setattr(loop, "SimpleQueue", lambda: TurnQueue(turns))
            conversation = loop.Loop(self.make_engine)  # type: ignore[arg-type]
            conversation.session.settings.row_first = "row_first" in self.faults
            turns.run(conversation.run)
        return self.lines


@Record("talks")
def talks(record: str) -> str:
    """Return the record of all conversations, of which another one has what the manager sends."""
    found, known = [], dict[str, str]()
    for block in record.rstrip("\n").split("\n\n"):
        title, *lines = block.split("\n")
        faults = {*title.partition(": ")[2].split()}
        sent = [line.split(" ", 2) for line in lines if line.split(" ", 2)[1] == ">"]
        script = [(float(moment), text) for moment, _, text in sent]
        found.append("\n".join([title, *Talk(faults, script, known).run()]))
    return "\n\n".join(found) + "\n"
