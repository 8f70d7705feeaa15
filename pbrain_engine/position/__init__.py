"""Stones and rules: geometry, rules, hash keys, the board, notation."""
