"""The tree: nodes found by the hash of their position, and lists of their moves.

Positions that are reached in several ways share a node, so the tree is a graph; stones are
only ever added, so it has no circles. Nodes live in buckets of a table and lists of moves in
blocks of a pool, both of a fixed length: where there is no room, what is least visited, or
left over from earlier searches, makes it. Nothing is ever moved or collected, so a visit
takes the same time with a full memory as with an empty one.

All of it is guarded by one lock, which a thread holds for the part of a visit that walks
and writes the tree, and not while it judges a position.
"""

import numpy as np

from ...kernel import kernel, record
from ...kernel.bits import exchange
from ...position.board import SETS, bucket_of
from ...values import WIN, WIN_BAND
from ..parameters import MCTS
from .chances import EVEN, UNIT

BUCKET = 4  # nodes in which a position may be found
MAX_NODES = 1 << 25
MAX_BLOCKS = 1 << 22  # a record type describes no more than 2 GiB
BLOCK_EDGES = 16
NO_NODE = 0  # neither node 0 nor block 0 is ever used
NO_BLOCK = 0
NO_EDGE = -1

PROVEN_DRAW = 1  # as a proof; wins and losses are WIN - plies and plies - WIN
NO_PROOF = 0

# How much of a node's moves is on its lists.
PART, NEAR, WHOLE = 0, 1, 2  # the likeliest moves; all near the stones; all that matter

NODE = record(
    key=np.uint64,  # of the position
    total=np.int64,  # sum of the chances to win that visits brought, for the side to move
    visits=np.int32,  # 0: the slot is free
    block=np.int32,  # the first of its lists of moves, or NO_BLOCK
    flying=np.int16,  # visits on their way through it: it must not be recycled
    proof=np.int16,  # what is proven, in plies from here
    least=np.int16,  # plies that a loss takes at least: moves that are not listed lose so
    listing=np.uint8,  # PART, NEAR, or WHOLE: what is not listed is known to lose, or illegal
    generation=np.uint8,  # the search that last visited it
)
EDGE = record(
    visits=np.int32,
    average=np.int32,  # the chance of the side that plays it, as of the last visit
    child=np.int32,  # where the node was when last seen; its key tells whether it still is
    prior=np.uint16,  # share of the policy, of UNIT
    cell=np.int16,
    proof=np.int16,  # what is proven of it for the side that plays it, in plies with the move
    flying=np.int16,
)
BLOCK = record(
    edges=(EDGE, BLOCK_EDGES),
    owner=np.int32,  # node, or NO_NODE where the block is free
    after=np.int32,  # the next block of the node, or of the free ones
    used=np.int32,
)
TREE_PARAMS = record(**dict.fromkeys(MCTS, np.int32))
_HEAD = TREE_PARAMS.itemsize + 8 * (8 + 12 + SETS)
_PAD = -_HEAD % 64
TREE = record(
    params=TREE_PARAMS,
    pad=(np.uint8, _PAD),
    lock=(np.int64, 8),  # 1 while a thread walks or writes the tree; a cache line of its own
    stop=np.int64,  # set by the host: every search returns as soon as it sees it
    generation=np.int64,  # of the running search, 0 to 255
    buckets=np.int64,  # how much memory the host has given
    blocks=np.int64,
    unused=np.int64,  # blocks from here on have never been used
    free=np.int64,  # the first of the freed blocks, or NO_BLOCK
    hand=np.int64,  # where the search for a block to recycle goes on
    root=np.int64,  # node of the root
    lines=np.int64,  # root moves that are looked at evenly, 1 or more
    recycled=np.int64,  # nodes and lists that made room
    scale=np.int64,  # points of value that are one logistic unit of chance
    barred=(np.uint64, SETS),  # cells that are not played at the root
    nodes=(NODE, MAX_NODES),
)
HEAD_BYTES = _HEAD + _PAD
LISTS = record(blocks=(BLOCK, MAX_BLOCKS))

_LOOKS = 24  # lists that are compared before one is recycled


@kernel
def lock_tree(tree):
    """Wait until no other thread walks or writes the tree."""
    while exchange(tree.lock, 0, 1) != 0:
        pass


@kernel
def unlock_tree(tree):
    """Let others in."""
    exchange(tree.lock, 0, 0)


# Proofs ------------------------------------------------------------------------------


@kernel
def before(proof):
    """Return what a child's proof means one ply earlier, for the side that moves there."""
    if proof >= WIN_BAND:
        return -(proof - 1)
    if proof <= -WIN_BAND:
        return -(proof + 1)
    return proof


@kernel
def sure_chance(proof):
    """Return the chance that a proof stands for."""
    if proof >= WIN_BAND:
        return UNIT
    return 0 if proof <= -WIN_BAND else EVEN


# Lists of moves ----------------------------------------------------------------------


