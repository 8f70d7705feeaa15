"""Every tuned number of the tree search, once: name, default, range and meaning.

The names begin with ``mcts_``, so that they live beside those of the alpha-beta wherever
options are taken; ``PARAMETERS`` fixes their order in the kernel's memory.
"""

from __future__ import annotations

from ..alphabeta.params import Parameter

PUCT, UCT = 0, 1  # values of mcts_select

PARAMETERS: dict[str, Parameter] = {
    "mcts_select": Parameter(PUCT, PUCT, UCT, "0: PUCT by the policy; 1: UCT, that knows none"),
    "mcts_explore": Parameter(70, 5, 400, "hundredths: weight of exploration against the mean"),
    "mcts_growth": Parameter(0, 0, 100, "hundredths more for each doubling beyond 1024 visits"),
    "mcts_fpu": Parameter(
        250, 0, 1000, "thousandths of a win that an unvisited move is taken for worse"
    ),
    "mcts_stay": Parameter(
        512, 1, 1 << 20, "visits of a node from which two in turn take the same way, and so on"
    ),
    "mcts_temperature": Parameter(40, 5, 200, "points of score that make a move e times likelier"),
    "mcts_doubt": Parameter(150, 50, 400, "percent: scale of evaluations against that of searches"),
    "mcts_policy": Parameter(130, 20, 500, "network: percent: temperature of its policy"),
    "mcts_trust": Parameter(120, 50, 400, "network: percent: scale of its values"),
    "mcts_bias": Parameter(0, 0, 1000, "hundredths: progressive bias of the move score, 0: none"),
    "mcts_rollouts": Parameter(0, 0, 64, "games played out at a leaf in place of the evaluation"),
    "mcts_solver": Parameter(1, 0, 1, "1: proofs go up the tree, threats leave few replies"),
    "mcts_fours": Parameter(60, 0, 5000, "stones that a leaf with a rich four may spend on fours"),
    "mcts_more_fours": Parameter(100, 0, 20000, "the same, where a second visit lists the moves"),
    "mcts_threes": Parameter(400, 0, 20000, "stones for a win by threats at a busy node; 0: none"),
    "mcts_busy": Parameter(200, 2, 10000, "visits from which, and 8 times as many, it is busy"),
    "mcts_replies": Parameter(60, 0, 5000, "stones to see if the enemy threatens such a win"),
    "mcts_virtual": Parameter(1, 1, 8, "visits that another thread's visit counts as lost"),
}

NAMES = tuple(PARAMETERS)
