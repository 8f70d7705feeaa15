"""The kernel with assertions and bounds checks, and random walks through its state."""

from __future__ import annotations

import hashlib
import random
from contextlib import closing
from pathlib import Path

from pbrain_engine.eval.weights import Weights
from pbrain_engine.game.game import Game
from pbrain_engine.native.build import compile as compiler
from pbrain_engine.native.load.library import Library, load
from pbrain_engine.native.load.memory import Block
from pbrain_engine.position.geometry import MAX_BOARD, MIN_BOARD
from pbrain_engine.position.rules import Rule, Side

CHECKS = Path(__file__).with_name("kernel_checks.py")
VARIANT = f"asserts-bounds-{hashlib.sha256(CHECKS.read_bytes()).hexdigest()[:8]}"
WALK_STEPS = 500  # on one board
PARTS = ("", "shapes", "entries", "lists", "counts", "sum", "near cells", "empties")
NETWORK_PARTS = ("", "rows", "features", "sums", "value", "policy", "value without rows")


def checked() -> Library:
    """Return the kernel with assertions and bounds checks, and with the exports for fuzzing."""
    compiler.ensure(VARIANT, "tests.kernel_checks")
    return load(variant=VARIANT)


def walk(
    seed: int, steps: int, every: int, rule: Rule | None = None, weights: Weights | None = None
) -> str:
    """Play and undo at random on all boards, comparing incremental state with fresh state.

    With ``weights``, compare the network's state, also on boards with blocked cells, once in
    ``every`` steps. Return a description of the first difference.
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
                return (
                    f"{game.rule.name} {width}x{height}, stream {how[1]}: part {part} "
                    f"({parts[part]}) differs after step {step}"
                )
            made += how[2]
    return ""
