"""Matches between engines: referee, records, openings, statistics."""
