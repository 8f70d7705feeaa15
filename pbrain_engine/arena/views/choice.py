"""Which view of a match suits: what was asked for, and what the terminal allows."""

from __future__ import annotations

import sys

from ..settings import MatchSettings
from ..statistics.standings import Standings
from .view import PlainView, View


def make_view(settings: MatchSettings, standings: Standings, kind: str = "auto") -> View:
    """Return the view that suits: ``live``, ``plain``, ``quiet``, or what the terminal allows."""
    if kind == "quiet":
        return View()
    if kind == "live" or (kind == "auto" and sys.stderr.isatty()):
        try:
            from .live import RichView
        except ImportError:  # rich is not installed
            if kind == "live":
                told = "the live view needs rich: pip install 'pbrain-numoku[tools]'"
                print(told, file=sys.stderr)
        else:
            return RichView(settings, standings)
    return PlainView(settings, standings.games)
