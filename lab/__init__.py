"""Experiments: what measures the engine and looks for faults for hours."""
