"""The network: vectors of line patterns, summed over the board, with small layers above."""
