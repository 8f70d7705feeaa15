"""Checkpoints, and beginning at what another training has learned, perhaps of another family.

A network of freestyle knows most of what those of the other rules have to learn: its windows are
widened by a cell at each end, which begins without effect, and where the colours play by
different rules each begins with what both shared.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from .model import Network
from .patterns import Patterns, patterns

State = dict[str, Tensor]
KINDS = 4  # what a cell of a window holds: wall, either stone, nothing


class ResumeError(OSError):
    """A checkpoint does not belong to a run, or is damaged."""


def read_checkpoint(path: Path, device: torch.device) -> dict[str, Any]:
    """Return what a run has saved.

    Raises:
        ResumeError: it is damaged, or no checkpoint.
    """
    try:
        state = dict(torch.load(path, map_location=device, weights_only=True))
        dict(state["about"]), dict(state["best"])
    except Exception as error:  # torch raises whatever its readers raise
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ResumeError(f"{path} is no checkpoint that can be read: {reason}") from None
    return state


def reach_of(state: State) -> int:
    """Return how far the windows of a network reach to each side."""
    return int(state["maps.0.first.weight"].shape[1]) // (2 * KINDS)


def widened(state: State, known: Patterns) -> State:
    """Return a network with wider windows that says the same, wherever no new cell matters."""
    half = reach_of(state)
    narrow = patterns(half)
    new = (known.half - half) * KINDS
    inner = known.keys >> 2 * (known.half - half) & (1 << 4 * half) - 1
    number = torch.from_numpy(narrow.number[inner]).long()
    found = dict(state)
    for name, tensor in state.items():
        if name.endswith(".first.weight"):
            found[name] = torch.nn.functional.pad(tensor, (new, new))
        elif name.endswith(".own"):
            found[name] = tensor[number.to(tensor.device)]
    return found


def untied(state: State) -> State:
    """Return a network in which each colour has for itself what both shared."""
    other = {name.replace(".0.", ".1.", 1): tensor.clone() for name, tensor in state.items()}
    return {**state, **other}


def begin_at(network: Network, path: Path) -> None:
    """Give a network what the best one of a checkpoint has learned.

    Raises:
        ResumeError: it is damaged, or its network does not fit: its widths are others, or its
            windows are wider.
    """
    state: State = read_checkpoint(path, torch.device("cpu"))["best"]
    half = reach_of(state)
    if half > network.known.half:
        raise ResumeError(f"{path} has wider windows than this family")
    if half < network.known.half:
        state = widened(state, network.known)
    if not network.tied and not any(name.startswith("maps.1.") for name in state):
        state = untied(state)
    try:
        network.load_state_dict(state)
    except RuntimeError as error:
        raise ResumeError(f"{path} does not fit: {str(error).splitlines()[0]}") from None
