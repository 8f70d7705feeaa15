"""Games of self-play: their file, how they are made, and that they can be made again."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pbrain_engine import Engine, Game, Limit, Move, Rule, Side, cli
from pbrain_engine.errors import FileError
from pbrain_engine.eval.weights import load_weights, weights_file
from pbrain_engine.learn import datagen, selfplay
from pbrain_engine.learn.network.dataset import read_datasets
from pbrain_engine.learn.selfplay import Plan, SelfPlayer, make_engine
from pbrain_engine.notation.games import (
    NO_VALUE,
    SINGLE,
    Ending,
    GameFile,
    NodePlan,
    Record,
    decode,
    encode,
    header,
    read_about,
    read_games,
)
from pbrain_engine.search.parameters import SURE_DEPTH
from pbrain_engine.values import WIN_BAND
from tests.programs import NUMOKU, run_on_small_disk

PLAN = Plan(5, NodePlan(150), (Rule.FREESTYLE, Rule.RENJU), (15, 9), "hand")
ABOUT = {"seed": "1", "nodes": "100"}


BYTE = st.integers(5, 22)
MOVES = st.tuples(st.integers(0, 22 * 22 - 1), st.integers(-32768, 32767))


def a_random_record(pairs: list[tuple[int, int]], opening: int, *facts: int) -> Record:
    """Return a record of some pairs of moves and values, or a single position with its lines."""
    number, rule, width, height, result, ending = facts
    lines = tuple(pairs[opening:]) if ending in SINGLE and len(pairs) > opening + 1 else ()
    if lines:
        pairs = pairs[: opening + 1]
    moves, values = (tuple(pair[i] for pair in pairs) for i in (0, 1))
    kind, way = Rule(rule), Ending(ending)
    return Record(number, kind, width, height, opening, result, way, moves, values, lines)


RECORDS = st.builds(
    a_random_record, st.lists(MOVES, max_size=40), st.integers(0, 9), st.integers(0, 2**32 - 1),
    st.sampled_from(list(Rule)), BYTE, BYTE, st.sampled_from([-1, 0, 1]),
    st.sampled_from(list(Ending)),
)  # fmt: skip


def a_record(number: int) -> Record:
    moves, values = (112, 113, 97), (NO_VALUE, 12, -30)
    return Record(number, Rule.STANDARD, 15, 15, 1, -1, Ending.PROVEN, moves, values)


@given(RECORDS, st.data())
def test_a_record_comes_back_as_it_was_and_cut_off_is_no_game(record, data):
    raw = encode(record)
    assert len(raw) == 16 + 4 * (len(record.moves) + max(0, len(record.lines) - 1))
    assert decode(raw) == (record, len(raw))
    assert decode(raw[: data.draw(st.integers(0, len(raw) - 1))]) is None


def test_any_changed_byte_is_found():
    raw = encode(a_record(3))
    for place in range(len(raw)):
        changed = bytearray(raw)
        changed[place] ^= 1
        try:
            assert decode(bytes(changed)) is None, place  # it seems longer than it is
        except FileError as error:
            assert "damaged" in str(error)


def a_file(path: Path, games: int) -> bytes:
    """Write a file of some games; return its bytes."""
    file = GameFile(path, ABOUT)
    for number in range(games):
        file.append(a_record(number))
    file.close()
    return path.read_bytes()


def test_a_file_is_continued_after_its_last_whole_game(tmp_path, monkeypatch):
    path = tmp_path / "games"
    path.write_bytes(a_file(path, 3)[:-5])
    assert len(list(read_games(path))) == 2
    file = GameFile(path, ABOUT)
    assert (file.games, file.positions) == (2, 4)
    with pytest.raises(FileError, match="game 1 where 2 belongs"):
        file.append(a_record(1))
    file.append(a_record(2))
    with path.open("rb", buffering=0) as unwritable, monkeypatch.context() as patch:
        patch.setattr(file, "_file", unwritable)
        with pytest.raises(FileError, match=f"cannot write games {path}"):
            file.append(a_record(3))
    file.close()
    assert list(read_games(path)) == [a_record(number) for number in range(3)]
    assert read_about(path) == ABOUT
    with pytest.raises(FileError, match="made with nodes 100, not 200"):
        GameFile(path, {**ABOUT, "nodes": "200"})


def test_a_file_has_one_writer_at_a_time(tmp_path):
    path = tmp_path / "games"
    file = GameFile(path, ABOUT)
    file.append(a_record(0))
    whole = path.read_bytes()
    under_way = whole + encode(a_record(1))[:-3]
    path.write_bytes(under_way)
    with pytest.raises(FileError, match="another run"):
        GameFile(path, ABOUT)
    assert path.read_bytes() == under_way
    file.close()
    assert a_file(path, 0) == whole


@pytest.mark.parametrize("game, at, byte", [(0, 5, 2), (1, -10, 255), (1, -1, 0), (0, 6, 200)])
def test_damage_inside_a_file_is_an_error(tmp_path, game, at, byte):
    path = tmp_path / "games"
    raw = bytearray(a_file(path, 3))
    start = len(raw) - (3 - game) * len(encode(a_record(0)))
    assert raw[start + at] != byte
    raw[start + at] = byte  # a length of 512 stones and more; a move, a checksum, a rule
    path.write_bytes(bytes(raw))
    with pytest.raises(FileError, match="damaged"):
        list(read_games(path))
    with pytest.raises(FileError, match="damaged"):
        GameFile(path, ABOUT)
    assert path.read_bytes() == bytes(raw), "the games behind it are still there"


@pytest.mark.parametrize("content", [b"", b"numoku games 2\n\n", b"\x00" * 50])
def test_other_files_are_refused(content, tmp_path):
    path = tmp_path / "games"
    path.write_bytes(content)
    with pytest.raises(FileError, match="not a file of games"):
        list(read_games(path))
    with pytest.raises(FileError, match="cannot read"):
        list(read_games(tmp_path / "nowhere"))


@pytest.mark.parametrize("ply", [0, 1])
@pytest.mark.parametrize(
    "ending, value, won",
    [
        (Ending.PROVEN, WIN_BAND, True), (Ending.PROVEN, -WIN_BAND, False),
        (Ending.FIVE, WIN_BAND - 1, True), (Ending.FOUL, 17, False),
    ],
)  # fmt: skip
def test_a_game_is_won_by_the_side_that_has_it(ply, ending, value, won, monkeypatch):
    engine, asked = make_engine(PLAN.budget, PLAN.weights), list[Side]()
    player = SelfPlayer(engine, PLAN)

    def decide(_: random.Random) -> tuple[Move, int]:
        side = engine.game.to_move
        move = next(move for move in engine.game.legal_moves() if move.y == 14 * side)
        asked.append(side)
        return move, value if len(asked) > ply else 17

    def is_foul(*_: object) -> bool:
        return ending is Ending.FOUL and len(asked) > ply

    monkeypatch.setattr(Game, "is_forbidden", is_foul)
    monkeypatch.setattr(player, "judge", lambda: 0)
    monkeypatch.setattr(player, "decide", decide)
    record = selfplay.play_game(engine, PLAN, 0, player)
    assert len(asked) == (9 if ending is Ending.FIVE else ply + 1)
    assert record.ending is ending and record.result == (1 if (asked[-1] == 0) == won else -1)


@pytest.mark.parametrize(
    ("eventful", "full_share", "stones"), [(0, 0.0, 102), (100, 0.0, 110), (0, 1.0, 225)]
)
def test_a_game_in_which_nothing_happens_is_drawn_soon_or_on_the_full_board(
    eventful, full_share, stones, monkeypatch
):
    plan = PLAN._replace(full_share=full_share, boards=(15,), rules=(Rule.FREESTYLE,))
    engine, asked = make_engine(plan.budget, plan.weights), list[Move]()
    player = SelfPlayer(engine, plan)

    def decide(_: random.Random) -> tuple[Move, int]:
        side = engine.game.to_move  # no five in any line of these cells
        cells = engine.game.legal_moves()
        own = [m for m in cells if (m.x + 2 * m.y) % 4 // 2 == side]
        asked.append((own or cells)[0])
        return asked[-1], 11 if len(asked) <= eventful else -10

    monkeypatch.setattr(selfplay, "make_opening", lambda *_: [(0, 0), (2, 0)])
    monkeypatch.setattr(player, "decide", decide)
    record = selfplay.play_game(engine, plan, 0, player)
    ending = Ending.FULL if full_share else Ending.CALM
    assert (record.ending, record.result, len(record.moves)) == (ending, 0, stones)


def test_a_glance_finds_what_a_search_by_nodes_does():
    """One call of the kernel against the host's iterations, through games with their history."""
    lone, hosted = (Engine(hash_size=1 << 20, parameters={"threat_share": 0}) for _ in range(2))
    chance = random.Random(4)
    ends, only = set(), 0
    for rule in (Rule.FREESTYLE, Rule.RENJU, Rule.CARO):
        for engine in (lone, hosted):
            engine.new_game(9, rule=rule)
            engine.clear_hash()
        while not lone.game.is_over:
            nodes = chance.randint(20, 900)
            found = lone.search_nodes(nodes)
            depth = SURE_DEPTH if found is not None and found.choices == 1 else None
            thought = hosted.think(Limit(nodes=nodes, depth=depth))
            if found is None:
                break
            assert (found.move, found.value) == (thought.move, thought.value)
            only += found.choices == 1
            if found.end is not None:
                ends.add(len(found.end))
                for number, (x, y) in enumerate(found.end, 1):
                    lone.play(x, y)
                    assert not lone.game.is_over or number == len(found.end)
                for _ in found.end:
                    lone.undo()
            for engine in (lone, hosted):
                engine.play(*found.move)
    assert only > 5 and len(ends) > 5


