"""What a desk's engine is asked: to look at a position, to play, to choose in swap2, to review."""

from __future__ import annotations

import os
import random
from time import perf_counter
from typing import Any

from .. import __version__
from ..app.kept import certain_of, document, found_of, known_by, move_form
from ..app.thinking import KEEPING_LEVEL, LEVELS, choose, choose_by
from ..engine import forms, swap2
from ..engine.engine import SEARCHES, Engine, Limit, Thought
from ..engine.review import Reviewed, Reviewer
from ..game.game import Move
from ..methods import METHODS
from ..notation.game_tree import GameRecord
from ..position.geometry import MAX_BOARD, MIN_BOARD
from ..position.rules import Rule
from .desk import DEFAULT_MEMORY, Desk, Job
from .messages import (
    MOST_SECONDS,
    PLACE,
    Refused,
    facts,
    flag,
    game_of,
    number,
    one_of,
    operation,
    seconds,
    setup_of,
    whole,
)

KEEPING_GAP = 5.0  # seconds of an analysis that may be lost if the server is killed
MOST_POLICY = 40  # moves of the policy that are shown
SWAP2_STONES = (0, 3, 5)
MOST_MEMORY = 65_536  # megabytes
MOST_LINES = 20
THREADS = whole(1, 64, 1, "threads to search with")
MEMORY = whole(16, MOST_MEMORY, DEFAULT_MEMORY, "megabytes that the process may use")


def engine_for(desk: Desk, setup: GameRecord, *options: Any) -> Engine:
    """Return the engine with a position in which there is something to think about."""
    engine = desk.engine(setup, *options)
    if engine.game.is_over:
        raise Refused("the game is over")
    return engine


@operation(
    endless=True,
    position=PLACE,
    multipv=whole(1, MOST_LINES, 1, "how many best moves"),
    threads=THREADS,
    memory=MEMORY,
    search=one_of(SEARCHES, SEARCHES[0], "the kind of search"),
    policy=flag("which moves look best before any search, too"),
    time=number(0.01, MOST_SECONDS, None, "seconds"),
    nodes=whole(1, 1 << 50, None, "positions to search, with an empty memory"),
    depth=whole(1, 200, None, "plies"),
)
def analyse(desk: Desk, job: Job) -> dict[str, Any]:
    """Search a position; on the WebSocket each depth is reported, until a limit or new question."""
    fields = job.fields
    setup = setup_of(fields["position"])
    limit = Limit(time=fields["time"], nodes=fields["nodes"], depth=fields["depth"])
    engine = engine_for(
        desk, setup, fields["threads"], fields["memory"], fields["search"], limit != Limit()
    )
    more: dict[str, Any] = {"network": engine.network}
    if fields["policy"]:
        best = engine.policy()[:MOST_POLICY]
        more["policy"] = [{"cell": list(move), "share": round(share, 4)} for move, share in best]
    latest: dict[int, Thought] = {}
    weights, kept = engine.weights.key, perf_counter()

    def note(thought: Thought) -> None:
        nonlocal kept
        if thought.multipv == 1:
            latest.clear()
        latest[thought.multipv] = thought
        lines = [forms.thought_form(thought) for thought in latest.values()]
        job.tell({**lines[0], "nodes": thought.nodes, "lines": lines, **more})
        if perf_counter() - kept > KEEPING_GAP:
            kept = perf_counter()
            desk.archive.note(setup, latest[1], weights)

    best_found = engine.think(limit, on_iteration=note, multipv=fields["multipv"])
    if 1 in latest:  # it may be deeper than what the search has returned
        desk.archive.note(setup, latest[1], weights)
    desk.archive.note(setup, best_found, weights)
    latest[1] = best_found
    lines = list(latest.values())
    if job.is_stopped:
        rows = [forms.thought_form(thought) for thought in lines]
        found = {**forms.game_form(engine.game), **rows[0], "lines": rows}
    else:  # a line is played out to the five
        found = forms.analysis_form(engine, lines)
    return {**found, **more, "stopped": job.is_stopped}


