"""``numoku weights``: check weight files; show their contents and origin."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..engine.engine import DEFAULT_WEIGHTS
from ..errors import WeightsError
from ..eval.network_block import sizes_of
from ..eval.weights import BUILT_IN, Weights, annotate_weights, load_weights, weights_file
from ..files import in_place_of, rounded, user_path
from ..options import CommandLine, Option
from ..position.rules import Rule

COMMAND = CommandLine(
    "numoku weights",
    "Check weight files and show their contents and origin.",
    (
        Option("files", str, [DEFAULT_WEIGHTS], "W", "names or files", {"nargs": "*"}),
        Option("--note", str, [], ("KEY", "TEXT"),
               "first write a line into the header of the files, such as the result of a match",
               {"action": "append"}),
        Option("--games", user_path, [], "GAMES",
               "measure how well the weights predict these games of `numoku datagen` (needs "
               "NumPy), or positions with values from deeper searches",
               {"nargs": "+"}),
        "json",
    ),
)  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    """Describe weights; raise WeightsError for a damaged file."""
    options = COMMAND.parse(arguments)
    for name in options.files if options.note else ():
        path = weights_file(name)
        load_weights(path)
        if Path(path).resolve().parent == Path(BUILT_IN).resolve():
            raise WeightsError(f"{name} is built in; name a copy of {path}")
        with in_place_of(Path(path)) as part:  # on failure the file is unchanged
            shutil.copy(path, part)
            for key, note in options.note:
                annotate_weights(str(part), key, note)
            load_weights(str(part))
    found = [load_weights(name) for name in options.files]
    if options.games:
        from ..learn import yardstick

        if yardstick.has_deep_labels(options.games):
            rows = yardstick.measure(options.games, options.files)
            forms = [yardstick.form(row) for row in rows]
            print(json.dumps(forms) if options.json else yardstick.table(rows))
            return 0
        from ..learn.measure import measure, table

        measures = measure(options.games, found)
        forms = [rounded(each._asdict()) for each in measures]
        print(json.dumps(forms) if options.json else table(measures))
        return 0
    if options.json:
        print(json.dumps([describe(weights) for weights in found]))
        return 0
    print("\n\n".join(map(text, found)))
    return 0


def describe(weights: Weights) -> dict[str, Any]:
    """Return the header of weights, and the sizes of their networks, unpacked and packed."""
    networks = {}
    for family, packed in weights.streams.items():
        raw = weights.network(Rule.parse(family)) or b""
        sizes = sizes_of(raw)._asdict()
        networks[family] = {**sizes, "bytes": len(raw), "packed": len(packed)}
    return {"about": weights.about, "networks": networks}


def text(weights: Weights) -> str:
    """Return a description of weights: the header, then the sizes of each network."""
    described = describe(weights)
    about = {k: v for k, v in described["about"].items() if not k.startswith("curve ")}
    lines = [f"{key:12} {value}" for key, value in about.items()]
    for family, sizes in described["networks"].items():
        lines += ["", f"network for {family}"]
        lines += [f"  {name.replace('_', ' '):34}{size:15,}" for name, size in sizes.items()]
    return "\n".join(lines)
