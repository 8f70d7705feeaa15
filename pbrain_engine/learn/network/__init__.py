"""Training of the network."""
