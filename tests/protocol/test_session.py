"""The session: settings, boards, colours, and what it asks of the engine."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from io import BytesIO
from time import perf_counter

import pytest

from pbrain_engine.engine.engine import Engine, Move, Thought
from pbrain_engine.engine.pacing import UNLIMITED, plan
from pbrain_engine.game.game import Game
from pbrain_engine.position.rules import Rule, Side
from pbrain_engine.protocol import replies, serve, session
from pbrain_engine.protocol.commands import Command, CommandReader, Info, LineBuffer
from pbrain_engine.protocol.replies import Report, line_wins
from pbrain_engine.protocol.searches import Task
from pbrain_engine.protocol.session import Session
from pbrain_engine.protocol.settings import DEFAULT_MEMORY, Settings, decode_rule
from pbrain_engine.values import loss_in, win_in
from tests.fake_engine import FakeEngine


class Talk:
    """A session with a fake engine, spoken to in text."""

    def __init__(self) -> None:
        self.engines: list[FakeEngine] = []
        self.session = Session(self._make)  # type: ignore[arg-type]
        self.buffer, self.reader = LineBuffer(), CommandReader()

    def _make(self, memory: int) -> FakeEngine:
        self.engines.append(FakeEngine(memory))
        return self.engines[-1]

    @property
    def engine(self) -> FakeEngine:
        return self.engines[-1]

    @property
    def stones(self) -> dict[Move, Side]:
        """The stones of the game, which is the engine's."""
        assert self.session.game is self.engine.game
        return {stone.move: stone.side for stone in self.engine.game.history}

    def say(self, *lines: str) -> list[str]:
        """Send lines, run the searches at once, and return the replies."""
        return self.send("".join(f"{line}\n" for line in lines).encode("latin-1"))

    def send(self, data: bytes, before: Callable[[Task], None] = lambda task: None) -> list[str]:
        """Send bytes; ``before`` gets each search before it is run at once."""
        heard: list[str] = []
        for line in self.buffer.feed(data):
            for command in self.reader.read(line):
                response = self.session.handle(command, perf_counter())
                heard += response.lines
                if response.task is not None:
                    response.task.emit = heard.append
                    before(response.task)
                    heard += self.session.conclude(response.task, response.task.run())
        return heard

    def ask(self, *lines: str) -> list[str]:
        """Send lines and return the replies that are not meant for people alone."""
        return [line for line in self.say(*lines) if not line.startswith("DEBUG ")]

    def start(self, size: int = 15) -> Talk:
        assert self.say(f"START {size}", "INFO timeout_turn 35") == ["OK"]
        return self


@pytest.mark.parametrize(
    "code, yixin, rule",
    [
        (0, False, Rule.FREESTYLE), (1, False, Rule.STANDARD), (2, False, Rule.FREESTYLE),
        (3, False, Rule.STANDARD), (4, False, Rule.RENJU), (5, False, Rule.RENJU),
        (8, False, Rule.CARO), (9, False, Rule.CARO_EXACT), (10, False, Rule.CARO),
        (11, False, Rule.CARO_EXACT), (12, False, None), (16, False, None), (-1, False, None),
        (0, True, Rule.FREESTYLE), (1, True, Rule.STANDARD), (2, True, Rule.RENJU),
        (4, True, Rule.RENJU), (5, True, Rule.FREESTYLE), (6, True, Rule.FREESTYLE),
    ],
)  # fmt: skip
def test_the_rule_is_a_bit_mask(code: int, yixin: bool, rule: Rule | None) -> None:
    assert decode_rule(code, yixin) == rule


def test_a_rule_that_came_before_the_client_was_known_is_read_again() -> None:
    talk = Talk().start()
    talk.say("INFO rule 2")
    assert talk.session.settings.rule is Rule.FREESTYLE
    talk.say("yxshowinfo")
    assert talk.session.settings.rule is Rule.RENJU


