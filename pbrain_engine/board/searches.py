"""Operations of a desk's engine: analyse, move, review, balance and play openings."""

from __future__ import annotations

import os
import random
from time import perf_counter
from typing import Any

from .. import __version__
from ..app.saved import certain_of, found_of
from ..app.thinking import KEEPING_LEVEL, LEVELS, choose, choose_by, clock_seconds
from ..app.view import foul_of
from ..engine import swap2
from ..engine.ending import analysis
from ..engine.engine import Engine, Limit, Thought
from ..engine.opening_choices import decide
from ..engine.review import Reviewer
from ..errors import Refused
from ..files import Document
from ..game.cells import parse_moves
from ..game.documents import (
    game_document,
    pairs,
    review_document,
    reviewed_document,
    thought_document,
)
from ..game.game import Game, Move
from ..game.opening_rules import RULES as OPENINGS
from ..game.opening_rules import Act, OpeningPlay
from ..game.result import Reviewed
from ..methods import METHODS
from ..options import MEGABYTES
from ..position.geometry import MAX_BOARD, MIN_BOARD
from ..position.rules import Side
from ..values import chance as chance_of
from .desk import DEFAULT_MEMORY, Desk, Job, refuse_if_over
from .messages import (
    POSITION,
    RULES,
    flag,
    number,
    object_of,
    operation,
    seconds,
    text,
    whole,
)

KEEPING_GAP = 5.0  # seconds of an analysis that may be lost if the server is killed
MOST_POLICY = 40  # moves of the policy to show
THREADS = whole(1, 64, "threads to search with", default=1)
MEMORY = whole(*MEGABYTES, "megabytes for the process", default=DEFAULT_MEMORY)


SPANS = ("left", "increment", "byoyomi")
CLOCK = object_of({name: number(0, 86_400, "seconds") for name in SPANS}, "left") | {
    "description": "seconds left, added after each move, and per move once none are left",
    "default": None,
}


def _engine_for(desk: Desk, job: Job, *options: Any) -> Engine:
    engine = desk.engine(job.setup, *options)
    refuse_if_over(engine.game)
    return engine


@operation(
    endless=True,
    position=POSITION,
    multipv=whole(1, 20, "how many best moves", default=1),
    threads=THREADS,
    memory=MEMORY,
    policy=flag("add the moves that look best before any search"),
    time=seconds(None, "seconds"),
    nodes=whole(1, 1 << 50, "positions to search, from empty tables", default=None),
    depth=whole(1, 200, "plies", default=None),
)
def analyse(desk: Desk, job: Job) -> Document:
    """Search a position; on the WebSocket, report each depth until a limit or a new request."""
    fields = job.fields
    setup = job.setup
    limit = Limit(time=fields["time"], nodes=fields["nodes"], depth=fields["depth"])
    engine = _engine_for(desk, job, fields["threads"], fields["memory"], limit != Limit())
    more: Document = {"network": engine.network}
    if fields["policy"]:
        best = engine.policy()[:MOST_POLICY]
        more["policy"] = [{"cell": list(move), "share": round(share, 4)} for move, share in best]
    deepest: Thought | None = None
    whole: dict[int, Thought] = {}  # the lines of the last complete depth
    coming: dict[int, Thought] = {}
    weights, kept = engine.weights.key, perf_counter()

    def note(thought: Thought) -> None:
        nonlocal deepest, whole, kept
        if thought.multipv == 1:
            deepest = thought
            if len(coming) >= len(whole):  # complete, though the position has fewer moves
                whole = dict(coming)
            coming.clear()
        coming[thought.multipv] = thought
        if len(coming) >= fields["multipv"]:
            whole = dict(coming)
        if whole:
            lines = [thought_document(line) for line in whole.values()]
            effort = {"nodes": thought.nodes, "time": round(thought.time, 4)}
            job.tell({**lines[0], **effort, "lines": lines, **more})
        if perf_counter() - kept > KEEPING_GAP and deepest is not None:
            kept = perf_counter()
            desk.archive.note(setup, deepest, weights)

    best_found = engine.think(limit, on_iteration=note, multipv=fields["multipv"])
    if deepest is not None:  # may be deeper than the returned result
        desk.archive.note(setup, deepest, weights)
    desk.archive.note(setup, best_found, weights)
    whole = whole or coming
    others = [line for line in whole.values() if line.move != best_found.move]
    lines = [best_found, *others[: max(len(whole) - 1, 0)]]
    if job.is_stopped:
        rows = [thought_document(thought) for thought in lines]
        found = {**game_document(engine.game), **rows[0], "lines": rows}
    else:  # extends the line of a win to the five
        found = analysis(engine, lines)
    return {**found, **more, "stopped": job.is_stopped}


