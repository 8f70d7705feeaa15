"""The engine: games, limits and thoughts, and all that happens between a position and its move."""
