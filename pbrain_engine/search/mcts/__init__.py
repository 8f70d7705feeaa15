"""Monte Carlo tree search: a tree of positions that grows where it is worth looking."""
