"""What a manager sends: commands, from bytes to lines of bounded length, and settings by ``INFO``.

Parsing never fails: every line becomes a command, if only ``UNKNOWN`` or ``MALFORMED``, and has no
effect here. A command with a body (``BOARD`` up to ``DONE``) may take one line or many, so a
``CommandReader`` collects the body.

INFO is never answered. It may come before START, after it and during a search, in any order; so it
is stored at once and read when a move is due, and an invalid value leaves its setting unchanged.
"""

from __future__ import annotations

import os
import re
from codecs import BOM_UTF8
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from ..engine.pacing import UNLIMITED_MS, Limits
from ..native.load.memory import DEFAULT_MEMORY
from ..position.rules import Rule

MAX_LINE = 16_384  # bytes, twice what managers allow; a whole 22x22 BOARD on one line has 4,000
TOO_LONG = "\0"  # represents a longer line; NULs in real lines are replaced


class PlacedStone(NamedTuple):
    """A line of a body; ``field`` is None if the line has only two numbers."""

    x: int
    y: int
    field: int | None = None


class Command(NamedTuple):
    """A command: its name, its numbers, the stones of its body and the number of ``bad`` ones.

    ``text``: the rest of ``INFO``, the whole ``UNKNOWN`` line, or the reason for ``MALFORMED``.
    """

    name: str
    numbers: tuple[int, ...] = ()
    stones: tuple[PlacedStone, ...] = ()
    bad: int = 0
    text: str = ""


# Commands on one line: least and most numbers they take, the same in words, and their names.
_FORMS = (
    (0, 0, "no argument", (
        "ABOUT", "BEGIN", "END", "RESTART", "STOP",
        "YXBLOCKRESET", "YXHASHCLEAR", "YXSEARCHDEFEND", "YXSHOWFORBID", "YXSHOWINFO", "YXSTOP",
        "YXSOOSORVSTEP1", "YXSWAP2STEP1", "YXSWAP2STEP2", "YXSWAP2STEP3",
    )),
    (1, 1, "a number", ("YXBALANCEONE", "YXBALANCETWO", "YXNBEST")),
    (1, 2, "a size, like START 20 or RECTSTART 20,15", ("START", "RECTSTART")),
    (2, 2, "a cell, like TURN 7,8", ("TURN", "PLAY", "TAKEBACK")),
)  # fmt: skip
_SIMPLE = {name: (least, most, words) for least, most, words, names in _FORMS for name in names}
_COUNTED = ("YXSOOSORVSTEP4", "YXSOOSORVSTEP5")  # a number comes before the body
_BODIES = ("BOARD", "YXBOARD", "SWAP2BOARD", "YXBLOCK", "YXBLOCKUNDO",
           "YXSOOSORVSTEP2", "YXSOOSORVSTEP3", *_COUNTED, "YXSOOSORVSTEP6")  # fmt: skip
_KNOWN = frozenset(("INFO", *_BODIES, *_SIMPLE))
_LENIENT = ("ABOUT", "END", "STOP", "YXSTOP")  # better obeyed than disputed

# Unsupported extensions: the lines after their name belong to them and are not answered.
_FOREIGN_BODY = ("DATABASE", "YXBLOCKPATH", "YXFORBID")
_FOREIGN_FILE = ("YXSETDATABASE", "YXHASHDUMP", "YXHASHLOAD", "YXDBTO", "YXTXTTODB", "YXLIBTODB",
                 "YXPOSTODB", "YXDBSPLIT", "YXDBMERGE")  # fmt: skip

_NUMBER = re.compile(r"[-+]?[0-9]{1,19}")  # of 64 bits
MAX_BODY = 4_096  # lines of a body that are kept; the largest board has 484 cells


def numbers(text: str) -> list[int] | None:
    """Return numbers separated by white space and commas, or None if the text has more."""
    words = text.replace(",", " ").split()
    return [*map(int, words)] if all(map(_NUMBER.fullmatch, words)) else None


