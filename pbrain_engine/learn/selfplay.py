"""One game of self-play: an opening, then searches limited by nodes.

A game depends on the seed and its number alone: the engine forgets everything before it, every
search ends by nodes, and one thread searches. So games can be played anywhere in any order.

Search trees are full of positions that no game shows: moves that no player would choose, threats
left unanswered. *Branches* are additional positions off a game, each with its own label. Half of
them are positions where a search of the game met its node limit, which is any one of its tree, its
leaf searches included. The others leave the game at a random place and go on with a few moves of
which every second or so is odd. Each is searched, once. It is not played to the end, so it has a
value and a move but no result (Veness et al. 2009 learn from such trees for the same reason).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..engine.engine import Engine, Move
from ..engine.searcher import ShortSearch
from ..eval.weights import load_weights
from ..notation.games import MOST_OPENING, NO_VALUE, Ending, NodePlan, Record
from ..position.geometry import Coordinates
from ..position.rules import Rule, Side
from ..values import WIN, WIN_BAND, loss_in
from .openings import ALL_SQUARE, BALANCE, Line, Shares, format_shares, make_opening, set_up_line

LEAST_TABLE = 1 << 20  # bytes: ample for a few thousand nodes, and cheap to clear ...
BYTES_A_NODE = 64  # ... of longer searches
NODES_SPREAD = 0.25  # searches of a game differ in length by this share, so that games differ
GLANCE_PART = 10  # a tenth of the nodes of a move rejects most openings
CALM_VALUE, CALM_MOVES = 10, 8  # a draw after 8 values in a row this close to 0
CALM_FROM = 0.45  # and this share of the board is full

BRANCH_STEPS = (1, 1, 2, 2, 3)  # moves between the game and the branch
TREE_SHARE = 0.6  # of the branches: positions of the trees of searches, where that is of use
ODD_SHARE = 0.5  # of the moves to the others, how many are odd
ODD_AMONG = 14  # an odd move is any of the policy's first
BRANCH_TRIES = 8  # positions looked at for each branch that is wanted
NEAR_END = 4  # plies to the end of what is decided at a glance: by a five or a winning four

Search = Callable[[], ShortSearch | None]


class SelfPlayed(NamedTuple):
    """A game and its branches."""

    record: Record
    branches: tuple[Record, ...] = ()


class Plan(NamedTuple):
    """How the games of a file are made."""

    seed: int
    budget: NodePlan  # nodes of a search
    rules: tuple[Rule, ...]
    boards: tuple[int, ...]
    weights: str  # name or path
    branch_share: float = 0.0  # of all positions
    openings: Shares = ALL_SQUARE
    full_share: float = 0.0  # of the games, that no quiet moves end

    def opening_kind(self, number: int) -> str:
        """Return the kind of opening of a game."""
        kinds, shares = zip(*self.openings, strict=True)
        return str(random.Random(f"{self.seed}:{number}:opening").choices(kinds, shares)[0])

    def goes_to_the_end(self, number: int) -> bool:
        """Return whether no quiet moves end a game."""
        return random.Random(f"{self.seed}:{number}:full").random() < self.full_share

    def kind(self, number: int) -> tuple[Rule, int]:
        """Return rule and board of a game: all combinations in turn."""
        which = number % (len(self.rules) * len(self.boards))
        return self.rules[which % len(self.rules)], self.boards[which // len(self.rules)]

    def scattered_nodes(self, chance: random.Random, stones: int) -> int:
        """Return how many nodes a search gets: those of a game differ, so that games do."""
        return int(self.budget.at(stones) * chance.uniform(1 - NODES_SPREAD, 1 + NODES_SPREAD))

    def about(self) -> dict[str, str]:
        """Return the head of a file: all that its games depend on but their numbers."""
        more = {}
        if self.openings != ALL_SQUARE:  # files of before these were chosen go on
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
        """Play a game and make its branches; they depend on the plan and the number alone."""
        player = SelfPlayer(engine, self)
        record = play_game(engine, self, number, player)
        chance = random.Random(f"{self.seed}:{number}:branches")

        def search() -> ShortSearch | None:
            return engine.search_nodes(self.scattered_nodes(chance, engine.game.ply))

        branches = grow(engine, chance, record, player.ends, self.branch_share, search)
        return SelfPlayed(record, branches)


def make_engine(budget: NodePlan, weights: str) -> Engine:
    """Return an engine whose table has room for the longest search."""
    return Engine(hash_size=max(LEAST_TABLE, BYTES_A_NODE * budget.most), weights=weights)


class SelfPlayer:
    """Both sides of a game, by searches of about the plan's nodes.

    Openings are searched briefly at first, and what the last search of one found is its first move.
    """

    def __init__(self, engine: Engine, plan: Plan) -> None:
        """Play on this engine; ``ends``: where searches that had a choice met their limit."""
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
        """Return a move, and the value of the position before it for the side that plays it."""
        moves = self._engine.game.moves
        nodes = self._plan.scattered_nodes(chance, len(moves))
        known = self._known
        found = known[1] if known and known[0] == moves else self._engine.search_nodes(nodes)
        if found is None:  # a foul is all that is left
            return self._engine.quick_move(), loss_in(2)
        if found.end and found.choices > 1:
            self.ends.append([*moves, *found.end])
        return found.move, found.value


def play_game(engine: Engine, plan: Plan, number: int, player: SelfPlayer | None = None) -> Record:
    """Play one game of a plan from its opening to its end."""
    chance = random.Random(f"{plan.seed}:{number}")
    rule, board = plan.kind(number)
    engine.new_game(board, rule=rule)
    engine.clear_hash()
    player = player or SelfPlayer(engine, plan)
    opening = make_opening(engine, chance, board, plan.opening_kind(number), player.judge)
    may_be_calm = not plan.goes_to_the_end(number)
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
    """Return a move to walk on with: any good-looking one, or one by the policy's chances."""
    policy = engine.policy()
    if chance.random() < ODD_SHARE:
        policy = [(move, 1.0) for move, _ in policy[:ODD_AMONG]]
    if not policy:
        return None
    shares = [share for _, share in policy]
    return chance.choices([move for move, _ in policy], shares)[0]


def walk(engine: Engine, chance: random.Random, line: Line) -> bool:
    """Go some moves on from a position; return whether there is something to search at the end."""
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
    engine: Engine,
    chance: random.Random,
    game: Record,
    ends: Sequence[Line],
    share: float,
    search: Search,
) -> tuple[Record, ...]:
    """Return branches of a game, as many as make up this share of all its positions.

    ``ends``: where the searches of the game ended; ``search`` looks at the engine's position. What
    is decided at a glance, or has an only move, teaches nothing and is left out.
    """
    width = game.width
    line = game.cells
    positions = len(line) - game.opening
    wanted = int(share / (1 - share) * positions + chance.random())
    found: list[Record] = []
    for place in sorted(chance.random() for _ in range(wanted)):  # so that few stones change
        in_tree = bool(ends) and chance.random() < TREE_SHARE
        seen = None
        for _ in range(BRANCH_TRIES):
            if in_tree:
                is_open = set_up_line(engine, ends[int(place * len(ends))])
                in_tree = False
            else:
                is_open = walk(engine, chance, line[: game.opening + int(place * positions)])
            seen = search() if is_open else None
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
