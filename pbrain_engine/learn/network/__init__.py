"""Learning a network from games."""
