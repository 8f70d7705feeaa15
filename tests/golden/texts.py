"""How recorded texts are kept in files: in short lines, and what comes again only once.

A line of more than ``WIDTH`` characters goes on behind ``↪``, and ends in ``⋯`` where the last line
that began so goes on in the same way. ``⋮ 12`` stands for twelve lines that follow here as they did
where the line above was last. Those who make and compare records see none of that: what ``kept``
makes of a text is read back by ``whole``.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

WIDTH = 112
FEWEST = 2  # lines that come again; fewer stand there
BEGINNING = 72  # characters of a long line that comes again
MORE, AGAIN, SO_ON = "↪", "⋮ ", "⋯"


def parts(line: str) -> Iterator[str]:
    """Yield a long line in parts, which end between words where they can."""
    while len(line) > WIDTH:
        ends = (line.rfind(sign, WIDTH // 2, WIDTH - 2) for sign in (" / ", " ", ","))
        end = next((end for end in ends if end > 0), WIDTH)
        yield line[:end]
        line = MORE + line[end:]
    yield line


def kept(text: str) -> str:
    """Return a text as its file has it."""
    lines = text.split("\n")
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
    """Return the text that a file has been made of."""
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
    return "\n".join(lines)


def read(path: Path) -> str:
    """Return the recorded text of a file."""
    return whole(path.read_text(encoding="utf-8"))


def write(path: Path, text: str) -> None:
    """Record a text in a file."""
    path.write_text(kept(text), encoding="utf-8")