@pytest.mark.parametrize(
    ("line", "is_yixin"),
    [("BEGIN", False), ("STOP", False), ("YXSTOP", False), ("YXSHOWINFO", True),
     ("YXBOARD DONE", True), ("BOARD DONE", False), ("YXNBEST 2", True), ("YXBLOCK DONE", True),
     ("SWAP2BOARD DONE", False), ("YXBALANCETWO 0", True), ("YXFOO", False)],
)  # fmt: skip
def test_only_commands_of_yixin_board_make_a_client_one(line: str, is_yixin: bool) -> None:
    talk = Talk().start()
    talk.say("INFO max_depth 1", line)
    assert talk.session.settings.yixin is is_yixin


def test_each_iteration_leaves_its_move_to_fall_back_on(monkeypatch: pytest.MonkeyPatch) -> None:
    talk = Talk().start()
    monkeypatch.setattr(talk.engine, "quick_move", lambda exclude=(): Move(0, 0))
    task = talk.session.handle(Command("TURN", (7, 7)), perf_counter()).task
    assert task is not None and task.fallback.moves == (Move(0, 0),)
    task.run()
    assert task.fallback.moves == (Move(6, 7),)


def test_info_is_never_answered() -> None:
    talk = Talk()
    keys = [*vars(Settings()), "max_memory", "rule", "evaluate", "", "folder", "time_left"]
    for key in keys:
        for value in ("", "0", "-1", "x", "2147483647", "9" * 30, "1 2 3"):
            assert talk.session.handle(Info(key, value), 0.0).lines == ()


@pytest.mark.parametrize(
    "text, milliseconds",
    [("300", 300), ("300.0", 300), ("3e2", 300), ("-7.9", -8), ("+5", 5), ("300 400", 300),
     ("x", None), ("nan", None), ("", None), ("-", None)],
)  # fmt: skip
def test_numbers_are_read_as_clients_may_write_them(text: str, milliseconds: int | None) -> None:
    settings = Settings()
    settings.update("timeout_turn", text)
    assert settings.turn == milliseconds


@pytest.mark.parametrize("text", ["9" * 30, "1e300", "inf", "2147483647", "9223372036854775807"])
def test_giants_of_any_length_mean_no_limit(text: str) -> None:
    settings = Settings()
    settings.update("timeout_turn", text)
    settings.update("time_left", text)
    assert plan(settings.limits, 0, 225).hard == UNLIMITED


def test_a_rule_changed_during_the_game_keeps_the_stones() -> None:
    talk = Talk().start()
    talk.say("TURN 7,7")
    stones = talk.stones
    talk.say("INFO rule 1", "TURN 0,0")
    assert talk.engine.game.rule is Rule.STANDARD
    assert stones.items() <= talk.stones.items()


def test_start_of_the_same_size_keeps_the_engine() -> None:
    talk = Talk().start()
    talk.say("start 15 15", "start 15 15")
    assert len(talk.engines) == 1
    assert talk.engine.clears == 0


@pytest.mark.parametrize(
    "lines",
    ["BEGIN", "TURN 15,0", "TURN 7,7", "TURN x", "PLAY 7,7", "TAKEBACK 7,7", "TAKEBACK 0,0",
     "START 4", "RECTSTART 15,23", "YXSWAP2STEP2", "SWAP2BOARD 1,1 1,1 2,2 DONE",
     "SWAP2BOARD 1,1 DONE", "BOARD; START 3", "YXNBEST", "BOARD; 3,3,1; BEGIN"],
)  # fmt: skip
def test_an_error_leaves_the_position_as_it_was(lines: str) -> None:
    talk = Talk().start()
    talk.say("PLAY 7,7", "PLAY 8,8")
    assert talk.say(*lines.split("; "))[0].startswith("ERROR")
    assert talk.stones == {(7, 7): Side.BLACK, (8, 8): Side.WHITE}
    assert talk.engine.game.to_move is Side.BLACK
    assert talk.say("TAKEBACK 8,8", "TAKEBACK 7,7") == ["OK", "OK"]


ALMOST_FULL = [f"{x},{y},{1 + (x // 2 + y) % 2}" for x in range(5) for y in range(5)][:-1]


