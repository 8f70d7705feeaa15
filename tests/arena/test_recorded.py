"""What the arena makes of words, says and writes, as it is recorded in ``tests/golden``."""

from __future__ import annotations

import sys

import pytest

from tests.golden import openings, players, words

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="paths are others there")


def test_words_of_all_commands_mean_what_is_recorded():
    words.words.check()


def test_matches_and_reports_say_and_write_what_is_recorded():
    pytest.importorskip("rich")
    from tests.golden import matches

    matches.matches.check()


def test_engines_are_told_and_judged_as_recorded():
    players.dialogues.check()


def test_games_begin_and_textbooks_answer_as_recorded():
    openings.openings_of.check()
