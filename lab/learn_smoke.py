"""The whole way of learning on a tiny budget: ``python -m lab.learn_smoke``.

Some games, a fit, a network beside its weights if numba is there, and short matches against
the weights that it began from. It shows that the way is open, not that anything was learned.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from pbrain_engine.arena import match
from pbrain_engine.eval.weights import load_weights
from pbrain_engine.learn import datagen, fit, train

GAMES, NODES = 96, 400
MATCH_GAMES = 8
TRAINING = ("--steps", "20", "--batch", "128", "--families", "freestyle")


def main(arguments: Sequence[str] = ()) -> int:
    """Run everything in a folder that is given, or in a temporary one; return 0 if it worked."""
    if arguments:
        return run(Path(arguments[0]))
    with tempfile.TemporaryDirectory(prefix="numoku-learn-") as folder:
        return run(Path(folder))


def run(
    folder: Path, games: int = GAMES, nodes: int = NODES, match_games: int = MATCH_GAMES
) -> int:
    """Make games, learn from them and play with what was learned; return 0 if it worked."""
    data, weights = str(folder / "smoke.games"), str(folder / "smoke.numoku")
    kinds = ["--rules", "freestyle,renju", "--boards", "15,20"]
    status = datagen.main([data, "--games", str(games), "--nodes", str(nodes), *kinds])
    status = status or fit.main([data, "--out", weights, "--steps", "20"])
    if status:
        return status
    print(f"weights {load_weights(weights).key}")
    engines = [f"learned=numoku:weights={weights}", "hand=numoku:weights=hand"]
    if find_spec("numba") is None:
        print("no network: numba is not installed (the extra `training`)")
    else:
        network = str(folder / "network.numoku")
        status = train.main([data, "--out", network, "--start", weights, *TRAINING])
        print(f"weights {load_weights(network).key}")
        engines.append(f"network=numoku:weights={network}")
    limits = ["--nodes", str(nodes), "--games", str(match_games), "--in-process"]
    return status or int(match.main(["--no-journal", "--view", "plain", *limits, *engines]))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
