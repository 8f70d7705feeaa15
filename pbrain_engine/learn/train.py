"""``numoku train``: its options; ``network`` does what they ask for, where PyTorch is installed."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from ..eval.weights import FAMILIES
from ..options import Parser
from .network import TEACHER_SHARE
from .records import GamesError

STEPS = 8000


def size(text: str) -> tuple[int, int]:
    """Return the blocks and the channels of a teacher.

    Raises:
        argparse.ArgumentTypeError: they are none.
    """
    blocks, sign, channels = text.partition("x")
    if not sign or not blocks.isdecimal() or not channels.isdecimal() or not int(channels):
        raise argparse.ArgumentTypeError(f"{text} is no size such as 8x96")
    return int(blocks), int(channels)


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
    add("--from", dest="begin", action="append", default=[], metavar="FAMILY=CHECKPOINT",
        help="begin a family at what a training has learned, perhaps of freestyle")  # fmt: skip
    add("--steps", type=int, default=STEPS, metavar="N", help=f"batches to learn ({STEPS})")
    add("--batch", type=int, default=1024, metavar="N", help="positions in a batch (1024)")
    add("--rate", type=float, default=3e-3, help="learning rate at the start (0.003)")
    add("--mix", type=float, default=0.7, help="share of what came after in the targets (0.7)")
    add("--seed", type=int, default=1, metavar="N", help="of the start and the order (1)")
    add("--device", metavar="D", help="cpu or cuda (cuda where there is one)")
    add("--processes", type=int, default=1, metavar="N", help="that prepare positions (1)")
    add("--teacher", type=size, metavar="BxC",
        help="first learn a large network of B blocks and C channels as a teacher")  # fmt: skip
    add("--teacher-steps", type=int, default=STEPS, metavar="N", help=f"its batches ({STEPS})")
    add("--teacher-share", type=float, default=TEACHER_SHARE, metavar="S",
        help=f"what it says as a share of the targets ({TEACHER_SHARE})")  # fmt: skip
    add("--threads", type=int, default=1, metavar="N", help="of the processor (1)")
    return parser


def main(arguments: Sequence[str]) -> int:
    """Learn a network from games; return 0.

    Raises:
        GamesError: PyTorch is not installed, an option makes no sense, or a file is no good.
    """
    options = make_parser().parse_args(arguments)
    if find_spec("torch") is None:
        raise GamesError("numoku train needs PyTorch: pip install 'pbrain-numoku[network]'")
    from .network.command import main as train

    return train(options)
