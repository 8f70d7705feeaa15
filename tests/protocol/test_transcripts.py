"""Every client's dialogue with the program, and those of a manager with a model of the engine."""

from __future__ import annotations

from contextlib import closing

import pytest

from pbrain_engine.arena.process import EngineProcess
from tests.golden import talks
from tests.programs import PROGRAM
from tests.transcript import all_transcripts, replay

TRANSCRIPTS = all_transcripts()
ANSWER_TIME = 10.0
NAMES = [transcript.name for transcript in TRANSCRIPTS]


@pytest.mark.parametrize("number", range(len(TRANSCRIPTS)), ids=NAMES)
def test_the_program_holds_the_dialogue_of_each_client(number):
    """Every other one sends all at once, with line ends of every kind."""
    transcript, burst = TRANSCRIPTS[number], number % 2 == 0
    ends = ["\n", "\r\n", "\r", "\n\r\n"] if burst else ["\r\n"]
    with closing(EngineProcess(PROGRAM)) as peer:

        def send(lines: list[str]) -> None:
            data = [line + ends[i % len(ends)] for i, line in enumerate(lines)]
            for packet in ["".join(data)] if burst else data:
                peer.write(packet.encode())

        replay(transcript, peer, send, ANSWER_TIME)


def test_all_talks_with_a_model_of_the_engine_are_as_recorded():
    talks.talks.check()
