"""Numoku: a Gomoku engine in Python whose hot core is compiled ahead of time."""

from __future__ import annotations

__version__ = "0.1.0"
