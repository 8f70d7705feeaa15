"""A game on the compiled kernel: stones, turns, wins and forbidden cells; no search."""