@operation(
    position=POSITION,
    level=whole(1, 10, "strength", default=10),
    method=text("a textbook method instead of the engine", enum=tuple(METHODS), default=None),
    seconds=seconds(5.0, "for the move"),
    clock=CLOCK,
    threads=THREADS,
    memory=MEMORY,
)
def move(desk: Desk, job: Job) -> Document:
    """Choose the engine's move in a game against a person."""
    fields = job.fields
    seconds, chance = fields["seconds"], random.Random()
    if fields["clock"]:
        left, increment, byoyomi = (float(fields["clock"].get(name) or 0.0) for name in SPANS)
        cells = job.setup.width * job.setup.height
        seconds = clock_seconds(left, increment, byoyomi, len(job.setup.stones), cells)
    if fields["method"]:
        game = Game.of(job.setup)
        refuse_if_over(game)
        found, choice = choose_by(fields["method"], game, seconds, chance)
        line = [divmod(cell, game.width)[::-1] for cell in choice.line]
        return {"move": found, "nodes": choice.nodes, "pv": line}
    engine = _engine_for(desk, job, fields["threads"], fields["memory"])
    is_strong = fields["level"] >= KEEPING_LEVEL
    known = certain_of(desk.archive.finding(engine.game)) if is_strong else None
    thought = known or choose(engine, LEVELS[fields["level"]], seconds, chance)
    if is_strong and known is None:
        desk.archive.note(job.setup, thought, engine.weights.key)
    return thought_document(thought)


@operation(position=POSITION, stones=whole(1, 2, "how many", default=1), seconds=seconds(5.0))
def balance(desk: Desk, job: Job) -> Document:
    """Find one or two stones that leave even chances.

    `value` and `chance` are for the side to move now.
    """
    search, stones = opening_search(desk, job), job.fields["stones"]
    if len(search.engine.game.empty_cells()) < stones:
        raise Refused("there is no room for the stones").coded("no-room")
    find = swap2.balanced_move if stones == 1 else swap2.balanced_pair
    found, value = find(search, 0)
    scale = desk.scale(job.setup)
    return {"stones": pairs(found), "value": value, "chance": round(chance_of(value, scale), 4)}


def opening_search(desk: Desk, job: Job) -> swap2.OpeningSearch:
    """Return a search with the position and the time limit of a job."""
    engine = _engine_for(desk, job)
    return swap2.share_time(engine, perf_counter() + job.fields["seconds"], job.check)


@operation(position=POSITION, seconds=seconds(1.0, "for each position"))
def review(desk: Desk, job: Job) -> Document:
    """Review a game from the last move to the first: values, mistakes, missed and allowed wins."""
    setup = job.setup
    if not setup.moves:
        raise Refused("there are no moves to review").coded("no-moves")
    Game.of(setup)
    engine = desk.engine(setup.beginning)
    found: dict[int, Document] = {}

    def listen(reviewed: Reviewed) -> None:
        found[reviewed.ply] = reviewed_document(reviewed)  # again, if an earlier move showed more
        job.tell({"moves": [found[ply] for ply in sorted(found)]})

    known = desk.archive.finding
    reviewer = Reviewer(engine, desk.solver(), job.fields["seconds"], known)
    played = [Move(*move) for move in setup.moves]
    moves = reviewer.review(played, listen, lambda: job.is_stopped)
    job.check()
    desk.archive.note_findings(found_of(setup, moves, engine.weights.key))
    return review_document(setup, moves)


@operation(at_once=True, position=POSITION)
def look(desk: Desk, job: Job) -> Document:
    """Apply the rules: side to move, winner, forbidden cells and why."""
    game = Game.of(job.setup)

    def explained(cell: Move) -> Document:
        return {"cell": list(cell), "reason": foul_of(game, *cell)}

    return {
        "to_move": game.to_move.name.lower(),
        "winner": None if game.winner is None else game.winner.name.lower(),
        "full": game.is_full,
        "over": game.is_over,
        "opening": None if game.opening is None else str(game.opening),
        "row": pairs(game.winning_row()),
        "foul": None if game.foul is None else explained(game.foul),
        "forbidden": [explained(cell) for cell in game.forbidden()],
    }


