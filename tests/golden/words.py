"""What commands of the arena make of their words: ``python -m tests.golden.words``.

First all options as their parsers know them, then what a match is by some command lines, as far as
it differs from the first one, or what is said of them; then engines by the words for them.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from pbrain_engine import options as values
from pbrain_engine.arena import arguments, openings, report
from pbrain_engine.arena.journal import Journal
from pbrain_engine.arena.settings import EngineSpec, MatchSettings, SettingsError, parse_engine
from pbrain_engine.doctor import command as doctor
from pbrain_engine.tuning import command as tuning

FILE = Path(__file__).with_suffix(".txt")
LISTS = {
    "lines.txt": "0,0, 1,1 # the first\n\n# h8\nh8i9\n",
    "none.txt": "# nothing\n",
    "engine.py": "",
}

MATCHES = """
a b
a b --games 7 --gauntlet --transform --keep --judge
a b --board 12x9 --rule 4 --openings random:3 --seed -5
a b --size 20 --rule caro-exact --openings none
a b --openings lines.txt
a b --turn 0.5 --match 60 --increment 1.5 --nodes 3 --depth 4
a b --match 60
a b --nodes 5
a b --depth 5
a b --turn 2 --depth 5
numoku:nodes=5 numoku:depth=2
numoku:nodes=5 numoku
numoku:turn=0 numoku --nodes 1
a b --memory 0
a b --memory 1.5 --tolerance 2 --patience 3 --start-timeout 4
a b --draw-after 9 --resign 800 4 --draw 5 3 9
a b --resign 800 0 --draw 0 0 0
a b --sprt 0 5
a b --sprt -5 5 --games 20 --sprt-model logistic --alpha 0.01 --beta 0.2
a b --concurrency 3 --pin 0-2,5,7-7
a b --pin all
a b --cluster tcp://host:1 --log ""
numoku numoku --in-process
a b c --gauntlet
a a a=b a=b
numoku:futility_depth=3 --without futility,delta,,futility
numoku --without network,learned-weights,singular

--without all

a
--without delta
a b --without delta
numoku --without luck
a --without delta
a b --in-process
numoku random --in-process
a b --turn 0
numoku:turn=0 b
numoku:turn=0,nodes=1 numoku --turn 1
a b c --sprt 0 5
a b --sprt 5 0
a b --sprt 5 5
a b --sprt nan 5
a b --sprt 0 inf
a b --sprt 0 200
a b --sprt 0 201
a b --sprt -201 0
a b --sprt -1000 1000 --sprt-model logistic
a b --sprt 0 1001 --sprt-model logistic
a b --sprt 0 5 --alpha 0.5
a b --sprt 0 5 --beta 0
a b --board 4
a b --board 5x22
a b --board 5x23
a b --board big
a b --board 1x2x3
a b --rule chess
a b --games 0
a b --concurrency 0
a b --turn -1
a b --turn nan
a b --nodes 5e3
a b --patience 0
a b --pin x
a b --pin ²
a b --pin 0-30000
a b --pin 1-0
a b --pin 1,
a b --pin 1 --cluster host
a b --openings missing.txt
a b --openings none.txt
a b --openings balanced:²
a b --resign 800
a b --resume missing.jsonl
--resume missing.jsonl
--resume m.jsonl --turn 7 --rule freestyle
--resume m.jsonl --no-journal --start-timeout 5
--resume m.jsonl --games 3
--resume m.jsonl --games 4
--resume m.jsonl --games 9
--resume m.jsonl --games 9 --concurrency 3 --pin 1 --log "" --view quiet --json
--resume m.jsonl --cluster host
--resume m.jsonl --cluster host --pin 1
--resume odd.jsonl
--resume odd.jsonl --games 5
--resume odd.jsonl --games 6
"""

ENGINES = """
numoku
numoku:
numoku:threads=2,weights=hand,nodes=5,turn=0.5,hash_size=9,hash=8,memory=7,depth=6,strength=5
numoku:seed=-3,book_seed=-1,futility_slope=-7,search=mcts
x=numoku:weights=engine.py,book=missing
random
random:seed=3
y=method:uct,nodes=500,seed=-1
method:alphabeta
method:chess
method
random:threads=2
numoku:colour=red
numoku:threads
numoku:threads=
numoku:=2
numoku:threads=x
numoku:threads=1.5
numoku:threads=-1
numoku:hash=1_000
numoku:depth=²
numoku:nodes=5e3
numoku:turn=x
numoku:turn=nan
numoku:turn=-1
numoku:turn=1e300
numoku:turn=2147483.647
numoku:turn=2147483.648
numoku:memory=999999999999999999
numoku:memory=9999999999999999999
numoku:search=luck
numoku:futility_slope=1.5
numoku:,threads=2,
engine.py
z=engine.py
engine.py --fast
my-engine --fast "two words"
name.with-dots_1=my-engine
1=my-engine
=my-engine
a=
"a b


