"""Debian's Chromium, driven by Playwright; tests that need it are skipped where it is not.

Its headless shell takes half the work for a page, as it draws no window around it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

PROGRAMS = ("chromium-headless-shell", "chromium")
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --font-render-hinting=none "  # fonts as in windows
    # Each window would start a process for the suggestions below its address, which nobody sees.
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup,PaintHolding"
).split()


@contextmanager
def chromium() -> Iterator[Any]:
    """Yield a browser."""
    reason = "playwright is not installed; the page is not tested in a browser"
    api = pytest.importorskip("playwright.sync_api", reason=reason)
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, PROGRAMS)), None)
    if path is None:
        pytest.skip("chromium is not installed; the page is not tested in a browser")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()
