"""The evaluation: its weights, the incremental part and the value of a position."""