class CommandReader:
    """Turns bytes into commands; keeps only an incomplete line and an incomplete body."""

    def __init__(self) -> None:
        self._rest = b""  # of a line
        self._name = ""  # of the command whose body is being collected
        self._numbers: tuple[int, ...] = ()
        self._stones: list[PlacedStone] = []
        self._bad = 0
        self._foreign = ""  # expected of an unsupported extension: a "body" or a "file" name

    def lines(self, chunk: bytes) -> list[str]:
        """Return the lines completed by a chunk, by CR, LF or both, without blank lines."""
        *complete, rest = (self._rest + chunk).replace(b"\r", b"\n").split(b"\n")
        self._rest = rest[: MAX_LINE + 1]
        lines = []
        for raw in complete:
            text = raw.removeprefix(BOM_UTF8).replace(b"\0", b" ").decode("latin-1").strip()
            lines.append(TOO_LONG if len(raw) > MAX_LINE else text)
        return [line for line in lines if line]

    def read(self, line: str) -> list[Command]:
        """Return the commands completed by a line: usually one, sometimes none or two."""
        if line == TOO_LONG:
            self._name = ""
            return [Command("MALFORMED", text="line too long")]
        word, rest, *_ = (*line.split(None, 1), "")
        name = word.upper()
        if self._name and name not in ("INFO", "ABOUT"):
            if name not in _KNOWN:
                return self._collect(line)
            broken, self._name = self._name, ""
            return [Command("MALFORMED", text=f"{broken} without DONE"), *self.read(line)]
        if name not in _KNOWN and not name.startswith("YX") and self._foreign:
            is_last = self._foreign == "file" or name == "DONE"
            if is_last:
                self._foreign = ""
            if is_last or numbers(line) is not None:
                return []
        self._foreign = ""
        if name == "INFO":
            return [Command(name, text=rest)]
        if name in _BODIES:
            self._name, self._numbers, self._stones, self._bad = name, (), [], 0
            first, _, others = rest.partition(" ")
            if name in _COUNTED and _NUMBER.fullmatch(first):
                self._numbers, rest = (int(first),), others
            return self._collect(rest)
        if name in _SIMPLE:
            values = [] if name in _LENIENT else numbers(rest)
            least, most, words = _SIMPLE[name]
            if values is None or not least <= len(values) <= most:
                return [Command("MALFORMED", text=f"{name} takes {words}")]
            return [Command(name, tuple(values))]
        if not rest and name.startswith(_FOREIGN_FILE):
            self._foreign = "file"
        elif name.startswith("YX") and any(word in name for word in _FOREIGN_BODY):
            self._foreign = "body"
        return [Command("UNKNOWN", text=line)]

    def _collect(self, text: str) -> list[Command]:
        words = text.split()
        if len(words) > 1 and not all("," in w or w.upper() == "DONE" for w in words):
            # One stone with spaces inside, "7, 8, 1", possibly followed by DONE.
            done = [w for w in words[-1:] if w.upper() == "DONE"]
            words = [",".join(w.strip(",") for w in words[: len(words) - len(done)]), *done]
        for word in words:
            if word.upper() == "DONE":
                name, self._name = self._name, ""
                return [Command(name, self._numbers, tuple(self._stones), self._bad)]
            values = numbers(word)
            if values is None or not 2 <= len(values) <= 3 or len(self._stones) >= MAX_BODY:
                self._bad += 1
            else:
                self._stones.append(PlacedStone(*values))
        return []


# The settings made by INFO ------------------------------------------------------------

MAX_THREADS = os.cpu_count() or 1
FULL_STRENGTH = 100
STRENGTH_NODES = 60  # at strength 0; every seven more double it
STRENGTH_DOUBLING = 7

HUGE = 2.0**62  # larger numbers are clamped to this

EXACT, CONTINUOUS, RENJU, CARO = 1, 2, 4, 8  # the bits of INFO rule
YIXIN_SWAP1, YIXIN_SWAP2 = 5, 6  # freestyle, with a swap after one stone or after three
YIXIN_RULES = {2: Rule.RENJU, YIXIN_SWAP1: Rule.FREESTYLE, YIXIN_SWAP2: Rule.FREESTYLE}


