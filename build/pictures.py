"""Draw the games, trees and curves of the documents: ``python build/pictures.py``.

The game is by the engine against itself in freestyle, after four given stones, with 60,000 nodes
per move. Trees, curves and boards show real results of the methods, with random seed 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from math import log10
from pathlib import Path
from random import Random

from pbrain_engine.game.cells import cell_name, parse_moves
from pbrain_engine.game.diagram import Drawn, board_svg, winning_row
from pbrain_engine.game.record import GameRecord
from pbrain_engine.methods import Budget, PlainGame, adp, evaluation, method
from pbrain_engine.methods.genetic import Breeding
from pbrain_engine.methods.knowledge import KnowingUCT
from pbrain_engine.methods.minimax import Minimax
from pbrain_engine.methods.proofnumber import ProofNode, ProofNumberSearch
from pbrain_engine.methods.threatspace import ThreatSpaceSearch
from pbrain_engine.methods.uct import UCT
from pbrain_engine.position.rules import Side

DOCS = Path(__file__).parent.parent / "docs"
GAME = "h8k11e10i5f9j4g8h7f8e8c12d11f10f7g9e11g10g7d10c10h10"
GAME_SIZE = 15
SIZE = 9
QUIET = "e5d5f4d6e4"
FOURS = "e5d5f5a1g5a9h6b1h7c9"  # black wins by fours
FIVE = "e5a1f5a9g5h1h5b7"  # black completes a five
THREATS = "e5a1f5a9e6h1d4b7"  # black wins by threats
INKS = ("#c2452d", "#2f6db5", "#3d8b4f")

Series = Mapping[str, Sequence[tuple[float, float]]]


def game_of(moves: str, size: int = SIZE) -> PlainGame:
    """Return a game after these moves."""
    game = PlainGame(size)
    for x, y in parse_moves(moves, size, size):
        game.play(y * size + x)
    return game


def name(cell: int) -> str:
    """Return the name of a cell."""
    return cell_name(cell % SIZE, cell // SIZE)


# Drawing ------------------------------------------------------------------------------------


def svg(width: int, height: int, title: str, parts: Sequence[str]) -> str:
    """Return an SVG picture with a white background."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif" font-size="12" text-anchor="middle">'
    )
    ground = f'<rect width="{width}" height="{height}" fill="#fff"/>'
    return "\n".join([head, f"<title>{escape(title)}</title>", ground, *parts, "</svg>", ""])


def curve(title: str, x_name: str, series: Series, powers: bool = False) -> str:
    """Return a chart of named curves; ``powers`` makes the vertical axis logarithmic."""
    points = [point for line in series.values() for point in line]
    high = max(y for _, y in points) or 1.0
    low = min(0.0, *(y for _, y in points))
    left, right = min(x for x, _ in points), max(x for x, _ in points)

    def at(x: float, y: float) -> str:
        part = log10(max(y, 1)) / log10(high) if powers else (y - low) / (high - low)
        return f"{60 + 420 * (x - left) / (right - left):.0f},{210 - 180 * part:.0f}"

    top = f"{high:,.0f}" if high >= 1000 else f"{high:.3g}"
    parts = ['<path d="M60 20V210H490" stroke="#888" fill="none"/>']
    parts += [f'<text x="275" y="240">{x_name}</text><text x="60" y="226">{left:g}</text>']
    parts += [f'<text x="480" y="226">{right:g}</text><text x="36" y="34">{top}</text>']
    for number, (label, line) in enumerate(series.items()):
        ink, way = INKS[number % 3], " ".join(at(x, y) for x, y in line)
        parts.append(f'<polyline points="{way}" fill="none" stroke="{ink}" stroke-width="2"/>')
        parts.append(f'<text x="430" y="{140 + 16 * number}" fill="{ink}">{label}</text>')
    return svg(520, 250, title, parts)


Branch = tuple[str, str, bool, list["Branch"]]  # move, numbers, whether it is cut off, children


