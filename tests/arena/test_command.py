"""``numoku match`` as its users see it."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
from functools import cache
from pathlib import Path

import pytest

from pbrain_engine.arena import match as command
from pbrain_engine.arena.arguments import ITEMS, parse, settings_of
from pbrain_engine.arena.journal import read_journal
from pbrain_engine.arena.match import make_view
from pbrain_engine.arena.settings import Adjudication, MatchSettings, parse_engine
from pbrain_engine.arena.standings import Standings, summary
from pbrain_engine.arena.textbook import Textbook
from pbrain_engine.commands.bench import POSITIONS, BenchPosition
from pbrain_engine.engine.engine import Engine, Limit, Thought
from pbrain_engine.eval.weights import weights_path
from pbrain_engine.notation.cells import parse_moves
from pbrain_engine.position.rules import Rule
from pbrain_engine.protocol.serve import OPTIONS, engine_arguments
from pbrain_engine.search.parameters import PARAMETERS
from tests.arena.test_faults import HOSTILE
from tests.arena.test_records import SETTINGS, game
from tests.search.test_strength import positions

FAST = ["--openings", "random", "--turn", "0.1", "--view", "quiet", "--no-journal"]


@pytest.fixture(autouse=True)
def own_journals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMOKU_MATCHES", str(tmp_path))


def document(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> dict:
    """Run a match and return its document."""
    assert command.main([*arguments, *FAST, "--json"]) == status
    out, err = capsys.readouterr()
    assert out.count("\n") == 1
    return json.loads(out)


def test_document_has_the_promised_keys(capsys: pytest.CaptureFixture[str]) -> None:
    result = document(capsys, "numoku", "random", "--games", "4")
    (pair,) = result["pairs"]
    assert {"a", "b", "wins", "draws", "losses", "elo", "elo_low", "elo_high"} <= set(pair)
    assert (pair["a"], pair["b"], pair["wins"]) == ("numoku", "random", 4)
    assert pair["elo_low"] <= pair["elo"] <= pair["elo_high"]
    del result["pairs"]
    assert result == {"games": 4, "engines": ["numoku", "random"], "faults": []}


def test_faults_name_game_engine_and_cause(capsys: pytest.CaptureFixture[str]) -> None:
    bad = f"{sys.executable} {HOSTILE} occupied"
    result = document(capsys, "random", bad, "--games", "2")
    faults = [{"game": number, "engine": bad, "cause": "illegal"} for number in (0, 1)]
    assert (result["faults"], result["pairs"][0]["wins"]) == (faults, 2)


def test_tournament_has_all_pairs_and_a_ladder(capsys: pytest.CaptureFixture[str]) -> None:
    result = document(capsys, "one=random", "two=random", "three=random", "--games", "2")
    pairs = [("one", "two"), ("one", "three"), ("two", "three")]
    assert result["games"] == 6 and [(p["a"], p["b"]) for p in result["pairs"]] == pairs
    assert {rung["engine"] for rung in result["ladder"]} == {"one", "two", "three"}


@pytest.mark.parametrize(
    "words",
    ["--rule 1", "--rule renju", "--rule 8", "--rule 0 --board 12x9",
     pytest.param("--judge --rule renju", marks=pytest.mark.timed)],
)  # fmt: skip
def test_rules_boards_and_judge(capsys: pytest.CaptureFixture[str], words: str) -> None:
    result = document(capsys, "numoku", "random", "--games", "2", *words.split())
    assert (result["faults"], result["pairs"][0]["wins"]) == ([], 2)


@pytest.mark.parametrize("rule, board", [("freestyle", "15"), ("standard", "20"), ("renju", "15")])
def test_games_of_engines_with_other_weights_end_without_a_fault(
    capsys: pytest.CaptureFixture[str], rule: str, board: str
) -> None:
    limits = ["--nodes", "1500", "--tolerance", "5", "--concurrency", "2", "--games", "4"]
    words = ["numoku", "numoku:weights=hand", "--rule", rule, "--board", board, *limits]
    result = document(capsys, *words, "--turn", "2")
    assert (result["games"], result["faults"]) == (4, [])


def test_in_process_match_with_fixed_nodes_repeats_itself(tmp_path: Path) -> None:
    games = []
    for name, seats in (("one", "1"), ("two", "2")):
        path = tmp_path / f"{name}.jsonl"
        assert command.main([
            "numoku:nodes=400", "numoku:nodes=200", "--in-process", "--games", "4",
            "--openings", "random:4", "--concurrency", seats, "--journal", str(path),
            "--view", "quiet", "--json",
        ]) == 0  # fmt: skip
        played = sorted(read_journal(path)[1], key=lambda game: game.game)
        games.append([(game.game, game.opening, game.moves, game.value) for game in played])
    assert games[0] == games[1]


@pytest.mark.parametrize("kind", [[], ["--in-process"]])
def test_a_strength_is_that_of_both_kinds_of_player(tmp_path: Path, kind: list[str]) -> None:
    path = tmp_path / "match.jsonl"
    engines = ["weak=numoku:strength=0", "full=numoku:strength=100,weights=hand,futility_depth=0"]
    words = [*engines, "--nodes", "2000", *kind]
    openings = ["--openings", "random:3", "--games", "2", "--journal", str(path)]
    assert command.main([*words, *openings, "--view", "quiet"]) == 0
    most = {"weak": 0, "full": 0}
    for played in read_journal(path)[1]:
        for name, nodes in zip(played.movers, played.nodes, strict=True):
            most[name] = max(most[name], nodes or 0)
    assert most["weak"] < 200 < 1500 < most["full"]


@pytest.mark.parametrize("kind", [[], ["--in-process"]])
@pytest.mark.parametrize("option", ["weights=typo", "book=typo", "level=typo"])
def test_options_that_cannot_be_had_are_told_before_the_first_game(
    option: str, kind: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["numoku", f"a=numoku:{option}", "--games", "2", *kind, *FAST]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("numoku match: a: ") and "typo" in err


def test_weights_that_are_lost_end_the_match_before_it_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    weights, journal = tmp_path / "w.numoku", tmp_path / "m.jsonl"
    shutil.copy(weights_path("hand"), weights)
    words = ["random", f"numoku:weights={weights},nodes=10", "--games", "2", "--view", "quiet"]
    assert command.main([*words, "--openings", "none", "--journal", str(journal)]) == 0
    weights.unlink()
    capsys.readouterr()
    assert command.main(["--resume", str(journal), "--games", "4", "--view", "quiet"]) == 2
    assert str(weights) in capsys.readouterr().err


def test_files_of_options_are_found_from_the_folder_of_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine").touch()
    for key in ("weights", "book"):
        assert parse_engine(f"numoku:{key}=mine").option(key) == str(tmp_path / "mine")


@pytest.mark.parametrize(
    "option",
    [
        "turn=nan", "turn=inf", "turn=-1", "turn=x", "turn=1e300", "turn=0", "nodes=0", "nodes=-1",
        "nodes=5e3", "threads=1.5", "hash=1_000", "depth=²", "futility_slope=1.5", "book_seed=x",
        f"memory={'9' * 5000}",
    ],
)  # fmt: skip
def test_numbers_that_make_no_sense_are_refused(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--turn", "0", "--openings", "none", "--view", "quiet", "--no-journal"]
    assert command.main([f"numoku:{option}", "numoku:nodes=10", *words]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_numbers_that_make_sense_are_taken() -> None:
    text = "numoku:turn=0.5,nodes=5000,threads=2,seed=-3,book_seed=-1,futility_slope=-7"
    assert len(parse_engine(text).options) == 6


def test_values_of_short_moves_are_recorded(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    words = ["numoku:nodes=300", "random", "--games", "2", "--openings", "random:4"]
    assert command.main([*words, "--journal", str(path), "--view", "quiet", "--json"]) == 0
    for played in read_journal(path)[1]:
        own = slice(0 if played.black.startswith("numoku") else 1, None, 2)
        assert None not in [*played.value[own], *played.depth[own]]
        assert played.value[own][-1] == 29999


def test_dialogues_are_kept_on_demand(tmp_path: Path) -> None:
    words = ["random", "numoku:nodes=100", "--games", "1", "--log", str(tmp_path / "log")]
    assert command.main([*words, *FAST]) == 0
    lines = (tmp_path / "log" / "00001-white.log").read_text(encoding="utf-8").splitlines()
    words = [line.split(maxsplit=1)[1] for line in lines]
    assert words[:2] == ["> START 15", "< OK"]
    assert "> INFO max_node 100" in words
    assert words[-1] == "> END"
    assert (tmp_path / "log" / "00001-black.log").exists()


def test_sequential_test_stops_the_match(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["numoku:nodes=500", "random", "--games", "1000", "--sprt", "0", "300"]
    result = document(capsys, *arguments, "--sprt-model", "logistic")
    assert result["sprt"]["decision"] == "accepted"
    assert result["games"] < 100


def test_an_engine_that_cannot_be_started_is_told_before_the_first_game(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert command.main(["random", "/nonexistent/pbrain", "--games", "2", *FAST]) == 2
    out, err = capsys.readouterr()
    said = "numoku match: /nonexistent/pbrain cannot be started: /nonexistent/pbrain: "
    assert (out, err[: len(said)], err.count("\n")) == ("", said, 1)
    assert os.name == "nt" or err == f"{said}No such file or directory\n"


PAIR = "random random "


@pytest.mark.parametrize(
    "words",
    [
        "", "random", "numoku:threads=many random", "--resume /nonexistent", "--without all",
        "numoku --without luck", "numoku random --without delta", PAIR + "--in-process",
        PAIR + "--board 4", PAIR + "--board big", PAIR + "--board 1x2x3", PAIR + "--rule chess",
        PAIR + "--sprt 5 0", PAIR + "--sprt nan 5", PAIR + "--sprt 0 inf", PAIR + "--sprt 0 201",
        PAIR + "--sprt -201 0", PAIR + "--pin x", PAIR + "--pin ²", PAIR + "--pin 0-30000000",
        PAIR + "--pin 1-0", PAIR + "--openings /nonexistent", PAIR + "--openings balanced:²",
        PAIR + "--openings random:abc", PAIR + "--openings random:48",
        PAIR + "--openings random:-1",
    ],
)  # fmt: skip
def test_wrong_use_is_status_2_and_one_line(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        status = command.main([*words.split(), "--no-journal"])
    except SystemExit as stop:
        status = stop.code
    out, err = capsys.readouterr()
    assert (status, out, err.count("\n")) == (2, "", 1)


@pytest.mark.parametrize(
    "words, named",
    [
        (["--turn", "7", "--rule", "freestyle"], "--rule, --turn"),
        (["--start-timeout", "5"], "--start-timeout"),
        (["--judge"], "--judge"),
        (["--no-journal"], "--no-journal"),
    ],
)
def test_what_cannot_change_is_refused_when_a_match_goes_on(
    words: list[str], named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.jsonl"
    path.touch()
    with pytest.raises(SystemExit) as stop:
        command.main(["--resume", str(path), "--games", "4", "--view", "quiet", *words])
    assert stop.value.code == 2
    assert f"--resume goes without {named}:" in capsys.readouterr().err


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="cores cannot be chosen here")
def test_cores_that_are_not_there_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pin = f"{min(os.sched_getaffinity(0))},9876"
    assert command.main(["random", "random", "--pin", pin, "--games", "2", *FAST]) == 2
    assert "9876" in capsys.readouterr().err
    path = str(tmp_path / "m.jsonl")
    words = ["--openings", "none", "--view", "quiet"]
    assert command.main(["random", "random", "--games", "2", "--journal", path, *words]) == 0
    assert command.main(["--resume", path, "--games", "4", "--pin", "9876"]) == 2
    assert "9876" in capsys.readouterr().err


def test_engine_is_called_by_its_own_name(capsys: pytest.CaptureFixture[str]) -> None:
    quirky = f"{sys.executable} {HOSTILE} quirks"
    assert command.main(["random", quirky, f"mine={quirky}", "--games", "2", *FAST]) == 0
    out = capsys.readouterr().out
    assert "random - Quirky 2.1" in out
    assert "Quirky 2.1 - mine" in out


def test_table_and_next_step_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["random", "random", "--games", "2", "--openings", "none"]) == 0
    out, err = capsys.readouterr()
    assert "Elo [95 %]" in out and err.count("stones") == 2 and "numoku report" in err


def settings_by(words: str) -> MatchSettings:
    return settings_of(parse(words.split()))


@pytest.mark.parametrize(
    "words, name, value",
    [
        ("random random", "turn", 1.0),
        ("random random --nodes 5", "turn", 0.0),
        ("random random --match 60", "turn", 0.0),
        ("random random --turn 2 --match 60", "turn", 2.0),
        ("numoku:nodes=5 numoku:depth=2", "turn", 0.0),
        ("numoku:nodes=5 numoku:depth=2 numoku", "turn", 1.0),
        ("random random --rule 9", "rule", Rule.CARO_EXACT),
        ("random random --memory 0", "memory", 0),
        ("random random", "memory", 367_001_600),
        ("random random --board 20", "height", 20),
        ("random random --pin 0-2,5", "pin", (0, 1, 2, 5)),
        ("random random", "games", 10),
        ("random random --sprt 0 5", "games", 40_000),
        ("random random --draw 5 0 9", "adjudication", Adjudication(0, 6, 5, 1, 9)),
        ("random random --resign 800 4", "adjudication", Adjudication(800, 4)),
        ("numoku --without delta", "gauntlet", True),
    ],
)
def test_words_become_settings(words: str, name: str, value: object) -> None:
    assert getattr(settings_by(words), name) == value


def test_an_engine_meets_itself_without_each_item() -> None:
    for words, names in (("all", list(ITEMS)), ("delta,futility,delta", ["delta", "futility"])):
        settings = settings_by(f"numoku:futility_depth=300,aspiration=20 --without {words}")
        assert [engine.name for engine in settings.engines[1:]] == names
    options = [("futility_depth", "0"), ("aspiration", "20")]  # the switch wins
    assert settings.engines[2].options == tuple(options)


@cache
def tree_of(position: BenchPosition, options: tuple[tuple[str, str], ...]) -> Thought:
    """Return what a search with these options thinks of a position, but for its time."""
    with Engine(hash_size=4 << 20, **engine_arguments(options)) as engine:
        engine.new_game(position.size, rule=position.rule)
        for x, y in parse_moves(position.moves, position.size):
            engine.play(x, y)
        return engine.think(Limit(depth=10, nodes=20_000))._replace(time=0)


@pytest.mark.parametrize("name", ITEMS)
def test_every_item_is_switched_off_by_its_options(name: str) -> None:
    assert all(key in PARAMETERS or key in OPTIONS for key in ITEMS[name])
    off = tuple((key, str(value)) for key, value in ITEMS[name].items())
    more = (BenchPosition(p.rule, p.size, p.moves) for p in positions())
    assert any(tree_of(p, off) != tree_of(p, ()) for p in (*POSITIONS, *more))


def test_live_view_draws_boards_and_table() -> None:
    console = pytest.importorskip("rich.console")
    from pbrain_engine.arena.live import RichView

    stream, played = io.StringIO(), game()
    view = RichView(Standings(SETTINGS, [played]), stream)
    view.console = console.Console(file=stream, width=100, height=50, force_terminal=True)
    view.on_move(0, played)
    view.on_result(played)
    view.console.print(view.render())
    view.close()
    text = stream.getvalue()
    assert "a - b" in text
    assert "1 of 10 games" in text
    assert "Elo" in text


def test_plain_view_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    view = make_view(Standings(SETTINGS, [game()]))
    view.on_result(game())
    view.close()
    assert "game 1: a - b 1-0 (five), 5 stones" in capsys.readouterr().err


def test_summary_shows_faults() -> None:
    text = summary(Standings(SETTINGS, [game(reason="time", detail="no move after 2 s")]))
    assert "b: time in 1 of 1 games (game 1: no move after 2 s)" in text


def test_random_mover_speaks_the_protocol() -> None:
    lines = iter(["0,0,1", "1,1,2", "DONE"])
    mover = Textbook("random", lambda: next(lines))
    assert mover.answer("START 5") == "OK"
    assert mover.answer("INFO seed 3") is None
    assert mover.answer("START 3").startswith("ERROR")
    move = mover.answer("BEGIN")
    again = Textbook("random", lambda: "")
    again.answer("START 5")
    again.answer("INFO seed 3")
    assert again.answer("BEGIN") == move
    x, y = map(int, mover.answer("BOARD").split(","))
    assert (x, y) not in ((0, 0), (1, 1)) and 0 <= x < 5 and 0 <= y < 5
    assert mover.answer("WHAT").startswith("UNKNOWN")
    assert "random" in mover.answer("ABOUT")
