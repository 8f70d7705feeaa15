"""The signature of the search as it was last measured, kept beside the kernel.

``numoku bench`` notes it, ``numoku --version`` tells it. In a source checkout it holds until
a module is edited; what is shipped carries the one that was measured when it was built.
"""

from __future__ import annotations

import os

from ..native.load.digest import PACKAGE
from ..native.load.store import is_shipped, kernel_folder

FILE = "SIGNATURE"


def note(weights: str, nodes: int) -> None:
    """Keep the signature that was measured with some weights, where there is a place for it."""
    try:
        if is_shipped():
            return
        path = os.path.join(kernel_folder(), FILE)
        with open(f"{path}.{os.getpid()}", "w", encoding="ascii") as file:
            file.write(line(weights, nodes))
        os.replace(f"{path}.{os.getpid()}", path)
    except OSError:  # a read-only installation
        pass


def line(weights: str, nodes: int) -> str:
    """Return what the file holds."""
    return f"{nodes} {weights}\n"


def recall(weights: str) -> int | None:
    """Return the signature with these weights, or None if it is not known any more."""
    try:
        path = os.path.join(kernel_folder(), FILE)
        with open(path, encoding="ascii") as file:
            nodes, _, measured_with = file.read().strip().partition(" ")
        if measured_with != weights or not nodes.isdigit():
            return None
        if not is_shipped() and _last_edit() > os.stat(path).st_mtime:
            return None
    except (OSError, UnicodeDecodeError):
        return None
    return int(nodes)


def _last_edit() -> float:
    """Return when a module of the package was last changed."""
    return max(
        os.stat(os.path.join(folder, name)).st_mtime
        for folder, _, names in os.walk(PACKAGE)
        for name in names
        if name.endswith(".py")
    )
