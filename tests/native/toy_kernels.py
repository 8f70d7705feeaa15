"""A small kernel of every kind that the engine uses: what the native tests compile.

Records by reference, a nested record, a self-recursive kernel, a global table, an assert, an
array index that may be out of bounds, and memory that has to be set and moved.
"""

import numpy as np
from numba import carray

from pbrain_engine.kernel import export, kernel, record, recursive_kernel

CELLS = 64
EMPTY = 2
KEYS = (np.arange(1, 2 * CELLS + 1, dtype=np.uint64) * np.uint64(0x9E37_79B9_7F4A_7C15)).reshape(
    2, CELLS
)

TOY = record(
    key=np.uint64, nodes=np.int64, history=(np.int32, CELLS), cells=(np.int8, CELLS), side=np.int8
)
TOY_BYTES = TOY.itemsize


@kernel
def put(toy, cell):
    assert toy.cells[cell] == EMPTY
    toy.cells[cell] = toy.side
    toy.key ^= KEYS[toy.side, cell]
    toy.side = 1 - toy.side


@kernel
def lift(toy, cell):
    toy.side = 1 - toy.side
    toy.key ^= KEYS[toy.side, cell]
    toy.cells[cell] = EMPTY


@recursive_kernel(TOY, int)
def walk(toy, depth):
    toy.nodes += 1
    if depth == 0:
        return np.int64(toy.key & np.uint64(1023))
    best = -(1 << 40)
    for cell in range(8):
        if toy.cells[cell] == EMPTY:
            put(toy, cell)
            value = -walk(toy, depth - 1)
            lift(toy, cell)
            if value > best:
                best = value
                toy.history[cell] += depth
    return best


@export
def toy_size():
    return TOY_BYTES


@export
def toy_clear(toy_p):
    toy = carray(toy_p, (1,), TOY)[0]
    toy.cells[:] = EMPTY
    toy.history[:] = 0
    toy.key = np.uint64(0)
    toy.nodes = 0
    toy.side = 0
    return 0


@export
def toy_put(toy_p, cell):
    put(carray(toy_p, (1,), TOY)[0], cell)
    return 0


@export
def toy_walk(toy_p, depth):
    return walk(carray(toy_p, (1,), TOY)[0], depth)


@export
def toy_nodes(toy_p):
    return carray(toy_p, (1,), TOY)[0].nodes


@export
def toy_read(toy_p, cell):
    return carray(toy_p, (1,), TOY)[0].history[cell]


@export
def toy_sum(a, b, c, d, e, f, g, h):
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h


@export
def toy_shift(memory_p, count):
    memory = carray(memory_p, (count,), np.uint8)
    for i in range(count - 1, 0, -1):
        memory[i] = memory[i - 1]
    return 0
