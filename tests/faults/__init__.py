"""Faults that tests have to notice: a list of single plausible ones, and who runs it."""
