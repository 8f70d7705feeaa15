"""A slow second opinion in plain Python, written from the text of the rules alone.

Nothing here imports the engine: where engine and oracle agree, two independent readings of
the rules agree. Speed does not matter, being obviously right does.
"""

from __future__ import annotations
