"""What a manager can say: bytes become lines of bounded length, and lines commands.

Reading is total: every line becomes a command, if only ``Unknown`` or ``Malformed``, and
none has an effect here. Commands with a body (``BOARD`` up to ``DONE``) may come on one
line or on many, so a ``CommandReader`` keeps the body that is being collected.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

MAX_LINE = 16_384  # twice what managers allow; a whole 22x22 BOARD on one line has 4,000
TOO_LONG = "\0"  # stands for a line that was longer; no real line keeps its NULs


class LineBuffer:
    """Takes any chunks and returns the lines that are complete; ends with CR, LF or both."""

    def __init__(self) -> None:
        """Start with nothing buffered."""
        self._rest = b""
        self._overlong = False

    def feed(self, chunk: bytes) -> list[str]:
        """Return the lines which this chunk completes; blank ones are left out."""
        *complete, rest = (self._rest + chunk).replace(b"\r", b"\n").split(b"\n")
        lines = []
        for raw in complete:
            is_overlong, self._overlong = self._overlong or len(raw) > MAX_LINE, False
            line = TOO_LONG if is_overlong else raw.replace(b"\0", b" ").decode("latin-1").strip()
            if line:
                lines.append(line)
        if len(rest) > MAX_LINE:
            self._overlong = True
            rest = b""
        self._rest = rest
        return lines

    def close(self) -> list[str]:
        """Return what stands unfinished at the end of the stream."""
        return self.feed(b"\n")


class Word(Enum):
    """Commands that consist of their name alone."""

    ABOUT = "ABOUT"
    BEGIN = "BEGIN"
    RESTART = "RESTART"
    END = "END"
    STOP = "STOP"
    YXSTOP = "YXSTOP"
    YXSHOWINFO = "YXSHOWINFO"
    YXSHOWFORBID = "YXSHOWFORBID"
    YXHASHCLEAR = "YXHASHCLEAR"
    YXBLOCKRESET = "YXBLOCKRESET"
    YXSEARCHDEFEND = "YXSEARCHDEFEND"
    YXSWAP2STEP1 = "YXSWAP2STEP1"
    YXSWAP2STEP2 = "YXSWAP2STEP2"
    YXSWAP2STEP3 = "YXSWAP2STEP3"


class Start(NamedTuple):
    """``START n``, ``START w h`` or ``RECTSTART w,h``."""

    width: int
    height: int


class Turn(NamedTuple):
    """``TURN x,y``: the opponent's move."""

    x: int
    y: int


class Play(NamedTuple):
    """``PLAY x,y``: the manager makes our move for us."""

    x: int
    y: int


class Takeback(NamedTuple):
    """``TAKEBACK x,y``: the last stone goes."""

    x: int
    y: int


class PlacedStone(NamedTuple):
    """A line of a body; ``field`` is None where the line has only two numbers."""

    x: int
    y: int
    field: int | None = None


class Board(NamedTuple):
    """``BOARD`` (think) or ``YXBOARD`` (only set up); ``bad`` lines could not be read."""

    stones: tuple[PlacedStone, ...]
    bad: int
    think: bool


class Swap2Board(NamedTuple):
    """``SWAP2BOARD``: stones in the order they were played."""

    stones: tuple[PlacedStone, ...]
    bad: int


class BlockCells(NamedTuple):
    """``YXBLOCK`` or ``YXBLOCKUNDO``: cells that are (not) left out of the search."""

    cells: tuple[PlacedStone, ...]
    bad: int
    on: bool


class Nbest(NamedTuple):
    """``YXNBEST n``: search for the n best moves, then play the best."""

    wanted: int


class Balance(NamedTuple):
    """``YXBALANCEONE b`` or ``YXBALANCETWO b``: stones that bring the value to b."""

    stones: int
    bias: int


class Info(NamedTuple):
    """``INFO key value``; the key in lower case."""

    key: str
    value: str


class Malformed(NamedTuple):
    """A known command with arguments that make no sense."""

    reason: str


class Unknown(NamedTuple):
    """Anything else."""

    text: str


Command = (
    Word | Start | Turn | Play | Takeback | Board | Swap2Board | BlockCells | Nbest | Balance | Info
    | Malformed | Unknown
)  # fmt: skip

_BODIES = ("BOARD", "YXBOARD", "SWAP2BOARD", "YXBLOCK", "YXBLOCKUNDO")
_POINTS: dict[str, type[Turn] | type[Play] | type[Takeback]] = {
    "TURN": Turn,
    "PLAY": Play,
    "TAKEBACK": Takeback,
}
_WORDS = {word.value: word for word in Word}
_KNOWN = frozenset((*_BODIES, *_POINTS, *_WORDS, "START", "RECTSTART", "INFO", "YXNBEST",
                    "YXBALANCEONE", "YXBALANCETWO"))  # fmt: skip
_LENIENT = ("ABOUT", "END", "STOP", "YXSTOP")  # better obeyed than disputed

# Extensions we have not got: what follows their name belongs to them and is not answered.
_FOREIGN_BODY = ("DATABASE", "YXBLOCKPATH", "YXSOOSORV", "YXFORBID")
_FOREIGN_FILE = ("YXSETDATABASE", "YXHASHDUMP", "YXHASHLOAD", "YXDBTO", "YXTXTTODB", "YXLIBTODB",
                 "YXPOSTODB", "YXDBSPLIT", "YXDBMERGE")  # fmt: skip

