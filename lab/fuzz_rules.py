"""Compare kernel and oracle on random, game-like boards: ``python -m lab.fuzz_rules --help``.

Each comparison takes an oracle board and describes the difference, if any. A board with a
difference is shrunk, stone by stone, as long as it still shows one.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from pbrain_engine.engine.engine import Engine
from pbrain_engine.eval.weights import Weights, load_weights
from pbrain_engine.game.game import Game
from pbrain_engine.native.build import compile as compiler
from pbrain_engine.native.load.library import Library, load
from pbrain_engine.native.load.memory import Block
from pbrain_engine.patterns.shapes import MAKES_FIVE, MAKES_WINNING_FOUR, QUIET
from pbrain_engine.position.geometry import MAX_BOARD, MIN_BOARD, PADDED_CELLS, cell_of
from pbrain_engine.position.rules import Rule, Side
from pbrain_engine.values import WIN, loss_in, win_in
from tests.oracle import rules
from tests.oracle.rules import BLACK, BLOCKED, EMPTY, WHITE, Board, Cell
from tests.oracle.threats import five_cells, five_stoppers, four_stoppers, unstoppable_four_cells

Comparison = Callable[[Board, Side], str]

CHECKS = Path(__file__).with_name("kernel_checks.py")
VARIANT = f"asserts-bounds-{hashlib.sha256(CHECKS.read_bytes()).hexdigest()[:8]}"

# Random boards -------------------------------------------------------------------------


def random_board(
    chance: random.Random,
    rule: str | None = None,
    smallest: int = MIN_BOARD,
    largest: int = MAX_BOARD,
    blocked: bool = False,
) -> Board:
    """Return a board whose stones tend to be in line with others; no side has won."""
    width, height = chance.randint(smallest, largest), chance.randint(smallest, largest)
    board = Board(width, height, rule or chance.choice(rules.RULES))
    stones: list[Cell] = []
    wanted = int(width * height * min(chance.random(), chance.random()) * 0.9)
    for _ in range(wanted):
        cell = _next_cell(chance, board, stones)
        if board.at(cell) != EMPTY:
            continue
        side = chance.choice((BLACK, WHITE))
        if blocked and chance.random() < 0.05:
            board.put(cell, BLOCKED)
        elif not rules.wins_at(board, cell, side):
            board.put(cell, side)
            stones.append(cell)
    return board


def last_cells(
    chance: random.Random, rule: str, empty: int, smallest: int = 5, largest: int = 6
) -> Board:
    """Return a small board with two to ``empty`` empty cells and no winner."""
    while True:
        board = random_board(chance, rule, smallest, largest)
        cells = board.empties()
        chance.shuffle(cells)
        for cell in cells[empty:]:
            side = chance.randrange(2)
            if not rules.wins_at(board, cell, side):
                board.put(cell, side)
        if 2 <= len(board.empties()) <= empty and not rules.winners(board):
            return board


def _next_cell(chance: random.Random, board: Board, stones: list[Cell]) -> Cell:
    """Return any cell, but most often one in line with an earlier stone."""
    if not stones or chance.random() < 0.15:
        return chance.randrange(board.width), chance.randrange(board.height)
    x, y = chance.choice(stones[-12:])
    dx, dy = chance.choice(rules.DIRECTIONS)
    distance = chance.choice((-4, -3, -2, -2, -1, -1, 1, 1, 2, 2, 3, 4))
    return x + distance * dx, y + distance * dy


def boards(chance: random.Random, **options: object) -> Iterator[Board]:
    """Yield random boards endlessly."""
    while True:
        yield random_board(chance, **options)  # type: ignore[arg-type]


# From the oracle's board to the engine's ------------------------------------------------


def checked() -> Library:
    """Return the kernel with assertions and bounds checks, and with the exports for fuzzing."""
    compiler.ensure(VARIANT, "lab.kernel_checks")
    return load(variant=VARIANT)


def set_up(game: Game | Engine, board: Board, to_move: int) -> None:
    """Put a board's stones on an empty game."""
    for (x, y), held in board.cells.items():
        if held != EMPTY:
            game.place(x, y, Side(held))
    game.set_to_move(Side(to_move))


def game_of(
    board: Board, to_move: int, library: Library | None = None, memory: Block | None = None
) -> Game:
    """Return an oracle board as a game of the engine."""
    rule = Rule[board.rule.upper()]
    game = Game(board.width, board.height, rule, library=library)
    if memory is not None:
        game.move(memory)
    set_up(game, board, to_move)
    return game


# Comparisons ---------------------------------------------------------------------------


