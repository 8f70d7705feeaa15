"""The session: settings, boards, colours, and what it asks of the engine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from io import BytesIO
from itertools import chain
from time import perf_counter

import pytest

from pbrain_engine import Engine, Game, Move, Rule, Side, Thought
from pbrain_engine.engine.pacing import Pace, TimePlan
from pbrain_engine.errors import WeightsError
from pbrain_engine.native.load.targets import host_target
from pbrain_engine.protocol import replies, serve, session
from pbrain_engine.protocol.commands import Command, CommandReader
from pbrain_engine.protocol.replies import Report, line_wins
from pbrain_engine.protocol.searches import Task
from pbrain_engine.protocol.session import Session
from pbrain_engine.protocol.settings import Settings
from pbrain_engine.values import loss_in, win_in
from tests.fake_engine import FakeEngine

HOST = host_target()
assert HOST is not None


class Talk:
    """A session with a fake engine, spoken to in text."""

    def __init__(self) -> None:
        self.engines: list[FakeEngine] = []
        self.session = Session(self._make)
        self.reader = CommandReader()

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
        for command in chain.from_iterable(map(self.reader.read, self.reader.lines(data))):
            heard += self.session.handle(command, perf_counter())
            if (task := self.session.task) is not None and not task.answered:
                task.emit = heard.append
                before(task)
                task.run()
                heard += self.session.conclude(task)
        return heard

    def ask(self, *lines: str) -> list[str]:
        """Send lines and return the replies that are not meant for people alone."""
        return [line for line in self.say(*lines) if not line.startswith("DEBUG ")]

    def start(self, size: int = 15) -> Talk:
        assert self.say(f"START {size}", "INFO timeout_turn 35") == ["OK"]
        return self


def test_what_is_played_in_need_is_neither_blocked_nor_a_foul():
    with Engine(memory=60_000_000) as engine:
        talk = Talk()
        talk.session = Session(lambda memory: engine)
        fork = ["5,7,1", "0,0,2", "6,7,1", "0,14,2", "7,5,1", "14,0,2", "7,6,1", "14,14,2"]
        talk.say("START 15", "INFO rule 4", "INFO timeout_turn 35", "YXBOARD", *fork, "DONE")
        assert talk.say("YXSHOWFORBID") == ["FORBID 0707."]
        blocked = set()
        for _ in range(4):
            talk.session.handle(Command("YXNBEST", (1,)), perf_counter())
            task = talk.session.task
            assert task is not None and blocked.isdisjoint(task.answer.moves)
            assert task.answer.moves != ((7, 7),)
            blocked.update(task.answer.moves)
            talk.session.task = None
            talk.say(f"YXBLOCK {task.answer.lines[0]} DONE")


def test_a_rule_is_set_up_before_the_clock_of_a_move_runs(monkeypatch):
    talk = Talk().start()
    assert talk.say("INFO rule 4") == [] and talk.engine.game.rule is Rule.RENJU

    def fail(rule: Rule) -> None:
        raise WeightsError("no weights for this rule")

    monkeypatch.setattr(talk.engine, "set_rule", fail)
    assert talk.say("INFO rule 1") == [] and talk.engine.game.rule is Rule.RENJU
    with pytest.raises(WeightsError):
        talk.say("TURN 7,7")


def test_only_news_about_time_winds_the_timer_of_a_search(monkeypatch):
    changed: list[TimePlan] = []
    monkeypatch.setattr(Pace, "change", lambda self, plan: changed.append(plan))

    def tell(task: Task) -> None:
        for line in ("folder /tmp", "timeout_turn 5000", "rule 1", "timeout_turn 900"):
            talk.session.handle(Command("INFO", text=line), perf_counter())

    talk = Talk().start()
    talk.send(b"INFO timeout_turn 5000\nBEGIN\n", tell)
    assert [round(plan.hard, 1) for plan in changed] == [0.9]


def test_what_is_left_of_a_match_is_so_at_the_moment_at_which_it_is_said(monkeypatch):
    """A clock that is sent each second of a search changes nothing about its time, nor the next."""
    changed: list[TimePlan] = []
    monkeypatch.setattr(Pace, "change", lambda self, plan: changed.append(plan))
    talk = Talk().start()
    talk.say("INFO timeout_turn 10000", "INFO time_left 10000")
    talk.session.handle(Command("BEGIN"), 100.0)
    for seconds in (1.0, 2.0):
        text = f"time_left {10_000 - 1000 * seconds:.0f}"
        talk.session.handle(Command("INFO", text=text), 100.0 + seconds)
    task = talk.session.task
    assert task is not None and changed == []
    monkeypatch.setattr(session.time, "perf_counter", lambda: 103.0)
    talk.session.conclude(task)
    assert talk.session.settings.limits.left == 7000


def test_under_wine_nothing_asks_how_long_the_program_waited(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr("builtins.open", lambda *_: BytesIO(b"1 9000000000 1"))
    assert session.queued_time() == 0.0
    monkeypatch.setattr(sys, "platform", "linux")
    assert session.queued_time() == 9.0


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("", {}),
        ("--log a --row-first", {"log": "a", "row_first": "1"}),
        ("--search=alphabeta --weights w", {"search": "alphabeta", "weights": "w"}),
        ("level=v2 book_seed=7 futility_slope=70",
         {"level": "v2", "book_seed": "7", "futility_slope": "70"}),
        ("--log", None), ("level=", None), ("search", None), ("match numoku numoku", None),
        ("bench", None), ("--row-first=1", None), ("colour=red", None), ("--version", None),
    ],
)  # fmt: skip
def test_the_command_line_is_options_of_the_protocol_or_none(line, options):
    assert serve.read_options(line.split()) == options


@pytest.mark.parametrize(
    ("options", "problem"),
    [({"search": "mcts"}, "there is no search 'mcts': it is alphabeta; method:puct plays by tree "
      "search"),
     ({"book_seed": "x"}, "book_seed takes a whole number, not 'x'"),
     ({"futility_depth": "1.5"}, "futility_depth takes a whole number, not '1.5'"),
     ({"weights": "/no"}, "cannot read weights '/no': No such file or directory"),
     ({"level": "v1"}, f"there is no level 'v1', only {', '.join(HOST.levels)}"),
     ({"book": "/no/such"}, "there is no book /no/such")],
)  # fmt: skip
def test_options_that_no_engine_can_have_end_the_program_at_once(options, problem, capsys):
    assert serve.main(options) == 2
    assert capsys.readouterr() == ("", f"pbrain-numoku: {problem}\n")
    possible = {"search": "alphabeta", "weights": "network", "level": HOST.levels[0]}
    assert not serve.problem_of(possible)


def thought(value: int, pv: tuple[tuple[int, int], ...], **others: int) -> Thought:
    moves = tuple(Move(*at) for at in pv)
    return Thought(
        value=value, depth=12, seldepth=21, nodes=1_203_456, time=1.48, line=moves,
        **others,
    )  # fmt: skip


def four(to_move: Side = Side.BLACK) -> Game:
    """Return a game in which black has four in a row from 4,7 on."""
    game = Game()
    for x in range(4, 8):
        game.place(x, 7, Side.BLACK)
    game.set_to_move(to_move)
    return game


def reported(
    value: int, pv: tuple[tuple[int, int], ...], mode: int = 0, to_move: Side = Side.BLACK
) -> list[str]:
    lines: list[str] = []
    settings = Settings()
    settings.show_detail = mode
    report = Report(lines.append, four(to_move), settings, 1)
    report._last -= 1  # as if a second had gone by
    report.iteration(thought(value, pv))
    return lines


def test_a_win_or_loss_is_told_only_where_its_line_ends_the_game():
    assert " ev +M1 " in reported(win_in(1), ((8, 7),))[0]
    for value, line in ((win_in(1), (8, 8)), (win_in(3), (8, 7))):
        assert "M" not in reported(value, (line,))[0].removeprefix("MESSAGE")
    lost = loss_in(2), ((8, 7), (3, 7))
    assert " ev -M2 " in reported(*lost, 0, Side.WHITE)[0]
    assert "MESSAGE REALTIME LOST 8,7" in reported(*lost, 1, Side.WHITE)


def test_every_reply_is_one_line_of_ascii():
    for text in ("a\nb", "\r\n", "náš", "x" * 10_000, "\0\x7f"):
        for kind in ("ERROR", "UNKNOWN", "DEBUG"):
            reply = replies.remark(kind, text)
            assert reply.isascii() and reply.isprintable()
            assert len(reply) < 500


def test_a_line_wins_with_its_last_move_and_not_before():
    assert line_wins(four(), [(8, 7)], 1)
    assert not line_wins(four(), [(8, 7), (0, 0), (3, 7)], 3)
    assert not line_wins(four(), [(0, 0), (1, 1)], 2)
    assert not line_wins(four(), [(7, 7)], 1)  # occupied
    assert not line_wins(four(), [], 0)
    assert four().ply == 4, "the game is left alone"
