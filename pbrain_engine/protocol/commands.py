"""What a manager can say: bytes become lines of bounded length, and lines commands.

Reading is total: every line becomes a command, if only ``Unknown`` or ``Malformed``, and
none has an effect here. Commands with a body (``BOARD`` up to ``DONE``) may come on one
line or on many, so a ``CommandReader`` keeps the body that is being collected.
"""

from __future__ import annotations

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


class PlacedStone(NamedTuple):
    """A line of a body; ``field`` is None where the line has only two numbers."""

    x: int
    y: int
    field: int | None = None


class Command(NamedTuple):
    """A command by its name: its numbers, or the stones of its body and how many were ``bad``."""

    name: str
    numbers: tuple[int, ...] = ()
    stones: tuple[PlacedStone, ...] = ()
    bad: int = 0


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


Said = Command | Info | Malformed | Unknown

# Commands on one line: how many numbers they take, at least and at most, and that in words.
_FORMS = (
    (0, 0, "no argument", (
        "ABOUT", "BEGIN", "END", "RESTART", "STOP",
        "YXBLOCKRESET", "YXHASHCLEAR", "YXSEARCHDEFEND", "YXSHOWFORBID", "YXSHOWINFO", "YXSTOP",
        "YXSWAP2STEP1", "YXSWAP2STEP2", "YXSWAP2STEP3",
    )),
    (1, 1, "a number", ("YXBALANCEONE", "YXBALANCETWO", "YXNBEST")),
    (1, 2, "a size, like START 20 or RECTSTART 20,15", ("START", "RECTSTART")),
    (2, 2, "a cell, like TURN 7,8", ("TURN", "PLAY", "TAKEBACK")),
)  # fmt: skip
_SIMPLE = {name: (least, most, words) for least, most, words, names in _FORMS for name in names}
_BODIES = ("BOARD", "YXBOARD", "SWAP2BOARD", "YXBLOCK", "YXBLOCKUNDO")
_KNOWN = frozenset(("INFO", *_BODIES, *_SIMPLE))
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
    """Return the first word of a text and what follows it, without the white space between."""
    word, rest, *_ = (*text.split(None, 1), "", "")
    return word, rest


def read_simple(name: str, rest: str) -> Said | None:
    """Return the command on one line, or None if it has a body or is not known."""
    if name == "INFO":
        key, value = behead(rest)
        return Info(key.lower(), value)
    if name not in _SIMPLE:
        return None
    values = [] if name in _LENIENT else numbers(rest)
    least, most, words = _SIMPLE[name]
    if values is None or not least <= len(values) <= most:
        return Malformed(f"{name} takes {words}")
    return Command(name, tuple(values))


class CommandReader:
    """Turns lines into commands; remembers only a body that is not complete yet."""

    def __init__(self) -> None:
        """Start outside of any body."""
        self._name = ""  # of the command whose body is being collected
        self._stones: list[PlacedStone] = []
        self._bad = 0
        self._foreign_body = False  # the lines of an unknown extension are coming
        self._foreign_file = False  # its next line is a file name

    def read(self, line: str) -> list[Said]:
        """Return the commands that this line completes: mostly one, at times none or two."""
        if line == TOO_LONG:
            self._name = ""
            return [Malformed("line too long")]
        word, rest = behead(line)
        name = word.upper()
        if self._name and name not in ("INFO", "ABOUT"):
            if name not in _KNOWN:
                return self._collect(line)
            broken, self._name = self._name, ""
            return [Malformed(f"{broken} without DONE"), *self.read(line)]
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

    def _collect(self, text: str) -> list[Said]:
        words = text.split()
        if len(words) > 1 and not all("," in w or w.upper() == "DONE" for w in words):
            # One stone with spaces inside: "7, 8, 1", and perhaps a DONE after it.
            done = [w for w in words[-1:] if w.upper() == "DONE"]
            words = [",".join(w.strip(",") for w in words[: len(words) - len(done)]), *done]
        for word in words:
            if word.upper() == "DONE":
                name, self._name = self._name, ""
                return [Command(name, (), tuple(self._stones), self._bad)]
            values = numbers(word)
            if values is None or not 2 <= len(values) <= 3 or len(self._stones) >= MAX_BODY:
                self._bad += 1
            else:
                self._stones.append(PlacedStone(*values))
        return []