def test_games_and_branches_are_legal_and_branches_undecided(tmp_path):
    plan = PLAN._replace(weights="network", branch_share=0.4)
    engine = make_engine(plan.budget, plan.weights)
    played = [plan.play(engine, number) for number in range(8)]
    branches = [branch for each in played for branch in each.branches]
    for branch in branches:
        assert branch.ending is Ending.BRANCH and branch.result == 0
        assert branch.opening == len(branch.moves) - 1
    for record in (*branches, *(each.record for each in played)):
        known = [value != NO_VALUE for value in record.values]
        assert known == [ply >= record.opening for ply in range(len(record.moves))]
        game = Game(record.width, record.height, record.rule)
        for x, y in record.cells:
            assert not game.is_over and not game.is_forbidden(x, y)
            game.play(x, y)
    assert len(branches) > 20
    path = tmp_path / "branches.games"
    path.write_bytes(header({}) + b"".join(map(encode, branches)))
    for family in ("freestyle", "renju"):
        datasets = read_datasets([path], [], family, load_weights("learned"))
        assert sum(dataset.size for dataset in datasets) == sum(
            each.rule.traits.family == family for each in branches
        )
        for dataset in datasets:
            assert dataset.picks.all(), "each has a move to learn"
            assert np.isnan(dataset.results).all(), "and no result"


