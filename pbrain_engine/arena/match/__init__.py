"""A match: which games are played, on which cores or machines, and when it ends."""