@operation(at_once=True, named="engine")
def about(desk: Desk, job: Job) -> Document:
    """Describe the engine: levels, rules, opponents, threads, and whether it has a database."""
    return {
        "version": __version__,
        "rules": list(RULES),
        "sizes": [MIN_BOARD, MAX_BOARD],
        "threads": os.cpu_count() or 1,
        "memory": DEFAULT_MEMORY,
        "levels": [{"level": number, **level._asdict()} for number, level in LEVELS.items()],
        "opponents": [{"name": name, "about": about} for name, about in METHODS.items()],
        "database": desk.archive.name is not None,
    }


# Openings by a rule: the page stores the rule, the actions so far and which player the person
# is; of a position, only board size and rule count.

MOST_ACTIONS = 400  # characters; the longest opening has 20 words, one of them of ten cells
OPENING_RULE = text("the rule of the opening", enum=tuple(OPENINGS))
ACTIONS = text(
    "actions so far: h8, h8+i9 for fifth stones, swap, keep, 5, two ...", maxLength=MOST_ACTIONS
)


def state_of(opening: OpeningPlay) -> Document:
    """Return whose step it is and its choices; ``act`` is null at the end.

    ``options``: for each button its word, and the side that it takes.
    """
    step = opening.step
    state: Document = {
        "rule": opening.rule.name,
        "actions": list(opening.actions),
        "done": [{"player": who, "stones": stones} for who, stones in opening.history],
        "stones": pairs(opening.stones),
        "black": opening.black,
        "player": opening.player,
        "act": None if step is None else step.act.value,
        "wanted": opening.wanted(),
        "cells": pairs(opening.cells()),
    }
    if step is None:
        return state
    words = [name for name, _ in step.branches]
    if step.act is Act.COUNT:
        words = [*map(str, range(step.low, step.high + 1))]
    sides = []
    if step.act is Act.SWAP or "swap" in words:
        sides = [[opening.taking(side), side.name.lower()] for side in (Side.BLACK, Side.WHITE)]
    others = [[word, None] for word in words if word not in ("keep", "swap")]
    return state | {"reach": step.reach, "options": [*sides, *others]}


@operation(
    named="opening",
    at_once=True,
    position=POSITION,
    rule=OPENING_RULE,
    actions=ACTIONS,
    picked=text("fifth stones picked so far", maxLength=MOST_ACTIONS, default=""),
)
def opening_state(desk: Desk, job: Job) -> Document:
    """Describe the step of an opening in a position: whose it is, and its choices.

    `cells` are the allowed cells, without those symmetric to picked stones. `isBack`: the position
    is an earlier one; without an `act` it is none of the opening's.
    """
    opening, moves = _opening(job), [*job.setup.moves]
    known = moves if opening.step is not None else moves[: len(opening.stones)]
    if known != opening.stones:
        earlier = opening.back_at(moves)
        if earlier is None:
            return state_of(opening) | {"act": None, "done": [], "stones": [], "isBack": True}
        return state_of(earlier) | {"isBack": True}
    state = state_of(opening)
    twins = opening.twins(parse_moves(job.fields["picked"].replace("+", "")))
    state["cells"] = pairs([cell for cell in opening.cells() if cell not in twins])
    return state


@operation(position=POSITION, rule=OPENING_RULE, actions=ACTIONS, seconds=seconds(5.0))
def opening_step(desk: Desk, job: Job) -> Document:
    """Do the next step of an opening for its player; `words` are the actions done."""
    opening = _opening(job)
    if opening.step is None:
        raise Refused("the opening is over")
    before = len(opening.actions)
    opening.play(decide(opening_search(desk, job), opening, random.Random()))
    return state_of(opening) | {"words": opening.actions[before:]}


def _opening(job: Job) -> OpeningPlay:
    setup, fields = job.setup, job.fields
    opening = OpeningPlay.named(fields["rule"], setup.width, setup.height, fields["actions"])
    wanted = opening.rule.rule
    if wanted not in (None, setup.rule):
        raise Refused(f"{opening.rule.title} is played by the rule {wanted.label}")
    return opening