MAX_DIGITS = 19  # of a 64-bit number
MAX_BODY = 4_096  # lines of a body that are kept; the biggest board has 484 cells


def number(text: str) -> int | None:
    """Return the decimal number, or None if it is none or too long for 64 bits."""
    digits = text[1:] if text[:1] in ("-", "+") else text
    if not digits.isdecimal() or not digits.isascii() or len(digits) > MAX_DIGITS:
        return None
    return int(text)


def numbers(text: str) -> list[int] | None:
    """Return the numbers between white space and commas, or None if anything else is there."""
    found = []
    for word in text.replace(",", " ").split():
        value = number(word)
        if value is None:
            return None
        found.append(value)
    return found


def behead(text: str) -> tuple[str, str]:
    """Return the first word of a text and what follows it, without the white space around."""
    words = text.split(None, 1)
    return (words[0] if words else "", words[1].rstrip() if len(words) > 1 else "")


def read_simple(name: str, rest: str) -> Command | None:
    """Return the command on one line, or None if it has a body or is not known."""
    if name == "INFO":
        key, value = behead(rest)
        return Info(key.lower(), value)
    if name in _WORDS:
        if rest and name not in _LENIENT:
            return Malformed(f"{name} takes no argument")
        return _WORDS[name]
    values = numbers(rest)
    if name in _POINTS:
        if values is None or len(values) != 2:
            return Malformed(f"{name} takes a cell, like {name} 7,8")
        return _POINTS[name](values[0], values[1])
    if name in ("START", "RECTSTART"):
        if values is None or not 1 <= len(values) <= 2:
            return Malformed(f"{name} takes a size, like START 20 or RECTSTART 20,15")
        return Start(values[0], values[-1])
    if name in ("YXNBEST", "YXBALANCEONE", "YXBALANCETWO"):
        if values is None or len(values) != 1:
            return Malformed(f"{name} takes a number")
        if name == "YXNBEST":
            return Nbest(values[0])
        return Balance(1 if name == "YXBALANCEONE" else 2, values[0])
    return None


def build(name: str, stones: tuple[PlacedStone, ...], bad: int) -> Command:
    """Return the command whose body has been collected."""
    if name == "SWAP2BOARD":
        return Swap2Board(stones, bad)
    if name in ("YXBLOCK", "YXBLOCKUNDO"):
        return BlockCells(stones, bad, name == "YXBLOCK")
    return Board(stones, bad, name == "BOARD")


class CommandReader:
    """Turns lines into commands; remembers only a body that is not complete yet."""

    def __init__(self) -> None:
        """Start outside of any body."""
        self._name = ""  # of the command whose body is being collected
        self._stones: list[PlacedStone] = []
        self._bad = 0
        self._foreign_body = False  # the lines of an unknown extension are coming
        self._foreign_file = False  # its next line is a file name

    def read(self, line: str) -> list[Command]:
        """Return the commands that this line completes: mostly one, at times none or two."""
        if line == TOO_LONG:
            self._name = ""
            return [Malformed("line too long")]
        word, rest = behead(line)
        name = word.upper()
        if self._name:
            return self._read_in_body(name, rest, line)
        if self._belongs_to_foreign(name, line):
            return []
        if name in _BODIES:
            self._name, self._stones, self._bad = name, [], 0
            return self._collect(rest)
        command = read_simple(name, rest)
        if command is not None:
            return [command]
        self._foreign_body = name.startswith("YX") and any(m in name for m in _FOREIGN_BODY)
        self._foreign_file = not rest and name.startswith(_FOREIGN_FILE)
        return [Unknown(line)]

    def _read_in_body(self, name: str, rest: str, line: str) -> list[Command]:
        if name in ("INFO", "ABOUT"):
            command = read_simple(name, rest)
            return [command] if command is not None else []
        if name in _KNOWN:
            broken, self._name = self._name, ""
            return [Malformed(f"{broken} without DONE"), *self.read(line)]
        return self._collect(line)

    def _belongs_to_foreign(self, name: str, line: str) -> bool:
        if name in _KNOWN or name.startswith("YX"):
            self._foreign_body = self._foreign_file = False
            return False
        if self._foreign_file:
            self._foreign_file = False
            return True
        if self._foreign_body:
            self._foreign_body = name != "DONE"
            return name == "DONE" or numbers(line) is not None
        return False

    def _collect(self, text: str) -> list[Command]:
        words = text.split()
        if len(words) > 1 and not all("," in w or w.upper() == "DONE" for w in words):
            # One stone with spaces inside: "7, 8, 1", and perhaps a DONE after it.
            done = [w for w in words[-1:] if w.upper() == "DONE"]
            words = [",".join(w.strip(",") for w in words[: len(words) - len(done)]), *done]
        for word in words:
            if word.upper() == "DONE":
                name, self._name = self._name, ""
                return [build(name, tuple(self._stones), self._bad)]
            values = numbers(word)
            if values is None or not 2 <= len(values) <= 3 or len(self._stones) >= MAX_BODY:
                self._bad += 1
            else:
                self._stones.append(PlacedStone(*values))
        return []
