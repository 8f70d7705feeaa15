"""Journals that survive everything, and games in other programs' formats."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from collections import deque
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from pbrain_engine import cli
from pbrain_engine.arena import match
from pbrain_engine.arena.arguments import parse, resumed_settings, settings_of
from pbrain_engine.arena.match import Journal, Runner, read_journal
from pbrain_engine.arena.openings import Openings
from pbrain_engine.arena.referee import GameTask
from pbrain_engine.arena.settings import EngineSpec, MatchSettings, parse_engine
from pbrain_engine.arena.standings import Standings, View
from pbrain_engine.errors import FileError, SettingsError
from pbrain_engine.game.documents import read_played
from pbrain_engine.game.record import GameRecord
from pbrain_engine.position.rules import Rule
from tests.arena.test_process import HOSTILE, TOKEN, processes_with, wait_until
from tests.programs import NUMOKU, run_on_small_disk, start_program

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and file locks of POSIX")

SETTINGS = MatchSettings(engines=(EngineSpec("a", ("a",)), EngineSpec("b", ("b",))))
JOURNALS = Path(__file__).with_name("journals")  # each with the words that it began with
GAUNTLET = (
    "new=numoku:threads=2,nodes=500 old=python3_engine.py method:uct,nodes=50 "
    "--games 4 --board 12x15 --rule renju --openings random:3 --transform --seed 7 --match 60 "
    "--increment 0.5 --memory 100 --draw-after 90 --resign 800 4 --draw 10 6 30 --concurrency 2 "
    "--judge --gauntlet --log /tmp/logs"
)
TEST = "numoku numoku --sprt 0 5 --alpha 0.1 --sprt-model logistic --pin 0 --in-process --nodes 9"
MATCH = [
    "match", "numoku:nodes=300", "numoku:nodes=200", "--in-process", "--games", "12",
    "--openings", "random", "--view", "quiet",
]  # fmt: skip


def game(number: int = 0, **changes: object) -> GameRecord:
    values: dict[str, object] = {
        "game": number, "round": number // 2,
        "black": "ab"[number % 2], "white": "ba"[number % 2],
        "winner": "black", "reason": "five",
        "opening": "h8i7", "moves": "a1o15b2",
        "ms": [10, 20, 30], "depth": [5, None, 7], "value": [35, None, 29991],
        "nodes": [1000, None, 3], "memory": [1, 2], "seconds": 1.5,
    }  # fmt: skip
    return read_played({**values, **changes}, 15, 15, Rule.FREESTYLE)


def written(folder: Path, *games: GameRecord) -> Path:
    """Return a journal with these games."""
    journal = Journal(folder / "m.jsonl", "x+b", SETTINGS)
    for played in games:
        journal.append(played)
    journal.close()
    return journal.path


@pytest.mark.parametrize("cut", [1, 200])
def test_what_a_crash_left_at_the_end_is_dropped_and_written_anew(tmp_path, cut):
    path = written(tmp_path, *map(game, range(3)))
    whole = path.read_bytes()
    path.write_bytes(whole + b"\0" * 5000)
    Journal(path, "r+b").close()
    assert path.read_bytes() == whole
    path.write_bytes(whole[:-cut])
    again = Journal(path, "r+b")
    assert [played.number for played in again.games] == [0, 1]
    again.append(game(2))
    again.close()
    assert [played.number for played in read_journal(path)[1]] == [0, 1, 2]


@pytest.mark.parametrize("mode", ["rb", "r+b"])
@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda line: b"{" + line, "this is not JSON"),
        (lambda line: line[:-1] + b"\0\n", "it is incomplete, and others follow"),
        (lambda line: line[:40] + b"\n", "this is not JSON"),
        (lambda line: line.replace(b'"winner":"black"', b'"winner":"red"'), "has no result"),
    ],
)
def test_damage_in_the_middle_is_named_by_its_line_and_nothing_is_dropped(
    tmp_path, damage, reason, mode
):
    path = written(tmp_path, *map(game, range(3)))
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = damage(lines[2])
    path.write_bytes(b"".join(lines))
    with pytest.raises(FileError, match=f"{re.escape(str(path))}, line 3: .*{reason}"):
        Journal(path, mode)
    assert path.read_bytes() == b"".join(lines)


@pytest.mark.parametrize(
    ("place", "value", "reason"),
    [
        ("match settings width", 1.5, "'width' is not a whole number"),
        ("match settings width", 99, "the board is 99x15"),
        ("match settings turn", "1", "'turn' is not a number"),
        ("match settings gauntlet", 1, "'gauntlet' is not true or false"),
        ("match settings pin", ["0"], "'pin' is not a list of its kind"),
        ("match settings adjudication", 7, "a value is missing or of the wrong kind"),
        ("match settings engines", [7], "an engine is not an object"),
        ("match settings engines 0 title", 7, "'title' is not a text"),
        ("match settings engines 0 is_named", 1, "'is_named' is not true or false"),
        ("match settings engines 0 options", [["a"]], "an engine has a command or options"),
        ("match settings engines 0 command", [7], "an engine has a command or options"),
        ("game game", [], "line 2: 'game' is not a whole number"),
        ("game type", None, "line 2: 'type' is not a text"),
        ("game black", 7, "line 2: 'black' is not a text"),
        ("game seconds", [], "line 2: 'seconds' is not a number"),
        ("game value 0", "1", "line 2: game 0 has data of moves that are no whole numbers"),
        ("game ms 0", None, "line 2: game 0 has data of moves that are no whole numbers"),
        ("game moves", "a1z99b2", "line 2: a value is missing or of the wrong kind"),
    ],
)
def test_a_value_of_another_kind_in_a_journal_is_named(place, value, reason, tmp_path, capsys):
    path = written(tmp_path, game(0))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    kind, *steps, last = place.split()
    target = lines[kind == "game"]
    for step in steps:
        target = target[int(step) if step.isdigit() else step]
    target[int(last) if last.isdigit() else last] = value
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    for command in (["report", str(path)], ["db", str(tmp_path / "a.db"), "add", str(path)]):
        status = cli.main(command)
        said = capsys.readouterr().err
        # a database has no use for all settings
        assert status == 1 and reason in said or command[0] == "db" and status == 0, said
        assert said.count("\n") == status


@posix
def test_journal_is_not_shared(tmp_path):
    path = tmp_path / "m.jsonl"
    journal = Journal(path, "x+b", SETTINGS)
    with pytest.raises(FileError, match="another runner"):
        Journal(path, "r+b")
    journal.close()


def wait_for_lines(path: Path, lines: int) -> None:
    wait_until(lambda: path.exists() and path.read_bytes().count(b"\n") >= lines)


def games_of(path: Path) -> dict[int, tuple[object, ...]]:
    return {g.number: (g.opening, g.chosen, g.values) for g in read_journal(path)[1]}


def test_killed_match_is_continued_to_the_same_games(tmp_path):
    path, whole = tmp_path / "cut.jsonl", tmp_path / "whole.jsonl"
    for games in (3, 6):
        again = ["match", "--resume", str(path), "--view", "quiet"]
        words = again if path.exists() else [*MATCH, "--journal", str(path)]
        runner = start_program(*NUMOKU, *words)
        wait_for_lines(path, games)
        runner.kill()
        runner.communicate()
    assert match.main(["--resume", str(path), "--view", "quiet"]) == 0
    assert match.main([*MATCH[1:], "--journal", str(whole), "--concurrency", "2"]) == 0
    assert games_of(path) == games_of(whole) and len(games_of(whole)) == 12
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert sorted(entry["game"] for entry in lines[1:]) == list(range(12))  # none is there twice


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
def test_killed_runner_leaves_no_engines(tmp_path):
    hanging = f"{sys.executable} {HOSTILE} hang {TOKEN}"
    path = tmp_path / "m.jsonl"
    runner = start_program(
        *NUMOKU, "match", f"x={hanging}", f"y={hanging}", "--turn", "60", "--openings", "none",
        "--concurrency", "2", "--journal", str(path),
    )  # fmt: skip
    wait_until(lambda: len(processes_with(TOKEN)) >= 5)  # four engines and the runner
    runner.kill()
    runner.communicate()
    wait_until(lambda: not processes_with(TOKEN), 5)


class Unheard(View):
    """A view whose reader has gone."""

    def on_result(self, played: GameRecord) -> None:
        raise BrokenPipeError

    say = on_result  # type: ignore[assignment]


def test_games_under_way_are_finished_where_the_progress_is_not_read(tmp_path):
    settings, running = replace(SETTINGS, openings="none"), deque[GameTask]()
    shelf = SimpleNamespace(
        capacity=lambda: 2, running=running, submit=running.append,
        next=lambda timeout: game(running.popleft().game),
    )  # fmt: skip
    journal = Journal(tmp_path / "a" / "new" / "m.jsonl", "x+b", settings)
    view = Unheard(Standings(settings))
    runner = Runner(Openings(settings), shelf, view, journal)  # type: ignore[arg-type]
    assert runner.play().games == len(journal.games) == 2
    assert runner.was_interrupted
    journal.close()


@posix
def test_second_interrupt_breaks_off(tmp_path):
    hanging = f"{sys.executable} {HOSTILE} hang {TOKEN}"
    log = tmp_path / "00001-black.log"
    runner = start_program(
        *NUMOKU, "match", f"x={hanging}", "random", "--turn", "100", "--openings", "none",
        "--journal", str(tmp_path / "m.jsonl"), "--log", str(tmp_path),
    )  # fmt: skip
    wait_until(lambda: log.exists() and len(processes_with(TOKEN)) >= 2)  # engine and runner
    runner.send_signal(signal.SIGINT)
    assert runner.stderr and "finishing the running game" in runner.stderr.readline()
    assert runner.poll() is None
    runner.send_signal(signal.SIGINT)
    err = runner.communicate(timeout=20)[1]
    assert runner.returncode == 130 and "--resume" in err
    assert not processes_with(TOKEN)


@posix
@pytest.mark.parametrize(("name", "nohup"), [("SIGTERM", []), ("SIGHUP", ["nohup"])])
def test_a_match_that_is_told_to_end_tidies_up(name, nohup, tmp_path):
    path, folders = tmp_path / "m.jsonl", tmp_path / "temp"
    folders.mkdir()
    runner = start_program(
        *nohup, *NUMOKU, "match", "numoku:nodes=1000", "random", "--games", "6",
        "--openings", "none", "--journal", str(path), "--view", "quiet",
        env={**os.environ, "TMPDIR": str(folders)},
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    )  # fmt: skip
    wait_for_lines(path, 2)
    runner.send_signal(getattr(signal, name))
    err = runner.communicate(timeout=60)[1]
    if nohup:  # it does not hear of the terminal's end
        assert runner.returncode == 0 and len(read_journal(path)[1]) == 6
    else:
        assert runner.returncode == 130
        assert f"continue with: numoku match --resume {path}" in err
    assert list(folders.iterdir()) == []


@posix
@pytest.mark.parametrize("most", [2000, 200])  # bytes: the second has no room for its conditions
def test_a_journal_that_cannot_be_written_is_named(tmp_path, most):
    path = tmp_path / "m.jsonl"
    done = run_on_small_disk(most, *NUMOKU, *MATCH, "--journal", str(path))
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"numoku: {path}: File too large")
    assert path.exists() == (most > 200)


@pytest.mark.parametrize("version", ["0.1", "0.3"])
@pytest.mark.parametrize("kind", ["gauntlet", "test"])
def test_journals_of_older_versions_are_read_and_resumed(kind, version, tmp_path):
    path = tmp_path / "old.jsonl"
    path.write_bytes((JOURNALS / f"{kind}-{version}.jsonl").read_bytes())
    settings, games = read_journal(path)
    assert [len(each.moves) for each in games] == [5, 3]
    asked = resumed_settings(settings, parse(["--resume", str(path), "--concurrency", "3"]))
    journal = Journal(path, "r+b")
    journal.change(asked)
    assert journal.settings == asked
    journal.append(games[0]._replace(number=2))
    journal.close()
    assert read_journal(path) == (replace(settings, concurrency=3), journal.games)
    words = GAUNTLET if kind == "gauntlet" else TEST
    begun = settings_of(parse([word.replace("_", " ") for word in words.split()]))
    engines = settings.engines if version == "0.1" and kind == "gauntlet" else begun.engines
    assert settings == replace(begun, engines=engines)
    assert [engine.name for engine in engines] == [engine.name for engine in begun.engines]


def test_a_match_in_this_process_is_not_resumed_with_a_log():
    settings = settings_of(parse(TEST.split()))
    options = parse(["--resume", "old.jsonl", "--log", "logs"])
    with pytest.raises(SettingsError, match="--judge and --log are for engines in processes"):
        resumed_settings(settings, options)


def test_a_journal_goes_on_where_its_built_in_engines_have_moved():
    engines = (parse_engine("random"), parse_engine("method:uct"), parse_engine("numoku:depth=2"))
    settings = replace(SETTINGS, engines=engines)
    data = asdict(settings)
    for item, old in zip(data["engines"], ("random_mover", "textbook uct", ""), strict=True):
        item["command"] = ["/old/python", "-m", *f"pbrain_engine.arena.players.{old}".split()]
    assert MatchSettings.from_json(data) == settings