def test_the_stone_that_fills_the_board_is_taken_although_nothing_can_answer_it() -> None:
    talk = Talk().start(5)
    talk.say("YXBOARD", *ALMOST_FULL, "DONE")
    assert talk.say("TURN 4,4") == ["ERROR board full"]
    assert talk.say("TURN 4,4") == ["ERROR 4,4 is occupied"]
    assert talk.say("YXNBEST 1") == ["ERROR board full"]
    assert talk.say("TAKEBACK 4,4", "TAKEBACK 4,3") == ["OK", "OK"]
    assert talk.say("TURN 4,4") == ["4,3"]


def test_a_full_board_is_taken_over_although_nothing_can_answer_it() -> None:
    talk = Talk().start(5)
    assert talk.say("BOARD", *ALMOST_FULL, "DONE") == ["4,4"]
    talk.start(5)
    talk.say("PLAY 0,0")
    assert talk.say("BOARD", *ALMOST_FULL, "4,4,1", "DONE") == ["ERROR board full"]
    assert talk.say("TAKEBACK 4,4", "YXNBEST 1") == ["OK", "4,4"]


def test_continuous_play_goes_on_after_a_five() -> None:
    talk = Talk().start()
    five = [f"{x},7,2" for x in range(5)]
    talk.say("BOARD", *five, "DONE")
    assert talk.say("TURN 14,14")[0].startswith("ERROR")
    talk.say("INFO rule 2")
    assert not talk.say("TURN 14,14")[0].startswith("ERROR")


def test_blocked_cells_are_not_played_until_nothing_else_is_left() -> None:
    talk = Talk().start(5)
    cells = [f"{x},{y}" for x in range(5) for y in range(5)]
    talk.say("YXBLOCK", *cells[:-1], "DONE")
    assert talk.say("start 5 5", "BEGIN") == ["OK", "4,4"]  # START comes before every board
    assert talk.say("TURN 0,0")[0] in cells
    before = talk.session._blocked.copy()
    talk.say("YXBLOCKUNDO", "1,1", "DONE")
    assert talk.session._blocked == before - {(1, 1)} != before
    talk.say("YXBLOCKRESET")
    assert talk.session._blocked == set()


def test_what_is_played_in_need_is_neither_blocked_nor_a_foul() -> None:
    with Engine(memory=60_000_000) as engine:
        talk = Talk()
        talk.session = Session(lambda memory: engine)
        fork = ["5,7,1", "0,0,2", "6,7,1", "0,14,2", "7,5,1", "14,0,2", "7,6,1", "14,14,2"]
        talk.say("START 15", "INFO rule 4", "INFO timeout_turn 35", "YXBOARD", *fork, "DONE")
        assert talk.say("YXSHOWFORBID") == ["FORBID 0707."]
        blocked = set()
        for _ in range(4):
            task = talk.session.handle(Command("YXNBEST", (1,)), perf_counter()).task
            assert task is not None and blocked.isdisjoint(task.fallback.moves)
            assert task.fallback.moves != ((7, 7),)
            blocked.update(task.fallback.moves)
            talk.say(f"YXBLOCK {task.fallback.lines[0]} DONE")


def test_limits_of_nodes_depth_memory_and_threads_reach_the_engine() -> None:
    talk = Talk().start()
    talk.say("INFO max_depth 3", "INFO max_node 4000", "INFO max_memory 100000000")
    talk.say("INFO thread_num 1", "INFO hash_size 1024", "BEGIN")
    limit, _ = talk.engine.searches[-1]
    assert (limit.depth, limit.nodes) == (3, 4000)
    assert talk.engine.memory == 100_000_000
    assert talk.engine.hash_size == 1024 * 1024
    talk.say("INFO max_node -1", "INFO max_depth 0", "INFO max_memory 0", "TURN 0,0")
    limit, _ = talk.engine.searches[-1]
    assert (limit.depth, limit.nodes) == (None, None)
    assert talk.engine.memory == DEFAULT_MEMORY


def test_less_strength_means_fewer_nodes() -> None:
    talk, limits = Talk().start(), []
    for number, strength in enumerate((0, 50, 90, 100)):
        talk.say(f"INFO strength {strength}", f"TURN 0,{2 * number}")
        limits.append(talk.engine.searches[-1][0].nodes or 10**12)
    assert limits == sorted(set(limits))


