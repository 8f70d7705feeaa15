"""Training of the network: from recorded games to the block of a weight file."""
