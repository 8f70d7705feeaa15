"""Every client's dialogue, on a session without a process and on the real program."""

from __future__ import annotations

import sys
import time
from collections import deque

import pytest

from pbrain_engine.doctor.exam import Peer
from pbrain_engine.engine.pacing import TimePlan
from pbrain_engine.protocol.commands import CommandReader, LineBuffer
from pbrain_engine.protocol.session import Session
from tests.fake_engine import FakeEngine
from tests.golden import talks
from tests.transcript import Transcript, all_transcripts, replay

PROGRAM = [sys.executable, "-m", "pbrain_engine"]
TRANSCRIPTS = all_transcripts()
ANSWER_TIME = 10.0
NAMES = [transcript.name for transcript in TRANSCRIPTS]


class Conversation:
    """A session that is fed bytes; searches run when their answer is asked for."""

    def __init__(self) -> None:
        self.session = Session(lambda memory: FakeEngine(memory))
        self.buffer, self.reader = LineBuffer(), CommandReader()
        self.heard: deque[str] = deque()
        self.task = None

    def say(self, lines: list[str], end: str) -> None:
        self.feed("".join(line + end for line in lines).encode())

    def feed(self, data: bytes) -> None:
        for line in self.buffer.feed(data):
            for command in self.reader.read(line):
                response = self.session.handle(command, time.perf_counter())
                self.heard += response.lines
                if response.task is not None:
                    self.task = response.task
                    self.task.relimit(TimePlan(0.02, 0.02))
                    self.task.emit = self.heard.append

    def hear(self) -> str:
        if not self.heard and self.task is not None:
            task, self.task = self.task, None
            self.heard += self.session.conclude(task, task.run())
        return self.heard.popleft()


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=NAMES)
def test_a_session_holds_the_dialogue_of_each_client(transcript: Transcript) -> None:
    conversation = Conversation()

    def during(lines: list[str], end: str) -> None:
        task, conversation.task = conversation.task, None
        assert task is not None
        task.stop()
        conversation.say(lines, end)
        conversation.heard += conversation.session.conclude(task, task.run())

    replay(transcript, conversation.say, during, conversation.hear)


@pytest.mark.parametrize("burst", [True, False], ids=["burst", "line by line"])
@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=NAMES)
def test_the_program_holds_the_dialogue_of_each_client(transcript: Transcript, burst: bool) -> None:
    ends = ["\n", "\r\n", "\r", "\n\r\n"] if burst else ["\r\n"]
    with Peer(PROGRAM) as peer:

        def say(lines: list[str], end: str) -> None:
            data = [line + ends[i % len(ends)] for i, line in enumerate(lines)]
            for packet in ["".join(data)] if burst else data:
                peer.send_bytes(packet.encode())

        def during(lines: list[str], end: str) -> None:
            time.sleep(0.03)
            say(lines, end)

        def hear() -> str:
            line = peer.line(ANSWER_TIME)
            assert line is not None, f"no answer; stderr: {peer.stderr!r}"
            assert line.chunks == 1
            return line.text

        replay(transcript, say, during, hear)
        assert peer.wait(ANSWER_TIME) == 0
        assert [line for line in peer.lines() if not line.text.startswith("MESSAGE")] == []
        assert peer.stderr == b""


def test_all_talks_with_a_model_of_the_engine_are_as_recorded() -> None:
    record = talks.FILE.read_text(encoding="utf-8")
    assert talks.talks(record) == record