def fewest_nodes(nodes: int, strength: int) -> int | None:
    """Return the smaller node limit of ``max_node`` (0: none) and strength, or None."""
    limits = [nodes] if nodes else []
    if strength < FULL_STRENGTH:
        limits.append(int(STRENGTH_NODES * 2 ** (max(strength, 0) / STRENGTH_DOUBLING)))
    return min(limits, default=None)


class Settings:
    """The values of all INFO keys."""

    def __init__(self) -> None:
        self.turn: int | None = None  # milliseconds
        self.match: int | None = None
        self.left: int | None = None
        self.spent = 0  # milliseconds since the manager last sent time_left
        self.increment = 0
        self.memory = DEFAULT_MEMORY
        self.hash_size = 0  # bytes of the table, within the memory; 0: as many as are useful
        self.threads = 1
        self.max_depth = 0  # 0: no limit
        self.max_nodes = 0
        self.show_detail = 0
        self.strength = FULL_STRENGTH
        self.row_first = False  # cells are written row,column
        self.rule_code = 0
        self.swapable = False  # the client accepts SWAP as an answer to the first stone
        self.yixin = False  # the client has behaved like Yixin-Board or gomocalc

    @property
    def limits(self) -> Limits:
        """The time limits."""
        left = self.left if self.left is not None else self.match or None
        if left is not None and left < UNLIMITED_MS:
            left -= self.spent
        return Limits(self.turn, left, self.increment)

    @property
    def rule(self) -> Rule:
        """The rule for the code, as this kind of client means it."""
        code = self.rule_code
        if self.yixin and code in YIXIN_RULES:
            return YIXIN_RULES[code]
        if code & RENJU:
            return Rule.RENJU
        if code & CARO:
            return Rule.CARO_EXACT if code & EXACT else Rule.CARO
        return Rule.STANDARD if code & EXACT else Rule.FREESTYLE

    def update(self, text: str, elapsed: float = 0.0) -> None:
        """Process an INFO line, ``elapsed`` seconds into the search that is running, if any.

        A number may be an integer, 300.0, 5e5, or too large for 64 bits.
        """
        key, number, *_ = (*text.lower().split(), "", "")
        self.yixin = self.yixin or key in YIXIN_KEYS
        try:
            value = round(min(max(float(number), -HUGE), HUGE))
        except ValueError:  # not a number, or NaN
            return
        name, setting_of = KEYS.get(key, ("", int))
        setting = setting_of(value)
        if name and setting is not None:
            setattr(self, name, setting)
        if key == "time_left":
            self.spent = -round(elapsed * 1000)  # the end of the move will add it

    def spend(self, elapsed: float) -> None:
        """Subtract the time of a move from the match, for managers that do not send time_left."""
        self.spent += round(elapsed * 1000) - self.increment


YIXIN_KEYS = frozenset(
    ("show_detail", "caution_factor", "pondering", "start_depth", "vcthread", "usedatabase",
     "thread_split_depth", "nbestsym", "swapable", "strength", "checkmate")
)  # fmt: skip

_natural = partial(max, 0)
# For each key its attribute and the conversion of its value; None leaves the attribute unchanged.
KEYS: dict[str, tuple[str, Callable[[int], int | None]]] = {
    "timeout_turn": ("turn", int),
    "timeout_match": ("match", _natural),
    "time_left": ("left", int),
    "time_increment": ("increment", _natural),
    "max_memory": ("memory", lambda value: value if value > 0 else DEFAULT_MEMORY),
    "hash_size": ("hash_size", lambda kilobytes: max(kilobytes, 0) * 1024),
    "thread_num": ("threads", lambda value: min(max(value, 1), MAX_THREADS)),
    "max_depth": ("max_depth", _natural),
    "max_node": ("max_nodes", _natural),
    "show_detail": ("show_detail", lambda value: value if 0 <= value <= 3 else 0),
    "strength": ("strength", lambda value: min(max(value, 0), FULL_STRENGTH)),
    "row_first": ("row_first", lambda value: value == 1),
    "rule": ("rule_code", lambda code: code if 0 <= code < RENJU + CARO else None),
    "swapable": ("swapable", lambda value: value == 1),
}
