"""What kernels need to run as plain Python: tables, games, workers, tables of a search.

The tables of a rule take seconds in plain Python. They are taken from the compiled kernel, or
computed, and kept beside the compiled kernels under a digest of the sources that they follow from.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from pbrain_engine.eval.evaluator import WEIGHTS, apply_weights
from pbrain_engine.eval.weights import load_weights
from pbrain_engine.game.cells import parse_moves
from pbrain_engine.native.load.library import KernelError, load
from pbrain_engine.native.load.store import PACKAGE, cache_root
from pbrain_engine.patterns.state import STATE, clear_state, place, play
from pbrain_engine.patterns.tables import TABLES, fill_tables
from pbrain_engine.position.geometry import cell_of
from pbrain_engine.position.rules import Rule
from pbrain_engine.search.alphabeta.table import SHARED
from pbrain_engine.search.alphabeta.worker import WORKER
from pbrain_engine.search.parameters import PARAMETERS
from pbrain_engine.search.threats.memory import BUCKET_WORDS, THREATS, begin
from pbrain_engine.search.threats.vct import set_level

SOURCES = (  # that determine the tables
    "kernel/bits.py", "patterns/shapes.py", "patterns/tables.py", "position/geometry.py",
    "position/rules.py", "position/board.py", "eval/evaluator.py",
)  # fmt: skip
WEIGHTS_NAME = "learned"
BUCKETS = 1 << 10


def plain(dtype: np.dtype[Any], **sizes: int) -> Any:
    """Return zeroed memory with the fields of a record, which Python reads faster than a record.

    ``sizes``: how many elements to give a table that the record describes as huge.
    """
    fields = {}
    for name, (kind, *_) in dtype.fields.items():
        base, shape = kind.subdtype or (kind, ())
        if name in sizes:
            fields[name] = np.zeros(sizes[name], base)
        elif base.fields is None:
            fields[name] = np.zeros(shape, base) if shape else base.type(0).item()
        elif shape:
            fields[name] = [plain(base) for _ in range(shape[0])]
        else:
            fields[name] = plain(base)
    return SimpleNamespace(**fields)


def _digest(rule: Rule) -> str:
    state = hashlib.sha256(f"{rule.name} {load_weights(WEIGHTS_NAME).key}".encode())
    for name in SOURCES:
        state.update(Path(PACKAGE, name).read_bytes())
    return state.hexdigest()[:16]


def _compiled_tables(rule: Rule) -> bytes:
    from pbrain_engine.game.game import tables_of

    block = tables_of(load(), rule, load_weights(WEIGHTS_NAME))
    return ctypes.string_at(block.address, TABLES.itemsize)


def _computed_tables(rule: Rule) -> bytes:
    tables = np.zeros(1, TABLES)
    with np.errstate(over="ignore"):
        half, exact, closing, fouls, _ = rule.traits
        fill_tables(tables[0], half, *exact, closing, fouls)
    weights = np.frombuffer(load_weights(WEIGHTS_NAME).block(rule), WEIGHTS)[0]
    apply_weights(tables[0], weights)
    return tables.tobytes()


@cache
def tables_of_rule(rule: Rule) -> Any:
    """Return the tables of a rule with the engine's default weights.

    They serve as an evaluator without a network too, which begins with its tables.
    """
    path = Path(cache_root(), "tables", f"{_digest(rule)}.bin")
    if path.exists():
        data = path.read_bytes()
    else:
        try:
            data = _compiled_tables(rule)
        except KernelError:
            data = _computed_tables(rule)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}")
        part.write_bytes(data)
        part.replace(path)
    found = np.frombuffer(bytearray(data), TABLES)[0]
    names = {name: found[name] for name in TABLES.names or ()}
    names.update((name, int(found[name])) for name in names if not np.shape(found[name]))
    tables = SimpleNamespace(**names)
    tables.tables, tables.network = tables, SimpleNamespace(loaded=0)
    return tables


def set_up(state: Any, tables: Any, moves: str, size: int, others: dict[str, int] | None) -> Any:
    """Play moves such as ``h8i9`` on an empty board; ``others``: more stones or walls by cell."""
    clear_state(state, tables, size, size)
    for cell, kind in (others or {}).items():
        ((x, y),) = parse_moves(cell, size)
        place(state, tables, cell_of(x, y), kind)
    for x, y in parse_moves(moves, size):
        play(state, tables, cell_of(x, y))
    return state


def state_after(
    moves: str, rule: Rule = Rule.FREESTYLE, size: int = 15, others: dict[str, int] | None = None
) -> Any:
    """Return a kernel's game after these moves."""
    state = plain(STATE)
    return set_up(state, tables_of_rule(rule), moves, size, others)


def worker_after(moves: str = "", rule: Rule = Rule.FREESTYLE, size: int = 15) -> Any:
    """Return a search thread's memory with this game, ready to search."""
    worker = plain(WORKER)
    set_up(worker.state, tables_of_rule(rule), moves, size, None)
    worker.node_limit = 1 << 60
    return worker


def shared_block(buckets: int = BUCKETS, **parameters: int) -> Any:
    """Return the block shared by threads: the search parameters and an empty table."""
    shared = plain(SHARED, words=8 * buckets)
    shared.buckets = buckets
    for name, parameter in PARAMETERS.items():
        setattr(shared.params, name, parameters.pop(name, parameter.default))
    assert not parameters, f"no such parameters: {parameters}"
    return shared


def threats_after(
    moves: str = "", rule: Rule = Rule.FREESTYLE, size: int = 15,
    others: dict[str, int] | None = None, nodes: int = 1 << 40,
) -> Any:  # fmt: skip
    """Return a threats block with this game and a node limit."""
    threats = plain(THREATS, words=2 * BUCKET_WORDS * BUCKETS)
    threats.vcf_buckets = threats.vct_buckets = BUCKETS
    set_up(threats.state, tables_of_rule(rule), moves, size, others)
    begin(threats, nodes)
    set_level(threats, 0)
    return threats


def cells(names: str, size: int = 15) -> list[int]:
    """Return the kernel's cells of names such as ``h8i9``."""
    return [cell_of(x, y) for x, y in parse_moves(names, size)]


def cell(name: str, size: int = 15) -> int:
    """Return the kernel's cell of one name."""
    (found,) = cells(name, size)
    return found


def marked(block: Any) -> set[int]:
    """Return the marked cells of a worker or of a threats block."""
    words = [int(word) for word in block.marks]
    return {64 * n + bit for n, word in enumerate(words) for bit in range(64) if word >> bit & 1}


def listed_moves(frame_or_moves: Sequence[Any], count: int) -> list[int]:
    """Return the cells of a packed list of moves."""
    return [int(frame_or_moves[i]) & 0xFFFF for i in range(count)]
