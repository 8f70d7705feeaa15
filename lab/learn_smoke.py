"""All steps of learning on a tiny budget: ``python -m lab.learn_smoke``.

Records games, trains a network on them, and plays a short match against the weights that it builds
on. It tests that the commands work together, not that anything was learned.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from pbrain_engine.arena import match
from pbrain_engine.eval.weights import load_weights
from pbrain_engine.learn import datagen, train

GAMES, NODES = 96, 400
MATCH_GAMES = 8
TRAINING = ("--steps", "6", "--batch", "64", "--families", "freestyle")


def run(
    folder: Path, games: int = GAMES, nodes: int = NODES, match_games: int = MATCH_GAMES
) -> int:
    """Record games, train on them and play with the result; return 0 if it worked."""
    data, weights = str(folder / "smoke.games"), str(folder / "smoke.numoku")
    kinds = ["--rules", "freestyle,renju", "--boards", "15,20"]
    status = datagen.main([data, "--games", str(games), "--nodes", str(nodes), *kinds])
    status = status or train.main([data, "--out", weights, *TRAINING])
    if status:
        return status
    print(f"weights {load_weights(weights).key}")
    engines = [f"network=numoku:weights={weights}", "linear=numoku:weights=learned"]
    limits = ["--nodes", str(nodes), "--games", str(match_games), "--in-process"]
    return int(match.main(["--no-journal", "--view", "plain", *limits, *engines]))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="numoku-learn-") as temporary:
        raise SystemExit(run(Path(temporary)))
