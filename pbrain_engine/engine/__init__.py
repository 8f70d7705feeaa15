"""The engine: limits, searches, time management, openings and reviews."""
