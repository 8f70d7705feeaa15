"""The tuned parameters of the search: name, default, range and meaning.

Depths are in ``ONE`` = 64ths of a ply. The kernel reads the parameters from memory, in the order of
this table, so tuning needs no recompilation.
"""

from typing import NamedTuple

ONE = 64  # depth units of one ply
MAX_DEPTH = 200
DEPTH_PER_CELL = 4  # depth limit per empty cell: reduced moves take less depth than a ply
SURE_DEPTH = 4  # depth at which an only move is played
AFTER_MATE = 4  # further iterations that may shorten a forced win


class Parameter(NamedTuple):
    """A tuned parameter: its default, its range for tuning, and its meaning."""

    default: int
    low: int
    high: int
    meaning: str


PARAMETERS: dict[str, Parameter] = {
    "futility_slope": Parameter(43, 20, 140, "value per ply by which eval must exceed beta"),
    "futility_depth": Parameter(559, 0, 20 * ONE, "no futility from this depth on"),
    "razor_base": Parameter(44, 0, 200, "value below alpha at which a leaf search decides"),
    "razor_slope": Parameter(27, 0, 100, "the same, more per ply"),
    "razor_depth": Parameter(200, 0, 6 * ONE, "no razoring from this depth on"),
    "count_base": Parameter(4, 1, 12, "moves before counting prunes, at depth 0"),
    "count_slope": Parameter(108, 20, 400, "hundredths of a move more per ply"),
    "count_curve": Parameter(7, 0, 40, "hundredths of a move more per ply squared"),
    "count_pv": Parameter(208, 50, 1000, "percent of these numbers that a PV node looks at"),
    "shaped_depth": Parameter(295, 0, 12 * ONE, "below it, no moves that make nothing"),
    "reduction_base": Parameter(-47, -64, 128, "late move reduction: constant part"),
    "reduction_scale": Parameter(27, 8, 80, "late move reduction: part of log depth * log number"),
    "reduction_pv": Parameter(43, 0, 128, "less reduction in PV nodes"),
    "reduction_worse": Parameter(63, 0, 128, "more reduction where eval does not improve"),
    "reduction_cut": Parameter(109, 0, 160, "more reduction in expected cut nodes"),
    "reduction_history": Parameter(108, 16, 400, "history points for one unit less reduction"),
    "reduction_threat": Parameter(40, 0, 128, "less reduction for moves that make a threat"),
    "extend_block": Parameter(79, 0, 128, "extension of the forced block of a five"),
    "singular_depth": Parameter(7 * ONE, 4 * ONE, 14 * ONE, "singular extension from here on"),
    "singular_margin": Parameter(48, 20, 300, "hundredths of value per ply below the table's"),
    "singular_extend": Parameter(ONE, 0, 128, "singular extension"),
    "stale_pv": Parameter(14, 0, 64, "PV: reduction per ply of a table entry's missing depth"),
    "no_move_pv": Parameter(30, 0, 128, "PV: reduction where the table knows no move"),
    "alpha_raise": Parameter(76, 0, 128, "reduction of the moves after one that raised alpha"),
    "fail_high_margin": Parameter(6, -100, 200, "eval this far below beta still expects a cut"),
    "aspiration": Parameter(16, 4, 100, "first half-width of the window at the root"),
    "delta": Parameter(1800, 100, 6000, "leaf: no fours where eval is this far below alpha"),
    "history_limit": Parameter(8192, 1024, 16384, "largest history score"),
    "history_bonus": Parameter(900, 100, 4000, "largest history bonus of one cut"),
    "history_order": Parameter(174, 8, 512, "history points that count one point in ordering"),
    "counter_score": Parameter(28, 0, 200, "ordering points of the counter move"),
    "network_margin": Parameter(400, 0, 12000, "no network where linear is so far off the window"),
    "policy_depth": Parameter(2 * ONE, 0, 20 * ONE, "network: no policy below this depth"),
    "policy_moves": Parameter(40, 8, 400, "network: moves that the policy is asked about"),
    "policy_others": Parameter(1500, 0, 4000, "network: 256 ln by which others are less likely"),
    "policy_order": Parameter(48, 1, 200, "network: ordering points of a factor e in chance"),
    "policy_even": Parameter(456, 0, 3000, "network: 256 ln of how unlikely is not reduced"),
    "policy_reduce": Parameter(26, 0, 64, "network: reduction for each factor e less likely"),
    "policy_less": Parameter(61, 0, 128, "network: most that a likely move is reduced less"),
    "policy_more": Parameter(129, 0, 256, "network: most that an unlikely one is reduced more"),
    "threat_share": Parameter(10, 0, 200, "stones of the threat search per 100 nodes; 0: none"),
    "threat_hot": Parameter(100, 0, 400, "as many more while fours and threes alone may yet win"),
}


def check_search(name: str) -> None:
    """Accept the name of the search.

    Raises:
        ValueError: there is no such search.
    """
    if name != "alphabeta":
        raise ValueError(
            f"there is no search {name!r}: it is alphabeta; method:puct plays by tree search"
        )
