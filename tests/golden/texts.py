"""Storage of recorded texts: in short lines, with repetitions only once.

A line of more than ``WIDTH`` characters goes on behind ``↪``, and ends in ``⋯`` where the last line
that began so goes on in the same way. ``⋮ 12`` stands for twelve lines that follow here as they did
where the line above was last. ``¶`` ends a line whose next one stands behind it: a status, a move
of an SGF file, nothing. Those who make and compare records see none of that: what ``kept`` makes of
a text is read back by ``whole``.

Of lines that nobody reads to their end, and of pictures that another record has, their makers keep
the beginning, the length and a checksum: ``brief``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import takewhile
from zlib import crc32

WIDTH = 120
FEWEST = 2  # lines that come again; fewer stand there
BEGINNING = 72  # characters of a long line that comes again
MORE, AGAIN, SO_ON, END = "↪", "⋮ ", "⋯", "¶"
BEHIND = re.compile(r"(?m)\n(?= *status \d+$| *;[BW]\[|\n[ a-z])")  # what stands behind a line
START_AGAIN, FEW = 24, 40  # characters of a text that was said before; of one that is said again
LONGEST = 2 * WIDTH - 30  # characters of a line that is kept whole
START = WIDTH - 40  # characters that are kept of a longer one, which stands in one line then


def parts(line: str) -> Iterator[str]:
    """Yield a long line in parts, which end between words where they can."""
    while len(line) > WIDTH:
        ends = (line.rfind(sign, WIDTH // 2, WIDTH - 2) for sign in (END, " / ", " ", ","))
        end = next((end for end in ends if end > 0), WIDTH)
        yield line[:end]
        line = MORE + line[end:]
    yield line


def kept(text: str) -> str:
    """Return a text in the form of its file."""
    lines = BEHIND.sub(END, text).split("\n")
    found: list[str] = []
    last: dict[str, int] = {}
    known: dict[str, str] = {}  # the last long line with this beginning
    number = 0
    while number < len(lines):
        line = lines[number]
        beginning = line[:BEGINNING]
        is_known = len(line) > WIDTH and known.get(beginning) == line
        found += [beginning + SO_ON] if is_known else parts(line)
        known[beginning] = line
        before, last[line] = last.get(line), number
        number += 1
        if before is not None:
            pairs = zip(lines[before + 1 :], lines[number:], strict=False)
            same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
            same = min(same, number - 1 - before)
            if same >= FEWEST:
                found.append(f"{AGAIN}{same}")
                last |= {lines[at]: at for at in range(number, number + same)}
                known |= {each[:BEGINNING]: each for each in lines[number : number + same]}
                number += same
    return "\n".join(found)


def whole(text: str) -> str:
    """Return the text that a file was made from."""
    lines: list[str] = []
    last: dict[str, int] = {}  # where a line was before the last one
    here: dict[str, int] = {}
    known: dict[str, str] = {}

    def add(line: str) -> None:
        if line in here:
            last[line] = here[line]
        here[line] = len(lines)
        known[line[:BEGINNING]] = line
        lines.append(line)

    for line in text.replace(f"\n{MORE}", "").split("\n"):
        if line.startswith(AGAIN):
            first = last[lines[-1]] + 1
            for each in lines[first : first + int(line.removeprefix(AGAIN))]:
                add(each)
        else:
            add(known[line[:BEGINNING]] if line.endswith(SO_ON) else line)
    return "\n".join(lines).replace(END, "\n")


def brief(text: str) -> str:
    """Return a text with the beginning, the length and a checksum of each very long line."""
    return "\n".join(
        line
        if len(line) <= LONGEST
        else f"{line[:START]} ... {len(line)} characters, {crc32(line.encode()):08x}"
        for line in text.split("\n")
    )


def again(text: str, known: dict[str, str]) -> str:
    """Return a text, or no more than its beginning if it is long and was the last with that."""
    beginning = text[:START_AGAIN]
    is_known = len(text) > FEW and known.get(beginning) == text
    known[beginning] = text
    return f"{beginning}…" if is_known else text


def first(lines: list[str], most: int) -> list[str]:
    """Return the first of many lines, and the number and a checksum of the others."""
    others = lines[most:]
    checksum = f"{crc32(''.join(others).encode()):08x}"
    return lines[:most] + ([f"{len(others)} more, {checksum}"] if others else [])


def brief_page(text: str) -> str:
    """Return a page as lines, one per table row, with a checksum for each picture."""

    def picture(found: re.Match[str]) -> str:
        return f"<svg {found[0].count('<') - 2} elements, {crc32(found[0].encode()):08x}/>"

    text = re.sub("(?s)<svg .*?</svg>", picture, text)
    text = re.sub("(?s)<script>.*?</script>", "<script/>", text)
    return re.sub("><(?!/?t[dh]|/tr|/a>|/span)", ">\n<", text)


def joined(lines: Iterable[str], *words: str) -> list[str]:
    """Return lines of which those that follow each other and begin with the same of some words
    stand in one, with the word once."""
    found: list[str] = []
    last = None
    for line in lines:
        word = next((word for word in words if line.startswith(word)), None)
        if word is not None and word == last and len(found[-1]) + len(line) < WIDTH:
            found[-1] += f"; {line.removeprefix(word).lstrip()}"
        else:
            found.append(line)
        last = word
    return found


def filled(lines: Iterable[str]) -> list[str]:
    """Return lines of which those that begin with a moment stand in one where they are short."""
    found = [""]
    for line in lines:
        moments = line[:1].isdigit() and found[-1][:1].isdigit()
        if moments and len(found[-1]) + len(line) < WIDTH:
            found[-1] += f" / {line}"
        else:
            found.append(line)
    return found[1:]