def compare_wins(board: Board, to_move: Side) -> str:
    """Compare, for every empty cell and both sides, whether a stone there wins."""
    game = game_of(board, to_move)
    # A row of six may have been five while stones were placed; then ask about the last stone.
    fresh = game.winner is None
    for cell in board.empties():
        for side in (Side.BLACK, Side.WHITE):
            game.place(*cell, side)
            engine = game.winner is side if fresh else bool(game.library.game_wins(game.address))
            game.undo()
            oracle = rules.wins_at(board, cell, int(side))
            if engine != oracle:
                return f"{side.name} at {cell} wins: engine {engine}, oracle {oracle}"
    return ""


def compare_forbidden(board: Board, to_move: Side) -> str:
    """Compare the cells that renju forbids to black."""
    del to_move
    game = game_of(board, Side.BLACK)
    engine = {tuple(move) for move in game.forbidden()}
    oracle = rules.forbidden_cells(board)
    if engine != oracle:
        return f"forbidden: engine alone {engine - oracle}, oracle alone {oracle - engine}"
    return ""


def compare_answers(board: Board, to_move: Side) -> str:
    """Compare the kernel's answers to the opponent's threat with a brute-force search."""
    enemy = int(to_move.opponent)
    library = checked()
    with closing(Block(library.sizes["worker"])) as worker:
        game = game_of(board, to_move, library, worker)
        marks = (ctypes.c_uint8 * PADDED_CELLS)()
        kind = library.worker_answers(game.address, game.tables, ctypes.addressof(marks))
    answers = {cell for cell in board.cells if marks[cell_of(*cell)]}
    if five_cells(board, int(to_move)):
        return ""  # the side to move wins, so answers do not matter
    threat, needed, allowed = QUIET, set[Cell](), set[Cell]()
    if five_cells(board, enemy):
        threat = MAKES_FIVE
        needed = allowed = five_stoppers(board, enemy)
    elif unstoppable_four_cells(board, enemy):
        threat = MAKES_WINNING_FOUR
        needed = four_stoppers(board, enemy)
        allowed = needed | own_fours(board, int(to_move))
    if kind == QUIET or threat == QUIET:
        return "" if kind == threat else f"threat: engine {kind}, oracle {threat}"
    if kind != threat or needed - answers or answers - allowed:
        return (
            f"threat: engine {kind}, oracle {threat}; "
            f"missing {needed - answers}, too many {answers - allowed}"
        )
    return ""


def own_fours(board: Board, side: int) -> set[Cell]:
    """Return the legal cells with which a side threatens five."""
    cells = set()
    for cell in board.empties():
        if rules.is_legal(board, cell, side):
            with board.stone(cell, side):
                if five_cells(board, side):
                    cells.add(cell)
    return cells


def compare_static(board: Board, to_move: Side) -> str:
    """Check the kernel's static result by playing it out."""
    game = game_of(board, to_move, checked())
    claim = game.library.game_static(game.address, game.tables, 0)
    if claim and not claim_holds(board, int(to_move), claim):
        return f"{to_move.name} to move: the engine claims {claim}, {WIN - abs(claim)} plies"
    return ""


def claim_holds(board: Board, side: int, claim: int) -> bool:
    """Return whether a claimed win in 1, 3 or 5 plies, or a loss in 2, is true."""
    if claim == win_in(1):
        return bool(five_cells(board, side))
    if claim == win_in(3):
        return bool(unstoppable_four_cells(board, side))
    if claim == loss_in(2):
        five = bool(five_cells(board, 1 - side))
        return five and not five_stoppers(board, 1 - side) and not five_cells(board, side)
    return claim == win_in(5) and has_win_in_five(board, side)


def has_win_in_five(board: Board, side: int) -> bool:
    """Return whether some move leads to a five or an unstoppable four after every reply."""
    for cell in board.empties():
        if rules.is_legal(board, cell, side):
            with board.stone(cell, side):
                if not five_cells(board, 1 - side) and _every_reply_loses(board, side):
                    return True
    return False


def _every_reply_loses(board: Board, side: int) -> bool:
    if five_cells(board, side):
        replies = five_stoppers(board, side)
    elif unstoppable_four_cells(board, side):
        replies = four_stoppers(board, side)
    else:
        return False
    return all(_loses_to_five_or_four(board, side, reply) for reply in replies)


def _loses_to_five_or_four(board: Board, side: int, reply: Cell) -> bool:
    with board.stone(reply, 1 - side):
        if rules.is_win(board, reply):
            return False
        return bool(five_cells(board, side) or unstoppable_four_cells(board, side))


WALK_STEPS = 500  # on one board
PARTS = ("", "shapes", "entries", "lists", "counts", "sum", "near cells", "empties")
NETWORK_PARTS = ("", "rows", "features", "sums", "value", "policy", "value without rows")