def test_a_tiny_memory_is_complained_about_once_and_only_with_a_move() -> None:
    talk = Talk().start()
    assert talk.say("INFO max_memory 1000") == []
    said = [talk.say("BEGIN"), talk.say("TURN 0,0")]  # a busy machine may have more to say
    assert [sum("max_memory" in line for line in lines) for lines in said] == [1, 0]


def test_match_time_is_counted_where_the_manager_does_not() -> None:
    talk = Talk().start()
    talk.say("INFO timeout_match 60000", "BEGIN")
    limits = talk.session.settings.limits
    assert limits.left is not None and 59_000 < limits.left < 60_000
    talk.say("RESTART")
    assert talk.session.settings.limits.left == 60_000


def test_under_wine_nothing_asks_how_long_the_program_waited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr("builtins.open", lambda *_: BytesIO(b"1 9000000000 1"))
    assert session.queued_time() == 0.0
    monkeypatch.setattr(sys, "platform", "linux")
    assert session.queued_time() == 9.0


@pytest.mark.parametrize("waited", [True, False])
def test_the_start_of_the_program_is_charged_where_the_manager_did_not_wait(waited: bool) -> None:
    read_at = perf_counter()
    talk = Talk().start()
    talk.say("INFO timeout_turn 100000")
    moment = perf_counter() if waited else read_at
    task = talk.session.handle(Command("BEGIN"), moment).task
    assert task is not None
    charged = moment + 100 - task.deadline
    assert (charged < 0.05) == waited
    talk.say("INFO evaluate 3,3")  # whatever it is, a limit is planned with anew
    assert moment + 100 - task.deadline == charged
    second = talk.session.handle(Command("TURN", (0, 0)), read_at).task
    assert second is not None and read_at + 100 - second.deadline < 0.05


def test_n_best_is_asked_for() -> None:
    talk = Talk().start()
    heard = talk.say(
        "INFO show_detail 2", "INFO timeout_turn 0", "INFO max_depth 2", "INFO timeout_turn 100000",
        "YXNBEST 3",
    )  # fmt: skip
    assert talk.engine.searches[-1][1] == 3
    assert {"INFO PV 0", "INFO PV 1", "INFO PV 2", "INFO NUMPV 3"} <= set(heard)


@pytest.mark.parametrize(
    ("asked", "searched"), [(-5, 1), (0, 1), (1, 1), (2, 2), (64, 64), (65, 64), (10**12, 64)]
)
def test_n_is_at_least_one_and_bounded(asked: int, searched: int) -> None:
    talk = Talk().start()
    talk.say("INFO max_depth 1", f"YXNBEST {asked}")
    assert talk.engine.searches[-1][1] == searched


def test_the_table_is_forgotten_where_there_is_one() -> None:
    talk = Talk()
    assert talk.say("YXHASHCLEAR") == [] and not talk.engines
    talk.start()
    assert talk.say("YXHASHCLEAR", "YXHASHCLEAR") == []
    assert talk.engine.clears == 2


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("", {}),
        ("--log a --row-first", {"log": "a", "row_first": "1"}),
        ("--search=mcts book=b --weights w", {"search": "mcts", "book": "b", "weights": "w"}),
        ("level=v2 book_seed=7 futility_slope=70",
         {"level": "v2", "book_seed": "7", "futility_slope": "70"}),
        ("--log", None), ("search", None), ("match numoku numoku", None), ("bench", None),
        ("--row-first=1", None), ("colour=red", None), ("--version", None),
    ],
)  # fmt: skip
def test_the_command_line_is_options_of_the_protocol_or_none(
    line: str, options: dict[str, str] | None
) -> None:
    assert serve.read_options(line.split()) == options


