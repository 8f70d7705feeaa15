"""``numoku train``: says what is missing where PyTorch is, and else leaves it to ``network``."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

from .records import GamesError


def main(arguments: Sequence[str]) -> int:
    """Learn a network from games; return 0.

    Raises:
        GamesError: PyTorch is not installed.
    """
    if find_spec("torch") is None:
        raise GamesError("numoku train needs PyTorch: pip install 'pbrain-numoku[network]'")
    from .network.command import main as train

    return train(arguments)