@kernel
def edge_at(lists, at):
    """Return the edge with a number: block * BLOCK_EDGES + place."""
    return lists.blocks[at // BLOCK_EDGES].edges[at % BLOCK_EDGES]


@kernel
def free_lists(tree, lists, node):
    """Give all blocks of a node back."""
    at = np.int64(node.block)
    while at != NO_BLOCK:
        block = lists.blocks[at]
        after = np.int64(block.after)
        block.owner = NO_NODE
        block.after = tree.free
        block.used = 0
        tree.free = at
        at = after
    node.block = NO_BLOCK
    node.listing = PART


@kernel
def worth_of(tree, node):
    """Return how much a node deserves to stay: its visits, less each search it was not seen in."""
    age = (tree.generation - np.int64(node.generation)) & 255
    return (np.int64(node.visits) << 8) >> min(2 * age, 40)


@kernel
def recycle_lists(tree, lists):
    """Free the lists of the node that deserves them least among the next few."""
    worst = np.int64(NO_NODE)
    least = np.int64(1) << 62
    seen = 0
    for _ in range(64 * _LOOKS):
        tree.hand += 1
        if tree.hand >= tree.unused:
            tree.hand = 1
        owner = np.int64(lists.blocks[tree.hand].owner)
        if owner == NO_NODE or owner == tree.root or tree.nodes[owner].flying > 0:
            continue
        worth = worth_of(tree, tree.nodes[owner])
        if worth < least:
            least = worth
            worst = owner
        seen += 1
        if seen >= _LOOKS:
            break
    if worst != NO_NODE:
        free_lists(tree, lists, tree.nodes[worst])
        tree.recycled += 1


@kernel
def take_block(tree, lists):
    """Return an empty block, or NO_BLOCK if there is none to be had."""
    if tree.free == NO_BLOCK:
        if tree.unused < tree.blocks:
            at = tree.unused
            tree.unused += 1
            lists.blocks[at].after = NO_BLOCK
            return at
        recycle_lists(tree, lists)
        if tree.free == NO_BLOCK:
            return np.int64(NO_BLOCK)
    at = tree.free
    tree.free = np.int64(lists.blocks[at].after)
    lists.blocks[at].after = NO_BLOCK
    return at


@kernel
def add_edge(tree, lists, number, cell, prior):
    """Put a move at the end of a node's lists; return its edge, or NO_EDGE without room."""
    node = tree.nodes[number]
    at = np.int64(node.block)
    while at != NO_BLOCK and lists.blocks[at].after != NO_BLOCK:
        at = np.int64(lists.blocks[at].after)
    if at == NO_BLOCK or lists.blocks[at].used >= BLOCK_EDGES:
        fresh = take_block(tree, lists)
        if fresh == NO_BLOCK:
            return np.int64(NO_EDGE)
        lists.blocks[fresh].owner = number
        lists.blocks[fresh].used = 0
        if at == NO_BLOCK:
            node.block = fresh
        else:
            lists.blocks[at].after = fresh
        at = fresh
    block = lists.blocks[at]
    place = np.int64(block.used)
    edge = block.edges[place]
    edge.visits = 0
    edge.average = 0
    edge.child = NO_NODE
    edge.prior = min(prior, UNIT - 1)
    edge.cell = cell
    edge.proof = NO_PROOF
    edge.flying = 0
    block.used = place + 1
    return at * BLOCK_EDGES + place


@kernel
def next_edge(lists, at):
    """Return the edge after this one on the lists of a node, or NO_EDGE."""
    place = at % BLOCK_EDGES + 1
    block = lists.blocks[at // BLOCK_EDGES]
    if place < block.used:
        return at + 1
    if block.after == NO_BLOCK:
        return np.int64(NO_EDGE)
    return np.int64(block.after) * BLOCK_EDGES


@kernel
def first_edge(node):
    """Return the first edge of a node, or NO_EDGE; a list is never empty."""
    if node.block == NO_BLOCK:
        return np.int64(NO_EDGE)
    return np.int64(node.block) * BLOCK_EDGES


@kernel
def edge_of(lists, node, cell):
    """Return a node's edge of a cell, or NO_EDGE."""
    at = first_edge(node)
    while at != NO_EDGE and edge_at(lists, at).cell != cell:
        at = next_edge(lists, at)
    return at


# Nodes -------------------------------------------------------------------------------


@kernel
def find_node(tree, key):
    """Return the node of a position, or NO_NODE."""
    start = 1 + BUCKET * bucket_of(key, tree.buckets)
    for i in range(start, start + BUCKET):
        if tree.nodes[i].key == key and tree.nodes[i].visits > 0:
            return np.int64(i)
    return np.int64(NO_NODE)


@kernel
def claim_node(tree, lists, key):
    """Return a cleared node for a position that has none, or NO_NODE if all are in use."""
    start = 1 + BUCKET * bucket_of(key, tree.buckets)
    target = np.int64(NO_NODE)
    least = np.int64(1) << 62
    for i in range(start, start + BUCKET):
        node = tree.nodes[i]
        if node.visits == 0:
            target = np.int64(i)
            break
        if node.flying > 0 or i == tree.root:
            continue
        worth = worth_of(tree, node)
        if worth < least:
            least = worth
            target = np.int64(i)
    if target == NO_NODE:
        return target
    node = tree.nodes[target]
    if node.visits > 0:
        free_lists(tree, lists, node)
        tree.recycled += 1
    node.key = key
    node.total = 0
    node.visits = 0
    node.block = NO_BLOCK
    node.flying = 0
    node.proof = NO_PROOF
    node.least = 0
    node.listing = PART
    node.generation = tree.generation
    return target


@kernel
def mean_of(node):
    """Return a node's chance for its side to move."""
    if node.proof != NO_PROOF:
        return np.int64(sure_chance(np.int64(node.proof)))
    return node.total // max(np.int64(node.visits), 1)


@kernel
def settle(tree, lists, number):
    """Prove a node by its moves, if they can: one that wins, or none that does not lose."""
    node = tree.nodes[number]
    best = np.int64(-WIN) - 1
    longest = np.int64(node.least)
    open_moves = False
    draws = False
    at = first_edge(node)
    while at != NO_EDGE:
        proof = np.int64(edge_at(lists, at).proof)
        if proof == NO_PROOF:
            open_moves = True
        elif proof == PROVEN_DRAW:
            draws = True
        elif proof > 0:
            best = max(best, proof)
        else:
            longest = max(longest, WIN + proof)
        at = next_edge(lists, at)
    if best > 0:
        node.proof = best
    elif open_moves or node.listing != WHOLE:
        return
    elif draws:
        node.proof = PROVEN_DRAW
    else:
        node.proof = longest - WIN
