"""The tuned numbers of both searches under one roof: their names do not clash."""

from __future__ import annotations

from .alphabeta import params as alphabeta
from .alphabeta.params import Parameter
from .mcts import params as mcts

PARAMETERS: dict[str, Parameter] = {**alphabeta.PARAMETERS, **mcts.PARAMETERS}


def check_name(name: str) -> None:
    """Accept the name of a parameter.

    Raises:
        KeyError: there is no parameter of this name.
    """
    if name not in PARAMETERS:
        raise KeyError(f"unknown search parameter {name!r}; there are {', '.join(PARAMETERS)}")
