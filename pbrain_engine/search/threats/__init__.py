"""Forced wins: exact defence, searches by fours and by threats, lines and trees of proof."""
