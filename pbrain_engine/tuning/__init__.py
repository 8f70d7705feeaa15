"""Tuning the search by games: its parameters, and what each of its items is worth."""
