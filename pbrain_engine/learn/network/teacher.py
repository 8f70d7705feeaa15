"""A large network that is too slow to play with, from which the one that plays learns.

Residual blocks of 3x3 convolutions over the board (He et al. 2016), each told what the whole board
holds (the global pooling of Wu 2019, "Accelerating self-play learning in Go"). It begins, as the
small one does, at the linear evaluation and the linear move score. What it says of a position
is a softer and a less noisy lesson than one move and one result (Hinton et al. 2015, "Distilling
the knowledge in a neural network").
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from .checkpoint import ResumeError, read_checkpoint
from .lessons import BLACK, EMPTY, NO_CELL, WHITE
from .model import SCORE_SCALE, Inputs, mean_by
from .sums import segment_log_softmax

PLANES = 9
FAR_SCORE = 4.0  # a plane of move scores, in logistic units, is cut off here
VALUE_UNITS = 64
SYMMETRIES = 8


class Size(NamedTuple):
    """How large a teacher is."""

    blocks: int = 8
    channels: int = 96


class _Block(nn.Module):  # type: ignore[misc]
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.second = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norms = nn.ModuleList(nn.BatchNorm2d(channels) for _ in range(2))
        self.board = nn.Linear(2 * channels, channels)
        nn.init.zeros_(self.norms[1].weight)  # a block begins without effect

    def forward(self, seen: Tensor) -> Tensor:
        hidden = functional.relu(self.norms[0](self.first(seen)))
        hidden = hidden + self.board(_pooled(hidden))[:, :, None, None]
        return functional.relu(seen + self.norms[1](self.second(hidden)))


def _pooled(seen: Tensor) -> Tensor:
    return torch.cat([seen.mean((2, 3)), seen.amax((2, 3))], 1)


class Teacher(nn.Module):  # type: ignore[misc]
    """The large network of one rule family; asked and taught as ``model.Network`` is."""

    def __init__(self, size: Size, scale: float) -> None:
        """Begin at the linear evaluation, ``scale`` units of which are a logistic unit."""
        super().__init__()
        self.size, self.scale = size, scale
        self.stem = nn.Conv2d(PLANES, size.channels, 5, padding=2)
        self.blocks = nn.Sequential(*(_Block(size.channels) for _ in range(size.blocks)))
        self.policy = nn.Conv2d(size.channels, 1, 1)
        self.value = nn.Linear(2 * size.channels, VALUE_UNITS)
        self.last = nn.Linear(VALUE_UNITS, 1)
        self.linear_share = nn.Parameter(torch.ones(1))
        self.score_share = nn.Parameter(torch.ones(1))
        for tensor in (self.policy.weight, self.policy.bias, self.last.weight, self.last.bias):
            nn.init.zeros_(tensor)

    def forward(self, inputs: Inputs) -> tuple[Tensor, Tensor]:
        """Return the logarithm of the odds of each position, and the logit of each candidate.

        While it learns it sees every batch in a symmetry of the board by chance.
        """
        most = SYMMETRIES if inputs.height == inputs.width else SYMMETRIES // 2
        symmetry = int(torch.randint(most, ())) if self.training else 0
        planes = turned(planes_of(inputs), symmetry).contiguous(memory_format=torch.channels_last)
        with torch.autocast(planes.device.type, torch.bfloat16, planes.is_cuda):
            seen = self.blocks(functional.relu(self.stem(planes)))
            logits = self.policy(seen)
            odds = self.last(functional.relu(self.value(_pooled(seen)))).squeeze(1)
        logits = turned_back(logits.float(), symmetry).reshape(-1)[inputs.cells]
        linear = inputs.linear / self.scale * self.linear_share
        return odds.float() + linear, logits + inputs.scores / SCORE_SCALE * self.score_share


def planes_of(inputs: Inputs) -> Tensor:
    """Return what a teacher sees: [positions, PLANES, height, width]."""
    boards = inputs.boards
    count, area = len(boards), inputs.height * inputs.width
    own, enemy = (BLACK, WHITE) if inputs.side == 0 else (WHITE, BLACK)
    flat = torch.zeros(count, PLANES, area, device=boards.device)
    cells = boards.view(count, area)
    flat[:, 0] = 1.0
    for place, kind in enumerate((own, enemy, EMPTY), 1):
        flat[:, place] = cells == kind
    flat[:, 4] = float(inputs.side)
    for place, stones in ((5, inputs.last), (6, inputs.second)):
        known = (stones != NO_CELL).nonzero().squeeze(1)
        flat[known, place, stones[known]] = 1.0
    at = inputs.cells - inputs.rows * area
    flat[inputs.rows, 7, at] = (inputs.scores / SCORE_SCALE).clamp(-FAR_SCORE, FAR_SCORE)
    flat[inputs.rows, 8, at] = 1.0
    return flat.view(count, PLANES, inputs.height, inputs.width)


def turned(planes: Tensor, symmetry: int) -> Tensor:
    """Return boards in one of the eight symmetries; those from the fourth on change the axes."""
    planes = _flipped(planes, symmetry)
    return planes.transpose(2, 3) if symmetry & 4 else planes


def turned_back(planes: Tensor, symmetry: int) -> Tensor:
    """Undo ``turned``."""
    return _flipped(planes.transpose(2, 3) if symmetry & 4 else planes, symmetry)


def _flipped(planes: Tensor, symmetry: int) -> Tensor:
    return planes.flip([axis for bit, axis in ((1, 2), (2, 3)) if symmetry & bit])


def read_teacher(path: Path, device: torch.device) -> Teacher:
    """Return the teacher of a checkpoint, at its best, which learns no more.

    Raises:
        ResumeError: it is damaged, or no teacher's.
    """
    state = read_checkpoint(path, device)
    size = state["about"].get("size")
    if size is None:
        raise ResumeError(f"{path} is no checkpoint of a teacher")
    teacher = Teacher(Size(*size), state["about"]["scale"])
    teacher.to(device)
    teacher.load_state_dict(state["best"])
    teacher.eval().requires_grad_(False)
    return teacher


class Taught(NamedTuple):
    """What a network loses on a batch against games and teacher together."""

    value: Tensor
    move: Tensor


def taught_losses(
    said: tuple[Tensor, Tensor], told: tuple[Tensor, Tensor], inputs: Inputs, share: float
) -> Taught:
    """Return mean losses on targets of which ``share`` is what the teacher tells."""
    (odds, logits), (told_odds, told_logits) = said, told
    count = len(odds)
    open_ = inputs.open
    target = (1 - share) * inputs.target[open_] + share * told_odds[open_].sigmoid()
    value = functional.binary_cross_entropy_with_logits(odds[open_], target)
    chances = segment_log_softmax(logits, inputs.rows, count)
    wanted = segment_log_softmax(told_logits, inputs.rows, count).exp()
    own, cross = (mean_by(each, chances, inputs) for each in (inputs.shares, wanted))
    move = -((1 - share) * own + share * cross)
    return Taught(value, move.mean())
