"""Which view of a match suits: what was asked for, and what the terminal allows."""

from __future__ import annotations

import sys
from typing import Any

from ..settings import MatchSettings
from ..statistics.standings import Standings
from .view import PlainView, View


def make_view(settings: MatchSettings, standings: Standings, kind: str = "auto") -> View:
    """Return the view that suits: ``live``, ``plain``, ``quiet``, or what the terminal allows."""
    if kind == "quiet":
        return View()
    if kind == "live" or (kind == "auto" and sys.stderr.isatty()):
        live = _import_live()
        if live is not None:
            rich: View = live.RichView(settings, standings)
            return rich
        if kind == "live":
            print("the live view needs rich: pip install 'pbrain-numoku[tools]'", file=sys.stderr)
    return PlainView(settings, standings.games)


def _import_live() -> Any:
    """Return the module of the live view, or None where rich is not installed."""
    try:
        from . import live
    except ImportError:
        return None
    return live