def tree(title: str, root: str, branches: Sequence[Branch]) -> str:
    """Return a tree of two levels, with cut branches in grey."""
    wide = sum(max(1, len(children)) for _, _, _, children in branches) * 62 + 20
    parts, x = [], 10.0
    middle = wide / 2
    for move, numbers, is_out, children in branches:
        width = max(1, len(children)) * 62
        here = x + width / 2
        ink = "#bbb" if is_out else "#222"
        parts.append(f'<path d="M{middle} 32L{here} 82" stroke="{ink}"/>')
        parts.append(f'<text x="{here}" y="98" fill="{ink}">{move}</text>')
        parts.append(f'<text x="{here}" y="113" fill="{ink}">{numbers}</text>')
        for number, (reply, worth, cut, _) in enumerate(children):
            there = x + 62 * number + 31
            ink = "#bbb" if cut else "#222"
            parts.append(f'<path d="M{here} 118L{there} 158" stroke="{ink}"/>')
            parts.append(f'<text x="{there}" y="174" fill="{ink}">{reply}</text>')
            parts.append(f'<text x="{there}" y="189" fill="{ink}">{worth}</text>')
        x += width
    parts.append(f'<text x="{middle}" y="26">{root}</text>')
    return svg(int(wide), 204, title, parts)