def walk(
    seed: int, steps: int, every: int, rule: Rule | None = None, weights: Weights | None = None
) -> tuple[int, str]:
    """Play and undo at random on all boards, comparing incremental state with fresh state.

    With ``weights``, compare the network's state, also on boards with blocked cells, once in
    ``every`` steps. Returns the number of steps, and a description of the first difference.
    """
    chance = random.Random(f"{'network' if weights else 'walk'} {seed}")
    library, made = checked(), 0
    parts = NETWORK_PARTS if weights else PARTS
    bytes_of_worker = library.sizes["worker"]
    with closing(Block(bytes_of_worker)) as memory, closing(Block(bytes_of_worker)) as other:
        while made < steps:
            width, height = (chance.randint(MIN_BOARD, MAX_BOARD) for _ in range(2))
            ruled = chance.choice(list(Rule)) if rule is None else rule
            game = Game(width, height, ruled, library=library, weights=weights)
            game.move(memory)
            for _ in range(chance.choice((0, 0, 3, 12)) if weights else 0):
                x, y = chance.randrange(width), chance.randrange(height)
                if game.at(x, y) is Side.EMPTY and game.ply < width * height // 2:
                    game.place(x, y, chance.choice((Side.BLACK, Side.WHITE, Side.WALL)))
            how = (game.tables, chance.getrandbits(48), min(WALK_STEPS, steps - made), every)
            if weights:
                found = library.worker_network_walk(memory.address, other.address, *how)
            else:
                found = library.game_walk(memory.address, *how)
            if found:
                step, part = divmod(found, 8)
                return made, (
                    f"{game.rule.name} {width}x{height}, stream {how[1]}: part {part} "
                    f"({parts[part]}) differs after step {step}"
                )
            made += how[2]
    return made, ""


# Running -------------------------------------------------------------------------------


def shrink(board: Board, to_move: Side, compare: Comparison) -> str:
    """Remove stones while the difference stays; return it with a drawing of the board."""
    smaller = True
    while smaller:
        smaller = False
        for cell, held in board.cells.items():
            if held != EMPTY:
                board.lift(cell)
                if compare(board, to_move):
                    smaller = True
                else:
                    board.put(cell, held)
    text = f"{board.rule}, {to_move.name} to move\n{board.drawing()}"
    return f"{compare(board, to_move)}\n{text}"


COMPARISONS: dict[str, tuple[Comparison, dict[str, object]]] = {
    "wins": (compare_wins, {"blocked": True}),
    "forbidden": (compare_forbidden, {"rule": "renju", "blocked": True}),
    "answers": (compare_answers, {"largest": 12}),
    "static": (compare_static, {"largest": 11}),
}


def differences(
    name: str, seed: int, cells: int, most: int = 5, rule: str | None = None
) -> tuple[list[str], int]:
    """Compare about ``cells`` cells; return the differences and the exact number of cells."""
    compare, options = COMPARISONS[name]
    chance = random.Random(f"{name} {seed}")
    found: list[str] = []
    seen = 0
    if rule is not None:
        options = {**options, "rule": rule}
    for board in boards(chance, **options):
        to_move = Side(chance.randrange(2))
        seen += max(1, len(board.empties()))
        if compare(board, to_move):
            found.append(shrink(board, to_move, compare))
        if seen >= cells or len(found) >= most:
            return found, seen
    raise AssertionError("boards() never ends")


def main(arguments: list[str] | None = None) -> int:
    """Run one or all comparisons; return 1 if anything differed, else 0."""
    parser = argparse.ArgumentParser(prog="python -m lab.fuzz_rules", description=__doc__)
    whats = [*COMPARISONS, "walk", "network", "all"]
    parser.add_argument("--what", choices=whats, default="all", help="network needs --weights")
    parser.add_argument("--weights", help="file with the networks to walk with")
    parser.add_argument(
        "--cells", type=int, default=100_000, help="cells to compare, or steps to walk"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rule", choices=rules.RULES, help="this rule only")
    options = parser.parse_args(arguments)
    names = [*COMPARISONS, "walk"] if options.what == "all" else [options.what]
    status = 0
    for name in names:
        start = time.perf_counter()
        if name in COMPARISONS:
            found, seen = differences(name, options.seed, options.cells, rule=options.rule)
        else:
            rule = options.rule and Rule[options.rule.upper()]
            weights = load_weights(options.weights) if name == "network" else None
            every = 5 if weights else 1
            seen, text = walk(options.seed, options.cells, every, rule, weights)
            found = [text] if text else []
        seconds = time.perf_counter() - start
        print(f"{name}: {seen} cells or steps, {len(found)} differences, {seconds:.0f} s")
        for text in found:
            print(text, end="\n\n", flush=True)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
