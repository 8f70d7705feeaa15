"""Recorded texts, and what makes them: see ``records``."""
