"""Positions of games that are searched again: which ones, what is found, and that it repeats."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from pbrain_engine import Engine, Game, Limit, Rule, cli
from pbrain_engine.database.sources import SourceOptions, read_source
from pbrain_engine.game.record import STAGES, stage_name, stage_of
from pbrain_engine.game.result import Known
from pbrain_engine.learn.positions import Sources
from pbrain_engine.notation.games import (
    NO_VALUE,
    SINGLE,
    Ending,
    NodePlan,
    Record,
    encode,
    header,
    read_about,
    read_games,
)
from pbrain_engine.values import WIN_BAND

NODES = 300


def make(path: Path, *words: str) -> int:
    return cli.main(["datagen", str(path), "--weights", "hand", "--nodes", str(NODES), *words])


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("games") / "some.games"
    kinds = ["--rules", "freestyle,renju", "--boards", "15,9", "--branch-share", "0.2"]
    assert make(path, "--games", "8", "--processes", "1", *kinds) == 0
    return path


@pytest.fixture(scope="module")
def whole(games: Path) -> Path:
    path = games.with_name("whole")
    assert make(path, "--positions", str(games), "--processes", "1", "--multipv", "3") == 0
    return path


def key(record: Record) -> tuple[int, ...]:
    return record.number, *record.moves[: record.opening]


def test_every_position_with_a_value_is_searched_once(games, whole):
    wanted = {
        (record.number, *record.moves[:stones])
        for record in read_games(games)
        for stones in range(record.opening, len(record.moves))
    }
    found = list(read_games(whole))
    assert Counter(map(key, found)) == Counter(wanted)
    results = {game.number: game.result for game in read_games(games) if game.ending not in SINGLE}
    assert {record.ending for record in found} == {Ending.BRANCH, Ending.SEARCHED}
    for record in found:
        assert record.values[:-1] == (NO_VALUE,) * record.opening
        assert record.result == (results[record.number] if record.ending is Ending.SEARCHED else 0)


def test_the_first_line_is_what_a_fresh_search_finds_and_others_are_no_better(whole):
    several = 0
    for record in random.Random(3).sample(list(read_games(whole)), 30):
        with Engine(hash_size=1 << 20, weights="hand") as engine:
            engine.new_game(record.width, record.height, record.rule)
            for cell in record.moves[: record.opening]:
                engine.play(cell % record.width, cell // record.width)
            thought = engine.think(Limit(nodes=NODES))
        best = thought.move.y * record.width + thought.move.x, thought.value
        assert (record.moves[-1], record.values[-1]) == best
        if record.lines:
            cells, values = zip(*record.lines, strict=True)
            assert record.lines[0] == best and len(set(cells)) == len(cells) <= 3
            assert list(values) == sorted(values, reverse=True)
            assert not set(cells) & set(record.moves[: record.opening])
            several += 1
    assert several > 8


def test_an_interrupted_file_goes_on_and_processes_change_nothing(games, whole, tmp_path):
    raw, parts = whole.read_bytes(), tmp_path / "parts"
    words = ["--positions", str(games), "--multipv", "3", "--processes"]
    start = raw.index(b"\n\n") + 2
    for length in random.Random(8).sample(range(start, len(raw)), 3):
        parts.write_bytes(raw[:length])
        assert make(parts, *words, "1") == 0
        assert parts.read_bytes() == raw, length
    assert make(parts, *words, "1") == 0
    assert parts.read_bytes() == raw, "nothing is left to do"
    parts.unlink()
    assert make(parts, *words, "2") == 0
    assert parts.read_bytes() == raw


def test_a_file_of_other_positions_or_another_search_is_refused(games, whole, tmp_path, capsys):
    raw = whole.read_bytes()
    assert make(whole, "--positions", str(games), "--multipv", "2") == 1
    assert "was made with multipv 3, not 2" in capsys.readouterr().err
    other = tmp_path / games.name
    records = list(read_games(games))
    other.write_bytes(header(read_about(games)) + b"".join(map(encode, records[:-1])))
    assert make(whole, "--positions", str(other), "--multipv", "3") == 1
    assert "was made with positions some.games" in capsys.readouterr().err
    assert whole.read_bytes() == raw
    raw = games.read_bytes()
    assert make(games, "--positions", str(games)) == 1
    assert "some.games is read; name another file to write" in capsys.readouterr().err
    assert games.read_bytes() == raw


def test_a_sample_has_as_many_positions_of_each_kind_and_open_ones_alone(games, tmp_path):
    path = tmp_path / "sample"
    assert make(path, "--positions", str(games), "--count", "48", "--open", "--processes", "1") == 0
    found = list(read_games(path))
    assert len(found) == 48
    assert [each.number for each in found] == sorted(each.number for each in found)
    kinds = Counter((each.rule, each.width, stage_of(each.opening)) for each in found)
    assert len({kind[:2] for kind in kinds}) == 4
    assert max(kinds.values()) <= 48 // 12 + 2, "hardly more than the mean of those that there are"
    known = {
        (record.number, *record.moves[:n]): record.values[n]
        for record in read_games(games)
        for n in range(record.opening, len(record.moves))
    }
    for record in found:
        assert abs(known[key(record)]) < WIN_BAND
        game = Game(record.width, record.height, record.rule)
        for cell in record.moves[: record.opening]:
            game.play(cell % record.width, cell // record.width)
        assert not game.is_over
    more = tmp_path / "more"
    words = ["--positions", str(games), "--count", "48", "--open", "--processes", "1"]
    assert make(more, *words, "--seed", "2") == 0
    assert set(map(key, read_games(more))) != set(map(key, found))


def test_games_of_several_files_have_numbers_of_their_own(games, whole):
    sources = Sources([games, games, whole])
    numbers = {games_of.number for games_of in map(sources.__getitem__, range(len(sources)))}
    assert numbers == set(range(24))
    assert sum(1 for _ in Sources([whole]).places()) == len(list(read_games(whole)))
    positions = [(place.record, place.stones) for place in sources.places()]
    assert positions == sorted(positions)


def test_a_database_takes_their_values_and_no_game(games, tmp_path):
    path = tmp_path / "again"
    words = ["--positions", str(games), "--count", "20", "--nodes", "60@10,30", "--processes", "1"]
    assert make(path, *words) == 0
    known = list(read_source(str(path), SourceOptions()))
    for item, record in zip(known, read_games(path), strict=True):
        assert isinstance(item, Known)
        assert item.finding.value == record.values[-1]
        assert item.finding.nodes == (60 if record.opening < 10 else 30)


def test_options_of_samples_go_with_positions_and_those_of_play_without(games, tmp_path, capsys):
    path = tmp_path / "games"
    for words in ("--count 3", "--open", "--multipv 2"):
        assert make(path, *words.split()) == 2
        assert "go with --positions" in capsys.readouterr().err
    for words in ("--games 4", "--rules renju", "--boards 9", "--branch-share 0.2",
                  "--openings wild=1", "--full-share 0.1"):  # fmt: skip
        assert make(path, "--positions", str(games), *words.split(), "--processes", "1") == 2
        assert f"--positions goes without {words.split()[0]}" in capsys.readouterr().err
    assert not path.exists()


def test_stages_begin_at_their_stones():
    assert [stage_of(n) for n in (0, 9, 10, 19, 20, 39, 40, 399)] == [0, 0, 1, 1, 2, 2, 3, 3]
    names = [stage_name(stage) for stage in range(len(STAGES))]
    assert names == ["0-9", "10-19", "20-39", "40+"]


def test_what_was_found_is_forgotten_with_the_tables():
    """Else what a search says would depend on the positions that were searched before it."""
    with Engine(hash_size=1 << 20) as engine:
        for x, y in [(7, 7), (0, 0), (8, 7), (14, 0), (9, 7), (0, 14)]:
            engine.play(x, y)
        won = engine.think(Limit(nodes=1000))
        assert won.value >= WIN_BAND
        for move in won.pv[:2]:
            engine.play(*move)
        assert engine.quick_move() == won.pv[2]
        engine.clear_hash()
        assert engine._winning_moves.recall(engine.game) is None


def test_nodes_are_read_as_they_are_written_and_hold_before_their_stones():
    for text in ("1200", "12000@20,4800@40,1200", "50@7,10"):
        assert str(NodePlan.parse(text)) == text
    budget = NodePlan.parse("12000@20, 4800@40, 1200")
    found = [budget.at(stones) for stones in (0, 19, 20, 39, 40, 400)]
    assert found == [12000, 12000, 4800, 4800, 1200, 1200]
    assert budget.most == 12000 and NodePlan(30).at(0) == 30


@pytest.mark.parametrize(
    "text, problem",
    [
        ("", "a number such as"), ("12k", "a number such as"), ("100@20", "a number such as"),
        ("100@40,50@20,30", "have to rise"), ("100@20,50@20,30", "have to rise"),
        ("100@20,9", "10 or more"), ("9@20,100", "10 or more"), ("0", "10 or more"),
    ],
)  # fmt: skip
def test_nodes_that_make_no_sense_are_refused(text, problem, tmp_path, capsys):
    with pytest.raises(ValueError, match=problem):
        NodePlan.parse(text)
    with pytest.raises(SystemExit):
        cli.main(["datagen", str(tmp_path / "games"), "--nodes", text])
    assert problem in capsys.readouterr().err


def test_searches_of_games_and_positions_have_the_nodes_of_their_stones(
    games, tmp_path, monkeypatch
):
    asked = list[tuple[int, int | None]]()
    think, glance = Engine.think, Engine.search_nodes

    def noting_think(engine: Engine, limit: Limit, **more: object) -> object:
        asked.append((engine.game.ply, limit.nodes))
        return think(engine, limit, **more)

    def noting_glance(engine: Engine, nodes: int) -> object:
        asked.append((engine.game.ply, nodes))
        return glance(engine, nodes)

    monkeypatch.setattr(Engine, "think", noting_think)
    monkeypatch.setattr(Engine, "search_nodes", noting_glance)
    words = ["--nodes", "400@12,100@14,50", "--processes", "1"]
    assert make(tmp_path / "again", "--positions", str(games), *words) == 0
    for stones, nodes in asked:
        assert nodes == (400 if stones < 12 else 100 if stones < 14 else 50)
    asked.clear()
    assert make(tmp_path / "games", "--games", "3", *words) == 0
    for stones, nodes in asked:
        usual = 400 if stones < 12 else 100 if stones < 14 else 50
        assert nodes is not None
        assert nodes == usual // 10 or 0.75 * usual - 1 <= nodes <= 1.25 * usual
    assert {stones < 12 for stones, _ in asked} == {True, False}
    assert read_about(tmp_path / "games")["nodes"] == "400@12,100@14,50"
    assert Rule.RENJU in {record.rule for record in read_games(tmp_path / "again")}
