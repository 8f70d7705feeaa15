"""The scripts of ``build/``, which is no package, as modules for the tests."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "build"))

import bundle  # noqa: E402
import package  # noqa: E402
import picture  # noqa: E402
import report  # noqa: E402
import shipping  # noqa: E402
import wheels  # noqa: E402
import windows  # noqa: E402
import winpython  # noqa: E402

__all__ = ["bundle", "package", "picture", "report", "shipping", "wheels", "windows", "winpython"]