def make(path: Path, games: int, *more: str) -> int:
    words = ["datagen", str(path), "--games", str(games), "--nodes", "150", "--processes", "1"]
    return cli.main([*words, *more])


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "games"
    assert make(path, 7, "--branch-share", "0.3") == 0
    return path


def test_an_interrupted_file_becomes_what_it_would_have_been(whole, tmp_path):
    raw, parts = whole.read_bytes(), tmp_path / "parts"
    start = raw.index(b"\n\n") + 2
    for length in random.Random(8).sample(range(start, len(raw)), 3):
        parts.write_bytes(raw[:length])
        assert make(parts, 7, "--branch-share", "0.3") == 0
        assert parts.read_bytes() == raw, length


def test_any_number_of_processes_writes_the_same_file(whole, tmp_path):
    path = tmp_path / "parallel"
    assert make(path, 7, "--branch-share", "0.3", "--processes", "3") == 0
    assert path.read_bytes() == whole.read_bytes()


@pytest.mark.skipif(sys.platform == "win32", reason="files have no such limit there")
def test_a_disk_without_room_is_a_line_and_costs_no_whole_game(whole, tmp_path):
    path, room = tmp_path / "games", whole.stat().st_size * 2 // 3
    words = ["datagen", str(path), "--games", "7", "--nodes", "150", "--branch-share", "0.3"]
    reported = run_on_small_disk(room, *NUMOKU, *words, "--processes", "1")
    assert reported.returncode == 1
    progress, problem = reported.stderr.splitlines()
    assert problem.startswith(f"numoku: cannot write games {path}: ")
    assert path.stat().st_size == room, "as much as there was room for"
    games = sum(record.ending is not Ending.BRANCH for record in read_games(path))
    assert progress.startswith(f"{games} of 7 games") and games >= 2
    assert make(path, 7, "--branch-share", "0.3") == 0
    assert path.read_bytes() == whole.read_bytes()


def test_a_worker_that_stays_plays_with_the_weights_of_the_run(tmp_path):
    path = tmp_path / "changing.numoku"
    plan = PLAN._replace(weights=str(path))

    def played(weights: str) -> list[object]:
        path.write_bytes(Path(weights_file(weights)).read_bytes())
        return list(datagen.play_batch(plan, plan.about(), range(3)))

    before, after = played("hand"), played("learned")
    assert before != after
    assert before == [PLAN.play(make_engine(PLAN.budget, PLAN.weights), n) for n in range(3)]
    learned = PLAN._replace(weights="learned")
    engine = make_engine(learned.budget, learned.weights)
    assert after == [learned.play(engine, n) for n in range(3)]
