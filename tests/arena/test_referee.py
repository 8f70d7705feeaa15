"""The referee, the schedule, the openings and the clock, without engines of others."""

from __future__ import annotations

import random
import shutil
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pbrain_engine.arena.journal import CRASH, Played
from pbrain_engine.arena.match import ABOUT_FIELD
from pbrain_engine.arena.players import InprocessPlayer
from pbrain_engine.arena.pool import share_of
from pbrain_engine.arena.process import MAX_LINE
from pbrain_engine.arena.referee import (
    Clock,
    EngineFault,
    GameTask,
    PlayedMove,
    Thinking,
    agreed_result,
    play_game,
    read_value,
    set_up,
)
from pbrain_engine.arena.settings import (
    Adjudication,
    EngineSpec,
    MatchSettings,
    SettingsError,
    Sprt,
    parse_engine,
)
from pbrain_engine.engine.engine import Engine
from pbrain_engine.engine.pacing import Pace, TimePlan
from pbrain_engine.game.game import Game
from pbrain_engine.notation.cells import parse_moves
from pbrain_engine.position.geometry import symmetries, transform
from pbrain_engine.position.rules import Rule
from pbrain_engine.protocol.commands import CommandReader
from pbrain_engine.protocol.session import Session
from pbrain_engine.values import format_value

A, B = EngineSpec("a", ("a",)), EngineSpec("b", ("b",))


def settings(**changes: object) -> MatchSettings:
    values: dict[str, object] = {"engines": (A, B), "openings": "none"}
    return MatchSettings(**{**values, **changes})  # type: ignore[arg-type]


class Scripted:
    """A player that plays given cells, at given values."""

    peak_memory = 0

    def __init__(self, moves: str, values: Sequence[int | None] = ()) -> None:
        self._moves = parse_moves(moves, 22)
        self._values = list(values) or [None] * len(self._moves)

    def move(self, game: Game, clock: Clock) -> PlayedMove:
        if not self._moves:
            raise EngineFault(CRASH, "no more moves")
        x, y = self._moves.pop(0)
        return PlayedMove(x, y, 0.01, Thinking(value=self._values.pop(0)))

    def close(self) -> None:
        pass

    launch = await_ready = finish = close


def play(black: str, white: str, opening: str = "", **changes: object) -> Played:
    task = GameTask(0, 0, 0, 1, tuple(parse_moves(opening, 22)))
    return play_game(task, settings(**changes), [Scripted(black), Scripted(white)])


@pytest.mark.parametrize(
    "black, white, changes, winner, reason, moves, detail",
    [
        ("a1b1c1d1e1", "a3b3c3d3", {}, "black", "five", 9, ""),
        ("a1b1c1e1f1d1o15", "a3b3c4d4a7a9", {}, "black", "five", 11, ""),  # six
        ("a1b1c1e1f1d1o15", "a3b3c4d4a7a9", {"rule": Rule.STANDARD}, "black", "crash", 13, "no"),
        ("g8i8h7h9h8", "a1c1e1g1", {"rule": Rule.RENJU}, "white", "forbidden", 8, "h8"),
        ("a1b1c1e1f1d1", "a3c3e3g3i3", {"rule": Rule.RENJU}, "white", "forbidden", 10, "d1"),
        ("h8", "h8", {}, "black", "illegal", 1, "occupied"),
        ("v22", "a1", {}, "white", "illegal", 0, "off the board"),
        ("a1c1e1", "a3c3e3", {"draw_after": 6}, "draw", "limit", 6, ""),
    ],
)
def test_a_game_ends_as_the_rules_say(
    black: str, white: str, changes: dict[str, object], winner: str, reason: str, moves: int,
    detail: str,
) -> None:  # fmt: skip
    played = play(black, white, **changes)
    assert (played.winner, played.reason, len(played.moves)) == (winner, reason, moves)
    assert detail in played.detail
    assert played.result == {"black": "1-0", "white": "0-1", "draw": "1/2-1/2"}[winner]


def test_full_board_is_a_draw() -> None:
    board = ["OXXXO", "OXOXO", "XOXOX", "OXOXO", "XOXOX"]
    cells = {sign: "" for sign in "XO"}
    for y, row in enumerate(board):
        for x, sign in enumerate(row):
            cells[sign] += "abcde"[x] + str(y + 1)
    played = play(cells["X"], cells["O"], width=5, height=5)
    assert (played.winner, played.reason, len(played.moves)) == ("draw", "full", 25)


def test_judge_draws_renju_after_200_stones() -> None:
    assert settings(judge=True, rule=Rule.RENJU).draw_stones == 200
    assert settings(judge=True).draw_stones == 225


