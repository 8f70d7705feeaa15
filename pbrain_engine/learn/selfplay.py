"""One game of self-play: an opening, then searches limited by nodes.

A game depends only on the seed and its number: the engine forgets everything before it, searches
are limited by nodes, and there is one search thread. So games can be played anywhere in any order.

There are several kinds of openings; all but the wild ones are balanced according to a search:

- *square*: random stones in a small square, mostly around the centre;
- *balanced*: plausible stones, each one of the policy's first moves;
- *wild*: random stones anywhere, which may favour one side;
- *swap2*: three stones that begin swap2, in half of them plus two more.

Search trees are full of positions that never occur in games: moves that no player would choose,
threats left unanswered. *Branches* are additional positions off a game, each with its own label.
About half of them are positions where a search of the game reached its node limit, which may be
anywhere in its tree, leaf searches included. The others leave the game at a random place and
continue with a few moves, about every second of them odd. Each is searched once and not played to
the end, so it has a value and a move but no result (Veness et al. 2009 learn from such trees for
the same reason).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from math import isfinite
from typing import NamedTuple

from ..arena.openings import first_balanced, square_around
from ..engine.engine import Engine, Move
from ..engine.searcher import ShortSearch
from ..engine.swap2 import openings
from ..eval.weights import load_weights
from ..game.record import GameRecord
from ..notation.games import MOST_OPENING, NO_VALUE, Ending, NodePlan, Record
from ..position.geometry import Coordinates
from ..position.rules import Rule, Side
from ..values import WIN, WIN_BAND, loss_in

SQUARE, BALANCED, WILD, SWAP2 = "square", "balanced", "wild", "swap2"
KINDS = (SQUARE, BALANCED, WILD, SWAP2)
MIX = ((SQUARE, 0.3), (BALANCED, 0.4), (WILD, 0.1), (SWAP2, 0.2))
ALL_SQUARE = ((SQUARE, 1.0),)

STONES = (2, 9)  # of an opening
REACHES = (2, 3, 4)  # greatest distances of its stones from the middle of their square
OFF_CENTRE = 0.25  # share of squares anywhere on the board
BALANCE = 150  # largest value of an opening for either side ...
WILD_BALANCE = 600  # ... and of a wild one
TRIES = 100  # openings to try before taking the best of them
PLAYED = (3, 9)  # stones of a balanced opening
AMONG = 12  # of the policy's first moves, to draw each stone from
FIRST_REACH = 3  # greatest distance of the first stone from the centre
PAIRED = 0.5  # share of swap2 openings with five stones

Shares = tuple[tuple[str, float], ...]  # of each kind of opening, summing to 1
Line = Sequence[Coordinates]  # the moves from the empty board to a position


def parse_shares(text: str) -> Shares:
    """Parse ``square`` or ``balanced=0.5,swap2=0.25``, scaled to sum 1; ValueError if invalid."""
    found: dict[str, float] = {}
    for word in text.split(","):
        kind, _, share = word.strip().partition("=")
        try:
            number = float(share or 1)
        except ValueError:
            number = 0.0
        if kind not in KINDS or kind in found or not (isfinite(number) and number > 0):
            raise ValueError(f"openings {text}: {', '.join(KINDS)}, with shares such as wild=0.1")
        found[kind] = number
    total = sum(found.values())
    return tuple((kind, found[kind] / total) for kind in KINDS if kind in found)


def format_shares(shares: Shares) -> str:
    """Return shares as text for ``parse_shares``."""
    return ",".join(f"{kind}={share:g}" for kind, share in shares)


def set_up_line(engine: Engine, line: Line) -> bool:
    """Replace all stones; return False if the game is over then, by a foul, win or full board."""
    engine.game.become(GameRecord(moves=tuple(line)))
    return not engine.game.is_over


def scatter(chance: random.Random, board: int) -> list[Coordinates]:
    """Return random stones in a small square, mostly around the centre."""
    reach = chance.choice(REACHES)
    middle = (board // 2, board // 2)
    if chance.random() < OFF_CENTRE:
        middle = (chance.randrange(board), chance.randrange(board))
    near = square_around(middle, reach, board, board)
    return chance.sample(near, min(chance.randint(*STONES), len(near) - 1))


def play_out(engine: Engine, chance: random.Random, board: int) -> list[Coordinates]:
    """Return plausible stones; fewer if the game would end or has no choice."""
    reach = min(FIRST_REACH, (board - 1) // 2)
    first = (board // 2 + chance.randint(-reach, reach), board // 2 + chance.randint(-reach, reach))
    stones = [first]
    for _ in range(chance.randint(*PLAYED) - 1):
        if not set_up_line(engine, stones):
            break
        policy = engine.policy()[:AMONG]
        if len(policy) < 2:
            break
        stones.append(chance.choice(policy)[0])
    return stones


def begin_swap2(chance: random.Random, board: int) -> list[Coordinates]:
    """Return three or five stones of a swap2 opening."""
    stones = list(chance.choice(openings(board, board, chance)))
    if chance.random() < PAIRED:
        reach = max(REACHES)
        near = {cell for stone in stones for cell in square_around(stone, reach, board, board)}
        stones += chance.sample(sorted(near - {*stones}), 2)
    return stones


def make_opening(
    engine: Engine, chance: random.Random, board: int, kind: str, judge: Callable[[], int]
) -> list[Coordinates]:
    """Return the first balanced opening of a kind, or the best of many.

    ``judge`` returns the value of the engine's position.
    """

    def candidate() -> list[Coordinates]:
        if kind == BALANCED:
            return play_out(engine, chance, board)
        if kind == WILD:
            cells = [(x, y) for y in range(board) for x in range(board)]
            return chance.sample(cells, chance.randint(*STONES))
        return (scatter if kind == SQUARE else begin_swap2)(chance, board)

    candidates = (candidate() for _ in range(TRIES))
    playable = (opening for opening in candidates if set_up_line(engine, opening))
    return first_balanced(playable, lambda _: judge(), WILD_BALANCE if kind == WILD else BALANCE)


# Games ----------------------------------------------------------------------------------

LEAST_TABLE = 1 << 20  # bytes: ample for a few thousand nodes, and cheap to clear ...
BYTES_A_NODE = 64  # ... of longer searches
NODES_SPREAD = 0.25  # searches of a game vary in length by this share, so that games differ
GLANCE_PART = 10  # a tenth of the nodes of a move rejects most openings
CALM_VALUE, CALM_MOVES = 10, 8  # a draw after 8 values in a row this close to 0 ...
CALM_FROM = 0.45  # ... if this share of the board is full

BRANCH_STEPS = (1, 1, 2, 2, 3)  # moves between the game and the branch
TREE_SHARE = 0.6  # of the branches, from search trees, unless those are unsuitable
ODD_SHARE = 0.5  # of the moves to the other branches, odd ones
ODD_AMONG = 14  # of the policy's first moves, to draw an odd move from
BRANCH_TRIES = 8  # positions to try for each branch
NEAR_END = 4  # plies to the end of a position decided at a glance, by a five or a winning four


class SelfPlayed(NamedTuple):
    """A game and its branches."""

    record: Record
    branches: tuple[Record, ...] = ()


class Plan(NamedTuple):
    """The settings that determine the games of a file."""

    seed: int
    budget: NodePlan  # nodes of a search
    rules: tuple[Rule, ...]
    boards: tuple[int, ...]
    weights: str  # name or path
    branch_share: float = 0.0  # of all positions
    openings: Shares = ALL_SQUARE
    full_share: float = 0.0  # of the games, not ended early by quiet moves

    def scattered_nodes(self, chance: random.Random, stones: int) -> int:
        """Return the nodes of one search, varied at random so that games differ."""
        return int(self.budget.at(stones) * chance.uniform(1 - NODES_SPREAD, 1 + NODES_SPREAD))

    def about(self) -> dict[str, str]:
        """Return the head of a file: everything that its games depend on except their numbers."""
        more = {}
        if self.openings != ALL_SQUARE:  # compatible with files older than this option
            more["openings"] = format_shares(self.openings)
        if self.full_share:
            more["full"] = f"{self.full_share:g}"
        return {
            "seed": str(self.seed),
            "nodes": str(self.budget),
            "rules": " ".join(rule.name.lower() for rule in self.rules),
            "boards": " ".join(map(str, self.boards)),
            "branches": f"{self.branch_share:g}",
            **more,
            "weights": load_weights(self.weights).key,
        }

    def play(self, engine: Engine, number: int) -> SelfPlayed:
        """Play a game and make its branches, which depend only on the plan and the number."""
        player = SelfPlayer(engine, self)
        record = play_game(engine, self, number, player)
        chance = random.Random(f"{self.seed}:{number}:branches")
        return SelfPlayed(record, grow(engine, self, chance, record, player.ends))


def make_engine(budget: NodePlan, weights: str) -> Engine:
    """Return an engine whose table has room for the longest search."""
    return Engine(hash_size=max(LEAST_TABLE, BYTES_A_NODE * budget.most), weights=weights)


class SelfPlayer:
    """Plays both sides of a game by searches of about the plan's nodes.

    An opening gets a brief search, then a full one, which also yields its first move.
    """

    def __init__(self, engine: Engine, plan: Plan) -> None:
        """Play on this engine; ``ends``: where searches with a choice reached their node limit."""
        self.ends: list[Line] = []
        self._engine, self._plan = engine, plan
        self._known: tuple[list[Move], ShortSearch | None] | None = None

    def judge(self) -> int:
        """Return the value of the engine's position as an opening."""
        nodes = self._plan.budget.at(self._engine.game.ply)
        found = self._engine.search_nodes(max(1, nodes // GLANCE_PART))
        if found is not None and abs(found.value) <= BALANCE:
            found = self._engine.search_nodes(nodes)
            self._known = self._engine.game.moves, found
        return loss_in(2) if found is None else found.value

    def decide(self, chance: random.Random) -> tuple[Coordinates, int]:
        """Return a move, and the value of the position for the side to move."""
        moves = self._engine.game.moves
        nodes = self._plan.scattered_nodes(chance, len(moves))
        known = self._known
        found = known[1] if known and known[0] == moves else self._engine.search_nodes(nodes)
        if found is None:  # only fouls are left
            return self._engine.quick_move(), loss_in(2)
        if found.end and found.choices > 1:
            self.ends.append([*moves, *found.end])
        return found.move, found.value


def play_game(engine: Engine, plan: Plan, number: int, player: SelfPlayer) -> Record:
    """Play one game of a plan from its opening to its end."""
    chance = random.Random(f"{plan.seed}:{number}")
    place = number % (len(plan.rules) * len(plan.boards))  # all combinations in turn
    rule, board = plan.rules[place % len(plan.rules)], plan.boards[place // len(plan.rules)]
    may_be_calm = random.Random(f"{plan.seed}:{number}:full").random() >= plan.full_share
    kinds, shares = zip(*plan.openings, strict=True)
    kind = random.Random(f"{plan.seed}:{number}:opening").choices(kinds, shares)[0]
    engine.new_game(board, rule=rule)
    engine.clear_hash()
    opening = make_opening(engine, chance, board, kind, player.judge)
    set_up_line(engine, opening)
    game = engine.game
    cells = [y * board + x for x, y in opening]
    values = [NO_VALUE] * len(opening)
    calm = 0
    while True:
        side = game.to_move
        (x, y), value = player.decide(chance)
        foul = game.is_forbidden(x, y)
        cells.append(y * board + x)
        values.append(value)
        calm = calm + 1 if abs(value) <= CALM_VALUE else 0
        ending: Ending | None = None
        winner: Side | None = None
        if foul:
            ending, winner = Ending.FOUL, side.opponent
        else:
            engine.play(x, y)
            if game.winner is not None:
                ending, winner = Ending.FIVE, game.winner
            elif game.is_full:
                ending = Ending.FULL
            elif abs(value) >= WIN_BAND:
                ending, winner = Ending.PROVEN, side if value > 0 else side.opponent
            elif may_be_calm and calm >= CALM_MOVES and game.ply >= CALM_FROM * board * board:
                ending = Ending.CALM
        if ending is not None:
            result = 0 if winner is None else 1 if winner is Side.BLACK else -1
            moves, known = tuple(cells), tuple(values)
            return Record(number, rule, board, board, len(opening), result, ending, moves, known)


def odd_or_sound(engine: Engine, chance: random.Random) -> Coordinates | None:
    """Return a random move: uniformly from the policy's first, or by the policy."""
    policy = engine.policy()
    if chance.random() < ODD_SHARE:
        policy = [(move, 1.0) for move, _ in policy[:ODD_AMONG]]
    if not policy:
        return None
    shares = [share for _, share in policy]
    return chance.choices([move for move, _ in policy], shares)[0]


def walk(engine: Engine, chance: random.Random, line: Line) -> bool:
    """Play some moves from a position; return whether the last position can be searched."""
    if not set_up_line(engine, line):
        return False
    for _ in range(chance.choice(BRANCH_STEPS)):
        move = odd_or_sound(engine, chance)
        if move is None:
            return False
        engine.play(*move)
        if engine.game.is_over:
            return False
    return True


def grow(
    engine: Engine, plan: Plan, chance: random.Random, game: Record, ends: Sequence[Line]
) -> tuple[Record, ...]:
    """Return branches of a game, about the plan's share of all its positions.

    ``ends``: where the searches of the game ended. Positions decided at a glance or with an only
    move teach nothing and are left out.
    """
    width, line, share = game.width, game.cells, plan.branch_share
    positions = len(line) - game.opening
    wanted = int(share / (1 - share) * positions + chance.random())
    found: list[Record] = []
    for place in sorted(chance.random() for _ in range(wanted)):  # sorted: few stones change
        in_tree = bool(ends) and chance.random() < TREE_SHARE
        seen = None
        for _ in range(BRANCH_TRIES):
            if in_tree:
                is_open = set_up_line(engine, ends[int(place * len(ends))])
                in_tree = False
            else:
                is_open = walk(engine, chance, line[: game.opening + int(place * positions)])
            nodes = plan.scattered_nodes(chance, engine.game.ply) if is_open else 0
            seen = engine.search_nodes(nodes) if is_open else None
            teaches = seen and seen.choices > 1 and abs(seen.value) < WIN - NEAR_END
            if teaches and engine.game.ply <= MOST_OPENING:
                break
        else:
            continue
        assert seen is not None
        cells = [move.y * width + move.x for move in (*engine.game.moves, seen.move)]
        values = (*[NO_VALUE] * (len(cells) - 1), seen.value)
        found.append(game._replace(
            opening=len(cells) - 1, result=0, ending=Ending.BRANCH, moves=tuple(cells),
            values=values,
        ))  # fmt: skip
    return tuple(found)
