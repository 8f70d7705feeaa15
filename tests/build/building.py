"""The scripts of ``build/``, which is no package, as modules for the tests."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "build"))

import backend as backend  # noqa: E402
import bundle as bundle  # noqa: E402
import compare as compare  # noqa: E402
import package as package  # noqa: E402
import pictures as pictures  # noqa: E402
import pyodide as pyodide  # noqa: E402
import report as report  # noqa: E402
import shipping as shipping  # noqa: E402
import website as website  # noqa: E402
import wheels as wheels  # noqa: E402
import windows as windows  # noqa: E402
import winpython as winpython  # noqa: E402

import docs as docs  # noqa: E402
