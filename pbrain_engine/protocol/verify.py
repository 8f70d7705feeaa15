"""Replaying a line before it is called a forced win: plain Python, no kernel.

A search reports a value and a line. Before a client reads ``+M9``, the line is played out
here on an ordinary dictionary of stones and has to end in a five of the right side after
exactly that many plies, not earlier.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..position.rules import Rule, Side

Stones = dict[tuple[int, int], Side]
_DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))


def run(stones: Stones, x: int, y: int, dx: int, dy: int, side: Side) -> int:
    """Return the stones of a side in a row from the next cell on, in one direction."""
    length = 0
    while stones.get((x + (length + 1) * dx, y + (length + 1) * dy)) == side:
        length += 1
    return length


def makes_five(stones: Stones, x: int, y: int, rule: Rule) -> bool:
    """Say whether the stone at x, y stands in a row that wins under the rule."""
    side = stones[x, y]
    for dx, dy in _DIRECTIONS:
        ahead = run(stones, x, y, dx, dy, side)
        behind = run(stones, x, y, -dx, -dy, side)
        length = ahead + behind + 1
        if length < 5:
            continue
        if length > 5 and rule.traits.exact[side]:
            continue
        if rule.traits.closing and length == 5:
            first = stones.get((x + (ahead + 1) * dx, y + (ahead + 1) * dy))
            second = stones.get((x - (behind + 1) * dx, y - (behind + 1) * dy))
            if first == side.opponent == second:
                continue
        return True
    return False


def line_wins(
    stones: Stones, to_move: Side, line: Iterable[tuple[int, int]], plies: int, rule: Rule
) -> bool:
    """Say whether a line of exactly so many plies ends in the first five on the board."""
    board = dict(stones)
    side = to_move
    moves = list(line)
    if len(moves) != plies or plies == 0:
        return False
    for ply, (x, y) in enumerate(moves, 1):
        if (x, y) in board:
            return False
        board[x, y] = side
        if makes_five(board, x, y, rule):
            return ply == plies
        side = side.opponent
    return False