def board(title: str, moves: Sequence[int], marked: Sequence[int] = ()) -> str:
    """Return a board after these moves; marked stones are ringed."""
    places = [(cell % SIZE, cell // SIZE) for cell in range(SIZE * SIZE)]
    stones = [Drawn(places[c], Side(n % 2), str(n + 1)) for n, c in enumerate(moves)]
    return board_svg(SIZE, SIZE, stones, [places[cell] for cell in marked], title)


# The pictures -------------------------------------------------------------------------------


def whole_game() -> str:
    """Draw a game with the numbers of its moves."""
    moves = parse_moves(GAME)
    stones = [(cell, Side(number % 2)) for number, cell in enumerate(moves)]
    row = winning_row(GameRecord(GAME_SIZE, GAME_SIZE, moves=tuple(moves)))
    drawn = [Drawn(cell, side, str(number)) for number, (cell, side) in enumerate(stones, 1)]
    return board_svg(GAME_SIZE, GAME_SIZE, drawn, row, "A game of Numoku against itself")


def cut_tree() -> str:
    """Draw three moves with three replies each; branches cut by alpha-beta are grey."""
    game = game_of(QUIET)
    alpha, branches = float("-inf"), list[Branch]()
    for move in evaluation.order_actions(game)[:3]:
        game.play(move)
        least, is_cut = float("inf"), False
        replies: list[Branch] = []
        for reply in evaluation.order_actions(game)[:3]:
            game.play(reply)
            worth = Minimax(game, Budget()).evaluate() * (1 if game.to_move == 1 else -1)
            game.undo()
            replies.append((name(reply), f"{worth:g}", is_cut, []))
            if not is_cut:
                least = min(least, worth)
            is_cut = is_cut or least <= alpha
        game.undo()
        at_most = "≤ " if is_cut and least <= alpha else ""
        branches.append((name(move), f"{at_most}{least:g}", False, replies))
        alpha = max(alpha, least)
    return tree(
        "A tree of minimax; alpha-beta leaves the grey part out", f"MAX {alpha:g}", branches
    )


def nodes_by_depth() -> str:
    """Draw the number of positions that three searches visit, by depth."""
    lines = {}
    for word, deepest in (("minimax", 3), ("alphabeta", 4), ("deepening", 4)):
        lines[word] = [
            (depth, method(word)(game_of(QUIET, SIZE), Budget(depth=depth), Random(1)).nodes)
            for depth in range(1, deepest + 1)
        ]
    return curve("Positions by depth", "depth (upwards: tenfold by tenfold)", lines, powers=True)


def evaluated() -> str:
    """Draw a position and the best move by the evaluation."""
    game = game_of(QUIET)
    move = method("evaluation")(game, Budget(), Random(1)).move
    return board("White's move by the evaluation", [*game.history, move], [move])


def numbers_of(node: ProofNode) -> str:
    """Return the proof and disproof numbers of a node."""
    return " / ".join(f"{n}" if n < 10**9 else "∞" for n in (node.proof, node.disproof))


def proof_tree() -> str:
    """Draw the top of a solved proof-number tree, with proof and disproof numbers."""
    game = game_of(FOURS)
    search = ProofNumberSearch(game, Budget(nodes=20_000))
    assert search.run()
    best = sorted(search.root.children.items(), key=lambda item: item[1].proof)[:5]
    branches: list[Branch] = []
    for move, node in best:
        replies: list[Branch] = [
            (name(reply), numbers_of(child), bool(child.proof and node.proof == 0), [])
            for reply, child in list(node.children.items())[:3]
        ]
        branches.append((name(move), numbers_of(node), node.proof > 0, replies))
    return tree("Proof and disproof numbers", f"OR {numbers_of(search.root)}", branches)


def threat_line() -> str:
    """Draw a win by threats: gains ringed, each followed by its first cost."""
    game = game_of(THREATS)
    sequence = ThreatSpaceSearch(game, game.to_move, Budget()).run()
    cells = [cell for threat in sequence for cell in (threat.gain, *threat.costs[:1])]
    if len(sequence) > 1 and len(cells) > 2:
        cells = cells[:-1]
    return board("A win by threats", [*game.history, *cells], [t.gain for t in sequence])


def visits_of_the_best() -> str:
    """Draw the share of visits to moves that make five, with and without knowledge."""
    game = game_of(FIVE)
    fives = game.five_cells(game.to_move)
    lines = {}
    for word, kind in (("UCT", UCT), ("with knowledge", KnowingUCT)):
        points = []
        for visits in (50, 400, 800, 1600, 3200):
            found = kind(game, Budget(nodes=visits), Random(1))
            found.run()
            share = sum(c.visits for c in found.root.children if c.move in fives) / visits
            points.append((visits, 100 * share))
        lines[word] = points
    return curve("Visits of a winning move, percent", "visits; upwards: percent that win", lines)


def weights_by_games() -> str:
    """Draw the weights that the critic has learned, by games played."""
    lines: dict[str, list[tuple[float, float]]] = {"four": [], "three": [], "two": []}
    for games in (1, 20, 40, 80):
        weights = adp.learn(games, Random(1), size=7)
        for place, word in ((3, "four"), (2, "three"), (1, "two")):
            lines[word].append((games, weights[place]))
    return curve("Weights of the side to move", "games against itself, on 7x7", lines)


def fitness_by_generation() -> str:
    """Draw the best and the mean fitness of each generation."""
    breeding = Breeding(game_of(QUIET), Budget(), Random(1))
    best, mean = [], []
    for number in range(15):
        points = [breeding.fitness(sequence) for sequence in breeding.population]
        best.append((number, max(points)))
        mean.append((number, sum(points) / len(points)))
        breeding.breed()
    return curve("Fitness by generation", "generation", {"the best": best, "the mean": mean})


PICTURES: dict[str, Callable[[], str]] = {  # by their files in docs/
    "game": whole_game,
    "pictures/methods-tree": cut_tree,
    "pictures/methods-nodes": nodes_by_depth,
    "pictures/methods-evaluation": evaluated,
    "pictures/methods-proof": proof_tree,
    "pictures/methods-threats": threat_line,
    "pictures/methods-visits": visits_of_the_best,
    "pictures/methods-weights": weights_by_games,
    "pictures/methods-fitness": fitness_by_generation,
}


if __name__ == "__main__":
    for key, draw in PICTURES.items():
        (DOCS / f"{key}.svg").write_text(draw(), encoding="utf-8")
