"""What engines call themselves: one ABOUT to each before the match, for tables and records."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from ..faults import EngineFault
from ..settings import EngineSpec, SettingsError
from .process import EngineProcess

PATIENCE = 2.0  # seconds; some engines do not know the command
MAX_TITLE = 40

_FIELD = re.compile(r"""\b(\w+)\s*=\s*"([^"]*)\"""")


def parse_about(line: str) -> dict[str, str]:
    """Return the fields of ``name="X", version="1.0"``, however many blanks are in it."""
    return {key.lower(): value.strip() for key, value in _FIELD.findall(line)}


def introduce(engines: Iterable[EngineSpec]) -> tuple[EngineSpec, ...]:
    """Return the engines with their titles, where they tell them in time.

    Raises:
        SettingsError: a program cannot be started at all.
    """
    listed = list(engines)
    with ThreadPoolExecutor(max_workers=len(listed)) as pool:
        titles = list(pool.map(ask_title, listed))
    return tuple(replace(spec, title=title) for spec, title in zip(listed, titles, strict=True))


def ask_title(spec: EngineSpec) -> str:
    """Return name and version of a foreign engine, or an empty string.

    Raises:
        SettingsError: the program cannot be started.
    """
    if spec.builtin:
        return ""
    try:
        process = EngineProcess(spec.command, spec.home, spec.environment)
    except EngineFault as error:
        raise SettingsError(f"{spec.name} cannot be started: {error.detail}") from None
    end = time.perf_counter() + PATIENCE
    fields: dict[str, str] = {}
    try:
        process.send(["ABOUT"])
        while not fields and (line := process.receive(max(0.0, end - time.perf_counter()))):
            fields = parse_about(line.text)
    except EngineFault:
        pass
    finally:
        process.end()
        process.close()
    version = fields.get("version", "").split()[:1]  # some add their compiler and more
    return " ".join([fields.get("name", ""), *version]).strip()[:MAX_TITLE]
