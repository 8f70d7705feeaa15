"""Statically decided positions, and the exact answers to a threat.

``static_result`` claims only proven results: its wins hold against every reply. A threat is a five
that the enemy can complete (class MAKES_FIVE) or a winning four that the enemy can make
(MAKES_WINNING_FOUR); ``mark_answers`` marks exactly the cells that remove the threat, and against a
winning four also the own fours, which gain time.
"""

import numpy as np

from ... import values
from ...kernel import kernel
from ...kernel.bits import U64, lowest_bit
from ...patterns import shapes as s
from ...patterns.forbidden import foul, neighbour_cell
from ...patterns.state import (
    class_at,
    code_of,
    count_of,
    first_of,
    place,
    play,
    sets_of,
    take_back,
    undo,
)
from ...patterns.tables import class_in, line_shape_of, shape_in, with_stone
from ...position.board import bit_of, line_key
from ...position.geometry import STRIDE
from ...position.rules import BLACK, EMPTY
from ...values import WIN

win_in = kernel(values.win_in)
loss_in = kernel(values.loss_in)


@kernel
def closes_rows(tables):
    """Return whether the rule has closed rows, so that a five has more than one answer."""
    return tables.closing != 0


@kernel
def may_foul(tables, side):
    """Return whether the rule has fouls for this side."""
    return tables.fouls != 0 and side == BLACK


@kernel
def fours_of(state, side):
    """Return the number of cells that may make a four, but no five, for a side."""
    cells = (
        count_of(state, side, s.MAKES_FOUR)
        + count_of(state, side, s.MAKES_FOUR_PLUS)
        + count_of(state, side, s.MAKES_FOUR_THREE)
        + count_of(state, side, s.MAKES_WINNING_FOUR)
    )
    return cells + count_of(state, side, s.MAKES_FOUL)


@kernel
def four_three_wins(state, tables, cell):
    """Return whether a four with an open three wins by four, block and winning four.

    The block must not make a four for the enemy. Not for rules with closed rows, where a four has
    several answers.
    """
    side = np.int64(state.position.side)
    wins = False
    play(state, tables, cell)
    block = first_of(state, side, s.MAKES_FIVE)
    kind = class_at(state, 1 - side, block)
    if kind < s.MAKES_FOUR and kind != s.MAKES_FOUL:
        play(state, tables, block)
        wins = count_of(state, side, s.MAKES_WINNING_FOUR) > 0
        undo(state, tables)
    undo(state, tables)
    return wins


@kernel
def static_result(state, tables, ply):
    """Return the value of a statically decided position, else 0.

    ``ply`` counts from the root. Wins: a five; a winning four while the enemy has no five; a four
    with a three or two open threes that leave the enemy no four in between. Losses: two fives to
    stop, or a forbidden only answer.
    """
    side = np.int64(state.position.side)
    enemy = 1 - side
    if count_of(state, side, s.MAKES_FIVE) > 0:
        return win_in(ply + 1)
    fives = count_of(state, enemy, s.MAKES_FIVE)
    if fives > 0:
        if closes_rows(tables):
            return 0
        if fives > 1:
            return loss_in(ply + 2)
        if may_foul(tables, side):
            if foul(state, tables, first_of(state, enemy, s.MAKES_FIVE)) == 1:
                return loss_in(ply + 2)
        return 0
    if count_of(state, side, s.MAKES_WINNING_FOUR) > 0:
        return win_in(ply + 3)
    strong = count_of(state, side, s.MAKES_FOUR_THREE) > 0
    double = count_of(state, side, s.MAKES_TWO_THREES) > 0
    if strong or double:
        calm = fours_of(state, enemy) == 0
        if calm and double:
            return win_in(ply + 5)
        if strong and calm and not may_foul(tables, side):
            return win_in(ply + 5)
        if strong and not closes_rows(tables):
            for word in sets_of(state):
                cells = state.listed[side, s.MAKES_FOUR_THREE - s.OTHERS, word]
                while cells != U64(0):
                    cell = word * 64 + lowest_bit(cells)
                    cells &= cells - U64(1)
                    if four_three_wins(state, tables, cell):
                        return win_in(ply + 5)
    return 0


@kernel
def stones_in(value):
    """Return the number of stones to win for a winning static value."""
    return (WIN - value + 1) // 2


# Answers -----------------------------------------------------------------------------


@kernel
def kills(state, tables, attacker, target, cell, kind):
    """Return whether a defender's stone on ``cell`` lowers ``target`` below class ``kind``."""
    if cell == target:
        return True
    dx = (cell & (STRIDE - 1)) - (target & (STRIDE - 1))
    dy = (cell >> 5) - (target >> 5)
    half = tables.half
    if dy == 0:
        direction = 0
        offset = dx
    elif dx == 0:
        direction = 1
        offset = dy
    elif dx == dy:
        direction = 2
        offset = dx
    elif dx == -dy:
        direction = 3
        offset = dx
    else:
        return False
    if abs(offset) > half:
        return False
    number = offset + half if offset < 0 else offset + half - 1
    return kills_on(state, tables, attacker, target, direction, number, kind)


