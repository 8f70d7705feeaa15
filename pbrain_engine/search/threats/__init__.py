"""Forced wins: exact defences, searches by fours and by threats, lines of proven wins."""
