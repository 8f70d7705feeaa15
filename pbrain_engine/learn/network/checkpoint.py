"""Checkpoints, and beginning at what another training has learned, perhaps of another family.

A network of freestyle knows most of what those of the other rules have to learn: its windows are
widened by a cell at each end, which begins without effect, and where the colours play by
different rules each begins with what both shared. A network with fewer channels is given more of
them, which nothing asks at first.
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


def channels_of(state: State) -> int:
    """Return how many channels a network's cells have."""
    return int(state["heads.0.region.weight"].shape[1])


def with_channels(state: State, wanted: int) -> State:
    """Return a network with more channels that says the same.

    Patterns have vectors in the new ones, by chance, so that there is something to learn; what
    follows from them begins with weights of nought.
    """
    count = channels_of(state)
    old, new = count // 2, wanted // 2
    kept = torch.cat([torch.arange(old), torch.arange(old) + new])  # each half has more

    def spread(tensor: Tensor, axis: int) -> Tensor:
        shape = list(tensor.shape)
        shape[axis] = wanted
        return torch.zeros(shape).index_copy(axis, kept, tensor.float())

    found = dict(state)
    for name, tensor in state.items():
        part = name.split(".", 2)[2]
        if part in ("third.weight", "third.bias", "sink"):
            found[name] = torch.zeros(new, *tensor.shape[1:])
            if part == "third.weight":
                found[name].normal_(0.0, float(tensor.std()) / 2)
            found[name][:old] = tensor
        elif part == "own":
            found[name] = torch.nn.functional.pad(tensor, (0, new - old))
        elif part in ("region.weight", "cell.weight", "neighbours"):
            found[name] = spread(tensor, 1)
        elif part == "trunk.weight":
            found[name] = torch.cat([spread(tensor[:, :count], 1), tensor[:, count:]], 1)
        elif part in ("policy.weight", "policy.bias"):
            found[name] = torch.cat([spread(tensor[:count], 0), tensor[count:]])
    return found


def begin_at(network: Network, path: Path) -> None:
    """Give a network what the best one of a checkpoint has learned.

    Raises:
        ResumeError: it is damaged, or its network does not fit: it has more channels, wider
            windows, or other widths.
    """
    state: State = read_checkpoint(path, torch.device("cpu"))["best"]
    half = reach_of(state)
    if half > network.known.half:
        raise ResumeError(f"{path} has wider windows than this family")
    if half < network.known.half:
        state = widened(state, network.known)
    if not network.tied and not any(name.startswith("maps.1.") for name in state):
        state = untied(state)
    if channels_of(state) < network.widths.channels:
        state = with_channels(state, network.widths.channels)
    try:
        network.load_state_dict(state)
    except RuntimeError as error:
        raise ResumeError(f"{path} does not fit: {str(error).splitlines()[0]}") from None
