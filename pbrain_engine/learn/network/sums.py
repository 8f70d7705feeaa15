"""Sums over cells, for torch: lines to features, features to regions and neighbours.

On the processor they are the loops of ``loops.py``, if numba is there; on a GPU, torch's own
operations, which give the same but for rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

try:
    from . import loops
except ImportError:  # no numba
    loops = None  # type: ignore[assignment]

REGIONS = 9


def uses_loops(tensor: Tensor) -> bool:
    """Say whether the loops compute with this tensor."""
    return bool(loops and tensor.device.type == "cpu" and tensor.dtype == torch.float32)


class _Lines(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(context: Any, patterns: Tensor, vectors: Tensor, top: float) -> Tensor:
        found = np.empty((len(patterns), vectors.shape[1]), np.float32)
        context.parts = patterns.numpy(), found, np.float32(top), tuple(vectors.shape)
        loops.add_lines(patterns.numpy(), vectors.detach().numpy(), np.float32(top), found)
        return torch.from_numpy(found)

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[None, Tensor, None]:
        patterns, found, top, shape = context.parts
        of_vectors = np.zeros(shape, np.float32)
        loops.add_lines_back(patterns, found, top, gradient.contiguous().numpy(), of_vectors)
        return None, torch.from_numpy(of_vectors), None


class _Neighbours(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(context: Any, features: Tensor, cells: Tensor, height: int, width: int) -> Tensor:
        found = np.zeros((3, len(cells), features.shape[1]), np.float32)
        context.parts = cells.numpy(), height, width, tuple(features.shape)
        loops.add_neighbours(features.detach().numpy(), cells.numpy(), height, width, found)
        return torch.from_numpy(found)

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        cells, height, width, shape = context.parts
        of_features = np.zeros(shape, np.float32)
        loops.add_neighbours_back(gradient.contiguous().numpy(), cells, height, width, of_features)
        return torch.from_numpy(of_features), None, None, None


def cell_features(patterns: Tensor, vectors: Tensor, top: float) -> Tensor:
    """Return the sum of four vectors a cell, within nought and ``top``: [cells, channels].

    The last vector belongs to no pattern and has to be zero.
    """
    if uses_loops(vectors):
        return _Lines.apply(patterns, vectors, top)
    total = functional.embedding_bag(patterns.long(), vectors, mode="sum")
    return functional.hardtanh(total, 0.0, top)


def region_sums(features: Tensor, regions: Tensor) -> Tensor:
    """Return the sums of features over the regions of each board: [boards, 9, channels]."""
    belongs = functional.one_hot(regions, REGIONS).to(features.dtype).t()
    return torch.matmul(belongs, features.view(-1, len(regions), features.shape[1]))


def neighbour_sums(features: Tensor, cells: Tensor, height: int, width: int) -> Tensor:
    """Return for some cells their features, and the sums over their neighbours on the board.

    The shape is [3, cells, channels]: the cell itself, orthogonal and diagonal neighbours.
    """
    if uses_loops(features):
        return _Neighbours.apply(features, cells, height, width)
    boards = features.view(-1, height, width, features.shape[1])
    padded = functional.pad(boards, (0, 0, 1, 1, 1, 1))

    def moved(down: int, right: int) -> Tensor:
        return padded[:, 1 + down : 1 + down + height, 1 + right : 1 + right + width]

    crosses = moved(0, 1) + moved(0, -1) + moved(1, 0) + moved(-1, 0)
    corners = moved(1, 1) + moved(1, -1) + moved(-1, 1) + moved(-1, -1)
    flat = [part.reshape(-1, features.shape[1])[cells] for part in (boards, crosses, corners)]
    return torch.stack(flat)


def segment_log_softmax(logits: Tensor, rows: Tensor, count: int) -> Tensor:
    """Return the logarithm of each candidate's chance among those of its row."""
    none = torch.full((count,), -1e30, device=logits.device, dtype=logits.dtype)
    tops = none.scatter_reduce(0, rows, logits.detach(), "amax")
    lowered = logits - tops[rows]
    sums = torch.zeros_like(tops).index_add(0, rows, lowered.exp())
    return lowered - sums.clamp_min(1e-30).log()[rows]