@pytest.mark.parametrize(
    ("options", "problem"),
    [({"search": "best"}, "'best'; there are alphabeta and mcts"), ({"book_seed": "x"}, "'x'"),
     ({"book": "/no/such"}, "there is no book")],
)  # fmt: skip
def test_options_that_no_engine_can_have_end_the_program_at_once(
    options: dict[str, str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert serve.main(options) == 2
    assert problem in capsys.readouterr().err
    assert not serve.problem_of({"search": "mcts", "level": "v2"})


def test_show_info_tells_the_sliders() -> None:
    lines = Talk().say("YXSHOWINFO")
    assert lines[0].startswith("MESSAGE INFO MAX_THREAD_NUM ")
    assert lines[1] == "MESSAGE INFO MAX_HASH_SIZE 18"


def test_forbidden_points_have_two_digits_each_and_a_dot() -> None:
    talk = Talk().start()
    talk.say("YXBOARD", "8,7,1", "9,7,1", "10,5,1", "10,6,1", "DONE")
    assert talk.say("YXSHOWFORBID") == ["FORBID ."]
    assert talk.say("INFO rule 4", "YXSHOWFORBID") == ["FORBID 1007."]
    talk.say("INFO row_first 1")
    assert talk.say("YXSHOWFORBID") == ["FORBID 0710."]


def test_a_takeback_from_a_board_gives_the_move_to_the_owner_of_the_stone() -> None:
    talk = Talk().start()
    talk.say("YXBOARD", "7,7,1", "8,8,1", "9,9,2", "DONE")  # any stones are accepted
    for cell, owner in (("9,9", Side.WHITE), ("8,8", Side.BLACK), ("7,7", Side.BLACK)):
        assert talk.say(f"TAKEBACK {cell}") == ["OK"]
        assert talk.engine.game.to_move is owner
    talk.say("YXBOARD", "3,3,3", "7,7,2", "8,8,1", "9,9,2", "DONE")  # what is ours is field 1
    assert talk.engine.game.to_move is Side.WHITE


# -- the clock -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("time_left 90000, -4, time_left 70000, -1.5, time_left 80000, -30",
         [90_000, 86_000, 70_000, 68_500, 80_000, 50_000]),
        ("timeout_match 60000, -2, -3, time_left 57000", [60_000, 58_000, 55_000, 57_000]),
        ("timeout_match 10000, time_increment 2000, -3, -2, -0.5",
         [10_000, 10_000, 9_000, 9_000, 10_500]),
        ("time_left 2147483647, -1000000", [2147483647, 2147483647]),
        ("time_left 1000, timeout_turn 2000", [1000, 1000]),
        ("timeout_match 2000, time_left 1000", [2000, 1000]),
        ("timeout_turn 1000, timeout_match 2000", [None, 2000]),
    ],
)  # fmt: skip
def test_what_is_left_follows_the_manager_and_what_is_spent(
    said: str, left: list[int | None]
) -> None:
    settings, seen, limits = Settings(), [], {}
    for words in said.split(", "):
        key, _, value = words.partition(" ")
        if value:
            settings.update(key, value)
            limits[key] = int(value)
        else:
            settings.spend(-float(words))
        seen.append(settings.limits.left)
    assert seen == left
    assert settings.limits.turn == limits.get("timeout_turn")
    assert settings.limits.match == limits.get("timeout_match")


@pytest.mark.parametrize("says", [True, False])
def test_a_new_game_has_its_time_back_unless_the_manager_keeps_the_clock(says: bool) -> None:
    talk = Talk().start()
    settings = talk.session.settings
    settings.update("timeout_match", "60000")
    if says:
        settings.update("time_left", "20000")
    settings.spend(5.0)
    talk.start()
    assert settings.limits.left == (15_000 if says else 60_000)


# -- reports -------------------------------------------------------------------------------


def thought(value: int, pv: tuple[tuple[int, int], ...], **others: int) -> Thought:
    moves = tuple(Move(*at) for at in pv)
    return Thought(
        move=moves[0], value=value, depth=12, seldepth=21, nodes=1_203_456, time=1.48, pv=moves,
        **others,
    )  # fmt: skip


def four(to_move: Side = Side.BLACK) -> Game:
    """Return a game in which black has four in a row from 4,7 on."""
    game = Game()
    for x in range(4, 8):
        game.place(x, 7, Side.BLACK)
    game.set_to_move(to_move)
    return game


