"""Self-play by tree search: games with their policies, made again and continued byte for byte."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from pbrain_engine.learn import datagen
from pbrain_engine.learn.policy_records import (
    SHARES,
    Lessons,
    decode,
    encode,
    policies_path,
    policy_of,
    read_taught_games,
)
from pbrain_engine.learn.records import GameFile, GamesError, read_games


def make(path: Path, games: int, visits: int = 24) -> None:
    words = [str(path), "--games", str(games), "--boards", "9", "--processes", "1"]
    words += ["--search", "mcts", "--visits", str(visits)]
    assert datagen.main(words) == 0


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("taught") / "games.numoku"
    make(path, 3)
    return path


def test_a_record_comes_back_as_it_was() -> None:
    lessons = Lessons(7, (((3, 60000), (5, 5535)), (), ((224, SHARES),)))
    data = encode(lessons)
    assert decode(b"xx" + data, 2) == (lessons, 2 + len(data))
    assert decode(data[:-1], 0) is None
    with pytest.raises(GamesError, match="damaged"):
        decode(data[:8] + b"\xff" + data[9:], 0)


def test_shares_are_kept_largest_first() -> None:
    assert policy_of([(4, 0.25), (9, 0.75), (2, 1e-9)]) == ((9, 49151), (4, 16384))


def test_every_position_after_the_opening_has_its_policy(games: Path) -> None:
    taught = list(read_taught_games(games))
    assert len(taught) == 3
    for record, lessons in taught:
        stones = set(record.moves[: record.opening])
        for move, policy in zip(record.moves[record.opening :], lessons.policies, strict=True):
            cells = [cell for cell, _ in policy]
            assert cells and not stones.intersection(cells)
            assert abs(sum(share for _, share in policy) - SHARES) <= len(policy)
            stones.add(move)


def test_the_games_are_an_ordinary_file(games: Path) -> None:
    assert [record.number for record in read_games(games)] == [0, 1, 2]


def test_an_interrupted_file_is_continued_byte_for_byte(games: Path, tmp_path: Path) -> None:
    parts = tmp_path / "parts"
    make(parts, 1)
    beside = policies_path(parts)
    beside.write_bytes(beside.read_bytes() + b"cut off")  # of a game that was never written
    make(parts, 3)
    assert parts.read_bytes() == games.read_bytes()
    assert beside.read_bytes() == policies_path(games).read_bytes()


def test_a_machine_that_stops_at_any_game_leaves_the_policies_of_those_it_has(
    games: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of games may be on the disk up to its last write, of others what was synced."""
    path = tmp_path / "games"
    kept: dict[int, int] = {}  # bytes on the disk, by inode
    fsync, append = os.fsync, GameFile.append

    def synced(number: int) -> None:
        fsync(number)
        kept[os.fstat(number).st_ino] = os.fstat(number).st_size

    def stopped(file: GameFile, *records: Any) -> None:
        append(file, *records)
        copy = tmp_path / f"after {file.games}"
        copy.write_bytes(path.read_bytes())
        beside = policies_path(path)
        policies_path(copy).write_bytes(beside.read_bytes()[: kept.get(beside.stat().st_ino, 0)])
        assert len(list(read_taught_games(copy))) == file.games

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(GameFile, "append", stopped)
    make(path, 3)
    assert policies_path(path).read_bytes() == policies_path(games).read_bytes()


def test_files_that_do_not_belong_together_are_refused(games: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_bytes(games.read_bytes())
    with pytest.raises(GamesError, match="cannot read"):
        list(read_taught_games(other))
    policies_path(other).write_bytes(policies_path(games).read_bytes()[:-3])
    with pytest.raises(GamesError, match="no policies of game 2"):
        list(read_taught_games(other))
    with pytest.raises(GamesError, match="made with"):
        make(games, 4, visits=25)
