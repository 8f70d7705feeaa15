"""``numoku train``: its options; ``network`` does what they ask for, where numba is installed."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from ..eval.weights import FAMILIES
from ..options import Parser
from .records import LABELS, GamesError

STEPS = 8000
EVERY = 200  # steps between two checkpoints


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command's options."""
    parser = Parser(
        prog="numoku train",
        description="Learn a network from the games of `numoku datagen` and write a weight file "
        "with it. The same command continues an interrupted training.",
    )
    add = parser.add_argument
    add("files", type=Path, nargs="+", metavar="GAMES", help="files of games")
    add("--out", type=Path, required=True, metavar="FILE", help="the weight file to write")
    add("--id", metavar="NAME", help="what the weights are called (the file's name)")
    add("--folder", type=Path, help="of checkpoints and pages (FILE.training)")
    add("--start", default="learned", metavar="W", help="linear weights to build on (learned)")
    add("--test", type=Path, nargs="+", default=[], metavar="GAMES", help="files to hold out")
    add("--families", default=",".join(FAMILIES), metavar="F,...", help="which to train (all)")
    add("--keep", action="append", default=[], metavar="FAMILY=W",
        help="take a family's network as it is in weights W")  # fmt: skip
    add("--from", dest="begin", action="append", default=[], metavar="[FAMILY=]W[@FAMILY]",
        help="begin at the network of weights W: of the family named behind it, else its own, "
        "else freestyle's")  # fmt: skip
    add("--steps", type=int, default=STEPS, metavar="N", help=f"batches to learn ({STEPS})")
    add("--batch", type=int, default=4096, metavar="N", help="positions in a batch (4096)")
    add("--rate", type=float, default=3e-3, help="learning rate at the start (0.003)")
    add("--mix", type=float, default=0.7, help="share of what came after in the targets (0.7)")
    add("--labels", choices=LABELS, default=LABELS[0],
        help="fair: learn the value of forced wins, too; open: not of them (fair)")  # fmt: skip
    add("--seed", type=int, default=1, metavar="N", help="of the start and the order (1)")
    add("--every", type=int, default=EVERY, metavar="N", help=f"steps a checkpoint ({EVERY})")
    add("--threads", type=int, default=1, metavar="N", help="of the processor (1)")
    return parser


def main(arguments: Sequence[str]) -> int:
    """Learn a network from games; return 0.

    Raises:
        GamesError: NumPy or numba is not installed, an option makes no sense, or a file is no good.
    """
    options = make_parser().parse_args(arguments)
    if find_spec("numba") is None or find_spec("numpy") is None:
        raise GamesError("numoku train needs numba: pip install 'pbrain-numoku[training]'")
    from .network.command import main as train

    return train(options)
