"""Weights by a file's name, a built-in name, or the id and checksum that ``--version`` shows."""

from __future__ import annotations

import os

from ..eval.weights import DEFAULT, Weights, load_weights, weights_path


def weights_file(name: str) -> str:
    """Return the file of built-in weights with this name, id or key, or the path that was meant."""
    path = weights_path(name)
    folder = os.path.dirname(weights_path(DEFAULT))
    if not os.path.exists(path) and os.path.isdir(folder):
        for built_in in sorted(os.listdir(folder)):
            other = os.path.join(folder, built_in)
            weights = load_weights(other)
            if name in (weights.id, weights.key, weights.about["crc32"]):
                return other
    return path


def find_weights(name: str) -> Weights:
    """Read and check weights by name, id or path.

    Raises:
        WeightsError: the file is missing, is no weight file, is damaged or incomplete.
    """
    return load_weights(weights_file(name))
