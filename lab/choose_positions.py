"""Choose positions for the strength tests: ``python -m lab.choose_positions FILE``.

The engine plays against itself from random openings, and every position of its games is a
candidate. It is chosen if

- it is *tactical*: a long search finds a forced win that a search of a hundredth of its nodes does
  not, or *positional*: no forced win is in sight, but the best move is worth at least ``CLEAR``
  more than any other;
- a search of twice the length chooses the same move (or another winning one in a tactical
  position).

So the moves are right as far as the engine can tell, and finding them quickly depends on search
and evaluation. All winning moves are accepted in a tactical position.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path

from pbrain_engine.arena.openings import scatter
from pbrain_engine.engine.engine import Engine, Limit, Thought
from pbrain_engine.game.cells import cell_name, format_moves
from pbrain_engine.game.game import Move
from pbrain_engine.position.rules import Rule
from pbrain_engine.values import WIN_BAND

KINDS = ((Rule.FREESTYLE, 15), (Rule.FREESTYLE, 20), (Rule.STANDARD, 15), (Rule.RENJU, 15))
WANTED = 6  # positions of either sort, for each rule and board
LONG = 400_000
GLANCE = 4_000
PLAYING = 5_000
CLEAR = 80
HASH = 64 << 20
EVERY = 3  # plies between two candidates of a game
FEWEST, MOST = 8, 60  # stones


def games(engine: Engine, rule: Rule, size: int) -> Iterator[list[Move]]:
    """Yield games of the engine against itself."""
    number = 0
    while True:
        chance = random.Random(f"{rule}:{size}:{number}")
        number += 1
        engine.new_game(size, rule=rule)
        engine.clear_hash()
        for x, y in scatter(chance, size, size, chance.randint(3, 6)):
            if engine.game.winner is None and not engine.game.is_forbidden(x, y):
                engine.play(x, y)
        while engine.game.winner is None and engine.game.ply < MOST:
            move = engine.think(Limit(nodes=PLAYING)).move
            engine.play(*move)
        yield list(engine.game.moves)


def look(engine: Engine, nodes: int, exclude: tuple[Move, ...] = ()) -> Thought:
    """Search with cleared tables."""
    engine.clear_hash()
    return engine.think(Limit(nodes=nodes), exclude=exclude)


def tactical(engine: Engine) -> list[Move]:
    """Return the winning moves if there is a win that a short search misses, else []."""
    first = look(engine, LONG)
    if first.value < WIN_BAND or look(engine, GLANCE).value >= WIN_BAND:
        return []
    accepted: list[Move] = []
    found = look(engine, 2 * LONG)
    while found.value >= WIN_BAND and len(accepted) < 4:
        accepted.append(found.move)
        found = look(engine, 2 * LONG, tuple(accepted))
    return accepted if first.move in accepted and len(accepted) < 4 else []


def positional(engine: Engine) -> list[Move]:
    """Return the best move if it is clearly better than all others, else []."""
    first = look(engine, LONG)
    move = first.move
    if abs(first.value) >= WIN_BAND // 2 or move is None:
        return []
    second = look(engine, LONG, (move,))
    if first.value - second.value < CLEAR:
        return []
    return [move] if look(engine, 2 * LONG).move == move else []


def choose(engine: Engine, rule: Rule, size: int) -> Iterator[str]:
    """Yield the lines of one rule and board."""
    missing = {"tactical": WANTED, "positional": WANTED}
    chance = random.Random(7)
    for moves in games(engine, rule, size):
        plies = range(FEWEST + chance.randrange(EVERY), len(moves) - 1, EVERY)
        taken = 0
        for ply in plies:
            engine.new_game(size, rule=rule)
            for x, y in moves[:ply]:
                engine.play(x, y)
            value = look(engine, GLANCE).value
            if abs(value) >= WIN_BAND or taken == 2:
                continue
            for sort, find in (("tactical", tactical), ("positional", positional)):
                if not missing[sort] or (sort == "tactical" and value < 0):
                    continue
                accepted = find(engine)
                if accepted:
                    missing[sort] -= 1
                    taken += 1
                    names = " ".join(cell_name(*move) for move in accepted)
                    yield f"{sort} {rule.name.lower()} {size} {format_moves(moves[:ply])} {names}"
                    break
        if not any(missing.values()):
            return


def main(path: Path) -> None:
    """Write the file."""
    with Engine(hash_size=HASH) as engine, path.open("w", encoding="utf-8") as file:
        for rule, size in KINDS:
            for line in choose(engine, rule, size):
                print(line, file=file, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
