"""The search: defence, continuous fours, transposition table, ordering, alpha-beta."""
