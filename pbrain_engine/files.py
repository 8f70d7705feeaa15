"""Files: atomic writes, locks, size limits, text in any encoding; and JSON."""

from __future__ import annotations

import codecs
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from math import isnan
from typing import IO, TYPE_CHECKING, Any, AnyStr, TypeAlias

from .errors import FileError, printable

if TYPE_CHECKING:
    from pathlib import Path  # saves 10 ms at start

# Any value of JSON, and an object to be written.
Json: TypeAlias = "Mapping[str, Json] | Sequence[Json] | str | float | bool | None"
Document: TypeAlias = dict[str, Json]
CONTROLS = re.compile(r"[\0-\x08\x0e-\x1f]")  # which no text has
DIGITS = 6  # of a measured number

MOST_BYTES = 256 << 20  # of a file read as a whole
MOST_LINE = 16 << 20  # characters
_PART = 1 << 20  # bytes to read at once

_NAMED = re.compile(rb"CA\s*\[\s*(?:x-)?([A-Za-z0-9._-]+)\s*\]", re.IGNORECASE)
_HEAD = 2000  # bytes that are searched for the name of an encoding
_WIDER = {  # what files have that name less
    "gb2312": "gb18030", "gbk": "gb18030", "big5": "cp950", "euc_kr": "cp949",
    "shift_jis": "cp932",
}  # fmt: skip
_TWO_BYTES = "cp932", "gb18030"  # of encodings whose letters may end with a bracket or backslash
_SWALLOWED = re.compile(rb"[\x81-\xfe]\\\]")  # a bracket, if that is the end of a letter
_ESCAPED = re.compile(r"\\.", re.DOTALL)
_HALF_WIDE = re.compile("[\uff61-\uff9f]")  # what Chinese looks like in Shift_JIS


def rounded(document: Document) -> Document:
    """Return a document with real numbers rounded, None for nan."""
    numbers = {key: value for key, value in document.items() if isinstance(value, float)}
    return document | {k: None if isnan(x) else round(x, DIGITS) for k, x in numbers.items()}


def user_path(name: str) -> Path:
    """Return a path that the user named, which may begin with ``~``; FileError for no name.

    Unlike ``Path.expanduser``, it accepts ``~nobody`` and a user without a home.
    """
    from pathlib import Path

    if not name:
        raise FileError("'' names no file")
    return Path(os.path.expanduser(name))


def state_folder() -> Path:
    """Return the folder for the user's persistent data."""
    from pathlib import Path

    home = os.path.expanduser("~")
    if home == "~":  # a user without a home, say in a container
        home = os.sep
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA") or home) / "numoku"
    state = os.environ.get("XDG_STATE_HOME") or os.path.join(home, ".local", "state")
    return Path(state) / "numoku"


@contextmanager
def in_place_of(path: Path) -> Iterator[Path]:
    """Yield a path to write to; the file written there replaces ``path`` at the end.

    On failure, ``path`` is unchanged and the new file is removed. If ``path`` exists but is not a
    regular file, such as a pipe, it is yielded itself.
    """
    is_regular = path.is_file() or not path.exists()
    path = path.resolve() if is_regular else path
    part = path.with_name(path.name + ".part") if is_regular else path
    try:
        yield part
        if is_regular:
            with suppress(OSError):  # no old file, or a system without modes
                part.chmod(path.stat().st_mode)  # keeps the permissions
            part.replace(path)
    except OSError as error:
        if error.filename in (str(part), None):  # of a full disk: none
            error.filename = str(path)  # the user knows only this name
        raise
    finally:
        if is_regular:
            with suppress(OSError):  # there is none, or no folder for it
                part.unlink()


def write_whole(path: Path, text: str) -> None:
    """Write a text to a file; OSError if that fails, with the file unchanged."""
    with in_place_of(path) as part:
        part.write_text(text, encoding="utf-8")


def check_target(target: Path | None, sources: Iterable[Path]) -> None:
    """Raise FileError if the target cannot be written, so that long work does not start in vain.

    The target must not be one of the sources or a folder, and its folder must be writable.
    """
    if target is None:
        return
    path = target.resolve()
    if path in {source.resolve() for source in sources}:
        raise FileError(f"{target} is read; name another file to write")
    if path.exists() and not path.is_file():
        is_possible = not path.is_dir()  # say, a pipe
    else:
        is_possible = path.parent.is_dir() and os.access(path.parent, os.W_OK)
    if not is_possible:
        raise FileError(f"{target}: no file can be written there")


