"""Generated files of openings: even, distinct, the same every time, and read by a match."""

from __future__ import annotations

from itertools import islice

import pytest

from pbrain_engine import KernelError, cli
from pbrain_engine.arena.openings import generate, parse, read_lines
from pbrain_engine.position.geometry import Coordinates, transform

FAST = ["--nodes", "2000", "--balance", "80"]


def openings(*words: str, count: int = 6) -> list[list[Coordinates]]:
    return list(islice(generate(parse([*FAST, *words])), count))


def test_the_same_seed_gives_the_same_openings_however_many_threads():
    assert openings() == openings("--concurrency", "3")
    assert openings() != openings("--seed", "2")


def test_no_position_comes_twice_however_it_is_turned_or_reached(monkeypatch):
    monkeypatch.setattr("pbrain_engine.arena.openings.engine_judge", lambda *_: len)
    monkeypatch.setattr("pbrain_engine.arena.openings.HOPELESS", 1500)
    assert len(openings("--board", "5", "--stones", "2", count=10_000)) == 85  # orbits of 600 pairs
    found = {
        frozenset((frozenset(image[0::2]), frozenset(image[1::2])) for image in images)
        for opening in openings("--board", "5", "--stones", "3", count=400)
        for images in [[transform(opening, number, 5, 5) for number in range(8)]]
    }
    assert len(found) == 400


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_file_is_read_as_editors_and_shells_write_it(tmp_path, encoding):
    path = tmp_path / "openings.txt"
    path.write_bytes("8,-3, 6,-4\r\n# h8\r\nh8i9 # Zentrum für beide\r\n".encode(encoding))
    assert read_lines(str(path)) == ("8,-3, 6,-4", "h8i9")


def test_a_line_that_is_no_opening_is_named_in_one_short_line(tmp_path, capsys):
    path = tmp_path / "openings"
    path.write_text("\x1b[31m no\x00opening" + 10_000 * " x" + "\n")
    words = ["random", "random", "--games", "2", "--no-journal", "--openings", str(path)]
    assert cli.main(["match", *words]) == 2
    error = capsys.readouterr().err
    assert "usable: \\x1b[31m no\\x00opening x x" in error and "x ...: move 1" in error
    assert error[:-1].isprintable() and len(error) < 300


def test_a_file_without_an_opening_is_not_left(tmp_path, monkeypatch, capsys):
    def fail(options):
        raise KernelError("there is no kernel")

    path = tmp_path / "openings.txt"
    monkeypatch.setattr("pbrain_engine.arena.openings.generate", fail)
    assert cli.main(["openings", str(path)]) == 1
    assert capsys.readouterr().err == "numoku: there is no kernel\n"
    assert not path.exists()
