"""The evaluation: weights, incremental state and the value of a position."""