@kernel
def kills_on(state, tables, attacker, target, direction, number, kind):
    """Return ``kills`` for a neighbour of the target on a line."""
    half = tables.half
    code = code_of(state.shapes[target], attacker)
    key = with_stone(line_key(state.position.lines, target, direction, half), number, 1 - attacker)
    shape = line_shape_of(tables, key, attacker)
    code ^= (shape_in(code, direction) ^ shape) << (4 * direction)
    return class_in(tables.cells[attacker, code]) < kind


@kernel
def kills_all(state, tables, attacker, cell, kind):
    """Return whether a defender's stone on ``cell`` leaves the attacker no cell of a class.

    If the attacker may foul, a stone can also make a forbidden cell legal, so it is tried on the
    board.
    """
    if may_foul(tables, attacker):
        place(state, tables, cell, 1 - attacker)
        left = count_of(state, attacker, kind)
        if kind != s.MAKES_FIVE:
            left += count_of(state, attacker, s.MAKES_FIVE)
        take_back(state, tables)
        return left == 0
    for word in sets_of(state):
        cells = state.listed[attacker, kind - s.OTHERS, word]
        while cells != U64(0):
            target = word * 64 + lowest_bit(cells)
            cells &= cells - U64(1)
            if not kills(state, tables, attacker, target, cell, kind):
                return False
    return True


@kernel
def mark_killers(worker, tables, kind):
    """Mark every legal cell that leaves the enemy no cell of a class.

    Such a cell kills the first target in particular, so only that target's lines are tried.
    """
    state = worker.state
    side = np.int64(state.position.side)
    enemy = 1 - side
    target = first_of(state, enemy, kind)
    many = count_of(state, enemy, kind) > 1 or may_foul(tables, enemy)
    for line in range(5):
        for number in range(1 if line == 4 else 2 * tables.half):
            cell = target if line == 4 else neighbour_cell(target, tables.half, line, number)
            if state.position.holds[cell] != EMPTY:
                continue
            if line < 4 and not kills_on(state, tables, enemy, target, line, number, kind):
                continue
            if many and not kills_all(state, tables, enemy, cell, kind):
                continue
            if may_foul(tables, side) and foul(state, tables, cell) == 1:
                continue
            worker.marks[cell >> 6] |= bit_of(cell)


@kernel
def makes_after_all(state, tables, cell, least):
    """Return whether a cell that looks forbidden to black is legal and makes a line shape.

    The shape must be ``least`` or stronger, up to an open four.
    """
    code = code_of(state.shapes[cell], BLACK)
    for direction in range(4):
        if least <= shape_in(code, direction) <= s.OPEN_FOUR:
            return foul(state, tables, cell) == 0
    return False


@kernel
def makes_four(state, tables, side, cell):
    """Return whether a cell makes a legal four, but no five, for a side."""
    kind = class_at(state, side, cell)
    if kind == s.MAKES_FOUL:
        return makes_after_all(state, tables, cell, s.FOUR)
    return s.MAKES_FOUR <= kind < s.MAKES_FIVE


@kernel
def attack_cells(state, tables, side, word, least, shape):
    """Return one word of the set of cells where a side can attack, but make no five.

    ``least``: the weakest class of these cells; ``shape``: the weakest line shape of those that
    look forbidden.
    """
    cells = U64(0)
    for kind in range(least, s.MAKES_FIVE):
        cells |= state.listed[side, kind - s.OTHERS, word]
    if may_foul(tables, side):
        fouls = state.listed[side, s.MAKES_FOUL - s.OTHERS, word]
        while fouls != U64(0):
            cell = word * 64 + lowest_bit(fouls)
            fouls &= fouls - U64(1)
            if makes_after_all(state, tables, cell, shape):
                cells |= bit_of(cell)
    return cells


@kernel
def four_cells(state, tables, side, word):
    """Return one word of the set of cells where a side can make a four, but no five."""
    return attack_cells(state, tables, side, word, s.MAKES_FOUR, s.FOUR)


@kernel
def clear_marks(worker):
    """Empty the scratch set."""
    worker.marks[:] = U64(0)


@kernel
def mark_class(worker, side, kind):
    """Mark the cells of a class."""
    for word in sets_of(worker.state):
        worker.marks[word] |= worker.state.listed[side, kind - s.OTHERS, word]


@kernel
def mark_empties(worker):
    """Mark exactly the empty cells."""
    for word in sets_of(worker.state):
        worker.marks[word] = worker.state.position.empties[word]


@kernel
def mark_answers(worker, tables):
    """Mark the answers to the enemy's strongest threat; return its class, QUIET if there is none.

    Against a five: the cells that leave no five. Against a winning four: the cells that leave none,
    and the own fours.
    """
    state = worker.state
    side = np.int64(state.position.side)
    enemy = 1 - side
    clear_marks(worker)
    if count_of(state, enemy, s.MAKES_FIVE) > 0:
        mark_killers(worker, tables, s.MAKES_FIVE)
        return s.MAKES_FIVE
    if count_of(state, enemy, s.MAKES_WINNING_FOUR) > 0:
        mark_killers(worker, tables, s.MAKES_WINNING_FOUR)
        for word in sets_of(state):
            worker.marks[word] |= four_cells(state, tables, side, word)
        return s.MAKES_WINNING_FOUR
    return s.QUIET