def read_object(text: str | bytes) -> dict[str, Any]:
    """Return the object in a JSON text; ValueError if there is none."""
    try:
        found = json.loads(text, parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise ValueError(f"this is not JSON: byte {error.start + 1} is not UTF-8") from None
    except ValueError as error:
        reason = str(error).partition(";")[0]  # of many digits, what Python advises programmers
        raise ValueError(f"this is not JSON: {reason}") from None
    except RecursionError:
        raise ValueError("this has too many nested brackets") from None
    if not isinstance(found, dict):
        raise ValueError("this is not a JSON object in braces")
    return found


_KINDS = {
    bool: "true or false", int: "a whole number", float: "a number", str: "a text", list: "a list",
    dict: "an object",
}  # fmt: skip


def check_kinds(found: Mapping[str, Any], kinds: Mapping[str, type]) -> None:
    """Raise ValueError about the first field of a JSON object that is not of its kind."""
    for name, kind in kinds.items():
        is_whole = kind is float and type(found.get(name)) is int
        if type(found.get(name)) is not kind and not is_whole:
            raise ValueError(f"{name!r} is not {_KINDS[kind]}")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number")


# Reading --------------------------------------------------------------------------------


def read_whole(path: str | Path, most: int = MOST_BYTES, start: bytes = b"") -> bytes:
    """Return the bytes of a file, or only the first few if it does not begin with ``start``.

    FileError if it has more than ``most`` bytes.
    """
    with open(path, "rb") as file:
        first = file.read(len(start))
        return first + read_stream(file, str(path), most) if first == start else first


def read_stream(file: IO[bytes], name: str, most: int = MOST_BYTES) -> bytes:
    """Return the rest of an open file; FileError if it has more than ``most`` bytes."""
    parts, count = [], 0
    while part := file.read(_PART):
        parts.append(part)
        count += len(part)
        if count > most:
            raise FileError(f"{name} is too large: more than {most >> 20} MB are not read")
    return b"".join(parts)


def read_lines(file: IO[AnyStr], name: str) -> Iterator[AnyStr]:
    """Yield the lines of an open file with their ends; FileError if one is too long."""
    while line := file.readline(MOST_LINE + 1):
        if len(line) > MOST_LINE:
            raise FileError(f"{name} has a line of more than {MOST_LINE >> 20} MB")
        yield line


# Texts ----------------------------------------------------------------------------------


def decode(data: bytes) -> str:
    r"""Decode a game file by the encoding that it names, else as UTF-8, else as Latin-1.

    An SGF file may name its encoding (``CA[GBK]``); other files do not. Cells are ASCII in all of
    them, so a misread name harms no game. All line ends become ``\n``, so that texts compare.
    """
    return next(decodings(data))


def decodings(data: bytes) -> Iterator[str]:
    """Yield a game file as text, decoded like ``decode``, and then in other ways that are possible.

    Where it names no encoding, only two-byte ones may tell the brackets of SGF from letters.
    """
    return (text.replace("\r\n", "\n").replace("\r", "\n") for text in _letters(data))


def _letters(data: bytes) -> Iterator[str]:
    if data.startswith(codecs.BOM_UTF8):
        yield data.decode("utf-8-sig", errors="replace")
        return
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        yield data.decode("utf-16", errors="replace")
        return
    named = _NAMED.search(data[:_HEAD])
    for encoding in ([named[1].decode("ascii").lower()] if named else []) + ["utf-8"]:
        with suppress(LookupError, ValueError):  # an unknown or wrong encoding
            yield data.decode(_WIDER.get(codecs.lookup(encoding).name, encoding))
            return
    western = data.decode("latin-1")
    if not (swallows := _SWALLOWED.search(data)):
        yield western
    for encoding in _TWO_BYTES:
        with suppress(UnicodeDecodeError):
            bare = _ESCAPED.sub("", text := data.decode(encoding))
            if not _HALF_WIDE.search(text) and bare.count("[") == bare.count("]"):
                yield text  # no letter has swallowed a bracket
    if swallows:
        yield western


def shown(text: str, most: int = 60) -> str:
    """Return a text shortened and made printable for a message."""
    return printable(text if len(text) <= most else text[: most - 3] + "...")


def is_writable(text: str) -> bool:
    """Return whether a text can be encoded: texts from JSON may have unpaired surrogates."""
    return not re.search("[\ud800-\udfff]", text)


# Locks between processes; the system frees a lock when its holder dies. The file itself is the
# lock, without the package ``filelock`` and its extra file.

# A lock on Windows also blocks readers, so it is put beyond the end of any file.
_FAR = 1 << 40


def try_lock(file: IO[bytes]) -> bool:
    """Try to lock an open file; return whether that worked. Closing the file unlocks it."""
    if sys.platform == "win32":
        import msvcrt

        place = file.tell()
        file.seek(_FAR)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            file.seek(place)
    else:
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


@contextmanager
def hold_lock(path: str, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold the lock on a file; ``on_wait`` is called once if another process has it."""
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT), "r+b") as file:
        if not try_lock(file):
            on_wait()
            while not try_lock(file):
                time.sleep(0.05)
        yield
