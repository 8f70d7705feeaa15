"""The items of the search, and the options that switch each of them off.

A parameter may be set far outside of the range that tuning would try: a depth of 0 from which
an item no longer applies, a margin that nothing reaches.
"""

from __future__ import annotations

from .space import format_point

NEVER = 1_000_000  # a depth, margin or count that no search comes to


class Item:
    """What a search does, ``meaning``, and the options of an engine without it, ``off``."""

    def __init__(self, meaning: str, **off: int | str) -> None:
        """Take the options as an engine takes them."""
        self.meaning = meaning
        self.off = off

    @property
    def options(self) -> str:
        """The options of an engine without the item, ``key=value,key=value``."""
        return format_point(self.off)


ITEMS: dict[str, Item] = {
    "futility": Item("a node far above beta is cut at once", futility_depth=0),
    "razoring": Item(
        "a node far below alpha, or under a threat, is left to the search for fours", razor_depth=0
    ),
    "count-pruning": Item("after so many moves the others are left out", count_base=NEVER),
    "count-pv": Item("also where the window is open, though later", count_pv=NEVER),
    "shaped-moves": Item("near the leaves, only moves that make something", shaped_depth=0),
    "reductions": Item("late moves are searched less deep", reduction_base=-NEVER),
    "reduction-pv": Item("they are reduced less where the window is open", reduction_pv=0),
    "reduction-worse": Item(
        "they are reduced more where the evaluation does not rise", reduction_worse=0
    ),
    "reduction-cut": Item("they are reduced more where a cut is expected", reduction_cut=0),
    "reduction-history": Item(
        "they are reduced by how often they cut elsewhere", reduction_history=NEVER
    ),
    "reduction-threat": Item("they are reduced less where they make a threat", reduction_threat=0),
    "fail-high": Item(
        "they are reduced more where the evaluation already cuts", fail_high_margin=-NEVER
    ),
    "block-extension": Item("the forced answer to a four costs no depth", extend_block=0),
    "singular": Item(
        "a move that is better than all others is searched deeper", singular_depth=NEVER
    ),
    "stale-table": Item("on the main line, old knowledge costs depth", stale_pv=0),
    "no-table-move": Item("on the main line, missing knowledge costs depth", no_move_pv=0),
    "alpha-raise": Item(
        "after a move that raised alpha the others are searched less deep", alpha_raise=0
    ),
    "aspiration": Item("the root begins with a narrow window", aspiration=NEVER),
    "delta": Item("the search for fours gives up far below alpha", delta=NEVER),
    "history": Item("moves that cut are tried earlier, and reduced less", history_bonus=0),
    "counter-move": Item(
        "the move that answered this one before is tried earlier", counter_score=0
    ),
    "solver": Item(
        "a search for wins by threats alone, for both sides, helps at the root", threat_share=0
    ),
    "policy": Item("the network's policy orders, reduces and prunes moves", policy_depth=NEVER),
    "policy-reduction": Item(
        "moves that the policy thinks unlikely are reduced more, likely ones less", policy_reduce=0
    ),
    "network-margin": Item(
        "the network is not asked where the linear evaluation is far off the window",
        network_margin=NEVER,
    ),
    "network": Item(
        "a network corrects the linear evaluation, and has a policy", weights="learned"
    ),
    "learned-weights": Item(
        "the numbers of the evaluation and of the order of moves are learned, not set by hand",
        weights="hand",
    ),
}
