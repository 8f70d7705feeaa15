"""Whether a Python for Windows runs under wine, which leaves out some of what Windows does."""

from __future__ import annotations

import ctypes
import os
from typing import Any

import pytest


def is_wine() -> bool:
    """Return whether wine plays Windows here."""
    libraries: Any = getattr(ctypes, "windll", None)
    return os.name == "nt" and hasattr(libraries.ntdll, "wine_get_version")


# Its `taskkill` leaves the children of a program alone, and a program without a console of its
# own gets no Ctrl-Break.
needs_windows_itself = pytest.mark.skipif(is_wine(), reason="wine cannot do this")
