"""The hand-set weights: a few readable numbers, spread over all combinations.

``python -m pbrain_engine.learn.hand`` writes them as ``weights/hand.numoku``. They are the
start of learning, and the measure that learned weights have to beat.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path

from ..eval.weights import FAMILIES, write_weights
from ..patterns import shapes as s

# What one line through an empty cell adds to the value of the position for its owner.
LINE_VALUE = {
    s.DEAD: 0,
    s.OVERLINE: 0,
    s.BLOCKED_ONE: 1,
    s.OPEN_ONE: 3,
    s.BLOCKED_TWO: 4,
    s.OPEN_TWO: 8,
    s.OPEN_TWO_WIDE: 10,
    s.OPEN_TWO_FREE: 11,
    s.BLOCKED_THREE: 10,
    s.OPEN_THREE: 17,
    s.OPEN_THREE_FREE: 19,
    s.FOUR: 20,
    s.OPEN_FOUR: 34,
    s.FIVE: 40,
}
# What the lines of one cell add together, above their sum.
CLASS_VALUE = {
    s.MAKES_TWO_TWOS: 7,
    s.MAKES_THREE_TWO: 9,
    s.MAKES_THREE_PLUS: 10,
    s.MAKES_TWO_THREES: 40,
    s.MAKES_FOUR_PLUS: 16,
    s.MAKES_FOUR_THREE: 70,
    s.MAKES_WINNING_FOUR: 40,
}
# What a line is worth in move ordering, for the side that plays there.
LINE_SCORE = {
    s.DEAD: 0,
    s.OVERLINE: -1,
    s.BLOCKED_ONE: 2,
    s.OPEN_ONE: 5,
    s.BLOCKED_TWO: 8,
    s.OPEN_TWO: 20,
    s.OPEN_TWO_WIDE: 23,
    s.OPEN_TWO_FREE: 25,
    s.BLOCKED_THREE: 26,
    s.OPEN_THREE: 60,
    s.OPEN_THREE_FREE: 66,
    s.FOUR: 70,
    s.OPEN_FOUR: 300,
    s.FIVE: 1500,
}
CLASS_SCORE = {
    s.MAKES_TWO_TWOS: 16,
    s.MAKES_THREE_TWO: 20,
    s.MAKES_THREE_PLUS: 24,
    s.MAKES_TWO_THREES: 130,
    s.MAKES_FOUR_PLUS: 30,
    s.MAKES_FOUR_THREE: 240,
    s.MAKES_WINNING_FOUR: 200,
}
ENEMY_SHARE = (3, 5)  # taking a shape away counts this fraction of making it
# Each bit of the threat mask (see eval.evaluator), for the side to move.
MASK_VALUE = (-70, 260, -190, 150, 34, 80, 34, -60, -14, -34, -12)


def combinations() -> Iterator[tuple[int, int, int, int]]:
    """Yield the sorted shapes of every combination, in the order of their numbers."""
    for d in range(s.LINE_SHAPES):
        for c in range(d + 1):
            for b in range(c + 1):
                for a in range(b + 1):
                    yield a, b, c, d


def class_of_lines(lines: tuple[int, ...]) -> int:
    """Return the class of four line shapes where nothing is forbidden."""
    fives = lines.count(s.FIVE)
    fours = lines.count(s.FOUR)
    threes = lines.count(s.OPEN_THREE) + lines.count(s.OPEN_THREE_FREE)
    blocked = lines.count(s.BLOCKED_THREE)
    twos = sum(s.OPEN_TWO <= line <= s.OPEN_TWO_FREE for line in lines)
    if fives:
        return s.MAKES_FIVE
    if s.OPEN_FOUR in lines or fours > 1:
        return s.MAKES_WINNING_FOUR
    if fours:
        if threes:
            return s.MAKES_FOUR_THREE
        return s.MAKES_FOUR_PLUS if blocked + twos else s.MAKES_FOUR
    if threes:
        if threes > 1:
            return s.MAKES_TWO_THREES
        return s.MAKES_THREE_PLUS if blocked + twos else s.MAKES_THREE
    if blocked:
        return s.MAKES_THREE_TWO if blocked + twos > 1 else s.MAKES_BLOCKED_THREE
    if twos:
        return s.MAKES_TWO_TWOS if twos > 1 else s.MAKES_TWO
    return s.QUIET


def is_foul(lines: tuple[int, ...]) -> bool:
    """Return whether four line shapes look like a renju foul."""
    fours = lines.count(s.FOUR) + lines.count(s.OPEN_FOUR)
    threes = lines.count(s.OPEN_THREE) + lines.count(s.OPEN_THREE_FREE)
    return s.FIVE not in lines and (s.OVERLINE in lines or fours > 1 or threes > 1)


def hand_block(family: str) -> bytes:
    """Return the hand-set weights of one rule family."""
    values = array("h")
    own = array("h")
    enemy = array("h")
    for lines in combinations():
        kind = class_of_lines(lines)
        values.append(sum(LINE_VALUE[line] for line in lines) + CLASS_VALUE.get(kind, 0))
        score = sum(LINE_SCORE[line] for line in lines) + CLASS_SCORE.get(kind, 0)
        own.append(score)
        enemy.append(score * ENEMY_SHARE[0] // ENEMY_SHARE[1])
    threats = array("h")
    for mask in range(1 << len(MASK_VALUE)):
        threats.append(sum(value for bit, value in enumerate(MASK_VALUE) if mask >> bit & 1))
    black_values = values
    black_own = own
    white_enemy = enemy
    if family == "renju":  # where black may not play, he has little, and white need not care
        fouls = [is_foul(lines) for lines in combinations()]
        black_values = array("h", (4 if f else v for f, v in zip(fouls, values, strict=True)))
        black_own = array("h", (-40 if f else v for f, v in zip(fouls, own, strict=True)))
        white_enemy = array("h", (8 if f else v for f, v in zip(fouls, enemy, strict=True)))
    scores = black_own + enemy + own + white_enemy
    return (black_values + values + threats + threats + scores).tobytes()


def main() -> None:
    """Write the weight file beside this package's other weights."""
    target = Path(__file__).parent.parent / "weights" / "hand.numoku"
    target.parent.mkdir(exist_ok=True)
    about = {"id": "hand-1", "made": "by hand: learn/hand.py"}
    write_weights(str(target), about, {family: hand_block(family) for family in FAMILIES})
    print(f"{target.name}: {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
