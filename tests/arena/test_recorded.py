"""What the arena makes of words, says and writes, as it is recorded in ``tests/golden``."""

from __future__ import annotations

import sys

import pytest

from tests.golden import openings, players, texts, words

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="paths are others there")


def test_words_of_all_commands_mean_what_is_recorded() -> None:
    recorded = texts.read(words.FILE)
    assert words.words(recorded) == recorded


def test_matches_and_reports_say_and_write_what_is_recorded() -> None:
    pytest.importorskip("rich")
    from tests.golden import matches

    known = texts.read(matches.FILE)
    assert matches.matches(known) == known


def test_engines_are_told_and_judged_as_recorded() -> None:
    known = texts.read(players.FILE)
    assert players.dialogues(known) == known


def test_games_begin_and_textbooks_answer_as_recorded() -> None:
    known = texts.read(openings.FILE)
    assert openings.openings_of(known) == known
