"""The network: vectors for line patterns, summed over the board, small layers above them."""
