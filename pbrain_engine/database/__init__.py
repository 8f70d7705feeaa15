"""A database of searched positions, games and notes, and opening books."""
