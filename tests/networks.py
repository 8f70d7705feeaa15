"""Networks of random numbers for tests: every layer has an effect, but no meaning."""

from __future__ import annotations

import ctypes
import random
from array import array
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from pbrain_engine.eval import network_block as block
from pbrain_engine.eval.network_block import Field, Sizes, head_fields, shared_fields
from pbrain_engine.eval.weights import FAMILIES, load_weights, write_weights
from pbrain_engine.game.game import Game
from pbrain_engine.patterns import shapes
from pbrain_engine.patterns.state import STATE
from pbrain_engine.position.geometry import MARGIN, STRIDE
from pbrain_engine.position.rules import EMPTY
from tests.oracle.network import key_of, pattern_numbers

DIFFERENT = 5003  # period of an array's numbers, a prime
SHIFTS = (9, 1, 11, 10, 12, 13, 13, 13, 10, 12, 250, 900, 0, 0, 0, 0)


def sizes_for(family: str, codes: int = 501) -> Sizes:
    """Return the sizes of the network of a rule family; in renju, colours are not tied."""
    half = 4 if family == "freestyle" else 5
    tied = 0 if family == "renju" else 1
    return Sizes(
        block.FORM, half, tied, 2 - tied, block.PATTERNS[half], codes, block.CHANNELS,
        block.REGION_UNITS, block.CELL_UNITS, block.TRUNK_UNITS, block.VALUE_UNITS,
        block.NEAR_CLASSES,
    )  # fmt: skip


def numbers_for(field: Field, sizes: Sizes, chance: random.Random) -> array[int]:
    """Return the numbers of an array."""
    count = field.bytes // array(field.kind).itemsize
    if field.name == "shifts":
        return array("i", SHIFTS)
    if field.kind == "H":
        if field.name == "swap":  # code 0 is its own partner, the others are pairs
            return array("H", [0, *((code - 1 ^ 1) + 1 for code in range(1, sizes.codes))])
        return codes_for(sizes, chance)
    reach = {"book": 900, "near": 400, "trunk_threats": 500, "neighbours": 16000}
    limit = reach.get(field.name, 20000 if field.kind == "i" else 300)
    some = [chance.randint(-limit, limit) for _ in range(min(count, DIFFERENT))]
    return array(field.kind, (some * (count // len(some) + 1))[:count])


def codes_for(sizes: Sizes, chance: random.Random) -> array[int]:
    """Return a code for each pattern, with paired codes for exchanged colours."""
    numbers = pattern_numbers(sizes.half)
    codes = array("H", bytes(2 * len(numbers)))
    for window, number in numbers.items():
        twin = tuple((0, 2, 1, 3)[bits] for bits in window)
        other = numbers[min(twin, twin[::-1], key=key_of)]
        if not sizes.tied:
            codes[number] = chance.randrange(sizes.codes)
        elif other > number:
            codes[number] = chance.randrange(1, sizes.codes)
            codes[other] = (codes[number] - 1 ^ 1) + 1
    return codes


@cache
def random_network(family: str) -> bytes:
    """Return the block of a network for a rule family."""
    return block_of(sizes_for(family), family)


def block_of(sizes: Sizes, seed: str) -> bytes:
    """Return a block of random numbers of these sizes."""
    chance = random.Random(seed)
    fields = shared_fields(sizes) + sizes.heads * head_fields(sizes)
    return sizes.pack() + b"".join(numbers_for(f, sizes, chance).tobytes() for f in fields)


HAND_BLOCKS = load_weights("hand").blocks


def write_random(path: Path, families: tuple[str, ...] = FAMILIES) -> str:
    """Write the hand-set weights with random networks; return the file's name."""
    networks = {family: random_network(family) for family in families}
    write_weights(str(path), {"id": "random"}, HAND_BLOCKS, networks)
    return str(path)


# The kinds of threats of one side in a mask, lowest bit first.
STRONG_FOUR = (shapes.MAKES_FOUR_THREE, shapes.MAKES_FOUR_PLUS)
STRONG_THREE = (shapes.MAKES_TWO_THREES, shapes.MAKES_THREE_PLUS)
KINDS = (STRONG_FOUR, (shapes.MAKES_FOUR,), STRONG_THREE, (shapes.MAKES_THREE,))


def threat_mask(counts: Any, side: int) -> int:
    """Return the mask of the threats on the board, from the counts of each side's classes."""
    own, enemy = counts[side], counts[1 - side]
    here = [
        enemy[shapes.MAKES_FIVE], own[shapes.MAKES_WINNING_FOUR], enemy[shapes.MAKES_WINNING_FOUR]
    ]  # fmt: skip
    here += [sum(cells[kind] for kind in kinds) for cells in (own, enemy) for kinds in KINDS]
    return sum(1 << bit for bit, count in enumerate(here) if count)


def features(game: Game) -> tuple[int, dict[tuple[int, int], tuple[int, int]]]:
    """Return the threat mask, and each empty cell's combination for black and white."""
    memory = (ctypes.c_char * STATE.itemsize).from_address(game.address)
    state = np.frombuffer(memory, STATE)[0]
    found = {}
    for cell in map(int, np.flatnonzero(state.position.holds == EMPTY)):
        entries = int(state.entries[cell])  # the combination of each: twelve bits above the class
        black, white = (entries >> 4) & 0xFFF, (entries >> 36) & 0xFFF
        found[cell % STRIDE - MARGIN, cell // STRIDE - MARGIN] = black, white
    return threat_mask(state.counts, int(state.position.side)), found