"""


KINDS = ("positive", "whole", "above_zero", "not_below_zero", "span")  # of numbers


class Known(Exception):
    """A parser that is about to read words."""


class Asked(argparse.ArgumentParser):
    """A parser that reads none."""

    def parse_args(self, *_: Any, **__: Any) -> Any:
        raise Known(self)

    parse_known_args = parse_args


def parser_of(module: Any, ask: Callable[[], object]) -> argparse.ArgumentParser:
    """Return the parser that a command makes for itself."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "Parser", Asked)
        with pytest.raises(Known) as caught:
            ask()
    return caught.value.args[0]


def options() -> Iterator[str]:
    """Yield each option of each command as its parser knows it."""
    kinds = {getattr(values, name): name for name in KINDS}
    parsers = [
        arguments.parser(), report.parser(), tuning.make_parser(),
        parser_of(openings, openings.parse), parser_of(doctor, lambda: doctor.main(["x"])),
    ]  # fmt: skip
    for parser in parsers:
        yield f"{parser.prog}: {parser.description}"
        for action in parser._actions[1:]:  # all but --help
            name = kinds.get(action.type) or getattr(action.type, "__name__", "switch")
            known = ("metavar", "default", "nargs", "choices")
            facts = [f"{key} {getattr(action, key)}" for key in known if vars(action)[key]]
            yield f"  {', '.join([*action.option_strings, action.dest, name, *facts])}"
            yield f"      {action.help}"
        yield ""


def shown(value: object) -> str:
    """Return a value of the settings as text."""
    if isinstance(value, tuple) and value and isinstance(value[0], EngineSpec):
        return " ".join(f"{e.name}{{{','.join(f'{k}={v}' for k, v in e.options)}}}" for e in value)
    return str(value)


def said_by(make: Callable[[], str]) -> str:
    """Return a text, or what is said where there is none."""
    err = io.StringIO()
    with contextlib.redirect_stderr(err):
        try:
            return make()
        except SettingsError as error:
            return f"refused: {error}"
        except SystemExit as stop:
            return f"status {stop.code}: {err.getvalue().strip()}"


def match_of(words: list[str]) -> str:
    """Return in what a match differs from the one that no options ask for."""
    given = arguments.parse(words)
    if given.resume:
        journal = Journal.resume(given.resume)
        journal.close()
        before, settings = journal.settings, arguments.resumed_settings(journal.settings, given)
    else:
        settings = arguments.settings_of(given)
        before = MatchSettings(settings.engines)
    return "; ".join(
        f"{field.name} {shown(getattr(settings, field.name))}"
        for field in fields(MatchSettings)
        if field.name == "engines"
        and not given.resume
        or getattr(settings, field.name) != getattr(before, field.name)
    )


def engine_of(text: str) -> str:
    """Return what a text for an engine stands for."""
    engine = parse_engine(text)
    command = shlex.join(engine.command)
    made = [engine.name, command, *(f"{key}={value}" for key, value in engine.options)]
    made += [engine.builtin, "named" if engine.is_named else "", f"label {engine.label}"]
    made += [f"home {engine.home}", *engine.environment]
    return "; ".join(filter(None, made))


def words() -> str:
    """Return the record of all words."""
    lines = list(options())
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        pytest.MonkeyPatch.context() as patch,
    ):
        here = str(Path.cwd())
        patch.setattr(arguments, "usable_cores", lambda: (0, 1, 8))
        patch.setattr(sys, "executable", "/PYTHON")
        patch.delenv("PYTHONPATH", raising=False)
        for name, text in LISTS.items():
            Path(name).write_text(text, encoding="utf-8")
        for name, games in (("m.jsonl", "4"), ("odd.jsonl", "5")):
            begun = arguments.parse(["a", "b", "--games", games, "--pin", "3"])
            Journal.create(Path(name), arguments.settings_of(begun)).close()
        for text in MATCHES.splitlines()[1:]:
            given = shlex.split(text)
            lines.append(f"$ {text}\n  {said_by(lambda: match_of(given))}")  # noqa: B023
        for text in ENGINES.splitlines()[1:]:
            lines.append(f"> {text}\n  {said_by(lambda: engine_of(text))}")  # noqa: B023
    return "\n".join([*lines, ""]).replace(here, "HERE")


if __name__ == "__main__":
    FILE.write_text(words(), encoding="utf-8")