def values_played(values: Sequence[int | None], opening: int = 0) -> Played:
    cells = [(i % 15, i // 15) for i in range(opening + len(values))]
    return Played(
        0, 0, "a", "b", "draw", "full", opening=cells[:opening], moves=cells[opening:],
        ms=[0] * len(values), value=list(values),
    )  # fmt: skip


WON = Adjudication(win_value=1000, win_moves=4)
DRAWN = Adjudication(draw_value=10, draw_moves=4, draw_from=6)


@pytest.mark.parametrize(
    "terms, values, opening, result",
    [
        (WON, [1500, -1500, 1200, -1100], 0, "black"),
        (WON, [-1500, 1500, -1200, 1100], 0, "white"),
        (WON, [1500, -1500, 1200, -1100], 1, "white"),
        (WON, [-1500, 1500], 1, None),
        (WON, [1500, -1500, 900, -1100], 0, None),
        (WON, [1500, None, 1200, -1100], 0, None),
        (DRAWN, [5, -5, 0, 10], 0, None),
        (DRAWN, [5, -5, 0, 10], 2, "draw"),
        (Adjudication(), [29000, -29000] * 50, 0, None),
        (Adjudication(), [0] * 200, 0, None),
    ],
)
def test_agreed_values_end_a_game_where_it_is_wanted(
    terms: Adjudication, values: list[int | None], opening: int, result: str | None
) -> None:
    assert agreed_result(values_played(values, opening), terms) == result


@given(st.integers(5, 22), st.integers(5, 22), st.integers(0, 7), st.integers(0, 10**6))
def test_symmetries_keep_cells_apart_and_on_the_board(
    width: int, height: int, number: int, seed: int
) -> None:
    number %= symmetries(width, height)
    chance = random.Random(seed)
    cells = [(x, y) for x in range(width) for y in range(height)]
    some = chance.sample(cells, 8)
    moved = transform(some, number, width, height)
    assert len(set(moved)) == 8
    assert set(moved) <= set(cells)
    assert transform(some, 0, width, height) == some


@pytest.mark.parametrize(
    "text, command, home",
    [
        ("eng.sh", ("HERE/eng.sh",), "HERE"),
        ("sh eng.sh", ("sh", "HERE/eng.sh"), "HERE"),
        ("sh -x sub/eng conf.txt", ("sh", "-x", "HERE/sub/eng", "HERE/conf.txt"), "HERE/sub"),
        ("HERE/bin/python3.11 -u eng.py", ("HERE/bin/python3.11", "-u", "HERE/eng.py"), "HERE"),
        ("python3 eng.py", ("python3", "HERE/eng.py"), "HERE"),
        ("sub/eng conf.txt fast", ("HERE/sub/eng", "HERE/conf.txt", "fast"), "HERE/sub"),
        ("bin/python3.11 -m engine", ("HERE/bin/python3.11", "-m", "engine"), "HERE/bin"),
        ("sh -c fast", ("sh", "-c", "fast"), None),
    ],
)
def test_files_of_a_command_are_found_and_it_runs_in_the_folder_of_its_program(
    text: str,
    command: tuple[str, ...],
    home: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("eng.sh", "eng.py", "conf.txt", "sub/eng", "bin/python3.11", "sh"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(shutil, "which", lambda word: f"/bin/{word}" if word == "sh" else None)
    here = lambda word: word.replace("HERE", tmp_path.as_posix())  # noqa: E731
    engine = parse_engine(here(text))
    assert [Path(word) for word in engine.command] == [Path(here(word)) for word in command]
    assert engine.home == (str(Path(here(home))) if home else None)


def test_settings_survive_json() -> None:
    match = settings(
        rule=Rule.CARO_EXACT, sprt=Sprt(0, 5), pin=(0, 1), opening_lines=("0,0",), openings="x",
        adjudication=Adjudication(500, 4),
        engines=(parse_engine("numoku:nodes=5"), B),
    )  # fmt: skip
    assert MatchSettings.from_json(match.to_json()) == match


@pytest.mark.parametrize(
    "changes",
    [
        {"engines": (A,)}, {"games": 0}, {"concurrency": 0},
    ],
)  # fmt: skip
def test_impossible_matches_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(SettingsError):
        settings(**changes)


@pytest.mark.parametrize(
    "text, depth, value, nodes",
    [
        ("depth 12-21 ev 35 n 1203K n/ms 812 tm 1480 pv H8 I9", 12, 35, 1_203_000),
        ("Depth 12-21 | Eval -35 | Time 1480ms | H8 I9", 12, -35, None),
        ("Speed 812K | Depth 9-15 | Eval +M9 | Node 1.5M | Time 3s", 9, 29991, 1_500_000),
        ("depth 5-6 multipv 2 ev 99 n 5", None, None, None),
        ("hello", None, None, None),
        ("depth 3-3 ev -M8 n 17 n/ms 1", 3, -29992, 17),
        (f"depth 3 ev 2.{'4' * 400} n 1.{'5' * 400}K", 3, 2, 1555),
        ("depth 3. ev 5. n 5\N{KELVIN SIGN}", 3, 5, 5),
        ("\tDepth :  12 |  Eval =  + M 9  | Node :\t1.5  M ", 12, 29991, 1_500_000),
    ],
)
def test_reports_are_understood(
    text: str, depth: int | None, value: int | None, nodes: int | None
) -> None:
    thinking = Thinking()
    thinking.hear(text)
    assert (thinking.depth, thinking.value, thinking.nodes) == (depth, value, nodes)


@pytest.mark.timed
@pytest.mark.parametrize("word", ["depth", "ev", "n", "multipv", "(", "ev -", "ev M", "n 1"])
def test_a_report_padded_with_blanks_costs_nothing(word: str) -> None:
    began = time.thread_time()
    Thinking().hear(f"{word}{' ' * 120}x")
    assert time.thread_time() - began < 0.1


@pytest.mark.timed
def test_a_title_without_an_end_costs_nothing() -> None:
    began = time.thread_time()
    assert ABOUT_FIELD.findall("x" * MAX_LINE) == []
    assert time.thread_time() - began < 0.05


@pytest.mark.parametrize(
    "text",
    [
        f"depth {'1' * 5000}", f"ev {'9' * 400}", f"ev M{'9' * 400}", f"n {'9' * 400}",
        f"multipv {'2' * 5000} depth 3", "ev M5.5", "ev +-5", "ev 1.2.3", "depth ² ev ² n ²",
    ],
    ids=lambda text: text[:12],
)  # fmt: skip
def test_what_is_no_number_of_a_search_is_passed_over(text: str) -> None:
    thinking = Thinking()
    thinking.hear(text)
    thinking.hear_detail("PV", "9" * 5000)
    for key in ("DEPTH", "EVAL", "NODES"):
        for word in ("²", "٣", "9" * 400, "1" * 5000, "M5.5", "+-5"):
            thinking.hear_detail(key, word)
    assert (thinking.depth, thinking.value, thinking.nodes) == (None, None, None)


@pytest.mark.parametrize("text", ["M5.5", "M1000", "+-5", "1" * 400, "²", "", "x"])
def test_what_is_no_value_is_none(text: str) -> None:
    assert read_value(text) is None


@given(st.integers(-6000, 6000))
def test_values_are_written_as_they_are_read(value: int) -> None:
    assert read_value(format_value(value)) == value


@pytest.mark.parametrize("cores", range(13))
@pytest.mark.parametrize("slots", range(1, 7))
def test_slots_share_the_cores_evenly_and_none_twice_where_there_are_enough(
    cores: int, slots: int
) -> None:
    pin = tuple(range(100, 100 + cores))
    shares = [share_of(pin, number, slots) for number in range(slots)]
    used = Counter(core for share in shares for core in share)
    assert set(used) <= set(pin)
    assert {len(share) for share in shares} == {max(1, cores // slots) if cores else 0}
    assert max(used.values(), default=0) - min((used[core] for core in pin), default=0) <= 1


@pytest.mark.parametrize("left", [50.0, 3.0, 0.2])
def test_games_in_this_process_keep_the_time_that_the_protocol_keeps(
    monkeypatch: pytest.MonkeyPatch, left: float
) -> None:
    kept: list[TimePlan] = []
    begin = Pace.__init__

    def note(pace: Pace, plan: TimePlan, *since: float) -> None:
        kept.append(plan)
        begin(pace, plan, *since)

    engine = parse_engine("numoku:depth=1,hash_size=1024")
    settings = MatchSettings((engine, engine), turn=30, match=60, increment=1, in_process=True)
    player, clock = InprocessPlayer(engine, settings), Clock(settings, engine)
    player.launch()
    clock.left = left
    session = Session(lambda memory: Engine(hash_size=1 << 20))
    monkeypatch.setattr(Pace, "__init__", note)
    player.move(set_up(settings, [(7, 7)]), clock)
    player.close()
    (own,) = kept
    infos = {"timeout_turn": 30000, "timeout_match": 60000, "time_increment": 1000, "max_depth": 1,
             "time_left": round(left * 1000)}  # fmt: skip
    lines = ["START 15", *(f"INFO {key} {value}" for key, value in infos.items()), "TURN 7,7"]
    for line in lines:
        for command in CommandReader().read(line):
            response = session.handle(command, time.perf_counter())
    assert response.task is not None
    response.task.run()
    assert kept[-1] == own
