"""Experiments: measurements of the engine, and random faults in its code."""
