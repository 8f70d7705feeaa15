"""Where compiled kernels lie: in the package if it was shipped with them, else in a cache.

A shipped folder, ``native/lib``, holds the libraries beside a file ``SHIPPED`` and is
believed as it is. A cache holds one folder per digest, so that a kernel of other sources is
never found, and revisions side by side do not disturb each other.
"""

from __future__ import annotations

import os
import sys

from .digest import PACKAGE, digest

SHIPPED_FOLDER = os.path.join(PACKAGE, "native", "lib")
SHIPPED_MARK = "SHIPPED"


def is_shipped() -> bool:
    """Tell whether the package came with its kernels, so that its sources are not asked."""
    return os.path.exists(os.path.join(SHIPPED_FOLDER, SHIPPED_MARK))


def is_checkout() -> bool:
    """Tell whether the package lies in a tree of its sources, with the targets of ``make``."""
    return os.path.exists(os.path.join(os.path.dirname(PACKAGE), "Makefile"))


def cache_root() -> str:
    """Return the folder of all cached kernels.

    ``NUMOKU_CACHE`` decides; else a source checkout keeps its own (as test and type
    checkers do), and an installed package uses the user's cache.
    """
    chosen = os.environ.get("NUMOKU_CACHE")
    if chosen:
        return chosen
    checkout = os.path.dirname(PACKAGE)
    if os.path.exists(os.path.join(checkout, "pyproject.toml")):
        own = os.path.join(checkout, ".kernels")
        # What its owner has compiled is there for others, who can compile nothing there.
        if os.access(checkout, os.W_OK) or os.path.exists(os.path.join(own, digest())):
            return own
    home = os.path.expanduser("~")
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    elif sys.platform == "darwin":
        base = os.path.join(home, "Library", "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache")
    return os.path.join(base, "numoku")


def kernel_folder() -> str:
    """Return the folder in which the kernel of the present sources is, or would be."""
    return SHIPPED_FOLDER if is_shipped() else os.path.join(cache_root(), digest())
