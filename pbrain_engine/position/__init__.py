"""Stones and rules: geometry, rules, symmetries, hash keys, the board."""