@operation(
    position=PLACE,
    level=whole(1, 10, 10, "strength"),
    method=one_of(METHODS, None, "a method of the textbooks in place of the engine"),
    seconds=seconds(5.0, "for the move"),
    threads=THREADS,
    memory=MEMORY,
)
def move(desk: Desk, job: Job) -> dict[str, Any]:
    """Choose the engine's move in a game against a person."""
    fields = job.fields
    setup, seconds, chance = setup_of(fields["position"]), fields["seconds"], random.Random()
    if fields["method"]:
        game = game_of(setup)
        if game.is_over:
            raise Refused("the game is over")
        found, choice = choose_by(fields["method"], game, seconds, chance)
        line = [divmod(cell, game.width)[::-1] for cell in choice.line]
        return {"move": found, "nodes": choice.nodes, "pv": line}
    engine = engine_for(desk, setup, fields["threads"], fields["memory"])
    is_strong = fields["level"] >= KEEPING_LEVEL
    known = certain_of(desk.archive.finding(engine.game)) if is_strong else None
    thought = known or choose(engine, LEVELS[fields["level"]], seconds, chance)
    if is_strong and known is None:
        desk.archive.note(setup, thought, engine.weights.key)
    return forms.thought_form(thought)


@operation(title="swap2", position=PLACE, seconds=seconds(5.0))
def choose_side(desk: Desk, job: Job) -> dict[str, Any]:
    """Decide in swap2 with 0, 3 or 5 stones there: put three stones, take a side, or put two."""
    setup = setup_of(job.fields["position"])
    if setup.placed or len(setup.moves) not in SWAP2_STONES:
        raise Refused("swap2 is decided with 0, 3 or 5 stones on the board")
    searcher = _opening_search(desk, job, setup)
    if setup.moves:
        choice = swap2.choose(searcher, *setup.board, setup.moves)
    else:
        choice = swap2.first_three(searcher, *setup.board)
    return {"swap": choice.swap, "stones": forms.pairs(choice.stones)}


@operation(position=PLACE, stones=whole(1, 2, 1, "how many"), seconds=seconds(5.0))
def balance(desk: Desk, job: Job) -> dict[str, Any]:
    """Find one or two stones after which the chances are even.

    `value` is that of the side to move for its own stone, or for two stones before its next move.
    """
    searcher = _opening_search(desk, job, setup_of(job.fields["position"]))
    if job.fields["stones"] == 1:
        move, value = swap2.balanced_move(searcher, 0)
        return {"stones": forms.pairs([move]), "value": value}
    pair, value = swap2.balanced_pair(searcher, 0)
    return {"stones": forms.pairs(pair), "value": value}


def _opening_search(desk: Desk, job: Job, setup: GameRecord) -> swap2.OpeningSearch:
    engine = engine_for(desk, setup)
    return swap2.share_time(engine, perf_counter() + job.fields["seconds"], job.check)


@operation(position=PLACE, seconds=seconds(1.0, "for each position"))
def review(desk: Desk, job: Job) -> dict[str, Any]:
    """Review a game move by move, the last one first: values, mistakes, missed and allowed wins."""
    setup = setup_of(job.fields["position"])
    if not setup.moves:
        raise Refused("there are no moves to review")
    game_of(setup)
    engine = desk.engine(setup.beginning)
    found: dict[int, dict[str, Any]] = {}

    def listen(reviewed: Reviewed) -> bool:
        found[reviewed.ply] = move_form(reviewed)  # again, where an earlier move has shown more
        job.tell({"moves": [found[ply] for ply in sorted(found)]})
        return job.is_stopped

    known = known_by(desk.archive.finding)
    reviewer = Reviewer(engine, desk.solver(), job.fields["seconds"], known)
    moves = reviewer.review([Move(*move) for move in setup.moves], listen)
    job.check()
    desk.archive.note_findings(found_of(setup, moves, engine.weights.key))
    return document(setup, moves)


@operation(at_once=True, position=PLACE)
def look(desk: Desk, job: Job) -> dict[str, Any]:
    """Say what the rules say: who moves, who has won, what is forbidden and why."""
    with desk.looking:
        return facts(desk.board(setup_of(job.fields["position"])))


@operation(at_once=True, title="engine")
def about(desk: Desk, job: Job) -> dict[str, Any]:
    """Say what the engine can do: levels, rules, kinds of search, threads; and its database."""
    return {
        "version": __version__,
        "rules": [rule.name.lower() for rule in Rule],
        "sizes": [MIN_BOARD, MAX_BOARD],
        "searches": list(SEARCHES),
        "threads": os.cpu_count() or 1,
        "memory": DEFAULT_MEMORY,
        "levels": [{"level": number, **level._asdict()} for number, level in LEVELS.items()],
        "database": desk.archive.name is not None,
    }
