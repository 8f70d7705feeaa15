"""Positions whose best move long searches agree on."""
