"""``numoku analyse``: the value, best line and forced wins of a position.

``--json`` prints one object. Cells are ``[x, y]`` from 0 at the top left; values and chances are
those of the side to move.

- the position: ``rule``, ``size``, ``stones`` (a number), ``to_move``, ``winner``, ``forbidden``,
  cells of ``black``, ``white`` and ``walls``, ``played`` (moves in order; null where stones were
  set up or a side passed), ``opening`` (one of renju's 26, or null), ``version``, ``weights``
- the best move: ``move``, ``value``, ``chance`` (0 to 1), ``bound`` (empty; ``lower`` or ``upper``
  where the value is only a bound), ``mate`` (plies to the forced end, negative for a loss, or
  null), ``depth``, ``seldepth``, ``pv``, ``nodes``, ``time`` (seconds), ``win`` (null, or
  ``plies``, ``line`` and, where threats prove it, ``proof``)
- ``lines``: the same for each of the ``--multipv`` best moves
- ``policy`` (``--policy``): ``[[x, y], chance]`` for every move that the search considers, best
  first; the chances add up to 1
- ``tree`` (``--tree``): the proof, or null
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..app import saved, setup, thinking, view
from ..app.view import format_thought
from ..engine.ending import Prover, analysis, line_to_five
from ..engine.engine import Engine, Limit, Thought
from ..errors import counted
from ..game.documents import tree_document
from ..game.result import Tree
from ..options import MEGABYTE, POSITION, SHARED, CommandLine, Option, integer, positive
from ..position.geometry import Coordinates
from ..solver import Solver
from ..values import format_value
from .db import entry_lines

POLICY_MOVES = 10
TREE_SECONDS = 60.0  # for the proof of a win


COMMAND = CommandLine(
    "numoku analyse",
    "Show value, depth and best line of a position, forced wins, and in renju the cells that are "
    "forbidden to black.",
    (
        SHARED["position"]._replace(more={"nargs": "*"}),
        *POSITION,
        Option("--ply", integer, None, "N",
               "analyse the position after N moves of the game; -N: before its last N"),
        SHARED["time"]._replace(default=5.0),
        "depth",
        "nodes",
        Option("--multipv", positive, 1, "N", "number of best moves to show"),
        "tree",
        Option("--policy", None, False, None, "show the moves that look best before any search"),
        "threads", "memory", "search", "db", "weights", "json",
    ),
    "POSITION is a string of moves such as h8i9j10 (letter = column, number = row from the top), "
    "a game file, or - to read any of these, or a drawn board of . X O, from "
    "standard input. Ctrl-C shows the results so far.",
)  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    """Analyse a position."""
    options = COMMAND.parse(arguments)
    position = setup.chosen_setup(options, " ".join(options.position))
    if options.ply is not None:
        position = setup.cut(position, options.ply)
    limit = Limit(time=options.time, depth=options.depth, nodes=options.nodes)
    memory = options.memory * MEGABYTE
    with (
        saved.OptionalDatabase(options.db) as database,
        Engine(memory=memory, threads=options.threads, weights=options.weights) as engine,
    ):
        engine.new_game(*position.board)
        engine.game.become_checked(position)
        known = None if options.multipv > 1 else saved.certain_of(database.finding(engine.game))
        if not options.json:
            show_position(engine, position.last)
            entry = database.look_up(engine.game)
            if entry is not None:
                print("\n".join(["known already:", *(f"  {line}" for line in entry_lines(entry))]))
            if options.policy and not engine.game.is_over:
                show_policy(engine)
        if known is not None:
            thoughts = [known]
        elif engine.game.is_over:
            thoughts = []
        else:
            show = None if options.json else lambda found: print(format_thought(found), flush=True)
            thoughts = thinking.think(engine, limit, on_iteration=show, multipv=options.multipv)
        tree = proof_tree(engine, thoughts) if options.tree else None
        if thoughts:
            database.note(engine, thoughts[0]._replace(tree=tree))
        if options.json:
            document = analysis(engine, thoughts)
            if options.tree:
                document["tree"] = tree_document(tree)
            if options.policy:
                document["policy"] = [
                    [list(move), round(chance, 6)] for move, chance in engine.policy()
                ]
            print(json.dumps(document))
        elif thoughts:
            _show_result(engine, thoughts)
            if options.tree:
                _show_tree(engine, tree)
        else:
            print("`--ply N` analyses the position after N moves, `--ply -N` before the last N")
    return 0


def show_position(engine: Engine, last: Coordinates | None) -> None:
    """Print the board, the side to move and the forbidden cells."""
    game = engine.game
    forbidden = game.forbidden()
    view.show_board(game, last, forbidden)
    name = game.rule.label
    if game.winner is not None:
        why = f": {view.foul_line(game)}" if game.foul is not None else ""
        print(f"{name}: {game.winner.name.lower()} has won{why}")
    elif game.is_full:
        print(f"{name}: the board is full, a draw")
    else:
        print(f"{name}, {game.to_move.name.lower()} to move")
    opening = game.opening
    if opening is not None:
        print(f"opening {opening}")
    if forbidden:
        print(f"forbidden: {view.format_line(forbidden)}")


def show_policy(engine: Engine) -> None:
    """Print the static value, and the moves that look best."""
    source = engine.network or "linear"
    print(f"at a glance ({source}): value {format_value(engine.value())}")
    first = engine.policy()[:POLICY_MOVES]
    print("  ".join(f"{view.format_line([move])} {chance:.1%}" for move, chance in first))


def _show_result(engine: Engine, thoughts: list[Thought]) -> None:
    best = thoughts[0]
    print()
    print(f"best move {view.format_line([best.move])}, value {view.format_worth(best)}")
    if best.proof:
        print(view.format_proof(best.proof, (abs(best.mate or 0) + 1) // 2, best.pv))
    elif best.mate is not None:
        who = engine.game.to_move if best.value > 0 else engine.game.to_move.opponent
        line = line_to_five(engine, best)
        plies = max(best.plies, len(line))
        print(f"{who.name.lower()} wins in {plies} plies: {view.format_line(line)}")
    for other in thoughts[1:]:
        print(format_thought(other))


def proof_tree(engine: Engine, thoughts: list[Thought]) -> Tree | None:
    """Return the proof of a win of the side to move, or None if none is found in time."""
    if engine.game.is_over:
        return None
    with Solver(engine.table_bytes or MEGABYTE, engine.library) as solver:

        def stop() -> None:
            solver.stop()
            engine.stop()

        prover = Prover(engine, solver, TREE_SECONDS)
        try:
            return thinking.in_thread(lambda: prover.prove(thoughts[0]), stop)
        except KeyboardInterrupt:
            return None


def _show_tree(engine: Engine, tree: Tree | None) -> None:
    if tree is None:
        print("no win is proven")
        return
    print(f"the proof, {counted(tree.size(), 'move')} of the winner:")
    with Solver(MEGABYTE, engine.library) as solver:
        print("\n".join(view.proof_lines(engine.game, solver, tree)))