def reported(value: int, pv: tuple[tuple[int, int], ...], mode: int = 0) -> list[str]:
    lines: list[str] = []
    report = Report(lines.append, four(), mode)
    report._last -= 1  # as if a second had gone by
    report.iteration(thought(value, pv))
    return lines


def test_the_default_form() -> None:
    assert reported(35, ((7, 6), (8, 8))) == [
        "MESSAGE depth 12-21 ev 35 n 1203K n/ms 813 tm 1480 pv H7 I9"
    ]


def test_a_win_is_printed_only_when_its_line_wins() -> None:
    assert " ev +M1 " in reported(win_in(1), ((8, 7),))[0]
    assert "M" not in reported(win_in(1), ((8, 8),))[0].removeprefix("MESSAGE")
    assert "M" not in reported(win_in(3), ((8, 7),))[0].removeprefix("MESSAGE")


def test_a_loss_is_printed_only_when_its_line_loses() -> None:
    lines: list[str] = []
    report = Report(lines.append, four(Side.WHITE))
    report._last -= 1
    report.iteration(thought(loss_in(2), ((8, 7), (3, 7))))
    assert " ev -M2 " in lines[0]
    report = Report(lines.append, four(Side.WHITE), 1)
    report.iteration(thought(loss_in(2), ((8, 7), (3, 7))))
    report.finish()
    assert "MESSAGE REALTIME LOST 8,7" in lines


def test_the_forms_that_clients_ask_for() -> None:
    realtime = reported(35, ((7, 6), (8, 8)), 1)
    assert realtime[:2] == ["MESSAGE REALTIME REFRESH", "MESSAGE REALTIME BEST 7,6"]
    assert "MESSAGE REALTIME POS 7,6" in realtime and "MESSAGE REALTIME DONE 7,6" in realtime
    assert not any("LOST" in line for line in realtime)
    detail = reported(35, ((7, 6), (8, 8)), 2)
    assert detail[0] == "INFO PV 0"
    assert detail[-2:] == ["INFO BESTLINE 7,6 8,8", "INFO PV DONE"]
    assert "INFO EVAL 35" in detail
    both = reported(35, ((7, 6),), 3)
    assert "MESSAGE REALTIME BEST 7,6" in both and "INFO PV DONE" in both


def test_reports_are_throttled_and_instant_moves_are_quiet() -> None:
    lines: list[str] = []
    report = Report(lines.append, Game())
    for _ in range(50):
        report.iteration(thought(0, ((7, 7),)))
    report.finish()
    assert lines == []


def test_every_reply_is_one_line_of_ascii() -> None:
    for text in ("a\nb", "\r\n", "náš", "x" * 10_000, "\0\x7f"):
        for reply in (replies.error(text), replies.unknown(text), replies.debug(text)):
            assert reply.isascii() and reply.isprintable()
            assert len(reply) < 500


def test_a_line_wins_with_its_last_move_and_not_before() -> None:
    assert line_wins(four(), [(8, 7)], 1)
    assert not line_wins(four(), [(8, 7), (0, 0), (3, 7)], 3)
    assert not line_wins(four(), [(0, 0), (1, 1)], 2)
    assert not line_wins(four(), [(7, 7)], 1)  # occupied
    assert not line_wins(four(), [], 0)
    assert four().ply == 4, "the game is left alone"


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        ("START 15 10; TURN 14,9", "MOVE"), ("START 15 10; TURN 15,0", "ERROR"),
        ("START 15 10; TURN 0,10", "ERROR"), ("START 22; TURN 21,21", "MOVE"),
        ("TURN 19,19", "MOVE"), ("TURN 20,0", "ERROR"), ("BEGIN", "MOVE"),
        ("INFO row_first 1; RECTSTART 10,15; TURN 9,14", "MOVE"),
        ("INFO row_first 1; RECTSTART 10,15; TURN 14,9", "ERROR"),
    ],
)  # fmt: skip
def test_a_board_is_as_large_as_was_said_or_20_by_20(lines: str, answer: str) -> None:
    *_, heard = Talk().say("INFO timeout_turn 20", *lines.split("; "))
    assert re.fullmatch(r"\d+,\d+", heard) if answer == "MOVE" else heard.startswith(answer)
