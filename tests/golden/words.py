"""What commands of the arena make of their words: ``python -m tests.golden.words``.

Commands (see ``records``) name a match by a command line, an engine, or the options of the
protocol's program. Recorded is in what the match differs from one without options, what the engine
is, which options these are, or why there is none.
"""

from __future__ import annotations

import io
import shlex
import sys
from contextlib import redirect_stderr
from dataclasses import fields
from pathlib import Path

from pbrain_engine.arena import arguments, settings
from pbrain_engine.arena.match import Journal
from pbrain_engine.arena.settings import EngineSpec, MatchSettings, parse_engine
from pbrain_engine.errors import SettingsError, problem_of
from pbrain_engine.protocol import serve
from tests.golden.records import Record, session, stage


def shown(value: object) -> str:
    """Return a value of the settings as text."""
    if isinstance(value, tuple) and value and isinstance(value[0], EngineSpec):
        return " ".join(f"{e.name}{{{','.join(f'{k}={v}' for k, v in e.options)}}}" for e in value)
    return str(value)


def said_of(words: str, _: str) -> str:
    """Return what words mean, or what is said where they mean nothing."""
    kind, _, text = words.partition(" ")
    err = io.StringIO()
    with redirect_stderr(err):
        try:
            said = {"match": match_of, "engine": engine_of, "options": options_of}[kind](text)
        except (SettingsError, OSError) as error:
            said = f"refused: {problem_of(error)}"
        except SystemExit as stop:
            said = f"status {stop.code}: {err.getvalue().strip()}"
    return f"  {said}\n"


def match_of(text: str) -> str:
    """Return in what a match differs from the one that no options ask for."""
    given = arguments.parse(shlex.split(text))
    if given.resume:
        journal = Journal(given.resume, "r+b")
        journal.close()
        before, asked = journal.settings, arguments.resumed_settings(journal.settings, given)
    else:
        asked = arguments.settings_of(given)
        before = MatchSettings(asked.engines)
    return "; ".join(
        f"{field.name} {shown(getattr(asked, field.name))}"
        for field in fields(MatchSettings)
        if field.name == "engines"
        and not given.resume
        or getattr(asked, field.name) != getattr(before, field.name)
    )


def engine_of(text: str) -> str:
    """Return what a text for an engine stands for."""
    engine = parse_engine(text)
    command = shlex.join(engine.command)
    made = [engine.name, command, *(f"{key}={value}" for key, value in engine.options)]
    made += [engine.builtin, "named" if engine.is_named else "", f"label {engine.label}"]
    made += [f"home {engine.home}", *engine.environment]
    return "; ".join(filter(None, made))


def options_of(text: str) -> str:
    """Return the options that a command line of the protocol's program has, or what is wrong."""
    options = serve.read_options(text.split())
    problem = serve.problem_of(options) if options else ""
    return f"{options}{problem and f': {problem}'}"


@Record("words")
def words(record: str) -> str:
    """Return the record of all words, of which another one has what is asked."""
    with stage() as patch:
        here = str(Path.cwd())
        patch.setattr(settings, "usable_cores", lambda: (0, 1, 8))
        patch.setattr(sys, "executable", "/PYTHON")
        patch.delenv("PYTHONPATH", raising=False)
        return session(record, dict(globals()), said_of).replace(here, "HERE")
